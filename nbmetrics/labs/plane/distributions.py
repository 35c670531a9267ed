"""Generators that the Playground can draw beside Gaussians; each is a distribution that `nm.evaluate` takes as it is.

Twin: labs/plane/view/distributions.js · held by: tests/labs/plane/test_scores_page.py
Twin: labs/toolkit/view/random.js · held by: tests/labs/plane/test_scores_page.py

Points that Python and the page draw alike come from a counter-based generator: point k of an item is a function of the
seed, the item and k alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...arrays import to_numpy
from ...distributions import Distribution, Empirical, Gaussian, Mixture
from ...errors import InvalidInput, shown
from ...federation import Client, Federation, Generator
from ...metrics.base import Sample
from ...metrics.fid.metric import FID
from ...metrics.kid.embedding import Embedding
from ...metrics.kid.metric import KID
from ...metrics.kid.polynomial import Polynomial
from ...summaries.reference import Moments
from ..toolkit.fields import facts
from ..toolkit.schema import read

_TYPES = facts(__package__, "items.json")


def noise(seed: int, stream: int, n: int) -> np.ndarray:
    """Return (n, 3): two standard normals and a uniform number for each point, from mulberry32 on a counter."""
    start = ((seed + 1) * 0x9E3779B1 & 0xFFFFFFFF) ^ ((stream + 1) * 0x85EBCA6B & 0xFFFFFFFF)
    a = np.uint32(start) + np.arange(1, 3 * n + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
    t = (a ^ (a >> np.uint32(15))) * (np.uint32(1) | a)
    t = (t + (t ^ (t >> np.uint32(7))) * (np.uint32(61) | t)) ^ t
    u = ((t ^ (t >> np.uint32(14))) / 4294967296).reshape(n, 3)
    radius, turn = np.sqrt(-2 * np.log(1 - u[:, 0])), 2 * np.pi * u[:, 1]
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn), u[:, 2]])


def check_has_points(parties: Iterable[Client | Generator]) -> None:
    """Raise InvalidInput for a party that is moments, of which no points can be drawn."""
    for party in parties:
        if isinstance(party.source if isinstance(party, Generator) else party.moments, Moments):
            seen = f"{shown(party.name)} is a mean and a covariance, of which no points can be drawn"
            raise InvalidInput("source", seen, "Give the rows, or nm.Gaussian(mean, cov)")


def draw(distribution: Gaussian | Mixture | Empirical, seed: int, stream: int, n: int) -> np.ndarray:
    """Return (n, 2) points of a Gaussian, a mixture or a set of points, the same as the page draws."""
    random = noise(seed, stream, n)
    parts, weights = _parts(distribution)
    ends = np.cumsum(weights)
    chosen = np.minimum(np.searchsorted(ends, random[:, 2], side="right"), len(parts) - 1)
    points = np.empty((n, 2))
    for index, part in enumerate(parts):
        own = chosen == index
        if isinstance(part, Empirical):
            rows = display_points(part.rows)
            share = (random[own, 2] - ends[index] + weights[index]) / weights[index]
            points[own] = rows[np.minimum(len(rows) - 1, np.floor(share * len(rows)).astype(int))]
        else:
            points[own] = part.mean + random[own, :2] @ part.root
    return points


def display_points(source: Any, most: int = 300) -> np.ndarray:
    """Return the points that the page shows: at most `most` evenly spread rows, or as many drawn ones."""
    if isinstance(source, Distribution):
        return np.asarray(source.sample(most, np.random.default_rng(0)))
    return to_numpy(source)[:: math.ceil(len(source) / most)]


def _parts(distribution: Gaussian | Mixture | Empirical) -> tuple[list[Gaussian | Empirical], list[float]]:
    if not isinstance(distribution, Mixture):
        return [distribution], [1.0]
    parts, weights = [], []
    for part, weight in zip(distribution.components, distribution.weights, strict=True):
        inner, shares = _parts(part)
        parts += inner
        weights += [weight * share for share in shares]
    return parts, weights


class Bumps(Mixture):
    """Two equal round Gaussians, σ = `height`, at `width` to both sides of `center`, turned by `angle` degrees."""

    def __init__(self, center: Any, width: float, height: float, angle: float = 0.0) -> None:
        self.ellipse = Gaussian.ellipse(center, width, height, angle)
        self.width, self.height, self.angle = float(width), float(height), float(angle)
        offset = self.ellipse.root[0]
        ends = (self.ellipse.mean + offset, self.ellipse.mean - offset)
        super().__init__([Gaussian.ellipse(end, height, height) for end in ends])


class Truncated(Mixture):
    """The clients' mixture, shrunk about its mean by `psi`: the ideal estimator at 1, one point at 0.

    Parameters
    ----------
    federation : clients that are Gaussians or rows
    psi : 0 to 1,000,000; every point x becomes μ̂ + ψ(x − μ̂)
    """

    def __init__(self, federation: Federation, psi: float = 1.0) -> None:
        self.psi = read(psi, _TYPES["psi"], "psi")
        distributions = [c.distribution if c.rows is None else Empirical(to_numpy(c.rows)) for c in federation]
        centre = Mixture(distributions, federation.weights).mean
        super().__init__(
            [_shrunk(distribution, self.psi, centre) for distribution in distributions], federation.weights
        )


class Copycat(Empirical):
    """A generator that only ever repeats the first `count` points that one client draws.

    Parameters
    ----------
    federation, client : the clients, and the name of the one it copies
    count : points it knows, 2 to 2,000
    seed : of the client's draws, as in the Playground
    """

    def __init__(self, federation: Federation, client: str, count: int = 20, *, seed: int = 0) -> None:
        self.client, self.seed = client, read(seed, _TYPES["seed"], "seed")
        source = federation[client]
        self.count = read(count, _TYPES["count"], "count")
        if isinstance(source.distribution, Gaussian):
            stream = 2 * federation.names.index(client)
            super().__init__(draw(source.distribution, self.seed, stream, self.count))
        else:
            super().__init__(display_points(source.distribution if source.rows is None else source.rows)[: self.count])


def _shrunk(distribution: Any, psi: float, centre: np.ndarray) -> Gaussian | Empirical:
    if isinstance(distribution, Empirical):
        return Empirical(centre + psi * (distribution.rows - centre))
    if not isinstance(distribution, Gaussian):
        raise InvalidInput("federation", f"has a client that is {distribution!r}", "Give Gaussians or rows")
    return Gaussian.factored(centre + psi * (distribution.mean - centre), psi * distribution.root)


def summary(source: Any) -> dict[str, Any]:
    """Return what the page needs of rows (n, 2) or of a distribution: moments, kernel mean, some points.

    `count` is 0 for a distribution, `phi` the mean embedding under the cubic kernel, in the order of
    view/distributions.js.
    """
    sample = Sample(distribution=source) if isinstance(source, Distribution) else Sample(rows=source)
    moments = FID().summarize(sample)
    kernel = Polynomial()
    parts = KID().summarize(sample)
    phi = np.zeros(10)
    for part, weight in zip(parts.parts, parts.weights, strict=True):
        content = part.content if isinstance(part.content, Embedding) else kernel.embed(part.content)
        phi += weight * content.vector
    cov = to_numpy(moments.cov)
    return {
        "count": 0 if sample.rows is None else len(sample.rows),
        "mean": to_numpy(moments.mean).tolist(),
        "cov": [float(cov[0, 0]), float(cov[0, 1]), float(cov[1, 1])],
        "phi": phi.tolist(),
        "diagonal": float(parts.parts[0].diagonal),
        "points": display_points(source).tolist(),
    }
