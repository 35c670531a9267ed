"""The noise of a step's scores: standard errors under the weights of the scoring, and draws for other questions.

Where each client has a distribution of its own, avg and all are of a mixture that moves with the weights: their noise
is known under the weights of the scoring alone. That of intra's addends is the same under any weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...arrays import concat, row_blocks, to_float64, to_numpy
from ...evaluation.noise import Multipliers, NoiseColumn
from ...metrics.fid.metric import FID
from ...metrics.kid.block_sums import stacks
from ...metrics.stratified import InfluenceValues, Strata
from ...summaries.moments import Moments

# Draws of the noise of a score.
NOISE_DRAWS = 128
# Clients whose own noise is kept; of more, only that of avg, all and intra under the weights given.
MAX_NOISY_CLIENTS = 32
# Bytes of normal numbers that are kept from one step to the next.
MAX_CACHED_BYTES = 64 * 2**20
# Features beyond which a decomposition takes seconds.
MAX_BIASED_FID_FEATURES = 512
# Directions whose singular value is below this share of the largest are rounding.
MIN_SINGULAR_SHARE = 1e-12
UNKNOWN = (np.nan, np.nan, np.nan)


@dataclass(frozen=True, eq=False)
class StepNoise:
    """The noise of one metric at one step; None and NaN where it is not known.

    Attributes
    ----------
    clients : (B, k) draws of the noise of the clients' scores, or (B, 1) of avg: of many clients, or where the
        generator has one distribution for each client
    all : (B,) of the pooled clients' score; None for KID, whose steps are compared by that of avg
    errors : standard errors of avg, all and their gap under the weights of the scoring; that of KID's gap, which is the
        same at every step, is left out
    row_errors : (k + 2,) standard errors of clients, avg and all from the generated rows alone, the clients' rows being
        the same at every step
    own, own_error, own_row_errors : of each client with what was made for it: draws, as those of `clients`, the
        standard error of intra, and (k + 1,) of clients and intra from the generated rows alone
    """

    clients: np.ndarray | None = None
    all: np.ndarray | None = None
    errors: tuple[float, float, float] = UNKNOWN
    row_errors: np.ndarray | None = None
    own: np.ndarray | None = None
    own_error: float = np.nan
    own_row_errors: np.ndarray | None = None

    @classmethod
    def of(
        cls, weights: Sequence[float], each: NoiseColumn, together: NoiseColumn, own: NoiseColumn | None = None
    ) -> StepNoise:
        """Of the noise of the clients' scores, of the pooled clients', and of intra's addends."""
        clients, draws = _kept_draws(each, weights, of_mean=own is not None), to_float32(together.draws[:, 0])
        errors = standard_errors(*draws_under_weights(weights, clients, draws))
        row_errors = _deviations(
            np.column_stack([_with_mean(np.asarray(each.generated), weights), np.asarray(together.generated)])
        )
        if own is None:
            return cls(clients, draws, errors, row_errors)
        kept = _kept_draws(own, weights)
        own_error = standard_errors(*draws_under_weights(weights, kept, None))[0]
        own_row_errors = _deviations(_with_mean(np.asarray(own.generated), weights))
        return cls(clients, draws, errors, row_errors, kept, own_error, own_row_errors)

    def of_kid(self) -> StepNoise:
        """What is kept of KID's: of all and the gap no more than the error of all."""
        return replace(self, all=None, errors=(*self.errors[:2], np.nan))


def _kept_draws(column: NoiseColumn, weights: Sequence[float], *, of_mean: bool = False) -> np.ndarray:
    """Return (B, k) draws, (B, 1) of their mean where that is asked for or the clients are many."""
    if of_mean or len(weights) > MAX_NOISY_CLIENTS:
        return to_float32(_mean(column.draws, weights)[:, None])
    return to_float32(column.draws)


def _with_mean(draws: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    return np.column_stack([draws, _mean(draws, weights)])


def noise_of_gap(each: NoiseColumn, together: NoiseColumn, weights: Sequence[float]) -> np.ndarray:
    """Return (B,) draws of the noise of KID's gap, which is the clients' alone: the same whatever is generated."""
    return _mean(each.draws, weights) - together.draws[:, 0]


def less_gap(each: NoiseColumn, gap: np.ndarray, weights: Sequence[float]) -> NoiseColumn:
    """Return the noise of KID-all, that of KID-avg less that of the gap."""
    made, centre = _mean(np.asarray(each.generated), weights), np.zeros(1)
    return NoiseColumn((_mean(each.draws, weights) - gap)[:, None], centre, ("",), made[:, None])


def _mean(draws: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Return Σ λ_i of the columns; what has no weight may be NaN."""
    counted = np.array(weights) > 0
    return np.asarray(draws[:, counted] @ np.array(weights)[counted])


@dataclass(frozen=True)
class CachedMultipliers(Multipliers):
    """The same normal numbers for every step, drawn once where there is room: steps are compared in pairs."""

    cache: dict[Any, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, compare=False, repr=False)

    def mean(self, influence_values: np.ndarray, party: Sequence[int]) -> np.ndarray:
        n = influence_values.shape[-1]
        if (key := (n, *party)) not in self.cache:
            if n < 2 or sum(xi.nbytes for xi, _ in self.cache.values()) + 8 * n * self.count > MAX_CACHED_BYTES:
                return super().mean(influence_values, party)
            rng = np.random.default_rng([self.seed, *party])
            xi = rng.standard_normal((n, self.count))
            self.cache[key] = xi, np.sqrt(rng.chisquare(n - 1, self.count) / (n - 1))
        xi, spread = self.cache[key]
        centred = (influence_values - influence_values.mean(axis=-1, keepdims=True)) / np.sqrt(n * (n - 1.0))
        return np.asarray(centred @ xi / spread)


def to_float32(draws: np.ndarray) -> np.ndarray:
    """Round to single precision, infinite beyond it."""
    with np.errstate(over="ignore"):
        return draws.astype(np.float32)


def _deviations(draws: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.std(draws, axis=0, ddof=1))


def draws_under_weights(
    weights: Sequence[float], by_client: np.ndarray | None, of_all: np.ndarray | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return (B,) draws of the noise of avg under weights, and of all; None of avg where none fit the clients."""
    if by_client is None or by_client.ndim != 2 or by_client.shape[1] not in (1, len(weights)):
        return None, of_all
    shares = np.array(weights) if by_client.shape[1] == len(weights) else np.ones(1)
    return by_client[:, shares > 0].astype(np.float64) @ shares[shares > 0], of_all


def standard_errors(of_avg: np.ndarray | None, of_all: np.ndarray | None) -> tuple[float, float, float]:
    """Return the standard errors of avg, all and gap from draws, NaN where there are none."""
    with np.errstate(invalid="ignore"):
        is_there = of_avg is not None and of_all is not None and of_avg.shape == of_all.shape
        between = of_avg - of_all if is_there else None  # type: ignore[operator]
    with np.errstate(over="ignore", invalid="ignore"):
        avg, together, gap = (
            np.nan if draws is None else float(np.std(draws, ddof=1)) for draws in (of_avg, of_all, between)
        )
    return avg, together, gap


class BiasedFID(FID):
    """FID with the influence values of the score as it is; those of `FID` itself are of the score without its bias.

    Steps on the same numbers of rows are compared by it. To first order in the moments, with T the optimal map from the
    real Gaussian to the generated one and T' its inverse,

        dFID = 2(μ − μ_G)·(dμ − dμ_G) + Tr (I − T) dC + Tr (I − T') dC_G,

    so a real row at x̃ from its mean has the influence value x̃ᵀ(I − T)x̃ + 2(μ − μ_G)·x̃. One singular value
    decomposition A Bᵀ = U S Vᵀ of the factors C = AᵀA, C_G = BᵀB gives both maps: T = BᵀV S⁻¹VᵀB, T' = AᵀU S⁻¹UᵀA.
    """

    def influence_values(self, real: Strata[Moments], generated: Strata[Moments]) -> InfluenceValues:
        """Return the score and the influence value of every row on both sides."""
        sides = real, generated
        roots = [_to_numpy(side.summary.root) for side in sides]
        means = [_to_numpy(side.summary.mean) for side in sides]
        left, values, right = np.linalg.svd(roots[0] @ roots[1].T, full_matrices=False)
        signal = values > MIN_SINGULAR_SHARE * values.max(initial=0.0)
        left, values, right = left[:, signal], values[signal], right[signal]
        # of the real rows T, from the generated factor; of the generated rows its inverse
        maps = [right @ roots[1] / np.sqrt(values)[:, None], left.T @ roots[0] / np.sqrt(values)[:, None]]
        shift = means[0] - means[1]
        parts = zip(sides, means, maps, (2.0, -2.0), strict=True)
        of_real, of_generated = (_influence_values(side, mean, onto, sign * shift) for side, mean, onto, sign in parts)
        return InfluenceValues(self.distance(real.summary, generated.summary), of_real, of_generated)


def _influence_values(side: Strata[Moments], mean: np.ndarray, onto: np.ndarray, slope: np.ndarray) -> Any:
    """Return x̃ᵀ(I − T)x̃ + slope·x̃ of the rows of each part, T = ontoᵀonto; None of a distribution.

    Parts of few rows are taken together.
    """
    parts, values = [rows for rows in side.rows if rows is not None], list[np.ndarray]()
    for some in stacks(parts):
        stacked = parts[some]
        rows = stacked[0] if len(stacked) == 1 else concat(stacked)
        ends = np.cumsum([len(part) for part in stacked])[:-1]
        values += np.split(_row_influence(rows, mean, onto, slope), ends)
    of_parts = iter(values)
    return tuple(None if rows is None else next(of_parts) for rows in side.rows)


def _row_influence(rows: Any, mean: np.ndarray, onto: np.ndarray, slope: np.ndarray) -> np.ndarray:
    values = np.empty(rows.shape[0])
    for block in row_blocks(rows.shape[0], 24 * rows.shape[1]):
        x = _to_numpy(rows[block, :]) - mean
        values[block] = np.sum(x * x, axis=1) - np.sum((x @ onto.T) ** 2, axis=1) + x @ slope
    return values


def _to_numpy(a: Any) -> np.ndarray:
    return np.asarray(to_numpy(to_float64(a)))
