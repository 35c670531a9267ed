"""Figures of what copies of train rows do to FLD, beside other metrics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ..ranking import lowest, numeral
from .drawing import (
    BROWN,
    CLIENT,
    COLOURS,
    GENERATOR,
    GREEN,
    GREY,
    MARKERS,
    OLIVE,
    TEXT,
    UNITS,
    VIOLET,
    Drawing,
    caption,
    legend,
    panels,
    plain,
    with_unit,
)

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "train": ("train", {"marker": "o", "color": CLIENT, "s": 9, "linewidth": 0}),
    "test": ("test", {"marker": "x", "color": "0.5", "s": 12, "linewidth": 0.6}),
    "generated-honest": ("generated, honest", {"marker": "D", "color": GENERATOR, "s": 9, "linewidth": 0}),
    "generated-copy": (
        "generated, near-copy of train",
        {"marker": "D", "color": GENERATOR, "s": 16, "edgecolors": TEXT, "linewidth": 0.8},
    ),
}
COPYING = {
    "fld_gap": f"FLD gap ({UNITS['fld']})",
    "fid_gap": "FID gap (squared feature units)",
    "c_t": "C_T (standard deviations)",
    "auth_pct": "AuthPct (%)",
}
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)))
# Beyond it FLD's fit is degenerate, and only its sign says something.
DEGENERATE = 1e4


def moons_density(table: pd.DataFrame) -> Drawing:
    """The density FLD fits to generated points, each with the ellipse of its bump (F1)."""
    parts = list(table.groupby("copies", sort=False))
    figure, axes = panels(len(parts), width=5.6, height=4.4, rows=-(-len(parts) // 2))
    limits = [(table[c].min() - 0.3, table[c].max() + 0.3) for c in ("x", "y")]
    for ax, (copies, part) in zip(axes, parts):
        _shade(ax, part, *limits)
        _ellipses(ax, part)
        for kind, (name, style) in KINDS.items():
            points = part[part["kind"] == kind]
            if len(points):
                ax.scatter(points["x"], points["y"], label=name, zorder=3, **style)
        generated = part["kind"].str.startswith("generated").sum()
        ax.set_title(f"{copies} of {generated} copied: FLD {_short(part['fld'].iloc[0])}", fontsize=10)
        ax.set(xlim=limits[0], ylim=limits[1], aspect="equal", xlabel="x", ylabel="y")
        ax.grid(False)
    legend(figure, *axes)
    return caption(figure, table)


def _shade(ax: Any, part: pd.DataFrame, x_limits: Any, y_limits: Any) -> None:
    # The mass in each cell, exactly: a bump narrower than a cell would fall between the points of a grid.
    from matplotlib.colors import LogNorm
    from scipy.special import ndtr

    bumps = part.dropna(subset=["sigma_x"])
    edges = [np.linspace(low, high, 241) for low, high in (x_limits, y_limits)]
    shares = [
        np.diff(ndtr((e[:, None] - bumps[c].to_numpy()) / bumps[f"sigma_{c}"].to_numpy()), axis=0)
        for e, c in zip(edges, "xy")
    ]
    area = (edges[0][1] - edges[0][0]) * (edges[1][1] - edges[1][0])
    density = (shares[1] @ shares[0].T) / (len(bumps) * area)
    norm = LogNorm(vmin=0.02, vmax=5.0, clip=True)
    ax.pcolormesh(*edges, density, cmap="Oranges", norm=norm, rasterized=True, zorder=0)


def _ellipses(ax: Any, part: pd.DataFrame) -> None:
    from matplotlib.collections import EllipseCollection

    for kind, line in (("generated-honest", "-"), ("generated-copy", "--")):
        rows = part[part["kind"] == kind]
        widths = 2.0 * rows[["sigma_x", "sigma_y"]].to_numpy()
        bumps = EllipseCollection(
            widths[:, 0],
            widths[:, 1],
            np.zeros(len(rows)),
            units="xy",
            offsets=rows[["x", "y"]].to_numpy(),
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=KINDS[kind][1]["color"],
            linestyles=line,
            linewidths=0.9,
            alpha=0.6,
            zorder=2,
        )
        bumps.set_gid(kind)
        ax.add_collection(bumps)


def copied_width(table: pd.DataFrame) -> Drawing:
    """The fitted width of near-copies against their distance from train points (F12)."""
    figure, (ax,) = panels(1, width=6.4, height=4.4)
    near = table.sort_values("delta")
    ax.plot(near["delta"], near["sigma"], color=VIOLET, marker="o", label="fitted σ of the bump, median")
    ax.plot(near["delta"], near["sigma"] / near["ratio"], color=GREY, linestyle=":", label="δ/√d")
    ax.set_xscale("log")
    ax.set_yscale("log")
    first = near.iloc[0]
    words = f"{first['found']:.0%} of the near-copies have it within a factor of 2"
    ax.set_title(
        f"σ√d/δ = {numeral(first['ratio'], '.3g')} at δ = {numeral(first['delta'], '.2g')}; {words}", fontsize=10
    )
    ax.set_xlabel("distance from the nearest train point, δ (standard deviations)")
    ax.set_ylabel("σ (standard deviations)")
    legend(figure, ax)
    return caption(figure, table)


def bandwidth_sweep(table: pd.DataFrame) -> Drawing:
    """FLD, FID, C_T and AuthPct of a kernel density around train points, against its bandwidth (F2)."""
    figure, axes = panels(4, width=5.0, height=3.2, rows=2)
    x = table["bandwidth"]
    best = x.to_numpy()[lowest(table["fld"])]
    axes[0].plot(x, table["fld"], color=VIOLET, marker="o", label="FLD")
    axes[0].plot(x, table["fld_gap"], color=VIOLET, marker="s", linestyle="--", label="FLD gap")
    axes[0].set(ylabel="FLD and FLD gap (" + UNITS["fld"].replace(", ", ",\n") + ")")
    floor = 0.3 * min(table.loc[table[c] > 0, c].min() for c in ("fid_test", "fid_train"))
    low = np.maximum(table["fid_test_low"], floor)
    axes[1].fill_between(x, low, table["fid_test_high"], color=OLIVE, alpha=0.25, label="FID-test, interval")
    axes[1].plot(x, table["fid_test"], color=OLIVE, marker="D", label="FID-test")
    axes[1].plot(x, table["fid_train"], color=OLIVE, marker="^", linestyle=":", label="FID-train")
    axes[1].set(yscale="log", ylim=(floor, None), ylabel="FID (squared units)")
    axes[2].plot(x, table["c_t"], color=GREEN, marker="v", linestyle="--", label="C_T")
    axes[2].set(ylabel=COPYING["c_t"])
    axes[3].plot(x, table["auth_pct"], color=BROWN, marker="P", linestyle="-.", label="AuthPct")
    axes[3].set(ylabel=COPYING["auth_pct"], ylim=(-3, 103))
    for ax in axes:
        ax.axvline(best, color=GREY, linewidth=1, linestyle=(0, (1, 3)), label="best by FLD")
        ax.set(xscale="log", xlabel="bandwidth of the kernel (units of x, y)")
    legend(figure, *axes)
    return caption(figure, table)


def copycat(table: pd.DataFrame) -> Drawing:
    """Every metric of every generator, the copycat among them (F10)."""
    figure, axes = panels(6, width=3.6, height=0.9 + 0.36 * len(table), rows=2)
    shown = [
        ("FID (squared feature units)", {"fid_train": "FID-train", "fid_test": "FID-test"}),
        (with_unit("fld"), {"fld": "score"}),
        (COPYING["fld_gap"], {"fld_gap": "score"}),
        (COPYING["c_t"], {"c_t": "score"}),
        (COPYING["auth_pct"], {"auth_pct": "score"}),
        ("precision and recall (share)", {"precision": "precision", "recall": "recall"}),
    ]
    looks = {"fid_train": (OLIVE, "^"), "fid_test": (OLIVE, "D"), "precision": (BROWN, "s"), "recall": (TEXT, "v")}
    places = np.arange(len(table))[::-1]
    for k, (ax, (label, columns)) in enumerate(zip(axes, shown)):
        for shift, (column, name) in zip((0.12, -0.12) if len(columns) > 1 else (0,), columns.items()):
            colour, marker = looks.get(column, (VIOLET, "o"))
            values, y = table[column].to_numpy(), places + shift
            ax.plot(values, y, linestyle="none", color=colour, marker=marker, label=name)
        if len(columns) == 1:
            _write(ax, values, places)
        names = [plain(name) for name in table["generator"]] if k % 3 == 0 else [""] * len(table)
        ax.set_yticks(places, names)
        ax.set(xlabel=label, ylim=(-0.6, len(table) - 0.4))
    axes[0].set_xlim(left=-0.05 * axes[0].get_xlim()[1])
    for ax, column in zip(axes[1:3], ("fld", "fld_gap")):
        _compress(ax, table[column].to_numpy())
    axes[4].set_xlim(-4, 118)
    axes[5].set_xlim(-0.04, 1.04)
    legend(figure, *axes, columns=5)
    return caption(figure, table)


def _compress(ax: Any, values: np.ndarray) -> None:
    """A scale on which points beside a degenerate fit can still be told apart."""
    furthest = values[np.abs(values).argmax()]
    if abs(furthest) < 1000:
        return
    ax.set_xscale("symlog", linthresh=10)
    powers = 10.0 ** np.arange(6, 19, 6)
    ax.set_xticks([0.0, *np.sign(furthest) * powers[powers <= abs(furthest)]])
    ax.minorticks_off()
    ax.set_xlim(sorted((-np.sign(furthest) * 1000, 1000 * furthest)))


def _write(ax: Any, values: np.ndarray, places: np.ndarray) -> None:
    """The numbers above their points."""
    for x, y in zip(values, places):
        ax.annotate(_short(x), (x, y), (0, 5), textcoords="offset points", ha="center", fontsize=8)
    ax.margins(x=0.18)


def _short(value: float) -> str:
    return numeral(value, ".1e").replace("e+", "e") if abs(value) >= DEGENERATE else numeral(value, ".1f")


def novelty(table: pd.DataFrame) -> Drawing:
    """Four metrics of overfitting as copies of train rows replace generated ones (F5)."""
    figure, axes = panels(4, width=5.0, height=3.3, rows=2)
    axes[0].set_yscale("symlog", linthresh=10)  # first: limits do not follow a later change of scale
    for ax, (column, label) in zip(axes, COPYING.items()):
        for k, (name, part) in enumerate(table.groupby("transform", sort=False)):
            inside = part[column].where(part[column].abs() < DEGENERATE)
            style = {"color": COLOURS[k % 6], "marker": MARKERS[k % len(MARKERS)], "linestyle": LINES[k % 6]}
            ax.plot(part["share"], inside, label=plain(name), markersize=5, **style)
        ax.set(xlabel="share of generated rows that are copies of train rows", ylabel=label, xlim=(-0.03, 1.03))
    _note_outside(axes[0], table, "fld_gap")
    for ax, honest in zip(axes[1:], (0, 0, 50)):
        ax.axhline(honest, color=GREY, linewidth=0.8, label="below it, the metric says: copies")
    legend(figure, *axes, columns=3)
    return caption(figure, table)


def _note_outside(ax: Any, table: pd.DataFrame, column: str) -> None:
    """Says where a point lies that would squeeze all others, and where there is none."""
    outside = table[~(table[column].abs() < DEGENERATE)]
    for position, (_, row) in enumerate(outside.iterrows()):
        where = "no value" if math.isnan(row[column]) else f"{_short(row[column])} ↓"
        text = f"{plain(row['transform'])}, at share {row['share']:g}: {where}"
        ax.annotate(text, (0.02, 0.03 + 0.07 * position), xycoords="axes fraction", fontsize=8)


def interactions(table: pd.DataFrame) -> Drawing:
    """FLD over each pair of fidelity, diversity and novelty (F6)."""
    from matplotlib.colors import Normalize

    arguments = table.attrs["arguments"]
    blurred = arguments.get("data") == "digits" and "degrade" in arguments
    labels = {
        "fidelity": f"fidelity: {'blur, σ in pixels' if blurred else 'strength of the degradation'}",
        "diversity": "diversity: share of distinct rows",
        "novelty": "novelty: share copied from train",
    }
    figure, axes = panels(3, width=4.3, height=4.4)
    usual = table.loc[table["fld"].abs() < DEGENERATE, "fld"]
    norm = Normalize(usual.min(), usual.max())
    for ax, (x, y, fixed) in zip(
        axes,
        (
            ("diversity", "fidelity", "novelty"),
            ("novelty", "fidelity", "diversity"),
            ("novelty", "diversity", "fidelity"),
        ),
    ):
        face = table[table[fixed] == table[fixed].iloc[0]]
        cells = face.pivot(index=y, columns=x, values="fld").loc[face[y].unique(), face[x].unique()]
        image = ax.imshow(cells.to_numpy(), cmap="cividis", norm=norm, aspect="auto", origin="lower")
        for (i, j), value in np.ndenumerate(cells.to_numpy()):
            dark = norm(value) < 0.5
            text = _short(value) if abs(value) >= DEGENERATE else numeral(value, ".0f")
            ax.text(j, i, text, ha="center", va="center", fontsize=9, color="white" if dark else "black")
        ax.set_xticks(range(cells.shape[1]), [f"{v:g}" for v in cells.columns])
        ax.set_yticks(range(cells.shape[0]), [f"{v:g}" for v in cells.index])
        ax.set(xlabel=labels[x], ylabel=labels[y])
        ax.grid(False)
    outside = "max" if (table["fld"] >= DEGENERATE).any() else "neither"
    figure.colorbar(image, ax=list(axes), extend=outside, label=f"FLD ({UNITS['fld']}; lower is better)", shrink=0.9)
    return caption(figure, table)
