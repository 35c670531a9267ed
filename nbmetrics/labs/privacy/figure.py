"""The picture of a PrivacyLab: how often the best stays first against ε, and the scores of all runs at one ε."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...federated.figure import hatch_noise, mark_noise
from ...figures.drawing import AGGREGATES, TEXT, Drawing, brief, generator_look, legend, panels, plain, whole_ticks
from .numbers import headline
from .scene import AGGREGATES as PARTS
from .scene import PrivacyScene

MAX_NAME_LETTERS = 24  # letters of a name
LINE = 110  # letters of the headline's lines
BAND = "bands: 95 % interval for the chance, at each ε"
HATCHED = "hatched, open marks: the noise decides"


def privacy_lab(study: Mapping[str, Any], scene: PrivacyScene, numbers: Mapping[str, Any]) -> Drawing:
    """Left the survival of the first place, right the runs at the scene's ε."""
    figure, (left, right) = panels(2, width=5.0, height=3.8)
    m = [metric["name"] for metric in study["metrics"]].index(scene.metric)
    label = plain(study["metrics"][m]["label"])
    _survival(left, study, m, PARTS.index(scene.aggregate), numbers["epsilon"])
    left.set_title(f"How often the best by {label} stays first", fontsize=10)
    _runs(right, study, numbers)
    right.set_xlabel(f"{label}-{scene.aggregate}")
    right.set_title(f"{len(numbers['drawn'])} runs at ε = {numbers['epsilon']:g}; bars: without noise", fontsize=10)
    legend(figure, left)
    figure.suptitle(plain(textwrap.fill(headline(numbers), LINE)), fontsize=11)
    return figure


def _survival(ax: Any, study: Mapping[str, Any], m: int, p: int, epsilon: float) -> None:
    epsilons, runs = study["epsilons"], len(study["drawn"][0])
    for k, part in enumerate(PARTS):
        pairs = [pairs[m][k] for pairs in study["pairs"]]
        low, high = ([runs * pair[end] for pair in pairs] for end in ("low", "high"))
        ax.fill_between(epsilons, low, high, color=AGGREGATES[part]["color"], alpha=0.12, label=BAND)
        kept, survives = [pair["kept"] for pair in pairs], [pair["survives"] for pair in pairs]
        ax.plot(epsilons, kept, label=part, markersize=4, **AGGREGATES[part])
        mark_noise(ax, epsilons, kept, survives, part)
        if k == p:
            hatch_noise(ax, epsilons, survives, HATCHED)
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
    names = [brief(study["generators"][g], MAX_NAME_LETTERS) for g in order]
    ax.set_yticks(range(len(order)), [plain(name) for name in names])
    ax.invert_yaxis()
