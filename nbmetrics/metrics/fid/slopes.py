"""How fast FID-all changes with the weight of each client, in closed form.

With T the optimal map from the pooled Gaussian to the generator's, T Ĉ T = C_G, and with (μ̂, Ĉ) as `Moments.pool` makes
them, where L = Σ λ_i²/n_i,

    dFID/dλ_i = 2(μ̂ − μ_G)·μ_i + Tr (I − T) Ĉ_i
    Ĉ_i = [C_i (1 − 1/n_i) + (μ_i − μ̂)(μ_i − μ̂)ᵀ + 2 λ_i/n_i Ĉ] / (1 − L)

along weights of sum 1: the weighted mean is taken off, so that what is left is the change as λ_i grows and the others
shrink in proportion. T = Rᵀ M^{-1/2} R with RᵀR = C_G and M = R Ĉ Rᵀ; in directions in which M is 0 no client that has
a weight varies. A client of weight 0 that brings such a direction makes FID fall like √λ_i: no slope, NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...arrays import Array, row_blocks, to_float64, to_numpy
from ...summaries.moments import Moments

EPS = 2.0**-52
# Of a client's variance as the generator sees it: how much outside of the pooled rows' directions is rounding.
OUTSIDE = 1e-9


def slopes(parts: Sequence[Moments], weights: Sequence[float], pooled: Moments, generated: Moments) -> np.ndarray:
    """(k,) slopes in units of FID, Σ λ_i slope_i = 0; NaN for a client of weight 0 with directions of its own."""
    shares = np.asarray(weights, dtype=np.float64)
    counts = np.array([part.count for part in parts], dtype=np.float64)
    means = np.stack([_numpy(part.mean) for part in parts])
    mean, lost = _numpy(pooled.mean), float(np.sum(shares**2 / counts))
    seen = GeneratorView(pooled, generated)
    traces, transported_trace = np.empty(len(parts)), np.empty(len(parts))
    for i, (part, shift) in enumerate(zip(parts, means - mean, strict=True)):
        inner = 1.0 - 1.0 / part.count
        traces[i] = inner * part.trace + shift @ shift
        transported_trace[i] = inner * seen.transported_trace(_numpy(part.root)) + seen.transported_trace(shift[None])
        if not shares[i] and not seen.holds(np.concatenate([_numpy(part.root), shift[None]])):
            transported_trace[i] = np.nan
    left = 1.0 - lost if lost < 1.0 else 1.0
    growth = 2.0 * shares / counts * (pooled.trace - float(np.sqrt(seen.values).sum()))
    each = 2.0 * means @ (mean - _numpy(generated.mean)) + (traces - transported_trace + growth) / left
    return np.asarray(each - float(shares[shares > 0] @ each[shares > 0]))


class GeneratorView:
    """The pooled clients as a generator sees them: R, and the spectrum of M without rounding."""

    def __init__(self, pooled: Moments, generated: Moments) -> None:
        self.root = _numpy(generated.root)
        values, vectors = _spectrum(pooled, generated)
        signal = values > max(*self.root.shape, 1) * EPS * values.max(initial=0.0)
        self.values, self.axes = values[signal], vectors[:, signal]
        self._map = self.root.T @ (self.axes * self.values**-0.25)  # T is this times its transpose

    def transported_trace(self, rows: np.ndarray) -> float:
        """Tr T rowsᵀrows."""
        blocks = row_blocks(len(rows), 8 * rows.shape[1])
        return math.fsum(float(np.sum((rows[block] @ self._map) ** 2)) for block in blocks)

    def holds(self, rows: np.ndarray) -> bool:
        """Whether all that the generator sees of the rows lies along the axes."""
        rows = rows @ self.root.T
        outside = rows - rows @ self.axes @ self.axes.T
        return float(np.sum(outside**2)) <= OUTSIDE * float(np.sum(rows**2))


def _numpy(a: Array) -> np.ndarray:
    return np.asarray(to_numpy(to_float64(a)))


def _spectrum(pooled: Moments, generated: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (r,) and eigenvectors (r, r) of M = R Ĉ Rᵀ."""
    is_dense = pooled.kept_dense is not None and generated.kept_dense is not None
    if is_dense and isinstance(pooled.mean, np.ndarray) and isinstance(generated.mean, np.ndarray):
        spectrum = np.linalg.eigh(generated.graded.congruent(pooled.dense), UPLO="L")
    else:
        product = _numpy(pooled.root) @ _numpy(generated.root).T
        spectrum = np.linalg.eigh(product.T @ product)
    return spectrum.eigenvalues, spectrum.eigenvectors
