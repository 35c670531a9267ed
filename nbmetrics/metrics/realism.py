"""Realism of each generated row: how deep it lies in the balls around real rows (Kynkäänniemi et al. 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import (
    Array,
    align,
    as_rows,
    host_view,
    like,
    namespace,
    row_blocks,
    squared_distances,
    take_rows,
    to_float64,
    to_numpy,
)
from ..errors import check_count
from ..tables import check_frames
from .nearest_neighbors import CACHE_BYTES, Distinct, direct, kth_within

# Of the squared radii: how exactly distances are known among which the best ball is chosen; it is then measured anew.
EXACT = 1e-9


def realism(real: Any, generated: Any, k: int = 3) -> Array:
    """R(y) = max over real rows x of (distance of x to its k-th neighbour) / ‖x − y‖ (Kynkäänniemi et al. 2019).

    Only the half of the real rows with the smaller radii counts, so that outliers with wide balls make nothing real.
    R ≥ 1 where y lies in one of their balls: precision (inclusive) is the share of that, but for the half left out.

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch, n ≥ k + 1)
    k : neighbours that make the radius of a ball, the row itself not counted; 3 in the paper

    Returns
    -------
    (m,) float64 in the library of the rows, ≥ 0; higher is more real, infinite for a copy of a row that counts

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, or fewer than k + 1 real rows.

    Examples
    --------
    >>> nm.realism([[0.0], [1.0], [2.0], [3.0], [10.0]], [[2.5], [7.0]], k=1)
    array([2.  , 0.25])
    """
    check_frames(real=real, generated=generated)
    k = check_count(k, "k")
    first = as_rows(real, "real", min_rows=k + 1)
    x, y = align(first, as_rows(generated, "generated", dim=first.shape[1]))
    squared = kth_within(Distinct.of(x), k).squared
    kept = squared <= np.median(squared)
    x, squared = take_rows(x, np.flatnonzero(kept)), squared[kept]
    ratios = [_best(x, squared, y[block, :]) for block in row_blocks(y.shape[0], 32 * x.shape[0], CACHE_BYTES)]
    return like(np.sqrt(np.concatenate(ratios)), y)


def _best(x: Array, squared: np.ndarray, y: Array) -> np.ndarray:
    """The largest squared radius over squared distance of each row of y, (m,)."""
    apart = squared_distances(to_float64(y), to_float64(x), EXACT * float(np.max(squared)))
    xp = namespace(apart)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = like(squared, apart) / apart
        finite = xp.clip(ratio, None, float(np.finfo(np.float64).max))
        which = to_numpy(xp.argmax(xp.where(xp.isnan(ratio), xp.inf, finite), axis=1))  # 0/0 comes before 1/0
        distance = direct(host_view(y), host_view(x), np.arange(len(which)), which)
        return np.where(distance > 0.0, squared[which] / distance, np.inf)
