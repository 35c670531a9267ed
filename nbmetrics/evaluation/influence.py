"""Intervals from influence values: how far each row moves a score, instead of scoring resampled rows.

The variance of a score is Σ λ_i² Var(pulls_i)/n_i over clients and generator. They add up: those on avg are the
weighted sum of those on the clients' scores, those on a gap or on the difference of two generators are differences,
so what the scores share (the clients' rows, the generator's) is not counted twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInput, check_number, refusal_of
from ..metrics.base import Metric
from ..metrics.stratified import InfluenceValues, Pieces, Strata, merge_shared, whole
from ..ranking import same_scores
from .resampling import Ends, Jackknife, normal_above

# What two generators are compared by.
COMPARED = ("avg", "all", "intra")
# Of the sum over clients: a variance that is less adds nothing to an error, and its few rows no doubt.
MIN_VARIANCE_SHARE = 1e-12


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

    @classmethod
    def of_differences(cls, first: Variance, second: Variance) -> Variance:
        """Of the differences of every two of independent sums, (T,) and (U,): (T, U)."""
        doubt = _fourth(first.doubt[:, None], second.doubt[None, :])
        return cls(np.hypot(first.root[:, None], second.root), doubt)

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

    `client` and `own` are (generators, clients); `avg`, `all`, `intra` and `gap` are (generators,). `apart` holds the
    variance of how far avg, all and intra of two generators are apart, (generators, generators), and `real` what the
    clients' rows, which all generators share, add to their covariances, (generators, generators). `real_parts` lists
    the largest variance that each client adds, and how many rows it has.
    """

    def __init__(self, generators: int, clients: int) -> None:
        self.client, self.own = np.full((2, generators, clients), np.nan)
        self.avg, self.all, self.intra = np.zeros((3, generators))
        self.cautions: list[str] = []
        self.variance = {part: Variance.none(generators) for part in ("avg", "all", "intra", "gap")}
        self.variance |= {part: Variance.none(generators, clients) for part in ("client", "own")}
        self.apart = {part: Variance.none(generators, generators) for part in COMPARED}
        self.real = {part: np.zeros((generators, generators)) for part in COMPARED}
        self.real_parts: dict[str, list[tuple[float, int]]] = {part: [] for part in COMPARED}

    @property
    def gap(self) -> np.ndarray:
        return self.avg - self.all

    def with_one_distribution(self) -> Spread:
        """This, of generators with one distribution each: intra is avg."""
        self.intra, self.own = self.avg, self.client
        for variance in (self.variance, self.apart):
            variance["intra"] = variance["avg"]
        self.real["intra"], self.real_parts["intra"] = self.real["avg"], self.real_parts["avg"]
        self.variance["own"] = self.variance["client"]
        return self

    def add_scores(self, part: str, i: int, row: Sequence[InfluenceValues], shares: Sequence[Sequence[float]]) -> None:
        """The scores of one client with every generator, and what their own rows make of their variances.

        `part` : "client" or "own"; `shares` : of the parts of each generator
        """
        getattr(self, part)[:, i] = [influence_values.value for influence_values in row]
        self.cautions += [influence_values.caution for influence_values in row]
        if (values := _stack(row, 0)) is not None:
            self.variance[part].add(values, at=(slice(None), i))
        for g, influence_values in enumerate(row):
            for generated, share in zip(influence_values.generated, shares[g], strict=True):
                if generated is not None:
                    self.variance[part].add(generated, share, at=(g, i))

    def add_client(self, influence_values: Mapping[str, np.ndarray], share: float) -> None:
        """The influence values of one client's rows, (generators, n), on avg, all and intra."""
        for part, values in _with_gap(influence_values):
            self.variance[part].add(values, share)
            if part in COMPARED:
                covariance = share**2 * _covariance_of_means(values)
                self.real[part] += covariance
                own = covariance.diagonal()
                self.real_parts[part].append((float(own[np.isfinite(own)].max(initial=0.0)), values.shape[-1]))
                for g, own in enumerate(values):
                    self.apart[part].add(values - own, share, at=g)

    def add_generator(self, g: int, influence_values: Mapping[str, np.ndarray], share: float) -> None:
        """The influence values of the rows that one generator made, of those for one client with its share."""
        for part, values in _with_gap(influence_values):
            self.variance[part].add(values, share, at=g)
            if part in COMPARED:
                others = np.arange(len(self.avg)) != g
                self.apart[part].add(values, share, at=(g, others))
                self.apart[part].add(values, share, at=(others, g))


def _covariance_of_means(values: np.ndarray) -> np.ndarray:
    """The covariance of the means of values (generators, n) over their rows; not finite where it has no room."""
    n = values.shape[-1]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        centred = values - values.mean(axis=-1, keepdims=True)
        return np.asarray(centred @ centred.T / (n * (n - 1.0)))


class GeneratedSums:
    """The influence values on avg, all and intra of the rows of one generator, of those for each client apart."""

    def __init__(self, of_all: InfluenceValues, own: Sequence[Strata[Any]], weights: Sequence[float]) -> None:
        self._all = of_all.generated
        self._own, (parts, shares) = own, merge_shared(own, weights) if len(own) > 1 else (own, (1.0,))
        weighty = [(part, share) for part, share in zip(parts, shares, strict=True) if share]
        self._places = {id(part): (place, share) for place, (part, share) in enumerate(weighty)}
        self._avg: list[Any] = [0.0] * len(self._all)
        self._intra: list[Any] = [0.0] * len(self._all)

    def add(self, mixed: InfluenceValues, own: InfluenceValues, share: float, position: int) -> None:
        """Those on the score of the client at `position`, with the mixture and with what was made for it."""
        self._avg = [_sum(total, share, values) for total, values in zip(self._avg, mixed.generated, strict=True)]
        if own is mixed:
            self._intra = self._avg
        else:
            place, of_part = self._places[id(self._own[position])]
            self._intra[place] = _sum(self._intra[place], share / of_part, own.generated[0])

    def parts(self) -> Iterator[dict[str, np.ndarray] | None]:
        """Yield those of each part, None for a distribution."""
        for avg, of_all, intra in zip(self._avg, self._all, self._intra, strict=True):
            yield None if of_all is None else {"avg": avg, "all": of_all, "intra": intra}


def _sum(total: Any, share: float, values: np.ndarray | None) -> Any:
    return total if values is None else total + share * values


def _with_gap(influence_values: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    yield from influence_values.items()
    yield "gap", influence_values["avg"] - influence_values["all"]


class Influences:
    """The influence values of one metric: intervals and p-values under any weights.

    `generated` : of each generator its strata, or those of what it made for each client
    """

    def __init__(
        self,
        metric: Metric[Any],
        real: Sequence[Strata[Any]],
        generated: Sequence[tuple[Strata[Any], ...]],
        level: float,
    ) -> None:
        self.metric, self.real, self.generated, self.level = metric, tuple(real), tuple(generated), level
        self._spreads: dict[tuple[float, ...], Spread] = {}

    @property
    def is_by_client(self) -> bool:
        """Whether some generator has one distribution for each client."""
        return any(len(own) > 1 for own in self.generated)

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

    def real_part(self, weights: Sequence[float], part: str, contrasts: np.ndarray) -> tuple[np.ndarray, float]:
        """See `CellNoise.real_part`."""
        spread = self.spread(weights)
        covariance, least = spread.real[part], MIN_VARIANCE_SHARE * sum(size for size, _ in spread.real_parts[part])
        counts = [rows for size, rows in spread.real_parts[part] if size > least]
        at = [np.flatnonzero(contrast) for contrast in contrasts]  # no score but these, which may be NaN
        with np.errstate(over="ignore", invalid="ignore"):
            variance = [c[own] @ covariance[np.ix_(own, own)] @ c[own] for c, own in zip(contrasts, at, strict=True)]
        return np.array(variance), float(min(counts) - 1) if counts else math.inf

    def spread(self, weights: Sequence[float]) -> Spread:
        """Scores and variances under these weights, computed once."""
        key = tuple(weights)
        if key not in self._spreads:
            self._spreads[key] = self._spread(key)
        return self._spreads[key]

    def _spread(self, weights: Sequence[float]) -> Spread:
        spread = Spread(len(self.generated), len(self.real))
        together = self.metric.pool_strata(self.real, weights)
        counted = [i for i, share in enumerate(weights) if share]
        mixed = [mixture_strata(self.metric, own, weights) for own in self.generated]
        pooled = [influence_values_of(self.metric, together, generator) for generator in mixed]
        spread.all[:] = [influence_values.value for influence_values in pooled]
        spread.cautions += [influence_values.caution for influence_values in pooled]
        sums = [GeneratedSums(*pair, weights) for pair in zip(pooled, self.generated, strict=True)]
        for i, (client, share) in enumerate(zip(self.real, weights, strict=True)):
            row = [influence_values_of(self.metric, client, generator) for generator in mixed]
            spread.add_scores("client", i, row, [generator.shares for generator in mixed])
            own = self._own(i, row) if self.is_by_client else row
            if own is not row:
                spread.add_scores("own", i, own, [parts[0].shares for parts in self.generated])
            if not share:
                continue
            spread.avg += share * spread.client[:, i]
            spread.intra += share * spread.own[:, i]
            position = counted.index(i)
            if (avg := _stack(row, 0)) is not None:
                of_intra = {"intra": _stack(own, 0)} if own is not row else {}
                spread.add_client({"avg": avg, "all": _stack(pooled, position), **of_intra}, share)
            for total, with_mixture, alone in zip(sums, row, own, strict=True):
                total.add(with_mixture, alone, share, i)
        for g, (total, generator) in enumerate(zip(sums, mixed, strict=True)):
            for influence_values, share in zip(total.parts(), generator.shares, strict=True):
                if influence_values is not None:
                    spread.add_generator(g, influence_values, share)
        return spread if self.is_by_client else spread.with_one_distribution()

    def _own(self, i: int, row: Sequence[InfluenceValues]) -> list[InfluenceValues]:
        """Those of one client with what each generator made for it; `row` : with their mixtures."""
        return [
            mixed if len(parts) == 1 else influence_values_of(self.metric, self.real[i], parts[i])
            for mixed, parts in zip(row, self.generated, strict=True)
        ]

    def cautions(self, weights: Sequence[float]) -> list[str]:
        """Of every score, clients' and pooled: why its interval is missing or doubtful, or nothing."""
        return self.spread(weights).cautions


def mixture_strata(metric: Metric[Any], own: Sequence[Strata[Any]], weights: Sequence[float]) -> Strata[Any]:
    """Return what one generator made for all clients together: its rows, or the mixture of those for each client."""
    return own[0] if len(own) == 1 else metric.pool_strata(*merge_shared(own, weights))


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
