"""Figures of what samples do to FLD and its neighbours: their faults, their number, their ranks; and real models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidInput, check_count
from ..ranking import numeral
from .drawing import (
    COLOURS,
    GENERATOR,
    GREY,
    MARKERS,
    METRICS,
    Drawing,
    caption,
    label,
    legend,
    panels,
    plain,
    with_unit,
)

PALETTE = (*COLOURS, "#cc79a7")


def transforms(table: pd.DataFrame) -> Drawing:
    """FLD and FID against the share of transformed images, imperceptible changes dashed (F3)."""
    figure, axes = panels(2, width=5, height=4.2)
    for k, (name, rows) in enumerate(table.groupby("transform", sort=False)):
        is_large = rows["kind"].iloc[0] == "large"
        style: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[k % len(MARKERS)]}
        style |= {"linestyle": "-" if is_large else "--", "markerfacecolor": None if is_large else "white"}
        for ax, metric in zip(axes, ("fld", "fid"), strict=True):
            ax.plot(rows["share"], rows[metric], label=f"{plain(name)} ({rows['kind'].iloc[0]})", **style)
            ax.set_ylabel(with_unit(metric))
            ax.set_xlabel("share of transformed images")
    # What a blur costs would vanish beside a crop.
    axes[1].set_yscale("log")
    legend(figure, axes[0])
    return caption(figure, table)


def diversity(table: pd.DataFrame) -> Drawing:
    """FLD and FID against the number of classes and against how often each row appears (F4)."""
    parts = {
        "classes": (table[table["copies"] == 1], "classes among the generated rows"),
        "copies": (table[table["classes"] == table["classes"].max()], "times each generated row appears"),
    }
    figure, axes = panels(4, width=4.8, height=2.7, rows=2)
    for row, metric in enumerate(("fld", "fid")):
        for ax, (column, (rows, x_label)) in zip(axes[2 * row :], parts.items(), strict=False):
            _with_spread(ax, rows, column, metric)
            if row:
                ax.set_xlabel(x_label)
            if column == "copies":
                ax.set_xscale("log", base=2)
                ax.set_xticks(rows[column], rows[column])
    return caption(figure, table)


def sample_size(table: pd.DataFrame) -> Drawing:
    """FLD, FID and KID against the number of test rows, with the standard deviation of one draw (F8)."""
    figure, axes = panels(3, width=3.5, height=3.4)
    for ax, metric in zip(axes, ("fld", "fid", "kid"), strict=True):
        _against_size(ax, table, "test_size", metric)
        ax.set_xlabel("test rows")
    legend(figure, *axes)
    return caption(figure, table)


def generated_size(table: pd.DataFrame) -> Drawing:
    """FLD and FID against the number of generated rows, with the standard deviation of one draw (F13)."""
    figure, axes = panels(2, width=4.6, height=3.4)
    for ax, metric in zip(axes, ("fld", "fid"), strict=True):
        _against_size(ax, table, "size", metric)
        ax.set_xlabel("generated rows")
    legend(figure, *axes)
    return caption(figure, table)


def _against_size(ax: Any, table: pd.DataFrame, column: str, metric: str) -> None:
    """The means of a metric against a number of rows, down to 0, or a tenth more would look like ten times as much."""
    _with_spread(ax, table, column, metric)
    ax.axhline(table[metric].iloc[-1], color=GREY, linestyle=":", label="value at the last size")
    ax.set_xscale("log")
    ax.set_xticks(table[column], table[column])
    ax.minorticks_off()
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0), max(high, 0))


def _with_spread(ax: Any, rows: pd.DataFrame, x: str, metric: str) -> None:
    """The means of a metric, with bars of one standard deviation."""
    name = f"{label(metric)}, ± 1 sd of a draw"
    ax.errorbar(rows[x], rows[metric], yerr=rows[f"{metric}_sd"].fillna(0), capsize=3, label=name, **METRICS[metric])
    ax.set_ylabel(with_unit(metric))


def published_models(table: pd.DataFrame) -> Drawing:
    """Places by FLD (left) and FID (right) of each data set's models in each feature space; crossings dashed (F9)."""
    from scipy.stats import kendalltau

    groups = list(table.groupby(["features", "dataset"], sort=False))
    figure, axes = panels(len(groups), width=3.6, height=3.1, rows=-(-len(groups) // 3))
    for ax, ((features, dataset), rows) in zip(axes, groups, strict=True):
        for row in rows.to_dict("records"):
            is_moved = row["fld_rank"] != row["fid_rank"]
            style = {"color": GENERATOR if is_moved else GREY, "linestyle": "--" if is_moved else "-"}
            ax.plot([0, 1], [row["fld_rank"], row["fid_rank"]], marker="D" if is_moved else "o", markersize=5, **style)
            text = f"{plain(row['model'])}  {numeral(row['fld'], '.2f')}"
            ax.annotate(
                text, (0, row["fld_rank"]), (-8, 0), textcoords="offset points", ha="right", va="center", fontsize=8
            )
            ax.annotate(
                f"{row['fid']:.4g}", (1, row["fid_rank"]), (8, 0), textcoords="offset points", va="center", fontsize=8
            )
        ax.set_xlim(-1.5, 1.5)
        ax.set_xticks([0, 1], ["by FLD", "by FID"])
        ax.set_yticks([])
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.grid(False)
        ax.invert_yaxis()
        tau = kendalltau(rows["fld"], rows["fid"]).statistic
        ax.set_title(f"{plain(dataset)}, {plain(features)}: τ = {numeral(tau, '.2f')}", fontsize=10)
    return caption(figure, table)


def timing(table: pd.DataFrame) -> Drawing:
    """Seconds of each metric against the number of train rows, on logarithmic axes (F11)."""
    figure, [ax] = panels(1, width=7, height=4.4)
    columns = [name for name in map(str, table) if name.endswith("_seconds")]
    for k, column in enumerate(columns):
        name = column.removesuffix("_seconds")
        style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
        ax.plot(table["train_rows"], table[column], label=label(name), **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(table["train_rows"], table["train_rows"])
    ax.minorticks_off()
    ax.set_xlabel("train rows")
    ax.set_ylabel("time (s)")
    legend(figure, ax, columns=6)
    return caption(figure, table)


def ranked_samples(table: pd.DataFrame, pairs: int = 7) -> Drawing:
    """Generated images, each left of its nearest train image, of the highest and the lowest scores (F7)."""
    pairs = check_count(pairs, "pairs")
    pictures = table.attrs.get("pictures")
    if pictures is None:
        raise InvalidInput("table", "has lost its images", "Give what nm.experiments.ranked_samples() returned")
    rows = []
    for by, part in table.groupby("by", sort=False):
        shown = min(pairs, len(part))
        rows += [(f"{by}: highest", part.head(shown)), (f"{by}: lowest", part.tail(shown))]
    figure, axes = panels(len(rows) * len(rows[0][1]), width=1.45, height=1.3, rows=len(rows))
    for axs, (name, part) in zip(np.reshape(axes, (len(rows), -1)), rows, strict=True):
        _pairs(axs, part, pictures, name)
    # Pairs further from each other than their halves are.
    figure.set_layout_engine("constrained", wspace=0.2)
    figure.supxlabel("generated | nearest train image; rank, score in nats/dim, distance between features", fontsize=9)
    return caption(figure, table)


def _pairs(axes: Sequence[Any], part: pd.DataFrame, pictures: Any, name: str) -> None:
    for ax, row in zip(axes, part.to_dict("records"), strict=True):
        left, right = pictures.generated[row["generated"]], pictures.train[row["train"]]
        gap = np.full((left.shape[0], max(1, left.shape[1] // 8), *left.shape[2:]), np.nan)
        ax.imshow(np.concatenate([left, gap, right], axis=1), cmap="gray", vmin=0, vmax=1)
        ax.set_title(f"#{row['rank']}: {numeral(row['score'], '.2f')}\nd = {row['distance']:.2f}", fontsize=8)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        ax.grid(False)
    axes[0].set_ylabel(name.replace(": ", "\n"), fontsize=9)
