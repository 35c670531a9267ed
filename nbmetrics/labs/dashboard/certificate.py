"""Certificate: the least re-weighting of the clients that dethrones the winner by avg.

Twin: labs/dashboard/view/certificate.js · held by: tests/labs/dashboard/test_certificate_page.py

avg is linear in the weights, so everything here is exact: for KID's all too, whose differences are those of avg.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...ranking import is_tie, lowest, order
from .place_ranges import average
from .verdict import join_names, percent


@dataclass(frozen=True)
class Reweighting:
    """The least change of the weights after which a rival is level with the winner, by positions.

    Attributes
    ----------
    winner, rival : which generators
    moved : the share of all weight that moves, half of Σ |λ'_i − λ_i|
    sources : (client, share) pairs, the largest first; they sum to `moved`
    target : the client that all of it goes to; None where nothing moves
    """

    winner: int
    rival: int
    moved: float
    sources: tuple[tuple[int, float], ...]
    target: int | None


@dataclass(frozen=True)
class Certificate:
    """The least re-weighting of the clients that dethrones the winner by avg, by names.

    Attributes
    ----------
    winner, rival : names of generators; rival is "" where no weighting puts another one first
    moved : the share of the weight of the clients with rows enough that moves; NaN where there is no rival
    sources : the share that each client gives, by name, the largest first
    target : the client that gets them, "" where nothing moves
    sentence : all of it in words, as the page says it
    """

    winner: str
    rival: str
    moved: float
    sources: dict[str, float]
    target: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def _scale(centres: np.ndarray) -> float:
    """The largest score of a client: no average under any weights has larger terms."""
    return float(np.max(np.abs(centres), initial=0.0, where=np.isfinite(centres)))


def least_reweighting(centres: np.ndarray, weights: np.ndarray) -> Reweighting | None:
    """Return the least total variation of the weights that dethrones the winner by avg; None where no weighting does.

    For each rival weight moves from the clients where it is furthest behind to the one where it is most ahead, until
    the two are level: the optimum of the linear programme, since every unit moved gains as much as any can. A rival
    with a score that is not finite is left out.
    """
    scores = average(centres, weights)
    placed = [g for g in range(len(scores)) if not np.isnan(scores[g])]
    if not placed:
        return None
    scale = _scale(centres)
    winner = placed[lowest(scores[placed], np.full(len(placed), scale))]
    least = None
    for rival in placed:
        change = _least_reweighting_to(centres, weights, winner, rival, scale) if rival != winner else None
        if change and (least is None or (change.moved < least.moved and not is_tie(change.moved, least.moved, 1.0))):
            least = change
    return least


def _least_reweighting_to(
    centres: np.ndarray, weights: np.ndarray, winner: int, rival: int, scale: float
) -> Reweighting | None:
    """Return the least change that brings one rival level with the winner; None where no weighting does."""
    with np.errstate(invalid="ignore"):
        behind = centres[rival] - centres[winner]
    to = lowest(behind, np.full(len(behind), scale))
    if not np.isfinite(behind).all() or (behind[to] > 0 and not is_tie(behind[to], 0.0, scale)):
        return None
    missing, sources = float(behind @ weights), []
    for i in order(-behind, scale):
        gain = behind[i] - behind[to]
        if missing <= 0 or is_tie(missing, 0.0, scale) or is_tie(gain, 0.0, scale):
            break
        share = float(min(weights[i], missing / gain))
        missing -= share * gain
        if share > 0:
            sources.append((int(i), share))
    moved = sum(share for _, share in sources)
    largest_first = tuple(sources[k] for k in order([-share for _, share in sources], 1.0))
    return Reweighting(winner, rival, moved, largest_first, int(to) if sources else None)


def certificate_of(
    generators: Sequence[str], clients: Sequence[str], centres: np.ndarray, weights: np.ndarray
) -> Certificate:
    """Return the certificate of the winner among generators, by their losses (G, k) with clients of weights λ (k,)."""
    scores = average(centres, weights)
    placed = [g for g in range(len(scores)) if not np.isnan(scores[g])]
    if not placed:
        return Certificate("", "", math.nan, {}, "", "Not known yet.")
    change = least_reweighting(centres, weights)
    if change is None:
        first = placed[lowest(scores[placed], np.full(len(placed), _scale(centres)))]
        sentence = "No change of the weights makes another generator win."
        return Certificate(generators[first], "", math.nan, {}, "", sentence)
    winner, rival = generators[change.winner], generators[change.rival]
    if change.target is None:
        return Certificate(winner, rival, 0.0, {}, "", f"{rival} is already level with {winner}.")
    sources, target = {clients[i]: share for i, share in change.sources}, clients[change.target]
    way = f"from {join_names(list(sources), range(len(sources)))} to {target}"
    sentence = f"Move {percent(change.moved)} of the weight {way}, and {rival} overtakes {winner}."
    return Certificate(winner, rival, change.moved, sources, target, sentence)
