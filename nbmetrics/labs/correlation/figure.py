"""The picture of a CorrelationLab: the contours of its score with the present point, and the two clouds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...distributions import Gaussian
from ...figures.drawing import CLIENT, GENERATOR, Drawing, legend, panels
from ...ranking import numeral
from .scene import CorrelationScene

NAMES = {"mfid": "MFID", "rfid": "RFID", "cfid": "CFID", "squared_difference": r"$(\rho - \hat{\rho})^2$"}
LEVELS = np.linspace(0, 4, 17)
LINES = (0.02, 0.1, 0.5, 1, 2, 3)
DARK_LINES_FROM = 2
COUNT = 160
REACH = 3.3


def correlation(scene: CorrelationScene, scores: Mapping[str, float]) -> Drawing:
    """Contours of the scene's score over both correlations, and the clouds of (x, y) and (x, ŷ)."""
    figure, (left, right) = panels(2, width=4.9, height=4.4)
    _map(left, scene, scores[scene.metric])
    _clouds(right, scene)
    legend(figure, right)
    said = ", ".join(f"{NAMES[name]} {numeral(value)}" for name, value in scores.items())
    figure.suptitle(f"{said}   (scale of x: α = {scene.scale:g})", fontsize=11)
    return figure


def surface(metric: str, rho: Any, rho_hat: Any, scale: float) -> np.ndarray:
    """A score at many correlations at once, by the closed forms for y and ŷ of variance 1."""
    rho, rho_hat = np.broadcast_arrays(np.asarray(rho, dtype=float), np.asarray(rho_hat, dtype=float))
    squared = (rho - rho_hat) ** 2
    cfid = squared + (np.sqrt((1 - rho) * (1 + rho)) - np.sqrt((1 - rho_hat) * (1 + rho_hat))) ** 2
    total = 1 + scale**2
    inner = np.sqrt(np.maximum(total**2 - scale**2 * cfid, 0.0))
    return {
        "mfid": np.zeros_like(cfid),
        "rfid": 2 * scale**2 * cfid / (total + inner),
        "cfid": cfid,
        "squared_difference": squared,
    }[metric]


def _map(ax: Any, scene: CorrelationScene, value: float) -> None:
    along = np.sin(np.linspace(-np.pi / 2, np.pi / 2, 121))  # closer at the ends, where the contours bend
    heights = surface(scene.metric, along, along[:, None], scene.scale)
    ax.contourf(along, along, heights, levels=LEVELS, cmap="cividis")
    reached = [level for level in LINES if level < heights.max()]
    if reached:
        inks = ["white" if level < DARK_LINES_FROM else "#00224e" for level in reached]
        ax.clabel(ax.contour(along, along, heights, levels=reached, colors=inks, linewidths=1), fmt="%g", fontsize=8)
    ax.plot([-1, 1], [-1, 1], color="white", linestyle="--", linewidth=1.5)
    here = {"color": "white", "markeredgecolor": "black", "markersize": 10, "clip_on": False, "zorder": 5}
    ax.plot(scene.rho, scene.rho_hat, "o", **here)
    ax.set_title(f"{NAMES[scene.metric]} = {numeral(value)} at the point", fontsize=10)
    ax.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    ax.set_xlabel(r"correlation of x and y, $\rho$")
    ax.set_ylabel(r"correlation of x and ŷ, $\hat{\rho}$")


def _clouds(ax: Any, scene: CorrelationScene) -> None:
    noise = np.random.default_rng(0).standard_normal((COUNT, 2))
    turn = np.linspace(0, 2 * np.pi, 121)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    looks: list[tuple[Gaussian, dict[str, Any], str]] = [
        (scene.real, {"color": CLIENT, "marker": "o", "label": "real (x, y)"}, "-"),
        (scene.generated, {"color": GENERATOR, "marker": "D", "label": "generated (x, ŷ)"}, "--"),
    ]
    for distribution, look, line in looks:
        ax.scatter(*(noise @ distribution.root).T, s=12, alpha=0.5, linewidths=0, **look)
        ax.plot(*(circle @ distribution.root).T, color=look["color"], linestyle=line, linewidth=2)
    ax.set_title("Both clouds, with their 1σ ellipses", fontsize=10)
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal", xlabel="αx", ylabel="y and ŷ")
