"""What all figures share: a Figure that notebooks show, panels, the palette, captions, curves, the check of tables.

Everything uses matplotlib's object API, never pyplot, so figures may be drawn off the main thread.
"""

from __future__ import annotations

import functools
import io
import textwrap
from collections.abc import Callable, Sequence
from fnmatch import filter as matching
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from ..errors import InvalidInput, shown
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
METRIC_LOOKS: dict[str, dict[str, Any]] = {
    "fid": {"color": OLIVE, "linestyle": "-", "marker": "o"},
    "kid": {"color": GREEN, "linestyle": "-.", "marker": "s"},
    "fld": {"color": VIOLET, "linestyle": "-", "marker": "D"},
    "mfid": {"color": VIOLET, "linestyle": ":", "marker": "o"},
    "rfid": {"color": GREEN, "linestyle": "--", "marker": "D"},
    "cfid": {"color": TEXT, "linestyle": "-", "marker": "s"},
}
CONDITIONAL_LOOKS = {name: {"label": name.upper(), **METRIC_LOOKS[name]} for name in ("mfid", "rfid", "cfid")}
# An open circle that a diamond fits into, in the TwinsLab and in its experiment: twin generators.
TWIN_LOOKS: dict[str, dict[str, Any]] = {
    "first": {"marker": "o", "markersize": 11, "markerfacecolor": "none", "color": GENERATORS[0], "markeredgewidth": 2},
    "second": {"marker": "D", "markersize": 6, "color": GENERATORS[1]},
}
# Metrics as people write them, and what they are measured in.
LABELS = {"fid": "FID", "kid": "KID", "kid_rbf": "KID (RBF)", "w1": "W1", "fld": "FLD", "c_t": "C_T"}
LABELS |= {"auth_pct": "AuthPct", "prdc": "PRDC"}
UNITS = {"fid": "squared units", "kid": "kernel units", "kid_rbf": "kernel units", "w1": "units of the rows"}
UNITS |= {"fld": "points, 0.01 nats/dim"}
# Metrics of copying, and beyond what FLD its fit is degenerate, so that only its sign says something.
COPYING_LABELS = {
    "fld_gap": f"FLD gap ({UNITS['fld']})",
    "fid_gap": "FID gap (squared feature units)",
    "c_t": "C_T (standard deviations)",
    "auth_pct": "AuthPct (%)",
}
DEGENERATE_FLD = 1e4


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


def short_fld(value: float) -> str:
    """An FLD or its gap as text, in powers of ten where the fit is degenerate."""
    return numeral(value, ".1e").replace("e+", "e") if abs(value) >= DEGENERATE_FLD else numeral(value, ".1f")


def plot_with_spread(ax: Any, rows: pd.DataFrame, x: str, metric: str) -> None:
    """The means of a metric, with bars of one standard deviation."""
    name = f"{label(metric)}, ± 1 sd of a draw"
    spread = rows[f"{metric}_sd"].fillna(0)
    ax.errorbar(rows[x], rows[metric], yerr=spread, capsize=3, label=name, **METRIC_LOOKS[metric])
    ax.set_ylabel(with_unit(metric))


def join_pairs(ax: Any, x: np.ndarray, y: np.ndarray, pairs: np.ndarray) -> None:
    """Lines between the points of each pair, (m, 2) positions, that avg and all order differently."""
    from matplotlib.collections import LineCollection

    segments = np.stack([np.column_stack([x[end], y[end]]) for end in pairs.T], axis=1)
    look: dict[str, Any] = {"colors": GREY, "linewidths": 0.9, "alpha": 0.6 if len(pairs) < 200 else 0.3, "zorder": 1}
    ax.add_collection(LineCollection(list(segments), label="inverted pair", **look))


def log_norm(low: float, high: float) -> Any:
    """Return colours by the logarithm, from `low` to `high`; what is beyond takes the colour of the end."""
    from matplotlib.colors import LogNorm

    return LogNorm(vmin=low, vmax=high, clip=True)


def draw_ellipses(ax: Any, centres: np.ndarray, widths: np.ndarray, color: str, linestyle: str, gid: str) -> None:
    """An ellipse at each of the (n, 2) centres, (n, 2) wide in the units of the axes; `gid` names them all."""
    from matplotlib.collections import EllipseCollection

    ellipses = EllipseCollection(
        widths[:, 0],
        widths[:, 1],
        np.zeros(len(widths)),
        units="xy",
        offsets=centres,
        offset_transform=ax.transData,
        facecolors="none",
        edgecolors=color,
        linestyles=linestyle,
        linewidths=0.9,
        alpha=0.6,
        zorder=2,
    )
    ellipses.set_gid(gid)
    ax.add_collection(ellipses)


def requires_columns(columns: str, *, arguments: Sequence[str] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Let `draw_<experiment>` refuse any table but its experiment's, before anything is drawn.

    A table without `attrs`, as one read from a file is, gets its id and its title from the function's docstring, and no
    arguments. What is swept becomes its first column.

    Parameters
    ----------
    columns : what the figure needs, by spaces, what is swept first; a star stands for the names of whatever clients or
        metrics the experiment was given
    arguments : of the experiment that the figure cannot do without, and that only `attrs` hold

    Raises
    ------
    InvalidInput
        From what is returned: the table is none, is empty, lacks columns, is another experiment's, or has lost what
        only `attrs` hold and the figure shows.
    """
    needed = columns.split()

    def wrap(draw: Callable[..., Any]) -> Callable[..., Any]:
        name = draw.__name__.removeprefix("draw_")
        title, _, row = (draw.__doc__ or f"{name} ().").splitlines()[0].removesuffix(").").rpartition(" (")
        about = {"experiment": name, "id": row, "title": title, "arguments": {}}

        @functools.wraps(draw)
        def checked_draw(table: Any, *args: Any, **kwargs: Any) -> Any:
            _check_table(table, name, needed, arguments)
            first = [column for column in needed if column in table]
            ordered = table[[*first, *(column for column in table if column not in first)]]
            ordered.attrs = {**about, **table.attrs}
            return draw(ordered, *args, **kwargs)

        checked_draw.__name__ = checked_draw.__qualname__ = name
        checked_draw.columns = columns  # type: ignore[attr-defined]
        return checked_draw

    return wrap


def _check_table(table: Any, name: str, needed: Sequence[str], arguments: Sequence[str]) -> None:
    import pandas as pd

    fix = f"Give what nm.experiments.{name}() returned, or the same read back from a file"
    if not isinstance(table, pd.DataFrame):
        raise InvalidInput("table", f"got {shown(table)}", fix)
    origin = table.attrs.get("experiment", name)
    whose = f"is the table of {origin}" if origin != name else ""
    missing = [column for column in needed if not matching(map(str, table), column)]
    lacking = f"has no {', '.join(missing)} among its columns" if missing else ""
    if whose or lacking:
        raise InvalidInput("table", " and ".join(filter(None, (whose, lacking))), fix)
    if table.empty:
        raise InvalidInput("table", "has no rows", fix)
    lost = [key for key in arguments if key not in table.attrs.get("arguments", {})]
    if lost:
        seen = f"has lost the arguments {', '.join(lost)} of its experiment, which no file keeps"
        raise InvalidInput("table", seen, f"Give what nm.experiments.{name}() returned")
