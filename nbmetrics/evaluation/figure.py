"""Figures of one evaluation: avg against all, places by both, and client by client."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..figures.drawing import generator_look, legend, panels, plain
from .result import Readable


def scatter(scores: Readable) -> Figure:
    """avg against all, one panel a metric; pairs that the two order differently are joined."""
    figure, axes = panels(len(scores.metrics))
    for ax, metric in zip(axes, scores.metrics, strict=True):
        label = scores.plain_label(metric)
        rows = scores.table[scores.table["metric"] == metric].set_index("generator")
        inverted = scores.inversions(metric)
        for _, pair in inverted.iterrows():
            ends = rows.loc[[pair["avg_prefers"], pair["all_prefers"]]]
            ax.plot(ends["all"], ends["avg"], color="0.35", linewidth=1.2, linestyle="--", zorder=1)
        for k, (name, row) in enumerate(rows.iterrows()):
            style = {"s": 60, "alpha": 0.85, "edgecolors": "white", "linewidths": 0.8, "zorder": 2}
            ax.scatter(row["all"], row["avg"], label=plain(name), **style, **generator_look(k))
        ax.margins(0.12)
        ax.locator_params(axis="x", nbins=5)  # more long numbers would run into each other
        ax.set_xlabel(f"{label}-all (pooled data)")
        ax.set_ylabel(f"{label}-avg (over clients)")
        pairs = f"{len(inverted)} pair{'s' * (len(inverted) > 1)} inverted (dashed)"
        ax.set_title(f"{label}: {pairs if len(inverted) else 'same order'}", fontsize=10)
    legend(figure, axes[0])
    return figure


def ranks(scores: Readable) -> Figure:
    """Places by avg (left) and by all (right), one panel a metric; crossing lines are inversions."""
    figure, axes = panels(len(scores.metrics))
    for ax, metric in zip(axes, scores.metrics, strict=True):
        for k, row in enumerate(scores.ranks(metric).to_dict("records")):
            line = "--" if row["avg"] != row["all"] else "-"
            ax.plot([0, 1], [row["avg"], row["all"]], linestyle=line, **generator_look(k))
            ax.annotate(
                plain(row["generator"]), (1, row["all"]), xytext=(8, -3), textcoords="offset points", fontsize=9
            )
        ax.set_xticks([0, 1], ["avg", "all"])
        ax.set_xlim(-0.2, 1.9)
        ax.set_yticks(range(1, len(scores.generators) + 1))
        ax.invert_yaxis()
        ax.set_ylabel("place (1 = best)")
        ax.set_title(scores.plain_label(metric), fontsize=10)
    return figure


def clients(scores: Readable) -> Figure:
    """Each client's score, one panel a metric, one marker a generator."""
    figure, axes = panels(len(scores.metrics), width=4.8)
    for ax, metric in zip(axes, scores.metrics, strict=True):
        rows = scores.clients[scores.clients["metric"] == metric]
        for k, generator in enumerate(scores.generators):
            values = rows[rows["generator"] == generator]["value"]
            ax.plot(range(len(values)), values, linestyle="none", label=plain(generator), **generator_look(k))
        ax.set_xticks(range(len(scores.names)), [plain(n) for n in scores.names], rotation=45, ha="right")
        ax.set_ylabel(scores.plain_label(metric))
    legend(figure, axes[0])
    return figure
