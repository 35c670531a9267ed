"""FID without the bias of few rows, where the rows are enough to say it; NaN with the reason where they are not.

FID of estimated moments is too large, by an amount that grows with the features and falls with the rows, differently
for each client and for the pooled data. FID∞ takes that off: ‖μ̂−μ̂_G‖² loses Tr Ĉ/n + Tr Ĉ_G/m, and the trace term is
the one of `spectral`. It is the FID of infinitely many rows, and may come out negative between equal laws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Array, device, namespace, subtract, to_float64, to_numpy
from ..summaries import Moments
from .spectral import Pair, TraceEstimate
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
        traces = [side.summary.trace for side in self.sides]
        noise = math.fsum(trace * side.lost for trace, side in zip(traces, self.sides, strict=True))
        mean = float(self._shift @ self._shift) - noise
        covariance = math.fsum(traces) - 2.0 * self._estimate.value
        return {"mean": mean, "covariance": max(0.0, covariance) if self._is_exact else covariance}

    @property
    def _is_exact(self) -> bool:
        return all(side.is_exact for side in self.sides)

    @cached_property
    def _estimate(self) -> TraceEstimate:
        return self._pair.estimate()

    @property
    def is_strained(self) -> bool:
        """Whether the rows' norms vary so much that the value is to be read with caution."""
        return self.has_value and self._estimate.is_strained

    def pulls(self) -> Pulls:
        """‖x̃‖² − 2·(pull on T̂) ± 2 x̃·(μ̂ − μ̂_G) for each row, x̃ its distance from the mean of its side."""
        value = math.fsum(self.terms.values())
        found = [self._of_side(*args) for args in zip(self.sides, self._trace_pulls, (1.0, -1.0), strict=True)]
        return Pulls(value, *found)

    @property
    def _trace_pulls(self) -> tuple[tuple[np.ndarray | None, ...], ...]:
        if not self.has_interval:
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
