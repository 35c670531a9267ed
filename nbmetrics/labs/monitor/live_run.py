"""A run while it is recorded, or opened from a folder: what stands behind `nm.Monitor`.

Flow: `log` draws a sample and hands over a record → the scoring thread scores and writes it → the point joins the
history, alarms are read again, and the listeners are called. All that is shown is read from the history.
"""

from __future__ import annotations

import atexit
import math
import shutil
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ...distributions import check_draw
from ...errors import InvalidInput, caller_level, check_count, check_flag, check_list, check_names, printable, shown
from . import alarms as rules
from .checkpoint_files import BestRule, CheckpointFolder, check_step_rule
from .generator_sampling import GeneratorSampler, StepSample
from .history import RunHistory, read_history
from .log_events import LAST_STEP, MAX_LOSSES, Point, Segment
from .loop_timing import Budget, StepClock, watch_cells
from .run import Run
from .run_folder import LogReader, Writer, resolve_folder
from .scoring import Scoring
from .scoring_thread import ScoringThread, StepRecord
from .step_logger import StepLogger, history_tail

DEFAULT_SAMPLES = 1_000
# Seconds that the end of a program waits for scores under way.
CLOSE_SECONDS = 10.0
MAX_WARNING_LETTERS = 500
# Share of the time that a user's own calls of alarms may take.
MAX_CALL_SHARE = 0.01

_live_runs: weakref.WeakValueDictionary[Path, LiveRun] = weakref.WeakValueDictionary()


class MonitorWarning(UserWarning):
    """Something of a run could not be drawn, scored or written; the training goes on."""


class Cost(NamedTuple):
    """What a Monitor costs.

    Attributes
    ----------
    loop, scoring, telling : seconds so far: of the loop, mostly for drawing; of a processor on other threads, for
        scores and for the page
    elapsed : seconds from the first step to the last that was logged
    share : of the elapsed time, all three together: what the loop loses where it has one processor alone
    every : seconds that earn one more scored step at 5 %; 0 where all are scored
    skipped : steps that came sooner, of which only the losses were kept
    dropped : steps that were drawn, and not scored because a newer one came
    """

    loop: float
    scoring: float
    telling: float
    elapsed: float
    share: float
    every: float
    skipped: int
    dropped: int


class LiveRun(Run):
    """A run that draws, scores and writes what is logged, with the parameters of `nm.Monitor`."""

    def __init__(
        self,
        federation: Any,
        metrics: Any = ("fid", "kid"),
        *,
        path: Any = None,
        keep_all: bool = False,
        samples: int = DEFAULT_SAMPLES,
        seed: int = 0,
        checkpoints: Any = None,
        keep: Any = (),
        state: Any = None,
    ) -> None:
        is_kept_whole = check_flag(keep_all, "keep_all")
        scoring = Scoring(federation, metrics, seed)
        count = scoring.samples = check_draw(samples, scoring.federation.dim, "samples", minimum=2)
        self._sampler: GeneratorSampler | None = GeneratorSampler(count, scoring.seed, scoring.federation)
        self.path = resolve_folder(tempfile.mkdtemp(prefix="nbmetrics-run-") if path is None else path)
        if path is None:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        if (other := _live_runs.get(self.path)) is not None:
            other.close()
        keep = check_list(keep, "keep")
        folder = None if checkpoints is None else CheckpointFolder(checkpoints, state)
        if folder is None and (state is not None or keep):
            raise InvalidInput("checkpoints", "is not given", "Give the folder of the checkpoints to keep")
        kept_rules = [check_step_rule(rule, dict.fromkeys(scoring.metrics)) for rule in keep]
        writer = Writer(self.path)
        try:
            self._show_history(*_read_run(self.path, scoring), folder)
            scoring.prepare()  # here, so that the loop need not pay for it
        except InvalidInput:
            writer.close()
            raise
        number = len(self._segments)
        self._scoring_thread: ScoringThread | None = ScoringThread(
            scoring, writer, self._add, self._call_alarms, is_kept_whole, number, self.budget,
            lambda: self.clock.thread, lambda: tuple(self.cost),
        )  # fmt: skip
        self._segments.append(Segment.of(scoring.names, scoring.weights, scoring.describe(), number))
        self._history = None
        self._scoring_thread.begin()
        if writer.torn:
            self._scoring_thread.errors.add(f"the last line was incomplete ({writer.torn:,} bytes) and was set aside")
        self._unwatch_cells = watch_cells(self.clock)
        if folder is not None:
            saved = folder.adopt(self._points, len(kept_rules))
            self._best_rules += [BestRule(rule, folder.save, folder.discard, saved) for rule in kept_rules]
            self._discard_steps([])
        self._kept_rules: tuple[BestRule, ...] = tuple(self._best_rules)
        _live_runs[self.path] = self
        atexit.register(_close_at_exit, weakref.ref(self))

    def _show_history(self, history: RunHistory, reader: LogReader, folder: CheckpointFolder | None = None) -> None:
        """Start from a history, and add to it."""
        super().__init__(history)
        self._reader = reader
        self._segments, self._points = list(history.segments), list(history.logged)
        self._lock = threading.RLock()
        self._alarm_calls: list[tuple[rules.Rule, rules.Call]] = []
        self._listeners: list[Callable[[], Any]] = []
        self._called_alarms: set[rules.Alarm] = set()
        self._best_rules: list[BestRule] = []
        self._kept_rules = ()
        self._checkpoints = folder
        self._logged_steps = {point.step for point in history.points}
        self._newest_step = self._last_before = max(self._logged_steps, default=-1)
        self._last_time = 0.0
        self.budget: Budget = Budget()
        self.clock: StepClock = StepClock()
        self._skipped, self._call_time, self._call_seconds, self._has_drawn = 0, 0.0, 0.0, False

    @classmethod
    def open(cls, path: Any) -> LiveRun:
        """A run that a Monitor wrote into a folder, without its clients or generator: to be read, not to go on.

        Raises InvalidInput where there is none. What was damaged is left out, and `troubles` says so.
        """
        run = cls.__new__(cls)
        run._sampler = run._scoring_thread = None
        history, reader = read_history(path)
        if not any(segment.metrics for segment in history.segments):
            why = f" ({reader.messages[0]})" if reader.messages else ""
            seen = f"{shown(str(reader.folder))} contains no run: no line of its log names clients and metrics{why}"
            raise InvalidInput("path", seen, "Give the folder of a run, or a whole copy of this one")
        run.path = reader.folder
        run._show_history(history, reader)
        return run

    def log(self, step: int, source: Any = None, **losses: Any) -> bool:
        """See `nm.Monitor.log`."""
        return self.hand_over(step, source, losses)

    def keep(self, step: int, source: Any = None, **losses: Any) -> bool:
        """See `nm.Monitor.keep`."""
        return self.hand_over(step, source, losses, is_kept=True)

    def check(self, source: Any) -> None:
        """Refuse, without drawing, what cannot be a generator of these clients."""
        if self._sampler is None:
            raise InvalidInput(
                "monitor", "was opened for reading only", "To continue the run: nm.Monitor(federation, path=…)"
            )
        self._sampler.check(source)

    def hand_over(self, step: int, source: Any, losses: dict[str, Any], is_kept: bool = False) -> bool:
        """Log, or keep, a step with its losses as a dict, whatever their names."""
        now = time.monotonic()
        self.check(None)
        step = check_count(step, "step", minimum=0, maximum=LAST_STEP)
        check_names(list(losses), "losses")
        if len(losses) > MAX_LOSSES:
            raise InvalidInput("losses", f"are {len(losses):,}", f"Give at most {MAX_LOSSES:,}")
        losses = {name: value.detach().clone() if hasattr(value, "detach") else value for name, value in losses.items()}
        assert self._scoring_thread is not None
        if self._scoring_thread.is_closed:
            warnings.warn("the Monitor is closed and records no more steps", MonitorWarning, stacklevel=caller_level())
            return False
        self.budget.advance_to(now)
        late = self.clock.tick(step, now)
        at = self._last_time = max(time.time(), math.nextafter(self._last_time, math.inf))  # which names a log
        sample = None
        if source is not None and (is_kept or self._is_due(now)):
            self.check(source)
            if self._checkpoints is not None:
                self._checkpoints.check(source)
            self.budget.begin_step(now)
            sample = self._draw(step, source)
            if sample is not None:
                self._save_step(step, at, source)
            if self._has_drawn:  # the first draw loads modules that later ones need
                self.budget.draw = time.monotonic() - now
            self._has_drawn = True
        is_anew = source is not None and step < self._newest_step and step in self._logged_steps
        self._newest_step = step if is_anew else max(step, self._newest_step)
        self._logged_steps.add(step)
        self._scoring_thread.put(StepRecord(step, at, losses, sample, is_kept, late, is_anew, source is None))
        self.budget.spend("loop", time.monotonic() - now)
        return sample is not None

    def _is_due(self, now: float) -> bool:
        """Whether to score a step now: all are, or no other is under way and the time has earned it."""
        assert self._scoring_thread is not None
        is_due = self._scoring_thread.keep_all or (not self._scoring_thread.is_scoring and self.budget.is_due(now))
        self._skipped += not is_due
        return is_due

    def _draw(self, step: int, source: Any) -> StepSample | None:
        assert self._sampler is not None
        try:
            sample = self._sampler.draw(source)
            try:
                self._sampler.check(sample.rows)
            except InvalidInput as error:
                self._log_error(f"no score of what the generator makes: {error}")
            return sample
        except Exception as error:  # of the user's own function: days of training must not end for it
            self._log_error(f"step {step} was not drawn: {type(error).__name__}: {error}")
            return None

    def _save_step(self, step: int, at: float, source: Any) -> None:
        """Have the rules save what is scored, as it is now."""
        if self._checkpoints is not None:
            self._checkpoints.source = source
        for rule in self._best_rules:
            try:
                rule.taken(step, at)
            except Exception as error:  # of the user's own function, or a full disk
                self._log_error(f"step {step} was not saved: {type(error).__name__}: {error}")

    def _discard_steps(self, points: list[Point]) -> None:
        """Have the rules let go of what is not the best, on the scoring thread; at the start without points."""
        assert self._scoring_thread is not None
        steps = [point for point in points if not point.only_losses]
        replacing = [point.step for point in steps if point.is_anew or point.step <= self._last_before]
        history, is_whole = self.history, bool(replacing) or not points
        if replacing:
            self._called_alarms = {alarm for alarm in self._called_alarms if alarm.step < min(replacing)}
            is_before = (p.step for p in history.points if p.segment.number < len(history.segments) - 1)
            self._last_before = max(is_before, default=-1)
        for rule in self._best_rules:
            known = history if is_whole else history_tail(history, points)
            for step, error in rule.scored(known, points, is_whole).items():
                self._scoring_thread.errors.add(f"step {step} was not discarded: {error!r}")

    def on_best(self, rule: Any, save: Any, discard: Any = None) -> None:
        """See `nm.Monitor.on_best`."""
        if self._sampler is None:
            raise InvalidInput(
                "monitor", "was opened for reading only", "To continue the run: nm.Monitor(federation, path=…)"
            )
        for name, function in (("save", save), ("discard", discard)):
            if not callable(function) and not (name == "discard" and function is None):
                raise InvalidInput(name, f"got {shown(function)}", "Give a function of one step")
        checked = check_step_rule(rule, self.history.plain_metrics)
        best_rule = BestRule(checked, lambda step, _: save(step), lambda step, _: discard and discard(step), {})
        with self._lock:  # no point comes between the two
            best_rule.start(self.history)
            self._best_rules.append(best_rule)

    @property
    def checkpoints(self) -> dict[tuple[str, str], Path]:
        """The files of the best checkpoints so far, by metric and aggregate."""
        if (folder := self._checkpoints) is None:
            return {}
        rules = [rule for rule in self._kept_rules if rule.has_best]
        paths = {(rule.metric, rule.part): folder.path_of(rule.best) for rule in rules}  # type: ignore[arg-type]
        return {rule: path for rule, path in paths.items() if path.exists()}

    def _log_error(self, message: str) -> None:
        if self._scoring_thread is not None and self._scoring_thread.errors.add(message):
            warnings.warn(printable(message, MAX_WARNING_LETTERS), MonitorWarning, stacklevel=caller_level())

    def _show_error(self, message: str) -> None:
        """Log an error, from any thread, and show it the first time."""
        if self._scoring_thread is None or self._scoring_thread.errors.add(message):
            with suppress(Warning):  # where warnings are errors
                warnings.warn(message, MonitorWarning, stacklevel=2)

    def _add(self, new: Segment | list[Point]) -> None:
        """Add the segment, or more points, on the scoring thread, and call what waits for them."""
        with self._lock:
            if isinstance(new, Segment):
                self._segments[-1] = new  # the same, with arrays of its clients
            else:
                self._points.extend(new)
            self._history = None
        if not isinstance(new, Segment):
            self._discard_steps(new)
            if time.monotonic() - self._call_time >= self._call_seconds / MAX_CALL_SHARE:
                self._call_alarms()
            for listener in self._listeners:
                listener()

    def _call_alarms(self) -> None:
        """Call the users' functions of new alarms."""
        now = time.monotonic()
        if not self._alarm_calls:
            return
        assert self._scoring_thread is not None
        for rule, call in list(self._alarm_calls):
            for alarm in rules.find_alarms(self.history, [rule]):
                if alarm in self._called_alarms:
                    continue
                self._called_alarms.add(alarm)
                try:
                    call(alarm)
                except (Exception, SystemExit) as error:  # the user's own
                    self._scoring_thread.errors.add(f"the call of alarm {alarm.alarm!r} raised {error!r}")
        self._call_time = time.monotonic()
        self._call_seconds = self._call_time - now

    def on_step(self, listener: Callable[[], Any]) -> None:
        """Have `listener()` called after each step that is recorded, on the scoring thread."""
        self._listeners.append(listener)

    def to(self, run: Any, past: bool = True) -> None:
        """See `nm.Monitor.to`."""
        logger = StepLogger(run, lambda: self.history, self._show_error, check_flag(past, "past"))
        self._listeners.append(logger.log_new)
        logger.log_new()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all steps are scored and written, or so many seconds; return whether they are."""
        return True if self._scoring_thread is None else self._scoring_thread.wait(seconds)

    @property
    def history(self) -> RunHistory:
        """What is known by now, as an immutable value."""
        with self._lock:
            if self._history is None:
                self._history = RunHistory(self._segments, self._points, self._reader.array)
            return self._history

    def alarm(
        self, column: str, *, rises: float | None = None, falls: float | None = None, for_: int = 1, call: Any = None
    ) -> None:
        """See `nm.Monitor.alarm`."""
        if call is not None and not callable(call):
            raise InvalidInput("call", f"got {shown(call)}", "Give a function of one alarm")
        super().alarm(column, rises=rises, falls=falls, for_=for_)
        if call is not None:
            rule = self._rules[-1]
            self._called_alarms.update(rules.find_alarms(self.history, [rule]))
            self._alarm_calls.append((rule, call))

    def remove_alarm(self, name: str) -> None:
        """See `nm.Monitor.remove_alarm`."""
        super().remove_alarm(name)
        self._alarm_calls = [(rule, call) for rule, call in self._alarm_calls if rule.name != name]

    @property
    def cost(self) -> Cost:
        """What the Monitor cost the loop."""
        thread, spent = self._scoring_thread, self.budget
        if thread is None:
            return self._logged_cost()
        keeps_all, dropped = thread.keep_all, thread.dropped
        every = 0.0 if keeps_all else spent.every
        seconds = spent.loop, spent.scoring, spent.telling, spent.elapsed
        return Cost(*seconds, spent.share, every, self._skipped, dropped)

    def _logged_cost(self) -> Cost:
        """What the Monitors cost that wrote an opened run, all together."""
        last = {point.segment.number: point.cost for point in self._points if len(point.cost) == len(Cost._fields)}
        costs = [Cost(*numbers) for numbers in last.values()]  # type: ignore[arg-type]
        loop, scoring, telling, elapsed = (sum(getattr(cost, name) for cost in costs) for name in Cost._fields[:4])
        share = (loop + scoring + telling) / elapsed if elapsed else 0.0
        skipped, dropped = (int(sum(getattr(cost, name) for cost in costs)) for name in ("skipped", "dropped"))
        return Cost(loop, scoring, telling, elapsed, share, costs[-1].every if costs else 0.0, skipped, dropped)

    @property
    def troubles(self) -> list[str]:
        messages, skipped = list(self._reader.messages), self._reader.skipped
        if skipped:
            messages.insert(0, f"{skipped:,} lines of the log were left out")
        if self._scoring_thread is not None:
            messages += [*self._scoring_thread.errors.messages, self.clock.stall_message]
            messages += [rule.loss_message for rule in self._kept_rules]
        return [message for message in messages if message]

    @property
    def last_step_time(self) -> float | None:
        """The time of the last step in seconds since 1970; None where none came, or none can come any more."""
        is_live = self._scoring_thread is not None and not self._scoring_thread.is_closed
        return self.clock.last_time if is_live else None

    def close(self) -> None:
        """Score what waits, and end the thread; the run stays to be read."""
        if self._scoring_thread is not None:
            self.clock.end_loop()
            self._unwatch_cells()
            self._scoring_thread.close(CLOSE_SECONDS)


def _read_run(path: Path, scoring: Scoring) -> tuple[RunHistory, LogReader]:
    """Read the run of a folder, which may be empty; InvalidInput where it is of other clients, or of a metric of the
    same name with other settings, whose scores would be on one line."""
    history, reader = read_history(path)
    conventions = dict(zip(scoring.metrics, scoring.conventions, strict=True))
    for facts in (facts for segment in history.segments for facts in segment.metrics if facts.convention):
        if (own := conventions.get(facts.name, facts.convention)) != facts.convention:
            seen = (
                f"{shown(str(path))} contains {facts.name!r} by {shown(facts.convention, 200)}, not {shown(own, 200)}"
            )
            raise InvalidInput("path", seen, "Choose another folder, or give the metric a name of its own")
    if history.segments and history.names != scoring.names:
        seen = f"{shown(str(path))} contains a run of other clients: {shown(list(history.names))}"
        raise InvalidInput("path", seen, "Choose another folder")
    return history, reader


def _close_at_exit(reference: weakref.ref[LiveRun]) -> None:
    if (run := reference()) is not None:
        run.close()
