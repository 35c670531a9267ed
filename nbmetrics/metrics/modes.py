"""Modes: which kinds of rows a generator makes too often or too rarely, from second moments of random features.

    M = E φφᵀ, not centered        M_all = Σ λ_i M_i

φ are random Fourier features (Rahimi & Recht 2007) of the Gaussian kernel. An eigenvector of M_G − η M_S with a large
eigenvalue points to rows that are generated more than η times as often as they are real: KEN (Zhang et al. 2024) and
FINC (arXiv 2405.02700, algorithm 1). Exchanging the sides gives what is made too rarely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, as_rows, count_each, row_blocks, to_numpy
from ..errors import InvalidInput, check_count, check_number
from .base import Metric, Sample
from .capabilities import MergeablePool, OnePass
from .kid.kernels import RBF
from .kid.random_features import RandomFeatures
from .streaming import summarized_once

MAX_SECOND_MOMENT_FEATURES = 4096
MAX_ABS_SIGMA = 1e100
# σ in median distances of the real rows: at the median itself rows of different classes are still alike.
MEDIAN_SHARE = 0.4
# The squared projection from which a row belongs to a mode, by default.
FLOOR = 0.25
# Of eigenvalues of many matrices, beside which rounding is small; and features below which all are computed.
LANCZOS_TOLERANCE, MIN_LANCZOS_FEATURES = 1e-6, 16


@dataclass(frozen=True, eq=False)
class SecondMoment:
    """E φφᵀ of rows, (count, count), symmetric with trace 1; linear in the distribution."""

    matrix: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes to send a triangle of it."""
        return 8 * math.comb(len(self.matrix) + 1, 2)


class SecondMomentFold:
    """The second moment of rows that come in blocks."""

    def __init__(self, kernel: RandomFeatures) -> None:
        self._kernel, self._rows = kernel, 0
        self._sum = np.zeros((kernel.count, kernel.count))

    def take(self, rows: Array) -> None:
        """Add a block of rows (n, d)."""
        for block in row_blocks(rows.shape[0], 16 * (self._kernel.count + rows.shape[1])):
            phi = self._kernel.features(rows[block, :])
            self._sum += to_numpy(phi.T @ phi)
        self._rows += rows.shape[0]

    def merge(self, other: SecondMomentFold) -> None:
        """Add the rows that another one took."""
        self._sum += other._sum
        self._rows += other._rows

    def end(self) -> SecondMoment:
        return SecondMoment(self._sum / self._rows)


class Directions(NamedTuple):
    """Eigenvectors, the largest eigenvalue first.

    Attributes
    ----------
    vectors : (count, m), of length 1
    values : (m,) > 0
    is_surplus : (m,) whether it is of M_A − η M_B, made oftener by A; else of M_B − η M_A
    """

    vectors: np.ndarray
    values: np.ndarray
    is_surplus: np.ndarray


class Modes(Metric[SecondMoment], OnePass, MergeablePool):
    """The largest surplus and shortage of a generator among kinds of rows; lower is better, from 0 to 1 + 1.

    The score is λ_max(M_G − η M_S) + λ_max(M_S − η M_G), each at least 0. It is biased upwards for few rows. What it is
    for are the kinds themselves: `Scores.modes`.

    Parameters
    ----------
    sigma : of the Gaussian kernel, in units of the features; None for 0.4 median distances of the real rows, which
        needs all clients' rows in one place
    count : numbers in φ, even: count/2 frequencies; a client reveals count (count + 1)/2 numbers
    eta : how many times as often rows are made before that is too often, or too rarely; 0.1 to 100
    seed : of the frequencies, which all parties share

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> real, shifted = rng.normal(size=(2, 200, 2)) + [[[0.0, 0.0]], [[4.0, 0.0]]]
    >>> scores = nm.evaluate({"a": real}, {"same": real, "shifted": shifted}, nm.metrics.Modes(sigma=2.0))
    >>> (scores.table["all"] > 1.0).tolist()
    [False, True]
    """

    name = "modes"
    label = "Modes"
    is_distance = True
    lowest, highest = 0.0, 2.0
    min_rows = 1

    def __init__(self, sigma: float | None = None, count: int = 512, eta: float = 1.0, seed: int = 0) -> None:
        if sigma is not None:
            sigma = check_number(sigma, "sigma", minimum=1 / MAX_ABS_SIGMA, maximum=MAX_ABS_SIGMA)
        self.sigma = sigma
        self.count = check_count(count, "count", minimum=2, maximum=MAX_SECOND_MOMENT_FEATURES)
        if self.count % 2:
            raise InvalidInput("count", f"got {self.count}", "Give an even number: features are cosine and sine pairs")
        self.eta = check_number(eta, "eta", minimum=0.1, maximum=100.0)
        self.seed = check_count(seed, "seed", minimum=0)

    def __repr__(self) -> str:
        return f"Modes(sigma={self.sigma}, count={self.count}, eta={self.eta:g}, seed={self.seed})"

    @property
    def settings(self) -> tuple[Any, ...]:
        """What two of them must share to be the same."""
        return self.sigma, self.count, self.eta, self.seed

    @property
    def convention(self) -> str:
        sigma = f"{MEDIAN_SHARE:g} median distances of real rows" if self.sigma is None else f"{self.sigma!r}"
        return (
            f"Modes: second moments of {self.count} random Fourier features, σ = {sigma}, η = {self.eta:g}, "
            f"seed {self.seed}"
        )

    @property
    def kernel(self) -> RandomFeatures:
        """The features φ; InvalidInput where σ is not known."""
        if self.sigma is None:
            seen = "is the median distance of all real rows, which is not known here"
            raise InvalidInput("sigma", seen, "Give a number that all clients share: nm.metrics.Modes(sigma=…)")
        return RandomFeatures(RBF(self.sigma), self.count, self.seed)

    def resolve(self, clients: Sequence[Sample]) -> Modes:
        """Return this with σ from the median distance of all clients' rows."""
        if self.sigma is not None:
            return self
        sigma = MEDIAN_SHARE * float(RBF("median").resolve(clients).sigma)  # type: ignore[arg-type]
        return Modes(sigma, self.count, self.eta, self.seed)

    def streaming_mode(self, dim: int) -> str:
        return "rows" if self.sigma is None else "once"

    def fold(self, dim: int) -> SecondMomentFold:
        return SecondMomentFold(self.kernel)

    def summarize(self, sample: Sample) -> SecondMoment:
        """E φφᵀ of the rows, or of a stream by one pass."""
        if sample.stream is not None:
            (summary,) = summarized_once(sample.stream, [self])
            return summary  # type: ignore[no-any-return]
        if sample.rows is None:
            raise InvalidInput("rows", "are an exact distribution", "Give rows, or samples= for drawn ones")
        fold = self.fold(sample.dim)
        fold.take(sample.rows)
        return fold.end()

    def pool(self, summaries: Sequence[SecondMoment], weights: Sequence[float]) -> SecondMoment:
        """Σ λ_i M_i."""
        matrix = np.zeros_like(summaries[0].matrix)
        for summary, weight in zip(summaries, weights, strict=True):
            matrix += weight * summary.matrix
        return SecondMoment(matrix)

    def pool_operator(self, dim: int) -> Callable[[Sequence[SecondMoment], Sequence[float]], SecondMoment]:
        """Second moments of mixtures are those of their mixture."""
        return self.pool

    def terms(self, real: SecondMoment, generated: SecondMoment) -> dict[str, float]:
        """`too_often` and `too_rarely`: the largest eigenvalues, 0 or more."""
        often, rarely = self.largest_eigenvalues(generated.matrix, real.matrix)
        return {"too_often": often, "too_rarely": rarely}

    def largest_eigenvalues(self, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
        """λ_max(A − η B) and λ_max(B − η A), 0 or more."""
        values = np.linalg.eigvalsh(a - self.eta * b)
        other = -values[0] if self.eta == 1.0 else np.linalg.eigvalsh(b - self.eta * a)[-1]
        return max(0.0, float(values[-1])), max(0.0, float(other))

    def largest_eigenvalue(self, a: np.ndarray, b: np.ndarray) -> float:
        """The larger of the two, by Lanczos' iteration, to a relative 1e-6."""
        from scipy.sparse.linalg import eigsh

        if self.count < MIN_LANCZOS_FEATURES:
            return max(self.largest_eigenvalues(a, b))
        pair = [a - self.eta * b] if self.eta == 1.0 else [a - self.eta * b, b - self.eta * a]
        size = "BE" if self.eta == 1.0 else "LA"
        ends = [
            eigsh(m, k=2, which=size, tol=LANCZOS_TOLERANCE, v0=np.ones(len(m)), return_eigenvectors=False)
            for m in pair
        ]
        return float(np.abs(ends).max() if self.eta == 1.0 else np.max(ends))

    def directions(self, a: np.ndarray, b: np.ndarray, most: int) -> Directions:
        """Return the leading eigenvectors of A − η B and of B − η A, `most` together, the largest eigenvalue first."""
        from scipy.linalg import eigh

        vectors, values, surplus = [], [], []
        for is_surplus, matrix in ((True, a - self.eta * b), (False, b - self.eta * a)):
            size = len(matrix)
            found, axes = eigh(matrix, subset_by_index=(max(0, size - most), size - 1))
            vectors.append(axes.T[::-1])
            values.append(found[::-1])
            surplus.append(np.full(len(found), is_surplus))
        every = np.concatenate(values)
        first = [k for k in np.argsort(-every, kind="stable")[:most] if every[k] > len(a) * np.finfo(float).eps]
        return Directions(np.concatenate(vectors)[first].T, every[first], np.concatenate(surplus)[first])


@dataclass(frozen=True, eq=False)
class ModeAssignment:
    """To which mode each row belongs: what a server sends to clients that keep their rows, and each computes.

    Attributes
    ----------
    metric : `Modes` with a known σ
    vectors : (count, m), one column a mode
    floor : the squared projection below which a row belongs to no mode
    """

    metric: Modes
    vectors: np.ndarray = field(repr=False)
    floor: float

    def assign(self, rows: Array) -> tuple[np.ndarray, np.ndarray]:
        """Return the mode of each row, (n,), −1 for none, and its squared projection on that, (n,)."""
        n, kernel = rows.shape[0], self.metric.kernel
        which, size = np.full(n, -1), np.zeros(n)
        if not self.vectors.shape[1]:
            return which, size
        for block in row_blocks(n, 16 * (kernel.count + rows.shape[1])):
            squared = (to_numpy(kernel.features(rows[block, :])) @ self.vectors) ** 2
            size[block] = squared.max(axis=1)
            which[block] = np.where(size[block] >= self.floor, squared.argmax(axis=1), -1)
        return which, size

    def shares(self, rows: Array) -> np.ndarray:
        """Return the share of the rows in each mode, (m,): the numbers that a client reveals for its column."""
        which, _ = self.assign(as_rows(rows, "rows"))
        return count_each(which[which >= 0], self.vectors.shape[1]) / len(which)
