"""What every kernel of KID can do: k on blocks of rows, and its means over two parts, over a mixture, and at rows.

A part holds what `content` keeps of a sample: rows, an embedding, or an exact Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ...arrays import Array, align, each_pair, memory, namespace, row_blocks, to_float64, to_numpy, total
from ...distributions import Distribution, Empirical, Gaussian, HasMoments, Round, parts_of
from ...errors import InvalidInput
from ..base import Sample
from . import batches
from .streamed import Streamed, streamed_mean

STEP = 1024
# Cubes of float32 inner products stay finite below this magnitude of the features;
# below this many multiplications float64 costs too little to do without.
FLOAT32_LIMIT = 1e5
FLOAT64_WORK = 2e8
# Bandwidths and scales beyond this leave nothing but overflow.
EXTREME = 1e50


class Kernel:
    """A positive-definite kernel k(x, y) on rows of features."""

    def block(self, x: Array, y: Array) -> Array:
        """The (n, m) matrix of k over rows x (n, d) and y (m, d)."""
        raise NotImplementedError

    def paired(self, x: Array, y: Array) -> Array:
        """The (n,) values k(x_a, y_a) of rows that belong together."""
        raise NotImplementedError

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """E k(X, Y) for independent X ~ a, Y ~ b."""
        raise NotImplementedError

    def point_means(self, rows: Array, distribution: Gaussian) -> np.ndarray:
        """E k(x, Y), Y ~ distribution, for each row x."""
        raise NotImplementedError

    def resolve(self, clients: Sequence[Sample]) -> Kernel:
        """This kernel with data-dependent settings fixed by all clients together."""
        return self

    def kept(self, rows: Array) -> Array:
        """The rows, in float64 where float32 is not exact enough."""
        return rows if magnitude(rows) < FLOAT32_LIMIT else to_float64(rows)

    def pull(self, rows: Array) -> np.ndarray:
        """What k leaves out at each row x: h(x), where the full kernel is k(x, y) + h(x) + h(y) + constant."""
        return np.zeros(rows.shape[0])

    def lean(self, content: Any) -> float:
        """The mean of `pull` over a part."""
        return 0.0

    def has_embedding(self, d: int) -> bool:
        """Whether means over rows of d features are vectors, which one pass gives."""
        return False

    def has_closed_form(self, distribution: Distribution) -> bool:
        """Whether means over this distribution are exact."""
        if parts := parts_of(distribution):
            return all(self.has_closed_form(part) for _, part in parts)
        return isinstance(distribution, (Gaussian, Empirical))

    def content(self, sample: Sample) -> tuple[Any, float, float]:
        """What a part keeps of a sample: rows or exact distribution, its count, and the mean of k(x, x)."""
        if isinstance(sample.distribution, Empirical):
            return sample.distribution.rows, math.inf, 0.0
        if sample.rows is None:
            return sample.distribution, math.inf, 0.0
        rows = self.kept(sample.rows)
        return rows, rows.shape[0], self.finite(lambda: self.diagonal(rows))

    def paired_mean(self, x: Array, y: Array) -> float:
        """The mean of k(x_a, y_a) over rows, float64."""
        sums = (
            total(self.paired(to_float64(x[b, :]), to_float64(y[b, :]))) for b in row_blocks(len(x), 16 * x.shape[1])
        )
        return math.fsum(sums) / x.shape[0]

    def diagonal(self, x: Array) -> float:
        """The mean of k(x_a, x_a) over rows."""
        return self.paired_mean(x, x)

    def mean(self, a: Any, b: Any) -> float:
        """The mean of k over two parts; self-pairs included."""
        return self.finite(lambda: self._mean(a, b))

    def _mean(self, a: Any, b: Any) -> float:
        if isinstance(a, Streamed) or isinstance(b, Streamed):
            return streamed_mean(self, a, b)
        if isinstance(a, Gaussian) and isinstance(b, Gaussian):
            return self.gaussian_mean(a, b)
        if isinstance(a, Gaussian):
            return float(np.mean(self.point_means(to_numpy(b), a)))
        if isinstance(b, Gaussian):
            return float(np.mean(self.point_means(to_numpy(a), b)))
        return self._rows_mean(a, b)

    def _rows_mean(self, x: Array, y: Array) -> float:
        same = x is y
        x, y = align(x, y)
        return self.pair_sum(x, x if same else y, self.is_single(x, y)) / (x.shape[0] * y.shape[0])

    def pair_sum(self, x: Array, y: Array, single: bool) -> float:
        """Σ k(x_a, y_b) over all pairs of rows, each pair once where y is x; in the type of the rows where `single`."""
        sums = []

        def visit(p: Array, q: Array, diagonal: bool) -> None:
            block = self.block(p, q) if single else self.block(to_float64(p), to_float64(q))
            sums.append((1.0 if diagonal or x is not y else 2.0) * total(block))

        each_pair(x, y, min(STEP, math.isqrt(int(memory.block_bytes / 8))), visit)
        return math.fsum(sums)

    def row_means(self, rows: Array, content: Any) -> np.ndarray:
        """E k(x_a, Y), Y over a part, for each row x_a, (n,) float64."""
        return self.finite(lambda: self._row_means(rows, content))

    def _row_means(self, rows: Array, content: Any) -> np.ndarray:
        if isinstance(content, Gaussian):
            return np.asarray(self.point_means(to_numpy(to_float64(rows)), content))
        x, y = align(rows, content)
        return batches.weighed_rows(self, x, y, np.full(y.shape[0], 1.0 / y.shape[0]))

    def mixture_means(self, rows: Array, parts: Sequence[Any], weights: Sequence[float]) -> np.ndarray:
        """E k(x_a, Y), Y over the mixture of the parts, for each row x_a, (n,) float64."""
        return self.finite(lambda: batches.row_means(self, rows, parts, weights))

    def embed(self, content: Any) -> Any:
        """The mean embedding of what a part holds."""
        raise NotImplementedError

    def embeds(self, parts: Sequence[Any], others: Sequence[Any]) -> bool:
        """Whether means of all parts with all others cost less by embeddings than by pairs of rows."""
        return False

    def pools(self, parts: Sequence[Any]) -> bool:
        """Whether one embedding of a mixture of the parts costs less than its pairs of rows."""
        return False

    def pooled(self, parts: Sequence[Any], weights: Sequence[float]) -> Any:
        """The mixture of the parts as one embedding, where `pools` says so."""
        raise NotImplementedError

    def square(self, parts: Sequence[Any], weights: Sequence[float]) -> float:
        """E k(X, X′) over the mixture of the parts, self-pairs included."""
        return batches.square(self, parts, weights)

    def finite(self, compute: Callable[[], Any]) -> Any:
        """What `compute` returns; refused where it is not finite."""
        try:
            with np.errstate(all="ignore"):
                value = compute()
        except OverflowError:
            value = math.inf
        if not np.isfinite(value).all():
            raise InvalidInput("kernel", f"a mean of {self} is not finite", "Rescale the features")
        return value

    def is_single(self, x: Array, y: Array) -> bool:
        """Whether float32 is exact enough for the pairs of these rows and worth it."""
        return self.is_large(x.shape[0] * y.shape[0] * x.shape[1]) and x.dtype == y.dtype == namespace(x, y).float32

    def is_large(self, work: int) -> bool:
        """Whether so many multiplications are worth float32."""
        return work > FLOAT64_WORK


def magnitude(x: Array) -> float:
    """The largest |entry|."""
    xp = namespace(x)
    return max(-float(xp.min(x)), float(xp.max(x)))


def some_of(rows: Array, most: int) -> np.ndarray:
    """At most that many rows, evenly apart, in float64 NumPy."""
    n = rows.shape[0]
    return to_numpy(to_float64(rows[:: -(-n // most), :]))


def some_rows(clients: Sequence[Sample], most: int = 256) -> list[np.ndarray]:
    """A few rows of each client, of a stream the first; of a distribution two points with its mean and covariance's
    trace."""
    share = max(2, most // len(clients))
    heads = [_head(c) for c in clients]
    known = [
        (c, h)
        for c, h in zip(clients, heads, strict=True)
        if h is not None or Kernel().has_closed_form(c.exact_distribution)
    ]
    return [_two_points(cast(HasMoments, c.exact_distribution)) if h is None else some_of(h, share) for c, h in known]


def _head(client: Sample) -> Array | None:
    if client.stream is not None:
        return client.stream.head
    return client.distribution.head if isinstance(client.distribution, Round) else client.rows


def _two_points(distribution: HasMoments) -> np.ndarray:
    step = np.zeros(distribution.dim)
    step[0] = math.sqrt(np.trace(distribution.cov))
    return np.stack([distribution.mean - step, distribution.mean + step])
