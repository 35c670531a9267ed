"""The Gaussian toys: curves of avg, all and gap over what they sweep, and samples."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..ranking import numeral
from .drawing import (
    CLIENT,
    MARKERS,
    Drawing,
    aggregates_of,
    best,
    caption,
    curve,
    generator_look,
    legend,
    panels,
    with_unit,
)


def gaussian_toy(table: pd.DataFrame) -> Drawing:
    """FID and KID of a generator of growing variance, with the score of the ideal estimator (E1)."""
    figure, axes = panels(2, width=4.8)
    for ax, metric in zip(axes, ("fid", "kid"), strict=True):
        for aggregate in aggregates_of(table, metric):
            marked = "min" if aggregate in ("avg", "all") else None
            curve(ax, table["v"], table[f"{metric}_{aggregate}"], aggregate, aggregate, best=marked)
        ax.set_title(best(table, metric, "v"), fontsize=10)
        ax.set_ylabel(with_unit(metric))
        ax.set_xlabel("variance of the generator along x, v")
    legend(figure, *axes)
    return caption(figure, table)


def likelihood_toy(table: pd.DataFrame) -> Drawing:
    """Log-likelihood over the generator's variance and over its shift, by avg and by all (E2)."""
    figure, axes = panels(2, width=4.8)
    shifted_v = table.attrs["arguments"].get("shifted_v", table["v"].iloc[-1])
    parts = table[table["shift"] == 0], table[table["v"] == shifted_v]
    for ax, part, column in zip(axes, parts, ("v", "shift"), strict=True):
        part = part.sort_values(column)
        for aggregate in ("avg", "all"):
            y = part[f"log_likelihood_{aggregate}"]
            curve(ax, part[column], y, aggregate, f"LL-{aggregate}", best="max")
        curve(ax, part[column], part["log_likelihood_ref"], "ref", "LL of the union of the clients")
        apart = float(np.abs(part["log_likelihood_gap"]).max())
        ax.set_title(f"LL-avg and LL-all differ by at most {numeral(apart, '.1g')}", fontsize=10)
        ax.set_ylabel("log-likelihood (nats; higher is better)")
    axes[0].set_xlabel("variance of the generator along x, v")
    axes[1].set_xlabel("shift of the generator along x")
    legend(figure, axes[0])
    return caption(figure, table)


def gaussian_samples(table: pd.DataFrame) -> Drawing:
    """Samples of clients and of a generator in the plane (E13)."""
    figure, (ax,) = panels(1, width=6.4, height=4.8)
    for k, (name, rows) in enumerate(table.groupby("source", sort=False)):
        look = {"color": CLIENT, "marker": MARKERS[k % len(MARKERS)], "label": f"client {k + 1}"}
        if name == "generator":
            look = {**generator_look(0), "label": "generator"}
        ax.scatter(rows["x"], rows["y"], alpha=0.5, s=10, **look)
    ax.set_aspect("equal")
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    legend(figure, ax)
    return caption(figure, table)
