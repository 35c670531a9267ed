"""How each row pulls on KID: its influence values, twice the difference of two kernel means at the row.

A row x of a client adds 2(E k(x, X′) − E k(x, Y)) to first order, a generated one 2(E k(y, Y′) − E k(y, X)). The mean
over the row's own side leaves out the row itself where KID is unbiased.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import to_float64, to_numpy
from ...summaries.kernel_mean import KernelMean
from ..memo import remember
from ..strata import Pulls, Strata


def kernel_pulls(kernel: Any, unbiased: bool, value: float, real: Strata[Any], generated: Strata[Any]) -> Pulls:
    """The pulls of all rows of both sides on the KID `value`."""
    of_real = _of_side(kernel, unbiased, real, generated.summary)
    return Pulls(value, of_real, _of_side(kernel, unbiased, generated, real.summary))


def _of_side(kernel: Any, unbiased: bool, side: Strata[Any], other: KernelMean) -> tuple[np.ndarray | None, ...]:
    parts = list(zip(side.rows, side.shares, strict=True))
    means = remember(side, "own means", lambda: [_own_means(kernel, unbiased, side, *part) for part in parts])
    return tuple(
        None if rows is None else 2.0 * (own - other.row_means(rows))
        for rows, own in zip(side.rows, means, strict=True)
    )


def _own_means(kernel: Any, unbiased: bool, side: Strata[Any], rows: Any, share: float) -> np.ndarray | None:
    """E k(x, X′) over the row's own side."""
    if rows is None:
        return None
    means = side.summary.row_means(rows)
    if not unbiased:
        return means
    weight = share / rows.shape[0]
    wide = to_float64(rows)
    return (means - weight * to_numpy(kernel.paired(wide, wide))) / (1.0 - weight)
