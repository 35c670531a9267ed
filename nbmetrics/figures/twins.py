"""Twin generators: the scores of both with each client, their average, and the pooled score."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .drawing import BLUE, VERMILION, Drawing, caption, legend, panels, with_unit

MOST_LABELS = 8
HEADS = {"corrected": "corrected construction", "printed": "as printed", "published": "published (FFHQ)"}


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
        for offset, generator, marker, colour in ((-0.12, "first", "o", BLUE), (0.12, "second", "D", VERMILION)):
            values = rows.loc[generator, [*clients, "fid_avg", "fid_all"]]
            style = {"marker": marker, "color": colour, "linestyle": "none", "markersize": 7, "clip_on": False}
            ax.plot(places + offset, values, label=f"{generator} generator", **style)
        ax.axvline(len(clients) - 1 + 0.8 * every, color="0.6", linewidth=0.8)
        named = [c.removeprefix("fid_client_") for c in clients[::every]]
        ax.set_xticks([*places[:-2:every], *places[-2:]], [*named, "avg", "all"])
        ax.set_xlabel("client")
        ax.set_ylabel(with_unit("fid"))
        ax.set_ylim(bottom=0)
        apart = (rows.loc["second"] - rows.loc["first"]).abs()
        words = f"apart by {apart[clients].max():.2g} at most with a client, by {apart['fid_all']:.2g} for all"
        ax.set_title(f"{HEADS[name]}:\n{words}", fontsize=10)
    legend(figure, axes[0])
    return caption(figure, table)
