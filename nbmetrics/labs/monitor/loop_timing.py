"""The time of a training loop: what a Monitor may take of it, and whether its next step comes far too late.

A Monitor costs a share of the time since the first step, which is earned before it is spent. A loop stalls where no
step comes for ten times the longest wait before and a minute at least, while its thread lives; in a notebook a cell
that has ended stalls no loop of that thread, which IPython says by an event.
"""

from __future__ import annotations

import math
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

from ...threads import cpu_seconds

# Of the loop's time, what a Monitor may cost.
MAX_COST_SHARE = 0.05
# Where losses alone cost that much, steps are still scored, this many times more seldom than the share allows.
MAX_RARITY = 5.0
# In its first seconds the scores of a loop may cost so many in all: for steps whose number is so many times that of the
# last one that was scored, or which come so many seconds after it.
OPENING_SECONDS, OPENING_COST, OPENING_GROWTH, OPENING_PAUSE = 10.0, 1.0, 1.25, 0.5
# A loop stalls after these seconds at least, and so many times the longest wait before.
MIN_STALL_SECONDS, STALL_TIMES = 60.0, 10.0
# Seconds after which a loop of few steps a minute is at rest, at least and at most.
MIN_REST_SECONDS, MAX_REST_SECONDS = 1.0, 20.0
CELL_END = "post_run_cell"
# What tells and limits the number of threads of linear algebra, once it was looked up.
_blas: Any = None


class Budget:
    """An account in seconds, for all threads of a Monitor.

    A step is due once the time has earned what the last one cost. What was not used lapses, so that no burst follows a
    pause in the logging. In the first ten seconds the account may be overdrawn by one, so that a short loop has scores,
    too: by steps whose number is 1.25 times that of the one before, or that come half a second after it. After them
    nothing is owed for these: a loop of half a minute is scored to its end.

    Attributes
    ----------
    loop, scoring, telling : seconds spent: of the loop itself; of a processor for scores, and for the page
    of_steps : seconds that all steps took to be drawn and scored, without what the clients take once and losses
    draw, score : seconds that the last step took to be drawn, and scored
    elapsed : seconds from the first step that was logged to the last
    """

    def __init__(self) -> None:
        self.loop = self.scoring = self.telling = self.of_steps = 0.0
        self.draw = self.score = self.elapsed = 0.0
        self._started = self._used = 0.0
        self._paid = 0.0  # the time by which all that was spent is earned
        self._count = self._scored_count = 0  # of steps with a generator; at the last one that was scored
        self._lock = threading.Lock()

    @property
    def share(self) -> float:
        """The share of the elapsed time that was spent."""
        return (self.loop + self.scoring + self.telling) / self.elapsed if self.elapsed else 0.0

    @property
    def every(self) -> float:
        """Seconds that earn one more step."""
        return (self.draw + self.score) / MAX_COST_SHARE

    def advance_to(self, now: float) -> None:
        """Note that a step is logged now."""
        with self._lock:
            if not self._started:
                self._started = now
                self._paid += now
            is_opening = self.elapsed <= OPENING_SECONDS
            self.elapsed = max(self.elapsed, now - self._started)
            if is_opening and self.elapsed > OPENING_SECONDS:
                self._paid = min(self._paid, now)

    def is_due(self, now: float) -> bool:
        """Whether one more step is earned by now; the first one always is."""
        with self._lock:
            self._count += 1
            is_earned = self._paid + self.every <= now
            is_overdue = self.elapsed > OPENING_SECONDS and now - self._used >= MAX_RARITY * self.every
            return not self._used or is_earned or is_overdue or self._is_due_early(now)

    def _is_due_early(self, now: float) -> bool:
        """Whether a step is due in the first seconds, though it is not earned."""
        total = self.of_steps + self.draw + self.score
        spread = math.sqrt(self.elapsed / OPENING_SECONDS)  # so that not all of them are of the first moments
        has_room = spread <= 1.0 and total <= OPENING_COST * spread + MAX_COST_SHARE * self.elapsed
        is_far_on = self._count >= OPENING_GROWTH * self._scored_count or now - self._used >= OPENING_PAUSE
        return has_room and is_far_on

    def begin_step(self, now: float) -> None:
        """Begin to score a step, whose cost is spent later; older savings lapse."""
        with self._lock:
            self._paid, self._used = max(self._paid, now - self.every), now
            self._scored_count = self._count

    def end_step(self, seconds: float) -> None:
        """Note what the step that was drawn took to be scored."""
        with self._lock:
            self.score = seconds
            self.of_steps += self.draw + seconds

    def spend(self, what: str, seconds: float) -> None:
        """Add seconds to `loop`, `scoring` or `telling`."""
        with self._lock:
            setattr(self, what, getattr(self, what) + seconds)
            self._paid += seconds / MAX_COST_SHARE

    @contextmanager
    def spending(self, what: str, loop: threading.Thread | None = None) -> Iterator[None]:
        """Spend the seconds of a processor that this thread takes meanwhile, and those that work for it.

        Linear algebra has threads of its own, which no clock tells from those of the loop: what the process took beyond
        the `loop` thread counts, and at most as if they all had worked for this one.
        """
        start = cpu_seconds(), time.process_time(), thread_seconds(loop)
        try:
            yield
        finally:
            own, whole, of_loop = cpu_seconds() - start[0], time.process_time() - start[1], thread_seconds(loop)
            others = whole - (of_loop - start[2])
            self.spend(what, min(max(own, others), own * blas_threads()))


def thread_seconds(thread: threading.Thread | None) -> float:
    """Return the processor seconds of a thread; 0 where they are not known."""
    if thread is None or thread.ident is None or not thread.is_alive() or not hasattr(time, "pthread_getcpuclockid"):
        return 0.0
    try:
        return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    except OSError:
        return 0.0


def blas_threads() -> int:
    """Return how many threads NumPy's and SciPy's linear algebra uses, at most."""
    return max([1, *(library.num_threads or 1 for library in _blas_libraries().lib_controllers)])


class _OneBlasThread:
    """The limit of one thread, held from the first that asks for it to the last, as it is one of the whole process."""

    def __init__(self) -> None:
        self._lock, self._holders, self._limit = threading.Lock(), 0, cast(Any, None)

    def __enter__(self) -> None:
        with self._lock:
            if not self._holders:
                self._limit = _blas_libraries().limit(limits=1)
            self._holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._limit.restore_original_limits()


# Lets linear algebra have one thread meanwhile: several would take turns with those of the loop, and wait.
one_blas_thread = _OneBlasThread()


def _blas_libraries() -> Any:
    global _blas
    if _blas is None:
        from threadpoolctl import ThreadpoolController

        _blas = ThreadpoolController().select(user_api="blas")
    return _blas


class StepClock:
    """When steps were logged, and by which thread.

    Attributes
    ----------
    last_time : seconds since 1970 of the last step, None before the first
    """

    def __init__(self) -> None:
        self.last_time: float | None = None
        self._step, self._last, self._longest = 0, 0.0, 0.0
        self._thread: threading.Thread | None = None
        self._has_ended = False
        self._listeners: list[Callable[[], None]] = []

    def tick(self, step: int, now: float) -> float:
        """Note a step at `now` of the monotonic clock; return the seconds before it where it is late, else 0."""
        wait, thread = now - self._last if self._last else 0.0, threading.current_thread()
        is_same_loop = thread is self._thread and not self._has_ended
        late = wait if is_same_loop and self._is_stall(wait) else 0.0
        self._step, self._last, self._longest = step, now, max(self._longest, wait * is_same_loop)
        self._thread, self._has_ended, self.last_time = thread, False, time.time()
        return late

    def end_loop(self, thread: threading.Thread | None = None) -> None:
        """Expect no more steps, where they came from this thread (from any by default), until the next one."""
        is_end = not self._has_ended and self._thread is not None and (thread is None or thread is self._thread)
        self._has_ended |= is_end
        for listener in self._listeners if is_end else ():
            listener()

    def on_end(self, listener: Callable[[], None]) -> None:
        """Have `listener()` called, on the thread that says so, when a loop has ended."""
        self._listeners.append(listener)

    def _is_stall(self, wait: float) -> bool:
        return self._longest > 0 and wait > max(MIN_STALL_SECONDS, STALL_TIMES * self._longest)

    @property
    def thread(self) -> threading.Thread | None:
        """The loop's thread, None before the first step."""
        return self._thread

    @property
    def is_resting(self) -> bool:
        """Whether no step has come for a while, or none at all."""
        rest = min(MIN_REST_SECONDS + 2.0 * self._longest, MAX_REST_SECONDS)
        return time.monotonic() - self._last > rest

    @property
    def stall_message(self) -> str:
        """That no step comes though the loop's thread lives; "" where nothing is late."""
        wait = time.monotonic() - self._last
        is_running = self._thread is not None and self._thread.is_alive() and not self._has_ended
        if not (is_running and self._is_stall(wait)):
            return ""
        return f"no step for {wait:,.0f} s after step {self._step:,}, and {self._longest:.2g} s at most before"


def watch_cells(clock: StepClock) -> Callable[[], None]:
    """Have IPython, where there is one, end the clock's loop with each cell; return what undoes that."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return lambda: None
    events, clock_ref = shell.events, weakref.ref(clock)

    def end_cell(*_: Any) -> None:
        if (alive_clock := clock_ref()) is not None:
            alive_clock.end_loop(threading.current_thread())

    def unregister() -> None:
        with suppress(ValueError):  # it is already
            events.unregister(CELL_END, end_cell)

    events.register(CELL_END, end_cell)
    weakref.finalize(clock, unregister)
    return unregister
