"""Figure of what the clients of a federation are made of: classes, and sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..figures.drawing import CLIENT, COLOURS, Drawing, plain
from .composition import SHARE_PREFIX

# Classes are told apart by colour and hatch; more than that many by their place in a map.
MAX_STACKED_CLASSES = 12
# Bars that are drawn within a few seconds.
MAX_BARS = 1500
HATCHES = ("", "////", "....")
# Inches for each client, and the tallest a figure gets; names are shortened to so many letters.
ROW_INCHES, MAX_INCHES, MAX_NAME_LETTERS = 0.24, 12.0, 24
# Ticks that fit side by side.
MAX_TICKS = 25


def plot_mix(table: pd.DataFrame) -> Figure:
    """Return the figure of the table of `Federation.describe`: the class mix of each client, and its size."""
    classes = [str(column) for column in table if str(column).startswith(SHARE_PREFIX)]
    height = min(MAX_INCHES, 1.6 + ROW_INCHES * max(len(table), 4))
    is_stacked = len(classes) <= MAX_STACKED_CLASSES and len(classes) * len(table) <= MAX_BARS
    if classes and is_stacked:
        height += 0.25 * -(-len(classes) // 4)
    figure = Drawing(figsize=(9.5 if classes else 5.5, height), layout="constrained")
    widths = [3, 1] if classes else [1]
    axes = figure.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)
    if classes:
        shares = table[classes].to_numpy(dtype=float)
        draw = _plot_bars if is_stacked else _plot_heat_map
        draw(figure, axes[0, 0], shares, [_legend_name(name.removeprefix(SHARE_PREFIX)) for name in classes])
    _plot_sizes(axes[0, -1], table)
    _write_names(axes[0, 0], [str(name) for name in table["client"]], height)
    return figure


def _plot_bars(figure: Drawing, ax: Any, shares: np.ndarray, classes: list[str]) -> None:
    """Draw one bar a client, its classes side by side in the order of the legend."""
    shares = np.nan_to_num(shares)
    ends = np.cumsum(shares, axis=1)
    for k, name in enumerate(classes):
        look = {"color": COLOURS[k % len(COLOURS)], "hatch": HATCHES[k // len(COLOURS)], "edgecolor": "white"}
        ax.barh(range(len(shares)), shares[:, k], 0.8, ends[:, k] - shares[:, k], label=name, linewidth=0.4, **look)
    ax.set_xlim(0, 1)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel("share of each class")
    figure.legend(loc="outside lower center", ncols=min(4, len(classes)), fontsize=9, frameon=False)


def _plot_heat_map(figure: Drawing, ax: Any, shares: np.ndarray, classes: list[str]) -> None:
    """Draw clients by classes, the darker the larger the share."""
    drawn = ax.imshow(shares, aspect="auto", cmap="Blues", vmin=0, vmax=np.nanmax(shares), interpolation="nearest")
    step = -(-len(classes) // MAX_TICKS)
    ax.set_xticks(range(0, len(classes), step), classes[::step], rotation=90, fontsize=8)
    ax.set_xlabel(f"class ({len(classes)})")
    figure.colorbar(
        drawn, ax=ax, label="share of the client's rows", location="top", shrink=0.6, aspect=40, ticks=MaxNLocator(4)
    )


def _plot_sizes(ax: Any, table: pd.DataFrame) -> None:
    """Draw the rows of each client, with those held out; weights where a client is a distribution."""
    ax.spines[["top", "right"]].set_visible(False)
    places = range(len(table))
    ax.grid(axis="x", alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    if table["n"].isna().any():
        ax.barh(places, table["weight"], 0.8, color=CLIENT)
        ax.set_xlabel("weight λ")
        return
    rows, test = table["n"].to_numpy(dtype=float), table["test"].to_numpy(dtype=float)
    ax.barh(places, rows, 0.8, color=CLIENT, label="rows")
    if test.any():
        ax.barh(places, test, 0.8, rows, color="white", edgecolor=CLIENT, hatch="////", linewidth=0.6, label="held out")
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8, frameon=False, columnspacing=1.0)
    ax.set_xlabel("rows")
    ax.xaxis.set_major_locator(MaxNLocator(3, integer=True))


def _write_names(ax: Any, names: list[str], height: float) -> None:
    """Write the clients' names from above, as many as fit."""
    step = max(1, int(np.ceil(len(names) * 0.13 / (height - 1.2))))
    size = 9 if len(names) * 0.17 < height - 1.2 else 6
    ax.set_yticks(range(0, len(names), step), [_legend_name(name) for name in names[::step]], fontsize=size)
    ax.set_ylim(len(names) - 0.5, -0.5)


def _legend_name(name: str) -> str:
    """Return a name as matplotlib shows it: a legend leaves out what begins with an underscore."""
    name = name if len(name) <= MAX_NAME_LETTERS else name[: MAX_NAME_LETTERS - 1] + "…"
    return plain(f" {name}" if name.startswith("_") else name)
