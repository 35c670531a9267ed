"""Twin generators: the scores of both with each client, their average, and the pooled score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..ranking import numeral
from .drawing import GENERATORS, Drawing, caption, legend, panels, with_unit

MOST_LABELS = 8
HEADS = {"corrected": "twins", "printed": "by the papers’ formula", "published": "the papers’ table (FFHQ)"}
# An open circle that a diamond fits into, as in TwinsLab.
LOOKS: dict[str, dict[str, Any]] = {
    "first": {"marker": "o", "markersize": 11, "markerfacecolor": "none", "color": GENERATORS[0], "markeredgewidth": 2},
    "second": {"marker": "D", "markersize": 6, "color": GENERATORS[1]},
}


def twin_generators(table: pd.DataFrame) -> Drawing:
    """One panel a construction: client scores on the left, avg and all on the right (E12)."""
    shown = [name for name in HEADS if name in set(table["construction"])]
    figure, axes = panels(len(shown), width=4.2)
    for ax, name in zip(axes, shown, strict=True):
        rows = table[table["construction"] == name].set_index("generator").drop(columns="construction")
        rows = rows.dropna(axis=1)
        clients = [c for c in map(str, rows) if c.startswith("fid_client_")]
        every = -(-len(clients) // MOST_LABELS)
        places = np.append(np.arange(len(clients)), len(clients) - 1 + every * np.array([1.6, 2.6]))
        for generator, look in LOOKS.items():
            values = rows.loc[generator, [*clients, "fid_avg", "fid_all"]]
            ax.plot(places, values, linestyle="none", clip_on=False, label=f"{generator} generator", **look)
        ax.axvline(len(clients) - 1 + 0.8 * every, color="0.6", linewidth=0.8)
        named = [c.removeprefix("fid_client_") for c in clients[::every]]
        ax.set_xticks([*places[:-2:every], *places[-2:]], [*named, "avg", "all"])
        ax.set_xlabel("client")
        ax.set_ylabel(with_unit("fid"))
        ax.set_ylim(bottom=0)
        apart = (rows.loc["second"] - rows.loc["first"]).abs()
        of_clients, of_all = float(np.max(apart[clients])), float(np.max(apart["fid_all"]))
        furthest = numeral(of_clients, ".2g", beside=float(np.max(rows.loc["first"])))
        words = f"apart by {furthest} at most with a client, by {numeral(of_all, '.2g')} for all"
        ax.set_title(f"{HEADS[name]}:\n{words}", fontsize=10)
    legend(figure, axes[0])
    return caption(figure, table)
