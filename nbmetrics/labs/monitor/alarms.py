"""Alarm rules: each reads a history and sounds at steps of it; they are evaluated again whenever a log is read.

A value leaves its range where it is beyond the mean of the calm values before it by more than their standard deviation
times the one-sided 1 − 10⁻⁴ quantile of Student's t: what normal noise about a level does once in 10,000 steps. The
calm values are up to twenty in range before it, six at least; twenty in a row beyond it become the new level. Rules of
chance wait for two steps in a row. A rule sounds at the step at which it is met, and again only after a step at which
it was not.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...errors import InvalidInput, check_choice, check_count, check_number
from ...ranking import is_tie, lowest
from .history import RunHistory

# Calm values that make a range, at least and at most.
MIN_CALM_VALUES, MAX_CALM_VALUES = 6, 20
ALARM_PROBABILITY = 1e-4
# A collapse: the variance of the generated rows, as a share of its highest before and of the pooled clients'.
COLLAPSE_SHARE = 0.5
# The FID gap closes: as a share of the calm ones.
CLOSED_GAP_SHARE = 0.5
# avg is silent where it moves by less than this share of what all does; worth a word from this share of avg itself.
MAX_SILENT_SHARE, MIN_RISE_SHARE = 0.1, 0.02
# The KID gap may move by rounding, as a share of the mean kernel.
KID_GAP_ROUNDING = 1e-10
# Steps in a row that the rules of chance wait for.
PATIENCE_STEPS = 2


class Alarm(NamedTuple):
    """An alarm at its step: which rule, and a sentence."""

    step: int
    alarm: str
    words: str


class Rule(Protocol):
    """A rule that finds steps at which something may be wrong with a run."""

    @property
    def name(self) -> str: ...

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        """Yield an alarm at each step at which the rule is met, and was not before."""
        ...


@lru_cache(maxsize=64)
def _t_quantile(count: int) -> float:
    """Return by how many standard deviations of `count` normal values the next exceeds their mean once in 10,000."""
    from scipy.special import stdtrit

    return float(-stdtrit(count - 1, ALARM_PROBABILITY)) * math.sqrt(1.0 + 1.0 / count)


class CalmRange:
    """Whether values leave the range of the calm ones before them; `sign` 1 upwards, −1 downwards."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self._calm: deque[float] = deque(maxlen=MAX_CALM_VALUES)
        self._beyond: list[float] = []

    @property
    def level(self) -> float:
        """The mean of the calm values."""
        return _mean(self._calm)

    def leaves(self, value: float) -> bool:
        """Whether this next value is beyond the range; a NaN is not, and is no calm one."""
        if not math.isfinite(value):
            return False
        if (count := len(self._calm)) >= MIN_CALM_VALUES:
            level = self.level
            spread = math.sqrt(math.fsum((calm - level) ** 2 for calm in self._calm) / (count - 1))
            if self._sign * (value - level) > _t_quantile(count) * spread and not is_tie(
                value, level, max(abs(value), abs(level))
            ):
                self._beyond.append(value)
                if len(self._beyond) == MAX_CALM_VALUES:
                    self._calm.extend(self._beyond)
                    self._beyond = []
                    return False
                return True
        self._beyond = []
        self._calm.append(value)
        return False


def _mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _onsets(met: Sequence[bool], patience: int = 1) -> Iterator[int]:
    """Yield the places at which a condition has been met so many times in a row, once each time."""
    run = 0
    for place, is_met in enumerate(met):
        run = run + 1 if is_met else 0
        if run == patience:
            yield place


class PairedRise(NamedTuple):
    """Two series at a step: whether and how far the first rose beyond its range, the other's value and calm level."""

    is_up: bool
    rise: float
    other: float
    level: float


def _paired_rises(first: Iterable[float], second: Iterable[float]) -> list[PairedRise]:
    """Find where the first series leaves its range upwards, and compare the second to its mean over the calm steps."""
    up, calm, rises = CalmRange(1), deque[float](maxlen=MAX_CALM_VALUES), []
    for value, other in zip(first, second, strict=True):
        before = up.level
        is_up = up.leaves(value)
        rises.append(PairedRise(is_up, value - before, other, _mean(calm)))
        if not is_up and math.isfinite(other):
            calm.append(other)
    return rises


def _number_text(value: float) -> str:
    return f"{value:.4g}"


@dataclass(frozen=True)
class NotFinite:
    """A score or a loss is NaN or infinite."""

    name: str = "not finite"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        problems = [self._problem(history, point) for point in history.points]
        for place in _onsets([bool(problem) for problem in problems]):
            yield Alarm(history.points[place].step, self.name, problems[place])

    def _problem(self, history: RunHistory, point: Any) -> str:
        lost = [f"loss {name} is {value}" for name, value in point.losses.items() if not math.isfinite(value)]
        if point.is_scored:
            counted = np.array(history.weights) > 0
            bad = ~np.isfinite(point.clients[:, counted]).all(axis=1) | ~np.isfinite(point.all)
            why = f" ({point.why[0]})" if point.why else ""
            lost += [f"{m.label} has no value{why}" for m, b in zip(point.segment.metrics, bad, strict=True) if b]
        return f"{lost[0]}." if lost else ""


@dataclass(frozen=True)
class CollapseAlarm:
    """The generated rows vary far less than they did, and than the clients'."""

    name: str = "collapse"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        points = [point for point in history.points if math.isfinite(point.variance)]
        spreads = {segment.number: history.spread(segment) for segment in history.segments}
        met, highest, highest_before = [], 0.0, []
        for point in points:
            highest_before.append(highest)
            clients = spreads[point.segment.number]
            is_less = point.variance < COLLAPSE_SHARE * highest
            met.append(is_less and not point.variance >= COLLAPSE_SHARE * clients)
            highest = max(highest, point.variance)
        for place in _onsets(met, PATIENCE_STEPS):
            share = points[place].variance / highest_before[place]
            words = f"The variance of the generated rows fell to {_percent_text(share)} of its highest: a collapse?"
            yield Alarm(points[place].step, self.name, words)


def _percent_text(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share >= 0.01 else "less than 1 %"


@dataclass(frozen=True)
class WorstClient:
    """The worst client's score leaves its range upwards while avg is below its level."""

    name: str = "worst client"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        for line in history.lines.values():
            clients = line.facts.losses(line.clients)
            counted = np.array(history.weights) > 0
            worst = [lowest(np.where(counted, -row, math.nan)) for row in clients]
            values = [float(row[w]) for row, w in zip(clients, worst, strict=True)]
            avgs = line.facts.losses(line.avg)
            met = [b.is_up and b.other < b.level for b in _paired_rises(values, avgs)]
            for place in _onsets(met, PATIENCE_STEPS):
                words = f"the worst client, {history.names[worst[place]]}, got worse while avg improved."
                yield Alarm(int(line.steps[place]), self.name, f"{line.label}: {words}")


@dataclass(frozen=True)
class SilentAverage:
    """All leaves its range upwards while avg stays where it was or falls."""

    name: str = "avg silent"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        for line in history.lines.values():
            rises = _paired_rises(line.facts.losses(line.all), line.facts.losses(line.avg))
            met = [
                b.is_up and b.rise > MIN_RISE_SHARE * abs(b.level) and b.other - b.level <= MAX_SILENT_SHARE * b.rise
                for b in rises
            ]
            for place in _onsets(met, PATIENCE_STEPS):
                words = f"{line.label}-all rises to {_number_text(line.all[place])} and {line.label}-avg does not."
                yield Alarm(int(line.steps[place]), self.name, words)


@dataclass(frozen=True)
class GapCloses:
    """FID-avg − FID-all falls to half of its calm values: with the generated variance it goes to 0."""

    name: str = "gap closes"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        for line in (line for line in history.lines.values() if line.facts.kind == "fid"):
            down, met, levels = CalmRange(-1), [], []
            for gap in line.gap:
                levels.append(down.level)
                met.append(down.leaves(gap) and gap < CLOSED_GAP_SHARE * levels[-1])
            for place in _onsets(met, PATIENCE_STEPS):
                change = f"{_number_text(levels[place])} to {_number_text(line.gap[place])}"
                words = f"The gap {line.label}-avg − {line.label}-all closes, from {change}: a collapse?"
                yield Alarm(int(line.steps[place]), self.name, words)


@dataclass(frozen=True)
class GapMoves:
    """KID-avg − KID-all moves, which by theorem it cannot: something is wrong with the pipeline."""

    name: str = "instrument"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        for line in (line for line in history.lines.values() if line.facts.kind == "kid"):
            gaps = line.gap
            finite = np.flatnonzero(np.isfinite(gaps))
            if not len(finite):
                continue
            first, met = gaps[finite[0]], []
            for point, gap in zip(line.points, gaps, strict=True):
                terms = point.terms[point.segment.position(line.facts.name)].values()
                scale = math.fsum(abs(v) for v in terms if math.isfinite(v))
                met.append(bool(abs(gap - first) > KID_GAP_ROUNDING * scale))
            for place in _onsets(met):
                words = (
                    f"{line.label}-avg − {line.label}-all moved from {first:.12g} to {gaps[place]:.12g}, and no "
                    "generator can move it: the clients' rows, their order or their features are others now."
                )
                yield Alarm(int(line.steps[place]), self.name, words)


@dataclass(frozen=True)
class Stall:
    """A step came far later than any before it, and its loop had not ended."""

    name: str = "stalled"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        for point in history.points:
            if point.late > 0:
                words = f"No step came for {point.late:,.0f} s before this one, far longer than ever before."
                yield Alarm(point.step, self.name, words)


DEFAULT_RULES: tuple[Rule, ...] = (
    NotFinite(), CollapseAlarm(), WorstClient(), SilentAverage(), GapCloses(), GapMoves(), Stall()
)  # fmt: skip


@dataclass(frozen=True)
class Threshold:
    """A column rises above its lowest value so far, or falls below its highest, by a share; see `Monitor.alarm`."""

    column: str
    rises: float | None
    falls: float | None
    for_: int

    @property
    def name(self) -> str:
        return f"{self.column} rises" if self.rises is not None else f"{self.column} falls"

    @classmethod
    def of(cls, column: Any, rises: Any, falls: Any, for_: Any) -> Threshold:
        """A threshold with checked arguments; InvalidInput names the one that is wrong."""
        if not isinstance(column, str) or not column:
            raise InvalidInput("column", f"got {column!r}", "Give a column, such as 'fid_all', or the name of a loss")
        if (rises is None) == (falls is None):
            raise InvalidInput("rises", "is to be given, or falls, and not both", "Give one of them, such as rises=0.5")
        limits = {"minimum": 0.0, "maximum": 1e6}
        up = None if rises is None else check_number(rises, "rises", **limits)
        down = None if falls is None else check_number(falls, "falls", **limits)
        return cls(column, up, down, check_count(for_, "for_", maximum=1_000_000))

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        steps, values = column(history, self.column)
        sign, share = (1, self.rises) if self.rises is not None else (-1, self.falls)
        assert share is not None
        extreme, extreme_before, met = math.nan, [], []
        for value in values:
            extreme_before.append(extreme)
            met.append(bool(sign * (value - extreme) > share * abs(extreme)))
            extreme = float(np.fmin(extreme, value) if sign > 0 else np.fmax(extreme, value))
        for place in _onsets(met, self.for_):
            verb = "rose" if sign > 0 else "fell"
            end = "lowest" if sign > 0 else "highest"
            start, value = _number_text(extreme_before[place]), _number_text(values[place])
            words = f"{self.column} {verb} to {value}, from {start} at its {end}."
            yield Alarm(int(steps[place]), self.name, words)


def columns(history: RunHistory) -> list[str]:
    """Return the columns for alarms: `fid_avg`, `fid_all`, `fid_gap` and so on, losses, and `variance`."""
    scores = [
        f"{name}_{part}" for name in dict.fromkeys([*history.metrics, *history.lines]) for part in ("avg", "all", "gap")
    ]
    return [*scores, *history.losses.columns[1:], "variance"]


def column(history: RunHistory, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return steps and values of a column; empty while there is none of that name yet."""
    line_name, _, part = name.rpartition("_")
    if line_name in history.lines and part in ("avg", "all", "gap"):
        line = history.lines[line_name]
        return line.steps, getattr(line, part)
    if name in history.losses.columns[1:]:
        return history.losses["step"].to_numpy(), history.losses[name].to_numpy()
    if name == "variance":
        points = [point for point in history.points if point.is_scored]
        return np.array([p.step for p in points]), np.array([p.variance for p in points])
    return np.array([], dtype=np.int64), np.array([])


def check_column(history: RunHistory, name: str) -> None:
    """Refuse the name of a column of scores that cannot come; a loss may come later."""
    names = columns(history)
    line, _, part = name.rpartition("_")
    if line in history.metrics or part in ("avg", "all", "gap"):
        check_choice(name, names, "column")


def find_alarms(history: RunHistory, rules: Sequence[Rule]) -> list[Alarm]:
    """Find all alarms of a history, in the order of their steps."""
    alarms = [alarm for rule in rules for alarm in rule.find_alarms(history)]
    return sorted(alarms, key=lambda alarm: alarm.step)


Call = Callable[[Alarm], Any]
