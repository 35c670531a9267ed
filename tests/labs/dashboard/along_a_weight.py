"""Who wins by avg along one client's weight, beside which the page's bars are held."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nbmetrics.labs.dashboard.place_ranges import average
from nbmetrics.ranking import is_tie, lowest


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
    scale = scale_of(centres)
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


def scale_of(centres):
    """The largest score of a client: no average under any weights has larger terms."""
    return float(np.max(np.abs(centres), initial=0.0, where=np.isfinite(centres)))
