"""The Playground as a figure: a headline, clients and generators in the plane, and beside it the table of their scores.

A generator's mark and hue are the page's: labs/toolkit/marks.json has the marks, figures/drawing.py the hues.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.path import Path

from ...arrays import to_numpy
from ...distributions import Empirical, Gaussian, HasMoments, Mixture, has_moments
from ...evaluation.scores import Scores
from ...figures import drawing
from ...figures.drawing import GENERATORS, Drawing, brief, plain
from ...ranking import numeral, places
from .. import toolkit
from ..plane.figure import add_ellipse
from ..toolkit.fields import facts
from .headline import headline, with_cautions
from .scene import Scene

SIDE = 4.6  # inches of the plane, which is square
LETTER = 0.078  # inches, about, of a name's letter
LINE = 0.16
MARK = 0.1
NAME, CELL, HEIGHT = 1.7, 1.0, 0.36  # inches of the table's parts
GREY, WARN = "0.35", "#FFF1D6"
# Of generators in turn, as SVG paths.
_SHAPES = facts(toolkit.__name__, "marks.json")["shapes"]
DASHES = (0, (2, 2))
HEAD = 0.5  # inches of the headline


class Look(NamedTuple):
    """How an item is drawn."""

    marker: Any
    colour: str
    dashes: Any


CLIENT = Look("o", drawing.CLIENT, "-")
_HALO = {"facecolor": (1, 1, 1, 0.75), "edgecolor": "none", "pad": 0.8}
MAX_POINTS_DRAWN = 300
NOTE = (
    "avg: the mean of the clients’ own scores. all: one score against the pooled clients. ≠: other places by the two."
)


def plane(
    scene: Scene, scores: Scores | None, data: Mapping[str, Any] | None = None, margins: Mapping[str, Any] | None = None
) -> Drawing:
    """Clients and generators as 1σ and 2σ ellipses, the pooled clients dashed, and where avg and all rank apart.

    Of a scene wider than the plane `data` has what is shown of each item (`distributions.summary`); scores None: not
    there yet. `margins` are those of `numbers.compute`.
    """
    parts = _parts_of(scores)
    table = NAME + len(parts) * CELL * (2 if scores is None else len(scores.metrics))
    size = (0.45 + SIDE + 0.35 + table + 0.1, 0.7 + SIDE + HEAD)
    figure = Drawing(figsize=size)
    figure.patch.set_facecolor("white")
    words = textwrap.shorten(_headline(scene, scores, margins or {}), int(size[0] / 0.12), placeholder=" …")
    figure.text(0.45 / size[0], 1 - 0.16 / size[1], plain(words), va="top", fontsize=15)
    ax = figure.add_axes((0.45 / size[0], 0.7 / size[1], SIDE / size[0], SIDE / size[1]))
    _plane(ax, scene, data or {})
    _key(figure, ax)
    side = figure.add_axes(((size[0] - table - 0.1) / size[0], 0.7 / size[1], table / size[0], SIDE / size[1]))
    side.set(xlim=(0, table), ylim=(SIDE, 0))
    side.set_axis_off()
    y = 0.36 if scores is None else _table(side, scores)
    _words(side, scores, scene, y, table)
    return figure


def _headline(scene: Scene, scores: Scores | None, margins: Mapping[str, Any]) -> str:
    if scores is None:
        return ""
    metric = scene.view["metric"] if scene.view["metric"] in scores.metrics else "fid"
    cautions = scores.cautions if scene.plane is not None else ()
    own = margins.get(metric) if margins.get("samples") == scene.samples else None
    return with_cautions(headline(scores, metric, own), scores.label(metric), scene.samples, cautions)


def _plane(ax: Any, scene: Scene, data: Mapping[str, Any]) -> None:
    ax.set(xlim=(-scene.half, scene.half), ylim=(-scene.half, scene.half), aspect="equal")
    ax.grid(alpha=0.3, linewidth=0.6)
    ax.axhline(0, color="0.75", linewidth=0.9, zorder=0)
    ax.axvline(0, color="0.75", linewidth=0.9, zorder=0)
    ax.tick_params(labelsize=8, colors=GREY)
    ax.spines[:].set_color("0.75")
    items, distribution = _items(scene) if scene.plane is None else _shadows(scene, data)
    _owner_lines(ax, scene)
    names = []
    for name, source, whole, look in items:
        _item(ax, source, whole, look)
        names.append((name, whole, look))
    _ellipse(ax, distribution, 1, edgecolor="0.3", linestyle=(0, (6, 4)), linewidth=1.4, zorder=4)
    _names(ax, names, 2 * scene.half / SIDE)


def _owner_lines(ax: Any, scene: Scene) -> None:
    """Draw a line from each ellipse that is for a client to that client, as in the page."""
    clients = {client.name: client.ellipse[0] for client in scene.clients}
    for g, item in enumerate(scene.generators):
        for part in item.parts or ():
            (x, y), (u, v) = part.ellipse[0], clients[part.name]
            ax.plot([x, u], [y, v], color=look_of(g).colour, linewidth=1.2, zorder=3)


def _parts_of(scores: Scores | None) -> tuple[str, ...]:
    """The aggregates that the table shows."""
    return ("avg", "all") if scores is None else tuple(scores.result(scores.metrics[0]).aggregates)


def _items(scene: Scene) -> tuple[list[tuple[str, Any, HasMoments, Look]], HasMoments]:
    """Name, distribution or rows, moments and look of each item, and the moments of the pooled clients."""
    federation = scene.federation
    items = [(c.name or "", c.distribution if c.rows is None else c.rows, CLIENT) for c in federation]
    for g, (name, source) in enumerate(scene.sources.items()):
        own = source if isinstance(source, Mapping) else None
        items += [(f"for {c}", part, look_of(g)) for c, part in own.items()] if own else [(name, source, look_of(g))]
    pooled = federation.pooled()
    distribution = _moments(pooled.distribution if pooled.rows is None else pooled.rows)
    return [(name, source, _moments(source), look) for name, source, look in items], distribution


def _shadows(scene: Scene, data: Mapping[str, Any]) -> tuple[list[tuple[str, Any, HasMoments, Look]], HasMoments]:
    """Return the same of the projection of rows wider than the plane."""
    items: list[tuple[str, Any, HasMoments, Look]] = []
    looks = [
        *((client, CLIENT) for client in scene.clients),
        *((g, look_of(k)) for k, g in enumerate(scene.generators)),
    ]
    for item, look in looks:
        mean, (a, b, c) = data[item.key]["mean"], data[item.key]["cov"]
        items.append((item.name, np.array(data[item.key]["points"]), Gaussian(mean, [[a, b], [b, c]]), look))
    clients = [whole for _, _, whole, look in items if look is CLIENT]
    return items, Mixture(clients, [client.weight for client in scene.clients])


def look_of(g: int) -> Look:
    """The mark, colour and outline of a generator."""
    return Look(_path_of(_SHAPES[g % len(_SHAPES)]), GENERATORS[g % len(GENERATORS)], DASHES)


def _path_of(shape: str) -> Path:
    """The marker of an SVG path of straight lines; an SVG's y points down."""
    at, corners = [0.0, 0.0], []
    for command, numbers in re.findall(r"([MLHV])([^MLHVZ]*)", shape):
        values = [float(value) for value in re.findall(r"-?[\d.]+", numbers)]
        at = {"H": [values[0], at[1]], "V": [at[0], values[0]]}.get(command, values)
        corners.append(at)
    return Path([(x, -y) for x, y in [*corners, corners[0]]], closed=True)


def _moments(source: Any) -> HasMoments:
    """Return the mean and covariance of a distribution or of rows."""
    return source if has_moments(source) else Gaussian.fit(source)


def _item(ax: Any, source: Any, whole: HasMoments, look: Look) -> None:
    marker, colour, dashes = look
    for part in _parts(source):
        if isinstance(part, Gaussian):
            _ellipse(ax, part, 1, facecolor=(colour, 0.14), edgecolor=colour, linewidth=1.5)
            _ellipse(ax, part, 2, edgecolor=(colour, 0.5), linestyle=dashes, linewidth=1)
        else:
            points = part[:: -(-len(part) // MAX_POINTS_DRAWN)]
            ax.plot(*points.T, linestyle="", marker=marker, markersize=2, color=colour, alpha=0.4)
            _ellipse(ax, whole, 1, edgecolor=colour, linewidth=1.5)
    ax.plot(*whole.mean, marker=marker, color=colour, markersize=7, markeredgecolor="white", zorder=5)


def _parts(source: Any) -> list[Any]:
    """The Gaussians and the sets of points that a distribution or rows consist of."""
    if isinstance(source, Mixture):
        return [part for component in source.components for part in _parts(component)]
    if isinstance(source, Gaussian):
        return [source]
    return [to_numpy(source.rows if isinstance(source, Empirical) else source)]


def _ellipse(ax: Any, distribution: HasMoments, sigmas: float, **style: Any) -> None:
    values, axes = np.linalg.eigh(distribution.cov)
    width, height = sigmas * np.sqrt(np.maximum(values, 0))
    angle = np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
    add_ellipse(ax, distribution.mean, width, height, angle, **style)


def _names(ax: Any, items: list[tuple[str, HasMoments, Look]], inch: float) -> None:
    """Clients' names above their ellipses and generators' below, or where no earlier name is in the way."""
    taken = [(float(d.mean[0]), float(d.mean[1]), MARK * inch) for _, d, _ in items]
    edge = ax.get_ylim()[1]
    for name, distribution, look in items:
        label = brief(name, 24)
        wide = LETTER * inch * len(label)
        x = float(np.clip(distribution.mean[0], wide / 2 - edge, edge - wide / 2)) if wide < 2 * edge else 0.0
        rise = max(float(np.sqrt(distribution.cov[1, 1])), 0.09 * inch) + 0.12 * inch
        sign = 1 if look is CLIENT else -1
        spots = [distribution.mean[1] + side * sign * (rise + k * LINE * inch) for k in range(4) for side in (1, -1)]
        free = (y for y in spots if abs(y) < edge - LINE * inch and _is_free(x, y, wide, taken, inch))
        y = next(free, float(np.clip(spots[0], LINE * inch - edge, edge - LINE * inch)))
        taken.append((x, y, wide))
        style = {"color": look.colour, "fontsize": 9, "fontweight": "bold", "clip_on": True, "zorder": 6}
        ax.text(x, y, plain(label), ha="center", va="center", bbox=_HALO, **style)


def _is_free(x: float, y: float, wide: float, taken: list[tuple[float, float, float]], inch: float) -> bool:
    return all(abs(y - v) >= LINE * inch or abs(x - u) >= (wide + w) / 2 for u, v, w in taken)


def _key(figure: Drawing, ax: Any) -> None:
    marks = [
        Line2D([], [], color=colour, marker=marker, markersize=6, linestyle="", label=name)
        for name, (marker, colour, _) in (("client", CLIENT), ("generator", look_of(0)))
    ]
    marks.append(Line2D([], [], color="0.3", linestyle=(0, (4, 3)), label="pooled clients"))
    marks.append(Line2D([], [], linestyle="", label="ellipses: 1σ and 2σ"))
    style = {
        "ncols": 4,
        "fontsize": 9,
        "frameon": False,
        "handlelength": 1.8,
        "handletextpad": 0.5,
        "columnspacing": 1.0,
    }
    ax.legend(handles=marks, loc="upper center", bbox_to_anchor=(0.5, -0.06), **style)


def _table(ax: Any, scores: Scores) -> float:
    """Draw the table of scores and return where it ends."""
    parts, results = _parts_of(scores), {metric: scores.result(metric) for metric in scores.metrics}
    values = {metric: {part: getattr(cells, part) for part in parts} for metric, cells in results.items()}
    ranks = {m: {part: places(results[m].losses(values[m][part])) for part in parts} for m in results}
    height = min(HEIGHT, (SIDE - 1.6) / len(scores.generators))
    columns = [(metric, part) for metric in scores.metrics for part in parts]
    ends = {column: NAME + CELL * (k + 1) for k, column in enumerate(columns)}
    for (metric, part), x in ends.items():
        ax.text(x - 0.42, 0.2, f"{scores.label(metric)} {part}", ha="right", va="center", fontsize=9, color=GREY)
    for k, generator in enumerate(scores.generators):
        y = 0.36 + height * (k + 0.5)
        ax.axhline(y - height / 2, color="0.8", linewidth=0.7)
        look = look_of(k)
        ax.plot(0.1, y, marker=look.marker, color=look.colour, markersize=6)
        style = {"va": "center", "fontsize": 9.5, "fontweight": "bold", "color": look.colour}
        ax.text(0.24, y, plain(brief(generator, 18)), **style)
        for metric, part in columns:
            own = {name: int(column[k]) for name, column in ranks[metric].items()}
            differs = own[part] != own["avg" if part == "all" else "all"]
            place = f"{_ordinal(own[part])}{' ≠' if differs else ''}" if len(scores.generators) > 1 else ""
            box = (ends[metric, part] - CELL, y - height / 2, CELL, height)
            _cell(ax, box, _figure(values[metric][part][k]), place, differs)
    return 0.36 + height * len(scores.generators) + 0.22


def _cell(ax: Any, box: tuple[float, float, float, float], number: str, place: str, differs: bool) -> None:
    left, top, wide, height = box
    if differs:
        ax.add_patch(Rectangle((left + 0.02, top), wide - 0.02, height, color=WARN, zorder=0))
    weight = "bold" if differs else "normal"
    ax.text(left + wide - 0.42, top + height / 2, number, ha="right", va="center", fontsize=9.5, fontweight=weight)
    ax.text(left + wide - 0.37, top + height / 2, place, va="center", fontsize=7.5, color=GREY)


def _words(ax: Any, scores: Scores | None, scene: Scene, y: float, wide: float) -> None:
    lines = [("Python computes the scores.", "black")] if scores is None else [(s, "black") for s in scores.summary()]
    if scene.plane is not None:
        seen = f"Scores: all {scene.dim:,} features. Picture: {min(2, scene.dim)} of {scene.dim:,} dimensions."
        lines += [(seen, "black"), (scene.plane["words"], GREY)]
    note = f"intra: each client with its own ellipse. {NOTE}" if any(g.parts for g in scene.generators) else NOTE
    for line, colour in [*lines, (note, GREY)]:
        text = textwrap.fill(line, int(wide / 0.074))
        ax.text(0.05, y, plain(text), va="top", fontsize=9, color=colour)
        y += 0.165 * (text.count("\n") + 1) + 0.1


def _figure(value: float) -> str:
    """Three decimals, or four significant digits when large."""
    size = abs(value)
    if size >= 1e6:
        return numeral(value, ".3e")
    return numeral(value, f".{0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3}f")


def _ordinal(place: int) -> str:
    suffix = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{suffix}"
