"""The picture of TwinsLab: clients and generators in the plane, and what the clients say of the two."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...distributions import Gaussian
from ...figures.drawing import CLIENT, TWIN_LOOKS, Drawing, brief, legend, panels, plain
from ...theory import Twin
from ..plane.figure import add_ellipse
from ..plane.items import Item
from .scene import TwinsScene

HEADS = {"corrected": ("first", "twin"), "printed": ("first", "second"), "published": ("first", "second")}
MAX_NAME_LETTERS = 24  # letters of a name
STYLES = tuple(TWIN_LOOKS.values())
THIN = 0.012  # of half the window: an ellipse is drawn at least so wide, or one without width would not be seen


def twins_lab(
    scene: TwinsScene, pair: Twin | None, names: Sequence[str], scores: dict[str, Any], words: str
) -> Drawing:
    """Left the plane (not for the published table), right each client's scores, their average and the pooled score.

    Parameters
    ----------
    scene, pair : what the lab shows; `pair` is None where there is no twin, or none yet
    names : of the clients in `scores`
    scores : {"first", "second"}, each with the clients' scores, avg and all; "second" may be None
    words : the title
    """
    isolated = scene.construction == "published"
    figure, axes = panels(1 if isolated else 2, width=5.2, height=4.6)
    if not isolated:
        _plane(axes[0], scene, pair)
    _scores(axes[-1], names, scores, HEADS[scene.construction])
    legend(figure, *axes)
    figure.suptitle(textwrap.fill(plain(words), 62 * len(axes)), x=0.01, ha="left", fontsize=11)
    return figure


def _plane(ax: Any, scene: TwinsScene, pair: Twin | None) -> None:
    ax.set(xlim=(-scene.half, scene.half), ylim=(-scene.half, scene.half), xlabel="x", ylabel="y", aspect="equal")
    for item in scene.clients:
        distribution = Gaussian.ellipse(*item.ellipse)
        add_ellipse(ax, *item.ellipse, facecolor=CLIENT, alpha=0.15)
        add_ellipse(ax, *item.ellipse, facecolor="none", edgecolor=CLIENT)
        ax.annotate(
            plain(brief(item.name, MAX_NAME_LETTERS)),
            distribution.mean,
            ha="center",
            va="center",
            fontsize=9,
            color=CLIENT,
        )
    distributions = [] if pair is None else [pair.first, pair.second]
    for distribution, name, style, line in zip(
        distributions, HEADS[scene.construction], STYLES, ("-", "--"), strict=False
    ):
        item = Item.of_source(name, distribution)
        center, width, height, angle = item.ellipse
        axes = (max(width, THIN * scene.half), max(height, THIN * scene.half))
        add_ellipse(ax, center, *axes, angle, facecolor="none", edgecolor=style["color"], linewidth=2, linestyle=line)
        ax.plot(*distribution.mean, linestyle="none", label=name, **style)


def _scores(ax: Any, names: Sequence[str], scores: dict[str, Any], heads: Sequence[str]) -> None:
    rows = [*(plain(brief(name, MAX_NAME_LETTERS)) for name in names), "avg", "all"]
    places = np.arange(len(rows))
    for values, name, style in zip((scores["first"], scores["second"]), heads, STYLES, strict=True):
        if values is not None:
            ax.plot(values, places, linestyle="none", clip_on=False, label=name, **style)
    ax.axhline(len(rows) - 2.5, color="0.6", linewidth=0.8)
    ax.set_yticks(places, rows)
    ax.tick_params(axis="y", pad=10)  # a mark at 0 reaches over the axis
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.set_xlabel("FID, lower is better")
