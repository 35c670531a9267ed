"""Moments up to order three: what a client reveals for the cubic kernel, about whatever centre the server takes.

The mean embedding of the cubic kernel is linear in E z⊗z⊗z, with coordinates z of x that are affine in x. A client
does not know the centre of all clients, so it sends its moments about its own mean, and no digit is lost to an offset.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array, mean_rows, row_blocks, scatter, to_float64, to_numpy
from ...distributions import Gaussian
from . import embedding
from .centred import CentredPolynomial
from .embedding import Embedding
from .polynomial import CACHE, Polynomial


@dataclass(frozen=True, eq=False)
class ThirdMoments:
    """Mean, and the second and third moments about it, of rows or a Gaussian.

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
    def of_rows(cls, rows: Array, kernel: Polynomial) -> ThirdMoments:
        """Of rows (n, d); `kernel` is cubic, and for its γ alone."""
        n, d = rows.shape
        centre = mean_rows(rows)
        mean, triples = to_numpy(centre), np.zeros((embedding.pairs_worth(d), d))
        for block in row_blocks(n, 8 * embedding.pairs_worth(d), CACHE):
            y = to_numpy(to_float64(rows[block, :])) - mean
            triples += embedding.products(y).T @ y
        own = CentredPolynomial(3, kernel.gamma, 1.0, mean)
        diagonal = own.finite(lambda: own.diagonal(rows))
        second = to_numpy(scatter(rows, centre))[np.triu_indices(d)] / n
        return cls(mean, second, triples.reshape(-1)[_sorted(d)[0]] / n, diagonal)

    @classmethod
    def of_distribution(cls, distribution: Gaussian) -> ThirdMoments:
        """Of a Gaussian."""
        d = distribution.dim
        return cls(distribution.mean, distribution.cov[np.triu_indices(d)], np.zeros(math.comb(d + 2, 3)), 0.0)

    def embedding(self, kernel: Polynomial) -> Embedding:
        """The mean of φ under a cubic kernel, about a centre or not."""
        d = self.mean.size
        cov = np.zeros((d, d))
        cov[np.triu_indices(d)] = self.second
        cov = cov + np.triu(cov, 1).T
        third = self.third[_sorted(d)[1]].reshape(d, d, d)
        z, first = (part[0] for part in kernel.coordinates(self.mean[None]))
        a = _linear(kernel, d)
        turned = np.tensordot(np.tensordot(np.tensordot(third, a, (0, 0)), a, (0, 0)), a, (0, 0))
        vector = embedding.of_gaussian(z, a.T @ cov @ a) + embedding.packed(turned[np.triu_indices(d + 1)])
        vector[0] = first
        if isinstance(kernel, CentredPolynomial):  # φ₀ is (√β + w)³ − β^1.5, and w is linear in y
            root, w = math.sqrt(kernel.base), kernel.linear(self.mean[None])[0, 0]
            vector[0] += 3.0 * (root + w) * float(a[:, 0] @ cov @ a[:, 0]) + float(turned[0, 0, 0])
        return Embedding(vector)

    def diagonal_under(self, kernel: Polynomial, made: Embedding) -> float:
        """The mean of k(x, x) under the kernel that `made` belongs to.

        With k_m the kernel about the mean m, k(x, x) = k_m(x, x) + 2 k(x, m) − k(m, m).
        """

        def diagonal() -> float:
            at_mean = kernel.features(self.mean[None])[0]
            return self.diagonal + 2.0 * float(made.vector @ at_mean) - float(at_mean @ at_mean)

        return float(kernel.finite(diagonal))


def _linear(kernel: Polynomial, d: int) -> np.ndarray:
    """(d, d+1): by how much the coordinates z move with each feature."""
    if isinstance(kernel, CentredPolynomial):
        return np.asarray(kernel._turned(np.eye(d)))
    return math.sqrt(kernel.gamma_of(d)) * np.eye(d, d + 1, 1)


@lru_cache(maxsize=8)
def _sorted(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Where i ≤ j ≤ k lie in a (pairs i ≤ j, d) matrix, and which of them each of the d³ products is."""
    i, j, k = np.array(list(itertools.combinations_with_replacement(range(d), 3))).T
    which = np.empty((d, d, d), dtype=np.int64)
    for p, q, r in itertools.permutations((i, j, k)):
        which[p, q, r] = np.arange(len(i))
    return (i * d - i * (i - 1) // 2 + j - i) * d + k, which.reshape(-1)
