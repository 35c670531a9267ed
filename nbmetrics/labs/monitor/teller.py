"""One thread that tells a page of a run: at most ten times a second, and never for more than a part of the time."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable

OFTEN = 0.1
# Telling that takes long is done less often: of the time, at most this part; where somebody looks on, that.
SHARE, SOON_SHARE = 0.1, 0.4
_LOG = logging.getLogger(__name__)


class Task:
    """Something that is done again when it is wanted, with pauses as its last time asks for."""

    def __init__(self, does: Callable[[], None]) -> None:
        self._does = does
        self.is_wanted, self.due, self.ended, self.cost = False, 0.0, 0.0, 0.0

    def hurry(self, share: float) -> None:
        """Be due once it took no more than this share of the time."""
        self.due = min(self.due, self.ended + max(OFTEN, self.cost / share))

    def run(self) -> None:
        self.is_wanted, start = False, time.monotonic()
        try:
            self._does()
        except Exception:  # the next time must find somebody
            _LOG.exception("The page was not told")
        self.ended = time.monotonic()
        self.cost = self.ended - start
        self.due = self.ended + max(OFTEN, self.cost / SHARE)


class Teller:
    """Runs tasks on a thread of its own once they are wanted and due, the first of them first."""

    def __init__(self, *tasks: Callable[[], None]) -> None:
        self._tasks = [Task(does) for does in tasks]
        self._ready = threading.Condition()
        self._closed = self._busy = False
        self._thread: threading.Thread | None = None

    def want(self, share: float = SHARE) -> None:
        """Have all tasks done again, once they are due; sooner where they may take a larger share of the time."""
        with self._ready:
            if self._closed:
                return
            for task in self._tasks:
                task.is_wanted = True
                task.hurry(share)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="nbmetrics Monitor tells", daemon=True)
                self._thread.start()
            self._ready.notify_all()

    def settle(self, seconds: float | None = None) -> bool:
        """Do what is wanted now, whatever it costs, and wait for it."""
        if any(task.is_wanted for task in self._tasks):
            self.want(math.inf)
        with self._ready:
            idle = self._ready.wait_for(
                lambda: self._closed or not (self._busy or any(t.is_wanted for t in self._tasks)), seconds
            )
        return idle

    def close(self) -> None:
        with self._ready:
            self._closed = True
            self._ready.notify_all()

    def _next(self) -> Task | None:
        now = time.monotonic()
        return next((task for task in self._tasks if task.is_wanted and task.due <= now), None)

    def _pause(self) -> float | None:
        wanted = [task.due for task in self._tasks if task.is_wanted]
        return max(0.0, min(wanted) - time.monotonic()) if wanted else None

    def _run(self) -> None:
        while True:
            with self._ready:
                while (task := self._next()) is None and not self._closed:
                    self._ready.wait(self._pause())
                if task is None or self._closed:
                    return
                self._busy = True
            task.run()
            with self._ready:
                self._busy = False
                self._ready.notify_all()
