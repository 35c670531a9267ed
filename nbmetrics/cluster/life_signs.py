"""How a task that reads batches says that it lives, so that only one that hangs runs into the timeout.

A message a second at most goes from the worker over its open connection to the scheduler, and from there to the client.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

TOPIC = "nbmetrics-life-signs"
# Seconds between two messages of a task.
MIN_SECONDS = 1.0
# Who listens to a client of Dask, which has one handler for a topic.
_listeners: WeakKeyDictionary[Any, WeakSet[LifeSigns]] = WeakKeyDictionary()


class LifeSign:
    """Tells, on a worker, after a batch that the task which reads it lives, and how many rows it has read."""

    def __init__(self) -> None:
        self._rows, self._last = 0, time.monotonic()

    def __call__(self, rows: int) -> None:
        from distributed import get_worker

        self._rows += rows
        now = time.monotonic()
        if now - self._last < MIN_SECONDS:
            return
        self._last = now
        with suppress(ValueError):  # not in a task
            worker = get_worker()
            worker.log_event(TOPIC, {"task": worker.get_current_task(), "rows": self._rows})


class LifeSigns:
    """The life signs that come to one evaluation.

    Parameters
    ----------
    client : of Dask
    is_own : whether a task is of this evaluation, by its key

    Attributes
    ----------
    last : when the last one came, of `time.monotonic`
    rows : read by each task so far, as far as they told
    """

    def __init__(self, client: Any, is_own: Callable[[str], bool]) -> None:
        self.last, self.rows = -1.0, dict[str, int]()
        self._client, self._is_own = client, is_own
        _listeners.setdefault(client, WeakSet()).add(self)
        client.subscribe_topic(TOPIC, _Handler(_listeners[client]))

    def take(self, task: str, rows: int) -> None:
        """Take a message."""
        if self._is_own(task):
            self.last = time.monotonic()
            self.rows[task] = rows

    def close(self) -> None:
        """Listen no more."""
        listeners = _listeners.get(self._client, WeakSet())
        listeners.discard(self)
        if not listeners and self._client.status == "running":
            with suppress(Exception):  # the scheduler has gone
                self._client.unsubscribe_topic(TOPIC)


class _Handler:
    """Gives a message to all who listen to one client."""

    def __init__(self, listeners: WeakSet[LifeSigns]) -> None:
        self._listeners = listeners

    def __call__(self, event: tuple[float, dict[str, Any]]) -> None:
        for listener in list(self._listeners):
            listener.take(event[1]["task"], event[1]["rows"])
