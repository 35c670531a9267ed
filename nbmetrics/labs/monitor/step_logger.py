"""The scores of a run for an experiment tracker: anything with log(dict, step=), such as W&B, trackio or a function."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidInput, printable, shown
from .history import RunHistory
from .log_events import Point

PARTS = ("avg", "all", "gap")
MAX_ERROR_LETTERS = 300


class StepLogger:
    """Logs each scored step once, in the order in which steps are scored.

    Parameters
    ----------
    target : an object with `log(values, step=)`, or a function of the same arguments
    history : returns what is known by now
    tell : is given what the target raised the first time, each time that it raises
    is_past_logged : whether the steps that are scored by now are logged, too
    """

    def __init__(
        self, target: Any, history: Callable[[], RunHistory], tell: Callable[[str], Any], is_past_logged: bool
    ) -> None:
        log = getattr(target, "log", target)
        if isinstance(target, type) or not callable(log):
            fix = (
                "Give wandb.init(…), trackio.init(…), a function (values, step=), or an object with log(values, step=)"
            )
            raise InvalidInput("run", f"got {shown(target)}", fix)
        self._log, self._history, self._tell = log, history, tell
        self._name = getattr(target, "__name__", type(target).__name__)
        self._lock = threading.Lock()
        self._sent = 0 if is_past_logged else len(history().logged)
        self._error = ""

    def log_new(self) -> None:
        """Log the steps that were scored since the last time; what the target raises is told, and not raised."""
        with self._lock:
            history = self._history()
            added, self._sent = history.logged[self._sent :], len(history.logged)
            for step, values in step_values(history, added):
                try:
                    self._log(values, step=step)
                except (Exception, SystemExit) as error:  # of the tracker: training must not end for it
                    seen = f"step {step} was not logged to {self._name}: {type(error).__name__}: {error}"
                    self._error = self._error or printable(seen, MAX_ERROR_LETTERS)
                    self._tell(self._error)


def step_values(history: RunHistory, added: Sequence[Point]) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield the step of each scored point with its scores, such as {"fid/avg": 1.2}; what has no value is left out."""
    scored = [point for point in added if point.is_scored]
    lines = history_tail(history, scored).lines if scored else {}
    for step in dict.fromkeys(point.step for point in scored):
        values: dict[str, float] = {}
        for name, line in lines.items():
            for place in np.flatnonzero(line.steps == step):
                values |= {f"{name.replace(', ', ' ')}/{part}": float(getattr(line, part)[place]) for part in PARTS}
        values = {key: number for key, number in values.items() if math.isfinite(number)}
        if values:
            yield step, values


def history_tail(history: RunHistory, added: Sequence[Point]) -> RunHistory:
    """Return the history of those points, and the first of each kind of each segment, whose rows name the lines."""
    missing = {(s.number, kind) for s in history.segments for kind in {point.is_by_client for point in added}}
    firsts: dict[tuple[int, bool], Point] = {}
    for point in history.logged:
        key = point.segment.number, point.is_by_client
        if point.is_scored and key not in firsts:
            firsts[key] = point
            missing.discard(key)
            if not missing:
                break
    known = set(map(id, added))
    return history.with_points([*(first for first in firsts.values() if id(first) not in known), *added])
