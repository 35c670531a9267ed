"""Figures of MFID, RFID and CFID: two correlated numbers (C1 to C3), and models that answer images (C4, C5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidInput
from .drawing import COLOURS, METRICS, Drawing, caption, generator_look, legend, panels, plain

LOOKS = {name: {"label": name.upper(), **METRICS[name]} for name in ("mfid", "rfid", "cfid")}
ESTIMATORS: dict[str, dict[str, Any]] = {
    "sc": {"label": "SC: sample covariance", "color": COLOURS[0], "linestyle": "-", "marker": "o"},
    "nsc1": {"label": "NSC1: variance of y known", "color": COLOURS[1], "linestyle": "--", "marker": "D"},
    "nsc2": {"label": "NSC2: variances of x and y known", "color": COLOURS[2], "linestyle": "-.", "marker": "s"},
}
SURFACES = {"squared_difference": r"$(\rho - \hat{\rho})^2$", "rfid": "RFID", "cfid": "CFID"}


def correlation_contours(table: pd.DataFrame) -> Drawing:
    """The squared difference, RFID and CFID over all pairs of correlations, at the same levels (C1)."""
    if min(table["rho"].nunique(), table["rho_hat"].nunique()) < 2:
        raise InvalidInput("table", "has one value of rho or of rho_hat", "Give two or more of each for contours")
    figure, axes = panels(3, height=4.2)
    highest = float(table[list(SURFACES)].to_numpy().max()) or 1.0
    for ax, (column, name) in zip(axes, SURFACES.items(), strict=True):
        surface = table.pivot(index="rho_hat", columns="rho", values=column)
        grid = surface.columns.to_numpy(), surface.index.to_numpy(), surface.to_numpy()
        filled = ax.contourf(*grid, levels=np.linspace(0, highest, 17), cmap="cividis")
        levels, inks = highest * np.array([0.025, 0.125, 0.25, 0.5, 0.75]), ["white"] * 4 + ["black"]
        lines = ax.contour(*grid, levels=levels, colors=inks)
        ax.clabel(lines, fmt="%.2g", fontsize=8, manual=_innermost(ax, lines))
        _diagonal(ax)
        ax.set_aspect("equal")
        ax.set_title(name, fontsize=10)
        ax.set_xlabel(r"correlation of x and y, $\rho$")
    axes[0].set_ylabel(r"correlation of x and ŷ, $\hat{\rho}$")
    figure.colorbar(filled, ax=list(axes), label="squared units of y", shrink=0.8)
    return caption(figure, table)


def _innermost(ax: Any, lines: Any) -> list[Any]:
    """The point of each contour that is furthest from the frame, where a label beside it is not cut."""
    low, high = (ax.transData.inverted().transform(ax.transAxes.transform((end, end))) for end in (0, 1))
    innermost = []
    for line in (piece for pieces in lines.allsegs for piece in pieces if len(piece)):
        points = np.concatenate([line, (line[1:] + line[:-1]) / 2])
        room = (np.minimum(points - low, high - points) / (high - low)).min(axis=1)
        if room.max() > 0.07:
            innermost.append(points[room.argmax()])
    return innermost


def _diagonal(ax: Any) -> None:
    """Where both correlations are equal, if the panel shows any of it; its name stands on it."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    low, high = max(left, bottom), min(right, top)
    if low >= high:
        return
    ax.plot((low, high), (low, high), color="white", linestyle="--", linewidth=1.8, scalex=False, scaley=False)
    middle, box = (low + high) / 2, {"facecolor": "#00224e", "edgecolor": "none", "pad": 1}
    look = {"rotation": 45, "rotation_mode": "anchor", "ha": "center", "va": "center", "bbox": box, "clip_on": True}
    ax.text(middle, middle, r"$\hat{\rho} = \rho$", color="white", **look)


def condition_scale(table: pd.DataFrame) -> Drawing:
    """MFID, RFID and CFID against the scale of x (C2)."""
    figure, (ax,) = panels(1, width=7.0)
    for metric, style in LOOKS.items():
        ax.plot(table["alpha"], table[metric], linewidth=1.8, markevery=0.1, **style)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("scale of x, α")
    ax.set_ylabel("distance (squared units of y)")
    legend(figure, ax)
    return caption(figure, table)


def covariance_estimators(table: pd.DataFrame) -> Drawing:
    """The mean score of each covariance estimator against the number of pairs, with ± 2 standard errors (C3)."""
    figure, axes = panels(3)
    for ax in axes[1:]:
        ax.sharey(axes[0])
    for ax, (metric, look) in zip(axes, LOOKS.items(), strict=True):
        for name, style in ESTIMATORS.items():
            mean, error = table[f"{metric}_{name}"], 2 * table[f"{metric}_{name}_se"]
            ax.plot(table["n"], mean, linewidth=1.8, markersize=5, **style)
            ax.fill_between(table["n"], mean - error, mean + error, color=style["color"], alpha=0.2, linewidth=0)
        ax.set_xscale("log")
        ax.set_title(look["label"], fontsize=10)
        ax.set_xlabel("number of pairs, n")
    axes[0].set_ylabel("mean distance to the truth ± 2 se\n(squared units of y)")
    legend(figure, axes[0])
    return caption(figure, table)


def published_conditional(table: pd.DataFrame) -> Drawing:
    """MFID against CFID of each data set's models, trained on pairs and without them (C5)."""
    return _models(table, "dataset")


def paired_unpaired(table: pd.DataFrame) -> Drawing:
    """MFID against CFID of models that turn images upright, on each kind of features (C4)."""
    return _models(table, "features")


def _models(table: pd.DataFrame, group: str) -> Drawing:
    groups = list(table.groupby(group, sort=False))
    figure, axes = panels(len(groups), width=4.8, height=4.0)
    looks: dict[str, dict[str, Any]] = {
        "yes": {"label": "trained on pairs", **generator_look(0)},
        "no": {"label": "trained without pairs", **generator_look(1)},
    }
    for ax, (name, rows) in zip(axes, groups, strict=True):
        for paired, look in looks.items():
            part = rows[rows["paired"] == paired]
            ax.scatter(part["mfid"], part["cfid"], s=46, edgecolors="white", linewidths=0.5, **look)
        for k, row in enumerate(rows.sort_values("cfid").to_dict("records")):
            where = {"xytext": (0, 7 if k % 2 else -7), "va": "bottom" if k % 2 else "top", "ha": "center"}
            place = (row["mfid"], row["cfid"])
            ax.annotate(plain(row["model"]), place, textcoords="offset points", fontsize=8, **where)
        apart = [LOOKS[m]["label"] for m in LOOKS if _parts(rows, m)]
        ax.set_title(f"{plain(name)}: {', '.join(apart) or 'no score'} parts the two kinds", fontsize=10)
        ax.margins(0.2)
        ax.set_xlabel("MFID (squared units)")
        ax.set_ylabel("CFID (squared units)")
    legend(figure, axes[0])
    return caption(figure, table)


def _parts(rows: pd.DataFrame, metric: str) -> bool:
    """Whether all models trained on pairs are better than all others."""
    paired = rows["paired"] == "yes"
    return bool(rows.loc[paired, metric].max() < rows.loc[~paired, metric].min())
