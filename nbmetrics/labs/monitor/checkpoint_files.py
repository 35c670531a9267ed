"""The best checkpoints of a run, kept while it trains: what is saved when a step is taken for scoring, and let go when
its score is not the best.

Flow: `taken` (on the loop's thread, before `log` returns) saves → `scored` (on the scoring thread) compares, and
discards the step, or the one that was the best.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidInput, check_choice, shown
from ...files import write
from .best_checkpoints import PARTS, best_step
from .history import RunHistory
from .log_events import MetricFacts, Point
from .run_folder import resolve_folder

SUFFIX = ".safetensors"
Save = Callable[[int], Any]
StepRule = tuple[str, str]
# intra: of generators with one distribution for each client.
AGGREGATES = (*PARTS, "intra")


def check_step_rule(rule: Any, metrics: Mapping[str, Any]) -> StepRule:
    """Return a metric's name and avg, all or intra; InvalidInput where it is no such pair."""
    if not isinstance(rule, (tuple, list)) or len(rule) != 2:
        raise InvalidInput("rule", f"got {shown(rule)}", 'Give a metric and an aggregate, such as ("fid", "all")')
    return check_choice(rule[0], metrics, "metric"), check_choice(rule[1], AGGREGATES, "aggregate")


class BestRule:
    """Which step is the best by one metric and aggregate, and which are saved until their score is known.

    Attributes
    ----------
    best : the best step, None before the first score
    """

    def __init__(self, rule: StepRule, history: RunHistory, save: Save, discard: Save | None) -> None:
        self.metric, self.part = rule
        self._save, self._discard = save, discard or (lambda step: None)
        self._lock, self._waiting = threading.Lock(), set[int]()
        self._is_intra = self.part == "intra"
        line = history.line(f"{self.metric}_intra" if self._is_intra else self.metric)
        column = "avg" if self._is_intra else self.part
        best = best_step(line, column)
        self.best, self._count = best.step, line.points[0].count if line.points else None
        self._loss = np.inf if best.place is None else float(line.facts.losses(getattr(line, column))[best.place])
        self._has_saved_best = False

    def taken(self, step: int) -> None:
        """Save a step whose score comes later."""
        with self._lock:
            self._waiting.add(step)
        self._save(step)

    def scored(self, point: Point, weights: Sequence[float]) -> None:
        """Discard a step that is not the best, or the one that was; a step without scores is not."""
        with self._lock:
            if point.step not in self._waiting:
                return
            self._waiting.discard(point.step)
            loss = self._loss_of(point, weights)
            worse: int | None = point.step
            if loss < self._loss:
                worse, self.best, self._loss = self.best if self._has_saved_best else None, point.step, loss
                self._has_saved_best = True
        if worse is not None and worse != self.best:
            self._discard(worse)

    def _loss_of(self, point: Point, weights: Sequence[float]) -> float:
        place = point.segment.position(self.metric)
        if point.all is None or place < 0:
            return np.inf
        metric: MetricFacts = point.segment.metrics[place]
        facts = metric.intra if self._is_intra else metric
        scores = point.client_scores(facts)
        if scores is None:
            return np.inf
        self._count = point.count if self._count is None else self._count
        if not facts.mixes and point.count != self._count:  # of other numbers of rows: not comparable
            return np.inf
        shares = np.array(weights)
        value = point.all[place] if self.part == "all" else scores[shares > 0] @ shares[shares > 0]
        loss = float(facts.losses(np.array(value)))
        return loss if np.isfinite(loss) else np.inf


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
        self._needed: dict[int, int] = {}
        self._lock = threading.Lock()
        self.source: Any = None

    def path_of(self, step: int) -> Path:
        return self.folder / f"step-{step}{SUFFIX}"

    def check(self, source: Any) -> None:
        """Refuse a generator that has no state dict, where no `state` is given."""
        if self._state is None and _module_of(source) is None:
            seen = f"got {shown(source)}, which has no state dict to keep"
            raise InvalidInput("source", seen, "Log a torch module, or give nm.Monitor(…, state=model.state_dict)")

    def save(self, step: int) -> None:
        """Write the state as it is now, once for all rules."""
        with self._lock:
            self._needed[step] = self._needed.get(step, 0) + 1
            if self._needed[step] > 1:
                return
        state = _module_of(self.source).state_dict() if self._state is None else self._state()
        write(self.path_of(step), encode_state(state, step))

    def discard(self, step: int) -> None:
        """Remove a step's file where no rule needs it any more."""
        with self._lock:
            self._needed[step] = self._needed.get(step, 1) - 1
            if self._needed[step] > 0:
                return
            del self._needed[step]
        self.path_of(step).unlink(missing_ok=True)


def _module_of(source: Any) -> Any:
    """Return the torch module that a source is, or is a method of; None where it is none."""
    owners = (source, getattr(source, "__self__", None))
    return next((owner for owner in owners if hasattr(owner, "state_dict") and hasattr(owner, "modules")), None)


def encode_state(state: Mapping[str, Any], step: int) -> bytes:
    """Encode tensors or arrays by name as a safetensors file, bit for bit, each with its own memory."""
    about = {"step": str(step)}
    if all(hasattr(value, "detach") for value in state.values()):
        from safetensors.torch import save as save_tensors

        tensors = {name: value.detach().cpu().contiguous().clone() for name, value in state.items()}
        return bytes(save_tensors(tensors, metadata=about))
    from safetensors.numpy import save as save_arrays

    return bytes(save_arrays({name: np.ascontiguousarray(value) for name, value in state.items()}, metadata=about))
