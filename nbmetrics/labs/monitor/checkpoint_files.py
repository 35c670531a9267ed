"""The best checkpoints of a run, kept while it trains: what is saved when a step is taken for scoring, and let go when
its score is not the best.

Flow: `taken` (on the loop's thread, before `log` returns) saves → `scored` (on the scoring thread) compares what the
history holds by then, and discards all but the best. A file says of which log its weights are, so that a process that
goes on with a run knows which files are of its steps, and which of steps that were replaced.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidInput, check_choice, shown
from ...files import write
from ...ranking import lowest
from .best_checkpoints import PARTS
from .history import RunHistory
from .log_events import Point
from .run_folder import resolve_folder

SUFFIX = ".safetensors"
Save = Callable[[int, float], Any]
StepRule = tuple[str, str]
# intra: of generators with one distribution for each client.
AGGREGATES = (*PARTS, "intra")


def check_step_rule(rule: Any, metrics: Mapping[str, Any]) -> StepRule:
    """Return a metric's name and avg, all or intra; InvalidInput where it is no such pair."""
    if not isinstance(rule, (tuple, list)) or len(rule) != 2:
        raise InvalidInput("rule", f"got {shown(rule)}", 'Give a metric and an aggregate, such as ("fid", "all")')
    return check_choice(rule[0], metrics, "metric"), check_choice(rule[1], AGGREGATES, "aggregate")


class BestRule:
    """Which step is the best by one metric and aggregate, and which steps are saved.

    Each log of a step has its own time: one that comes again is saved over the earlier weights.

    Parameters
    ----------
    save, discard : functions of a step and its time
    saved : step and time of what an earlier process saved

    Attributes
    ----------
    best, kept : the best step, and the best of those that are saved; None where there is none
    """

    def __init__(self, rule: StepRule, save: Save, discard: Save, saved: Mapping[int, float]) -> None:
        self.metric, self.part = rule
        self.best: int | None = None
        self.kept: int | None = None
        self._save, self._discard, self._saved = save, discard, dict(saved)
        self._waiting, self._losses = set[float](), dict[int, tuple[float, float]]()
        self._lock = threading.Lock()

    def start(self, history: RunHistory) -> None:
        """Start from a history; the best step of before a restart is taken for saved."""
        self.scored(history, (), True)
        point = next((p for p in history.points if p.step == self.best), None)
        if point is not None and point.segment.number < len(history.segments) - 1:
            self._saved, self.kept = {point.step: point.time}, point.step

    def taken(self, step: int, time: float) -> None:
        """Save a step whose score comes later."""
        with self._lock:
            saved = self._saved.pop(step, None)  # so that it is not discarded after it was written over
            self._waiting.add(time)
        try:
            self._save(step, time)
            saved = time
        finally:
            if saved is not None:
                with self._lock:
                    self._saved[step] = saved

    def scored(self, history: RunHistory, points: Sequence[Point], is_whole: bool) -> dict[int, Exception]:
        """Discard the saved steps that are not the best; return what was raised, by step.

        What the run has replaced, and what was never scored, stays until there is a better one.

        Parameters
        ----------
        history : of at least the points
        points : that came since the last time
        is_whole : whether the history is the whole run, which replaces what was known
        """
        is_intra = self.part == "intra"
        line = history.line(f"{self.metric}_intra" if is_intra else self.metric)
        losses = line.facts.losses(line.avg if is_intra else getattr(line, self.part))
        losses = np.where(np.isfinite(losses), losses, np.inf)
        times = {point.time for point in points}
        known = {} if is_whole else self._losses
        for point, loss in zip(line.points, losses, strict=True):
            if is_whole or point.time in times:
                known[point.step] = point.time, float(loss)
        self._losses, self.best = known, _best_of(known)
        with self._lock:
            self._waiting -= times
            self.kept = _best_of({step: own for step, own in known.items() if self._saved.get(step) == own[0]})
            scored_times, errors = {time for time, _ in known.values()}, {}
            worse = [s for s, t in self._saved.items() if s != self.kept and t not in self._waiting]
            for step in worse if self.kept is not None else [s for s in worse if self._saved[s] in scored_times]:
                try:
                    self._discard(step, self._saved.pop(step))
                except Exception as error:  # of the user's own function
                    errors[step] = error
        return errors

    @property
    def loss_message(self) -> str:
        """Say that the best step has no file, and which has; "" where it has one, or nothing has."""
        if self.best is None or self.best == self.kept:
            return ""
        none = f"step {self.best}, the best by {self.metric} {self.part}, has no file"
        return none if self.kept is None else f"{none}; of the steps with a file, {self.kept} is the best"

    @property
    def has_best(self) -> bool:
        """Whether the weights of the best step are saved."""
        step = -1 if self.best is None else self.best
        return self._saved.get(step) == self._losses.get(step, (math.nan,))[0]


def _best_of(losses: Mapping[int, tuple[float, float]]) -> int | None:
    """Return the step with the least loss, of equal ones the first; None where none is finite."""
    steps = sorted(losses)
    values = [losses[step][1] for step in steps]
    return steps[lowest(values)] if any(map(math.isfinite, values)) else None


class CheckpointFolder:
    """A folder of state dicts, a file a step, which stays as long as a rule needs it.

    Parameters
    ----------
    path : of the folder, made where it is not there
    state : returns tensors or arrays by name; None for the state dict of the module that is logged
    """

    def __init__(self, path: Any, state: Callable[[], Mapping[str, Any]] | None) -> None:
        if find_spec("safetensors") is None:
            fix = 'Run: pip install "nbmetrics[images]"'
            raise InvalidInput("checkpoints", "needs safetensors, which is not installed", fix)
        if state is not None and not callable(state):
            raise InvalidInput("state", f"got {shown(state)}", "Give a function that returns tensors by name")
        self.folder, self._state = resolve_folder(path), state
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            seen = f"{shown(str(self.folder))} cannot be made ({error.strerror})"
            raise InvalidInput("checkpoints", seen, "Choose another folder") from None
        self._held: dict[int, tuple[float, int]] = {}  # time of the log, and how many rules need it
        self._lock = threading.Lock()
        self.source: Any = None

    def path_of(self, step: int) -> Path:
        return self.folder / f"step-{step}{SUFFIX}"

    def check(self, source: Any) -> None:
        """Refuse a generator that has no state dict, where no `state` is given."""
        if self._state is None and _module_of(source) is None:
            seen = f"got {shown(source)}, which has no state dict to keep"
            raise InvalidInput("source", seen, "Log a torch module, or give nm.Monitor(…, state=model.state_dict)")

    def adopt(self, logged: Iterable[Point], rules: int) -> dict[int, float]:
        """Return step and time of the files of this log, which so many rules need from now on."""
        times = {(point.step, point.time) for point in logged}
        for path in self.folder.glob(f"step-*{SUFFIX}"):
            step, time = _log_of(path)
            if (step, time) in times and path == self.path_of(step):
                self._held[step] = time, rules
        return {step: time for step, (time, _) in self._held.items()}

    def save(self, step: int, time: float) -> None:
        """Write the state as it is now, once for all rules."""
        with self._lock:
            written, rules = self._held.get(step, (None, 0))
            if written != time:
                state = _module_of(self.source).state_dict() if self._state is None else self._state()
                write(self.path_of(step), encode_state(state, step, time))
                rules = 0
            self._held[step] = time, rules + 1

    def discard(self, step: int, time: float) -> None:
        """Remove a step's file where no rule needs it any more, and it was not written anew."""
        with self._lock:
            written, rules = self._held.get(step, (None, 0))
            if written == time:
                self._held[step] = time, rules - 1
                if rules <= 1:
                    del self._held[step]
                    self.path_of(step).unlink(missing_ok=True)


def _module_of(source: Any) -> Any:
    """Return the torch module that a source is, or is a method of; None where it is none."""
    owners = (source, getattr(source, "__self__", None))
    return next((owner for owner in owners if hasattr(owner, "state_dict") and hasattr(owner, "modules")), None)


def _log_of(path: Path) -> tuple[int, float]:
    """Return the step and the time of the log of a file; NaN where it does not say."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            about = file.metadata() or {}
        return int(about["step"]), float(about["time"])
    except (OSError, ValueError, KeyError, SafetensorError):
        return -1, math.nan


def encode_state(state: Mapping[str, Any], step: int, time: float) -> bytes:
    """Encode tensors or arrays by name as a safetensors file, bit for bit, each with its own memory."""
    about = {"step": str(step), "time": repr(time)}
    if all(hasattr(value, "detach") for value in state.values()):
        from safetensors.torch import save as save_tensors

        tensors = {name: value.detach().cpu().contiguous().clone() for name, value in state.items()}
        return bytes(save_tensors(tensors, metadata=about))
    from safetensors.numpy import save as save_arrays

    return bytes(save_arrays({name: np.ascontiguousarray(value) for name, value in state.items()}, metadata=about))
