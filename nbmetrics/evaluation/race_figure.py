"""The figure of a race: intervals that shrink as draws are spent, each sampler until it is out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ..figures.drawing import generator_look, legend, panels, plain

if TYPE_CHECKING:
    from .race_result import Race


def draw(race: Race) -> Figure:
    """See `Race.plot`."""
    figure, (ax,) = panels(1, 6.0, 3.8)
    for k, name in enumerate(race.draws):
        rows = race.table[race.table["sampler"] == name]
        look, state = generator_look(k), rows["state"].iloc[-1].split(":")[0]
        ax.fill_between(rows["draws"], rows["low"], rows["high"], color=look["color"], alpha=0.15, linewidth=0)
        errors = abs(rows[["low", "high"]].T - rows["score"]).to_numpy()
        label = f"{plain(name)} ({state})"
        ax.errorbar(rows["draws"], rows["score"], yerr=errors, capsize=3, linewidth=1.2, label=label, **look)
        if state == "out":
            end = rows.iloc[-1]
            ax.plot(end["draws"], end["score"], marker="x", markersize=12, color=look["color"], markeredgewidth=2)
    result = race.stopped if race.winner is None else f"{plain(race.winner)} wins"
    ax.set_xscale("log")
    ax.set_xlabel("draws of the sampler")
    ax.set_ylabel(race.label)
    ax.set_title(f"{race.label}: {result}", fontsize=10)
    legend(figure, ax)
    return figure
