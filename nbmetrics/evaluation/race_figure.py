"""The figure of a race: the intervals of all scores against the draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..figures.drawing import generator_look, legend, panels, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Numbers of draws that stand side by side without being turned.
MAX_LEVEL_TICKS = 6


def draw_race(table: pd.DataFrame, label: str, result: str) -> Figure:
    """Draw the looks of a race, `Race.table`; `label` is of the score, and `result` what came out."""
    figure, (ax,) = panels(1, 6.0, 3.8)
    names = list(dict.fromkeys(table["sampler"]))
    above = _zoom(table, ax)
    for k, name in enumerate(names):
        rows, look = table[table["sampler"] == name], generator_look(k)
        draws = rows["draws"] * (1.0 + 0.012 * (k - (len(names) - 1) / 2.0))  # side by side
        ends = abs(rows[["low", "high"]].T - rows["score"]).to_numpy()
        state = rows["state"].iloc[-1].partition(":")[0]
        shown = f"{'_' * (name in above)}{plain(name)} ({state})"  # the legend leaves out what begins with _
        shape = {"capsize": 3, "linewidth": 1.2, "markersize": 4, "label": shown}
        ax.errorbar(draws, rows["score"], yerr=ends, **shape, **look)
        if state == "out":
            ax.plot(draws.iloc[-1], rows["score"].iloc[-1], marker="x", markersize=11, color=look["color"], mew=2)
    ax.set_xscale("log")
    ticks = sorted(set(table["draws"]))
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=45 * (len(ticks) > MAX_LEVEL_TICKS))
    ax.set_xticks([], minor=True)
    out = f"\nabove, out at the first look: {', '.join(map(plain, above))}" if above else ""
    ax.set_xlabel(f"draws of the sampler{out}")
    ax.set_ylabel(label)
    ax.set_title(f"{label}: {plain(result)}", fontsize=10)
    legend(figure, ax)
    return figure


def _zoom(table: pd.DataFrame, ax: Any) -> list[str]:
    """Show what was not out at the first look, and return who is above that."""
    is_out = (table["look"] == 1) & table["state"].str.startswith("out")
    lasted = table[~table["sampler"].isin(table[is_out]["sampler"])]
    last = lasted[["low", "high"]].to_numpy()
    low, high = (np.nanmin(last), np.nanmax(last)) if np.isfinite(last).any() else (0.0, 0.0)
    if low == high or lasted["sampler"].nunique() < 2:
        return []
    margin = 0.06 * (high - low)
    ax.set_ylim(low - margin, high + margin)
    return [str(name) for name, rows in table.groupby("sampler", sort=False) if rows["score"].min() > high]
