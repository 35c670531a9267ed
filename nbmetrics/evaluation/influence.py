"""Intervals from influence values: how far each row moves a score, instead of scoring resampled rows.

The variance of a score is Σ λ_i² Var(pulls_i)/n_i over clients and generator. They add up: those on avg are the
weighted sum of those on the clients' scores, those on a gap or on the difference of two generators are differences,
so what the scores share (the clients' rows, the generator's) is not counted twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInput, check_number, refusal_of
from ..metrics.base import Metric
from ..metrics.stratified import InfluenceValues, Pieces, Strata, whole
from ..ranking import same_scores
from .resampling import Ends, Jackknife, normal_above


@dataclass(frozen=True)
class Influence:
    """Influence values, how far each row moves the score, for FID, FID∞ and KID; the jackknife for other metrics.

    The interval of FID is that of the FID of the distributions behind the rows: it lies about FID∞, not about the plain
    value, which is too large. It needs 1.5 rows, of client and generator, for each direction in which both vary, and 20
    at least. Nothing is scored again.

    Parameters
    ----------
    level : coverage asked for, between 0.5 and 0.999

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clients, generators = [rng.normal(size=(200, 2))], {"g": rng.normal(1, 1, size=(500, 2))}
    >>> row = nm.evaluate(clients, generators, "fid", uncertainty=nm.Influence()).table.iloc[0]
    >>> bool(row["avg_low"] < row["avg_corrected"] < row["avg_high"])
    True
    """

    level: float = 0.9

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_number(self.level, "level", minimum=0.5, maximum=0.999))

    @property
    def otherwise(self) -> Jackknife:
        """What metrics without influence values get."""
        return Jackknife(level=self.level)


@dataclass
class Variance:
    """The variance of a sum over independent parts, and how surely it is known (Satterthwaite's degrees of freedom).

    `root` and `doubt` are arrays of any one shape, in the units of the score, which alone are sure to have room: the
    square root of the variance, and the fourth root of Σ variance²/(n−1) over the parts.
    """

    root: np.ndarray
    doubt: np.ndarray

    @classmethod
    def none(cls, *shape: int) -> Variance:
        return cls(np.zeros(shape), np.zeros(shape))

    def add(self, influence_values: np.ndarray, share: float = 1.0, at: Any = ...) -> None:
        """One more part: the pulls of its rows along the last axis."""
        n = influence_values.shape[-1]
        unit = np.abs(influence_values).max(axis=-1, keepdims=True)
        unit = np.where(unit == 0.0, 1.0, unit)
        part = share * unit[..., 0] * (influence_values / unit).std(axis=-1, ddof=1) / math.sqrt(n)
        self.root[at] = np.hypot(self.root[at], part)
        self.doubt[at] = _fourth(self.doubt[at], part / (n - 1) ** 0.25)

    def reach(self, level: float) -> np.ndarray:
        """Half the width of an interval."""
        from scipy.special import stdtrit

        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = np.where(self.root > 0, (self.root / self.doubt) ** 4, np.inf)
        return np.where(np.isnan(self.root), np.nan, stdtrit(degrees, 0.5 + level / 2.0) * self.root)


def _fourth(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(a⁴ + b⁴)^¼ of what is 0 or more."""
    larger, smaller = np.maximum(a, b), np.minimum(a, b)
    ratio = np.divide(smaller, larger, out=np.zeros_like(larger), where=larger != 0.0)
    return larger * (1.0 + ratio**4) ** 0.25


class Spread:
    """The corrected scores of all generators under one set of weights, and their variances.

    `client` is (generators, clients); `avg`, `all` and `gap` are (generators,). `apart` holds the variance of how far
    avg and all of two generators are apart, (generators, generators).
    """

    def __init__(self, generators: int, clients: int) -> None:
        self.client = np.full((generators, clients), np.nan)
        self.avg, self.all = np.zeros(generators), np.zeros(generators)
        self.cautions: list[str] = []
        shapes = {"avg": (generators,), "all": (generators,), "gap": (generators,), "client": (generators, clients)}
        self.variance = {part: Variance.none(*shape) for part, shape in shapes.items()}
        self.apart = {part: Variance.none(generators, generators) for part in ("avg", "all")}

    @property
    def gap(self) -> np.ndarray:
        return self.avg - self.all

    def add_client(self, avg: np.ndarray, pooled: np.ndarray, share: float) -> None:
        """The influence values of one client's rows, (generators, n), on its scores and on those of all clients."""
        for part, influence_values in (("avg", avg), ("all", pooled), ("gap", avg - pooled)):
            self.variance[part].add(influence_values, share)
            if part != "gap":
                for g, own in enumerate(influence_values):
                    self.apart[part].add(influence_values - own, share, at=g)

    def add_generator(self, g: int, avg: np.ndarray, pooled: np.ndarray) -> None:
        """The influence values of one generator's rows."""
        for part, influence_values in (("avg", avg), ("all", pooled), ("gap", avg - pooled)):
            self.variance[part].add(influence_values, at=g)
            if part != "gap":
                others = np.arange(len(self.avg)) != g
                self.apart[part].add(influence_values, at=(g, others))
                self.apart[part].add(influence_values, at=(others, g))


class Influences:
    """The influence values of one metric: intervals and p-values under any weights."""

    def __init__(
        self, metric: Metric[Any], real: Sequence[Strata[Any]], generated: Sequence[Strata[Any]], level: float
    ) -> None:
        self.metric, self.real, self.generated, self.level = metric, tuple(real), tuple(generated), level
        self._spreads: dict[tuple[float, ...], Spread] = {}

    @property
    def design(self) -> str:
        return (
            f"{self.level:.0%}, influence values of the rows; FID corrected for few rows, KID-all with "
            "clients as strata, plain scores next to them (at 90 % they covered 76 to 100 % of simulations, see "
            "docs/intervals.md)"
        )

    def ends(self, weights: Sequence[float], part: str, _: np.ndarray) -> Ends:
        """The corrected score and the ends of its interval; `part` is avg, all, gap or client."""
        spread = self.spread(weights)
        centre, reach = getattr(spread, part), spread.variance[part].reach(self.level)
        further = _further(centre, reach) if self.metric.is_squared and part != "gap" else 0.0
        return Ends(centre, centre - reach, centre + reach + further)

    def worse(self, weights: Sequence[float], part: str, pair: tuple[int, int], _: np.ndarray) -> float:
        """The one-sided p-value of the first of two generators being better by avg or all."""
        spread, (a, b) = self.spread(weights), pair
        values, error = getattr(spread, part), float(spread.apart[part].root[a, b])
        apart = 0.0 if same_scores(values[a], values[b]) else float(values[a] - values[b])
        return math.nan if math.isnan(apart) or math.isnan(error) else normal_above(apart, error)

    def spread(self, weights: Sequence[float]) -> Spread:
        """Scores and variances under these weights, computed once."""
        key = tuple(weights)
        if key not in self._spreads:
            self._spreads[key] = self._spread(key)
        return self._spreads[key]

    def _spread(self, weights: Sequence[float]) -> Spread:
        spread = Spread(len(self.generated), len(self.real))
        together = self.metric.pool_strata(self.real, weights)
        pooled = [influence_values_of(self.metric, together, g) for g in self.generated]
        spread.all[:] = [influence_values.value for influence_values in pooled]
        spread.cautions += [influence_values.caution for influence_values in pooled]
        sums: list[Any] = [0.0] * len(self.generated)
        position = 0
        for i, (client, share) in enumerate(zip(self.real, weights, strict=True)):
            row = [influence_values_of(self.metric, client, g) for g in self.generated]
            spread.client[:, i] = [influence_values.value for influence_values in row]
            spread.cautions += [influence_values.caution for influence_values in row]
            own = _stack(row, 0)
            if own is not None:
                spread.variance["client"].add(own, at=(slice(None), i))
            for g, influence_values in enumerate(row):
                if influence_values.generated[0] is not None:
                    spread.variance["client"].add(influence_values.generated[0], at=(g, i))
            if not share:
                continue
            spread.avg += share * spread.client[:, i]
            if own is not None:
                spread.add_client(own, _stack(pooled, position), share)
            position += 1
            sums = [s if p.generated[0] is None else s + share * p.generated[0] for s, p in zip(sums, row, strict=True)]
        for g, (avg, of_all) in enumerate(zip(sums, pooled, strict=True)):
            if of_all.generated[0] is not None:
                spread.add_generator(g, avg, of_all.generated[0])
        return spread

    def cautions(self, weights: Sequence[float]) -> list[str]:
        """Of every score, clients' and pooled: why its interval is missing or doubtful, or nothing."""
        return self.spread(weights).cautions


def _further(centre: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """How much further up the interval of a squared distance goes, `reach` at most: that of its root, squared.

    The error of D² grows with D, so too low a score comes with too short a reach: by the root the upper end is
    (D + reach/(2D))² = D² + reach + reach²/(4D²). The lower end stays, as near 0 a root says nothing.
    """
    with np.errstate(invalid="ignore"):
        share = np.divide(reach, 4.0 * centre, out=np.ones_like(reach), where=centre > 0.25 * reach)
    return np.where(centre > 0.0, reach * share, 0.0)


def influence_values_of(metric: Metric[Any], real: Strata[Any], generated: Strata[Any]) -> InfluenceValues:
    """Return the influence values of a pair; NaN where the metric refuses it, or where one is beyond all numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        return whole(influence_pieces_of(metric, real, generated))


def influence_pieces_of(metric: Metric[Any], real: Strata[Any], generated: Strata[Any]) -> Pieces[InfluenceValues]:
    """The same in pieces of about a second, of a metric that has `influence_pieces`; else in one."""
    if refusal := refusal_of(real.summary):
        return InfluenceValues(math.nan, _unknown(real), _unknown(generated), str(refusal))
    # what a metric says of its own influence values, and not of those of one that it derives from
    own = next(kind for kind in type(metric).__mro__ if {"influence_values", "influence_pieces"} & vars(kind).keys())
    in_pieces = vars(own).get("influence_pieces")
    try:
        if in_pieces is None:
            influence_values = metric.influence_values(real, generated)
        else:
            influence_values = yield from in_pieces(metric, real, generated)
    except InvalidInput as error:
        return InfluenceValues(math.nan, _unknown(real), _unknown(generated), str(error))
    if any(rows is not None and np.isinf(rows).any() for rows in (*influence_values.real, *influence_values.generated)):
        seen = "influence values are not finite: no interval; rescale the features"
        return InfluenceValues(influence_values.value, _unknown(real), _unknown(generated), seen)
    return influence_values


def _stack(by_generator: Sequence[InfluenceValues], position: int) -> Any:
    """Those of one part's rows on all generators' scores, (generators, n), or None for a distribution."""
    rows = [influence_values.real[position] for influence_values in by_generator]
    return None if rows[0] is None else np.array(rows)


def _unknown(side: Strata[Any]) -> tuple[np.ndarray | None, ...]:
    return tuple(None if rows is None else np.full(rows.shape[0], np.nan) for rows in side.rows)
