"""How firmly a winner by avg sits: who wins along one client's weight, and the least change that dethrones it.

Twin: labs/dashboard/view/certificate.js · held by: tests/labs/dashboard/test_certificate_page.py

avg is linear in the weights, so everything here is exact: for KID's all too, whose differences are those of avg.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nbmetrics.ranking import is_tie, lowest, order

from .ranges import average
from .verdict import listed, percent


@dataclass(frozen=True)
class Certificate:
    """The least change of the weights after which a rival is level with the winner, and beyond which it is ahead.

    Attributes
    ----------
    winner, rival : which generators
    moved : the share of all weight that moves, half of Σ |λ'_i − λ_i|
    taken, given : (client, share) pairs, the largest first; they sum to `moved` each
    """

    winner: int
    rival: int
    moved: float
    taken: tuple[tuple[int, float], ...]
    given: tuple[tuple[int, float], ...]


def with_weight(weights: np.ndarray, i: int, value: float, held: Sequence[int] = ()) -> np.ndarray:
    """The weights, sum 1, with λ_i = value: the others in proportion (alike where they have none); those held stay."""
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
    """Who wins by avg where λ_i runs from 0 to all that is not held: (from, to, generator), without gaps.

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
    winner, at, found = first[lowest(end[first], np.full(len(first), scale))], 0.0, []
    while at < 1.0:
        to, after = _next_winner(start, end, winner, at, rivals, scale)
        if not is_tie(to, at, 1.0):
            found.append((at * top, to * top, winner))
        winner, at = after, to
    return found


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


def certificate(centres: np.ndarray, weights: np.ndarray) -> Certificate | None:
    """The least total variation of the weights that dethrones the winner by avg; None where no weighting does.

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
        found = _overtaking(centres, weights, winner, rival, scale) if rival != winner else None
        if found and (least is None or (found.moved < least.moved and not is_tie(found.moved, least.moved, 1.0))):
            least = found
    return least


def _overtaking(centres: np.ndarray, weights: np.ndarray, winner: int, rival: int, scale: float) -> Certificate | None:
    with np.errstate(invalid="ignore"):
        behind = centres[rival] - centres[winner]
    to = lowest(behind, np.full(len(behind), scale))
    if not np.isfinite(behind).all() or (behind[to] > 0 and not is_tie(behind[to], 0.0, scale)):
        return None
    missing, taken = float(behind @ weights), []
    for i in order(-behind, scale):
        gain = behind[i] - behind[to]
        if missing <= 0 or is_tie(missing, 0.0, scale) or is_tie(gain, 0.0, scale):
            break
        share = min(float(weights[i]), missing / gain)
        missing -= share * gain
        if share > 0:
            taken.append((int(i), share))
    moved = sum(share for _, share in taken)
    taken.sort(key=lambda pair: -pair[1])
    return Certificate(winner, rival, moved, tuple(taken), ((to, moved),) if taken else ())


def certificate_sentence(found: Certificate | None, generators: Sequence[str], clients: Sequence[str]) -> str:
    """What it takes to dethrone the winner."""
    if found is None:
        return "No weighting of the clients puts another generator first."
    winner, rival = generators[found.winner], generators[found.rival]
    if not found.taken:
        return f"{rival} is level with {winner} as it is."
    sources = listed(clients, [i for i, _ in found.taken])
    way = f"from {sources} to {clients[found.given[0][0]]}"
    return f"Move {percent(found.moved)} of the weight {way}, and {rival} overtakes {winner}."
