"""Figures of federated experiments: how avg and all order generators, and clients of little variance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..ranking import inverted_pairs, numeral
from .drawing import (
    GENERATORS,
    GREY,
    METRICS,
    UNITS,
    Drawing,
    best,
    caption,
    curve,
    generator_look,
    label,
    legend,
    panels,
    plain,
    whole_ticks,
    with_unit,
)

KINDS = {"class": "one class", "noise": "all classes with noise", "nearest": "an item and its nearest"}
KINDS |= {"first": "several classes"}
HATCHES = ("", "//", "..", "xx")


def single_class(table: pd.DataFrame) -> Drawing:
    """Each generator's avg joined with its all: crossing lines are an inversion, parallel ones have one gap (E4)."""
    metrics = _metrics(table)
    figure, axes = panels(len(metrics), width=3.4)
    for ax, metric in zip(axes, metrics, strict=True):
        ends = table[[f"{metric}_avg", f"{metric}_all"]].to_numpy()
        for k, (name, y) in enumerate(zip(table["generator"], ends, strict=True)):
            ax.plot([0, 1], y, linestyle="-" if k == 0 else "--", label=plain(name), **generator_look(k))
        ax.set_title(_verdict(*ends.T), fontsize=10)
        ax.set_xticks([0, 1], ["avg", "all"])
        ax.set_xlim(-0.25, 1.25)
        ax.set_ylabel(f"{label(metric)} ({UNITS.get(metric, UNITS['kid'])}; lower is better)")
    legend(figure, axes[0])
    return caption(figure, table)


def _verdict(avg: np.ndarray, pooled: np.ndarray) -> str:
    """What the lines from avg to all do."""
    if len(inverted_pairs(avg, pooled)):
        return "lines cross: avg and all disagree"
    # A gap is the difference of two scores, each of them known to a few of its last digits.
    one_gap = np.ptp(avg - pooled) <= 1e-9 * np.abs([avg, pooled]).max()
    return "parallel: one gap for both" if one_gap else "no crossing, but the gaps differ"


def published_ranks(table: pd.DataFrame) -> Drawing:
    """FID and KID of many generators: avg against all, and their places, inverted pairs joined (E5)."""
    figure, axes = panels(4, width=4.8, rows=2)
    for column, metric in enumerate(("fid", "kid")):
        pairs = inversions(table, metric)
        gap = table[f"{metric}_gap"]
        mean, spread = gap.mean(), numeral(gap.std(), ".2g", beside=gap.mean())
        counted = f"{len(pairs):,} of {len(table) * (len(table) - 1) // 2:,} pairs inverted"
        scatter(axes[column], table, metric, pairs)
        axes[column].set_title(f"{counted}; avg − all = {numeral(mean, '.3g')}, sd {spread}", fontsize=10)
        _places(axes[column + 2], table, metric, pairs)
    legend(figure, *axes)
    return caption(figure, table)


def class_federated(table: pd.DataFrame) -> Drawing:
    """FID and KID on clients of one class: avg against all, and their places, inverted pairs joined (E3)."""
    return published_ranks(table)


def extractors_compared(table: pd.DataFrame) -> Drawing:
    """How many pairs of generators avg and all order differently on each kind of features (E14)."""
    metrics, names = ("fid", "kid"), list(table["extractor"].unique())
    figure, axes = panels(len(metrics), width=5.2, height=1.2 + 0.55 * len(names))
    known = table[table["first"].notna() & (table["first"] != "")]
    for ax, metric in zip(axes, metrics, strict=True):
        start = np.zeros(len(names))
        for k, (kind, rows) in enumerate(known.groupby(_kind_of_pair(known), sort=False)):
            inverted = rows.groupby("extractor")[f"{metric}_inverted"].sum().reindex(names).fillna(0).to_numpy(float)
            color = GENERATORS[k % len(GENERATORS)]
            look: dict[str, Any] = {"color": color, "hatch": HATCHES[k % len(HATCHES)], "edgecolor": "white"}
            ax.barh(np.arange(len(names)), inverted, left=start, height=0.6, label=f"inverted: {kind}", **look)
            start += inverted
        counts = known.groupby("extractor").size().reindex(names)
        for row, (count, pairs) in enumerate(zip(start, counts, strict=True)):
            said = "no numbers here" if np.isnan(pairs) else f"{count:.0f} of {pairs:.0f}"
            ax.annotate(said, (count, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
        ax.set_yticks(np.arange(len(names)), [plain(name) for name in names])
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlim(0, max(1.0, 1.3 * start.max()))
        whole_ticks(ax.xaxis)
        ax.set_xlabel(f"pairs that {label(metric)}-avg and -all order differently")
    if len(known):
        legend(figure, axes[0])
    return caption(figure, table)


def _kind_of_pair(table: pd.DataFrame) -> pd.Series:
    """ "class and noise", say: by the first words of both names."""
    words = [table[end].astype(str).str.split().str[0] for end in ("first", "second")]
    return words[0] + " and " + words[1]


def variance_limited(table: pd.DataFrame) -> Drawing:
    """FID and KID over the generator's scale, and its places by both, one row of panels for each K (E6)."""
    families = {"neighbors": ("rows kept, (M + 1) / n", "share"), "shrunk": ("data shrunk by ψ", "ψ")}
    family = table.attrs["arguments"].get("family")
    x_label, symbol = families.get(family, ("scale of the generator", "scale"))
    return _sweeps(table, "neighbors", "K = {:g} neighbours a client", x_label, symbol)


def truncation(table: pd.DataFrame) -> Drawing:
    """FID and KID over the truncation, and places by both, one row of panels for each spread of the clients (E7)."""
    return _sweeps(table, "spread", "client means spread by {:g}", "truncation of the generator, ψ", "ψ")


def neighbors_federated(table: pd.DataFrame) -> Drawing:
    """Precision, recall, density and coverage: avg against all for both kinds of clients (E9)."""
    metrics, kinds = ("precision", "recall", "density", "coverage"), table["clients"].unique()
    figure, axes = panels(len(metrics) * len(kinds), width=2.9, height=3.0, rows=len(kinds))
    for row, kind in enumerate(kinds):
        part = table[table["clients"] == kind]
        for column, metric in enumerate(metrics):
            ax, pairs = axes[row * len(metrics) + column], inversions(part, metric)
            scatter(ax, part, metric, pairs)
            ax.set_title(f"{kind}\n{len(pairs)} of {len(part) * (len(part) - 1) // 2} pairs inverted", fontsize=9)
    legend(figure, *axes, columns=5)
    return caption(figure, table)


def transport_federated(table: pd.DataFrame) -> Drawing:
    """W1 of single classes and noisy copies: avg against all, and places by both (E10)."""
    figure, axes = panels(2, width=4.8)
    pairs = inversions(table, "w1")
    scatter(axes[0], table, "w1", pairs)
    axes[0].set_title(f"{len(pairs)} of {len(table) * (len(table) - 1) // 2} pairs inverted", fontsize=10)
    _places(axes[1], table, "w1", pairs)
    legend(figure, *axes)
    return caption(figure, table)


def _sweeps(table: pd.DataFrame, group: str, title: str, x_label: str, symbol: str) -> Drawing:
    """One row of panels for each value of `group`: FID, KID, and places by avg against places by all."""
    groups = list(table.groupby(group, sort=False))
    figure, axes = panels(3 * len(groups), width=3.5, height=2.8, rows=len(groups))
    for row, (value, part) in enumerate(groups):
        ours = axes[3 * row : 3 * row + 3]
        for ax, metric in zip(ours, ("fid", "kid"), strict=False):
            for aggregate in ("avg", "all", "gap"):
                marked = None if aggregate == "gap" else "min"
                curve(ax, part.iloc[:, 0], part[f"{metric}_{aggregate}"], aggregate, aggregate, best=marked)
            ax.set_title(best(part, metric, symbol), fontsize=9)
            ax.set_xlabel(x_label)
            ax.set_ylabel(with_unit(metric))
        ours[0].set_title(f"{title.format(value)}\n{ours[0].get_title()}", fontsize=9)
        for metric in ("fid", "kid"):
            x, y = part[f"{metric}_all_rank"], part[f"{metric}_avg_rank"]
            ours[2].plot(x, y, markersize=5, label=f"{label(metric)} places", **METRICS[metric])
        whole_ticks(ours[2].xaxis, ours[2].yaxis)
        ours[2].set_xlabel("place by all (1 = best)")
        ours[2].set_ylabel("place by avg")
    legend(figure, *axes, columns=5)
    return caption(figure, table)


def scatter(ax: Any, table: pd.DataFrame, metric: str, pairs: np.ndarray) -> None:
    """avg against all; pairs that they order differently are joined, and each kind of generator has its marker."""
    avg, pooled = (table[f"{metric}_{a}"].to_numpy(float) for a in ("avg", "all"))
    _join(ax, pooled, avg, pairs)
    for k, (kind, rows) in enumerate(_kinds(table)):
        style = {"s": 26, "edgecolors": "white", "linewidths": 0.5, "zorder": 2}
        ax.scatter(pooled[rows], avg[rows], label=KINDS.get(kind, kind), **generator_look(k), **style)
    ax.set_xlabel(with_unit(metric, "all"))
    ax.set_ylabel(with_unit(metric, "avg"))


def _places(ax: Any, table: pd.DataFrame, metric: str, pairs: np.ndarray) -> None:
    """Place by avg against place by all: on the diagonal where they agree."""
    avg, pooled = (table[f"{metric}_{a}_rank"].to_numpy(float) for a in ("avg", "all"))
    ax.axline((1, 1), slope=1, color=GREY, linewidth=0.8, linestyle=":")
    _join(ax, pooled, avg, pairs)
    for k, (_, rows) in enumerate(_kinds(table)):
        ax.scatter(pooled[rows], avg[rows], s=22, zorder=2, **generator_look(k))
    whole_ticks(ax.xaxis, ax.yaxis)
    ax.set_xlabel(f"place by {label(metric)}-all (1 = best)")
    ax.set_ylabel(f"place by {label(metric)}-avg")


def _join(ax: Any, x: np.ndarray, y: np.ndarray, pairs: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    segments = np.stack([np.column_stack([x[end], y[end]]) for end in pairs.T], axis=1)
    look: dict[str, Any] = {"colors": GREY, "linewidths": 0.9, "alpha": 0.6 if len(pairs) < 200 else 0.3, "zorder": 1}
    ax.add_collection(LineCollection(list(segments), label="inverted pair", **look))


def inversions(table: pd.DataFrame, metric: str) -> np.ndarray:
    """The pairs, (m, 2) positions, that avg and all order differently."""
    return inverted_pairs(table[f"{metric}_avg"], table[f"{metric}_all"])


def _kinds(table: pd.DataFrame) -> list[tuple[str, np.ndarray]]:
    """Generators by the first word of their names, where that makes a few kinds; otherwise all together."""
    words = table["generator"].astype(str).str.split().str[0]
    few = words.nunique() <= 4
    return [(w, (words == w).to_numpy()) for w in words.unique()] if few else [("generator", np.full(len(table), True))]


def _metrics(table: pd.DataFrame) -> list[str]:
    names = [str(c).removesuffix("_avg") for c in table if str(c).endswith("_avg")]
    return [metric for metric in names if f"{metric}_all" in table]
