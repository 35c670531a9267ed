"""From the training loop to the log: the loop hands over, one thread scores and writes.

Flow: `put` (on the loop's thread) leaves what was drawn in a mailbox, where a newer one takes the place of one that
still waits → the worker scores it, writes it, and hands the point on. Losses are never dropped. What cannot be written
waits in memory, and is tried again with the next point; nothing that goes wrong here reaches the loop.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import printable, shown
from .budget import Budget
from .drawing import Drawn
from .events import MOST_REASONS, Point, Segment
from .frames import LARGEST_FRAME
from .log import Writer
from .scoring import Scored, Scoring

LONGEST_TROUBLE = 500
# Troubles that are kept, and bytes that wait for a disk with room before the largest arrays are let go.
MOST_TROUBLES, MOST_WAITING = 100, 64 * 2**20
# Seconds that losses alone wait for one another, and how many are written together.
LATER, TOGETHER = 0.25, 500
# With `keep_all`, steps that may wait before the loop does.
LONGEST_QUEUE = 1_000


@dataclass(frozen=True, eq=False)
class Handed:
    """What the loop gave at one step; `drawn` is None where there are only losses; `is_kept` : gives way to none.

    `late` : see `Point`; `line` : what it is in the log without its scores.
    """

    step: int
    time: float
    losses: Mapping[str, Any]
    drawn: Drawn | None
    is_kept: bool = False
    late: float = 0.0
    line: bytes = b""


class Troubles:
    """What went wrong, the first of each kind, and how often."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def tell(self, what: str) -> bool:
        """Count a trouble; whether it is a new one."""
        with self._lock:
            what = printable(what, LONGEST_TROUBLE)
            is_new = what not in self._counts and len(self._counts) < MOST_TROUBLES
            if is_new or what in self._counts:
                self._counts[what] = self._counts.get(what, 0) + 1
            return is_new

    @property
    def lines(self) -> list[str]:
        with self._lock:
            return [what + (f" ({count:,} times)" if count > 1 else "") for what, count in self._counts.items()]


class Recorder:
    """Scores and writes what it is handed, on a thread of its own.

    Parameters
    ----------
    scoring : the clients' half of all scores
    writer : of the log
    tell, rest : called on the worker's thread, with each segment and some points, and when nothing waits any more
    keep_all : whether every step waits for its turn, instead of the newest alone
    number : of the segment that it writes
    budget : what it spends is told there

    Attributes
    ----------
    is_closed : whether nothing more is taken
    dropped : how many steps were not scored because a newer one came
    is_scoring : whether a step waits to be scored, or is
    """

    def __init__(
        self,
        scoring: Scoring,
        writer: Writer,
        tell: Callable[[Segment | list[Point]], None],
        rest: Callable[[], None],
        keep_all: bool,
        number: int,
        budget: Budget,
    ) -> None:
        self._number, self._rest, self._budget = number, rest, budget
        self._scoring, self._writer, self._tell, self.keep_all = scoring, writer, tell, keep_all
        self.troubles, self.dropped, self.scored = Troubles(), 0, 0
        self._ready = threading.Condition()
        self._queue: deque[Handed] = deque()
        self._is_busy = self._is_urgent = self.is_closed = self.is_scoring = False
        self._thread: threading.Thread | None = None
        self._segment: Segment | None = None
        self._unwritten: deque[tuple[Callable[[dict[str, Any]], list[dict[str, Any]]], dict[str, np.ndarray]]] = deque()

    def put(self, handed: Handed) -> None:
        """Leave what the loop gave; where a step still waits to be scored, only its losses stay."""
        with self._ready:
            if self.is_closed:
                return
            if self.keep_all:
                self._ready.wait_for(lambda: len(self._queue) < LONGEST_QUEUE or self.is_closed)
            elif handed.drawn is not None:
                for place, waiting in enumerate(self._queue):
                    if waiting.drawn is not None and not waiting.is_kept:
                        self._queue[place] = replace(waiting, drawn=None)
                        self.dropped += 1
            self.is_scoring |= handed.drawn is not None
            self._is_urgent |= handed.drawn is not None
            if self._writer.pending is not None:  # not before there is room: what does not wait is wiped from it
                self._writer.pending.add(handed.line)
            self._queue.append(handed)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="nbmetrics Monitor scores", daemon=True)
                self._thread.start()
            # to wake the worker for each loss would cost the loop
            if self._is_urgent or len(self._queue) == 1:
                self._ready.notify_all()

    def wait(self, seconds: float | None = None) -> bool:
        """Until all that was handed over is scored and written, or so many seconds; whether it is."""
        with self._ready:
            self._is_urgent = bool(self._queue)
            self._ready.notify_all()
            return self._ready.wait_for(lambda: self.is_closed or not (self._queue or self._is_busy), seconds)

    def close(self, seconds: float | None = None) -> None:
        """Score what waits, write it, and end the thread."""
        self.wait(seconds)
        with self._ready:
            if self.is_closed:
                return
            self.is_closed = True
            self._ready.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)
        if self._thread is None or not self._thread.is_alive():
            self._writer.close()

    def _run(self) -> None:
        while handed := self._next():
            start = time.thread_time()
            with self._budget.spending("scoring"):
                try:
                    self._record(handed)
                    if not self._queue:
                        self._rest()
                except Exception as error:  # the next step must find somebody
                    self.troubles.tell(f"step {handed[0].step} was not recorded: {error!r}")
            if handed[-1].drawn is not None:
                self._budget.score = time.thread_time() - start
            with self._ready:
                self._is_busy = False
                self.is_scoring = any(waiting.drawn is not None for waiting in self._queue)
                self._ready.notify_all()

    def _next(self) -> list[Handed]:
        """What is recorded next: a step to be scored, or many with losses alone; nothing once it is closed."""
        with self._ready:
            self._ready.wait_for(lambda: self._queue or self.is_closed)
            self._ready.wait_for(lambda: self._is_urgent or self.is_closed, LATER)
            found: list[Handed] = []
            while self._queue and len(found) < TOGETHER and not (found and self._queue[0].drawn is not None):
                found.append(self._queue.popleft())
                if found[-1].drawn is not None:
                    break
            self._is_urgent = any(waiting.drawn is not None for waiting in self._queue)
            self._is_busy = bool(found)
            self._ready.notify_all()
            return found

    def begin(self) -> Segment:
        """Write the segment; InvalidInput where the clients cannot be summarised."""
        described, facts = self._scoring.described(), self._scoring.facts()
        made = Segment.of(self._scoring.names, self._scoring.weights, described, self._number, facts)
        self._write(lambda places: [made.to_json(described, places)], facts)
        self._segment = made
        self._tell(made)
        return made

    def _record(self, handed: list[Handed]) -> None:
        segment = self._segment or self.begin()
        points = [Point(segment, h.step, h.time, self._losses(h.losses), late=h.late) for h in handed]
        arrays: dict[str, np.ndarray] = {}
        if (drawn := handed[-1].drawn) is not None:
            points[-1], arrays = self._scored(points[-1], drawn)
        places = self._write(lambda places: [point.to_json(places) for point in points], arrays)
        if self._writer.pending is not None and not self._unwritten:
            with self._ready:
                self._writer.pending.keep(waiting.line for waiting in self._queue)
        points[-1] = replace(points[-1], frames={**arrays, **places})
        self._tell(points)

    def _losses(self, given: Mapping[str, Any]) -> dict[str, float]:
        """Losses as numbers, which may be NaN; what is none is left out, and told."""
        found = {}
        for name, value in given.items():
            try:
                found[name] = _number(value)
            except (TypeError, ValueError, RuntimeError):
                self.troubles.tell(f"loss {name} is left out where it is no number, such as {shown(value)}")
        return found

    def _scored(self, point: Point, drawn: Drawn) -> tuple[Point, dict[str, np.ndarray]]:
        """The point with its scores, NaN with the reason where there are none, and the arrays that are written."""
        self.scored += 1
        shape = len(point.segment.metrics), len(point.segment.names)
        try:
            found, kept = self._scoring.score(drawn.rows, is_paired=drawn.is_paired, position=self.scored)
        except Exception as error:  # rows that are not finite, or too few, are what a Monitor is there to tell
            none = np.full(shape, np.nan)
            why = (printable(str(error) or type(error).__name__, LONGEST_TROUBLE),)
            made = replace(point, count=drawn.count, clients=none, all=none[:, 0], why=why, terms=({},) * shape[0])
            return made, {"clients": none}
        parts = list(found.values())
        clients = np.stack([part.clients for part in parts])
        reasons = dict.fromkeys(printable(why, LONGEST_TROUBLE) for part in parts for why in part.why)
        made = replace(
            point,
            count=drawn.count,
            clients=clients,
            all=np.array([part.all for part in parts]),
            terms=tuple(part.terms for part in parts),
            errors=np.array([part.errors for part in parts]),
            variance=float(kept["centre"][0]) if "centre" in kept else np.nan,
            why=tuple(reasons)[:MOST_REASONS],
        )
        extra = {name: array for metric, part in found.items() for name, array in _frames(metric, part)}
        return made, {"clients": clients, **kept, **extra}

    def _write(
        self, event: Callable[[dict[str, Any]], list[dict[str, Any]]], arrays: dict[str, np.ndarray]
    ) -> dict[str, Any]:
        """Write arrays, then the line that names them, after all that still waits; where the arrays lie."""
        places: dict[str, Any] = {}
        arrays = {name: array for name, array in arrays.items() if array.nbytes <= LARGEST_FRAME // 2}
        self._unwritten.append((event, arrays))
        while self._unwritten:
            make, waiting = self._unwritten[0]
            try:
                places = {name: self._writer.append_array(array) for name, array in waiting.items()}
                self._writer.append(*make(places))
            except OSError as error:
                self.troubles.tell(f"the log cannot be written ({error.strerror}); what is new waits in memory")
                self._let_go()
                return {}
            except ValueError as error:  # it would never be written
                self.troubles.tell(f"a step was not written: {error}")
            self._unwritten.popleft()
        return places

    def _let_go(self) -> None:
        """Forget the oldest of what waits for the disk, where it is too much to hold."""
        while len(self._unwritten) > 1 and sum(_bytes(arrays) for _, arrays in self._unwritten) > MOST_WAITING:
            self._unwritten.popleft()
            self.troubles.tell("steps that could not be written were let go")


def _frames(metric: str, part: Scored) -> list[tuple[str, np.ndarray]]:
    given = {"noise": part.noise, "all noise": part.all_noise, "slopes": part.slopes}
    return [(f"{what} {metric}", array) for what, array in given.items() if array is not None]


def _bytes(arrays: Mapping[str, np.ndarray]) -> int:
    return 1_000 + sum(array.nbytes for array in arrays.values())


def _number(value: Any) -> float:
    """A loss as a number; TypeError, ValueError or RuntimeError where it is none. A tensor is waited for here."""
    if isinstance(value, np.ndarray):
        value = value.item()  # ValueError of several
    if isinstance(value, (str, bytes, bytearray, complex, np.complexfloating)):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
