"""What was computed of a summary, known for as long as the summary lives; so summaries themselves stay values."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

_known: WeakKeyDictionary[Any, dict[Hashable, Any]] = WeakKeyDictionary()
_lock = Lock()


def remember(summary: Any, what: Hashable, make: Callable[[], T]) -> T:
    """`make()`, or what it gave before for this very summary.

    It must not hold the summary, which would then live for ever; what is known of two summaries is kept in a
    `WeakKeyDictionary` of the one that is remembered with the other.
    """
    with _lock:
        values = _known.setdefault(summary, {})
        if what in values:
            return values[what]
    value = make()
    with _lock:
        return values.setdefault(what, value)
