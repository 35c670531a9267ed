"""Points that Python and the page draw alike, by a counter-based generator.

Twin: labs/toolkit/view/random.js · held by: tests/labs/plane/test_scores_page.py

So point k of an item is a function of the seed, the item and k alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import to_numpy
from ...distributions import Distribution, Empirical, Gaussian, Mixture


def noise(seed: int, stream: int, n: int) -> np.ndarray:
    """(n, 3): two standard normals by Box–Muller and a uniform number for each point, from mulberry32 on a counter."""
    start = ((seed + 1) * 0x9E3779B1 & 0xFFFFFFFF) ^ ((stream + 1) * 0x85EBCA6B & 0xFFFFFFFF)
    a = np.uint32(start) + np.arange(1, 3 * n + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
    t = (a ^ (a >> np.uint32(15))) * (np.uint32(1) | a)
    t = (t + (t ^ (t >> np.uint32(7))) * (np.uint32(61) | t)) ^ t
    u = ((t ^ (t >> np.uint32(14))) / 4294967296).reshape(n, 3)
    radius, turn = np.sqrt(-2 * np.log(1 - u[:, 0])), 2 * np.pi * u[:, 1]
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn), u[:, 2]])


def draw(distribution: Gaussian | Mixture | Empirical, seed: int, stream: int, n: int) -> np.ndarray:
    """(n, 2) points of a distribution: of a Gaussian by its half-axes, of a mixture after a choice of part, of
    points one."""
    random = noise(seed, stream, n)
    parts, weights = _parts(distribution)
    ends = np.cumsum(weights)
    chosen = np.minimum(np.searchsorted(ends, random[:, 2], side="right"), len(parts) - 1)
    points = np.empty((n, 2))
    for index, part in enumerate(parts):
        own = chosen == index
        if isinstance(part, Empirical):
            rows = displayed(part.rows)
            share = (random[own, 2] - ends[index] + weights[index]) / weights[index]
            points[own] = rows[np.minimum(len(rows) - 1, np.floor(share * len(rows)).astype(int))]
        else:
            points[own] = part.mean + random[own, :2] @ part.root
    return points


def displayed(source: Any, most: int = 300) -> np.ndarray:
    """The points that the page shows of data: at most `most` of its rows, evenly spread, or as many drawn of a
    distribution."""
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
