"""A thread that publishes a run to its page: at most ten times a second, and for no more than a share of the time."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from ...threads import cpu_seconds, running_loop, start_thread

# Seconds between two times that a task is done.
MIN_PAUSE_SECONDS = 0.1
# Share of the time that each task may take: beside a loop that runs; where no page shows it; where somebody waits for
# it, or no loop runs.
MAX_TIME_SHARE, MAX_TIME_SHARE_UNSEEN, MAX_TIME_SHARE_AWAITED = 0.01, 0.001, 0.4
# Seconds between two looks at whether a loop still runs.
CHECK_SECONDS = 2.0
_LOG = logging.getLogger(__name__)


class PublishTask:
    """An action that is done again on request, after a pause in proportion to the time that it took."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self.is_requested, self.share, self._end_time, self._seconds = False, 0.0, 0.0, 0.0

    def due_time(self, share: float) -> float:
        """When the task is due, if it may take this share of the time, or the larger one that it was requested with."""
        return self._end_time + max(MIN_PAUSE_SECONDS, self._seconds / max(share, self.share))

    def run(self) -> None:
        self.is_requested, self.share, start = False, 0.0, cpu_seconds()
        try:
            self._action()
        except Exception:  # the thread must outlive it
            _LOG.exception("The page was not updated")
        self._end_time, self._seconds = time.monotonic(), cpu_seconds() - start


class Publisher:
    """Runs tasks on a thread of its own once they are requested and due, the first of them first.

    Parameters
    ----------
    tasks : the actions
    share : returns the share of the time that each may take now
    spending : returns a context that counts what they take
    """

    def __init__(
        self,
        *tasks: Callable[[], None],
        share: Callable[[], float] = lambda: MAX_TIME_SHARE,
        spending: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._tasks, self._share, self._spending = [PublishTask(action) for action in tasks], share, spending
        self._ready = threading.Condition()
        self._closed = self._busy = self._is_threadless = self._has_plan = False
        self._thread: threading.Thread | None = None

    def request(self, share: float = 0.0) -> None:
        """Request all tasks, done once they are due; sooner where they may take a larger share of the time."""
        with self._ready:
            if self._closed:
                return
            for task in self._tasks:
                task.is_requested, task.share = True, max(task.share, share)
            if self._thread is None and not self._is_threadless:
                self._thread = start_thread(self._run, "nbmetrics Monitor publishes")
                self._is_threadless = self._thread is None
            self._ready.notify_all()
        if self._is_threadless:
            self._take_turn()

    def flush(self, seconds: float | None = None) -> bool:
        """Do what is requested now, whatever it costs, and wait for it; return whether all is done."""
        if any(task.is_requested for task in self._tasks):
            self.request(math.inf)
        while self._is_threadless and (task := next((t for t in self._tasks if t.is_requested), None)) is not None:
            self._run_task(task)
        with self._ready:
            idle = self._ready.wait_for(
                lambda: self._closed or not (self._busy or any(t.is_requested for t in self._tasks)), seconds
            )
        return idle

    def close(self) -> None:
        with self._ready:
            self._closed = True
            self._ready.notify_all()

    def _take_turn(self) -> None:
        """Run what is due, where no thread can, and come back in a turn of the event loop for what is due later."""
        while not self._busy and not self._closed and (task := self._next_task()) is not None:
            self._run_task(task)
        loop, pause = running_loop(), self._pause()
        if loop is not None and pause < math.inf and not self._has_plan:
            self._has_plan = True
            loop.call_later(max(MIN_PAUSE_SECONDS, pause), self._take_planned_turn)

    def _take_planned_turn(self) -> None:
        self._has_plan = False
        self._take_turn()

    def _next_task(self) -> PublishTask | None:
        now, share = time.monotonic(), self._share()
        return next((task for task in self._tasks if task.is_requested and task.due_time(share) <= now), None)

    def _pause(self) -> float:
        share = self._share()
        times = [task.due_time(share) for task in self._tasks if task.is_requested]
        return max(0.0, min(times) - time.monotonic()) if times else math.inf

    def _run(self) -> None:
        while True:
            with self._ready:
                while (task := self._next_task()) is None and not self._closed:
                    self._ready.wait(min(CHECK_SECONDS, self._pause()))
                if task is None or self._closed:
                    return
            self._run_task(task)

    def _run_task(self, task: PublishTask) -> None:
        self._busy = True
        with self._spending():
            task.run()
        with self._ready:
            self._busy = False
            self._ready.notify_all()
