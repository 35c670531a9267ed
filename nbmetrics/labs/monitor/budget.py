"""What a Monitor may cost: a share of the time since the first step, which is earned before it is spent."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Of the loop's time, what a Monitor may cost.
SHARE = 0.05
# Where losses alone cost that much, steps are still scored, this many times more seldom than the share allows.
SELDOM = 5.0


class Budget:
    """An account in seconds, for all threads of a Monitor.

    A step is due once the time has earned what the last one cost. What was not used lapses, so that no burst follows a
    pause in the logging.

    Attributes
    ----------
    loop, scoring, telling : seconds spent: of the loop itself; of a processor for scores, and for the page
    draw, score : seconds that the last step took to be drawn, and scored
    elapsed : seconds from the first step that was logged to the last
    """

    def __init__(self) -> None:
        self.loop = self.scoring = self.telling = 0.0
        self.draw = self.score = self.elapsed = 0.0
        self._started = self._used = 0.0
        self._paid = 0.0  # the time by which all that was spent is earned
        self._lock = threading.Lock()

    @property
    def share(self) -> float:
        """What was spent, of the time."""
        return (self.loop + self.scoring + self.telling) / self.elapsed if self.elapsed else 0.0

    @property
    def every(self) -> float:
        """Seconds that earn one more step."""
        return (self.draw + self.score) / SHARE

    def pass_to(self, now: float) -> None:
        """A step is logged now."""
        with self._lock:
            if not self._started:
                self._started = now
                self._paid += now
            self.elapsed = max(self.elapsed, now - self._started)

    def is_due(self, now: float) -> bool:
        """Whether one more step is earned by now; the first one always is."""
        with self._lock:
            is_earned = self._paid + self.every <= now
            return not self._used or is_earned or now - self._used >= SELDOM * self.every

    def use(self, now: float) -> None:
        """Begin a step, whose cost is told later; older savings lapse."""
        with self._lock:
            self._paid, self._used = max(self._paid, now - self.every), now

    def spend(self, what: str, seconds: float) -> None:
        """Seconds of `loop`, `scoring` or `telling`."""
        with self._lock:
            setattr(self, what, getattr(self, what) + seconds)
            self._paid += seconds / SHARE

    @contextmanager
    def spending(self, what: str) -> Iterator[None]:
        """Spend the seconds of a processor that this thread takes meanwhile."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.spend(what, time.thread_time() - start)
