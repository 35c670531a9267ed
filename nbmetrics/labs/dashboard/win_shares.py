"""The share of all weightings of the clients in which each generator wins by avg.

won: {generator: [share, standard error]}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...ranking import is_tie, lowest
from .certificate import breakpoints
from .json_numbers import json_number
from .metric_view import WeightedScores
from .winner_regions import are_equal, area_share, polygons

WEIGHTINGS = 4096


def win_shares(names: Sequence[str], scores: WeightedScores) -> dict[str, list[float | str]]:
    """Return by generator the share of all weightings of the clients in which it wins by avg, and its standard error.

    Empty where a score is not known yet, or no client counts.
    """
    view = scores.metric_view
    if not (view.is_scored.all() and view.counts.any()):
        return {}
    centres = view.centres[:, view.counts]
    shares = _cached_shares(centres.tobytes(), *centres.shape)
    pairs = zip(shares.share, shares.error, strict=True)
    return {name: [json_number(share), json_number(error)] for name, (share, error) in zip(names, pairs, strict=True)}


@lru_cache(maxsize=16)
def _cached_shares(centres: bytes, generators: int, clients: int) -> WinShares:
    """Return the win shares, cached: they do not depend on the weights, so a drag asks for the same ones."""
    return share_of_weightings(np.frombuffer(centres).reshape(generators, clients))


@dataclass(frozen=True, eq=False)
class WinShares:
    """The share of all weightings in which each generator wins, and its standard error, 0 where it is exact."""

    share: np.ndarray
    error: np.ndarray


def share_of_weightings(centres: np.ndarray, seed: int = 0) -> WinShares:
    """Return in what share of all weightings of the clients, all equally likely, each generator wins by avg.

    Exact for up to three clients, else of 4,096 random weightings. Equal generators share what they win; a generator
    with a NaN has a NaN.
    """
    share = np.where(np.isnan(centres).any(axis=1), np.nan, 0.0)
    finite = np.flatnonzero(np.isfinite(centres).all(axis=1))
    if not len(finite):
        return WinShares(share, np.zeros(len(centres)))
    own, clients = centres[finite], centres.shape[1]
    if clients <= 3:
        won = _exact_shares(own)
        alike = np.array([[are_equal(a, b) for b in own] for a in own])
        share[finite] = (alike @ won) / alike.sum(axis=1)
        return WinShares(share, np.zeros(len(centres)))
    drawn = np.random.default_rng(seed).dirichlet(np.ones(clients), WEIGHTINGS)
    losses = own @ drawn.T
    best = losses.min(axis=0)
    wins = is_tie(losses, best, np.abs(own) @ drawn.T)
    share[finite] = (wins / wins.sum(axis=0)).mean(axis=1)
    return WinShares(share, np.sqrt(share * (1.0 - share) / WEIGHTINGS))


def _exact_shares(own: np.ndarray) -> np.ndarray:
    """Return the exact shares for up to three clients; of equal generators the first wins."""
    won = np.zeros(len(own))
    if own.shape[1] == 3:
        return np.array([area_share(polygon) for polygon in polygons(own)])
    if own.shape[1] == 1:
        won[lowest(own[:, 0])] = 1.0
    else:
        for start, end, g in breakpoints(own, np.array([0.5, 0.5]), 0):
            won[g] += end - start
    return won
