"""Figure of the estimators of KID (K1)."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from ..ranking import numeral
from .drawing import COLOURS, GREY, Drawing, caption, legend, panels, plain

ESTIMATORS: dict[str, dict[str, Any]] = {
    "kid_biased": {"label": "biased", "color": COLOURS[2], "linestyle": "--", "marker": "D"},
    "kid_unbiased": {"label": "unbiased", "color": COLOURS[1], "linestyle": "-", "marker": "o"},
    "kid_linear": {"label": "linear-time", "color": COLOURS[3], "linestyle": "-.", "marker": "s"},
    "kid_subsets": {"label": "subsets", "color": COLOURS[0], "linestyle": (0, (1, 1)), "marker": "^"},
}


def kid_estimators(table: pd.DataFrame) -> Drawing:
    """Each estimator's mean ± sd against n, and below it the sd alone; one column of panels a kernel (K1)."""
    kernels = list(dict.fromkeys(table["kernel"]))
    figure, axes = panels(2 * len(kernels), width=4.8, height=3.3, rows=2)
    for kernel, above, below in zip(kernels, axes[: len(kernels)], axes[len(kernels) :], strict=True):
        rows = table[table["kernel"] == kernel]
        _means(above, rows)
        _units(above, rows.iloc[0])
        _spreads(below, rows, table.attrs["arguments"])
        above.set_title(f"{plain(kernel)} kernel", fontsize=10)
        for ax in (above, below):
            ax.set_xscale("log", base=2)
            ax.set_xlabel("rows a side, n")
        above.set_ylabel("KID, mean ± sd (kernel units)")
        below.set_ylabel("sd over draws (kernel units)")
    legend(figure, *axes, columns=3)
    return caption(figure, table)


def _means(ax: Any, rows: pd.DataFrame) -> None:
    for name, style in ESTIMATORS.items():
        mean, spread = rows[name], rows[f"{name}_sd"]
        ax.plot(rows["n"], mean, linewidth=1.8, markersize=5, **style)
        ax.fill_between(rows["n"], mean - spread, mean + spread, color=style["color"], alpha=0.12, linewidth=0)
    ax.axhline(rows["kid_exact"].iloc[0], color="black", linewidth=1.2, label="exact")


def _units(ax: Any, row: Any) -> None:
    values = {"exact": row["kid_exact"], "features doubled": row["kid_doubled"], "half of PCA": row["kid_pca"]}
    lines = [
        "KID × 100 of the same distributions",
        *(f"{name}: {numeral(100 * value, '.3g')}" for name, value in values.items()),
    ]
    ax.text(0.98, 0.97, "\n".join(lines), transform=ax.transAxes, ha="right", va="top", fontsize=8)


def _spreads(ax: Any, rows: pd.DataFrame, arguments: dict[str, Any]) -> None:
    for name, style in ESTIMATORS.items():
        ax.plot(rows["n"], rows[f"{name}_sd"], linewidth=1.8, markersize=5, **style)
    # up to n = size every subset is the whole sample and kid_std is 0
    some = rows[rows["n"] > arguments["size"]]
    reported = some["kid_std"] / math.sqrt(arguments["subsets"])
    ax.plot(some["n"], reported, color=GREY, linestyle=":", marker="v", label="kid_std / √subsets")
    ax.set_yscale("log")
