"""Matplotlib figures of scores, made with the object API so that they are safe off the main thread."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from .scores import Scores

# Okabe–Ito: told apart with any colour vision.
BLUE, VERMILION, GREEN, PURPLE, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, "#000000")
MARKERS = "oDs^vP*Xhd<>"


class Drawing(Figure):
    """A Figure that a notebook shows without pyplot."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=144, bbox_inches="tight")
        return stream.getvalue()


def _panels(count: int, width: float = 4.2, height: float = 3.8) -> tuple[Drawing, Any]:
    figure = Drawing(figsize=(width * count, height), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
    return figure, axes


def scatter(scores: Scores) -> Figure:
    """avg against all, one panel a metric; pairs that the two order differently are joined."""
    figure, axes = _panels(len(scores.metrics))
    for ax, metric in zip(axes, scores.metrics, strict=True):
        label = scores.label(metric)
        rows = scores.table[scores.table["metric"] == metric].set_index("generator")
        inverted = scores.inversions(metric)
        for _, pair in inverted.iterrows():
            ends = rows.loc[[pair["avg_prefers"], pair["all_prefers"]]]
            ax.plot(ends["all"], ends["avg"], color="0.35", linewidth=1.2, linestyle="--", zorder=1)
        for k, (name, row) in enumerate(rows.iterrows()):
            style = {"marker": MARKERS[k % len(MARKERS)], "color": COLOURS[k % len(COLOURS)], "label": _plain(name)}
            ax.scatter(row["all"], row["avg"], s=60, alpha=0.85, edgecolors="white", linewidths=0.8, zorder=2, **style)
        ax.margins(0.12)
        ax.set_xlabel(f"{label}-all (pooled data)")
        ax.set_ylabel(f"{label}-avg (over clients)")
        pairs = f"{len(inverted)} pair{'s' * (len(inverted) > 1)} inverted (dashed)"
        ax.set_title(f"{label}: {pairs if len(inverted) else 'same order'}", fontsize=10)
    _legend(figure, axes[0])
    return figure


def _legend(figure: Drawing, ax: Any) -> None:
    """The generators once, below all panels, where no name can cover another or a point."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)), fontsize=9, frameon=False)


def ranks(scores: Scores) -> Figure:
    """Places by avg (left) and by all (right), one panel a metric; crossing lines are inversions."""
    figure, axes = _panels(len(scores.metrics))
    for ax, metric in zip(axes, scores.metrics, strict=True):
        for k, row in enumerate(scores.ranks(metric).to_dict("records")):
            moved = row["avg"] != row["all"]
            style = {"color": VERMILION if moved else BLUE, "linestyle": "--" if moved else "-"}
            ax.plot([0, 1], [row["avg"], row["all"]], marker=MARKERS[k % len(MARKERS)], **style)
            ax.annotate(
                _plain(row["generator"]), (1, row["all"]), xytext=(8, -3), textcoords="offset points", fontsize=9
            )
        ax.set_xticks([0, 1], ["avg", "all"])
        ax.set_xlim(-0.2, 1.9)
        ax.set_yticks(range(1, len(scores.generators) + 1))
        ax.invert_yaxis()
        ax.set_ylabel("place (1 = best)")
        ax.set_title(scores.label(metric), fontsize=10)
    return figure


def clients(scores: Scores) -> Figure:
    """Each client's score, one panel a metric, one marker a generator."""
    figure, axes = _panels(len(scores.metrics), width=4.8)
    for ax, metric in zip(axes, scores.metrics, strict=True):
        rows = scores.clients[scores.clients["metric"] == metric]
        for k, generator in enumerate(scores.generators):
            values = rows[rows["generator"] == generator]["value"]
            style = {"marker": MARKERS[k % len(MARKERS)], "color": COLOURS[k % len(COLOURS)]}
            ax.plot(range(len(values)), values, linestyle="none", label=_plain(generator), **style)
        ax.set_xticks(range(len(scores.names)), [_plain(n) for n in scores.names], rotation=45, ha="right")
        ax.set_ylabel(scores.label(metric))
    _legend(figure, axes[0])
    return figure


def _plain(name: Any) -> str:
    """A user's name as text: matplotlib would read dollars as mathematics."""
    return str(name).replace("$", r"\$")
