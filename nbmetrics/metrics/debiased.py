"""FID without the bias of few rows, where the rows are enough to say it; NaN with the reason where they are not.

FID of estimated moments is too large, by an amount that grows with the features and falls with the rows, differently
for each client and for the pooled data. FID∞ takes that off: ‖μ̂−μ̂_G‖² loses Tr Ĉ/n + Tr Ĉ_G/m, and the trace term is
the one of `spectral`. It is the FID of infinitely many rows, and may come out negative between equal laws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Array, device, namespace, subtract, to_float64, to_numpy
from ..errors import InvalidInput, shown
from ..summaries import Moments
from .base import Metric, between
from .frechet import FID
from .spectral import Pair
from .strata import Pulls, Strata

# Rows a direction in which both sides vary: below the first there is no value, below the second no interval.
VALUE, INTERVAL = 1.1, 1.5
# Rows, however few the features: with fewer, single rows decide.
FEWEST, FEWEST_FOR_INTERVAL = 10, 20


class Fitness(NamedTuple):
    """How many rows the poorer side has, and in how many directions both sides vary."""

    rows: float
    rank: int

    @property
    def has_value(self) -> bool:
        return self.rows >= max(VALUE * self.rank, FEWEST)

    @property
    def has_interval(self) -> bool:
        return self.rows >= max(INTERVAL * self.rank, FEWEST_FOR_INTERVAL)


class DebiasedPair:
    """FID∞ between two sides, and each row's pull on it."""

    def __init__(self, real: Strata[Moments], generated: Strata[Moments]) -> None:
        self.sides = real, generated
        self._pair = Pair(real, generated)

    @cached_property
    def fitness(self) -> Fitness:
        """Of the side with fewer rows; counting directions costs something, so only where features would not do."""
        rows, d = min(side.effective for side in self.sides), int(self.sides[0].summary.mean.shape[0])
        ample = rows >= max(INTERVAL * d, FEWEST_FOR_INTERVAL)
        return Fitness(rows, d if ample else self._pair.rank)

    @property
    def has_value(self) -> bool:
        return not any(side.is_mixed for side in self.sides) and self.fitness.has_value

    @property
    def has_interval(self) -> bool:
        return self.has_value and self.fitness.has_interval

    @cached_property
    def _shift(self) -> Array:
        real, generated = self.sides
        return subtract(real.summary.mean, generated.summary.mean)

    @cached_property
    def terms(self) -> dict[str, float]:
        """`mean` and `covariance`, either of which may come out negative; NaN where the rows are too few."""
        if not self.has_value:
            return {"mean": math.nan, "covariance": math.nan}
        if all(side.is_exact for side in self.sides):
            return FID().terms(*(side.summary for side in self.sides))
        traces = [side.summary.trace for side in self.sides]
        noise = math.fsum(trace * side.lost for trace, side in zip(traces, self.sides, strict=True))
        mean = float(self._shift @ self._shift) - noise
        return {"mean": mean, "covariance": math.fsum(traces) - 2.0 * self._estimate.value}

    @cached_property
    def _estimate(self) -> Any:
        return self._pair.estimate()

    @property
    def is_strained(self) -> bool:
        """Whether the rows' norms vary so much that the value is to be read with caution."""
        return self.has_value and not all(side.is_exact for side in self.sides) and self._estimate.is_strained

    def pulls(self) -> Pulls:
        """‖x̃‖² − 2·(pull on T̂) ± 2 x̃·(μ̂ − μ̂_G) for each row, x̃ its distance from the mean of its side."""
        value = math.fsum(self.terms.values())
        found = [self._of_side(*args) for args in zip(self.sides, self._trace_pulls, (1.0, -1.0), strict=True)]
        return Pulls(value, *found)

    @property
    def _trace_pulls(self) -> tuple[tuple[np.ndarray | None, ...], ...]:
        if not self.has_interval or all(side.is_exact for side in self.sides):
            return tuple(tuple(None for _ in side.rows) for side in self.sides)
        return self._estimate.real, self._estimate.generated

    def _of_side(
        self, side: Strata[Moments], trace_pulls: Sequence[np.ndarray | None], sign: float
    ) -> tuple[np.ndarray | None, ...]:
        found: list[np.ndarray | None] = []
        for rows, pull in zip(side.rows, trace_pulls, strict=True):
            if rows is None:
                found.append(None)
            elif pull is None:
                found.append(np.full(rows.shape[0], np.nan))
            else:
                centred = subtract(to_float64(rows), side.summary.mean)
                shift = namespace(centred).asarray(self._shift, device=device(centred))
                distance = namespace(centred).sum(centred * centred, axis=1) + 2.0 * sign * (centred @ shift)
                found.append(to_numpy(distance) - 2.0 * pull)
        return tuple(found)


class FIDInfinity(Metric[Strata[Moments]]):
    """FID at infinitely many rows: FID without the bias of few rows, as a metric with avg, all and gap.

    The trace term by random-matrix theory for both samples (`spectral`), which holds from about 1.5 rows a feature
    where extrapolation in 1/N (Chong & Forsyth 2020) needs 5. For laws it is FID itself. Lower is better, squared
    feature units; estimates between equal laws scatter about 0 and may be negative. A score is NaN, and the reason
    stands under the table, where client or generator has fewer than 1.1 rows for each direction that both vary in;
    from 1.1 to 1.5 it has no interval. Each client counts by its own rows, *all* by those of all clients.
    """

    name = "fid_infinity"
    label = "FID∞"
    no_resampling = "FID∞ on resampled rows means nothing: repeated rows are what it corrects for"
    min_rows = 2

    def __init__(self) -> None:
        self._pairs: WeakKeyDictionary[Any, WeakKeyDictionary[Any, dict[str, float]]] = WeakKeyDictionary()

    def summarize(self, sample: Any) -> Strata[Moments]:
        """The moments of `sample` with its rows, or those of an exact distribution."""
        return Strata.of(FID().summarize(sample), sample.rows)

    def pool(self, summaries: Sequence[Strata[Moments]], weights: Sequence[float]) -> Strata[Moments]:
        """The strata of all clients."""
        return Strata.pool(summaries, weights, Moments.pool)

    def terms(self, real: Strata[Moments], generated: Strata[Moments]) -> dict[str, float]:
        """`mean` and `covariance` as in FID, each without its bias; both NaN outside the domain."""
        return DebiasedPair(real, generated).terms

    def pulls(self, real: Strata[Moments], generated: Strata[Moments]) -> Pulls:
        """The score and its influence values."""
        return DebiasedPair(real, generated).pulls()

    def has_closed_form(self, distribution: Any) -> bool:
        return FID().has_closed_form(distribution)

    @property
    def convention(self) -> str:
        return "FID∞: FID less the bias of few rows (two-sample Marchenko–Pastur map with fourth moments)"


def fid_infinity(real: Any, generated: Any) -> float:
    """FID at infinitely many rows: the FID of the laws behind two samples, without the bias of few rows.

    The two-sample Marchenko–Pastur correction with a fourth-moment term (see `nbmetrics.metrics.spectral`). Its error
    has about the spread of FID itself; at 64 features and 100 rows a side, N(0, I) against N(0, 1.44 I) gives
    2.5 ± 0.9 for 2.56, where FID says 29.

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows (NumPy or torch), or distributions; n and m at least 1.1 times the number
        of directions in which both vary (d, unless features are constant or dependent), and at least 10

    Returns
    -------
    float, squared feature units; lower is better; may be negative between equal laws

    Raises
    ------
    InvalidInput
        For bad rows, or too few of them for their dimension.
    """
    metric = FIDInfinity()
    value = between(metric, real, generated)
    if math.isnan(value):
        seen = f"one side has fewer than {VALUE} rows for each feature, or fewer than {FEWEST}"
        raise InvalidInput("real, generated", seen, "Give more rows or fewer features, or use nm.kid")
    return value
