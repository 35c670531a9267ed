"""How each row pulls on KID: its influence values, twice the difference of two kernel means at the row.

A row x of a client adds 2(E k(x, X′) − E k(x, Y)) to first order, a generated one 2(E k(y, Y′) − E k(y, X)). The mean
over the row's own side leaves out the row itself where KID is unbiased: of pooled clients, which are strata then, the
mean over its own client is that over the client's other rows.

These means are computed block by block, k of every pair of rows once for both sides; by `KernelMean.row_means` where
embeddings are quicker, and where they are not finite, which it refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array, align, concat, row_blocks, to_float64, to_numpy
from ...summaries.kernel_mean import KernelMean
from ..stratified import InfluenceValues, Pieces, Strata
from ..weak_cache import remember
from .block_sums import add_row_sums, add_sums_of_both, stacks

# Of each part its rows' means, None for a distribution.
Means = Sequence[np.ndarray | None]


def kernel_influence_values(
    kernel: Any, unbiased: bool, value: float, real: Strata[Any], generated: Strata[Any]
) -> Pieces[InfluenceValues]:
    """The pulls of all rows of both sides on the KID `value`, in pieces."""
    own = []
    for side in (real, generated):
        own.append((yield from _own_means(kernel, unbiased, side)))
    crosses = None
    if len(generated.rows) == 1 and _take_pairs(kernel, real, generated):
        crosses = yield from _cross_pieces(kernel, real, generated)
    if crosses is None:
        crosses = _means_at(generated.summary, real.rows), _means_at(real.summary, generated.rows)
    of_real, of_generated = (
        tuple(None if a is None else 2.0 * (a - b) for a, b in zip(*both, strict=True))
        for both in zip(own, crosses, strict=True)
    )
    return InfluenceValues(value, of_real, of_generated)


def _own_means(kernel: Any, unbiased: bool, side: Strata[Any]) -> Pieces[Means]:
    """E k(x, X′) over the row's own side, kept with its summary."""
    cache: list[Means] = remember(side.summary, ("own means", unbiased), list)
    if not cache:
        means = (yield from _own_pieces(kernel, side)) if _take_pairs(kernel, side, side) else None
        if means is None:
            means = _means_at(side.summary, side.rows)
        if unbiased and len(side.rows) == 1:
            means = [None if own is None else _without_self(kernel, own, side.rows[0]) for own in means]
        elif unbiased:
            means = yield from _with_strata(kernel, side, means)
        cache.append(means)
    return cache[0]


def _with_strata(kernel: Any, side: Strata[Any], means: Means) -> Pieces[Means]:
    """The means over all parts, with that over the row's own part taken over its other rows."""
    corrected: list[np.ndarray | None] = []
    for own, part, rows, share in zip(means, side.parts, side.rows, side.shares, strict=True):
        if own is None or rows is None:
            corrected.append(None)
            continue
        (others,) = yield from _own_means(kernel, True, Strata.of(part, rows))
        selves, pull = _at_selves(kernel, rows)
        corrected.append(own + share / rows.shape[0] * (others - selves - pull + pull.mean()))
    return corrected


def _take_pairs(kernel: Any, side: Strata[Any], other: Strata[Any]) -> bool:
    """Whether the means of both sides are taken over the pairs of their rows as given: they are exact so, and quick."""
    contents = [[rows for rows in of.rows if rows is not None] for of in (side, other)]
    if not all(contents) or any(kernel.kept(rows).dtype != rows.dtype for rows in (*contents[0], *contents[1])):
        return False
    n, m = (sum(rows.shape[0] for rows in of) for of in contents)
    return bool(kernel.takes_pairs(n, m, contents[0][0].shape[1]))


def _own_pieces(kernel: Any, side: Strata[Any]) -> Pieces[Means | None]:
    """The means of a side at its own rows, None where they are not finite."""
    parts = [rows for rows in side.rows if rows is not None]
    means_of_parts = []
    for some in stacks(parts):
        x = concat(parts[some])
        sums = _over_distributions(side, x)
        for others in stacks(parts):
            y, each = _stack(side, others)
            first, second = align(x, y)
            yield from add_row_sums(kernel, first, second, each, sums)
        means_of_parts += np.split(sums, _ends(parts[some]))
    if not all(np.isfinite(means).all() for means in means_of_parts):
        return None
    return _beside_distributions(side, means_of_parts)


def _cross_pieces(kernel: Any, real: Strata[Any], generated: Strata[Any]) -> Pieces[tuple[Means, Means] | None]:
    """The means over each side at the rows of the other, None where they are not finite."""
    y, often = _stack(generated, slice(None))
    parts = [rows for rows in real.rows if rows is not None]
    at_generated, at_real = _over_distributions(real, y), []
    for some in stacks(parts):
        x, each = _stack(real, some)
        sums = np.zeros(len(x))
        first, second = align(x, y)
        yield from add_sums_of_both(kernel, first, second, (each, often), (sums, at_generated))
        at_real += np.split(sums, _ends(parts[some]))
    if not all(np.isfinite(means).all() for means in (*at_real, at_generated)):
        return None
    return _beside_distributions(real, at_real), [at_generated]


def _stack(side: Strata[Any], some: slice) -> tuple[Array, np.ndarray]:
    """The rows of some of its parts that have rows, one below the other, and the weight of each."""
    parts = [(rows, w) for rows, w in zip(side.rows, side.shares, strict=True) if rows is not None][some]
    return concat([x for x, _ in parts]), np.concatenate([np.full(len(x), w / len(x)) for x, w in parts])


def _over_distributions(side: Strata[Any], rows: Array) -> np.ndarray:
    """What the distributions among its parts add to its means at rows."""
    means = np.zeros(rows.shape[0])
    for part, own, share in zip(side.parts, side.rows, side.shares, strict=True):
        if own is None:
            means += share * part.row_means(rows)
    return means


def _beside_distributions(side: Strata[Any], means_of_rows: Sequence[np.ndarray]) -> Means:
    """Those of the parts with rows in the places of these parts."""
    means = iter(means_of_rows)
    return [None if rows is None else next(means) for rows in side.rows]


def _ends(parts: Sequence[Array]) -> np.ndarray:
    return np.cumsum([len(rows) for rows in parts])[:-1]


def _means_at(mean: KernelMean, every: Sequence[Array | None]) -> list[Any]:
    """E k(x, Y) at the rows of several parts, None for a distribution; parts of few rows are taken together."""
    parts = [rows for rows in every if rows is not None]
    means_of_parts: list[np.ndarray] = []
    for some in stacks(parts):
        means_of_parts += np.split(mean.row_means(concat(parts[some])), _ends(parts[some]))
    means = iter(means_of_parts)
    return [None if rows is None else next(means) for rows in every]


def _without_self(kernel: Any, means: np.ndarray, rows: Array) -> np.ndarray:
    """The means over all rows of a part, (n,), without the pair of each row with itself.

    What the kernel leaves out at each row (`Kernel.omission`) is of that pair too: without it a centred kernel and the
    full one would differ by more than a constant.
    """
    n = rows.shape[0]
    selves, pull = _at_selves(kernel, rows)
    with np.errstate(divide="ignore", invalid="ignore"):  # a row alone has no other
        return np.asarray((n * means - selves - pull + pull.mean()) / (n - 1.0))


def _at_selves(kernel: Any, rows: Array) -> tuple[np.ndarray, np.ndarray]:
    """k(x, x) and what the kernel leaves out, `Kernel.omission`, at each row."""
    blocks = [to_float64(rows[block, :]) for block in row_blocks(rows.shape[0], 16 * rows.shape[1])]
    selves = np.concatenate([to_numpy(kernel.elementwise(wide, wide)) for wide in blocks])
    return selves, np.concatenate([kernel.omission(wide) for wide in blocks])
