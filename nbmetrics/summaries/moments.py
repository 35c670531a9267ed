"""What a client would have to reveal for a metric: summaries that pool with weights and know their size.

Each summary is built from rows, from batches or from an exact distribution (count = infinity), and `pool`
gives the summary of the mixture Σ λ_i P_i. With λ_i = n_i/n that is the summary of the concatenated rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    align,
    concat,
    device,
    like,
    mean_rows,
    memory,
    mirror_upper,
    namespace,
    row_blocks,
    scatter,
    scatter_of,
    to_float64,
    triangular,
    uniform_blocks,
)
from ..distributions import Gaussian, HasMoments, Mixture
from .roots import GradedRoot

# Up to this width a QR factor is as cheap as a covariance and keeps twice the digits of small variances.
SMALL = 64
# Factors that are added to a covariance together: many small ones one by one would take longer.
MAX_FACTORS_AT_ONCE = 8
# Of `memory.block_bytes`: a larger covariance is computed from its rows again rather than kept.
MAX_KEPT_SHARE = 1 / 8


@dataclass(frozen=True, eq=False)
class Triangle:
    """A symmetric (d, d) matrix as its upper triangle, (d(d+1)/2,), bit for bit."""

    width: int
    packed: np.ndarray

    @classmethod
    def of(cls, matrix: np.ndarray) -> Triangle:
        from scipy.linalg.lapack import dtrttp

        return cls(len(matrix), dtrttp(matrix, uplo="U")[0])

    @property
    def whole(self) -> np.ndarray:
        """The matrix."""
        from scipy.linalg.lapack import dtpttr

        return mirror_upper(dtpttr(self.width, self.packed, uplo="U")[0])


@dataclass(frozen=True, eq=False)
class RowsCovariance:
    """The covariance of rows that others hold anyway: computed when it is asked for, so that it takes no memory."""

    rows: Array
    mean: Array

    @classmethod
    def of(cls, rows: Array, mean: Array) -> RowsCovariance | Array:
        """The covariance itself where it is small beside the memory limit."""
        later = cls(rows, mean)
        return later if 8 * mean.shape[0] ** 2 > MAX_KEPT_SHARE * memory.block_bytes else later.whole

    @property
    def whole(self) -> Array:
        """The matrix."""
        matrix = scatter(self.rows, self.mean)
        matrix /= self.rows.shape[0] - 1
        return matrix

    def __reduce__(self) -> tuple[Any, ...]:
        """As its triangle, or as the matrix on a device: rows do not travel with a summary."""
        whole = self.whole
        return (Triangle.of, (whole,)) if isinstance(whole, np.ndarray) else (_itself, (whole,))


def _itself(matrix: Array) -> Array:
    return matrix


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and covariance (ddof 1) of one distribution; the summary of FID.

    Attributes
    ----------
    count : rows that made it (effective rows after weighted pooling), infinity for an exact distribution
    mean : (d,) float64
    root : (r, d) float64 with rootᵀroot = covariance; kept instead of the matrix where r ≤ d or d is small
    kept_dense : (d, d) float64 covariance, or its triangle or rows, or None where `root` is kept
    """

    count: float
    mean: Array
    kept_root: Array | None
    kept_dense: Array | Triangle | RowsCovariance | None

    @classmethod
    def of_rows(cls, rows: Array) -> Moments:
        """From rows (n, d); the sums are float64 and always centred."""
        n, d = rows.shape
        mean = mean_rows(rows)
        if n <= d:
            even = namespace(rows).full((n,), 1.0 / math.sqrt(n), dtype=mean.dtype, device=device(rows))
            return cls(n, mean, _contrasts(to_float64(rows) - mean, even) / math.sqrt(max(n - 1, 1)), None)
        if d > SMALL:
            return cls(n, mean, None, RowsCovariance.of(rows, mean))
        factor = mean[None, :] * 0.0
        for block in row_blocks(n, 16 * d):
            stacked = namespace(rows).concat([factor, to_float64(rows[block, :]) - mean])
            factor = triangular(stacked)
        return cls(n, mean, factor / math.sqrt(n - 1), None)

    @classmethod
    def of_counts(cls, rows: Array, counts: np.ndarray) -> Moments:
        """From rows (n, d) that occur as often as `counts` says, without writing the repeated ones out."""
        xp = namespace(rows)
        present = np.flatnonzero(counts)
        often = like(counts[present], rows)
        n, d = int(counts.sum()), rows.shape[1]
        drawn = to_float64(rows[xp.asarray(present, device=device(rows)), :])
        mean = (often @ drawn) / n
        roots = xp.sqrt(often)
        centred = roots[:, None] * (drawn - mean)
        if len(present) <= d:
            return cls(n, mean, _contrasts(centred, roots / math.sqrt(n)) / math.sqrt(max(n - 1, 1)), None)
        if d <= SMALL:
            return cls(n, mean, triangular(centred) / math.sqrt(n - 1), None)
        return cls(n, mean, None, centred.T @ centred / (n - 1))

    @classmethod
    def of_batches(cls, batches: Iterable[Array]) -> Moments:
        """From batches of rows, by Chan's update: the batches need not be in memory together."""
        fold = MomentsFold()
        for batch in batches:
            fold.take(batch)
        return fold.end()

    @classmethod
    def of_distribution(cls, distribution: HasMoments) -> Moments:
        """The population moments of anything with `.mean` and `.cov`."""
        if isinstance(distribution, Mixture):
            parts = [cls.of_distribution(part) for part in distribution.components]
            return cls.pool(parts, distribution.weights)
        mean = np.asarray(distribution.mean, dtype=np.float64)
        root = distribution.root if isinstance(distribution, Gaussian) else None
        if root is not None and (root.shape[1] <= SMALL or root.shape[0] < root.shape[1]):
            return cls(math.inf, mean, root, None)
        return cls(math.inf, mean, None, np.asarray(distribution.cov, dtype=np.float64))

    @classmethod
    def pool(cls, parts: Sequence[Moments], weights: Sequence[float]) -> Moments:
        """Moments of Σ λ_i P_i: Ĉ = Σ λ_i [C_i(1 − 1/n_i) + δ_iδ_iᵀ] / (1 − Σ λ_i²/n_i), δ_i = μ_i − μ̂.

        Equals `np.cov(rows, aweights)` for any weights and `np.cov` of the concatenation for λ_i = n_i/n.
        """
        lost = sum(w * w / p.count for w, p in zip(weights, parts, strict=True))
        scale = 1.0 / (1.0 - lost) if lost < 1.0 else 0.0
        inner = [scale * w * (1.0 - 1.0 / p.count) for w, p in zip(weights, parts, strict=True)]
        return cls._combine(parts, weights, inner, scale)

    @classmethod
    def mixture(cls, parts: Sequence[Moments], weights: Sequence[float]) -> Moments:
        """Unbiased moments of Σ λ_i P_i for parts that are given, not drawn: Σ λ_i [C_i(1 − (1−λ_i)/n_i) + δ_iδ_iᵀ].

        `pool` takes the differences between the parts for a part of the noise, and so enlarges them a little.
        """
        inner = [w * (1.0 - (1.0 - w) / p.count) for w, p in zip(weights, parts, strict=True)]
        return cls._combine(parts, weights, inner, 1.0)

    @classmethod
    def _combine(
        cls, parts: Sequence[Moments], weights: Sequence[float], inner: Sequence[float], between: float
    ) -> Moments:
        """Mean Σ λ_i μ_i and covariance Σ inner_i C_i + between·Σ λ_i δ_iδ_iᵀ."""
        if len(parts) == 1:
            return parts[0]
        if not all(isinstance(p.mean, np.ndarray) for p in parts):
            parts = _align_parts(parts)
        xp = namespace(parts[0].mean)
        mean = sum(w * p.mean for w, p in zip(weights, parts, strict=True))
        lost = sum(w * w / p.count for w, p in zip(weights, parts, strict=True))
        shifts = xp.stack([math.sqrt(between * w) * (p.mean - mean) for w, p in zip(weights, parts, strict=True)])
        roots = [(math.sqrt(w), p.kept_root) for w, p in zip(inner, parts, strict=True) if p.kept_root is not None]
        count = 1.0 / lost if lost else math.inf
        d = mean.shape[0]
        height = sum(r.shape[0] for _, r in roots) + len(parts)
        if len(roots) == len(parts) and (height <= d or d <= SMALL):
            stacked = xp.concat([*(w * r for w, r in roots), shifts])
            return cls(count, mean, stacked if height <= d else triangular(stacked), None)
        some = (concat([w * r for w, r in roots[at]]) for at in uniform_blocks(len(roots), MAX_FACTORS_AT_ONCE))
        total = scatter_of(chain(some, [shifts]), 0.0 * mean)
        for w, p in zip(inner, parts, strict=True):
            if p.kept_dense is not None:
                total += w * p.cov
        return cls(count, mean, None, total)

    @property
    def dense(self) -> Any:
        """The (d, d) covariance where it is kept, else None."""
        if isinstance(self.kept_dense, RowsCovariance):
            return self.matrix
        return self.kept_dense.whole if isinstance(self.kept_dense, Triangle) else self.kept_dense

    @cached_property
    def matrix(self) -> Array:
        """The covariance of `kept_dense` that is not kept itself."""
        return self._new_matrix()

    def _new_matrix(self) -> Array:
        """The covariance, to be written over."""
        if "matrix" not in vars(self) and isinstance(self.kept_dense, (Triangle, RowsCovariance)):
            return self.kept_dense.whole
        return self.dense + 0.0

    def fold(self) -> None:
        """Keep no more than can be made again: of a covariance its rows or one triangle, and not its factor."""
        for name in ("graded", "matrix"):
            vars(self).pop(name, None)
        if isinstance(self.kept_dense, np.ndarray) and np.array_equal(self.kept_dense, self.kept_dense.T):
            object.__setattr__(self, "kept_dense", Triangle.of(self.kept_dense))

    @property
    def cov(self) -> Array:
        """The (d, d) covariance."""
        if isinstance(self.kept_dense, RowsCovariance):
            return self._new_matrix()
        return self.dense if self.kept_dense is not None else self.root.T @ self.root

    @cached_property
    def graded(self) -> GradedRoot:
        """The factor of a covariance kept as a matrix."""
        matrix = self._new_matrix()
        vars(self).setdefault("trace", _trace(matrix))
        return GradedRoot.of(matrix, overwrite=True)

    @property
    def root(self) -> Array:
        """A factor (r, d) of the covariance: rootᵀroot = cov; rows from large to small where it comes of `dense`."""
        return self.kept_root if self.kept_root is not None else self.graded.rows

    def times_root(self, a: Array) -> Array:
        """`a` @ rootᵀ."""
        return a @ self.kept_root.T if self.kept_root is not None else self.graded.times(a)

    @cached_property
    def trace(self) -> float:
        """Tr cov."""
        return _trace(self.dense) if self.kept_dense is not None else float((self.root * self.root).sum())

    @property
    def nbytes(self) -> int:
        """Bytes to send it: the mean, and the factor or the upper triangle, in float64."""
        d = self.mean.shape[0]
        triangle = d * (d + 1) // 2
        size = triangle if self.kept_dense is not None else min(self.root.shape[0] * d, triangle)
        return 8 * (d + size + 1)


@dataclass(frozen=True, eq=False)
class UncountedMoments(Moments):
    """Moments of nobody knows how many rows; its count is infinite, so that it pools as a distribution does."""


class MomentsFold:
    """The moments of rows that come in blocks, by Chan's update; a block with more rows than features costs least."""

    def __init__(self) -> None:
        self.count = 0
        self.mean: Array = None
        self._factor: Array = None
        self._scatter: Array = None

    def take(self, rows: Array) -> None:
        """Add a block of rows (n, d)."""
        n, own = rows.shape[0], mean_rows(rows)
        if rows.shape[1] <= SMALL:
            self._add(n, own, to_float64(rows) - own, None)
        else:
            self._add(n, own, None, scatter(rows, own))

    def merge(self, other: MomentsFold) -> None:
        """Add the rows that another one took, which stays as it is."""
        own = None if other._scatter is None else other._scatter + 0.0
        self._add(other.count, other.mean, other._factor, own)

    def _add(self, n: int, mean: Array, factor: Array, inner: Array) -> None:
        """Add n rows of this mean, and a factor of their scatter, or the scatter itself, which is taken over."""
        if self.mean is None:
            self.mean = mean
        shift = mean - self.mean
        both = self.count + n
        step = math.sqrt(self.count * n / both) * shift
        if factor is not None:
            parts = [factor, step[None, :]] if self._factor is None else [self._factor, factor, step[None, :]]
            self._factor = triangular(namespace(factor).concat(parts))
        elif self._scatter is None:
            self._scatter = inner
        else:
            self._scatter += inner
            self._scatter += step[:, None] * step[None, :]
        self.mean, self.count = self.mean + shift * (n / both), both

    def end(self) -> Moments:
        """The moments of all blocks."""
        if self.mean is None:
            raise ValueError("no batches")
        free = max(self.count - 1, 1)
        if self._factor is not None:
            return Moments(self.count, self.mean, self._factor / math.sqrt(free), None)
        return Moments(self.count, self.mean, None, self._scatter / free)


def _align_parts(parts: Sequence[Moments]) -> list[Moments]:
    """The parts in one library and on one device."""
    fields = ("mean", "kept_root", "dense")
    places = [(i, f) for i, part in enumerate(parts) for f in fields if getattr(part, f) is not None]
    aligned = dict(zip(places, align(*(getattr(parts[i], f) for i, f in places)), strict=True))
    return [Moments(part.count, *(aligned.get((i, f)) for f in fields)) for i, part in enumerate(parts)]


def _trace(matrix: Array) -> float:
    return float(namespace(matrix).linalg.trace(matrix))


def _contrasts(centred: Array, null: Array) -> Array:
    """n centred rows as n − 1 rows with the same scatter, by a Householder reflection of their null direction.

    Centred rows are orthogonal to the unit vector `null` of their row weights; dropping that direction keeps it
    from becoming rounding noise.
    """
    v = null + 0.0
    v[0] += 1.0
    return (centred - (2.0 / float(v @ v)) * v[:, None] * (v @ centred)[None, :])[1:, :]
