"""One thread that tells a page of a run: at most ten times a second, and never for more than a part of the time."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

OFTEN = 0.1
# Of the time, what each task may take: beside a loop that runs; where somebody waits for it, or no loop runs.
SHARE, SOON_SHARE = 0.01, 0.4
# Seconds between two looks at whether a loop still runs.
LOOK = 2.0
_LOG = logging.getLogger(__name__)


class Task:
    """Something that is done again when it is wanted, with pauses as its last time asks for."""

    def __init__(self, does: Callable[[], None]) -> None:
        self._does = does
        self.is_wanted, self.share, self._ended, self._cost = False, 0.0, 0.0, 0.0

    def due(self, share: float) -> float:
        """When it has taken no more than this share of the time, or the larger one that it is wanted for."""
        return self._ended + max(OFTEN, self._cost / max(share, self.share))

    def run(self) -> None:
        self.is_wanted, self.share, start = False, 0.0, time.thread_time()
        try:
            self._does()
        except Exception:  # the next time must find somebody
            _LOG.exception("The page was not told")
        self._ended, self._cost = time.monotonic(), time.thread_time() - start


class Teller:
    """Runs tasks on a thread of its own once they are wanted and due, the first of them first.

    Parameters
    ----------
    tasks : what is done
    share : says what each may take of the time now
    spending : a context that what they take is counted in
    """

    def __init__(
        self,
        *tasks: Callable[[], None],
        share: Callable[[], float] = lambda: SHARE,
        spending: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._tasks, self._share, self._spending = [Task(does) for does in tasks], share, spending
        self._ready = threading.Condition()
        self._closed = self._busy = False
        self._thread: threading.Thread | None = None

    def want(self, share: float = 0.0) -> None:
        """Have all tasks done again, once they are due; sooner where they may take a larger share of the time."""
        with self._ready:
            if self._closed:
                return
            for task in self._tasks:
                task.is_wanted, task.share = True, max(task.share, share)
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
        now, share = time.monotonic(), self._share()
        return next((task for task in self._tasks if task.is_wanted and task.due(share) <= now), None)

    def _pause(self) -> float:
        share = self._share()
        wanted = [task.due(share) for task in self._tasks if task.is_wanted]
        return max(0.0, min(wanted) - time.monotonic()) if wanted else math.inf

    def _run(self) -> None:
        while True:
            with self._ready:
                while (task := self._next()) is None and not self._closed:
                    self._ready.wait(min(LOOK, self._pause()))
                if task is None or self._closed:
                    return
                self._busy = True
            with self._spending():
                task.run()
            with self._ready:
                self._busy = False
                self._ready.notify_all()
