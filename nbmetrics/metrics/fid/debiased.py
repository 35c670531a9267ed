"""FID between two sides without the bias of few rows, and each row's pull on it, where the rows are enough to say it.

FID of estimated moments is too large, by an amount that grows with the features and falls with the rows, differently
for each client and for the pooled data. Here ‖μ̂−μ̂_G‖² loses Tr Ĉ/n + Tr Ĉ_G/m, the traces lose their part of that for
pooled rows, and Tr (C C_G)^{1/2} is the estimate of `spectral`. The result may be negative between equal distributions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...arrays import Array, align, namespace, subtract, to_float64, to_numpy
from ...errors import InvalidInput
from ...summaries.moments import Moments
from ..stratified import InfluenceValues, Pieces, Strata
from ..weak_cache import remember
from .spectral import Pair, TraceEstimate

# Rows a direction in which both sides vary: below the first there is no value, below the second no interval.
MIN_ROWS_PER_DIRECTION, INTERVAL_ROWS_PER_DIRECTION = 1.1, 1.5
# Rows, however few the features: with fewer, single rows decide.
MIN_ROWS, MIN_INTERVAL_ROWS = 10, 20
# Excess variance of the rows' squared lengths, over their mean squared: above the first the correction was seen to
# leave more than its interval says. Above the second, and times the number of directions above the third, features are
# so sparse or long-tailed that an interval was seen to hold in few of the runs or none. So it was above the last, times
# directions²/rows: there what is left of the bias is as large as the spread, and grows with the features.
CAUTION_NORM_SPREAD, MAX_NORM_SPREAD, MAX_SPREAD_TIMES_DIRECTIONS, MAX_SPREAD_PER_ROW = 0.3, 0.75, 50.0, 3.5
FIX = "Give more rows or fewer features, or use KID, which has no such bias"


class Debiased:
    """FID without its bias between a real side and a generated one."""

    def __init__(self, real: Strata[Moments], generated: Strata[Moments]) -> None:
        self.sides = real, generated
        self._pair = Pair(real, generated)

    @property
    def rows(self) -> float:
        """Of the side that has fewer: how many equal rows would be as noisy."""
        return min(side.effective for side in self.sides)

    @cached_property
    def directions(self) -> int:
        """In how many directions the sides vary; the number of features where the rows are ample for that."""
        if self.rows >= INTERVAL_ROWS_PER_DIRECTION * self.features:
            return self.features
        poorer = sorted(self.sides, key=lambda side: side.effective)  # found sooner, and often all
        count = _directions(poorer[0], self.features)
        return count if count == self.features else max(count, _directions(poorer[1], self.features))

    @property
    def features(self) -> int:
        return int(self.sides[0].summary.mean.shape[0])

    @property
    def has_interval(self) -> bool:
        """Whether the rows are enough, and alike enough, for an interval."""
        enough = self.rows >= max(INTERVAL_ROWS_PER_DIRECTION * self.directions, MIN_INTERVAL_ROWS)
        return enough and not self._is_uneven

    @property
    def _is_uneven(self) -> bool:
        spread, directions = self._trace.norm_spread, self._trace.directions
        is_tailed = spread > MAX_NORM_SPREAD and spread * directions > MAX_SPREAD_TIMES_DIRECTIONS
        return is_tailed or spread * directions**2 > MAX_SPREAD_PER_ROW * self.rows

    def check(self) -> None:
        """Refuse sides for which no correction is known."""
        for side, who in zip(self.sides, ("real", "generated"), strict=True):
            if side.is_mixed:
                seen = "no value where distributions and rows are pooled: only the rows have a bias to correct"
                raise InvalidInput(who, seen, "Give rows for all clients, or distributions for all")
        if self.rows < max(MIN_ROWS, MIN_ROWS_PER_DIRECTION * self.directions):
            poorer = min(self.sides, key=lambda side: side.effective)
            who = "real" if poorer is self.sides[0] else "generated"
            fewest = max(MIN_ROWS, math.ceil(MIN_ROWS_PER_DIRECTION * self.directions - 1e-9))
            seen = f"has {self.rows:.0f} rows for {self.directions} features that vary: a value needs {fewest}"
            raise InvalidInput(who, seen, FIX)

    @cached_property
    def _shift(self) -> Array:
        real, generated = self.sides
        return subtract(real.summary.mean, generated.summary.mean)

    @cached_property
    def terms(self) -> dict[str, float]:
        """`mean` and `covariance`, either of which may come out negative; InvalidInput where the rows are too few."""
        self.check()
        noise = math.fsum(
            share * share * part.trace / n
            for side in self.sides
            for share, part, n in zip(side.shares, side.parts, side.sizes, strict=True)
        )
        covariance = math.fsum(side.summary.trace for side in self.sides) - 2.0 * self._trace.value
        is_exact = all(side.is_exact for side in self.sides)
        return {
            "mean": float(self._shift @ self._shift) - noise,
            "covariance": max(0.0, covariance) if is_exact else covariance,
        }

    @cached_property
    def _trace(self) -> TraceEstimate:
        return self._pair.estimate()

    @property
    def caution(self) -> str:
        """Why the value is to be read with caution, or nothing."""
        if self._is_uneven:
            return (
                "the lengths of rows vary too much (sparse features, heavy tails): extra error, so there is no interval"
            )
        if not self.has_interval:
            limits = f"{INTERVAL_ROWS_PER_DIRECTION} rows per feature, or than {MIN_INTERVAL_ROWS}"
            return f"fewer than {limits}: noisy, so there is no interval"
        if self._trace.norm_spread > CAUTION_NORM_SPREAD:
            return "the lengths of rows vary a lot (heavy tails, different clients): more error than the interval says"
        return ""

    def pieces(self) -> Pieces[InfluenceValues]:
        """The pulls, in pieces."""
        self.check()
        self._trace = yield from self._pair.pieces()
        return self.influence_values()

    def influence_values(self) -> InfluenceValues:
        """‖x̃‖² − 2·(pull on the trace) ± 2 x̃·(μ̂ − μ̂_G) of each row, x̃ its distance from the mean of its side.

        NaN where the rows are too few for an interval.
        """
        value = math.fsum(self.terms.values())
        real, generated = self.sides
        of_real = self._of_side(real, self._trace.real, 2.0)
        return InfluenceValues(value, of_real, self._of_side(generated, self._trace.generated, -2.0), self.caution)

    def _of_side(
        self, side: Strata[Moments], trace_influence: Sequence[np.ndarray | None], sign: float
    ) -> tuple[np.ndarray | None, ...]:
        influence_values: list[np.ndarray | None] = []
        for rows, pull in zip(side.rows, trace_influence, strict=True):
            if rows is None or pull is None:
                influence_values.append(None)
                continue
            centred, shift = align(subtract(to_float64(rows), side.summary.mean), self._shift)
            distances = namespace(centred).sum(centred * centred, axis=1) + sign * (centred @ shift)
            influence_values.append(
                to_numpy(distances) - 2.0 * pull if self.has_interval else np.full(len(pull), np.nan)
            )
        return tuple(influence_values)


def _directions(side: Strata[Moments], features: int) -> int:
    """In how many directions a side varies: all, where its rows are too few to show fewer."""
    rank = remember(side.summary, "rank", lambda: _rank(side.summary.root))
    return features if rank >= min(features, sum(side.sizes) - len(side.sizes)) else rank


def _rank(root: Array) -> int:
    if not root.shape[0]:
        return 0
    values = to_numpy(namespace(root).linalg.svdvals(root))
    return int((values > max(root.shape) * 2.0**-52 * float(values[0])).sum())
