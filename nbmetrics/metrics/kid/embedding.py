"""The cubic kernel's finite feature map φ: its mean over rows, and the polynomial a mean is at other rows.

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

from ...arrays import Array, like, namespace, to_numpy


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
            self.matrix = self.matrix + products(z).T @ weighed
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


def packed(matrix: Array) -> np.ndarray:
    """The mean of φ from the mean of z_i z_j z_k as `contracted` lays it out."""
    positions, roots = _triples(matrix.shape[1])
    return to_numpy(matrix).reshape(-1).take(positions) * roots


def features(z: np.ndarray) -> np.ndarray:
    """φ of each row, (n, C(w+2, 3))."""
    positions, roots = _triples(z.shape[1])
    pair, last = np.divmod(positions, z.shape[1])
    return products(z)[:, pair] * z[:, last] * roots


def witness(vector: np.ndarray, z: Array) -> Array:
    """φ(x)·vector for each row, (n,)."""
    positions, roots = _triples(z.shape[1])
    coefficients = np.zeros((pairs_worth(z.shape[1]), z.shape[1]))
    coefficients.reshape(-1)[positions] = vector * roots
    return namespace(z).sum((products(z) @ like(coefficients, z)) * z, axis=1)


def of_gaussian(mean: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """The mean of φ where z is N(mean, cov)."""
    moment = np.einsum("i,jk->ijk", mean, cov)
    tensor = np.einsum("i,j,k->ijk", mean, mean, mean) + moment + moment.transpose(1, 0, 2) + moment.transpose(1, 2, 0)
    return packed(tensor[np.triu_indices(len(mean))])
