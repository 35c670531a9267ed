"""Each view of a Dashboard as a figure and in words: leaderboard, places, heat map, who pays, weights."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...evaluation.display import figure as numeral
from ...figures.drawing import AGGREGATES, CLIENT, GENERATORS, GREY, QUIET, TEXT, Drawing, brief, legend, panels, plain
from ...ranking import lowest
from .figure import LONGEST, REACH, label_of
from .places import place_text, range_text
from .sight import Sight
from .verdict import listed, percent

# Clients that have a bar, a row with a name, and cells with a number in each.
MOST_BARS, MOST_NAMES, MOST_NUMBERS = 40, 70, 420
# Generators that are told in words.
MOST_TOLD = 20
# Of the largest to the least score: more stand on a logarithmic scale.
LARGEST_RATIO = 50
HATCHES = (None, "////", "....")
BARS = (CLIENT, GENERATORS[0], GREY)
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]])


def drawn(view: str, sight: Sight, verdict: str) -> tuple[Drawing, str, str]:
    """The figure of a view under the verdict, its title, and what it shows in words."""
    figure, told = VIEWS[view](sight)
    wide = int(12 * figure.get_size_inches()[0])
    figure.suptitle(textwrap.fill(plain(verdict), wide), x=0.01, ha="left", fontsize=10)
    return figure, f"Dashboard: {view}", f"Dashboard, {view}: {verdict} {told}"


def _leaderboard(sight: Sight) -> tuple[Drawing, str]:
    known, rows = sight.known, sight.rows
    names = [plain(brief(sight.names[g], LONGEST)) for g in rows]
    figure, (dots, table) = panels(2, width=5.4, height=1.7 + 0.3 * len(rows))
    sides = {"avg": known.avg_draws, "all": known.all_draws}
    for k, (part, draws) in enumerate(sides.items()):
        scores = sight.scores(sight.losses[part])[rows]
        if np.isnan(scores).all():
            continue
        reach = None if draws is None else REACH * draws.std(axis=0)[rows]
        style = {key: AGGREGATES[part][key] for key in ("color", "marker")}
        dots.errorbar(scores, np.arange(len(rows)) + 0.24 * k - 0.12, xerr=reach, linestyle="none", label=part, **style)
    if _is_wide(np.concatenate([sight.losses["avg"], sight.losses["all"]])):
        dots.set_xscale("log")
    dots.set_yticks(range(len(rows)), names)
    dots.set_xlabel(label_of(known))
    _tabulate(table, _cells(sight))
    for ax in (dots, table):
        ax.set_ylim(len(rows) - 0.5, -1.0)
    legend(figure, dots)
    return figure, f"{sight.facts.metric.label}, best first: {_told(sight)}."


def _is_wide(scores: np.ndarray) -> bool:
    found = scores[np.isfinite(scores)]
    return bool(len(found) and found.min() > 0 and found.max() > LARGEST_RATIO * found.min())


def _cells(sight: Sight) -> list[list[str]]:
    """The table beside the dots, its heads first."""
    parts = ["avg"] if sight.is_one else ["avg", "all"]
    heads = [text for part in parts for text in (f"place by {part}", part)]
    if sight.facts.is_same:
        heads = ["place", "avg"]
    if both := sight.facts.is_pooled and len(parts) == 1:
        heads.append("all")
    found = [[*heads, "worst", "client"]]
    scores = {part: sight.scores(losses) for part, losses in sight.losses.items()}
    for g in sight.rows:
        places = [place_text(sight.losses[part], sight.ranges[part], g) for part in parts]
        own = [text for part, place in zip(parts, places, strict=True) for text in (place, numeral(scores[part][g], 4))]
        own += [numeral(scores["all"][g], 4)] * both
        centres = np.where(sight.weights > 0, sight.facts.centres[g], -math.inf)
        worst = "–" if math.isnan(scores["worst"][g]) else brief(sight.clients[lowest(-centres)], LONGEST)
        found.append([*own, numeral(scores["worst"][g], 4), worst])
    return found


def _tabulate(ax: Any, cells: Sequence[Sequence[str]]) -> None:
    ax.set_axis_off()
    widths = np.array([max(map(len, column)) + 3.0 for column in zip(*cells, strict=True)])
    ends = np.cumsum(widths) / widths.sum()
    for row, texts in enumerate(cells, -1):
        for x, text in zip(ends, texts, strict=True):
            style = {"color": QUIET, "va": "bottom"} if row < 0 else {"color": TEXT, "va": "center"}
            ax.text(x, row + 0.35 * (row < 0), plain(text), ha="right", fontsize=9, **style)


def _told(sight: Sight) -> str:
    """Places and scores of the first generators."""
    said = []
    for g in sight.rows[:MOST_TOLD]:
        avg = numeral(sight.scores(sight.losses["avg"])[g], 4)
        told = f"{sight.names[g]} place {place_text(sight.losses['avg'], sight.ranges['avg'], g)}, avg {avg}"
        if not np.isnan(sight.losses["all"][g]):
            told += f", all {numeral(sight.scores(sight.losses['all'])[g], 4)}"
        said.append(told)
    more = len(sight.rows) - MOST_TOLD
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _places(sight: Sight) -> tuple[Drawing, str]:
    if sight.is_one or np.isnan(sight.losses["all"]).all():
        why = "has one order, by avg and by all" if sight.is_one else "has no scores of the pooled clients yet"
        raise InvalidInput("view", f"is 'places', and {sight.facts.metric.label} {why}", "Take another view or metric")
    figure, (ax,) = panels(1, width=6.2, height=1.6 + 0.3 * len(sight.names))
    ax.set_axis_off()
    ends: list[dict[int, int]] = []
    for side, part in enumerate(("avg", "all")):
        groups = sight.tiers[part]
        ends.append({g: row for row, g in enumerate(g for group in groups for g in group)})
        anchor = {"ha": "left" if side else "right", "va": "center", "fontsize": 9}
        ax.text(side + (0.06 if side else -0.06), -0.9, f"by {part}", color=QUIET, **anchor)
        for g, row in ends[side].items():
            texts = [plain(brief(sight.names[g], LONGEST)), range_text(sight.ranges[part], g)]
            text = "  ".join(texts[::-1] if side else texts)
            ax.text(side + (0.06 if side else -0.06), row, text, color=TEXT, **anchor)
        for group in groups:
            rows = [ends[side][g] for g in group]
            if len(rows) > 1:
                ax.plot([side + (0.03 if side else -0.03)] * 2, [min(rows) - 0.3, max(rows) + 0.3], color=QUIET)
    for g, row in ends[0].items():
        if g in ends[1]:
            is_real, is_chance = (sight.crossings[g] == kind for kind in ("real", "chance"))
            style = {"color": TEXT if is_real else GREY, "linewidth": 2.2 if is_real else 1.2}
            ax.plot([0, 1], [row, ends[1][g]], linestyle="--" if is_chance else "-", **style)
    ax.set(xlim=(-1.1, 2.1), ylim=(len(sight.names) - 0.4, -1.3))
    note = "Joined by a bar: not told apart. Dark: crossed by more than chance; dashed: by no more than chance."
    figure.supxlabel(note, fontsize=8, color=QUIET)
    said = [
        f"{sight.names[g]} {range_text(sight.ranges['avg'], g)} by avg, {range_text(sight.ranges['all'], g)} by all"
        for g in sight.rows[:MOST_TOLD]
    ]
    return figure, f"Places on {sight.facts.metric.label}: {'; '.join(said)}."


def _heat_map(sight: Sight) -> tuple[Drawing, str]:
    """Clients × generators: each client's best ringed, no more than chance above it hatched."""
    order, is_raw = sight.client_order(), sight.scene.colour == "raw"
    losses = (sight.facts.centres if is_raw else sight.regret).T[order]
    is_named = len(order) <= MOST_NAMES
    height = max(3.4, 1.9 + (0.28 if is_named else 0.1) * min(len(order), 120))
    figure, (ax,) = panels(1, width=min(3.6 + 0.6 * len(sight.names), 14.0), height=height)
    known = losses[np.isfinite(losses)]
    low = float(known.min()) if is_raw and known.size else 0.0
    high = max(float(np.quantile(known, 0.95, method="higher")), low + 1e-300) if known.size else low + 1.0
    high = high if high > low + 1e-300 else max(float(known.max()), low + 1.0)
    ax.grid(False)
    ax.set_facecolor("1.0")
    shown = np.ma.masked_invalid(np.where(np.isinf(losses), np.where(losses > 0, high, low), losses))
    image = ax.imshow(shown, aspect="auto", cmap="Oranges", vmin=low, vmax=high, interpolation="nearest")
    _mark(ax, sight, order, losses, (low, high))
    names = [plain(brief(name, LONGEST)) for name in sight.names]
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    ax.set_yticks(range(len(order)) if is_named else [], [_client(sight, i) for i in order] if is_named else [])
    if not is_named:
        ax.set_ylabel(f"{len(order)} clients")
    label = label_of(sight.known) if is_raw else f"{sight.facts.metric.label} {_side(sight)} the client’s best"
    figure.colorbar(image, ax=ax, label=label, extend="max" if known.size and known.max() > high else "neither")
    note = "Ring: the client’s best."
    note += " Hatched: no more than chance above it." * bool(sight.by_chance.any())
    note += " (n = …), crossed: cannot tell the generators apart." * any(sight.facts.few)
    figure.supxlabel(textwrap.fill(note, int(13 * figure.get_size_inches()[0])), fontsize=8, color=QUIET)
    return figure, _heat_words(sight)


def _side(sight: Sight) -> str:
    metric = sight.facts.metric
    if metric.best is not None:
        return f"farther from {metric.best:g} than"
    return "below" if metric.higher_is_better else "above"


def _client(sight: Sight, i: int) -> str:
    few = f" (n = {sight.sizes[i]:,})" if sight.facts.few[i] else ""
    return plain(brief(sight.clients[i], LONGEST)) + few


def _mark(ax: Any, sight: Sight, order: Sequence[int], losses: np.ndarray, ends: tuple[float, float]) -> None:
    """Numbers where there is room, a ring about each client's best, and what is no number."""
    numbers = losses.size <= MOST_NUMBERS
    scores = sight.scores(sight.facts.centres) if sight.scene.colour == "raw" else sight.regret
    for (row, g), loss in np.ndenumerate(losses):
        i = order[row]
        box = ([g - 0.5, g + 0.5, g + 0.5, g - 0.5], [row - 0.5, row - 0.5, row + 0.5, row + 0.5])
        if sight.by_chance[g, i] or sight.facts.few[i]:
            hatch = "xxx" if sight.facts.few[i] else "///"
            ax.fill(*box, fill=False, hatch=hatch, edgecolor="0.45", linewidth=0)
        if not numbers and math.isfinite(loss):
            if sight.regret[g, i] == 0:
                ax.plot(g, row, marker="o", fillstyle="none", color=TEXT, markersize=3)
            continue
        text = "NaN" if math.isnan(loss) else "∞" if math.isinf(loss) else numeral(scores[g, i], 2)
        dark = math.isfinite(loss) and loss > ends[0] + 0.65 * (ends[1] - ends[0])
        is_hatched, is_best = sight.by_chance[g, i] or bool(sight.facts.few[i]), sight.regret[g, i] == 0
        face = "none" if dark or not is_hatched else (1.0, 1.0, 1.0, 0.8)
        edge = ("white" if dark else TEXT) if is_best else "none"
        ring = {"boxstyle": f"round,pad={0.25 if is_best else 0.1}", "fc": face, "ec": edge}
        ax.text(g, row, text, ha="center", va="center", fontsize=8, color="white" if dark else TEXT, bbox=ring)


def _heat_words(sight: Sight) -> str:
    label, size = sight.facts.metric.label, f"{len(sight.clients)} clients and {len(sight.names)} generators"
    lost = np.where(np.isfinite(sight.regret), sight.regret, -math.inf)
    g, i = divmod(lowest(-lost.ravel()), lost.shape[1])
    if not lost[g, i] > 0:
        return f"Regret on {label} of {size}."
    most = f"{sight.clients[i]} with {sight.names[g]}, {numeral(lost[g, i], 4)} {_side(sight)} its best"
    return f"Regret on {label} of {size}; the most: {most}."


def _regret(sight: Sight) -> tuple[Drawing, str]:
    """What each client loses if everybody gets the winner by avg, by all, or for the worst client."""
    choices = sight.choices()
    if len(sight.names) < 2:
        raise InvalidInput(
            "view", "is 'regret', and there is one generator", "Attach another one, or take another view"
        )
    if not choices:
        raise InvalidInput("view", "is 'regret', and nobody's avg is known yet", "Wait, or take another view")
    lost = sight.lost[[g for g, _ in choices]]
    worst = np.where(np.isnan(lost), -1.0, lost).max(axis=0)
    order = sorted(range(len(sight.clients)), key=lambda i: -worst[i])[:MOST_BARS]
    figure, (ax,) = panels(1, width=7.2, height=1.8 + 0.2 * len(order) * len(choices))
    finite = lost[np.isfinite(lost)]
    top = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    thick = 0.8 / len(choices)
    for k, (g, words) in enumerate(choices):
        own = lost[k, order]
        places = np.arange(len(order)) + (k - (len(choices) - 1) / 2) * thick
        lengths = np.where(np.isnan(own), 0.0, np.minimum(own, top))
        style = {"color": BARS[k % 3], "hatch": HATCHES[k % 3], "edgecolor": "white", "linewidth": 0}
        ax.barh(places, lengths, 0.92 * thick, label=plain(f"{brief(sight.names[g], LONGEST)}, {words}"), **style)
        for place, length, value in zip(places, lengths, own, strict=True):
            text = "not known" if math.isnan(value) else "0, its best" if value == 0 else numeral(value, 4)
            ax.text(length + 0.01 * top, place, "∞" if math.isinf(value) else text, va="center", fontsize=8)
    ax.set_yticks(range(len(order)), [plain(brief(sight.clients[i], LONGEST)) for i in order])
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_xlim(0.0, 1.16 * top)
    some = f" ({len(order)} of {len(sight.clients)} clients, who lose most)" if len(order) < len(sight.clients) else ""
    ax.set_xlabel(f"{sight.facts.metric.label} {_side(sight)} the client’s best{some}")
    legend(figure, ax, columns=1)
    return figure, " ".join(_paid(sight, g, words, own) for (g, words), own in zip(choices, lost, strict=True))


def _paid(sight: Sight, g: int, words: str, own: np.ndarray) -> str:
    if np.isnan(own).all():
        return f"With {sight.names[g]}, {words}, what clients lose is not known."
    i = lowest(-own)
    pays = "no client loses" if own[i] == 0 else f"{sight.clients[i]} loses most, {numeral(own[i], 4)}"
    return f"With {sight.names[g]}, {words}, {pays}."


def _weights(sight: Sight) -> tuple[Drawing, str]:
    """A bar a client, and where in the weights of three groups each generator wins by avg."""
    shares = np.array(sight.scene.shares)
    first = sorted(range(len(shares)), key=lambda i: -shares[i])
    order = sorted(first[:MOST_BARS])
    polygons = sight.regions() if len(shares) > 2 and set(sight.groups) == {0, 1, 2} else []
    count = 1 + bool(polygons)
    figure, axes = panels(count, width=5.0, height=max(3.4, 1.4 + 0.22 * len(order)))
    bars = axes[0]
    bars.barh(range(len(order)), shares[order], color=CLIENT)
    for row, i in enumerate(order):
        bars.text(shares[i], row, f" {percent(shares[i])}", va="center", fontsize=8)
    bars.set_yticks(range(len(order)), [plain(brief(sight.clients[i], LONGEST)) for i in order])
    bars.set_ylim(len(order) - 0.5, -0.5)
    bars.set_xlim(0.0, 1.18 * shares.max())
    some = f"; the {len(order)} largest of {len(shares)}" if len(order) < len(shares) else ""
    bars.set_xlabel(f"weight{some}")
    said = "; ".join(f"{sight.clients[i]} {percent(shares[i])}" for i in first[:MOST_TOLD])
    words = f"Weights of the clients, the largest first: {said}."
    if polygons:
        _triangle(axes[1], sight, polygons, shares)
        winners = [g for g, polygon in enumerate(polygons) if len(polygon)]
        if winners:
            words += f" With the weights of three groups moved, {listed(sight.names, winners)} can win by avg."
    return figure, words


def _triangle(ax: Any, sight: Sight, polygons: Sequence[np.ndarray], shares: np.ndarray) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")
    groups = np.array(sight.groups)
    parts = np.array([shares[groups == group].sum() for group in range(3)])
    losses = sight.losses["avg"]
    winner = -1 if np.isnan(losses).all() else lowest(losses)
    ax.fill(*CORNERS.T, fill=False, edgecolor=QUIET)
    small = []
    for g, polygon in enumerate(polygons):
        if not len(polygon):
            continue
        points = polygon @ CORNERS
        ax.fill(*points.T, facecolor="#c8dfec" if g == winner else "0.95", edgecolor=TEXT, linewidth=1.2)
        x, y, room = _middle(points)
        name = brief(sight.names[g], LONGEST)
        if room > 0.03 * len(name):
            ax.text(x, y, plain(name), ha="center", va="center", fontsize=9)
        else:
            small.append(sight.names[g])
    ax.plot(*(parts @ CORNERS), "o", color=CLIENT, markeredgecolor="white", markersize=9)
    for (x, y), group, side, low in zip(CORNERS, range(3), ("left", "right", "center"), (1, 1, 0), strict=True):
        inside = np.flatnonzero(groups == group)
        more = f" +{len(inside) - 1}" if len(inside) > 1 else ""
        text = f"{brief(sight.clients[inside[0]], LONGEST)}{more}, {percent(parts[group])}"
        ax.text(x, y + (-0.03 if low else 0.03), plain(text), ha=side, va="top" if low else "bottom", fontsize=9)
    note = f"Who wins by {sight.facts.metric.label} avg"
    note += f"; too small for a name: {listed(small, range(len(small)))}" if small else ""
    ax.set_title(textwrap.fill(plain(note), 52), fontsize=9, pad=16)


def _middle(points: np.ndarray) -> tuple[float, float, float]:
    """Where a convex polygon is widest, and how wide."""
    best = (*points.mean(axis=0), 0.0)
    low, high = points[:, 1].min(), points[:, 1].max()
    for y in np.linspace(low, high, 9)[1:-1]:
        ends = []
        for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
            if (y0 < y) != (y1 < y):
                ends.append(x0 + (x1 - x0) * (y - y0) / (y1 - y0))
        if ends and max(ends) - min(ends) > best[2] and min(y - low, high - y) > 0.025:
            best = ((min(ends) + max(ends)) / 2, y, max(ends) - min(ends))
    return best


VIEWS = {
    "leaderboard": _leaderboard,
    "places": _places,
    "heat map": _heat_map,
    "regret": _regret,
    "weights": _weights,
}
