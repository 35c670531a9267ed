"""Figures of one evaluation: avg against all, places by both, client by client, and what each client loses."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..errors import InvalidInput, check_choice, shown
from ..figures.drawing import CLIENT, TEXT, generator_look, legend, panels, plain
from ..ranking import inverted_pairs, places
from .decisions import regrets
from .display import figure as numeral
from .scores_protocol import ScoresProtocol
from .sentences import shown_label
from .winners import winners_of

# Cells of a heat map up to which each has its number, and names beside it that can be read.
MAX_CELLS_WITH_NUMBERS, MAX_NAMES = 120, 60


def draw(scores: ScoresProtocol, kind: str, metric: str | None, ax: Any) -> Figure:
    """See `Scores.plot`."""
    draw_panel = KINDS[check_choice(kind, KINDS, "kind")]
    metrics = scores.metrics if metric is None else (check_choice(metric, scores.metrics, "metric"),)
    if ax is not None:
        return _into(ax, scores, kind, metrics)
    figure, axes = panels(len(metrics), *_size(scores, kind))
    for panel, name in zip(axes, metrics, strict=True):
        draw_panel(scores, name, panel)
    if kind in NAMED:
        legend(figure, axes[0])
    return figure


def _into(ax: Any, scores: ScoresProtocol, kind: str, metrics: tuple[str, ...]) -> Figure:
    """One metric in Axes of the user's own."""
    if not isinstance(ax, Axes) or ax.name != "rectilinear":
        raise InvalidInput("ax", f"got {shown(ax)}", "Give plain matplotlib Axes, such as of figure.subplots()")
    if len(metrics) > 1:
        raise InvalidInput("metric", f"is not given, but ax shows one of {', '.join(metrics)}", "Name one of them")
    KINDS[kind](scores, metrics[0], ax)
    if kind in NAMED:
        ax.legend(fontsize=9, frameon=False)
    return ax.figure.figure  # of a SubFigure the whole


def _size(scores: ScoresProtocol, kind: str) -> tuple[float, float]:
    """Width and height of a panel in inches."""
    if kind != "regret":
        return (4.8 if kind == "clients" else 4.2), 3.8
    return min(3.2 + 0.6 * len(scores.generators), 14.0), min(max(3.0, 1.6 + 0.3 * len(scores.names)), 14.0)


def _scatter(scores: ScoresProtocol, metric: str, ax: Any) -> None:
    """avg, or intra where there is one, against all, as the table shows them; pairs ordered differently are joined."""
    label, winners = shown_label(scores, metric), winners_of(scores.result(metric))
    rows, column = scores.table[scores.table["metric"] == metric], "_corrected" if winners.is_corrected else ""
    first = next(iter(winners.losses))
    one, pooled = (rows.get(f"{part}{column}", rows[part]).to_numpy() for part in (first, "all"))
    inverted = inverted_pairs(winners.losses[first], winners.losses["all"])
    for pair in inverted:
        ax.plot(pooled[pair], one[pair], color="0.35", linewidth=1.2, linestyle="--", zorder=1)
    for k, name in enumerate(scores.generators):
        style = {"s": 60, "alpha": 0.85, "edgecolors": "white", "linewidths": 0.8, "zorder": 2}
        ax.scatter(pooled[k], one[k], label=plain(name), **style, **generator_look(k))
    ax.margins(0.12)
    ax.locator_params(axis="x", nbins=5)  # more long numbers would run into each other
    ax.set_xlabel(f"{label}-all (pooled data)")
    ax.set_ylabel(f"{label}-{first} ({'over clients' if first == 'avg' else 'each client with its own'})")
    pairs = f"{len(inverted)} pair{'s' * (len(inverted) > 1)} inverted (dashed)"
    order = "same order" if not np.isnan([one, pooled]).any() else "not every score is known"
    ax.set_title(f"{label}: {pairs if len(inverted) else order}", fontsize=10)


def _ranks(scores: ScoresProtocol, metric: str, ax: Any) -> None:
    """Places by each aggregate, all on the right; crossing lines are inversions."""
    every = winners_of(scores.result(metric)).losses
    losses = {part: own for part, own in every.items() if not np.isnan(own).all()} or every
    at, last = range(len(losses)), len(losses) - 1
    for k, own in enumerate(zip(*map(places, losses.values()), strict=True)):
        ax.plot(at, own, linestyle="--" if len(set(own)) > 1 else "-", **generator_look(k))
        name = plain(scores.generators[k])
        ax.annotate(name, (last, own[-1]), xytext=(8, -3), textcoords="offset points", fontsize=9)
    ax.set_xticks(at, list(losses))
    ax.set_xlim(-0.2, last + 0.9)
    ax.set_yticks(range(1, len(scores.generators) + 1))
    ax.invert_yaxis()
    ax.set_ylabel("place (1 = best)")
    ax.set_title(shown_label(scores, metric), fontsize=10)


def _clients(scores: ScoresProtocol, metric: str, ax: Any) -> None:
    """Each client's score, with what was made for it where that is its own, one marker a generator."""
    rows = scores.clients[scores.clients["metric"] == metric]
    for k, generator in enumerate(scores.generators):
        values = rows[rows["generator"] == generator]["own" if "own" in rows else "value"]
        ax.plot(range(len(values)), values, linestyle="none", label=plain(generator), **generator_look(k))
    ax.set_xticks(range(len(scores.names)), [plain(n) for n in scores.names], rotation=45, ha="right")
    ax.set_ylabel(scores.plain_label(metric) + ", each client with its own" * bool(scores.result(metric).own_cells))


def _regret(scores: ScoresProtocol, metric: str, ax: Any) -> None:
    """Clients × generators: how much worse than the client's best, which is ringed; hatched where there is no score."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    cells = scores.result(metric)
    lost = regrets(cells.losses(cells.own)).T
    finite = lost[np.isfinite(lost)]
    top = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    hue = LinearSegmentedColormap.from_list("regret", ["white", CLIENT])
    image = ax.imshow(np.minimum(lost, top), cmap=hue, vmin=0.0, vmax=top, aspect="auto")
    ax.grid(False)
    few = lost.size <= MAX_CELLS_WITH_NUMBERS
    for (c, g), value in np.ndenumerate(lost):
        if np.isnan(value):
            ax.add_patch(Rectangle((g - 0.5, c - 0.5), 1, 1, fill=False, hatch="////", edgecolor="0.5", linewidth=0))
        elif few or np.isinf(value):
            colour = "white" if value > 0.6 * top else TEXT
            shape = {"boxstyle": "round", "fill": False, "edgecolor": colour} if value == 0 else None
            text = "∞" if np.isinf(value) else numeral(value, 2)
            ax.text(g, c, text, ha="center", va="center", color=colour, fontsize=8, bbox=shape)
        elif value == 0:
            ax.plot(g, c, marker="o", fillstyle="none", color=TEXT, markersize=4)
    ax.set_xticks(range(len(scores.generators)), [plain(n) for n in scores.generators], rotation=45, ha="right")
    if len(scores.names) <= MAX_NAMES:
        ax.set_yticks(range(len(scores.names)), [plain(n) for n in scores.names])
    ax.set_title(f"{scores.plain_label(metric)}: regret, each client's best ringed", fontsize=10)
    ax.figure.colorbar(image, ax=ax, label="regret")


KINDS = {"scatter": _scatter, "ranks": _ranks, "clients": _clients, "regret": _regret}
# Kinds that tell generators apart by a legend.
NAMED = {"scatter", "clients"}
