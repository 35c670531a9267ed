"""Who wins where in the weights of three groups, in what share of all weightings, and what each client loses.

Twin: labs/dashboard/view/regions.js · held by: tests/labs/dashboard/test_regions_page.py

avg is linear in the weights, so a generator wins on a convex polygon. Points of the simplex are the groups' weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ranking import is_tie, lowest, same_scores
from .certificate import breakpoints

WEIGHTINGS = 4096
# Of the whole triangle, what is no region.
NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class Shares:
    """Of each generator the share of all weightings in which it wins, and its standard error, 0 where it is exact."""

    share: np.ndarray
    error: np.ndarray


def regions(centres: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """Where each generator wins by avg: the corners of a polygon, (corners, 3), none where it wins nowhere.

    Within a group (0, 1 or 2) the clients keep their proportions, or count alike where none has a weight. Of equal
    generators the first has the region. A group without clients leaves no regions.
    """
    within = proportions(groups, weights)
    if within is None:
        return [np.empty((0, 3)) for _ in centres]
    corners = [centres[:, own > 0] @ own[own > 0] for own in within]
    return polygons(np.stack(corners, axis=1))


def proportions(groups: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """The weights of all clients at each corner of the triangle, (3, k); None where a group has no clients."""
    inside = groups == np.arange(3)[:, None]
    if not inside.any(axis=1).all():
        return None
    own = np.where(inside, weights, 0.0)
    own = np.where(own.sum(axis=1, keepdims=True) > 0, own, inside)
    return np.asarray(own / own.sum(axis=1, keepdims=True))


def polygons(corners: np.ndarray) -> list[np.ndarray]:
    """The same from the losses at the three corners, (G, 3); losses that are not finite win nowhere."""
    finite = [g for g in range(len(corners)) if np.isfinite(corners[g]).all()]
    found = [np.empty((0, 3)) for _ in corners]
    for g in finite:
        polygon = np.eye(3)
        for h in finite:
            if _is_same(corners[g], corners[h]):
                polygon = polygon[:0] if h < g else polygon
            else:
                polygon = _clipped(polygon, corners[h] - corners[g])
        found[g] = polygon if _area(polygon) > NOTHING else polygon[:0]
    return found


def _is_same(first: np.ndarray, second: np.ndarray) -> bool:
    return bool(is_tie(first, second, max(np.abs(first).max(), np.abs(second).max())).all())


def _clipped(polygon: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """The part of a convex polygon where a linear function, given at the corners of the simplex, is not negative."""
    values = polygon @ ahead
    kept = []
    for n in range(len(polygon)):
        (p, q), (a, b) = polygon[[n - 1, n]], values[[n - 1, n]]
        if (a < 0) != (b < 0):
            kept.append(p + (q - p) * (a / (a - b)))
        if b >= 0:
            kept.append(q)
    return np.array(kept).reshape(-1, 3)


def _area(polygon: np.ndarray) -> float:
    """As a share of the triangle."""
    x, y = polygon[:, 0], polygon[:, 1]
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def share_of_weightings(centres: np.ndarray, seed: int = 0) -> Shares:
    """In what share of all weightings of the clients, each as likely as any other, each generator wins by avg.

    Exact for up to three clients, else of 4,096 random weightings. Equal generators share what they win; a generator
    with a NaN has a NaN.
    """
    share = np.where(np.isnan(centres).any(axis=1), np.nan, 0.0)
    finite = np.flatnonzero(np.isfinite(centres).all(axis=1))
    if not len(finite):
        return Shares(share, np.zeros(len(centres)))
    own, clients = centres[finite], centres.shape[1]
    if clients <= 3:
        won = _exact_shares(own)
        alike = np.array([[_is_same(a, b) for b in own] for a in own])
        share[finite] = (alike @ won) / alike.sum(axis=1)
        return Shares(share, np.zeros(len(centres)))
    drawn = np.random.default_rng(seed).dirichlet(np.ones(clients), WEIGHTINGS)
    losses = own @ drawn.T
    best = losses.min(axis=0)
    wins = is_tie(losses, best, np.abs(own) @ drawn.T)
    share[finite] = (wins / wins.sum(axis=0)).mean(axis=1)
    return Shares(share, np.sqrt(share * (1.0 - share) / WEIGHTINGS))


def _exact_shares(own: np.ndarray) -> np.ndarray:
    """Of equal generators the first wins."""
    won = np.zeros(len(own))
    if own.shape[1] == 3:
        return np.array([_area(polygon) for polygon in polygons(own)])
    if own.shape[1] == 1:
        won[lowest(own[:, 0])] = 1.0
    else:
        for start, end, g in breakpoints(own, np.array([0.5, 0.5]), 0):
            won[g] += end - start
    return won


def regret(centres: np.ndarray) -> np.ndarray:
    """What each client loses with each generator beside its own best one, (G, k), at least 0; NaN where not known."""
    with np.errstate(invalid="ignore"):
        best = np.fmin.reduce(centres, axis=0)
        return np.where(same_scores(centres, best), 0.0, centres - best)


def worst(centres: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The largest loss of a client with a weight, of each generator, (G,); NaN where one is not known."""
    return centres[:, weights > 0].max(axis=1)
