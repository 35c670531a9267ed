"""Sums of rows about a centre, which add up over batches and processes: what is reduced by a plain sum.

With u = x − c the vector of one party is n, Σ u and Σ u uᵀ, float64. The centre c is one for all parties and near the
rows, so no digit is lost to an offset that is large beside the spread. Where two processes began with centres of their
own, the sums move exactly: u′ = u − δ for c′ = c + δ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, cholesky, concat, namespace, scatter, to_float64
from .moments import Moments

# Of numbers scaled to 1: sums about a centre 10⁴ spreads away that were moved near have lost 1e-8.
ROUNDING = 1e-6


def deviations(rows: Array, centre: Array) -> Array:
    """x − c in float64, (n, d)."""
    return to_float64(rows) - centre[None, :]


def first_sums(rows: Array, centre: Array) -> Array:
    """n and Σ u, (1 + d,)."""
    xp = namespace(rows)
    sums = xp.sum(deviations(rows, centre), axis=0)
    return concat([sums[:1] * 0.0 + rows.shape[0], sums])


def moments_fault(count: float, first: np.ndarray, products: np.ndarray) -> str:
    """Return why no `count` rows have Σ u (d,) and Σ u uᵀ (d, d), or "": with n they make a Gram matrix."""
    gram = np.block([[np.full((1, 1), count), first[None, :]], [first[:, None], products]])
    squares = np.diagonal(gram)
    scales = np.sqrt(np.where(squares > 0.0, squares, 1.0))
    with np.errstate(all="ignore"):
        gram = gram / scales[:, None] / scales
    # by Cauchy and Schwarz, which numbers that overflowed do not fulfil either
    is_bounded = squares.min() >= 0.0 and bool(np.abs(gram).max() <= 1.0 + ROUNDING)
    is_symmetric = is_bounded and np.abs(gram - gram.T).max() <= ROUNDING
    gram.flat[:: len(gram) + 1] += ROUNDING
    if is_symmetric and cholesky(gram) is not None:
        return ""
    return "second moments that are not symmetric, or have a negative eigenvalue"


@dataclass(frozen=True)
class MomentSums:
    """n, Σ u and Σ u uᵀ of rows of `dim` features: the mean and the covariance, so FID's summary."""

    dim: int

    @property
    def length(self) -> int:
        """Numbers of one party."""
        return 1 + self.dim + self.dim**2

    def of_rows(self, rows: Array, centre: Array) -> Array:
        """The sums of rows (n, d), (length,)."""
        products = namespace(rows).reshape(scatter(rows, centre), (-1,))
        return concat([first_sums(rows, centre), products])

    def moved(self, sums: Array, centre: Array, shift: Array) -> Array:
        """The same sums about a centre farther by `shift`, (d,)."""
        count, first, products = self._split(sums)
        outer = first[:, None] * shift[None, :]
        squares = count * shift[:, None] * shift[None, :]
        moved = namespace(sums).reshape(products - outer - outer.T + squares, (-1,))
        return concat([sums[:1], first - count * shift, moved])

    def summary(self, sums: np.ndarray, centre: np.ndarray) -> Moments:
        """Mean and covariance (ddof 1) of n ≥ 1 rows."""
        count, first, products = self._split(sums)
        cov = (products + products.T) / 2.0
        cov -= first[:, None] * first[None, :] / count
        return Moments(count, centre + first / count, None, cov / max(count - 1.0, 1.0))

    def fault(self, sums: np.ndarray, centre: np.ndarray) -> str:
        """Return why no rows have these sums, or ""."""
        return moments_fault(*self._split(sums))

    def _split(self, sums: Array) -> tuple[float, Array, Array]:
        products = namespace(sums).reshape(sums[1 + self.dim :], (self.dim, self.dim))
        return float(sums[0]), sums[1 : 1 + self.dim], products
