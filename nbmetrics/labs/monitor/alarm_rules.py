"""The default rules that find alarms in a history.

"Far from best" tells that a true score exceeds max(1.25 × the true best, the best + half of what real rows score), at a
level of 5 % a run: a run that stays below sounds no alarm in 95 of 100 runs. The level is shared over the metrics and
over avg, all and the worst client, and spent over scored steps, 6 α/(π² k²) at the k-th: at each, the means of the last
scored steps have an interval, and all of them hold together. The best is the least upper end so far, of ten steps, not
the least noisy score; a score is far where the lower end of four steps, and the last two scores, exceed the limit that
follows from that best. The clients' rows, and latents that the Monitor drew, are the same at every step, so that their
noise is no matter here. Half of an interval is so many standard errors of the generated rows (deviations of the run's
own steps where those are more), or so many deviations by Student's t, whichever is less; deviations are the median one
of the last differences of neighbouring steps, so that neither a trend nor the collapse itself widens them.

In older rules a value leaves its range where it is beyond the mean of the calm values before it by more than their
standard deviation times the one-sided 1 − 10⁻⁴ quantile of Student's t: what normal noise about a level does once in
10,000 steps. The calm values are up to twenty in range before it, six at least; twenty in a row beyond it become the
new level. Rules of chance wait for two steps in a row.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import ndtri, stdtrit

from ...ranking import is_tie, lowest, order
from .alarms import Alarm, EventAlarm, Rule, number_text, onsets, percent_text
from .history import Line, RunHistory
from .log_events import MetricFacts

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
# Far from best: the level of a run, and the null hypothesis: so many times the best, or so much of real rows' score.
LEVEL = 0.05
MAX_TIMES_BEST, MAX_REAL_SHARE = 1.25, 0.5
# Steps whose mean has an interval: the last ones, and those that may be the best.
MAX_STEPS_NOW, MAX_STEPS_BEST = 4, 10
# Differences of neighbouring steps that the deviation of a run is made from, at least and at most.
MIN_DIFFERENCES, MAX_DIFFERENCES = 6, 30
# A standard deviation, as a multiple of the median deviation from the median; the information in that median.
NORMAL_MEDIAN, MEDIAN_EFFICIENCY = 1.4826, 0.37
# A run is at the level of one point where all is above this share of that; it improves where all falls to this share.
POINT_SHARE, IMPROVED_SHARE, MAX_STEPS_AT_POINT = 0.8, 0.9, 20
# A point tells nothing of a metric by which it scores no worse than so many times what real rows do.
MIN_POINT_RATIO = 4.0
# Steps in a row with equal scores of all clients, of a generator that should have changed.
FROZEN_STEPS = 5
COLUMNS = ("all", "worst", "avg")
MAX_NAMED_CLIENTS, MAX_TIMES_TOLD = 2, 10_000.0


@lru_cache(maxsize=64)
def _t_quantile(count: int) -> float:
    """Return by how many standard deviations of `count` normal values the next exceeds their mean once in 10,000."""

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


@dataclass(frozen=True)
class NotFinite:
    """A score or a loss is NaN or infinite."""

    name: str = "not finite"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        problems = [self._problem(history, point) for point in history.points]
        for place in onsets([bool(problem) for problem in problems]):
            yield Alarm(history.points[place].step, self.name, problems[place])

    def _problem(self, history: RunHistory, point: Any) -> str:
        lost = [f"The loss '{name}' is {value}" for name, value in point.losses.items() if not math.isfinite(value)]
        if point.is_scored:
            counted = np.array(history.weights) > 0
            bad = ~np.isfinite(point.clients[:, counted]).all(axis=1) | ~np.isfinite(point.all)
            facts = [m for m, b in zip(point.segment.metrics, bad, strict=True) if b and m.name not in point.own_only]
            if point.is_by_client:
                bad = ~np.isfinite(point.own[:, counted]).all(axis=1)
                facts += [m.intra for m, b in zip(point.segment.metrics, bad, strict=True) if b]
            lost += [f"{m.label} has no value{_reason(point, m)}" for m in facts]
        return f"{lost[0]}." if lost else ""


def _reason(point: Any, facts: MetricFacts) -> str:
    """Return the first reason of a point that is not said of another metric, in brackets; "" where there is none."""
    others = [m.name for m in point.segment.metrics if m.name != (facts.of or facts.name)]
    said = [why for why in point.why if not any(f", {name}, " in why for name in others)]
    return f" ({said[0]})" if said else ""


@dataclass(frozen=True)
class CollapseAlarm:
    """The generated rows vary far less than they did, and than the clients'."""

    name: str = "collapse"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        variances = [(point, history.variance(point)) for point in history.points]
        finite = [(point, variance) for point, variance in variances if math.isfinite(variance)]
        spreads = {segment.number: history.spread(segment) for segment in history.segments}
        met, highest, highest_before = [], 0.0, []
        for point, variance in finite:
            highest_before.append(highest)
            clients = spreads[point.segment.number]
            is_less = variance < COLLAPSE_SHARE * highest
            met.append(is_less and not variance >= COLLAPSE_SHARE * clients)
            highest = max(highest, variance)
        for place in onsets(met, PATIENCE_STEPS):
            point, variance = finite[place]
            share = variance / highest_before[place]
            words = f"The variance of the generated rows fell to {percent_text(share)} of its highest: a collapse?"
            yield EventAlarm.at(place, [point.step for point, _ in finite], met, self.name, words)


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
            for place in onsets(met, PATIENCE_STEPS):
                words = f"the worst client, {history.names[worst[place]]}, got worse while avg improved."
                yield EventAlarm.at(place, line.steps, met, self.name, f"{line.label}: {words}")


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
            for place in onsets(met, PATIENCE_STEPS):
                words = f"{line.label}-all rises to {number_text(line.all[place])} and {line.label}-avg does not."
                yield EventAlarm.at(place, line.steps, met, self.name, words)


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
            for place in onsets(met, PATIENCE_STEPS):
                change = f"{number_text(levels[place])} to {number_text(line.gap[place])}"
                words = f"The gap {line.label}-avg − {line.label}-all shrank from {change}: a collapse?"
                yield EventAlarm.at(place, line.steps, met, self.name, words)


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
            for place in onsets(met):
                words = (
                    f"{line.label}-avg − {line.label}-all changed from {first:.12g} to {gaps[place]:.12g}, but no "
                    "generator can change it: the clients' rows, their order or their features have changed."
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


class Interval(NamedTuple):
    """A column as losses, (S,), the lower ends of the means of a few of them, and the upper ends of those of more."""

    losses: np.ndarray
    low: np.ndarray
    high: np.ndarray


def column_intervals(history: RunHistory, line: Line) -> dict[str, Interval]:
    """Return the intervals of all, the worst client and avg of a line."""
    counted = np.flatnonzero(np.array(history.weights) > 0)
    levels = 6.0 * LEVEL / (np.pi * np.arange(1, len(line.steps) + 1)) ** 2 / (len(history.lines) * len(COLUMNS))
    clients, errors = line.facts.losses(line.clients[:, counted]), line.row_errors[:, counted]
    pairs = zip(clients.T, errors.T, strict=True)
    each = [_interval(own, error, levels / len(counted)) for own, error in pairs]
    return {
        "all": _interval(line.facts.losses(line.all), line.row_errors[:, -1], levels),
        "worst": Interval(*(np.max(ends, axis=0) for ends in zip(*each, strict=True))),
        "avg": _interval(line.facts.losses(line.avg), line.row_errors[:, -2], levels),
    }


def _interval(losses: np.ndarray, errors: np.ndarray, levels: np.ndarray) -> Interval:
    half = half_widths(losses, errors, levels)
    with np.errstate(invalid="ignore"):
        now, of_now = _running_mean(losses, half, MAX_STEPS_NOW)
        best, of_best = _running_mean(losses, half, MAX_STEPS_BEST)
        return Interval(losses, now - of_now, best + of_best)


def _running_mean(losses: np.ndarray, half: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the last steps at each step, and half of the width of its interval."""
    counts = np.minimum(np.arange(1, len(losses) + 1), steps)
    sums = np.cumsum(losses) if len(losses) < steps else np.convolve(losses, np.ones(steps))[: len(losses)]
    return sums / counts, half / np.sqrt(counts)


def half_widths(losses: np.ndarray, errors: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return half of the width of each interval, infinite where neither errors nor the run's own deviation is known.

    Parameters
    ----------
    losses, errors : (S,) scores as losses, and their standard errors, NaN where they are not known
    levels : (S,) two-sided levels
    """

    deviations, freedom = run_deviations(losses)
    by_rows = -ndtri(levels / 4.0) * np.where(np.isnan(errors), np.nan, np.fmax(errors, deviations))
    by_run = -stdtrit(np.maximum(freedom, 1.0), levels / 4.0) * deviations
    half = np.fmin(by_rows, by_run)  # both hold, at half of the level each
    return np.where(np.isnan(half), np.inf, half)


def run_deviations(losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each step's standard deviation, from the steps before it, NaN of too few; and its degrees of freedom."""
    count = len(losses)
    deviations, freedom = np.full(count, np.nan), np.zeros(count)
    with np.errstate(invalid="ignore"):
        differences = np.diff(losses)
    differences[~np.isfinite(differences)] = np.nan
    padded = np.concatenate([np.full(MAX_DIFFERENCES, np.nan), differences])
    if not count:
        return deviations, freedom
    windows = sliding_window_view(padded, MAX_DIFFERENCES)[:count]  # the differences before each step
    known = np.isfinite(windows).sum(axis=1)
    enough = known >= MIN_DIFFERENCES
    if enough.any():
        used = windows[enough]
        spread = np.abs(used - _row_medians(used)[:, None])
        deviations[enough] = NORMAL_MEDIAN * _row_medians(spread) / math.sqrt(2.0)
    freedom[enough] = np.floor(MEDIAN_EFFICIENCY * known[enough])
    return deviations, freedom


def _row_medians(rows: np.ndarray) -> np.ndarray:
    """Return the median of each row's numbers, NaN left out; NumPy's takes nine times as long for short rows."""
    ordered, at = np.sort(rows, axis=1), np.arange(len(rows))  # NaN last
    known = (~np.isnan(rows)).sum(axis=1)
    return np.asarray((ordered[at, (known - 1) // 2] + ordered[at, known // 2]) / 2.0)


def real_levels(history: RunHistory, line: Line) -> dict[str, float]:
    """Return what real rows score, by column; 0 where it is not known."""
    levels = np.abs(np.nan_to_num(history.levels(line.facts.name)[0]))
    weights = np.array(history.weights)
    return {"all": float(levels[-1]), "worst": float(levels[:-1].max()), "avg": float(weights @ levels[:-1])}


def least_loss(line: Line) -> float:
    """Return what no true score is below: 0 of a distance, whose estimates are below it by chance."""
    return 0.0 if line.facts.kind in ("fid", "kid") else -math.inf


def far_limit(best: np.ndarray, real: float) -> np.ndarray:
    """Return the losses above which a score is far from each of these best ones."""
    return best + np.maximum((MAX_TIMES_BEST - 1.0) * np.abs(best), MAX_REAL_SHARE * real)


def far_from_best(interval: Interval, real: float, least: float) -> np.ndarray:
    """Whether each score is far from the best before it, and the one before it, too, (S,) bools.

    A best below `least`, which no true score is, counts as that.
    """
    best = np.fmin.accumulate(np.where(np.isfinite(interval.high), interval.high, np.inf))
    before = np.maximum(np.concatenate([[np.inf], best[:-1]])[: len(best)], least)
    with np.errstate(invalid="ignore"):
        limit = far_limit(before, real)
        are_beyond = interval.losses > limit
        are_beyond[1:] &= interval.losses[:-1] > limit[1:]
        are_beyond[:1] = False
        return np.isfinite(before) & (interval.low > limit) & are_beyond


@dataclass(frozen=True)
class FarFromBest:
    """Avg, all or the worst client is far from its best by more than chance."""

    name: str = "far from best"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        for line in history.lines.values():
            intervals, real = column_intervals(history, line), real_levels(history, line)
            least = least_loss(line)
            met = {column: far_from_best(intervals[column], real[column], least) for column in COLUMNS}
            beyond = {column: _beyond_best(intervals[column].losses) for column in COLUMNS}
            told: dict[str, list[int]] = {}
            for column in COLUMNS:
                told[column] = list(onsets(met[column], 1, beyond[column]))
            for place in sorted({place for places in told.values() for place in places}):
                column = next(column for column in COLUMNS if place in told[column])
                words = self._words(history, line, column, place)
                yield EventAlarm.at(place, line.steps, met[column], self.name, words)

    def _words(self, history: RunHistory, line: Line, column: str, place: int) -> str:
        counted = np.flatnonzero(np.array(history.weights) > 0)
        clients = line.facts.losses(line.clients[:, counted])
        losses = clients.max(axis=1) if column == "worst" else line.facts.losses(getattr(line, column))
        best = lowest(np.where(np.isfinite(losses[:place]), losses[:place], np.inf))
        if column == "worst":
            client = lowest(-clients[place])
            name = f"{line.label} of the worst client, {history.names[counted[client]]},"
            values = line.clients[place, counted[client]], line.clients[best, counted[lowest(-clients[best])]]
        else:
            name, values = line.label_of(column), (getattr(line, column)[place], getattr(line, column)[best])
        words = (
            f"{name} is {number_text(values[0])}{times_text(line, *values)}, after {number_text(values[1])} at step "
        )
        words += f"{int(line.steps[best]):,}."
        return " ".join(filter(None, [words, _client_words(history, clients, counted, place, best)]))


def times_text(line: Line, value: float, best: float) -> str:
    """Return ", 52 times its best"; "" where a ratio means nothing."""
    if line.facts.best is not None or line.facts.higher_is_better or best <= 0:
        return ""
    if value / best > MAX_TIMES_TOLD:
        return f", more than {MAX_TIMES_TOLD:,.0f} times its best"
    return f", {value / best:.2g} times its best" if value / best < 10 else f", {value / best:,.0f} times its best"


def _client_words(history: RunHistory, clients: np.ndarray, counted: np.ndarray, place: int, best: int) -> str:
    """Say which clients lose and which gain."""
    changes = clients[place] - clients[best]
    by_loss = order(-changes)
    names = [history.names[counted[i]] for i in by_loss]
    losers, count = int((changes > 0).sum()), len(changes)
    if count < 2 or not np.isfinite(changes).all() or not losers:
        return ""
    most = " and ".join(names[: min(MAX_NAMED_CLIENTS, losers)])
    gains = "" if losers == count else f"; {names[-1]} gains"
    return f"{losers} of {count} clients lose, {most} most{gains}."


def _beyond_best(losses: np.ndarray) -> np.ndarray:
    """Return how far each loss is beyond the least before it."""
    least = np.fmin.accumulate(losses) if len(losses) else losses
    return losses - np.concatenate([losses[:1], least[:-1]])


def is_at_one_point(history: RunHistory, line: Line) -> np.ndarray:
    """Whether all of each step is no better than one point, (S,) bools; all False where that level is not known."""
    real, point = history.levels(line.facts.name)[:, -1]
    losses = line.facts.losses(line.all)
    is_known = line.facts.best is None and not line.facts.higher_is_better and point > MIN_POINT_RATIO * abs(real)
    with np.errstate(invalid="ignore"):
        return losses > POINT_SHARE * point if is_known else np.zeros(len(losses), dtype=bool)


@dataclass(frozen=True)
class StuckAtOnePoint:
    """All never left the level of one point in 20 scored steps, and does not improve."""

    name: str = "one point"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        for line in history.lines.values():
            first = line.all[:MAX_STEPS_AT_POINT]
            if len(first) < MAX_STEPS_AT_POINT or not is_at_one_point(history, line)[:MAX_STEPS_AT_POINT].all():
                continue
            if first.min() > IMPROVED_SHARE * first[0]:
                words = f"{one_point_sentence(history, line)} {MAX_STEPS_AT_POINT} scored steps brought no improvement."
                yield Alarm(int(line.steps[MAX_STEPS_AT_POINT - 1]), self.name, words)
                return  # one line tells it all


def one_point_sentence(history: RunHistory, line: Line) -> str:
    """Say that a run never left the level of one point; "" where it did."""
    if not len(line.steps) or not is_at_one_point(history, line).all():
        return ""
    return f"{line.label}-all is still as bad as for one point: {number_text(line.all[-1])}."


def level_sentence(history: RunHistory, line: Line) -> str:
    """Say what real rows and one point score by all; "" where it is not known."""
    real, point = history.levels(line.facts.name)[:, -1]
    if not (math.isfinite(real) and math.isfinite(point)):
        return ""
    return f"Scale: real rows score about {real:.2g}, a single point {point:.2g}."


@dataclass(frozen=True)
class Frozen:
    """The scores of all clients are the same, bit for bit, at several steps in a row."""

    name: str = "frozen"

    def find_alarms(self, history: RunHistory) -> Iterator[Alarm]:
        for line in history.lines.values():
            are_same = (line.clients[1:] == line.clients[:-1]).all(axis=1)
            met = [False, *are_same.tolist()]
            for place in onsets(met, FROZEN_STEPS - 1):
                same = f"{line.label} is exactly the same at {FROZEN_STEPS} scored steps in a row"
                words = f"{same}: are you logging the generator that is training?"
                yield EventAlarm.at(place, line.steps, met, self.name, words)
            break  # one line tells it all


DEFAULT_RULES: tuple[Rule, ...] = (
    NotFinite(), CollapseAlarm(), WorstClient(), SilentAverage(), GapCloses(), FarFromBest(), StuckAtOnePoint(),
    Frozen(), GapMoves(), Stall(),
)  # fmt: skip
