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


def headline(study: Mapping[str, Any], scene: PrivacyScene, numbers: Mapping[str, Any]) -> str:
    """What the lab says at a glance."""
    label = next(metric["label"] for metric in study["metrics"] if metric["name"] == scene.metric)
    pair, score, epsilon = numbers["pair"], f"{label}-{scene.aggregate}", f"{numbers['epsilon']:g}"
    if pair["survives"]:
        runs, best = f"{numbers['kept']} of {len(numbers['drawn'])} runs", study["generators"][pair["best"]]
        return f"At ε = {epsilon} the best by {score} stays first in {runs}; without noise it is {best}."
    who = "clipping and noise decide" if numbers["clips"] else "the noise decides"
    sizes = f"± {pair['moved']} on a difference of {pair['apart']}"
    return f"ε = {epsilon}: at this ε {who} who is first by {score} ({sizes})."
