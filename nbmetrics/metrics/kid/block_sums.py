"""Sums of a kernel over pairs of rows: the one place where a block of k becomes numbers, in memory or from streams.

A block is k of some rows x with some rows y, (n, m). Of it are taken its sum, the sums of the cells that parts cut it
into, its weighted row sums, or one weighted sum a replicate. Pairs of two streams: a large block of the one is held
while the other goes by, so the passes are as few as the memory limit allows, in whatever order a pass gives the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import (
    Array,
    align,
    concat,
    like,
    memory,
    namespace,
    to_float64,
    to_numpy,
    uniform_blocks,
)
from ...distributions import Gaussian
from ...summaries.stream import Stream

# Rows of a block on either side.
BLOCK_ROWS = 1024
# Of `memory.block_bytes`: rows of a stream that are held, and rows that go by; prepared rows.
HELD_SHARE, PASSING_SHARE, PREPARED_SHARE = 2.0, 0.25, 1.0


def pair_sum(kernel: Any, x: Array, y: Array, is_float32: bool) -> float:
    """Return Σ k(x_a, y_b) over all pairs of rows, each pair computed once where y is x.

    k is computed in the type of the rows where `is_float32`, else in float64; sums are float64.
    """
    step = min(BLOCK_ROWS, math.isqrt(int(memory.block_bytes / 8)))
    held_rows = step * max(1, int(PREPARED_SHARE * memory.block_bytes // (8 * step * x.shape[1])))

    def prepared(rows: Array) -> Iterator[Any]:
        for block in uniform_blocks(rows.shape[0], step):
            part = rows[block, :]
            yield kernel.prepare(part if is_float32 else to_float64(part), [part.shape[0]])

    sums = []
    for i in uniform_blocks(x.shape[0], held_rows):
        held = list(prepared(x[i, :]))
        if y is x:
            sums += [kernel.cell_sums(p, p) for p in held]
            sums += [2.0 * kernel.cell_sums(p, q) for k, p in enumerate(held) for q in held[:k]]
        times, others = (2.0, x[i.stop :, :]) if y is x else (1.0, y)
        sums += [times * kernel.cell_sums(p, q) for q in prepared(others) for p in held]
    return math.fsum(float(s[0, 0]) for s in sums)


def blocks(kernel: Any, x: Array, y: Array) -> Iterator[tuple[slice, slice, Array]]:
    """Yield k of every row of x with every row of y, block by block, in float32 where that is exact enough."""
    as_float = (lambda rows: rows) if kernel.is_single(x, y) else to_float64
    for i in uniform_blocks(x.shape[0], BLOCK_ROWS):
        for j in uniform_blocks(y.shape[0], BLOCK_ROWS):
            yield i, j, kernel.block(as_float(x[i, :]), as_float(y[j, :]))


def cell_means(kernel: Any, xs: Sequence[Array], ys: Sequence[Array]) -> np.ndarray:
    """Return the mean of k over each of the parts xs with each of ys, (parts, parts): both are stacked first."""
    if len(xs) == len(ys) == 1:
        return np.array([[kernel.mean(xs[0], ys[0])]])
    heights, widths = ([len(part) for part in parts] for parts in (xs, ys))
    x, y = align(*(parts[0] if len(parts) == 1 else concat(parts) for parts in (xs, ys)))
    as_float = (lambda rows: rows) if kernel.is_single(x, y) else to_float64
    sums = np.zeros((len(xs), len(ys)))
    for left, sizes in _pieces(x, heights):  # more than one only where a part is alone in its stack
        p = kernel.prepare(as_float(left), sizes)
        for right, others in _pieces(y, widths):
            sums += kernel.cell_sums(p, kernel.prepare(as_float(right), others))
    return sums / np.outer(np.array(heights), np.array(widths))


def _pieces(rows: Array, sizes: Sequence[int]) -> Iterator[tuple[Array, list[int]]]:
    """Yield blocks of the rows with the sizes of their parts: the rows of several parts are one block."""
    for block in uniform_blocks(rows.shape[0], rows.shape[0] if len(sizes) > 1 else BLOCK_ROWS):
        yield rows[block, :], list(sizes) if len(sizes) > 1 else [block.stop - block.start]


def membership(sizes: Sequence[int], other: Array) -> Array:
    """Return (n, parts) 1 where the row is of the part, else 0, in the type and on the device of another array."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return namespace(other).astype(like(owner[:, None] == np.arange(len(sizes)), other), other.dtype)


@dataclass(frozen=True, eq=False)
class PartedRows:
    """Rows of parts of these sizes, one below the other."""

    rows: Array
    sizes: Sequence[int]


def block_cell_sums(kernel: Any, x: PartedRows, y: PartedRows) -> np.ndarray:
    """Return float64 sums of k over the pairs of every part of x with every part of y."""
    block = kernel.block(x.rows, y.rows)
    xp = namespace(block)
    ends = np.cumsum(y.sizes).tolist()
    columns = [xp.sum(block[:, b - w : b], axis=1, dtype=xp.float64) for b, w in zip(ends, y.sizes, strict=True)]
    sums = xp.stack(columns, axis=1)
    if isinstance(sums, np.ndarray):
        return np.add.reduceat(sums, np.cumsum([0, *x.sizes[:-1]]), axis=0)
    return to_numpy(membership(x.sizes, sums).T @ sums)


def weighted_row_sums(kernel: Any, x: Array, y: Array, weights: np.ndarray) -> np.ndarray:
    """Return Σ_b w_b k(x_a, y_b) for each row x_a, (n,) float64."""
    sums = np.zeros(x.shape[0])
    for _ in add_row_sums(kernel, x, y, weights, sums):
        pass
    return sums


def add_row_sums(kernel: Any, x: Array, y: Array, weights: np.ndarray, sums: np.ndarray) -> Iterator[None]:
    """Add Σ_b w_b k(x_a, y_b) of each row x_a to `sums`, one block at a step."""
    weights_of_y = like(weights, y)
    for i, j, block in blocks(kernel, x, y):
        sums[i] += to_numpy(to_float64(block) @ weights_of_y[j])
        yield


def add_sums_of_both(
    kernel: Any, x: Array, y: Array, weights: tuple[np.ndarray, np.ndarray], sums: tuple[np.ndarray, np.ndarray]
) -> Iterator[None]:
    """Add Σ_b w_b k(x_a, y_b) of each row of x, and Σ_a v_a k(x_a, y_b) of each row of y; v and w are `weights`."""
    weights_of_x, weights_of_y = like(weights[0], x), like(weights[1], y)
    for i, j, block in blocks(kernel, x, y):
        wide = to_float64(block)
        sums[0][i] += to_numpy(wide @ weights_of_y[j])
        sums[1][j] += to_numpy(weights_of_x[i] @ wide)
        yield


def replicate_sums(kernel: Any, x: Array, y: Array, weights_of_x: np.ndarray, weights_of_y: np.ndarray) -> np.ndarray:
    """Return Σ_ab v_a w_b k(x_a, y_b) of each replicate, (replicates,); weights (replicates, n) and (replicates, m)."""
    x, y = align(x, y)
    sums = np.zeros(len(weights_of_x))
    for i in uniform_blocks(x.shape[0], BLOCK_ROWS):
        for j in uniform_blocks(y.shape[0], BLOCK_ROWS):
            block = to_float64(kernel.block(x[i, :], y[j, :]))
            left = like(weights_of_x[:, i], block) @ block
            sums += to_numpy(namespace(left).vecdot(left, like(weights_of_y[:, j], left)))
    return sums


def stacks(parts: Sequence[Array]) -> list[slice]:
    """Return slices of parts with at most BLOCK_ROWS rows together, or one part."""
    cuts, size = [0], 0
    for position, part in enumerate(parts):
        if size and size + part.shape[0] > BLOCK_ROWS:
            cuts.append(position)
            size = 0
        size += part.shape[0]
    return [slice(a, b) for a, b in zip(cuts, [*cuts[1:], len(parts)], strict=True) if b > a]


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """What a kernel part keeps of rows that are read again for every mean.

    Attributes
    ----------
    stream, count : the rows, and how many they are
    is_float32 : whether all are float32, and float32 is exact enough for them
    mean_omission : see `KernelPart`
    """

    stream: Stream
    count: int
    is_float32: bool
    mean_omission: float

    @property
    def dim(self) -> int:
        return self.stream.dim

    @property
    def nbytes(self) -> int:
        """The bytes of the rows, which a client would have to reveal."""
        return self.count * self.dim * (4 if self.is_float32 else 8)

    def block_rows(self, share: float, single: bool = False) -> int:
        """Return the rows of a block that takes this share of `memory.block_bytes`, in float32 where `single`."""
        return max(1, int(share * memory.block_bytes // ((4 if single else 8) * self.dim)))

    def blocks(self, share: float, single: bool = False) -> Iterator[np.ndarray]:
        """Return all rows in blocks of that size."""
        return self.stream.batches(self.block_rows(share, single))


def stream_content(kernel: Any, stream: Stream) -> tuple[StreamedRows, float, float]:
    """Return what a part keeps of a stream, its count, and the mean of k(x, x), by one pass."""
    count, diagonal, omission, is_float32 = 0, 0.0, 0.0, True
    for block in stream.batches(max(1, int(PASSING_SHARE * memory.block_bytes // (8 * stream.dim)))):
        n = len(block)
        count += n
        is_float32 = is_float32 and kernel.kept(block).dtype == np.float32
        with np.errstate(all="ignore"):
            diagonal += kernel.diagonal(block) * n
            omission += kernel.mean_omission(block) * n
    content = StreamedRows(stream, count, is_float32, omission / count)
    return content, count, kernel.finite(lambda: diagonal / count)


def stream_mean(kernel: Any, a: Any, b: Any) -> float:
    """Return the mean of k over two parts, at least one of them a stream."""
    if not isinstance(a, StreamedRows):
        a, b = b, a
    if isinstance(b, Gaussian):
        sums = [float(np.sum(kernel.point_means(block, b))) for block in a.blocks(PASSING_SHARE)]
        return math.fsum(sums) / a.count
    rows = None if isinstance(b, StreamedRows) else to_numpy(b)
    m = b.count if rows is None else len(rows)
    is_other_float32 = b.is_float32 if rows is None else rows.dtype == np.float32
    single = a.is_float32 and is_other_float32 and kernel.is_large(a.count * m * a.dim)
    prepare = (lambda block: block.astype(np.float32, copy=False)) if single else to_float64
    if a is b and a.stream.is_sliceable:
        return _own_pair_sum(kernel, a, single, prepare) / (a.count * m)
    if rows is not None:  # in memory, and converted tile by tile
        sums = [pair_sum(kernel, prepare(x), rows, single) for x in a.blocks(PASSING_SHARE, single)]
    else:
        held = map(prepare, a.blocks(HELD_SHARE, single))
        sums = [pair_sum(kernel, x, prepare(y), single) for x in held for y in b.blocks(PASSING_SHARE, single)]
    return math.fsum(sums) / (a.count * m)


def _own_pair_sum(kernel: Any, rows: StreamedRows, single: bool, prepare: Any) -> float:
    """Return Σ k over all pairs of rows of a stream that can be read from any place: each pair of two rows once."""
    sums, start, step = [], 0, rows.block_rows(PASSING_SHARE, single)
    for held in map(prepare, rows.blocks(HELD_SHARE, single)):
        sums.append(pair_sum(kernel, held, held, single))
        start += len(held)
        later = rows.stream.batches_from(start, step)
        sums += [2.0 * pair_sum(kernel, held, prepare(block), single) for block in later]
    return math.fsum(sums)
