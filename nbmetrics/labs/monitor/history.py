"""The history of a run: its segments and steps, as a log holds them, and the scores that follow under any weights.

A segment is one Monitor at work: its clients, weights and metrics. A point is one logged step of a segment: losses, and
scores where a generator was handed over and scored. Both come from events of a log, which are not trusted.

Of a generator with one distribution for each client the metrics' lines are of its mixture, and intra, each client with
what was made for it, has a line of its own, `fid_intra`.

A segment that resumes a run replaces the steps of earlier segments from its own first step on. So does a step taken
anew, a generator logged at an earlier step than the last one for the second time: of what was logged since its first
time it replaces that step and later ones. Of a step that was else logged twice the last scores and losses count. Steps
come in any order. Scores of different numbers of generated rows stand on
one line where the metric is unbiased (KID); a biased one (FID) has a line of its own for each other number, since fewer
rows alone make it larger: the first number that was scored has the metric's name, another `fid, 500 rows`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...errors import check_choice, check_named_weights
from ...evaluation.heterogeneity import kid_gap
from ...metrics.fid.metric import FID
from ...summaries.moments import Moments
from .by_client_points import mixture_centre, mixture_fid, mixture_kid
from .log_events import Frame, MetricFacts, Point, Segment
from .packed_moments import unpack_moments
from .run_folder import LogReader, Place

# A reader's limits: segments, and bytes of scores that are held.
MAX_SEGMENTS, MAX_SCORE_BYTES = 10_000, 2**30
# What `all` under other weights was made of.
STORED, EXACT, TANGENT, UNKNOWN = "as logged", "exact", "first order", "unknown"
Weights = tuple[float, ...]
# Shares that differ by less are the same.
WEIGHT_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Line:
    """The scores of one metric at one number of rows.

    Attributes
    ----------
    name : the metric's, or with the number of rows
    facts, points : the metric, or its intra, and the points in the order of their steps
    steps : (S,); clients : (S, k); avg, all : (S,) under the history's weights
    errors : (S, 3) standard errors of avg, all and gap as they were logged; NaN under other weights
    row_errors : (S, k + 2) standard errors of clients, avg and all from the generated rows alone, as they were logged;
        under other weights that of avg is at most so much, as if the clients' errors were one. NaN where they are not
        known, of rows of the same latents, whose noise is the same at every step, and of a mixture under other weights
    kinds : how each of `all` is known, one of "as logged", "exact", "first order", "unknown"
    """

    name: str
    facts: MetricFacts
    points: tuple[Point, ...]
    steps: np.ndarray
    clients: np.ndarray
    avg: np.ndarray
    all: np.ndarray
    errors: np.ndarray
    row_errors: np.ndarray
    kinds: tuple[str, ...]

    @property
    def label(self) -> str:
        """Such as "FID", or "FID, 500 rows"."""
        return self.facts.label + self.name.removeprefix(self.facts.name)

    def label_of(self, part: str) -> str:
        """Such as "FID-avg", or "FID-avg (500 rows)"; see `MetricFacts.label_of`."""
        rows = self.name.removeprefix(self.facts.name).removeprefix(", ")
        return self.facts.label_of(part) + (f" ({rows})" if rows else "")

    @property
    def parts(self) -> tuple[str, ...]:
        """Which of avg, all and gap it has: intra is one mean, in the place of avg."""
        return ("avg",) if self.facts.of else ("avg", "all", "gap")

    @property
    def moves(self) -> bool:
        """Whether the clients' own scores follow the weights, as those with a mixture of what was made for each do."""
        return not self.facts.of and any(point.is_by_client for point in self.points)

    @property
    def gap(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return self.avg - self.all


class RunHistory:
    """The visible points of a log under some weights.

    Parameters
    ----------
    points : in the order in which they were logged
    load : gives the array of a place in `rows.bin`; ValueError where it is damaged
    weights : of the clients, by default those of the last segment
    """

    def __init__(
        self, segments: Sequence[Segment], points: Sequence[Point], load: Callable[[Place], Any], weights: Any = None
    ) -> None:
        self.segments, self.logged, self._load = tuple(segments), tuple(points), load
        self.names = self.segments[-1].names if self.segments else ()
        last = self.segments[-1].weights if self.segments else ()
        self.weights: Weights = last if weights is None else check_named_weights(weights, self.names)
        self._clients: dict[tuple[int, str], Any] = {}

    def with_weights(self, weights: Any) -> RunHistory:
        """The same run under other weights: avg and KID exactly, FID-all from moments or to first order."""
        return RunHistory(self.segments, self.logged, self._load, weights)

    def with_points(self, points: Sequence[Point]) -> RunHistory:
        """The same run with these points alone."""
        return RunHistory(self.segments, points, self._load, self.weights)

    def is_under(self, segment: Segment) -> bool:
        """Whether these are the weights of a segment, but for rounding: a log that is read divides by their sum."""
        key = (segment.number, "weights")
        if key not in self._clients:
            self._clients[key] = np.allclose(self.weights, segment.weights, rtol=0.0, atol=WEIGHT_ROUNDING)
        return bool(self._clients[key])

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The visible points, one a step, in the order of the steps."""
        first = {point.segment.number: math.inf for point in self.logged}
        for point in self.logged:
            if not point.only_losses:
                first[point.segment.number] = min(point.step, first[point.segment.number])
        ends: dict[int, float] = {}
        end = math.inf
        for number in sorted(first, reverse=True):
            ends[number], end = end, min(end, first[number])
        by_step: dict[int, Point] = {}
        for point, is_replaced in zip(self.logged, self._replaced(), strict=True):
            if point.step < ends[point.segment.number] and not is_replaced:
                by_step[point.step] = _merge_points(by_step.get(point.step), point)
        return tuple(by_step[step] for step in sorted(by_step))

    def _replaced(self) -> np.ndarray:
        """Return of each logged point whether a step taken anew replaces it."""
        steps, replaced = np.array([point.step for point in self.logged]), np.zeros(len(self.logged), dtype=bool)
        first, anew = dict[int, int](), set[tuple[int, float]]()
        for place, point in enumerate(self.logged):
            start = first.setdefault(point.step, place)
            if point.is_anew and (point.step, point.time) not in anew:  # a line that was pending may come twice
                anew.add((point.step, point.time))
                replaced[start:place] |= steps[start:place] >= point.step
        return replaced

    def array(self, frame: Frame | None) -> np.ndarray | None:
        """The array of a frame, None where there is none or it is damaged."""
        if isinstance(frame, Place):
            try:
                return np.asarray(self._load(frame))
            except ValueError:
                return None
        return frame

    @cached_property
    def lines(self) -> dict[str, Line]:
        """The lines of all metrics, by name."""
        parts: dict[str, tuple[MetricFacts, list[Point]]] = {}
        for facts in self.metrics.values():
            scored = [p for p in self.points if p.client_scores(facts) is not None]
            main = next((p.count for p in self.logged if p.client_scores(facts) is not None), None)
            for point in scored:
                is_main = facts.mixes or point.count == main
                rows = f"{point.count:,} rows" if point.count else "exact"
                name = facts.name if is_main else f"{facts.name}, {rows}"
                parts.setdefault(name, (facts, []))[1].append(point)
        return {name: self._line(name, *part) for name, part in parts.items()}

    @cached_property
    def metrics(self) -> dict[str, MetricFacts]:
        """The metrics of all segments, by name, and their intra where a generator had one distribution a client."""
        return {**self.plain_metrics, **(self.intras if any(p.is_by_client for p in self.logged) else {})}

    @cached_property
    def plain_metrics(self) -> dict[str, MetricFacts]:
        """The metrics of all segments, by name, without intra."""
        return {facts.name: facts for segment in self.segments for facts in segment.metrics}

    @cached_property
    def intras(self) -> dict[str, MetricFacts]:
        """The intra of each metric, which may come; a metric that has the name of one is before it."""
        intras = [facts.intra for facts in self.plain_metrics.values()]
        return {facts.name: facts for facts in intras if facts.name not in self.plain_metrics}

    def line(self, name: str) -> Line:
        """A line by its name; of a metric that has no score yet an empty one."""
        if isinstance(name, str) and name in self.intras:  # it may come
            return self.lines.get(name) or self._line(name, self.intras[name], [])
        check_choice(name, dict.fromkeys([*self.metrics, *self.lines]), "metric")
        return self.lines[name] if name in self.lines else self._line(name, self.metrics[name], [])

    def _line(self, name: str, facts: MetricFacts, points: Sequence[Point]) -> Line:
        mixtures = [self._mixture_scores(facts, p) for p in points]
        rows = [p.client_scores(facts) if m is None else m[0] for p, m in zip(points, mixtures, strict=True)]
        clients = np.array(rows, dtype=np.float64).reshape(len(points), len(self.names))
        counted = np.array(self.weights) > 0
        shares = np.array(self.weights)[counted]
        with np.errstate(invalid="ignore"):
            avg = np.array([math.fsum(row) if np.isfinite(row).all() else row.sum()
                            for row in clients[:, counted] * shares])  # fmt: skip
        pooled = [
            self._all(facts, point, a) if m is None else m[1:]
            for point, a, m in zip(points, avg, mixtures, strict=True)
        ]
        steps = np.array([p.step for p in points], dtype=np.int64)
        values = np.array([value for value, _ in pooled], dtype=np.float64)
        errors = np.array([self._errors(facts, p) for p in points]).reshape(len(points), 3)
        row_errors = np.array([self._row_errors(facts, p) for p in points]).reshape(len(points), len(self.names) + 2)
        kinds = tuple(kind for _, kind in pooled)
        return Line(name, facts, tuple(points), steps, clients, avg, values, errors, row_errors, kinds)

    def _row_errors(self, facts: MetricFacts, point: Point) -> np.ndarray:
        errors = np.full(len(self.names) + 2, math.nan)
        if point.count == 0:  # a distribution: exact
            return np.zeros_like(errors)
        logged = point.own_row_errors if facts.of else point.row_errors
        if logged is None or point.is_paired or self.is_of_other_mixture(facts, point):
            return errors
        errors[: logged.shape[1]] = logged[point.segment.position(facts.of or facts.name)]
        if not self.is_under(point.segment):
            used = np.flatnonzero(self.weights)
            errors[-2] = errors[used] @ np.array(self.weights)[used]
            errors[-1] = errors[-2] if facts.kind == "kid" and not facts.of else errors[-1]
        return errors

    def _errors(self, facts: MetricFacts, point: Point) -> np.ndarray:
        errors, place = np.full(3, math.nan), point.segment.position(facts.of or facts.name)
        logged = point.own_errors if facts.of else point.errors
        if logged is not None and self.is_under(point.segment):
            errors[: 1 if facts.of else 3] = logged[place]
        return errors

    def is_of_other_mixture(self, facts: MetricFacts, point: Point) -> bool:
        """Whether what was logged of a point is of the mixture under other weights than these."""
        return point.is_by_client and not facts.of and not self.is_under(point.segment)

    def _mixture_scores(self, facts: MetricFacts, point: Point) -> tuple[np.ndarray, float, str] | None:
        """The clients' scores and the pooled one with the mixture Σ λ_i S_G,i of other weights than those logged.

        None where the weights move no mixture.
        """
        segment = point.segment
        if not self.is_of_other_mixture(facts, point):
            return None
        scores = None
        if facts.kind == "fid":
            parts = self.array(segment.frames.get("moments")), self.array(point.frames.get("own moments"))
            scores = mixture_fid(*parts, self.weights)
        elif facts.kind == "kid" and (gap := self.kid_gap(segment, facts.name)) is not None:
            means = self.client_kernel_means(segment, segment.position(facts.name))
            scores = mixture_kid(means, self.array(point.frames.get(f"own means {facts.name}")), self.weights, gap)
        return (np.full(len(self.names), math.nan), math.nan, UNKNOWN) if scores is None else (*scores, EXACT)

    def _all(self, facts: MetricFacts, point: Point, avg: float) -> tuple[float, str]:
        """The pooled score of a point, and how it is known; intra has none."""
        if facts.of:
            return math.nan, UNKNOWN
        assert point.all is not None
        segment, stored = point.segment, float(point.all[point.segment.position(facts.name)])
        if self.is_under(segment):
            return stored - self._kid_bias(segment, facts.name), STORED
        if facts.kind == "kid":
            gap = self.kid_gap(segment, facts.name)
            return (math.nan, UNKNOWN) if gap is None else (float(avg - gap), EXACT)
        if facts.kind == "fid" and (exact := self._exact_fid(point)) is not None:
            return exact, EXACT
        slopes = self.array(point.frames.get(f"slopes {facts.name}"))
        if slopes is None or slopes.shape != (len(self.names),):
            return math.nan, UNKNOWN
        moved = np.array(self.weights) - np.array(segment.weights)
        return stored + float(moved[moved != 0] @ slopes[moved != 0]), TANGENT

    def _exact_fid(self, point: Point) -> float | None:
        generated, together = self.array(point.frames.get("moments")), self._pool(point.segment)
        if generated is None or together is None:
            return None
        try:
            moments = unpack_moments(generated)
        except ValueError:
            return None
        return FID().distance(together, moments) if moments.mean.shape == together.mean.shape else None

    def _pool(self, segment: Segment) -> Moments | None:
        """The pooled moments of the clients under the weights."""
        key = (segment.number, "pool")
        if key not in self._clients:
            packed, pooled = self.array(segment.frames.get("moments")), None
            if packed is not None and packed.ndim == 2 and len(packed) == len(self.names):
                try:
                    parts = [(unpack_moments(row), w) for row, w in zip(packed, self.weights, strict=True) if w]
                    pooled = Moments.pool([part for part, _ in parts], [w for _, w in parts])
                except ValueError:
                    pooled = None
            self._clients[key] = pooled
        return self._clients[key]  # type: ignore[no-any-return]

    def kid_gap(self, segment: Segment, name: str) -> float | None:
        """KID-avg − KID-all under the weights, by theorem the same at every step; None where it is not known."""
        key = (segment.number, f"gap {name}")
        if key not in self._clients:
            means = self.client_kernel_means(segment, segment.position(name))
            self._clients[key] = None if means is None else kid_gap(means, np.array(self.weights))
        gap = self._clients[key]
        return None if gap is None else float(gap)

    def client_kernel_means(self, segment: Segment, position: int) -> np.ndarray | None:
        """The clients' mean kernels, see `evaluation.heterogeneity`, of the metric at a position; None: not logged."""
        table, k = self.array(segment.frames.get(f"gap {position}")), len(self.names)
        if table is None or table.shape not in ((k, k), (k, k + 2)):
            return None
        return table if table.shape == (k, k) else _first_format(table)

    def _kid_bias(self, segment: Segment, name: str) -> float:
        """By how much KID-all of a run in the first format is too large under its weights; 0 of all others."""
        table, k = self.array(segment.frames.get(f"gap {segment.position(name)}")), len(self.names)
        if table is None or table.shape != (k, k + 2):
            return 0.0
        shares, rows = np.array(segment.weights), table[:, -1]
        used = shares > 0
        means, w, n = _first_format(table)[np.ix_(used, used)], shares[used], rows[used]
        own, square = np.diag(means), w @ means @ w
        lost = np.sum(w**2 / n)
        return float((square - np.sum(w**2 * own / n)) / (1.0 - lost) - square)

    def levels(self, metric: str) -> np.ndarray:
        """(2, k + 1) scores of real rows and of one point, see `reference_levels`; NaN where they were not logged."""
        for segment in reversed(self.segments):
            levels = self.array(segment.frames.get("levels"))
            shape = 2, len(segment.metrics), len(self.names) + 1
            if levels is not None and levels.shape == shape and (place := segment.position(metric)) >= 0:
                return levels[:, place]
        return np.full((2, len(self.names) + 1), math.nan)

    def spread(self, segment: Segment) -> float:
        """The variance of the pooled clients under the weights, all features together; NaN where it is not known."""
        return self._mixture_variance(segment.frames.get("centres"))

    def variance(self, point: Point) -> float:
        """The variance of the generated rows, all features together, of a mixture under the weights."""
        if not point.is_by_client or self.is_under(point.segment):
            return point.variance
        return self._mixture_variance(point.frames.get("own centres"))

    def _mixture_variance(self, frame: Frame | None) -> float:
        centres = self.array(frame)
        if centres is None or centres.ndim != 2 or len(centres) != len(self.names):
            return math.nan
        return float(mixture_centre(centres, self.weights)[0])

    @cached_property
    def table(self) -> pd.DataFrame:
        """(step, metric, avg, all, gap), in the order of the steps."""
        columns = ("step", "metric", "avg", "all", "gap")
        parts = [
            pd.DataFrame({"step": line.steps, "metric": name, "avg": line.avg, "all": line.all, "gap": line.gap})
            for name, line in self.lines.items()
        ]
        if not parts:
            return pd.DataFrame(
                {column: pd.Series(dtype=object if column == "metric" else float) for column in columns}
            )
        return pd.concat(parts).sort_values("step", kind="stable", ignore_index=True)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """(step, metric, client, value), in the order of the steps."""
        parts = [
            pd.DataFrame(
                {
                    "step": np.repeat(line.steps, len(self.names)),
                    "metric": name,
                    "client": list(self.names) * len(line.steps),
                    "value": line.clients.ravel(),
                }
            )
            for name, line in self.lines.items()
        ]
        if not parts:
            return pd.DataFrame({column: [] for column in ("step", "metric", "client", "value")})
        return pd.concat(parts).sort_values("step", kind="stable", ignore_index=True)

    @cached_property
    def losses(self) -> pd.DataFrame:
        """A row a step, and a column a loss; NaN where a step has none of that name."""
        points = [point for point in self.points if point.losses]
        names = list(dict.fromkeys(name for point in points for name in point.losses))
        columns = {name: [point.losses.get(name, math.nan) for point in points] for name in names}
        return pd.DataFrame({"step": [point.step for point in points], **columns})


def _merge_points(old: Point | None, new: Point) -> Point:
    """Merge two points of one step: the last scores, and of every loss the last value."""
    if old is None or (old.segment is not new.segment and not new.only_losses):
        return new
    losses = {**old.losses, **new.losses}
    return replace(new if new.is_scored else old, losses=losses)


def _first_format(table: np.ndarray) -> np.ndarray:
    """The mean kernels (k, k) of the first format's table (k, k + 2).

    Its columns: means with pairs of a row with itself, then the mean of k(x, x), then the number of rows.
    """
    means, own, n = table[:, :-2].copy(), table[:, -2], table[:, -1]
    with np.errstate(all="ignore"):
        np.fill_diagonal(means, (np.diag(means) - own / n) / (1.0 - 1.0 / n))
    return means


def read_history(path: Any) -> tuple[RunHistory, LogReader]:
    """Read the history of a folder; return it with the reader, which says what it left out.

    Raises InvalidInput where there is no run.
    """
    reader, bytes_left = LogReader(path), MAX_SCORE_BYTES
    segments: list[Segment] = []
    points: list[Point] = []

    def load(place: Place) -> np.ndarray:
        nonlocal bytes_left
        if place.length > bytes_left:
            raise ValueError("is more than a reader can hold")
        bytes_left -= place.length
        return reader.array(place)

    for number, event in reader.events():
        try:
            if event.get("event") == "segment":
                segment = Segment.parse(event, len(segments))
                if segments and segment.names != segments[0].names:
                    raise ValueError("is a segment of other clients")
                if len(segments) >= MAX_SEGMENTS:
                    raise ValueError("is a segment too many")
                segments.append(segment)
            elif event.get("event") == "step" and segments:
                points.append(Point.parse(event, segments[-1], load))
            else:
                raise ValueError("is an event of an unknown kind, or comes before its segment")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reader.skip_line(number, f"lacks {error}" if isinstance(error, KeyError) else error)
    return RunHistory(segments, points, reader.array), reader
