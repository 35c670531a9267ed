"""Twin generators: every client scores both alike, and FID-all tells them apart.

Twin: labs/twins/view/maths.js · held by: tests/labs/twins/test_twins.py

The first twin is the pooled Gaussian N(μ̂, Ĉ), whose FID-all is 0. Where the clients share a covariance C there is a
closed form for the second (`twin`): N(μ̂ + √u β, C) with u = Bures²(C, Ĉ) and β a unit vector orthogonal to all
μ_i − μ̂. Elsewhere it is found numerically (`search`). The papers' own construction (`printed_twin`) has another u and
does not score alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from ..distributions import Gaussian
from ..errors import InvalidInput, check_count, shown
from ..metrics.fid.metric import fid
from ..ranking import lowest
from .aggregates import MeanRoot, as_federation, moments_of, pooled_gaussian
from .search import maximize_by_penalty, sequential

# Relative to the traces: covariances, or scores, this close are the same.
SAME = 1e-12
# Unknowns up to which sequential quadratic programming is the quicker search.
MAX_SEQUENTIAL_NUMBERS = 100
# Relative to the clients' scores: the constraints of the search, and the least gap worth the name.
MET, APART = 1e-10, 1e-6
# Relative to the trace: client scores below it are not held to 1e-8 of themselves, as the search rounds at the trace.
ROUNDED = 1e-7


class NoTwin(ValueError):
    """There is no twin, or none was found; the message says why."""


class Twin(NamedTuple):
    """Two generators with equal client scores.

    Attributes
    ----------
    first, second : the generators
    all_gap : FID-all(second) − FID-all(first), by a sum of squares that keeps its digits where FID's formula cancels
    """

    first: Gaussian
    second: Gaussian
    all_gap: float


def twin(
    federation: Any, *, starts: int = 4, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> Twin:
    """Two generators that every client scores alike while FID-all differs (Proposition 1, corrected).

    Parameters
    ----------
    federation : `Federation` of distributions with mean and covariance, or of rows (ddof 1)
    starts, seed : of the search, where the clients' covariances differ: from as many random places
    progress : called before each try of the search with its number and how many there are at most; what it raises
        ends the search

    Returns
    -------
    Twin: `first` is N(μ̂, Ĉ), with FID-all 0. With a shared covariance C and a direction β orthogonal to the clients'
    centred means, `second` is N(μ̂ + √u β, C) and `all_gap` is 2u, u = Bures²(C, Ĉ). Where no β is left it keeps the
    mean μ̂ and has a covariance S with Bures(C, S) = Bures(C, Ĉ). With unequal covariances mean and covariance are
    found by maximising FID-all with every client's score held, to 1e-8 of the scores or better.

    Raises
    ------
    NoTwin
        Where there is none or none was found, with the reason. So it is where the clients nearly coincide: no twin's
        FID-all then reaches a millionth of FID-avg, or the scores drown in rounding.

    Examples
    --------
    >>> pair = nm.theory.twin({"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])})
    >>> client = nm.Gaussian([1, 0])
    >>> abs(nm.fid(client, pair.first) - nm.fid(client, pair.second)) < 1e-9, round(pair.all_gap, 4)
    (True, 0.3431)
    """
    starts, seed = check_count(starts, "starts", maximum=10_000), check_count(seed, "seed", minimum=0)
    clients = as_federation(federation)
    moments = moments_of(clients)
    first = pooled_gaussian(clients)
    covs = [root.T @ root for _, root in moments]
    scale = np.trace(first.cov)
    heavy = [weight > 0 for weight in clients.weights]
    means = np.array([mean for mean, _ in moments])
    alike = np.ptp(means[heavy], axis=0).max() == 0
    if alike and all(_bures(root, first.root) <= SAME * scale for _, root in compress(moments, heavy)):
        raise NoTwin("All clients with weight have the same mean and covariance, so the score of each equals FID-all.")
    if max(np.abs(cov - covs[0]).max() for cov in covs) <= SAME * np.trace(covs[0]):
        second = _twin_of_shared_covariance(moments, clients.weights, first)
        if second is not None:
            return Twin(first, second, _fid_all(first, second))
    return _search_twin(moments, first, starts, seed, progress or (lambda tried, most: None))


def _twin_of_shared_covariance(moments: list[MeanRoot], weights: Sequence[float], first: Gaussian) -> Gaussian | None:
    """The second twin in closed form where all clients have one covariance, or None."""
    centred = np.array([mean for mean, _ in moments]) - first.mean
    root = moments[0].root
    cov, u = root.T @ root, _bures(root, first.root)
    avg = u + float(np.dot(weights, np.sum(centred**2, axis=1)))
    # Whatever scores alike is at most √u from C, so by the triangle inequality at most 2√u from Ĉ.
    if 4 * u <= APART * avg:
        close = f"Where FID-avg is {avg:.3g}, FID-all of no twin is above {4 * u:.3g}, too little to tell it apart."
        raise NoTwin(f"No twin: the clients nearly coincide. {close}")
    _, s, axes = np.linalg.svd(centred)
    rank = int(np.sum(s > SAME * math.sqrt(np.trace(first.cov))))
    if rank < first.dim:
        free = axes[-1] * np.sign(axes[-1][np.argmax(np.abs(axes[-1]))])
        return Gaussian(first.mean + math.sqrt(u) * free, cov)
    candidates = [Gaussian(first.mean, c) for c in _as_far(cov, first.cov, u)]
    if not candidates:
        return None
    gaps = np.array([_fid_all(first, candidate) for candidate in candidates])
    best = lowest(-gaps)
    return candidates[best] if gaps[best] > APART * u else None


def _as_far(cov: np.ndarray, pooled: np.ndarray, u: float) -> list[np.ndarray]:
    """Covariances S with Bures²(cov, S) = u = Bures²(cov, pooled): multiples of cov, and pooled mirrored in cov."""
    trace = float(np.trace(cov))
    if trace == 0:
        return []
    step = math.sqrt(u / trace)
    candidates = [(1 + sign * step) ** 2 * cov for sign in (1, -1) if 1 + sign * step >= 0]
    values, vectors = np.linalg.eigh(cov)
    if values[0] > SAME * values[-1]:
        half, inverse = ((vectors * values**p) @ vectors.T for p in (0.5, -0.5))
        inner, axes = np.linalg.eigh(half @ pooled @ half)
        transport = inverse @ (axes * np.sqrt(inner.clip(0))) @ axes.T @ inverse
        mirror = 2 * np.eye(len(cov)) - transport
        if np.linalg.eigvalsh(mirror)[0] >= 0:
            candidates.append(_symmetric(mirror @ cov @ mirror))
    return candidates


def _search_twin(
    moments: list[MeanRoot], first: Gaussian, starts: int, seed: int, progress: Callable[[int, int], None]
) -> Twin:
    """The second twin that FID-all likes least, among those found from random starts."""
    d, rng = first.dim, np.random.default_rng(seed)
    problem = _Problem(moments, first)
    score, trace = max(problem.wanted), float(np.trace(first.cov))
    if score <= ROUNDED * trace:
        close = f"Their scores, {score:.3g} or less, are lost in the rounding of variances that sum to {trace:.3g}."
        raise NoTwin(f"No twin: the clients nearly coincide. {close}")
    best: tuple[float, Gaussian] | None = None
    methods = (sequential, maximize_by_penalty) if d + d * d <= MAX_SEQUENTIAL_NUMBERS else (maximize_by_penalty,)
    for method, search in enumerate(methods):
        for start in range(starts):
            progress(method * starts + start + 1, len(methods) * starts)
            size = math.sqrt(score / d) * rng.uniform(0.3, 1.5)
            root = problem.root0 + size * rng.standard_normal((d, d))
            place = np.concatenate([first.mean + size * rng.standard_normal(d), root.ravel()])
            z, missed = search(problem.objective, problem.constraints, place, scale=score)
            gap = problem.objective(z)[0]
            if missed <= MET * score and gap > APART * score and (best is None or gap > best[0]):
                best = gap, problem.distribution(z)
        if best is not None:
            break
    if best is None:
        unknowns = d + d * (d + 1) // 2
        reason = (
            f"{len(moments)} clients hold {len(moments)} scores fixed, and mean and covariance have {unknowns} numbers"
        )
        often = "so as a rule there is none" if len(moments) > unknowns else f"but {starts} starts found none"
        raise NoTwin(f"No twin: {reason}, {often}.")
    return Twin(first, best[1], _fid_all(first, best[1]))


class _Problem:
    """Scores and gradients in z = (mean, factor R), covariance RᵀR: Bures² = ‖R‖² + ‖B‖² − 2‖B Rᵀ‖_*."""

    def __init__(self, moments: list[MeanRoot], first: Gaussian) -> None:
        self.dim = first.dim
        self.targets = moments
        self.pooled = MeanRoot(first.mean, first.root)
        self.root0 = np.zeros((self.dim, self.dim))
        self.root0[: len(first.root)] = first.root
        start = np.concatenate([first.mean, self.root0.ravel()])
        self.wanted = [self._fid(start, target)[0] for target in self.targets]

    def distribution(self, z: np.ndarray) -> Gaussian:
        return Gaussian.factored(z[: self.dim], z[self.dim :].reshape(self.dim, self.dim))

    def objective(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """FID-all and its gradient."""
        return self._fid(z, self.pooled)

    def constraints(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each client's score is off by (k,), and the gradients (k, unknowns)."""
        values, gradients = zip(*(self._fid(z, target) for target in self.targets), strict=True)
        return np.array(values) - self.wanted, np.array(gradients)

    def _fid(self, z: np.ndarray, target: MeanRoot) -> tuple[float, np.ndarray]:
        mean, base = target
        shift, root = z[: self.dim] - mean, z[self.dim :].reshape(self.dim, self.dim)
        u, s, vt = np.linalg.svd(base @ root.T, full_matrices=False)
        value = float(shift @ shift + np.sum(root * root) + np.sum(base * base) - 2 * np.sum(s))
        return value, np.concatenate([2 * shift, (2 * root - 2 * (u @ vt).T @ base).ravel()])


def printed_twin(federation: Any) -> Twin:
    """The papers' Proposition 1 as printed, which is wrong: its generators do *not* have equal client scores.

    N(μ̂, Ĉ) and N(μ̂ + √u β, Σ λ_i C_i) with u = Tr Σ λ_i (μ_i μ_iᵀ − μ̂ μ̂ᵀ) and β orthogonal to the means μ_i. For
    means ±e₁ in R³ and C = I the client scores are 1.1716 and 2; see `twin_differences`.

    Raises
    ------
    NoTwin
        Where the means span the space, so that there is no β.
    """
    clients = as_federation(federation)
    moments, weights = moments_of(clients), np.array(clients.weights)
    first = pooled_gaussian(clients)
    means = np.array([mean for mean, _ in moments])
    u = float(weights @ np.sum((means - first.mean) ** 2, axis=1))
    within = np.concatenate([math.sqrt(w) * root for w, (_, root) in zip(weights, moments, strict=True)])
    _, s, axes = np.linalg.svd(means)
    if np.sum(s > SAME * max(s[0], 1e-300)) == first.dim:
        raise NoTwin(f"The {len(means)} means span all {first.dim} dimensions, so no direction is orthogonal to them.")
    second = Gaussian.factored(first.mean + math.sqrt(u) * axes[-1], within)
    return Twin(first, second, _fid_all(first, second))


def twin_differences(federation: Any, pair: Twin) -> np.ndarray:
    """FID(client, second) − FID(client, first) for each client, (k,): 0 for twins.

    Examples
    --------
    >>> clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    >>> twins = nm.theory.twin(clients)
    >>> bool(np.abs(nm.theory.twin_differences(clients, twins)).max() < 1e-9)
    True
    """
    if not isinstance(pair, Twin):
        raise InvalidInput("pair", f"is {shown(pair)}", "Give the Twin that theory.twin or theory.printed_twin returns")
    distributions = [Gaussian.factored(*moments) for moments in moments_of(as_federation(federation))]
    return np.array([fid(distribution, pair.second) - fid(distribution, pair.first) for distribution in distributions])


def _fid_all(first: Gaussian, second: Gaussian) -> float:
    """FID of two distributions, however close they are."""
    return float(np.sum((first.mean - second.mean) ** 2)) + _bures(first.root, second.root)


def _bures(a: np.ndarray, b: np.ndarray) -> float:
    """Bures² of AᵀA and BᵀB: the smallest ‖A − QB‖² of all rotations Q, as a sum of squares so that nothing cancels."""
    u, _, vt = np.linalg.svd(a @ b.T, full_matrices=False)
    turned = vt @ b
    return float(np.sum((a - u @ turned) ** 2) + np.sum((b - vt.T @ turned) ** 2))


def _symmetric(a: np.ndarray) -> np.ndarray:
    return (a + a.T) / 2
