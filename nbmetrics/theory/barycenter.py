"""The Bures–Wasserstein barycenter of the clients, which minimises FID-avg, and what it says of FID-avg.

Twin: labs/playground/view/best_generators.js · held by: tests/labs/playground/test_headline_page.py

The papers claim FID-avg(G) = FID(X̃, G) + Σ λ_i FID(X̃, X_i) with X̃ the barycenter. That holds where all covariances,
the generator's too, commute; in general FID-avg is the smaller side, and X̃ minimises it all the same.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..arrays import psd_root
from ..distributions import Gaussian
from ..errors import InvalidInput, check_count, shown
from ..metrics.base import Sample
from ..metrics.fid.metric import FID
from .aggregates import as_federation, average, moments_of, pooled_gaussian, summaries

# Relative: a step of d times this is rounding, and a last gain in FID-avg below the other is none.
ROUNDING, NO_GAIN = 2.0**-52, 1e-12


class AvgBound(NamedTuple):
    """FID-avg of a generator, and FID(X̃, G) + Σ λ_i FID(X̃, X_i), which is never below it."""

    avg: float
    bound: float

    @property
    def difference(self) -> float:
        """bound − avg ≥ 0; 0 where all covariances commute."""
        return self.bound - self.avg


class Minimizers(NamedTuple):
    """The Gaussians that no generator beats by FID-avg and by FID-all."""

    of_avg: Gaussian
    of_all: Gaussian


def barycenter(federation: Any, *, iterations: int = 1_000) -> Gaussian:
    """X̃ = N(μ̂, C̃), the distribution that minimises FID-avg (Theorem 2.2).

    C̃ solves C̃ = Σ λ_i (C̃^{1/2} C_i C̃^{1/2})^{1/2}; see `barycenter_residual`. In factors C = RᵀR the fixed point is
    R ← Σ λ_i Q_i R_i with Q_i the rotation of R_i nearest to R, so no inverse is needed and singular covariances are
    as good as others; where all of them commute, C̃ = (Σ λ_i C_i^{1/2})².

    Parameters
    ----------
    federation : `Federation` of distributions with mean and covariance, or of rows (ddof 1)
    iterations : at most this many; it stops when a step is rounding

    Raises
    ------
    InvalidInput
        Where FID-avg still falls after `iterations`.

    Examples
    --------
    >>> narrow, wide = nm.Gaussian([0.0], 1.0), nm.Gaussian([0.0], 9.0)  # standard deviations 1 and 3
    >>> nm.theory.barycenter([narrow, wide]).cov.round(6).tolist()
    [[4.0]]
    """
    clients = as_federation(federation)
    moments, weights = moments_of(clients), clients.weights
    centre = np.asarray(weights) @ [mean for mean, _ in moments]
    roots = [(w, root) for w, (_, root) in zip(weights, moments, strict=True) if w and root.any()]
    if not roots:
        return Gaussian(centre, 0.0)
    root, gain = _fixed_point(roots, check_count(iterations, "iterations"))
    # Where C̃ is singular in a direction of some client, the steps shrink slowly while FID-avg is long at its least.
    if gain > NO_GAIN:
        raise InvalidInput("iterations", f"{iterations} were not enough to converge", "Allow more")
    return Gaussian.factored(centre, root)


def _fixed_point(roots: list[tuple[float, np.ndarray]], iterations: int) -> tuple[np.ndarray, float]:
    """The factor where a step is rounding, or the last one, and by what part of C̃'s trace one more raises the trace.

    Steps are taken from ahead on the line through the last two, from the point itself again after each step that turned
    back: adaptive restart by the gradient (O'Donoghue & Candès 2015).
    """
    root = previous = psd_root(np.sum([w * r.T @ r for w, r in roots], axis=0))
    straight = 0
    for _ in range(iterations):
        ahead = root + straight / (straight + 3) * (root - previous)
        previous, root = root, np.sum([w * _rotate(r, ahead) for w, r in roots], axis=0)
        if np.linalg.norm(root - ahead) <= max(32, root.shape[1]) * ROUNDING * np.linalg.norm(root):
            return root, 0.0
        straight = 0 if np.vdot(ahead - root, root - previous) > 0 else straight + 1
    last = np.sum([w * _rotate(r, root) for w, r in roots], axis=0)
    return last, float(1 - (np.linalg.norm(root) / np.linalg.norm(last)) ** 2)


def _rotate(root: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """The factor of the same covariance that is nearest to `towards` (orthogonal Procrustes)."""
    u, s, vt = np.linalg.svd(towards @ root.T, full_matrices=False)
    keep = s > s[0] * 1e-14
    return u[:, keep] @ (vt[keep] @ root)


def barycenter_residual(federation: Any, distribution: Gaussian) -> float:
    """How far a distribution N(μ, C) is from the barycenter's equations.

    ‖C − Σ λ_i (C^{1/2} C_i C^{1/2})^{1/2}‖ over the trace of C, and ‖μ − μ̂‖ over the root of that trace: both without
    unit and relative to the distribution's own spread. The result is the root of the sum of their squares.

    Parameters
    ----------
    federation : as in `barycenter`
    distribution : Gaussian in as many dimensions

    Returns
    -------
    float ≥ 0, and 0 (to rounding) for the barycenter. Where C is positive definite, 0 proves that the distribution is
    the barycenter, as FID-avg is convex in C. Where C is singular, 0 proves nothing: the equation does not see
    directions in which C has no variance, so that N(μ̂, 0) solves it for any clients. Compare FID-avg then.

    Examples
    --------
    >>> clients = [nm.Gaussian([0.0], 1.0), nm.Gaussian([0.0], 9.0)]
    >>> best = nm.theory.barycenter(clients)
    >>> nm.theory.barycenter_residual(clients, best) < 1e-9, best.cov.round(6).tolist()  # ((1 + 3) / 2)²
    (True, [[4.0]])
    """
    clients = as_federation(federation)
    if not isinstance(distribution, Gaussian) or distribution.dim != clients.dim:
        raise InvalidInput("distribution", f"is {shown(distribution)}", f"Give a Gaussian in {clients.dim} dimensions")
    _, s, axes = np.linalg.svd(distribution.root, full_matrices=False)
    half = (axes.T * s) @ axes
    image, moments = np.zeros_like(half), moments_of(clients)
    for w, (_, root) in zip(clients.weights, moments, strict=True):
        _, inner, axes = np.linalg.svd(root @ half, full_matrices=False)
        image += w * (axes.T * inner) @ axes
    trace = max(float(np.trace(distribution.cov)), np.finfo(float).tiny)
    shift = distribution.mean - np.asarray(clients.weights) @ [mean for mean, _ in moments]
    return math.hypot(np.linalg.norm(distribution.cov - image) / trace, np.linalg.norm(shift) / math.sqrt(trace))


def fid_avg_bound(federation: Any, generator: Any) -> AvgBound:
    """Theorem 2.2, corrected: FID-avg(G) ≤ FID(X̃, G) + Σ λ_i FID(X̃, X_i), with equality where covariances commute.

    The papers print an equality. Parameters as in `fid_all_identity`.

    Examples
    --------
    >>> clients = [nm.Gaussian([0, 0], [[2, 1], [1, 1]]), nm.Gaussian([0, 0], [1, 3])]
    >>> found = nm.theory.fid_avg_bound(clients, nm.Gaussian([0, 0]))
    >>> found.avg < found.bound
    True
    """
    clients = as_federation(federation)
    real, summary = summaries(FID(), clients, generator)
    centre = barycenter(clients)
    middle = FID().summarize(Sample(distribution=centre))
    spread = math.fsum(w * FID().distance(s, middle) for s, w in zip(real, clients.weights, strict=True))
    return AvgBound(average(FID(), real, summary, clients.weights), FID().distance(middle, summary) + spread)


def minimizers(federation: Any) -> Minimizers:
    """The best generators there can be: the barycenter by FID-avg, N(μ̂, Ĉ) by FID-all (Theorem 2).

    Examples
    --------
    >>> clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    >>> best = nm.theory.minimizers(clients)
    >>> best.of_avg.cov.round(6).tolist(), best.of_all.cov.round(6).tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 1.0]])
    """
    return Minimizers(barycenter(federation), pooled_gaussian(federation))
