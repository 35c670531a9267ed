"""The picture of a PrivacyLab: how often the best stays first against ε, and the scores of all runs at one ε."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...figures.drawing import AGGREGATES, TEXT, Drawing, brief, generator_look, legend, panels, plain, whole_ticks
from .numbers import headline
from .scene import AGGREGATES as PARTS
from .scene import PrivacyScene

LONGEST = 24  # letters of a name
BAND = "bands: 95 % interval for the chance, at each ε"


def privacy_lab(study: Mapping[str, Any], scene: PrivacyScene, numbers: Mapping[str, Any]) -> Drawing:
    """Left the survival of the first place, right the runs at the scene's ε."""
    figure, (left, right) = panels(2, width=5.0, height=3.8)
    m = [metric["name"] for metric in study["metrics"]].index(scene.metric)
    label = plain(study["metrics"][m]["label"])
    _survival(left, study, m, numbers["epsilon"])
    left.set_title(f"Who is first by {label} without noise stays first", fontsize=10)
    _runs(right, study, numbers)
    right.set_xlabel(f"{label}-{scene.aggregate}")
    right.set_title(f"{len(numbers['drawn'])} runs at ε = {numbers['epsilon']:g}; bars: without noise", fontsize=10)
    legend(figure, left)
    figure.suptitle(plain(headline(study, scene, numbers)), fontsize=11)
    return figure


def _survival(ax: Any, study: Mapping[str, Any], m: int, epsilon: float) -> None:
    kept, low, high = (np.array(study[name])[:, m] for name in ("kept", "low", "high"))
    runs = len(study["drawn"][0])
    for p, part in enumerate(PARTS):
        look = {"color": AGGREGATES[part]["color"], "alpha": 0.12, "label": BAND}
        ax.fill_between(study["epsilons"], runs * low[:, p], runs * high[:, p], **look)
        ax.plot(study["epsilons"], kept[:, p], label=part, markersize=4, **AGGREGATES[part])
    ax.axvline(epsilon, color=TEXT, linewidth=1, linestyle=":")
    whole_ticks(ax.yaxis)
    ax.set_xscale("log")
    ax.set(xlabel="ε, of all metrics together", ylabel=f"runs of {runs}", ylim=(-0.03 * runs, 1.03 * runs))


def _runs(ax: Any, study: Mapping[str, Any], numbers: Mapping[str, Any]) -> None:
    order, drawn = numbers["order"], np.array(numbers["drawn"])
    for row, g in enumerate(order):
        look = generator_look(g)
        ax.plot(drawn[:, g], np.full(len(drawn), row), linestyle="", markersize=4, alpha=0.5, **look)
        ax.plot([numbers["exact"][g]] * 2, [row - 0.3, row + 0.3], color=look["color"], linewidth=2.5)
    names = [brief(study["generators"][g], LONGEST) for g in order]
    ax.set_yticks(range(len(order)), [plain(name) for name in names])
    ax.invert_yaxis()
