"""Long computations in pieces: generators that may be left between two pieces, and return what they found."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
Pieces = Generator[None, None, T]


def whole(pieces: Pieces[T]) -> T:
    """What it finds, all pieces at once."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            found: T = end.value
            return found
