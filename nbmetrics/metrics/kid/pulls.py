"""How each row pulls on KID: its influence values, twice the difference of two kernel means at the row.

A row x of a client adds 2(E k(x, X′) − E k(x, Y)) to first order, a generated one 2(E k(y, Y′) − E k(y, X)). The mean
over the row's own side leaves out the row itself where KID is unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array, concat, row_blocks, to_float64, to_numpy
from ...summaries.kernel_mean import KernelMean
from ..memo import remember
from ..strata import Pulls, Strata
from .batches import stacks


def kernel_pulls(kernel: Any, unbiased: bool, value: float, real: Strata[Any], generated: Strata[Any]) -> Pulls:
    """The pulls of all rows of both sides on the KID `value`."""
    of_real = _of_side(kernel, unbiased, real, generated.summary)
    return Pulls(value, of_real, _of_side(kernel, unbiased, generated, real.summary))


def _of_side(kernel: Any, unbiased: bool, side: Strata[Any], other: KernelMean) -> tuple[np.ndarray | None, ...]:
    own = remember(side, "own means", lambda: _own_means(kernel, unbiased, side))
    cross = _means_at(other, side.rows)
    return tuple(None if a is None else 2.0 * (a - b) for a, b in zip(own, cross, strict=True))


def _means_at(mean: KernelMean, every: Sequence[Array | None]) -> list[Any]:
    """E k(x, Y) at the rows of several parts, None for a law; parts of few rows are taken together."""
    given = [rows for rows in every if rows is not None]
    found: list[np.ndarray] = []
    for some in stacks(given):
        ends = np.cumsum([len(rows) for rows in given[some]])[:-1]
        found += np.split(mean.row_means(concat(given[some])), ends)
    means = iter(found)
    return [None if rows is None else next(means) for rows in every]


def _own_means(kernel: Any, unbiased: bool, side: Strata[Any]) -> list[np.ndarray | None]:
    """E k(x, X′) over the row's own side."""
    means = _means_at(side.summary, side.rows)
    every = zip(means, side.rows, side.shares, strict=True)
    return [None if rows is None else _without_self(kernel, unbiased, own, rows, w) for own, rows, w in every]


def _without_self(kernel: Any, unbiased: bool, means: np.ndarray, rows: Array, share: float) -> np.ndarray:
    """The means without the pair of each row with itself, where KID is unbiased."""
    if not unbiased:
        return means
    weight = share / rows.shape[0]
    blocks = (to_float64(rows[block, :]) for block in row_blocks(rows.shape[0], 16 * rows.shape[1]))
    own = np.concatenate([to_numpy(kernel.paired(wide, wide)) for wide in blocks])
    return (means - weight * own) / (1.0 - weight)
