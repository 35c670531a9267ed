"""What a PrivacyLab's study says of one ε, metric, aggregate and run.

Twin: labs/privacy/view/numbers.js, labs/privacy/view/words.js · held by: tests/labs/privacy/test_privacy.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .scene import AGGREGATES, PrivacyScene

# The share of the runs from which on, at every larger ε, the first place is said to survive.
SURVIVES = 0.95


def numbers_of(study: Mapping[str, Any], scene: PrivacyScene) -> dict[str, Any]:
    """Of the nearest ε on the grid.

    - place: of that ε on the grid; epsilon, multiplier
    - order: the generators from best to worst without noise; exact: their scores, by generator
    - drawn: (runs, generators); shown: those of the run
    - places: of each generator in the run, from 1; first: in how many runs it is first
    - kept, low, high: in how many runs the best without noise is first, and Wilson's 95 % interval for the chance
    - same: in how many runs all generators are in the order without noise
    - clipped: which generator is first clipped and without noise
    - survives: the smallest ε of the grid from which on kept is at least 95 % of the runs, or None
    """
    e = nearest(study["epsilons"], scene.epsilon)
    m = [metric["name"] for metric in study["metrics"]].index(scene.metric)
    p = AGGREGATES.index(scene.aggregate)
    drawn = [run[m][p] for run in study["drawn"][e]]
    exact, shown = study["exact"][m][p], drawn[scene.run - 1]
    order = ordered(exact)
    firsts = [ordered(run)[0] for run in drawn]
    return {
        "place": e,
        "epsilon": study["epsilons"][e],
        "multiplier": study["multipliers"][e],
        "order": order,
        "exact": exact,
        "drawn": drawn,
        "shown": shown,
        "places": [ordered(shown).index(g) + 1 for g in range(len(exact))],
        "first": [firsts.count(g) for g in range(len(exact))],
        "kept": study["kept"][e][m][p],
        "low": study["low"][e][m][p],
        "high": study["high"][e][m][p],
        "same": sum(ordered(run) == order for run in drawn),
        "clipped": ordered(study["clipped"][m][p])[0],
        "survives": survives(study, m, p),
    }


def nearest(epsilons: Sequence[float], epsilon: float) -> int:
    """The place of the ε that is nearest by its ratio."""
    return int(np.argmin([abs(math.log(e / epsilon)) for e in epsilons]))


def ordered(scores: Sequence[float]) -> list[int]:
    """The generators from best to worst."""
    return sorted(range(len(scores)), key=lambda g: scores[g])


def survives(study: Mapping[str, Any], m: int, p: int) -> float | None:
    """The smallest ε from which on the best generator is first in 95 % of the runs, or None."""
    least = SURVIVES * len(study["drawn"][0])
    found = None
    for epsilon, kept in zip(reversed(study["epsilons"]), reversed(study["kept"]), strict=True):
        if kept[m][p] < least - 1e-9:
            break
        found = epsilon
    return found


def headline(study: Mapping[str, Any], scene: PrivacyScene, numbers: Mapping[str, Any]) -> str:
    """What the lab says at a glance."""
    label = next(metric["label"] for metric in study["metrics"] if metric["name"] == scene.metric)
    best = study["generators"][numbers["order"][0]]
    return (
        f"At ε = {numbers['epsilon']:g} the best by {label}-{scene.aggregate} stays first in {numbers['kept']} of "
        f"{len(numbers['drawn'])} runs; without noise it is {best}."
    )
