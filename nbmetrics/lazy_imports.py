"""What is imported only when asked for: rooms, by the one arrow that may run upward, and packages that draw.

import_room("features").extraction(...)      imports nbmetrics.features when it is called, not before
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import numpy as np

ROOMS = ("features", "training", "cluster", "federated")


def import_room(room: str) -> ModuleType:
    """The room of this name, imported now."""
    assert room in ROOMS, room
    return import_module(f".{room}", __package__)


@contextmanager
def unmoved_random_state() -> Iterator[None]:
    """Put Python's and NumPy's streams back afterwards: some packages draw when they are first imported."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
