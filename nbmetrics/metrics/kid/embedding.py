"""The cubic kernel's finite feature map φ: its mean over rows, and the moments of rows that give it.

φ(x) holds each distinct product z_i z_j z_k, i ≤ j ≤ k, of coordinates z of x, times the root of how often it
occurs, so that φ(x)·φ(y) = (z(x)·z(y))³. Products of two coordinates are made first and the third enters by a
matrix product: one row costs about as much as `pairs_worth` values of the kernel.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import (
    Array,
    like,
    mean_rows,
    namespace,
    product,
    row_blocks,
    scatter,
    take_columns,
    to_float64,
    to_numpy,
)
from ...distributions import Gaussian

# Products of two coordinates made at a time: few enough to stay in the processor's cache.
CACHED_PRODUCTS = 2**22


@dataclass(frozen=True)
class Embedding:
    """The exact mean embedding under the cubic kernel: C(d+3, 3) numbers, linear in the distribution."""

    vector: np.ndarray

    @property
    def nbytes(self) -> int:
        return self.vector.nbytes


def length(width: int) -> int:
    """How many numbers φ has for `width` coordinates."""
    return math.comb(width + 2, 3)


def pairs_worth(width: int) -> int:
    """How many products of two coordinates there are."""
    return width * (width + 1) // 2


@lru_cache(maxsize=8)
def _triples(width: int) -> tuple[np.ndarray, np.ndarray]:
    """Flat positions of i ≤ j ≤ k in a (pairs i ≤ j, width) matrix, and the root of how often each product occurs."""
    i, j, k = np.array(list(itertools.combinations_with_replacement(range(width), 3))).T
    often = np.where((i == j) & (j == k), 1.0, np.where((i == j) | (j == k), 3.0, 6.0))
    return (i * width - i * (i - 1) // 2 + j - i) * width + k, np.sqrt(often)


def products(z: Array) -> Array:
    """z_i z_j for i ≤ j, (n, w(w+1)/2)."""
    return namespace(z).concat([z[:, i : i + 1] * z[:, i:] for i in range(z.shape[1])], axis=1)


class Contraction:
    """Σ over rows of weight · z_i z_j z_k as a (pairs i ≤ j, w) matrix, block of rows by block.

    Blocks of NumPy rows write their products to one place: under Dask's allocator settings fresh pages for each block
    would take longer than the arithmetic.
    """

    def __init__(self) -> None:
        self.matrix: Any = 0.0
        self._products = np.empty((0, 0))
        self._added = np.empty((0, 0))

    def add(self, z: Array, weights: Array) -> None:
        """Add a block of rows (n, w); the first one is the longest."""
        weighed = weights[:, None] * z
        if not isinstance(z, np.ndarray):
            self.matrix = self.matrix + product(products(z).T, weighed)
            return
        n, width = z.shape
        if not self._products.size:
            self._products = np.empty((n, pairs_worth(width)))
            self._added = np.empty((pairs_worth(width), width))
            self.matrix = np.zeros_like(self._added)
        start = 0
        for i in range(width):
            np.multiply(z[:, i : i + 1], z[:, i:], out=self._products[:n, start : start + width - i])
            start += width - i
        self.matrix += np.matmul(self._products[:n].T, weighed, out=self._added)


def pack(matrix: Array) -> np.ndarray:
    """The mean of φ from the mean of z_i z_j z_k as `Contraction` lays it out."""
    positions, roots = _triples(matrix.shape[1])
    return to_numpy(take_columns(namespace(matrix).reshape(matrix, (1, -1)), positions)[0, :]) * roots


def features(z: Array) -> Array:
    """φ of each row, (n, C(w+2, 3))."""
    positions, roots = _triples(z.shape[1])
    pair, last = np.divmod(positions, z.shape[1])
    return take_columns(products(z), pair) * take_columns(z, last) * like(roots, z)


def witness(vector: np.ndarray, z: Array) -> Array:
    """φ(x)·vector for each row, (n,)."""
    positions, roots = _triples(z.shape[1])
    coefficients = np.zeros((pairs_worth(z.shape[1]), z.shape[1]))
    coefficients.reshape(-1)[positions] = vector * roots
    return namespace(z).sum(product(products(z), like(coefficients, z)) * z, axis=1)


def of_gaussian(mean: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """The mean of φ where z is N(mean, cov)."""
    moment = np.einsum("i,jk->ijk", mean, cov)
    tensor = np.einsum("i,j,k->ijk", mean, mean, mean) + moment + moment.transpose(1, 0, 2) + moment.transpose(1, 2, 0)
    return pack(tensor[np.triu_indices(len(mean))])


@dataclass(frozen=True, eq=False)
class ThirdMoments:
    """Moments up to order three of rows or a Gaussian: what a client reveals for the cubic kernel.

    The mean of φ is linear in E z⊗z⊗z, with coordinates z of x that are affine in x. A client does not know the centre
    of all clients, so it sends its moments about its own mean, and no digit is lost to an offset.

    Attributes
    ----------
    mean : (d,)
    second : (d(d+1)/2,) E y_i y_j for i ≤ j, y = x − mean
    third : (d(d+1)(d+2)/6,) E y_i y_j y_k for i ≤ j ≤ k
    diagonal : the mean of k(x, x) of the cubic kernel about the mean; 0 of a distribution
    """

    mean: np.ndarray
    second: np.ndarray
    third: np.ndarray
    diagonal: float

    @classmethod
    def of_rows(cls, rows: Array, kernel: Any) -> ThirdMoments:
        """Of rows (n, d); `kernel` is cubic, and for its γ alone."""
        n, d = rows.shape
        centre = mean_rows(rows)
        mean = to_numpy(centre)
        own = kernel.about(mean)
        diagonal = own.finite(lambda: own.diagonal(rows))
        second = to_numpy(scatter(rows, centre))[np.triu_indices(d)] / n
        return cls(mean, second, to_numpy(triple_sums(rows, centre)) / n, diagonal)

    @classmethod
    def of_distribution(cls, distribution: Gaussian) -> ThirdMoments:
        """Of a Gaussian."""
        d = distribution.dim
        return cls(distribution.mean, distribution.cov[np.triu_indices(d)], np.zeros(math.comb(d + 2, 3)), 0.0)

    def embedding(self, kernel: Any) -> Embedding:
        """The mean of φ under a cubic kernel, about a centre or not."""
        d = self.mean.size
        cov = np.zeros((d, d))
        cov[np.triu_indices(d)] = self.second
        cov = cov + np.triu(cov, 1).T
        third = unpacked_triples(self.third, d)
        z, first = (part[0] for part in kernel.coordinates(self.mean[None]))
        a = kernel.linear_map(d)
        turned = np.tensordot(np.tensordot(np.tensordot(third, a, (0, 0)), a, (0, 0)), a, (0, 0))
        vector = of_gaussian(z, a.T @ cov @ a) + pack(turned[np.triu_indices(d + 1)])
        vector[0] = first
        vector[0] += kernel.first_number_spread(self.mean, float(a[:, 0] @ cov @ a[:, 0]), float(turned[0, 0, 0]))
        return Embedding(vector)

    def diagonal_under(self, kernel: Any, mean: Embedding) -> float:
        """The mean of k(x, x) under the kernel that `mean` belongs to.

        With k_m the kernel about the mean m, k(x, x) = k_m(x, x) + 2 k(x, m) − k(m, m).
        """

        def diagonal() -> float:
            at_mean = kernel.features(self.mean[None])[0]
            return self.diagonal + 2.0 * float(mean.vector @ at_mean) - float(at_mean @ at_mean)

        return float(kernel.finite(diagonal))


def triple_sums(rows: Array, centre: Array) -> Array:
    """Σ u_i u_j u_k for i ≤ j ≤ k, u = x − centre, over rows, (d(d+1)(d+2)/6,) float64."""
    n, d = rows.shape
    triples = like(np.zeros((pairs_worth(d), d)), rows)
    for block in row_blocks(n, 8 * pairs_worth(d), CACHED_PRODUCTS):
        u = to_float64(rows[block, :]) - centre
        triples += products(u).T @ u
    flat = namespace(triples).reshape(triples, (1, -1))
    return take_columns(flat, _triple_positions(d)[0])[0, :]


def packed_triples(cube: np.ndarray) -> np.ndarray:
    """The i ≤ j ≤ k of a symmetric (d, d, d)."""
    d = len(cube)
    return cube[np.triu_indices(d)].reshape(-1)[_triple_positions(d)[0]]


def unpacked_triples(packed: np.ndarray, d: int) -> np.ndarray:
    """The symmetric (d, d, d) of its i ≤ j ≤ k."""
    return packed[_triple_positions(d)[1]].reshape(d, d, d)


@lru_cache(maxsize=8)
def _triple_positions(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where i ≤ j ≤ k lie in a (pairs i ≤ j, d) matrix, and which of them each of the d³ products is."""
    i, j, k = np.array(list(itertools.combinations_with_replacement(range(d), 3))).T
    which = np.empty((d, d, d), dtype=np.int64)
    for p, q, r in itertools.permutations((i, j, k)):
        which[p, q, r] = np.arange(len(i))
    return (i * d - i * (i - 1) // 2 + j - i) * d + k, which.reshape(-1)
