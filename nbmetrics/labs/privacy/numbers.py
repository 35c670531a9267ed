"""What a PrivacyLab's study says of one ε, metric, aggregate and run.

Twin: labs/privacy/view/numbers.js, labs/privacy/view/numbers.js · held by: tests/labs/privacy/test_privacy.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ranking import order as order_by_score
from .scene import AGGREGATES, PrivacyScene


def numbers_of(study: Mapping[str, Any], scene: PrivacyScene) -> dict[str, Any]:
    """Return what the page shows of the nearest ε on the grid.

    - place: of that ε on the grid; epsilon, multiplier
    - order: the generators from best to worst without noise; exact: their scores, by generator
    - drawn: (runs, generators); shown: those of the run
    - places: of each generator in the run, from 1; first: in how many runs it is first
    - noise: how far the scores of the best lie from that without noise, by the median, as a multiple of it
    - kept, low, high: in how many runs the best without noise is first, and Wilson's 95 % interval for the chance
    - pair: of the best without noise and its closest rival, see `_of_pair` of study.py
    - same: in how many runs all generators are in the order without noise
    - clipped: which generator is first clipped and without noise; clips: whether clipping alone decides that
    - survives: the smallest ε of the grid from which on the order survives, or None
    """
    e = nearest(study["epsilons"], scene.epsilon)
    m = [metric["name"] for metric in study["metrics"]].index(scene.metric)
    p = AGGREGATES.index(scene.aggregate)
    drawn = [run[m][p] for run in study["drawn"][e]]
    exact, shown = study["exact"][m][p], drawn[scene.run - 1]
    order = ranking_of(exact)
    firsts = [ranking_of(run)[0] for run in drawn]
    pair = study["pairs"][e][m][p]
    return {
        "place": e,
        "epsilon": study["epsilons"][e],
        "multiplier": study["multipliers"][e],
        "order": order,
        "exact": exact,
        "drawn": drawn,
        "shown": shown,
        "places": [ranking_of(shown).index(g) + 1 for g in range(len(exact))],
        "first": [firsts.count(g) for g in range(len(exact))],
        "noise": _noise_ratio([run[order[0]] for run in drawn], exact[order[0]]),
        "kept": pair["kept"],
        "low": pair["low"],
        "high": pair["high"],
        "pair": pair,
        "same": sum(ranking_of(run) == order for run in drawn),
        "clipped": ranking_of(study["clipped"][m][p])[0],
        "clips": study["clips"][m][p],
        "survives": survives(study, m, p),
    }


def nearest(epsilons: Sequence[float], epsilon: float) -> int:
    """Return the place of the ε that is nearest by its ratio."""
    return int(np.argmin([abs(math.log(e / epsilon)) for e in epsilons]))


def ranking_of(scores: Sequence[float]) -> list[int]:
    """Return the generators from best to worst; what ties stays as given."""
    return order_by_score(scores).tolist()


def survives(study: Mapping[str, Any], m: int, p: int) -> float | None:
    """Return the smallest ε from which on the order of the best and its rivals survives, or None."""
    threshold = None
    for epsilon, pairs in zip(reversed(study["epsilons"]), reversed(study["pairs"]), strict=True):
        if not pairs[m][p]["survives"]:
            break
        threshold = epsilon
    return threshold


def headline(numbers: Mapping[str, Any]) -> str:
    """Return how large the noise is beside the score, and who is first then."""
    size = f"At ε = {numbers['epsilon']:g} the noise is {_times(numbers['noise'])} the score"
    if numbers["pair"]["survives"]:
        return f"{size}; the best stays first in {numbers['kept']} of {len(numbers['drawn'])} runs."
    return f"{size}, and {'with clipping it ' if numbers['clips'] else ''}decides who is first."


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "infinitely many times"
    if ratio < 1:
        return f"{math.floor(100 * ratio + 0.5)}\u00a0% of"
    return f"{ratio:.1f} times" if ratio < 10 else f"{math.floor(ratio + 0.5)} times"


def _noise_ratio(scores: Sequence[float], exact: float) -> float | None:
    """Return the median distance of scores from the one without noise, as a multiple of that; None where that is 0."""
    return float(np.median(np.abs(np.subtract(scores, exact)))) / abs(exact) if exact else None
