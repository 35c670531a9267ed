"""Differential privacy for what a client sends: Gaussian noise on bounded summaries, and exact accounts of it.

Neighbours: two clients' data are neighbours when one row of one client is replaced by another (replace-one). The number
of rows n, the clip and the centre are public. Then (ε, δ) bounds what anybody learns of any single row, whatever else
they know of the others.

Sensitivity Δ, how far a release moves when one row x is replaced by x′, in Euclidean length:

* mean of random Fourier features: ‖φ(x)‖ = 1, so Δ = 2/n.
* mean and second moment of rows clipped to norm C about a centre c: with u = (x − c)/C, ‖u‖ ≤ 1, the release is the
  mean of (u, uuᵀ), a matrix by its triangle with √2 times what is off the diagonal (an isometry for Frobenius norms).
  Δ = √4.5/n. Proof: let t = cos of the angle between u and v, r = ‖u‖, s = ‖v‖. Then ‖u − v‖² + ‖uuᵀ − vvᵀ‖² =
  r² + s² − 2rst + r⁴ + s⁴ − 2r²s²t². Changing the sign of t > 0 makes it larger, so let t = −q, q in [0, 1]. The
  derivative in r, 2r + 2sq + 4r³ − 4rs²q², is concave in p = sq in [0, 1] and not negative at its ends p = 0 and p = 1
  (4r³ − 2r + 2 > 0), so it is never negative: r = 1, and likewise s = 1. Left is 4 + 2q − 2q², at most 4.5, at q = ½.

Noise of standard deviation z Δ in every number makes a release Gaussian-DP with μ = 1/z; m releases on the same rows
compose to μ√m exactly, and releases of different clients, whose rows are disjoint, to the largest μ of them (Dong, Roth
& Su 2022). δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2) (Balle & Wang 2018). A release of pure ε, δ = 0, is Gaussian-DP
with μ = −2Φ⁻¹(1/(1 + e^ε)): a test of size α then has a type II error of at least max(1 − e^ε α, e^−ε (1 − α)), two
straight lines that meet at α = 1/(1 + e^ε). Gaussian-DP's curve is convex and begins, meets and ends with them at this
μ, so it lies below, and touches only there. What is made of a release, its repair to a covariance included, costs
nothing more.

Floating-point noise is not real noise: its low digits have been used to break such mechanisms (Mironov 2012; Jin et al.
2022, "Are we there yet?"). It hides rows from analysts, not from an adversary who reads the last bits of every number.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from ..arrays import as_rows, to_float64, to_numpy
from ..errors import InvalidInput, check_count, check_list, check_number

# Of the squares of Δ n.
MOMENTS, FEATURES = 4.5, 4.0
MIN_DELTA, MAX_DELTA = 1e-30, 0.5
MIN_EPSILON, MAX_EPSILON = 1e-3, 1e3
MIN_CLIP, MAX_CLIP = 1e-12, 1e12


@dataclass(frozen=True)
class Privacy:
    """(ε, δ)-differential privacy of every row of a client, for all that one call of `client_summary` sends.

    Parameters
    ----------
    epsilon, delta : the bound: whatever is concluded from what is sent has, with one row replaced, a probability at
        most e^ε times as large plus δ. δ well below 1/n
    clip : norm C to which rows are clipped about `centre`, for FID; not chosen by looking at the rows
    centre : (d,) public point, the same for all clients; 0 by default
    seed : None draws noise from the operating system, as a release has to; a number repeats it, for tests alone

    Neighbours replace one row; numbers of rows are public. The proofs, and what floating-point noise does not
    hide, stand in `nbmetrics/federated/privacy.py`.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(5000, 4))
    >>> private = nm.federated.Privacy(epsilon=2, delta=1e-6, clip=4.0, seed=0)
    >>> sent = nm.federated.client_summary(rows, "fid", privacy=private)
    >>> float(nm.federated.aggregate([sent], None, {"g": nm.Gaussian([0.0] * 4)}, "fid").table["all"][0]) < 0.2
    True
    """

    epsilon: float
    delta: float = 1e-5
    clip: float | None = None
    centre: Any = None
    seed: int | None = None

    def __post_init__(self) -> None:
        checked = {
            "epsilon": check_number(self.epsilon, "epsilon", minimum=MIN_EPSILON, maximum=MAX_EPSILON),
            "delta": check_number(self.delta, "delta", minimum=MIN_DELTA, maximum=MAX_DELTA),
            "clip": None if self.clip is None else check_number(self.clip, "clip", minimum=MIN_CLIP, maximum=MAX_CLIP),
            "centre": None if self.centre is None else checked_centre(self.centre),
            "seed": None if self.seed is None else check_count(self.seed, "seed", minimum=0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def mu(self) -> float:
        """μ with which all that the call sends is Gaussian-DP."""
        return 1.0 / self.multiplier(1)

    def multiplier(self, releases: int) -> float:
        """Return z of each of so many releases: noise of z times their sensitivity spends ε and δ on all together."""
        return noise_multiplier(self.epsilon, self.delta, releases)

    def stream(self) -> Normals:
        """Return the stream of the noise of one call."""
        return Normals(self.seed)


@dataclass(frozen=True)
class PureEpsilon:
    """ε-differential privacy with δ = 0, as a private quantile has it."""

    epsilon: float

    @property
    def mu(self) -> float:
        """The smallest μ whose Gaussian-DP covers it."""
        return float(-2.0 * ndtri_exp(-np.logaddexp(0.0, self.epsilon)))


class Normals:
    """Standard normals: from the operating system where the seed is None, and repeatable otherwise."""

    def __init__(self, seed: int | list[int] | None) -> None:
        self._rng = None if seed is None else np.random.default_rng(seed)

    def draw(self, count: int) -> np.ndarray:
        """Return (count,) normals, by the inverse of Φ at 52 bits of the system's own generator."""
        if self._rng is not None:
            return self._rng.standard_normal(count)
        return np.asarray(ndtri(system_uniforms(count)))


def system_uniforms(count: int) -> np.ndarray:
    """Return (count,) numbers between 0 and 1, both excluded, of 52 bits of the system's own generator."""
    bits = np.frombuffer(os.urandom(8 * count), dtype=np.uint64) >> np.uint64(12)
    return np.asarray((bits + 0.5) * 2.0**-52)


def spent(noise_multipliers: Any, delta: float) -> float:
    """ε of Gaussian mechanisms on the same rows, one after the other; exact.

    Parameters
    ----------
    noise_multipliers : z of each, its noise's standard deviation over its sensitivity; a number or a list
    delta : δ, from 1e-30 to 0.5

    Examples
    --------
    >>> round(nm.federated.spent([4.0] * 50, 1e-5), 6)
    8.595866
    """
    multipliers = noise_multipliers if isinstance(noise_multipliers, Iterable) else [noise_multipliers]
    values = [
        check_number(z, "noise_multipliers", minimum=1e-3, maximum=1e9)
        for z in check_list(multipliers, "noise_multipliers")
    ]
    if not values:
        raise InvalidInput("noise_multipliers", "is empty", "Give one for each release")
    goal = math.log(check_number(delta, "delta", minimum=MIN_DELTA, maximum=MAX_DELTA))
    mu = math.sqrt(math.fsum(z**-2 for z in values))
    if log_delta(0.0, mu) <= goal:
        return 0.0
    from scipy.optimize import brentq

    most = mu * (mu + math.sqrt(-2.0 * goal) + 2.0)
    return float(brentq(lambda e: log_delta(e, mu) - goal, 0.0, most, xtol=1e-13, rtol=1e-14))


def noise_multiplier(epsilon: float, delta: float, releases: int = 1) -> float:
    """z with which so many Gaussian mechanisms on the same rows spend (ε, δ) together; the inverse of `spent`.

    >>> round(nm.federated.noise_multiplier(8.595866, 1e-5, 50), 4)
    4.0
    """
    bound = check_number(epsilon, "epsilon", minimum=MIN_EPSILON, maximum=MAX_EPSILON)
    goal = math.log(check_number(delta, "delta", minimum=MIN_DELTA, maximum=MAX_DELTA))
    count = check_count(releases, "releases", maximum=10**6)
    from scipy.optimize import brentq

    z = brentq(lambda x: log_delta(bound, math.exp(-x)) - goal, math.log(1e-4), math.log(1e8), xtol=1e-14)
    return math.exp(z) * math.sqrt(count) * (1.0 + 1e-9)  # rounding may not spend more


def log_delta(epsilon: float, mu: float) -> float:
    """Return log δ(ε) of Gaussian-DP μ."""
    high = float(log_ndtr(mu / 2.0 - epsilon / mu))
    low = float(log_ndtr(-mu / 2.0 - epsilon / mu)) + epsilon
    return high + math.log1p(-min(math.exp(low - high), 1.0 - 1e-16))


def clipped_moments(rows: Any, privacy: Privacy) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of u and of uuᵀ, as an isometric triangle; u = (x − c)/C clipped to the unit ball."""
    if privacy.clip is None:
        raise InvalidInput(
            "privacy", "has no clip, which limits the effect of one row on FID", "Set Privacy(…, clip=C)"
        )
    x = to_numpy(to_float64(rows))
    centre = centre_of(privacy.centre, x.shape[1])
    u = (x - centre) / privacy.clip
    u /= np.maximum(np.linalg.norm(u, axis=1), 1.0)[:, None]
    return u.mean(axis=0), isometric_triangle(u.T @ u / len(u))


def centre_of(centre: Any, dim: int) -> np.ndarray:
    """Return (dim,) the public point; 0 where none is given."""
    point = np.zeros(dim) if centre is None else checked_centre(centre)
    if len(point) != dim:
        raise InvalidInput("centre", f"has {len(point)} numbers for {dim} features", "Give one for each feature")
    return point


def checked_centre(centre: Any) -> np.ndarray:
    """Return (d,) finite numbers."""
    return to_numpy(to_float64(as_rows([centre], "centre")))[0]


def isometric_triangle(matrix: np.ndarray) -> np.ndarray:
    """Return the upper triangle, √2 times what is off the diagonal: lengths are Frobenius norms."""
    d = len(matrix)
    return np.asarray((matrix * np.where(np.eye(d, dtype=bool), 1.0, math.sqrt(2.0)))[np.triu_indices(d)])


def symmetric_matrix(triangle: np.ndarray, d: int) -> np.ndarray:
    """Return the symmetric (d, d) matrix of an `isometric_triangle`."""
    upper = np.zeros((d, d))
    upper[np.triu_indices(d)] = triangle
    return np.asarray(np.diag(np.diagonal(upper)) + (np.triu(upper, 1) + np.triu(upper, 1).T) / math.sqrt(2.0))
