"""How much of FID-avg − FID-all would be there if all clients were alike, from their numbers of rows alone.

Few rows make Tr (C C_G)^{1/2} too small, more so for a client than for the pooled rows. Marchenko and Pastur's map says
by how much, from the eigenvalues λ of R Ĉ Rᵀ, with RᵀR = Ĉ_G, that the pooled score has anyway:

    S(t) = Σ λ/(λ+t)        T = Σ √λ = (2/π) ∫ √t (−S′) dt             of the pooled rows
    w = t e/S               where S(w) would be without noise; e = S/(1 − S/(n−1)) for n rows of equal weight
    t_i = w (1 − S/(n_i−1))₊        T_i = (2/π) ∫ √t_i (−S′) dt        of n_i rows of the same distribution

It counts rows, so where their lengths vary much (heavy tails) the true share is larger.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

# The trapezoid in ln t: its step, and how far it goes beyond the smallest and largest λ.
STEP = 0.35
BELOW, ABOVE = 13.0, 14.0
# Singular values below this share of the largest are rounding.
NOISE = 1e-7


def size_gap(singular: np.ndarray, trace: float, counts: Sequence[float], weights: Sequence[float]) -> float:
    """The expected gap if all clients had the distribution of the pooled rows, in the units of FID.

    Parameters
    ----------
    singular : √λ, the singular values between the roots of the pooled rows and of the generator
    trace : Tr Ĉ of the pooled rows
    counts, weights : rows n_i ≥ 2 (infinity for an exact distribution) and weight λ_i of each client
    """
    n, shares = (np.array(values, dtype=np.float64)[np.array(weights) > 0] for values in (counts, weights))
    lost = float(np.sum(shares**2 / n))
    means = trace * (float(np.sum(shares / n)) - lost)
    unit = float(singular.max(initial=0.0))
    if not unit:
        return means
    eigenvalues = (singular[singular > NOISE * unit] / unit) ** 2  # squares of very small or large ones have no room
    t = np.exp(np.arange(math.log(eigenvalues.min()) - BELOW, math.log(eigenvalues.max()) + ABOVE, STEP))
    inverse = 1.0 / (eigenvalues + t[:, None])
    s, slope = inverse @ eigenvalues, inverse**2 @ eigenvalues
    w = t * _pull(s, n, shares, lost) / s
    roots = sum(share * np.sqrt(w * np.maximum(0.0, 1.0 - s / (k - 1.0))) for share, k in zip(shares, n, strict=True))
    return means + unit * 4.0 / math.pi * STEP * float(np.sum((np.sqrt(t) - roots) * slope * t))


def _pull(s: np.ndarray, n: np.ndarray, shares: np.ndarray, lost: float) -> np.ndarray:
    """e with Σ λ_i e/(1 + v_i e) = S, where v_i = λ_i/n_i/(1 − lost) is the weight of a row in Ĉ."""
    v = shares / n / (1.0 - lost)
    if np.isfinite(n).all():  # as many directions as rows can show, and unequal weights show fewer
        s = np.minimum(s, 0.999 * float(n.sum()) * (1.0 - lost))
    e = s.copy()
    for _ in range(100):  # Newton from below on a concave function
        growth = 1.0 + v * e[:, None]
        step = (s - (shares * e[:, None] / growth).sum(axis=1)) / (shares / growth**2).sum(axis=1)
        e = e + step
        if np.all(np.abs(step) <= 1e-12 * e):
            break
    return e
