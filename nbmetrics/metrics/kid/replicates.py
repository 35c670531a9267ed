"""KID on resampled rows: every replicate of a kernel mean at once, as wᵀKv with one weight vector a replicate.

K is visited in blocks once, whatever the number of replicates; with a finite embedding it is never formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ...arrays import align, like, memory, namespace, row_blocks, to_float64, to_numpy, uniform_blocks
from ...distributions import Distribution, Empirical, Gaussian, parts_of
from ..base import Sample
from .block_sums import replicate_sums
from .polynomial import Polynomial

MAX_EMBEDDING_NUMBERS = 4096
# Of all memory allowed (8 blocks), and arrays of the counts' size that are made of them: weights, their squares.
MEMORY_BLOCKS, WEIGHT_COPIES = 4, 3


class WeightedParty:
    """One party: rows with a weight for each replicate, or an exact distribution.

    Attributes
    ----------
    squares : (replicates,) Σ w_a²
    own : (replicates,) Σ w_a² k(x_a, x_a)
    omission_sum, squared_omission : (replicates,) Σ w_a h(x_a) and Σ w_a² h(x_a), see `Kernel.omission`
    """

    def __init__(self, kernel: Any, sample: Sample, counts: np.ndarray, embedded: bool) -> None:
        self.kernel = kernel
        self.replicates = len(counts)
        self.embedded = embedded
        self.rows = None if sample.rows is None else to_float64(sample.rows)
        self.distribution = sample.exact_distribution
        self.squares = self.own = self.squared_omission = np.zeros(self.replicates)
        self.weights = np.ones((self.replicates, 1))
        if self.rows is not None:
            self.weights = counts / counts.sum(axis=1, keepdims=True)
            squared = self.weights**2
            diagonal = to_numpy(kernel.elementwise(self.rows, self.rows))
            omission = kernel.omission(self.rows)
            self.squares, self.own = squared.sum(axis=1), squared @ diagonal
            self.omission_sum, self.squared_omission = self.weights @ omission, squared @ omission
        else:
            self.omission_sum = np.full(
                self.replicates,
                self._over(self.distribution, lambda distribution: kernel.mean_omission(self._held(distribution))),
            )
        self.vectors = self._embedding() if embedded else None

    def _embedding(self) -> np.ndarray:
        if self.rows is None:
            return np.broadcast_to(
                self._distribution_vector(self.distribution), (self.replicates, self._width(self.distribution.dim))
            )
        vectors = np.zeros((self.replicates, self._width(self.rows.shape[1])))
        for block in row_blocks(self.rows.shape[0], 8 * vectors.shape[1]):
            phi = self.kernel.features(self.rows[block, :])
            vectors += to_numpy(like(self.weights[:, block], phi) @ phi)
        return vectors

    def _distribution_vector(self, distribution: Distribution) -> np.ndarray:
        return np.asarray(self._over(distribution, lambda part: self.kernel.embed(self._held(part)).vector))

    def _over(self, distribution: Distribution, mean: Callable[[Any], Any]) -> Any:
        """A mean that is linear in the distribution, over its components where it has some."""
        if parts := parts_of(distribution):
            return sum(w * self._over(part, mean) for w, part in parts)
        return mean(distribution)

    def _held(self, distribution: Distribution) -> Any:
        return distribution if isinstance(distribution, Gaussian) else cast(Empirical, distribution).rows

    @staticmethod
    def _width(d: int) -> int:
        return math.comb(d + 3, 3)

    def mean_with(self, other: WeightedParty) -> np.ndarray:
        """wᵀKv of each replicate, self-pairs included."""
        if self.vectors is not None and other.vectors is not None:
            return np.einsum("bc,bc->b", self.vectors, other.vectors)
        if self.rows is None and other.rows is None:
            return np.full(self.replicates, self._exact(self.distribution, other.distribution))
        if self.rows is None:
            return other.mean_with(self)
        if other.rows is None:
            return self.weights @ self._towards(other.distribution)
        return replicate_sums(self.kernel, self.rows, other.rows, self.weights, other.weights)

    def _exact(self, a: Distribution, b: Distribution) -> float:
        def towards(distribution: Distribution) -> float:
            return float(self._over(b, lambda part: self.kernel.mean(self._held(distribution), self._held(part))))

        return float(self._over(a, towards))

    def _towards(self, distribution: Distribution) -> np.ndarray:
        """E k(x_a, Y), Y ~ distribution, for each own row."""
        return np.asarray(self._over(distribution, self._towards_part))

    def _towards_part(self, distribution: Distribution) -> np.ndarray:
        if isinstance(distribution, Gaussian):
            return np.asarray(self.kernel.point_means(self.rows, distribution))
        block = self.kernel.block(*align(self.rows, self._held(distribution)))
        return to_numpy(namespace(block).mean(block, axis=1))


def replicates(
    kernel: Any,
    unbiased: bool,
    real: Sequence[Sample],
    generated: Sequence[Sample],
    weights: Sequence[float],
    counts: Sequence[Any],
) -> tuple[np.ndarray, np.ndarray]:
    """KID by client (replicates, generators, clients) and pooled (replicates, generators).

    `counts` are as in `base.replicate`, and taken by as many replicates as fit into memory with the weights made of
    them.
    """
    rows = sum(c[0].size for c in counts)
    step = max(1, int(MEMORY_BLOCKS * memory.block_bytes // (WEIGHT_COPIES * 8 * max(rows, 1))))
    blocks = uniform_blocks(len(counts[0]), step)
    parts = [_block(kernel, unbiased, real, generated, weights, [c[b] for c in counts]) for b in blocks]
    by_client, pooled = (np.concatenate(part) for part in zip(*parts, strict=True))
    return by_client, pooled


def _block(
    kernel: Any,
    unbiased: bool,
    real: Sequence[Sample],
    generated: Sequence[Sample],
    weights: Sequence[float],
    counts: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    samples = (*real, *generated)
    embedded = (
        isinstance(kernel, Polynomial) and kernel.is_cubic and math.comb(real[0].dim + 3, 3) <= MAX_EMBEDDING_NUMBERS
    )
    parties = [WeightedParty(kernel, s, c, embedded) for s, c in zip(samples, counts, strict=True)]
    clients, others, shares = parties[: len(real)], parties[len(real) :], np.asarray(weights)
    pairs = np.empty((len(clients), len(clients), clients[0].replicates))
    for i, p in enumerate(clients):
        for j in range(i + 1):
            pairs[i, j] = pairs[j, i] = p.mean_with(clients[j])
    lost = SelfPairSums(
        *(np.array([getattr(p, f) for p in clients]) for f in ("own", "squares", "omission_sum", "squared_omission"))
    )
    each = lost.without_self_pairs(np.einsum("iib->ib", pairs), unbiased)
    np.einsum("iib->ib", pairs)[...] = each  # so that clients are strata where KID is unbiased
    whole = np.einsum("i,j,ijb->b", shares, shares, pairs)
    by_client, pooled = [], []
    for g in others:
        cross = np.array([p.mean_with(g) for p in clients])
        self_term = SelfPairSums(g.own, g.squares, g.omission_sum, g.squared_omission).without_self_pairs(
            g.mean_with(g), unbiased
        )
        by_client.append(each + self_term - 2.0 * cross)
        pooled.append(whole + self_term - 2.0 * (shares @ cross))
    return np.array(by_client).transpose(2, 0, 1), np.array(pooled).T


class SelfPairSums(NamedTuple):
    """What pairs of a row with itself add to wᵀKw: the fields of `WeightedParty` by these names."""

    own: np.ndarray
    squares: np.ndarray
    omission_sum: np.ndarray
    squared_omission: np.ndarray

    def without_self_pairs(self, full: np.ndarray, unbiased: bool) -> np.ndarray:
        """wᵀKw without those pairs, as in `KernelMean.self_mean`."""
        if not unbiased:
            return full
        leaning = self.squares * self.omission_sum - self.squared_omission
        return np.asarray((full - self.own + 2.0 * leaning) / (1.0 - self.squares))
