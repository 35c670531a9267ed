"""Kernel means of streams: by one pass where the kernel has an embedding, else over blocks of pairs, by several.

Pairs of two streams: a large block of the one is held while the other goes by, so the passes are as few as the memory
limit allows, and it does not matter in which order a pass gives the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import memory, to_float64, to_numpy
from ...distributions import Gaussian
from ...summaries.kernel_mean import KernelMean, KernelPart
from ...summaries.stream import Stream
from .embedding import Embedding

# Of `memory.block_bytes`: rows that are held, and rows that go by.
HELD, PASSING = 2.0, 0.25


class KernelFold:
    """The kernel mean of rows that come in blocks, for a kernel with an embedding."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.count = kernel, 0
        self._vector: Any = 0.0
        self._diagonal = 0.0

    def take(self, rows: np.ndarray) -> None:
        n = rows.shape[0]
        self.count += n
        with np.errstate(all="ignore"):  # what overflows is told at the end
            self._vector = self._vector + self.kernel.sum_of_features(rows, np.ones(n))
            self._diagonal += self.kernel.diagonal(rows) * n

    def end(self) -> KernelMean:
        content = Embedding(self.kernel.finite(lambda: self._vector / self.count))
        diagonal = self.kernel.finite(lambda: self._diagonal / self.count)
        return KernelMean((KernelPart(self.kernel, content, self.count, diagonal),), (1.0,))


@dataclass(frozen=True, eq=False)
class Streamed:
    """What a kernel part keeps of rows that are read again for every mean.

    Attributes
    ----------
    stream, count : the rows, and how many they are
    is_single : whether all are float32, and float32 is exact enough for them
    lean : see `KernelPart`
    """

    stream: Stream
    count: int
    is_single: bool
    lean: float

    @property
    def dim(self) -> int:
        return self.stream.dim

    @property
    def nbytes(self) -> int:
        """Of the rows, which a client would have to reveal."""
        return self.count * self.dim * (4 if self.is_single else 8)

    def rows_in(self, part: float, single: bool = False) -> int:
        """Rows of a block that takes this part of `memory.block_bytes`, in float32 where `single`."""
        return max(1, int(part * memory.block_bytes // ((4 if single else 8) * self.dim)))

    def blocks(self, part: float, single: bool = False) -> Iterator[np.ndarray]:
        """All rows in blocks of that size."""
        return self.stream.batches(self.rows_in(part, single))


def streamed(kernel: Any, stream: Stream) -> tuple[Streamed, float, float]:
    """What a part keeps of a stream, its count, and the mean of k(x, x): by one pass."""
    count, diagonal, lean, is_single = 0, 0.0, 0.0, True
    for block in stream.batches(max(1, int(PASSING * memory.block_bytes // (8 * stream.dim)))):
        n = len(block)
        count += n
        is_single = is_single and kernel.kept(block).dtype == np.float32
        with np.errstate(all="ignore"):
            diagonal += kernel.diagonal(block) * n
            lean += kernel.lean(block) * n
    content = Streamed(stream, count, is_single, lean / count)
    return content, count, kernel.finite(lambda: diagonal / count)


def streamed_mean(kernel: Any, a: Any, b: Any) -> float:
    """The mean of k over two parts, at least one of them a stream."""
    if not isinstance(a, Streamed):
        a, b = b, a
    if isinstance(b, Gaussian):
        sums = [float(np.sum(kernel.point_means(block, b))) for block in a.blocks(PASSING)]
        return math.fsum(sums) / a.count
    rows = None if isinstance(b, Streamed) else to_numpy(b)
    m = b.count if rows is None else len(rows)
    others_single = b.is_single if rows is None else rows.dtype == np.float32
    single = a.is_single and others_single and kernel.is_large(a.count * m * a.dim)
    prepare = (lambda block: block.astype(np.float32, copy=False)) if single else to_float64
    if a is b and a.stream.is_sliceable:
        total = _own_pairs(kernel, a, single, prepare)
    elif rows is not None:  # in memory, and converted tile by tile
        total = math.fsum(kernel.pair_sum(prepare(x), rows, single) for x in a.blocks(PASSING, single))
    else:
        held = map(prepare, a.blocks(HELD, single))
        total = math.fsum(kernel.pair_sum(x, prepare(y), single) for x in held for y in b.blocks(PASSING, single))
    return total / (a.count * m)


def _own_pairs(kernel: Any, a: Streamed, single: bool, prepare: Any) -> float:
    """Σ k over all pairs of rows of a stream that can be read from any place: each pair of two rows once."""
    sums, start, step = [], 0, a.rows_in(PASSING, single)
    for held in map(prepare, a.blocks(HELD, single)):
        sums.append(kernel.pair_sum(held, held, single))
        start += len(held)
        sums += [2.0 * kernel.pair_sum(held, prepare(block), single) for block in a.stream.batches_from(start, step)]
    return math.fsum(sums)
