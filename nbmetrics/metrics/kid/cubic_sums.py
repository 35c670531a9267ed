"""Sums of a cubic kernel over pairs of rows, at little more than the price of their matrix product.

With u = √γ (x − c), v = √γ (y − c), t = u·v, a = √γ c·u, b = √γ c·v and β = coef0 + γ|c|², the kernel about c is

    (β + a + b + t)³ − (β + a)³ − (β + b)³ + β³ = t² (t + 3(β + a + b)) + 3 (β + a + b)² t + 3ab (2β + a + b).

Only the first term is summed pair by pair. The sums of the others over all pairs of two parts are products of the
moments Σ aᵏ u and Σ aᵏ of each part, k ≤ 2, and keep their digits where β is large. In float32 a sum of the first term
over a block is off by about 10⁻⁷ of the sum of its absolute values; errors of different blocks are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, is_on_host, namespace, product, to_float64, to_numpy, uniform_blocks
from .block_sums import membership

# Numbers of a strip of pairs, which stays in the cache of a core while its powers are summed; a GPU takes one strip.
STRIP_NUMBERS = 2**17


@dataclass(frozen=True, eq=False)
class CubicRows:
    """Rows of several parts about a centre, ready for sums over their pairs with other such rows.

    Attributes
    ----------
    rows : (n, d) u, in the type of the rows
    along : (n,) a, float64
    membership : (n, parts) 1 where the row is of the part, else 0, in the type of the rows
    moments : (3, parts, d) Σ aᵏ u, float64
    powers : (3, parts) Σ aᵏ, float64
    """

    rows: Array
    along: Array
    membership: Array
    moments: Array
    powers: np.ndarray

    @classmethod
    def of(cls, rows: Array, along: Array, sizes: Sequence[int]) -> CubicRows:
        """Return rows u and their a, (n,), of parts of these sizes, one below the other."""
        xp = namespace(rows)
        owners, along = membership(sizes, rows), to_float64(along)
        weights = xp.stack([along**0, along, along * along])[:, :, None] * to_float64(owners)[None]
        flat = xp.reshape(xp.permute_dims(weights, (0, 2, 1)), (-1, rows.shape[0]))
        moments = to_float64(product(xp.astype(flat, rows.dtype), rows))
        return cls(
            rows,
            along,
            owners,
            xp.reshape(moments, (3, len(sizes), rows.shape[1])),
            to_numpy(xp.sum(weights, axis=1)),
        )


def cubic_cell_sums(x: CubicRows, y: CubicRows, base: float) -> np.ndarray:
    """Return the sums of the kernel over the pairs of every part of x with every part of y, float64; β is `base`."""
    return _sums_of_powers(x, y, base) + _sums_of_moments(x, y, base)


def _sums_of_powers(x: CubicRows, y: CubicRows, base: float) -> np.ndarray:
    """Return Σ t² (t + 3(β + a + b)) of every two parts."""
    xp, parts = namespace(x.rows), y.membership.shape[1]
    weighted = xp.astype(y.along, y.rows.dtype)[:, None] * y.membership
    columns = xp.concat([y.membership, weighted], axis=1)
    t = product(x.rows, y.rows.T)
    sums = []
    strip_rows = STRIP_NUMBERS // t.shape[1] if is_on_host(t) else t.shape[0]
    for strip in uniform_blocks(t.shape[0], max(1, strip_rows)):
        power = t[strip, :] * t[strip, :]
        squares = to_float64(product(power, columns))
        power *= t[strip, :]
        cubes = to_float64(product(power, y.membership))
        slopes = 3.0 * (base + x.along[strip, None])
        sums.append(cubes + slopes * squares[:, :parts] + 3.0 * squares[:, parts:])
    return to_numpy(to_float64(x.membership).T @ xp.concat(sums))


def _sums_of_moments(x: CubicRows, y: CubicRows, base: float) -> np.ndarray:
    """Return Σ 3 (β + a + b)² t + 3ab (2β + a + b) of every two parts."""
    u, v = x.moments, y.moments
    linear = (
        base * base * u[0] @ v[0].T
        + 2.0 * base * (u[1] @ v[0].T + u[0] @ v[1].T)
        + u[2] @ v[0].T
        + 2.0 * u[1] @ v[1].T
        + u[0] @ v[2].T
    )
    a, b = x.powers[:, :, None], y.powers[:, None, :]
    return 3.0 * (to_numpy(linear) + 2.0 * base * a[1] * b[1] + a[2] * b[1] + a[1] * b[2])
