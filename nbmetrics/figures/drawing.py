"""What all figures share: a Figure that notebooks show, panels, the palette, captions and curves with their minima.

Everything uses matplotlib's object API, never pyplot, so figures may be drawn off the main thread.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from ..ranking import lowest, numeral

if TYPE_CHECKING:
    import pandas as pd

# One language of colour, in figures as in pages, and never colour alone: clients are blue, and so is their average,
# solid; what is pooled, and all, is the colour of the text, dashed; every generator has a hue and a mark of its own;
# the gap is magenta, dotted. Twin of labs/toolkit/view/lab.css, held together by tests/figures/test_colours.py.
CLIENT, TEXT, QUIET, GAP = "#0072b2", "#16181d", "#4a4f5a", "#9c3a75"
GENERATORS = ("#c24e00", "#00755e", "#7245c2", "#7a6000")
GENERATOR_MARKS = "Ds^Pvp*Xhd<>"
GENERATOR = GENERATORS[0]
# Anything else that is drawn in several colours: metrics, kernels, transforms.
VIOLET, GREEN, OLIVE, BROWN, GREY = "#7245c2", "#00755e", "#7a6000", "#8a4a2c", "0.4"
COLOURS = (VIOLET, GREEN, "#d99a00", "#56b4e9", BROWN, TEXT)
MARKERS = "oDs^vP*Xhd<>"
# One look for each aggregate in every figure.
AGGREGATES: dict[str, dict[str, Any]] = {
    "avg": {"color": CLIENT, "linestyle": "-", "marker": "o"},
    "all": {"color": TEXT, "linestyle": "--", "marker": "D"},
    "gap": {"color": GAP, "linestyle": ":", "marker": "s"},
    "ref": {"color": GREY, "linestyle": "-.", "marker": None},
}
# And one for each metric where several stand together.
METRICS: dict[str, dict[str, Any]] = {
    "fid": {"color": OLIVE, "linestyle": "-", "marker": "o"},
    "kid": {"color": GREEN, "linestyle": "-.", "marker": "s"},
    "fld": {"color": VIOLET, "linestyle": "-", "marker": "D"},
    "mfid": {"color": VIOLET, "linestyle": ":", "marker": "o"},
    "rfid": {"color": GREEN, "linestyle": "--", "marker": "D"},
    "cfid": {"color": TEXT, "linestyle": "-", "marker": "s"},
}
# Metrics as people write them, and what they are measured in.
LABELS = {"fid": "FID", "kid": "KID", "kid_rbf": "KID (RBF)", "w1": "W1", "fld": "FLD", "c_t": "C_T"}
LABELS |= {"auth_pct": "AuthPct", "prdc": "PRDC"}
UNITS = {"fid": "squared units", "kid": "kernel units", "kid_rbf": "kernel units", "w1": "units of the rows"}
UNITS |= {"fld": "points, 0.01 nats/dim"}


TAIL = 4  # letters that stay of the end of a name that is cut


class Drawing(Figure):
    """A Figure that a notebook shows without pyplot."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=144, bbox_inches="tight")
        return stream.getvalue()


def panels(count: int, width: float = 4.2, height: float = 3.8, rows: int = 1) -> tuple[Drawing, Any]:
    """A figure with `count` plain axes in `rows` rows, and the axes in reading order."""
    columns = -(-count // rows)
    figure = Drawing(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.set_visible(False)
    for ax in axes[:count]:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
    return figure, axes[:count]


def legend(figure: Drawing, *axes: Any, columns: int = 4) -> None:
    """The names once, below all panels, where none can cover another or a point."""
    entries = [ax.get_legend_handles_labels() for ax in axes]
    named = {label: handle for handles, labels in entries for handle, label in zip(handles, labels, strict=True)}
    ncols = min(columns, len(named))
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=ncols, fontsize=9, frameon=False)


def label(metric: str) -> str:
    """A metric's name as text."""
    return LABELS.get(metric, plain(metric.replace("_", " ").capitalize()))


def with_unit(metric: str, aggregate: str = "") -> str:
    """An axis label: "FID-avg (squared units)"."""
    name = f"{label(metric)}-{aggregate}" if aggregate else label(metric)
    return f"{name} ({UNITS[metric]})" if metric in UNITS else name


def best(table: pd.DataFrame, metric: str, symbol: str) -> str:
    """Where avg and where all are lowest, as a panel's title; the table's first column is what is swept."""
    points = [table.iloc[:, 0].to_numpy()[lowest(table[f"{metric}_{a}"])] for a in ("avg", "all")]
    by_avg, by_all = (numeral(value, "g") for value in points)
    if points[0] == points[1]:
        return f"best {symbol}: {by_avg} by avg and by all"
    return f"best {symbol}: {by_avg} by avg, {by_all} by all"


def generator_look(k: int) -> dict[str, Any]:
    """The hue and the mark of the generator at position `k`, the same in every panel."""
    return {"color": GENERATORS[k % len(GENERATORS)], "marker": GENERATOR_MARKS[k % len(GENERATOR_MARKS)]}


def whole_ticks(*axes: Any) -> None:
    """Ticks at whole numbers only, for axes that count places."""
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(integer=True))


def caption(figure: Drawing, table: pd.DataFrame) -> Drawing:
    """What the figure shows and which figure of which paper it follows, from `table.attrs`.

    A caption names the set-up only; what comes out of it is computed from the table, in the panels' titles.
    """
    source = table.attrs.get("source")
    text = table.attrs["title"] + (f"  (after {source})" if source else "")
    wide = int(12 * figure.get_size_inches()[0])
    figure.suptitle(textwrap.fill(text, wide), x=0.01, ha="left", fontsize=10)
    return figure


def curve(ax: Any, x: Any, y: Any, aggregate: str, label: str, *, best: str | None = "min") -> None:
    """One aggregate against what is swept, its best point marked; `best` is "min", "max" or None."""
    style = dict(AGGREGATES[aggregate])
    marker = style.pop("marker")
    ax.plot(x, y, label=label, linewidth=1.8, **style)
    values = np.asarray(y, dtype=float)
    if marker is None or best is None or not np.isfinite(values).any():
        return
    k = lowest(values if best == "min" else -values)
    ax.plot(
        np.asarray(x)[k],
        values[k],
        marker=marker,
        color=style["color"],
        markersize=8,
        markeredgecolor="white",
        zorder=3,
    )


def aggregates_of(table: pd.DataFrame, metric: str) -> Sequence[str]:
    """Which of avg, all, gap and ref the table has for a metric."""
    return [a for a in AGGREGATES if f"{metric}_{a}" in table]


def plain(name: Any) -> str:
    """A user's name as text: matplotlib would read dollars as mathematics."""
    return str(name).replace("$", r"\$")


def brief(name: str, most: int) -> str:
    """A name of at most `most` letters; of a longer one the end stays, where numbers are."""
    return name if len(name) <= most else f"{name[: most - TAIL - 1]}…{name[-TAIL:]}"
