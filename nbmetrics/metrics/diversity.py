"""Vendi, RKE and RRKE: how many things a generator makes, and how far that is from what the clients hold.

From a kernel with k(x, x) = 1 and rows x_a of weight w_a, eigenvalues p of the matrix √(w_a w_b) k(x_a, x_b) sum to 1:

    Vendi = exp(−Σ p log p)                      Shannon's entropy (Friedman & Dieng 2023)
    RKE   = 1 / Σ p² = 1 / E k(X, X′)²           Rényi's of order 2 (Jalali et al. 2023)
    RRKE  = −2 log Σ singular values of √(w_a v_b) k(x_a, y_b)       of order ½, relative to real rows (ibid.)

The first two count: k equal groups far apart score k. Groups of which a generator makes j score log(k/j) by RRKE. The
relative von Neumann entropy, which would go with Vendi, is infinite wherever generated rows span less than real ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..arrays import Array, align, has_direction, like, namespace, row_blocks, to_float64, to_numpy, unit_rows
from ..distributions import Distribution
from ..errors import InvalidInput, shown
from ..summaries.kernel_mean import KernelMean
from ..summaries.roots import nuclear_norm
from ..summaries.rows import Rows
from .base import Metric, Sample, score_pair
from .capabilities import ClosedForm
from .generator_only import GeneratorOnly, score_alone
from .kid.estimators import AllPairs
from .kid.kernels import RBF
from .weak_cache import remember

# Beyond as many rows a full matrix of pairs, and its spectrum, takes minutes; of a distribution fewer are drawn.
MAX_ROWS, DRAWN_ROWS = 5000, 2000


class OwnRows(Rows):
    """Rows of which no client sends any."""

    nbytes = 0  # type: ignore[assignment]


class OwnMean(KernelMean):
    """A kernel mean of which no client sends any."""

    nbytes = 0  # type: ignore[assignment]


class Vendi(GeneratorOnly[Rows]):
    """Vendi score of the generated rows (Friedman & Dieng 2023): the effective number of directions, or of points.

    Parameters
    ----------
    kernel : "cosine" (the default, as the published scores of images), which sees no more than d directions, or
        `nm.RBF(sigma)`, up to 5,000 rows

    From 1 (copies of one row) to the number of rows; higher is better. Weighted rows count as if repeated in that
    proportion.
    """

    name = "vendi"
    label = "Vendi"

    def __init__(self, kernel: Any = "cosine") -> None:
        if not isinstance(kernel, RBF) and not (isinstance(kernel, str) and kernel == "cosine"):
            raise InvalidInput("kernel", f"got {shown(kernel)}", "Give 'cosine' or nm.RBF(sigma)")
        self.kernel: RBF | None = kernel if isinstance(kernel, RBF) else None

    def resolve(self, clients: Sequence[Sample]) -> Vendi:
        """Vendi with σ fixed for all generators."""
        return self if self.kernel is None else Vendi(self.kernel.resolve(clients))

    def summarize(self, sample: Sample) -> Rows:
        """The rows of `sample`."""
        return OwnRows.of(sample)

    def pool(self, summaries: Sequence[Rows], weights: Sequence[float]) -> Rows:
        """All rows together, each with its weight."""
        return OwnRows.pool(summaries, weights)

    def score(self, generated: Rows) -> float:
        return remember(generated, ("vendi", self.kernel), lambda: _entropy(self._spectrum(generated)))

    def rows_of(self, generated: Rows) -> float:
        return 1.0 / float(np.sum(to_numpy(generated.weights) ** 2))

    def _spectrum(self, generated: Rows) -> np.ndarray:
        """The eigenvalues that are not 0 for want of rows or features."""
        if self.kernel is None:
            matrix = _angles(generated)
        else:
            _check_pairs(generated.rows)
            roots, rows = namespace(generated.rows).sqrt(generated.weights), to_float64(generated.rows)
            matrix = self.kernel.block(rows, rows) * roots[:, None] * roots[None, :]
        return to_numpy(namespace(matrix).linalg.eigvalsh(matrix))

    @property
    def settings(self) -> str:
        kernel = "cosine kernel" if self.kernel is None else str(self.kernel)
        return f"exponential of the entropy of the eigenvalues, {kernel}"


def _entropy(values: np.ndarray) -> float:
    """exp of Shannon's entropy, at least 1."""
    values = values[values > 0.0] / np.sum(values[values > 0.0])
    return max(1.0, math.exp(-float(np.sum(values * np.log(values)))))


def _angles(rows: Rows) -> Array:
    """The matrix of √(w_a w_b) cos(x_a, x_b), or the (d, d) one of the same eigenvalues where that is smaller."""
    unit = unit_rows(rows.rows)
    xp = namespace(unit)
    if not bool(xp.all(has_direction(unit))):
        row = int(xp.argmin(xp.astype(has_direction(unit), xp.int64)))
        raise InvalidInput("rows", f"row {row} is 0, and has no direction", "Drop it, or use Vendi(nm.RBF(sigma))")
    roots = xp.sqrt(rows.weights)[:, None]
    n, d = unit.shape
    if n <= d:
        wide = to_float64(unit) * roots
        return wide @ wide.T
    matrix = like(np.zeros((d, d)), unit)
    for block in row_blocks(n, 16 * d):
        wide = to_float64(unit[block, :]) * roots[block]
        matrix += wide.T @ wide
    return matrix


def _check_pairs(*sides: Array) -> None:
    most = max(rows.shape[0] for rows in sides)
    if most > MAX_ROWS:
        fix = f"Give at most {MAX_ROWS:,} rows, draw fewer with samples=…, or use Vendi('cosine') or RKE"
        raise InvalidInput("rows", f"the spectrum of all pairs of {most:,} rows takes too long", fix)


class RKE(GeneratorOnly[KernelMean], ClosedForm):
    """Rényi kernel entropy of the generated rows, as a count of modes (Jalali et al. 2023): 1 / E k(X, X′)².

    Parameters
    ----------
    sigma : of k(x, y) = exp(−‖x − y‖² / 2σ²), a number or "median": the median distance between rows of the clients,
        once for all generators. It counts modes where σ lies between the distances within modes and those between them;
        the median is safe, and low.

    From 1 to the number of rows; higher is better. k² is a Gaussian kernel too, of width σ/√2, so this is one over a
    kernel mean: exact for Gaussians and mixtures, and pooled under any weights.
    """

    name = "rke"
    label = "RKE"

    def __init__(self, sigma: Any = "median") -> None:
        self.kernel = _gaussian(sigma)

    def resolve(self, clients: Sequence[Sample]) -> RKE:
        """RKE with σ fixed for all generators."""
        return RKE(self.kernel.resolve(clients).sigma)

    def has_closed_form(self, distribution: Distribution) -> bool:
        return self.kernel.has_closed_form(distribution)

    @property
    def _means(self) -> AllPairs:
        sigma = self.kernel.sigma
        return AllPairs(self.kernel if isinstance(sigma, str) else RBF(cast(float, sigma) / math.sqrt(2.0)), False)

    def summarize(self, sample: Sample) -> KernelMean:
        """The kernel mean of the rows (n ≥ 2), or of the exact distribution."""
        mean = self._means.summarize(sample)
        return OwnMean(mean.parts, mean.weights)

    def pool(self, summaries: Sequence[KernelMean], weights: Sequence[float]) -> KernelMean:
        """The kernel mean of the mixture."""
        return OwnMean.pool(summaries, weights)

    def score(self, generated: KernelMean) -> float:
        mean = generated.self_mean(unbiased=False)
        if mean < 1e-300:
            raise InvalidInput("sigma", "is so small that k of two draws is 0", "Give a larger sigma")
        return max(1.0, 1.0 / mean)

    def rows_of(self, generated: KernelMean) -> float:
        share = math.fsum(w * w / part.count for part, w in zip(generated.parts, generated.weights, strict=True))
        return 1.0 / share if share else math.inf

    @property
    def settings(self) -> str:
        return f"1/E k², {_kernel_text(self.kernel)}"


def _gaussian(sigma: Any) -> RBF:
    if sigma is None:
        raise InvalidInput("sigma", "got None", "Give a number, or 'median'")
    return RBF(sigma)


def _kernel_text(kernel: RBF) -> str:
    return str(kernel).replace("RBF", "k =", 1)


class RRKE(Metric[Rows]):
    """Relative Rényi kernel entropy of order ½ (Jalali et al. 2023): −2 log ‖K_XY‖_*/√(nm), ≥ 0, lower is better.

    Parameters
    ----------
    sigma : as in `RKE`

    0 for equal kernel covariances; log(k/j) where the clients hold k equal groups far apart and the generator makes j.
    A convex divergence, so RRKE-all ≤ RRKE-avg under any weights; but of equal distributions too it is above 0 on rows,
    the farther the fewer there are, and so is a gap. Rows count as they weigh, at most 5,000 a side.
    """

    name = "rrke"
    label = "RRKE"
    lowest = 0.0
    min_rows = 1
    copies_matter = True

    def __init__(self, sigma: Any = "median") -> None:
        self.kernel = _gaussian(sigma)

    def resolve(self, clients: Sequence[Sample]) -> RRKE:
        """RRKE with σ fixed for all clients and generators."""
        return RRKE(self.kernel.resolve(clients).sigma)

    def summarize(self, sample: Sample) -> Rows:
        """The rows of `sample`."""
        return Rows.of(sample)

    def pool(self, summaries: Sequence[Rows], weights: Sequence[float]) -> Rows:
        """All rows together, each with its weight."""
        return Rows.pool(summaries, weights)

    def terms(self, real: Rows, generated: Rows) -> dict[str, float]:
        """The divergence, under its name."""
        x, y = align(real.rows, generated.rows)
        _check_pairs(x, y)
        xp = namespace(x, y)
        a, b = (xp.sqrt(like(to_numpy(side.weights), x)) for side in (real, generated))
        matrix = self.kernel.block(to_float64(x), to_float64(y)) * a[:, None] * b[None, :]
        overlap = nuclear_norm(matrix, 1e-12)
        if overlap < 1e-300:
            raise InvalidInput("sigma", "is so small that k of real and generated rows is 0", "Give a larger sigma")
        return {"rrke": max(0.0, -2.0 * math.log(overlap))}

    @property
    def convention(self) -> str:
        return f"RRKE: −2 log of the overlap of kernel covariances (order ½), {_kernel_text(self.kernel)}"


def vendi(rows: Any, kernel: Any = "cosine") -> float:
    """Vendi score of rows (Friedman & Dieng 2023): the exponential of the entropy of the eigenvalues of K/n.

    Parameters
    ----------
    rows : (n, d) rows of features (NumPy or torch), none of them 0, or a distribution, of which 10,000 rows are drawn
    kernel : "cosine", or `nm.RBF(sigma)` for at most 5,000 rows

    Returns
    -------
    float from 1 (copies of one row) to n (nothing alike), with the cosine kernel to min(n, d)

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, no rows, rows of zeros, another kernel, or too many rows.

    Examples
    --------
    >>> round(nm.vendi([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 1.0]]), 6)
    2.0
    """
    return score_alone(Vendi(kernel), rows, "rows")


def rke(rows: Any, sigma: Any = "median") -> float:
    """Rényi kernel entropy of order 2 of rows, as a count of modes (Jalali et al. 2023): n² / ‖K‖²_F.

    Parameters
    ----------
    rows : (n, d) rows of features (NumPy or torch, n ≥ 2), or a distribution (exact for Gaussians and mixtures)
    sigma : of the Gaussian kernel exp(−‖x − y‖² / 2σ²), or "median": the median distance of these very rows, by which
        two samples of different width score alike; give one number to compare them

    Returns
    -------
    float from 1 to n

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, fewer than 2 rows, or a σ that is no distance.

    Examples
    --------
    >>> round(nm.rke([[0.0], [0.0], [100.0], [100.0]], sigma=1.0), 6)
    2.0
    """
    return score_alone(RKE(sigma), rows, "rows")


def rrke(real: Any, generated: Any, sigma: Any = "median") -> float:
    """Relative Rényi kernel entropy of order ½ between two samples (Jalali et al. 2023).

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch, n, m ≤ 5,000), or distributions, of which
        2,000 rows are drawn
    sigma : of the Gaussian kernel exp(−‖x − y‖² / 2σ²), or "median": the median distance between real rows

    Returns
    -------
    float ≥ 0; lower is better

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, too many rows, or a σ that is no distance.

    Examples
    --------
    >>> round(nm.rrke([[0.0], [100.0]], [[0.0], [0.0]], sigma=1.0), 6)  # one of two modes: log 2
    0.693147
    """
    return score_pair(RRKE(sigma), real, generated, samples=DRAWN_ROWS)
