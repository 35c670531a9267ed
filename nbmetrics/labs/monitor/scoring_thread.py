"""The thread that scores and writes the steps that a training loop hands over.

Flow: `put` (on the loop's thread) leaves a record in a mailbox, where a newer one takes the place of one that
still waits → the worker scores it, writes it, and hands the point on. Losses are never dropped. What cannot be written
waits in memory, and is tried again with the next point; nothing that goes wrong here reaches the loop.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import printable, shown
from ...threads import start_thread
from .generator_sampling import StepSample
from .log_events import MAX_REASONS, Point, Segment
from .loop_timing import Budget, one_blas_thread
from .run_folder import MAX_FRAME_BYTES, Writer, encode_losses
from .scoring import Scoring, StepScores
from .step_noise import to_float32

MAX_ERROR_LETTERS = 500
# Errors that are kept, and bytes that wait for a disk with room before the largest arrays are let go.
MAX_ERRORS, MAX_WAITING_BYTES = 100, 64 * 2**20
# Seconds that losses alone wait for one another, and how many are written together.
LOSSES_WAIT_SECONDS, MAX_STEPS_PER_WRITE = 0.25, 500
# Losses that the end of the process may take with it: so many steps, and seconds of them.
MAX_UNSAFE_STEPS, MAX_UNSAFE_SECONDS = 32, 0.1
# With `keep_all`, steps that may wait before the loop does.
MAX_QUEUE_STEPS = 1_000


@dataclass(frozen=True, eq=False)
class StepRecord:
    """What the loop hands over at one step.

    Attributes
    ----------
    sample : of the generator, None where there are only losses
    is_kept : whether it gives way to no other
    late, is_anew, only_losses : see `Point`
    """

    step: int
    time: float
    losses: Mapping[str, Any]
    sample: StepSample | None
    is_kept: bool = False
    late: float = 0.0
    is_anew: bool = False
    only_losses: bool = False

    @property
    def line(self) -> bytes:
        """The step in the log without its scores."""
        return encode_losses(self.step, self.time, self.losses, self.late, self.is_anew, self.only_losses)


class ErrorLog:
    """Messages of what went wrong, each once, with how often it came."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def add(self, message: str) -> bool:
        """Count a message; return whether it is a new one."""
        with self._lock:
            message = printable(message, MAX_ERROR_LETTERS)
            is_new = message not in self._counts and len(self._counts) < MAX_ERRORS
            if is_new or message in self._counts:
                self._counts[message] = self._counts.get(message, 0) + 1
            return is_new

    @property
    def messages(self) -> list[str]:
        with self._lock:
            counts = self._counts.items()
            return [message + (f" ({count:,} times)" if count > 1 else "") for message, count in counts]


class ScoringThread:
    """Scores and writes the records that it is given, on a thread of its own.

    Parameters
    ----------
    scoring : the clients' half of all scores
    writer : of the log
    publish, on_idle : called on this thread, with each segment and some points, and when nothing waits any more
    keep_all : whether every step waits for its turn, instead of the newest alone
    number : of the segment that it writes
    budget : counts what it spends
    loop_thread : returns the thread of the training loop
    cost : returns what the Monitor has cost by now, to be logged

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
        publish: Callable[[Segment | list[Point]], None],
        on_idle: Callable[[], None],
        keep_all: bool,
        number: int,
        budget: Budget,
        loop_thread: Callable[[], threading.Thread | None] = lambda: None,
        cost: Callable[[], tuple[float, ...]] = tuple,
    ) -> None:
        self._number, self._on_idle, self._budget = number, on_idle, budget
        self._loop_thread, self._cost = loop_thread, cost
        self._scoring, self._writer, self._publish, self.keep_all = scoring, writer, publish, keep_all
        self.errors, self.dropped, self._scored_steps = ErrorLog(), 0, 0
        self._ready = threading.Condition()
        self._queue: deque[StepRecord] = deque()
        self._unsafe: list[StepRecord] = []
        self._is_busy = self._is_urgent = self.is_closed = self.is_scoring = self._is_threadless = False
        self._thread: threading.Thread | None = None
        self._segment: Segment | None = None
        self._unwritten: deque[tuple[Callable[[dict[str, Any]], list[dict[str, Any]]], dict[str, np.ndarray]]] = deque()

    def put(self, record: StepRecord) -> None:
        """Take a record; where another step still waits to be scored, only its losses stay."""
        with self._ready:
            if self.is_closed:
                return
            if self.keep_all and not self._is_threadless:
                self._ready.wait_for(lambda: len(self._queue) < MAX_QUEUE_STEPS or self.is_closed)
            elif record.sample is not None:
                for place, waiting in enumerate(self._queue):
                    if waiting.sample is not None and not waiting.is_kept:
                        self._queue[place] = replace(waiting, sample=None)
                        self.dropped += 1
            self.is_scoring |= record.sample is not None
            self._is_urgent |= record.sample is not None
            self._queue.append(record)
            self._unsafe.append(record)
            if record.sample is not None or len(self._unsafe) >= MAX_UNSAFE_STEPS or self._is_time_to_save(record.time):
                self._save_unsafe()
            if self._thread is None and not self._is_threadless:
                self._thread = start_thread(self._run, "nbmetrics Monitor scores")
                self._is_threadless = self._thread is None
            # to wake the thread for each loss would cost the loop
            if self._is_urgent or len(self._queue) == 1:
                self._ready.notify_all()
        if record.sample is not None or len(self._queue) >= MAX_STEPS_PER_WRITE:
            self._finish_here()

    def _finish_here(self) -> None:
        """Score and write what waits, where no thread can."""
        while self._is_threadless and self._queue and not self._is_busy:
            self._is_urgent = True
            self._score_batch(self._next_batch())

    def _is_time_to_save(self, now: float) -> bool:
        return not 0.0 <= now - self._unsafe[0].time < MAX_UNSAFE_SECONDS

    def _save_unsafe(self) -> None:
        """Put what waits where the end of the process does not reach it."""
        if self._writer.pending is not None:  # not before there is room: what does not wait is wiped from it
            self._writer.pending.add(b"".join(record.line for record in self._unsafe))
        self._unsafe.clear()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all records are scored and written, or so many seconds; return whether they are."""
        self._finish_here()
        with self._ready:
            self._is_urgent = bool(self._queue)
            self._ready.notify_all()
            return self._ready.wait_for(lambda: self.is_closed or not (self._queue or self._is_busy), seconds)

    def close(self, seconds: float | None = None) -> None:
        """Score and write what waits, and end the thread."""
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
        while batch := self._next_batch():
            self._score_batch(batch)

    def _score_batch(self, batch: list[StepRecord]) -> None:
        if self._segment is None:
            with suppress(Exception):  # raised again, and told, where a step is recorded
                self._spend(self.begin)
        before = self._budget.scoring
        self._spend(lambda: self._try_to_record(batch))
        if batch[-1].sample is not None:
            self._budget.end_step(self._budget.scoring - before)
        with self._ready:
            self._is_busy = False
            self.is_scoring = any(waiting.sample is not None for waiting in self._queue)
            self._ready.notify_all()

    def _spend(self, work: Callable[[], object]) -> None:
        """Do it on the budget's account; with all threads of linear algebra where the loop waits for every step."""
        threads = nullcontext() if self.keep_all else one_blas_thread
        with threads, self._budget.spending("scoring", self._loop_thread()):
            work()

    def _try_to_record(self, batch: list[StepRecord]) -> None:
        try:
            self._record(batch)
            if not self._queue:
                self._on_idle()
        except (Exception, SystemExit) as error:  # the thread must outlive it
            self.errors.add(f"step {batch[0].step} was not recorded: {error!r}")

    def _next_batch(self) -> list[StepRecord]:
        """Wait for what is written next: a step to score, or many with losses alone; [] once closed."""
        with self._ready:
            self._ready.wait_for(lambda: self._queue or self.is_closed)
            self._ready.wait_for(lambda: self._is_urgent or self.is_closed, LOSSES_WAIT_SECONDS)
            batch: list[StepRecord] = []
            while (
                self._queue and len(batch) < MAX_STEPS_PER_WRITE and not (batch and self._queue[0].sample is not None)
            ):
                batch.append(self._queue.popleft())
                if batch[-1].sample is not None:
                    break
            kept = min(len(self._unsafe), len(self._queue))
            self._unsafe = self._unsafe[len(self._unsafe) - kept :]  # the others are written now
            self._is_urgent = any(waiting.sample is not None for waiting in self._queue)
            self._is_busy = bool(batch)
            self._ready.notify_all()
            return batch

    def begin(self) -> Segment:
        """Write the segment; InvalidInput where the clients cannot be summarised."""
        described, arrays = self._scoring.describe(), self._scoring.client_arrays()
        segment = Segment.of(self._scoring.names, self._scoring.weights, described, self._number, arrays)
        self._write(lambda places: [segment.to_json(described, places)], arrays)
        self._segment = segment
        self._publish(segment)
        return segment

    def _record(self, records: list[StepRecord]) -> None:
        segment = self._segment or self.begin()
        points = [
            Point(
                segment,
                r.step,
                r.time,
                self._loss_numbers(r.losses),
                late=r.late,
                is_anew=r.is_anew,
                only_losses=r.only_losses,
            )
            for r in records
        ]
        arrays: dict[str, np.ndarray] = {}
        if (sample := records[-1].sample) is not None:
            points[-1], arrays = self._score(points[-1], sample)
        points[-1] = replace(points[-1], cost=self._cost())
        places = self._write(lambda places: [point.to_json(places) for point in points], arrays)
        if self._writer.pending is not None and not self._unwritten:
            with self._ready:
                self._writer.pending.keep_only(waiting.line for waiting in self._queue)
        points[-1] = replace(points[-1], frames={**arrays, **places})
        self._publish(points)

    def _loss_numbers(self, losses: Mapping[str, Any]) -> dict[str, float]:
        """Turn losses into numbers, which may be NaN; what is none is left out, and logged as an error."""
        numbers = {}
        for name, value in losses.items():
            try:
                numbers[name] = _to_number(value)
            except (TypeError, ValueError, RuntimeError):
                self.errors.add(f"loss {name} is left out where it is not a number, such as {shown(value)}")
        return numbers

    def _score(self, point: Point, sample: StepSample) -> tuple[Point, dict[str, np.ndarray]]:
        """Return the point with its scores, NaN with the reason where there are none, and the arrays to be written."""
        self._scored_steps += 1
        shape = len(point.segment.metrics), len(point.segment.names)
        try:
            scores, arrays = self._scoring.score(sample.rows, is_paired=sample.is_paired, position=self._scored_steps)
        except Exception as error:  # rows that are not finite, or too few, are what a Monitor is there to show
            none = np.full(shape, np.nan)
            why = (printable(str(error) or type(error).__name__, MAX_ERROR_LETTERS),)
            terms: tuple[dict[str, float], ...] = ({},) * shape[0]
            lost = replace(point, count=sample.count, clients=none, all=none[:, 0], why=why, terms=terms)
            if sample.is_by_client:
                return replace(lost, own=none), {"clients": none, "own": none}
            return lost, {"clients": none}
        parts = list(scores.values())
        clients = np.stack([part.clients for part in parts])
        reasons = dict.fromkeys(printable(why, MAX_ERROR_LETTERS) for part in parts for why in part.why)
        scored = replace(
            point,
            count=sample.count,
            is_paired=sample.is_paired,
            clients=clients,
            all=np.array([part.all for part in parts]),
            terms=tuple(part.terms for part in parts),
            errors=np.array([part.noise.errors for part in parts]),
            variance=float(arrays["centre"][0]) if "centre" in arrays else np.nan,
            why=tuple(reasons)[:MAX_REASONS],
        )
        if own := [part.own for part in parts if part.own is not None]:
            names = tuple(name for name, part in scores.items() if part.is_own_only)
            own_errors = np.array([part.noise.own_error for part in parts])
            scored = replace(scored, own=np.stack(own), own_only=names, own_errors=own_errors)
            arrays |= {"own": np.stack(own), **{n: array for part in parts for n, array in part.own_arrays.items()}}
        row_errors = _stack_known([part.noise.row_errors for part in parts])
        own_row_errors = _stack_known([part.noise.own_row_errors for part in parts])
        scored = replace(scored, row_errors=row_errors, own_row_errors=own_row_errors)
        known = ("row errors", row_errors), ("own row errors", own_row_errors)
        arrays |= {name: array for name, array in known if array is not None}
        noise = {name: array for metric, part in scores.items() for name, array in _noise_arrays(metric, part)}
        return scored, {"clients": clients, **arrays, **noise}

    def _write(
        self, event: Callable[[dict[str, Any]], list[dict[str, Any]]], arrays: dict[str, np.ndarray]
    ) -> dict[str, Any]:
        """Write what still waits, then arrays and the lines that name them; return the places of the arrays."""
        places: dict[str, Any] = {}
        arrays = {name: array for name, array in arrays.items() if array.nbytes <= MAX_FRAME_BYTES // 2}
        self._unwritten.append((event, arrays))
        while self._unwritten:
            make, waiting = self._unwritten[0]
            try:
                places = {name: self._writer.append_array(array) for name, array in waiting.items()}
                self._writer.append(*make(places))
            except OSError as error:
                self.errors.add(f"the log cannot be written ({error.strerror}); new steps wait in memory")
                self._drop_oldest()
                return {}
            except ValueError as error:  # it would never be written
                self.errors.add(f"a step was not written: {error}")
            self._unwritten.popleft()
        return places

    def _drop_oldest(self) -> None:
        """Drop the oldest of what waits for the disk, where it is too much to hold."""
        while (
            len(self._unwritten) > 1 and sum(_byte_count(arrays) for _, arrays in self._unwritten) > MAX_WAITING_BYTES
        ):
            self._unwritten.popleft()
            self.errors.add("steps that could not be written were dropped")


def _stack_known(errors: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Stack the standard errors of all metrics, NaN of those whose are not known; None where no one's are."""
    known = next((own for own in errors if own is not None), None)
    if known is None:
        return None
    return to_float32(np.stack([np.full_like(known, np.nan) if own is None else own for own in errors]))


def _noise_arrays(metric: str, part: StepScores) -> list[tuple[str, np.ndarray]]:
    noise = part.noise
    arrays = {"noise": noise.clients, "all noise": noise.all, "own noise": noise.own, "slopes": part.slopes}
    return [(f"{kind} {metric}", array) for kind, array in arrays.items() if array is not None]


def _byte_count(arrays: Mapping[str, np.ndarray]) -> int:
    return 1_000 + sum(array.nbytes for array in arrays.values())


def _to_number(value: Any) -> float:
    """Return a loss as a number, waiting for a tensor; TypeError, ValueError or RuntimeError where it is none."""
    if isinstance(value, np.ndarray):
        value = value.item()  # ValueError of several
    if isinstance(value, (str, bytes, bytearray, complex, np.complexfloating)):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
