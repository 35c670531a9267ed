"""Files that the command writes: looked at before the work, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InvalidInput
from ..files import checked_path, write


def writer(option: str, path: str | None, *suffixes: str) -> Callable[[bytes], Path | None]:
    """A function that writes bytes to `path`, which may be written; does nothing where it was not asked for."""
    if path is None:
        return lambda content: None
    target = _named(option, checked_path, path, *suffixes)

    def written(content: bytes) -> Path:
        found: Path = _named(option, write, target, content)
        return found

    return written


def _named(option: str, act: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return act(*arguments)
    except InvalidInput as error:
        raise InvalidInput(option, error.seen, error.fix) from None
