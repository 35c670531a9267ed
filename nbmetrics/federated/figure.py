"""The curve of `rank_survival` as a matplotlib Figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import InvalidInput
from ..figures.drawing import AGGREGATES, caption, curve, label, legend, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REQUIRED_COLUMNS = {"epsilon", "metric", "aggregate", "agreement", "best_kept", "best_low", "best_high", "survives"}
NOISE = "hatched, open marks: the noise decides who is first"
HATCHES = {"avg": "///", "all": "\\\\\\"}


def plot_survival(table: pd.DataFrame) -> Figure:
    """Kendall's τ and how often the best stays the best, against ε; one row of panels a metric.

    `table` is what `rank_survival` returned. The dotted line is what clipping alone leaves; bands are the 95 %
    intervals of the table, at each ε by itself. Hatched, with open marks, is where `survives` is False: there the noise
    decides who is first, by avg from the lower left to the upper right, by all across.
    """
    if not isinstance(table, pd.DataFrame) or not set(table) >= REQUIRED_COLUMNS or table.empty:
        raise InvalidInput("table", "is not what rank_survival returned", "Give nm.federated.rank_survival(…)")
    metrics = list(dict.fromkeys(table["metric"]))
    figure, axes = panels(2 * len(metrics), rows=len(metrics))
    for k, metric in enumerate(metrics):
        for ax, column in zip(axes[2 * k : 2 * k + 2], ("agreement", "best_kept"), strict=True):
            for part in ("avg", "all"):
                rows = table[(table["metric"] == metric) & (table["aggregate"] == part)].sort_values("epsilon")
                swept, clipped = rows[np.isfinite(rows["epsilon"])], rows[~np.isfinite(rows["epsilon"])]
                curve(ax, swept["epsilon"], swept[column], part, part, best=None)
                mark_noise(ax, swept["epsilon"], swept[column], swept["survives"], part)
                hatch_noise(ax, swept["epsilon"], swept["survives"], NOISE, HATCHES[part])
                if column == "best_kept":
                    look = {"color": AGGREGATES[part]["color"], "alpha": 0.12, "linewidth": 0}
                    band = "bands: 95 % interval for the chance, at each ε"
                    ax.fill_between(swept["epsilon"], swept["best_low"], swept["best_high"], **look, label=band)
                for value in clipped[column]:
                    ax.axhline(value, linestyle=":", linewidth=1.0, color="0.5", label="clipped, without noise")
            ax.set_xscale("log")
            ax.set_xlabel("ε, of all metrics together")
            ax.set_ylabel("Kendall’s τ with the true order" if column == "agreement" else "share: best stays best")
            ax.set_ylim(-1.05 if column == "agreement" else -0.05, 1.05)
            ax.set_title(label(metric), fontsize=10)
    legend(figure, *axes)
    table.attrs.setdefault("title", "Order of generators under noise")
    return caption(figure, table)


def mark_noise(ax: Any, epsilons: Any, values: Any, survives: Any, part: str) -> None:
    """Marks on a curve of avg or all: full where the order survives, open where noise decides."""
    look = {"marker": AGGREGATES[part]["marker"], "color": AGGREGATES[part]["color"], "linestyle": "", "markersize": 5}
    for is_kept in (True, False):
        places = [k for k, kept in enumerate(survives) if bool(kept) == is_kept]
        face = {} if is_kept else {"markerfacecolor": "white"}
        ax.plot(np.asarray(epsilons)[places], np.asarray(values)[places], zorder=3, **look, **face)


def hatch_noise(ax: Any, epsilons: Any, survives: Any, name: str, hatch: str = "///") -> None:
    """Hatch each ε at which noise decides, half-way to its neighbours on a logarithmic axis."""
    logs = np.log(np.asarray(epsilons, dtype=float))
    reach = np.diff(logs) / 2 if len(logs) > 1 else np.array([0.5])
    lows, highs = logs - np.r_[reach[0], reach], logs + np.r_[reach, reach[-1]]
    for low, high, kept in zip(np.exp(lows), np.exp(highs), survives, strict=True):
        if not kept:
            ax.axvspan(low, high, fill=False, hatch=hatch, edgecolor="0.85", linewidth=0, zorder=0, label=name)
