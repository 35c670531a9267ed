"""The picture of MemorizationLab: the three sets with FLD's bumps, and the scores beside an honest generator's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.collections import EllipseCollection

from ...figures.drawing import CLIENT, GENERATOR, GREY, TEXT, Drawing, legend, panels
from ...ranking import numeral
from .scene import LABELS

DEGENERATE = 1e5


def memorization_lab(
    base: Mapping[str, Any], generated: np.ndarray, copies: np.ndarray, numbers: Mapping[str, Any]
) -> Drawing:
    """Left the points, right the cards.

    Parameters
    ----------
    base, numbers : what the page draws from and shows, as `MemorizationLab.base` and `.result`
    generated, copies : (m, 2) the generated points in the picture, and (m,) which of them are copies
    """
    figure, (left, right) = panels(2, width=5.0, height=4.4)
    _points(left, base, generated, copies, numbers["sigma"])
    _cards(right, numbers)
    legend(figure, left)
    return figure


def _points(ax: Any, base: Mapping[str, Any], generated: np.ndarray, copies: np.ndarray, sigma: Any) -> None:
    ax.scatter(*np.transpose(base["test"]), marker="x", s=12, linewidths=0.6, color="0.7", label="test")
    ax.scatter(*np.transpose(base["train"]), marker="o", s=10, linewidths=0, color=CLIENT, label="train")
    kinds: tuple[tuple[np.ndarray, str, dict[str, Any]], ...] = (
        (~copies, "generated", {"s": 9, "linewidths": 0, "alpha": 0.8}),
        (copies, "generated: a copy of train", {"s": 14, "linewidths": 0.8, "edgecolors": TEXT}),
    )
    for chosen, name, look in kinds:
        if chosen.any():
            ax.scatter(*generated[chosen].T, label=name, zorder=3, marker="D", color=GENERATOR, **look)
            if sigma is not None:
                _bumps(ax, generated[chosen], np.asarray(sigma)[chosen])
    (x, y), half = base["center"], base["half"]
    ax.set(xlim=(x - half, x + half), ylim=(y - half, y + half), aspect="equal")
    if base["projected"]:
        ax.set(xlabel="first principal component of train", ylabel="second")
    ax.grid(False)


def _bumps(ax: Any, points: np.ndarray, sigma: np.ndarray) -> None:
    wide = 2.0 * sigma
    ax.add_collection(
        EllipseCollection(
            wide[:, 0],
            wide[:, 1],
            np.zeros(len(wide)),
            units="xy",
            offsets=points,
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=GENERATOR,
            linewidths=0.8,
            alpha=0.35,
        )
    )


def _cards(ax: Any, numbers: Mapping[str, Any]) -> None:
    """A table drawn as text: the scores have units of their own, so one axis would not hold them."""
    ax.set_axis_off()
    shown = {"generated": numbers["cards"], "compared": numbers["comparable"], "honest": numbers["honest"]}
    columns = {head: cards for head, cards in shown.items() if cards is not None}
    places = np.linspace(1.0, 0.55, len(columns))[::-1]
    height = 1 / (len(LABELS) + 1)
    for x, head in zip(places, columns, strict=True):
        _write(ax, x, 1 - height / 2, head, color=GREY, fontsize=9)
    for line, (name, label) in enumerate(LABELS.items(), 1):
        y = 1 - (line + 0.5) * height
        ax.axhline(1 - line * height, color="0.85", linewidth=0.8)
        _write(ax, 0.0, y, label, ha="left", fontsize=11)
        for x, cards in zip(places, columns.values(), strict=True):
            _write(ax, x, y, _text(cards[name]), fontsize=11)


def _write(ax: Any, x: float, y: float, text: str, ha: str = "right", **look: Any) -> None:
    ax.text(x, y, text, transform=ax.transAxes, ha=ha, va="center", **look)


def _text(value: float | None) -> str:
    if value is None:
        return "–"
    return numeral(value, ".1e" if abs(value) >= DEGENERATE else ".3g" if abs(value) < 1 else ".2f")
