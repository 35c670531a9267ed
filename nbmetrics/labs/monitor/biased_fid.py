"""Influence values of the FID without its bias correction: steps on the same numbers of rows are compared by it.

To first order in the moments, with T the optimal map from the real Gaussian to the generated one and T' its inverse,

    dFID = 2(μ − μ_G)·(dμ − dμ_G) + Tr (I − T) dC + Tr (I − T') dC_G,

so a real row at x̃ from its mean has the influence value x̃ᵀ(I − T)x̃ + 2(μ − μ_G)·x̃. One singular value decomposition
A Bᵀ = U S Vᵀ of the factors C = AᵀA, C_G = BᵀB gives both maps: T = BᵀV S⁻¹VᵀB and T' = AᵀU S⁻¹UᵀA.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import row_blocks, to_float64, to_numpy
from ...metrics.fid.metric import FID
from ...metrics.stratified import InfluenceValues, Strata
from ...summaries.moments import Moments

# Features beyond which a decomposition takes seconds.
MAX_BIASED_FID_FEATURES = 512
# Directions whose singular value is below this share of the largest are rounding.
MIN_SINGULAR_SHARE = 1e-12


class BiasedFID(FID):
    """FID with the influence values of the score as it is; those of `FID` itself are of the score without its bias."""

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
    """Return x̃ᵀ(I − T)x̃ + slope·x̃ of the rows of each part, T = ontoᵀonto; None of a distribution."""
    return tuple(None if rows is None else _row_influence(rows, mean, onto, slope) for rows in side.rows)


def _row_influence(rows: Any, mean: np.ndarray, onto: np.ndarray, slope: np.ndarray) -> np.ndarray:
    values = np.empty(rows.shape[0])
    for block in row_blocks(rows.shape[0], 24 * rows.shape[1]):
        x = _to_numpy(rows[block, :]) - mean
        values[block] = np.sum(x * x, axis=1) - np.sum((x @ onto.T) ** 2, axis=1) + x @ slope
    return values


def _to_numpy(a: Any) -> np.ndarray:
    return np.asarray(to_numpy(to_float64(a)))
