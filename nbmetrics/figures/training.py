"""Figures of generators in training: their checkpoints by avg and by all, and a collapse that one of the two misses."""

from __future__ import annotations

import pandas as pd

from ..ranking import numeral
from .drawing import GREY, Drawing, caption, curve, legend, panels, plain, with_unit
from .federated import inversions, scatter


def checkpoints(table: pd.DataFrame) -> Drawing:
    """Checkpoints of models in training: avg against all on each federation, inverted pairs joined (E11)."""
    kinds = list(table.groupby("clients", sort=False))
    figure, axes = panels(2 * len(kinds), width=3.3, height=3.2, rows=2)
    for row, metric in enumerate(("fid", "kid")):
        for column, (clients, part) in enumerate(kinds):
            ax, pairs = axes[row * len(kinds) + column], inversions(part, metric)
            scatter(ax, part.assign(generator=part["model"]), metric, pairs)
            ax.set_title(
                f"{plain(clients)}\n{len(pairs)} of {len(part) * (len(part) - 1) // 2} pairs inverted", fontsize=9
            )
    legend(figure, *axes)
    return caption(figure, table)


def mode_collapse(table: pd.DataFrame) -> Drawing:
    """FID of models through a collapse, by avg and by all, for each kind of clients and each target (E8).

    Lines are means over the runs, and every run is thin behind them; the line by the law is of a perfect generator.
    """
    rows, targets = list(table.groupby("clients", sort=False)), table["target"].nunique()
    figure, axes = panels(len(rows) * targets, width=3.9, height=3.3, rows=len(rows))
    for row, (clients, part) in enumerate(rows):
        for column, (target, own) in enumerate(part.groupby("target", sort=False)):
            ax = axes[row * targets + column]
            mean = own.groupby("since", as_index=False).mean(numeric_only=True)
            for _, run in own.groupby("run"):
                for aggregate in ("avg", "all"):
                    ax.plot(run["since"], run[f"fid_{aggregate}"], color=GREY, linewidth=0.5, alpha=0.6)
            for aggregate in ("avg", "all"):
                curve(ax, mean["since"], mean[f"fid_{aggregate}"], aggregate, f"FID-{aggregate}", best=None)
            ax.step(
                mean["since"], mean["fid_avg_law"], where="post", color=GREY, linestyle="-.", label="FID-avg by the law"
            )
            ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
            ax.set_xscale("symlog", linthresh=10)
            ax.set_title(f"{plain(clients)}, {plain(target)}\n{_told(own)}", fontsize=9)
            ax.set_xlabel("steps since the data were switched")
            ax.set_ylabel(with_unit("fid"))
    legend(figure, *axes)
    return caption(figure, table)


def _told(own: pd.DataFrame) -> str:
    """By what the scores were multiplied, from the mean before to that of the last three steps."""
    steps = sorted(own["since"].unique())
    before, after = own[own["since"] <= 0], own[own["since"].isin(steps[-3:])]
    times = {
        c: numeral(after[c].mean() / before[c].mean(), ".2f") for c in ("fid_avg", "fid_all", "kid_avg", "kid_all")
    }
    law = numeral(own["law_ratio"].mean(), ".2f")
    first = f"FID-avg × {times['fid_avg']} (law {law}), FID-all × {times['fid_all']}"
    return f"{first}\nKID-avg × {times['kid_avg']}, KID-all × {times['kid_all']}"
