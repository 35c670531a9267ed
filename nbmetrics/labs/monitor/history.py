"""What a log says, as pure functions of it: lines of scores, under any weights, and losses.

A segment that resumes a run shadows the steps of earlier segments from its own first step on; of a step that was logged
twice the last scores and losses count. Steps come in any order. Scores of different numbers of generated rows stand on
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
from .events import Frame, MetricFacts, Point, Segment
from .frames import Place
from .log import Reader
from .scoring import unpacked_moments

Weights = tuple[float, ...]
# A reader's limits: segments, and bytes of scores that are held.
MOST_SEGMENTS, MOST_HELD = 10_000, 2**30
# What `all` under other weights was made of.
STORED, EXACT, TANGENT, UNKNOWN = "as logged", "exact", "first order", "unknown"


@dataclass(frozen=True, eq=False)
class Line:
    """The scores of one metric at one number of rows.

    Attributes
    ----------
    name : the metric's, or with the number of rows
    facts, points : the metric, and the points in the order of their steps
    steps : (S,); clients : (S, k); avg, all : (S,) under the history's weights
    errors : (S, 3) standard errors of avg, all and gap as they were logged; NaN under other weights
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
    kinds: tuple[str, ...]

    @property
    def gap(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return self.avg - self.all


class History:
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
        given = self.segments[-1].weights if self.segments else ()
        self.weights: Weights = given if weights is None else check_named_weights(weights, self.names)
        self._clients: dict[tuple[int, str], Any] = {}

    def with_weights(self, weights: Any) -> History:
        """The same run asked under other weights: avg and KID exactly, FID-all from moments or to first order."""
        return History(self.segments, self.logged, self._load, weights)

    def with_points(self, points: Sequence[Point]) -> History:
        """The same run with these points alone."""
        return History(self.segments, points, self._load, self.weights)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The visible ones, one a step, in the order of the steps."""
        first: dict[int, int] = {}
        for point in self.logged:
            number = point.segment.number
            first[number] = min(point.step, first.get(number, point.step))
        ends: dict[int, float] = {}
        end = math.inf
        for number in sorted(first, reverse=True):
            ends[number], end = end, min(end, first[number])
        found: dict[int, Point] = {}
        for point in self.logged:
            if point.step < ends[point.segment.number]:
                found[point.step] = _merged(found.get(point.step), point)
        return tuple(found[step] for step in sorted(found))

    @cached_property
    def shadowed(self) -> tuple[Point, ...]:
        """The points that a later segment took the place of."""
        steps = {point.step: point.segment.number for point in self.points}
        return tuple(p for p in self.logged if steps.get(p.step) != p.segment.number)

    def array(self, frame: Frame | None) -> np.ndarray | None:
        """What lies in a frame, None where there is none or it is damaged."""
        if isinstance(frame, Place):
            try:
                return np.asarray(self._load(frame))
            except ValueError:
                return None
        return frame

    @cached_property
    def lines(self) -> dict[str, Line]:
        """By name, those of all metrics."""
        parts: dict[str, tuple[MetricFacts, list[Point]]] = {}
        for facts in self.metrics.values():
            scored = [p for p in self.points if p.has(facts.name)]
            main = next((p.count for p in self.logged if p.has(facts.name)), None)
            for point in scored:
                is_main = facts.mixes or point.count == main
                rows = f"{point.count:,} rows" if point.count else "exact"
                name = facts.name if is_main else f"{facts.name}, {rows}"
                parts.setdefault(name, (facts, []))[1].append(point)
        return {name: self._line(name, *part) for name, part in parts.items()}

    @cached_property
    def metrics(self) -> dict[str, MetricFacts]:
        """Of all segments, by name."""
        return {facts.name: facts for segment in self.segments for facts in segment.metrics}

    def line(self, name: str) -> Line:
        """A line by its name; of a metric that has no score yet an empty one."""
        check_choice(name, dict.fromkeys([*self.metrics, *self.lines]), "metric")
        return self.lines[name] if name in self.lines else self._line(name, self.metrics[name], [])

    def _line(self, name: str, facts: MetricFacts, points: Sequence[Point]) -> Line:
        rows = [p.clients[p.segment.position(facts.name)] for p in points if p.clients is not None]
        clients = np.array(rows, dtype=np.float64).reshape(len(points), len(self.names))
        counted = np.array(self.weights) > 0
        shares = np.array(self.weights)[counted]
        with np.errstate(invalid="ignore"):
            avg = np.array([math.fsum(row) if np.isfinite(row).all() else row.sum()
                            for row in clients[:, counted] * shares])  # fmt: skip
        pooled = [self._all(facts, point, a) for point, a in zip(points, avg, strict=True)]
        steps = np.array([p.step for p in points], dtype=np.int64)
        values = np.array([value for value, _ in pooled], dtype=np.float64)
        errors = np.array([self._errors(facts, p) for p in points]).reshape(len(points), 3)
        return Line(name, facts, tuple(points), steps, clients, avg, values, errors, tuple(kind for _, kind in pooled))

    def _errors(self, facts: MetricFacts, point: Point) -> np.ndarray:
        is_known = point.errors is not None and point.segment.weights == self.weights
        return point.errors[point.segment.position(facts.name)] if is_known else np.full(3, math.nan)  # type: ignore[index]

    def _all(self, facts: MetricFacts, point: Point, avg: float) -> tuple[float, str]:
        """The pooled score of a point, and how it is known."""
        assert point.all is not None
        segment, stored = point.segment, float(point.all[point.segment.position(facts.name)])
        if segment.weights == self.weights:
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
            made = unpacked_moments(generated)
        except ValueError:
            return None
        return FID().distance(together, made) if made.mean.shape == together.mean.shape else None

    def _pool(self, segment: Segment) -> Moments | None:
        """The clients' moments under the weights."""
        key = (segment.number, "pool")
        if key not in self._clients:
            packed, found = self.array(segment.frames.get("moments")), None
            if packed is not None and packed.ndim == 2 and len(packed) == len(self.names):
                try:
                    parts = [(unpacked_moments(row), w) for row, w in zip(packed, self.weights, strict=True) if w]
                    found = Moments.pool([part for part, _ in parts], [w for _, w in parts])
                except ValueError:
                    found = None
            self._clients[key] = found
        found = self._clients[key]
        return found if found is None or isinstance(found, Moments) else None

    def kid_gap(self, segment: Segment, name: str) -> float | None:
        """KID-avg − KID-all under the weights, by theorem the same at every step; None where it is not known."""
        key = (segment.number, f"gap {name}")
        if key not in self._clients:
            means = self.client_kernel_means(segment, segment.position(name))
            self._clients[key] = None if means is None else kid_gap(means, np.array(self.weights))
        gap = self._clients[key]
        return None if gap is None else float(gap)

    def client_kernel_means(self, segment: Segment, position: int) -> np.ndarray | None:
        """See `evaluation.heterogeneity`; of the metric at that position, None where the segment has none."""
        found, k = self.array(segment.frames.get(f"gap {position}")), len(self.names)
        if found is None or found.shape not in ((k, k), (k, k + 2)):
            return None
        return found if found.shape == (k, k) else _first_format(found)

    def _kid_bias(self, segment: Segment, name: str) -> float:
        """What KID-all of a run in the first format is too large by under its weights; 0 of all others."""
        found, k = self.array(segment.frames.get(f"gap {segment.position(name)}")), len(self.names)
        if found is None or found.shape != (k, k + 2):
            return 0.0
        shares, rows = np.array(segment.weights), found[:, -1]
        used = shares > 0
        means, w, n = _first_format(found)[np.ix_(used, used)], shares[used], rows[used]
        own, square = np.diag(means), w @ means @ w
        lost = np.sum(w**2 / n)
        return float((square - np.sum(w**2 * own / n)) / (1.0 - lost) - square)

    def spread(self, segment: Segment) -> float:
        """The variance of the pooled clients under the weights, all features together; NaN where it is not known."""
        centres = self.array(segment.frames.get("centres"))
        if centres is None or centres.ndim != 2 or len(centres) != len(self.names):
            return math.nan
        shares = np.array(self.weights)
        mean = shares @ centres[:, 1:]
        return float(shares @ (centres[:, 0] + np.sum((centres[:, 1:] - mean) ** 2, axis=1)))

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


def _merged(old: Point | None, new: Point) -> Point:
    """A step that was logged twice: the last scores, and every loss that was told last."""
    if old is None or old.segment is not new.segment:
        return new
    losses = {**old.losses, **new.losses}
    return replace(new if new.is_scored else old, losses=losses)


def _first_format(found: np.ndarray) -> np.ndarray:
    """The kernel means (k, k) of `found` (k, k + 2): those with pairs of a row with itself, k(x, x) and the rows."""
    means, own, n = found[:, :-2].copy(), found[:, -2], found[:, -1]
    with np.errstate(all="ignore"):
        np.fill_diagonal(means, (np.diag(means) - own / n) / (1.0 - 1.0 / n))
    return means


def read(path: Any) -> tuple[History, Reader]:
    """The history of a folder, and the reader, which says what it left out.

    Raises InvalidInput where there is no run.
    """
    reader, left = Reader(path), MOST_HELD
    segments: list[Segment] = []
    points: list[Point] = []

    def load(place: Place) -> np.ndarray:
        nonlocal left
        if place.length > left:
            raise ValueError("is more than a reader holds at once")
        left -= place.length
        return reader.array(place)

    for number, event in reader.events():
        try:
            if event.get("event") == "segment":
                segment = Segment.parse(event, len(segments))
                if segments and segment.names != segments[0].names:
                    raise ValueError("is a segment of other clients")
                if len(segments) >= MOST_SEGMENTS:
                    raise ValueError("is a segment too many")
                segments.append(segment)
            elif event.get("event") == "step" and segments:
                points.append(Point.parse(event, segments[-1], load))
            else:
                raise ValueError("is an event of no known kind, or comes before its segment")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reader.skip(number, f"lacks {error}" if isinstance(error, KeyError) else error)
    return History(segments, points, reader.array), reader
