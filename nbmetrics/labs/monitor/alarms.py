"""Rules that read a history and sound at a step: views of the log, evaluated again whenever it is read.

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
from .history import History, Line

# Calm values that make a range, at least and at most.
FEWEST, MOST = 6, 20
CHANCE = 1e-4
# A collapse: the variance of the generated rows, as a share of its highest before and of the pooled clients'.
COLLAPSED = 0.5
# The FID gap closes: as a share of the calm ones.
CLOSED = 0.5
# avg is silent where it moves by less than this share of what all does; worth a word from this share of avg itself.
SILENT, WORTH = 0.1, 0.02
# The KID gap may move by rounding, as a share of the mean kernel.
ROUNDING = 1e-10
# Steps in a row that the rules of chance wait for.
PATIENCE = 2


class Alarm(NamedTuple):
    """An alarm at its step: which rule, and a sentence."""

    step: int
    alarm: str
    words: str


class Rule(Protocol):
    """Something that may be wrong with a run."""

    @property
    def name(self) -> str: ...

    def sounded(self, history: History) -> Iterator[Alarm]: ...


@lru_cache(maxsize=64)
def _quantile(count: int) -> float:
    """By how many standard deviations of `count` normal values the next one is beyond their mean once in 10,000."""
    from scipy.special import stdtrit

    return float(-stdtrit(count - 1, CHANCE)) * math.sqrt(1.0 + 1.0 / count)


class Range:
    """Whether values leave the range of the calm ones before them; `sign` 1 upwards, −1 downwards."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self._calm: deque[float] = deque(maxlen=MOST)
        self._beyond: list[float] = []

    @property
    def level(self) -> float:
        """The mean of the calm values."""
        return _mean(self._calm)

    def leaves(self, value: float) -> bool:
        """Whether this next value is beyond the range; a NaN is not, and is no calm one."""
        if not math.isfinite(value):
            return False
        if (count := len(self._calm)) >= FEWEST:
            level = self.level
            spread = math.sqrt(math.fsum((calm - level) ** 2 for calm in self._calm) / (count - 1))
            if self._sign * (value - level) > _quantile(count) * spread and not is_tie(
                value, level, max(abs(value), abs(level))
            ):
                self._beyond.append(value)
                if len(self._beyond) == MOST:
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
    """The places at which something has been so for that many in a row, once each time."""
    run = 0
    for place, is_met in enumerate(met):
        run = run + 1 if is_met else 0
        if run == patience:
            yield place


class Beside(NamedTuple):
    """One of two series at a step: whether and how far the first rose beyond its range, and what the second did."""

    is_up: bool
    rise: float
    other: float
    level: float


def _beside(first: Iterable[float], second: Iterable[float]) -> list[Beside]:
    """Where the first series leaves its range upwards, and the second beside its own mean over the same calm steps."""
    up, calm, found = Range(1), deque[float](maxlen=MOST), []
    for value, other in zip(first, second, strict=True):
        before = up.level
        is_up = up.leaves(value)
        found.append(Beside(is_up, value - before, other, _mean(calm)))
        if not is_up and math.isfinite(other):
            calm.append(other)
    return found


def _shown(value: float) -> str:
    return f"{value:.4g}"


@dataclass(frozen=True)
class NotFinite:
    """A score or a loss is NaN or infinite."""

    name: str = "not finite"

    def sounded(self, history: History) -> Iterator[Alarm]:
        said = [self._said(history, point) for point in history.points]
        for place in _onsets([bool(words) for words in said]):
            yield Alarm(history.points[place].step, self.name, said[place])

    def _said(self, history: History, point: Any) -> str:
        lost = [f"loss {name} is {value}" for name, value in point.losses.items() if not math.isfinite(value)]
        if point.is_scored:
            counted = np.array(history.weights) > 0
            bad = ~np.isfinite(point.clients[:, counted]).all(axis=1) | ~np.isfinite(point.all)
            why = f" ({point.why[0]})" if point.why else ""
            lost += [f"{m.label} has no value{why}" for m, b in zip(point.segment.metrics, bad, strict=True) if b]
        return f"{lost[0]}." if lost else ""


@dataclass(frozen=True)
class Collapse:
    """The generated rows vary far less than they did, and than the clients'."""

    name: str = "collapse"

    def sounded(self, history: History) -> Iterator[Alarm]:
        points = [point for point in history.points if math.isfinite(point.variance)]
        spreads = {segment.number: history.spread(segment) for segment in history.segments}
        met, highest, was = [], 0.0, []
        for point in points:
            was.append(highest)
            clients = spreads[point.segment.number]
            is_less = point.variance < COLLAPSED * highest
            met.append(is_less and not point.variance >= COLLAPSED * clients)
            highest = max(highest, point.variance)
        for place in _onsets(met, PATIENCE):
            share = points[place].variance / was[place]
            words = f"The variance of the generated rows fell to {_percent(share)} of its highest: a collapse?"
            yield Alarm(points[place].step, self.name, words)


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share >= 0.01 else "less than 1 %"


@dataclass(frozen=True)
class WorstClient:
    """The worst client's score leaves its range upwards while avg is below its level."""

    name: str = "worst client"

    def sounded(self, history: History) -> Iterator[Alarm]:
        for line in history.lines.values():
            clients = line.facts.losses(line.clients)
            counted = np.array(history.weights) > 0
            worst = [lowest(np.where(counted, -row, math.nan)) for row in clients]
            values = [float(row[w]) for row, w in zip(clients, worst, strict=True)]
            avgs = line.facts.losses(line.avg)
            met = [b.is_up and b.other < b.level for b in _beside(values, avgs)]
            for place in _onsets(met, PATIENCE):
                said = f"the worst client, {history.names[worst[place]]}, got worse while avg improved."
                yield Alarm(int(line.steps[place]), self.name, f"{_label(line)}: {said}")


@dataclass(frozen=True)
class SilentAverage:
    """All leaves its range upwards while avg stays where it was or falls."""

    name: str = "avg silent"

    def sounded(self, history: History) -> Iterator[Alarm]:
        for line in history.lines.values():
            beside = _beside(line.facts.losses(line.all), line.facts.losses(line.avg))
            met = [b.is_up and b.rise > WORTH * abs(b.level) and b.other - b.level <= SILENT * b.rise for b in beside]
            for place in _onsets(met, PATIENCE):
                words = f"{_label(line)}-all rises to {_shown(line.all[place])} and {_label(line)}-avg does not."
                yield Alarm(int(line.steps[place]), self.name, words)


@dataclass(frozen=True)
class GapCloses:
    """FID-avg − FID-all falls to half of its calm values: with the generated variance it goes to 0."""

    name: str = "gap closes"

    def sounded(self, history: History) -> Iterator[Alarm]:
        for line in (line for line in history.lines.values() if line.facts.kind == "fid"):
            down, met, levels = Range(-1), [], []
            for gap in line.gap:
                levels.append(down.level)
                met.append(down.leaves(gap) and gap < CLOSED * levels[-1])
            for place in _onsets(met, PATIENCE):
                shown = f"{_shown(levels[place])} to {_shown(line.gap[place])}"
                words = f"The gap {_label(line)}-avg − {_label(line)}-all closes, from {shown}: a collapse?"
                yield Alarm(int(line.steps[place]), self.name, words)


@dataclass(frozen=True)
class GapMoves:
    """KID-avg − KID-all moves, which by theorem it cannot: something is wrong with the pipeline."""

    name: str = "instrument"

    def sounded(self, history: History) -> Iterator[Alarm]:
        for line in (line for line in history.lines.values() if line.facts.kind == "kid"):
            gaps = line.gap
            finite = np.flatnonzero(np.isfinite(gaps))
            if not len(finite):
                continue
            first, met = gaps[finite[0]], []
            for point, gap in zip(line.points, gaps, strict=True):
                terms = point.terms[point.segment.position(line.facts.name)].values()
                scale = math.fsum(abs(v) for v in terms if math.isfinite(v))
                met.append(bool(abs(gap - first) > ROUNDING * scale))
            for place in _onsets(met):
                words = (
                    f"{_label(line)}-avg − {_label(line)}-all moved from {first:.12g} to {gaps[place]:.12g}, and no "
                    "generator can move it: the clients' rows, their order or their features are others now."
                )
                yield Alarm(int(line.steps[place]), self.name, words)


@dataclass(frozen=True)
class Stalled:
    """A step came far later than any before it, and its loop ran all the while."""

    name: str = "stalled"

    def sounded(self, history: History) -> Iterator[Alarm]:
        for point in history.points:
            if point.late > 0:
                words = f"No step came for {point.late:,.0f} s before this one, far longer than ever before."
                yield Alarm(point.step, self.name, words)


def _label(line: Line) -> str:
    return line.facts.label + line.name.removeprefix(line.facts.name)


DEFAULTS: tuple[Rule, ...] = (
    NotFinite(), Collapse(), WorstClient(), SilentAverage(), GapCloses(), GapMoves(), Stalled()
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
        """Checked."""
        if not isinstance(column, str) or not column:
            raise InvalidInput("column", f"got {column!r}", "Give a column, such as 'fid_all', or the name of a loss")
        if (rises is None) == (falls is None):
            raise InvalidInput("rises", "is to be given, or falls, and not both", "Give one of them, such as rises=0.5")
        limits = {"minimum": 0.0, "maximum": 1e6}
        up = None if rises is None else check_number(rises, "rises", **limits)
        down = None if falls is None else check_number(falls, "falls", **limits)
        return cls(column, up, down, check_count(for_, "for_", maximum=1_000_000))

    def sounded(self, history: History) -> Iterator[Alarm]:
        steps, values = column(history, self.column)
        sign, share = (1, self.rises) if self.rises is not None else (-1, self.falls)
        assert share is not None
        extreme, was, met = math.nan, [], []
        for value in values:
            was.append(extreme)
            met.append(bool(sign * (value - extreme) > share * abs(extreme)))
            extreme = float(np.fmin(extreme, value) if sign > 0 else np.fmax(extreme, value))
        for place in _onsets(met, self.for_):
            verb = "rose" if sign > 0 else "fell"
            end = "lowest" if sign > 0 else "highest"
            words = f"{self.column} {verb} to {_shown(values[place])}, from {_shown(was[place])} at its {end}."
            yield Alarm(int(steps[place]), self.name, words)


def columns(history: History) -> list[str]:
    """What alarms may be set on: `fid_avg`, `fid_all`, `fid_gap` and so on, losses, and `variance`."""
    scores = [
        f"{name}_{part}" for name in dict.fromkeys([*history.metrics, *history.lines]) for part in ("avg", "all", "gap")
    ]
    return [*scores, *history.losses.columns[1:], "variance"]


def column(history: History, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and values of a column; empty while there is none of that name yet."""
    line, _, part = name.rpartition("_")
    if line in history.lines and part in ("avg", "all", "gap"):
        found = history.lines[line]
        return found.steps, getattr(found, part)
    if name in history.losses.columns[1:]:
        return history.losses["step"].to_numpy(), history.losses[name].to_numpy()
    if name == "variance":
        points = [point for point in history.points if point.is_scored]
        return np.array([p.step for p in points]), np.array([p.variance for p in points])
    return np.array([], dtype=np.int64), np.array([])


def check_column(history: History, name: str) -> None:
    """Refuse the name of a column of scores that cannot come; a loss may come later."""
    known = columns(history)
    line, _, part = name.rpartition("_")
    if line in history.metrics or part in ("avg", "all", "gap"):
        check_choice(name, known, "column")


def sounded(history: History, rules: Sequence[Rule]) -> list[Alarm]:
    """All alarms of a history, in the order of their steps."""
    found = [alarm for rule in rules for alarm in rule.sounded(history)]
    return sorted(found, key=lambda alarm: alarm.step)


Call = Callable[[Alarm], Any]
