"""What KID needs of rows as sums that add up over batches and processes, about one centre for all.

Exact for the cubic kernel: with u = x − c, n, Σ u, Σ u⊗u and Σ u⊗u⊗u give the mean of φ about any centre, and
Σ k_c(x, x) the pairs of a row with itself, k_c the kernel about c. For random features: n, Σ φ(x) and Σ k(x, x),
without a centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, concat, like, namespace, row_blocks, scatter, take_columns, to_numpy
from ...errors import InvalidInput
from ...summaries.centred_sums import ROUNDING, first_sums, moments_fault
from ...summaries.kernel_mean import KernelMean, KernelPart
from .embedding import Embedding, ThirdMoments, packed_triples, pairs_worth, triple_sums, unpacked_triples
from .polynomial import Polynomial
from .random_features import RandomFeatures

# Third moments of d features are C(d + 2, 3) numbers of a party: 45,760 of 64 features, 366,144 of 128.
MAX_THIRD_DIM = 64
FIX_KERNEL = "Use nm.metrics.KID(nm.RandomFeatures(nm.RBF(), count=4096)), or nm.evaluate on the rows"


def additive_sums(kernel: Any, dim: int) -> ThirdSums | FeatureSums:
    """The sums for a kernel on rows of `dim` features; InvalidInput where there are none."""
    if isinstance(kernel, RandomFeatures):
        if kernel.is_bounded and isinstance(kernel.kernel.sigma, str):
            seen = "got sigma='median', which is the median distance of rows that are not kept"
            raise InvalidInput("metric", seen, "Give sigma a number: nm.RandomFeatures(nm.RBF(10.0), count=4096)")
        return FeatureSums(kernel)
    if not (isinstance(kernel, Polynomial) and kernel.is_cubic):
        seen = f"the kernel {kernel} has no sums that add up over batches"
        raise InvalidInput("metric", seen, FIX_KERNEL)
    if dim > MAX_THIRD_DIM:
        seen = f"exact KID from sums takes at most {MAX_THIRD_DIM} features, and these are {dim:,}"
        raise InvalidInput("metric", seen, FIX_KERNEL)
    return ThirdSums(kernel, dim)


@dataclass(frozen=True)
class ThirdSums:
    """n, Σ u, Σ u_i u_j, Σ u_i u_j u_k and Σ k_c(u, u) for a cubic kernel."""

    kernel: Polynomial
    dim: int

    @property
    def length(self) -> int:
        """Numbers of one party."""
        return 2 + self.dim + pairs_worth(self.dim) + math.comb(self.dim + 2, 3)

    def of_rows(self, rows: Array, centre: Array) -> Array:
        """The sums of rows (n, d), (length,)."""
        own = self.kernel.about(to_numpy(centre))
        squares = namespace(rows).reshape(scatter(rows, centre), (1, -1))
        pairs = take_columns(squares, np.flatnonzero(np.triu(np.ones((self.dim, self.dim)))))[0, :]
        diagonal = own.finite(lambda: own.diagonal(rows)) * rows.shape[0]
        return concat([first_sums(rows, centre), pairs, triple_sums(rows, centre), like([diagonal], pairs)])

    def moved(self, sums: Array, centre: Array, shift: Array) -> Array:
        """The same sums about a centre farther by `shift`, (d,).

        With k the kernel about c and c′ = c + δ, k_c′(x, x) = k(x, x) − 2 k(x, c′) + k(c′, c′).
        """
        numbers, origin, delta = to_numpy(sums), to_numpy(centre), to_numpy(shift)
        if not (count := numbers[0]):
            return sums
        there = self.kernel.about(origin).features((origin + delta)[None])[0]
        at_there = float(self._mean_features(numbers, origin) @ there)
        diagonal = numbers[-1] + count * (float(there @ there) - 2.0 * at_there)
        moments = _shifted(*self._means(numbers), delta)
        return like(np.concatenate([[count], *(count * m for m in _packed(*moments)), [diagonal]]), sums)

    def summary(self, sums: np.ndarray, centre: np.ndarray) -> KernelMean:
        """The kernel mean of n ≥ 1 rows, for the kernel about the centre."""
        return _kernel_mean(self.kernel.about(centre), self._mean_features(sums, centre), sums[0], sums[-1])

    def fault(self, sums: np.ndarray, centre: np.ndarray) -> str:
        """Return why no rows have these sums, or ""."""
        first, second, _ = self._means(sums)
        mean = self._mean_features(sums, centre)
        return moments_fault(1.0, first, second) or _diagonal_fault(mean, sums[-1] / sums[0])

    def _mean_features(self, sums: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """The mean of φ of the kernel about the centre."""
        first, second, third = self._means(sums)
        _, pairs, triples = _packed(*_shifted(first, second, third, first))
        return ThirdMoments(centre + first, pairs, triples, 0.0).embedding(self.kernel.about(centre)).vector

    def _means(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """E u (d,), E u⊗u (d, d) and E u⊗u⊗u (d, d, d)."""
        d, means = self.dim, sums[1:-1] / sums[0]
        pairs = np.zeros((d, d))
        pairs[np.triu_indices(d)] = means[d : d + pairs_worth(d)]
        return means[:d], pairs + np.triu(pairs, 1).T, unpacked_triples(means[d + pairs_worth(d) :], d)


@dataclass(frozen=True)
class FeatureSums:
    """n, Σ φ(x) and Σ k(x, x) for random features φ, which know no centre."""

    kernel: RandomFeatures

    @property
    def length(self) -> int:
        """Numbers of one party."""
        return self.kernel.count + 2

    def of_rows(self, rows: Array, centre: Array) -> Array:
        """The sums of rows (n, d), (length,)."""
        xp, sums = namespace(rows), 0.0 * like(np.zeros(self.length), rows)
        for block in row_blocks(rows.shape[0], 16 * (self.kernel.count + rows.shape[1])):
            phi = self.kernel.features(rows[block, :])
            sums += concat([like([phi.shape[0]], phi), xp.sum(phi, axis=0), xp.sum(phi * phi)[None]])
        return sums

    def moved(self, sums: Array, centre: Array, shift: Array) -> Array:
        """The same sums."""
        return sums

    def fault(self, sums: np.ndarray, centre: np.ndarray) -> str:
        """Return why no rows have these sums, or ""."""
        diagonal = sums[-1] / sums[0]
        if self.kernel.is_bounded and abs(diagonal / self.kernel.kernel.scale - 1.0) > ROUNDING:
            return f"a mean k(x, x) of {diagonal:.3g}, and it is {self.kernel.kernel.scale:g} at every x"
        return _diagonal_fault(sums[1:-1] / sums[0], diagonal)

    def summary(self, sums: np.ndarray, centre: np.ndarray) -> KernelMean:
        """The kernel mean of n ≥ 1 rows."""
        return _kernel_mean(self.kernel, sums[1:-1] / sums[0], sums[0], sums[-1])


def _diagonal_fault(mean: np.ndarray, diagonal: float) -> str:
    """Return why no rows have this mean φ and this mean k(x, x) = ‖φ(x)‖², or ""."""
    least = float(mean @ mean) * (1.0 - ROUNDING)
    return "" if diagonal >= least else f"a mean k(x, x) of {diagonal:.3g}, below ‖mean φ(x)‖² = {least:.3g}"


def _kernel_mean(kernel: Any, vector: np.ndarray, count: float, diagonal: float) -> KernelMean:
    mean, own = kernel.finite(lambda: vector), kernel.finite(lambda: diagonal / count)
    return KernelMean((KernelPart(kernel, Embedding(mean), count, float(own)),), (1.0,))


def _shifted(
    first: np.ndarray, second: np.ndarray, third: np.ndarray, delta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The moments of u − δ from those of u."""
    outer, square = np.multiply.outer, np.multiply.outer(delta, delta)
    mixed = outer(first, delta)
    cube = third - _symmetric(outer(second, delta)) + _symmetric(outer(square, first)) - outer(square, delta)
    return first - delta, second - mixed - mixed.T + square, cube


def _symmetric(cube: np.ndarray) -> np.ndarray:
    """Σ of the three places of the last index of an (i, j)-symmetric cube."""
    return cube + cube.transpose(0, 2, 1) + cube.transpose(2, 1, 0)


def _packed(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return first, second[np.triu_indices(len(first))], packed_triples(third)
