"""Certificate: the least re-weighting of the clients that dethrones the winner by avg; and who wins along one weight.

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


def with_weight(weights: np.ndarray, i: int, value: float, held: Sequence[int] = ()) -> np.ndarray:
    """Return the weights with λ_i = value, sum 1: others in proportion (or alike), those held as they are."""
    free = np.ones(len(weights), dtype=bool)
    free[[i, *held]] = False
    rest, left = weights[free].sum(), 1.0 - value - weights[~free].sum() + weights[i]
    moved = weights.astype(float)
    moved[i] = value
    if free.any():
        moved[free] = weights[free] * (left / rest) if rest > 0 else left / free.sum()
    return moved


def breakpoints(
    centres: np.ndarray, weights: np.ndarray, i: int, held: Sequence[int] = ()
) -> list[tuple[float, float, int]]:
    """Return who wins by avg where λ_i runs from 0 to all that is not held: (from, to, generator), without gaps.

    centres (G, k) are losses. The lower envelope of one line a generator; ties go to who wins next, then to the first
    given. Generators whose line is not finite win nowhere.
    """
    top = 1.0 - sum(float(weights[j]) for j in held if j != i)
    start, end = (average(centres, with_weight(weights, i, t, held)) for t in (0.0, top))
    rivals = [g for g in range(len(centres)) if np.isfinite(start[g]) and np.isfinite(end[g])]
    scale = _scale(centres)
    if not rivals or len(weights) - len({*held, i}) < 1:
        return [(0.0, top, rivals[lowest(end[rivals], np.full(len(rivals), scale))])] if rivals else []
    first = [g for g in rivals if is_tie(start[g], np.min(start[rivals]), scale)]
    winner, at, stretches = first[lowest(end[first], np.full(len(first), scale))], 0.0, []
    while at < 1.0:
        to, after = _next_winner(start, end, winner, at, rivals, scale)
        if not is_tie(to, at, 1.0):
            stretches.append((at * top, to * top, winner))
        winner, at = after, to
    return stretches


def _next_winner(
    start: np.ndarray, end: np.ndarray, winner: int, at: float, rivals: list[int], scale: float
) -> tuple[float, int]:
    """Where the winner is overtaken, from `at` on, and by whom: of those that tie there, the one that ends lowest."""
    to, after = 1.0, winner
    for g in rivals:
        ahead, behind = start[g] - start[winner], end[g] - end[winner]
        if g == winner or is_tie(behind, 0.0, scale) or not behind < min(ahead, 0.0):
            continue
        crossing = float(max(at, ahead / (ahead - behind)))
        if is_tie(crossing, to, 1.0):
            if to < 1.0 and end[g] < end[after] and not is_tie(end[g], end[after], scale):
                after = g
        elif crossing < to:
            to, after = crossing, g
    return to, after


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
