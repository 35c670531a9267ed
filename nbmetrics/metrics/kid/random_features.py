"""A kernel of random features: k(x, y) = φ(x)·φ(y) ≈ the RBF or polynomial kernel, its means as many numbers as wanted.

It is positive definite itself, so all that holds of KID holds of it, exactly: only the kernel is another one. RBF by
random Fourier features (Rahimi & Recht 2007), polynomials by TensorSketch (Pham & Pagh 2013); both are unbiased over
seeds, and what is random in k̂(x, y) has a standard deviation of at most scale/√count and √(3^degree − 1) ‖z‖^degree
‖z′‖^degree/√count, z = (√coef0, √γ x).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array, like, namespace, row_blocks, to_float64, to_numpy
from ...distributions import Distribution, Empirical
from ...errors import InvalidInput, check_count
from ..base import Sample
from .embedding import Embedding
from .kernels import RBF, Kernel, as_kernel
from .polynomial import Polynomial

MAX_FEATURES = 1_000_000
DEFAULT_KERNEL = RBF()


@dataclass(frozen=True)
class RandomFeatures(Kernel):
    """k(x, y) = φ(x)·φ(y), close to an RBF or polynomial kernel: a client's kernel mean is `count` numbers.

    Parameters
    ----------
    kernel : `nm.RBF(sigma)` or `nm.Polynomial(degree)`
    count : numbers in φ, even for RBF; the error of a kernel value falls like 1/√count
    seed : of φ, which clients and server share

    The RBF features have ‖φ(x)‖² = scale at every x, so that noise can hide one row: see `nm.federated.Privacy`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> real, generated = rng.normal(size=(300, 8)), 1.5 * rng.normal(size=(300, 8))
    >>> exact = nm.kid(real, generated, nm.RBF())
    >>> abs(nm.kid(real, generated, nm.RandomFeatures(nm.RBF(), 4096)) / exact - 1) < 0.1
    True
    """

    kernel: Any = DEFAULT_KERNEL
    count: int = 1024
    seed: int = 0

    def __post_init__(self) -> None:
        kernel = as_kernel(self.kernel)
        if not (isinstance(kernel, RBF) or type(kernel) is Polynomial):
            raise InvalidInput("kernel", f"got {kernel}", "Give nm.RBF(sigma) or nm.Polynomial(degree)")
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "count", check_count(self.count, "count", minimum=2, maximum=MAX_FEATURES))
        object.__setattr__(self, "seed", check_count(self.seed, "seed", minimum=0))
        if self.is_bounded and self.count % 2:
            raise InvalidInput("count", f"got {self.count}", "Give an even number: features are cosine and sine pairs")

    def __str__(self) -> str:
        how = "random Fourier features" if self.is_bounded else "TensorSketch"
        return f"{self.count} {how} of {self.kernel}, seed {self.seed}"

    @property
    def is_bounded(self) -> bool:
        """Whether ‖φ(x)‖ is the same at every x."""
        return isinstance(self.kernel, RBF)

    def resolve(self, clients: Sequence[Sample]) -> RandomFeatures:
        return RandomFeatures(self.kernel.resolve(clients), self.count, self.seed)

    def features(self, rows: Array) -> Array:
        """φ of each row, (n, count)."""
        x, xp, d = to_float64(rows), namespace(rows), rows.shape[1]
        if self.is_bounded:
            angles = x @ like(_directions(self.seed, d, self.count // 2) / math.sqrt(self._variance(d)), x)
            return math.sqrt(2.0 * self.kernel.scale / self.count) * xp.concat([xp.cos(angles), xp.sin(angles)], axis=1)
        scaled = math.sqrt(self.kernel.gamma_of(d)) * x
        z = xp.concat([xp.full_like(x[:, :1], math.sqrt(self.kernel.coef0)), scaled], axis=1)
        spectrum: Any = 1.0
        for buckets, signs in _sketches(self.seed, d + 1, self.count, self.kernel.degree):
            spectrum = spectrum * xp.fft.rfft(_sketch(z, buckets, signs, self.count), axis=1)
        return xp.fft.irfft(spectrum, n=self.count, axis=1)

    def _variance(self, d: int) -> float:
        return self.kernel._variance(d)

    def embed(self, content: Any) -> Embedding:
        """The mean of φ over rows."""
        if isinstance(content, Embedding):
            return content
        n, mean = content.shape[0], np.zeros(self.count)
        for block in row_blocks(n, 16 * (self.count + content.shape[1])):
            phi = self.features(content[block, :])
            mean += to_numpy(namespace(phi).sum(phi, axis=0))
        return Embedding(mean / n)

    def content(self, sample: Sample) -> tuple[Any, float, float]:
        is_distribution = isinstance(sample.distribution, Empirical)
        rows: Any = sample.distribution.rows if isinstance(sample.distribution, Empirical) else sample.rows
        vector = self.finite(lambda: self.embed(rows).vector)
        return (
            Embedding(vector),
            math.inf if is_distribution else rows.shape[0],
            self.finite(lambda: self.diagonal(rows)),
        )

    def has_closed_form(self, distribution: Distribution) -> bool:
        return isinstance(distribution, Empirical)

    def block(self, x: Array, y: Array) -> Array:
        return self.features(x) @ self.features(y).T

    def elementwise(self, x: Array, y: Array) -> Array:
        return namespace(x, y).sum(self.features(x) * self.features(y), axis=1)

    def should_embed(self, parts: Sequence[Any], others: Sequence[Any]) -> bool:
        return True

    def should_pool(self, parts: Sequence[Any]) -> bool:
        return True

    def pool_parts(self, parts: Sequence[Any], weights: Sequence[float]) -> Embedding:
        pairs = zip(parts, weights, strict=True)
        return Embedding(np.sum([w * self.embed(p.content).vector for p, w in pairs], axis=0))

    def _mean(self, a: Any, b: Any) -> float:
        return float(self.embed(a).vector @ self.embed(b).vector)

    def _row_means(self, rows: Array, content: Any) -> np.ndarray:
        vector, means = self.embed(content).vector, np.empty(rows.shape[0])
        for block in row_blocks(rows.shape[0], 16 * self.count):
            phi = self.features(rows[block, :])
            means[block] = to_numpy(phi @ like(vector, phi))
        return means

    def is_single(self, x: Array, y: Array) -> bool:
        return False


def _sketch(z: Array, buckets: np.ndarray, signs: np.ndarray, count: int) -> Array:
    """The sums of the signed coordinates of each bucket, (n, count)."""
    if isinstance(z, np.ndarray):
        sketch = np.zeros((len(z), count))
        np.add.at(sketch.T, buckets, (signs * z).T)
        return sketch
    by_bucket = np.zeros((len(buckets), count))
    by_bucket[np.arange(len(buckets)), buckets] = signs
    return z @ like(by_bucket, z)


@lru_cache(maxsize=2)
def _directions(seed: int, d: int, pairs: int) -> np.ndarray:
    """(d, pairs) of standard normals."""
    return np.random.default_rng([seed, d]).standard_normal((d, pairs))


@lru_cache(maxsize=2)
def _sketches(seed: int, width: int, count: int, degree: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each factor of the power, the bucket and the sign of every coordinate."""
    rng = np.random.default_rng([seed, width])
    return [(rng.integers(count, size=width), rng.choice([-1.0, 1.0], size=width)) for _ in range(degree)]
