"""Figures of a Dashboard with alt text: one of all for snapshots, and one a view: leaderboard, places, heat map, …"""

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
from ...ranking import order as order_by_size
from .metric_view import WeightedScores
from .place_ranges import place_text, range_text
from .verdict import percent
from .view_model import ViewModel

# Letters of a name, and clients named in the figure of all.
MAX_NAME_LETTERS, MAX_CLIENTS_NAMED = 24, 40
# Standard errors on either side that 95 % of a normal variable lie within.
INTERVAL_ERRORS = 1.96
# Clients that have a bar, a row with a name, and cells with a number in each.
MAX_CLIENTS_WITH_BARS, MAX_ROWS_NAMED, MAX_CELLS_WITH_NUMBERS = 40, 70, 420
# Generators that are told in words.
MAX_GENERATORS_DESCRIBED = 20
# Of the largest to the least score: more stand on a logarithmic scale.
LOG_SCALE_RATIO = 50
HATCHES = (None, "////", "....")
BARS = (CLIENT, GENERATORS[0], GREY)


def draw_view(view: str, model: ViewModel, verdict: str) -> tuple[Drawing, str, str]:
    """Return the figure of a view under the verdict, its title, and its alt text."""
    figure, words = VIEWS[view](model)
    wide = int(12 * figure.get_size_inches()[0])
    figure.suptitle(textwrap.fill(plain(verdict), wide), x=0.01, ha="left", fontsize=10)
    return figure, f"Dashboard: {view}", f"Dashboard, {view}: {verdict} {words}"


def _leaderboard(model: ViewModel) -> tuple[Drawing, str]:
    scored, rows = model.weighted_scores, model.rows
    names = [plain(brief(model.names[g], MAX_NAME_LETTERS)) for g in rows]
    figure, (dots, table) = panels(2, width=5.4, height=1.7 + 0.3 * len(rows))
    sides = {"avg": scored.avg_draws, "all": scored.all_draws}
    for k, (part, draws) in enumerate(sides.items()):
        scores = model.to_scores(model.losses[part])[rows]
        if np.isnan(scores).all():
            continue
        reach = None if draws is None else INTERVAL_ERRORS * draws.std(axis=0)[rows]
        style = {key: AGGREGATES[part][key] for key in ("color", "marker")}
        dots.errorbar(
            scores,
            np.arange(len(rows)) + 0.24 * k - 0.12,
            xerr=reach,
            linestyle="none",
            label=model.labels[part],
            **style,
        )
    if _needs_log_scale(np.concatenate([model.losses["avg"], model.losses["all"]])):
        dots.set_xscale("log")
    dots.set_yticks(range(len(rows)), names)
    dots.set_xlabel(label_of(scored))
    _tabulate(table, _cells(model))
    for ax in (dots, table):
        ax.set_ylim(len(rows) - 0.5, -1.0)
    legend(figure, dots)
    return figure, f"{model.metric_view.metric.label}, best first: {_leaderboard_words(model)}."


def _needs_log_scale(scores: np.ndarray) -> bool:
    finite = scores[np.isfinite(scores)]
    return bool(len(finite) and finite.min() > 0 and finite.max() > LOG_SCALE_RATIO * finite.min())


def _cells(model: ViewModel) -> list[list[str]]:
    """Return the cells of the table beside the dots, its heads first."""
    parts = ["avg"] if model.has_one_order else ["avg", "all"]
    heads = [text for part in parts for text in (f"place by {model.labels[part]}", model.labels[part])]
    if model.metric_view.is_same:
        heads = ["place", model.labels["avg"]]
    if both := model.metric_view.is_pooled and len(parts) == 1:
        heads.append("all")
    rows = [[*heads, "worst", "client"]]
    scores = {part: model.to_scores(losses) for part, losses in model.losses.items()}
    for g in model.rows:
        places = [place_text(model.losses[part], model.ranges[part], g) for part in parts]
        own = [text for part, place in zip(parts, places, strict=True) for text in (place, numeral(scores[part][g], 4))]
        own += [numeral(scores["all"][g], 4)] * both
        centres = np.where(model.weights > 0, model.metric_view.centres[g], -math.inf)
        worst = "–" if math.isnan(scores["worst"][g]) else brief(model.clients[lowest(-centres)], MAX_NAME_LETTERS)
        rows.append([*own, numeral(scores["worst"][g], 4), worst])
    return rows


def _tabulate(ax: Any, cells: Sequence[Sequence[str]]) -> None:
    ax.set_axis_off()
    widths = np.array([max(map(len, column)) + 3.0 for column in zip(*cells, strict=True)])
    ends = np.cumsum(widths) / widths.sum()
    for row, texts in enumerate(cells, -1):
        for x, text in zip(ends, texts, strict=True):
            style = {"color": QUIET, "va": "bottom"} if row < 0 else {"color": TEXT, "va": "center"}
            ax.text(x, row + 0.35 * (row < 0), plain(text), ha="right", fontsize=9, **style)


def _leaderboard_words(model: ViewModel) -> str:
    """Return the places and scores of the first generators, in words."""
    sentences = []
    for g in model.rows[:MAX_GENERATORS_DESCRIBED]:
        avg = numeral(model.to_scores(model.losses["avg"])[g], 4)
        sentence = f"{model.names[g]} place {place_text(model.losses['avg'], model.ranges['avg'], g)}"
        sentence += f", {model.labels['avg']} {avg}"
        if not np.isnan(model.losses["all"][g]):
            sentence += f", all {numeral(model.to_scores(model.losses['all'])[g], 4)}"
        sentences.append(sentence)
    more = len(model.rows) - MAX_GENERATORS_DESCRIBED
    return "; ".join(sentences) + (f"; and {more} more" if more > 0 else "")


def _places(model: ViewModel) -> tuple[Drawing, str]:
    if model.has_one_order or np.isnan(model.losses["all"]).all():
        why = "has no scores of the pooled clients yet"
        if model.has_one_order:
            why = f"has one order, by {model.labels['avg']} and by all"
        raise InvalidInput(
            "view", f"is 'places', and {model.metric_view.metric.label} {why}", "Choose another view or metric"
        )
    figure, (ax,) = panels(1, width=6.2, height=1.6 + 0.3 * len(model.names))
    ax.set_axis_off()
    ends: list[dict[int, int]] = []
    for side, part in enumerate(("avg", "all")):
        groups = model.tiers[part]
        ends.append({g: row for row, g in enumerate(g for group in groups for g in group)})
        anchor = {"ha": "left" if side else "right", "va": "center", "fontsize": 9}
        ax.text(side + (0.06 if side else -0.06), -0.9, f"by {model.labels[part]}", color=QUIET, **anchor)
        for g, row in ends[side].items():
            texts = [plain(brief(model.names[g], MAX_NAME_LETTERS)), range_text(model.ranges[part], g)]
            text = "  ".join(texts[::-1] if side else texts)
            ax.text(side + (0.06 if side else -0.06), row, text, color=TEXT, **anchor)
        for group in groups:
            rows = [ends[side][g] for g in group]
            if len(rows) > 1:
                ax.plot([side + (0.03 if side else -0.03)] * 2, [min(rows) - 0.3, max(rows) + 0.3], color=QUIET)
    for g, row in ends[0].items():
        if g in ends[1]:
            is_real, is_chance = (model.crossings[g] == kind for kind in ("real", "chance"))
            style = {"color": TEXT if is_real else GREY, "linewidth": 2.2 if is_real else 1.2}
            ax.plot([0, 1], [row, ends[1][g]], linestyle="--" if is_chance else "-", **style)
    ax.set(xlim=(-1.1, 2.1), ylim=(len(model.names) - 0.4, -1.3))
    note = (
        "Bar: generators that cannot be told apart. Lines cross by more than chance (dark) or by chance only (dashed)."
    )
    figure.supxlabel(note, fontsize=8, color=QUIET)
    said = [
        f"{model.names[g]} "
        + ", ".join(f"{range_text(model.ranges[part], g)} by {label}" for part, label in model.labels.items())
        for g in model.rows[:MAX_GENERATORS_DESCRIBED]
    ]
    return figure, f"Places on {model.metric_view.metric.label}: {'; '.join(said)}."


def _heat_map(model: ViewModel) -> tuple[Drawing, str]:
    """Draw clients × generators: each client's best ringed, no more than chance above it hatched."""
    order, is_raw = model.client_order(), model.scene.colour == "raw"
    losses = (model.metric_view.centres if is_raw else model.regret).T[order]
    is_named = len(order) <= MAX_ROWS_NAMED
    height = max(3.4, 1.9 + (0.28 if is_named else 0.1) * min(len(order), 120))
    figure, (ax,) = panels(1, width=min(3.6 + 0.6 * len(model.names), 14.0), height=height)
    finite = losses[np.isfinite(losses)]
    low = float(finite.min()) if is_raw and finite.size else 0.0
    high = max(float(np.quantile(finite, 0.95, method="higher")), low + 1e-300) if finite.size else low + 1.0
    high = high if high > low + 1e-300 else max(float(finite.max()), low + 1.0)
    ax.grid(False)
    ax.set_facecolor("1.0")
    shown = np.ma.masked_invalid(np.where(np.isinf(losses), np.where(losses > 0, high, low), losses))
    image = ax.imshow(shown, aspect="auto", cmap="Oranges", vmin=low, vmax=high, interpolation="nearest")
    _annotate_cells(ax, model, order, losses, (low, high))
    names = [plain(brief(name, MAX_NAME_LETTERS)) for name in model.names]
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    ax.set_yticks(range(len(order)) if is_named else [], [_client(model, i) for i in order] if is_named else [])
    if not is_named:
        ax.set_ylabel(f"{len(order)} clients")
    label = (
        label_of(model.weighted_scores)
        if is_raw
        else f"{model.metric_view.metric.label} {_comparison_word(model)} the client’s best"
    )
    figure.colorbar(image, ax=ax, label=label, extend="max" if finite.size and finite.max() > high else "neither")
    note = "Ring: the client’s best."
    note += " Hatched: no more than chance above it." * bool(model.by_chance.any())
    note += " (n = …), crossed: too few rows to tell the generators apart." * any(model.metric_view.few)
    figure.supxlabel(textwrap.fill(note, int(13 * figure.get_size_inches()[0])), fontsize=8, color=QUIET)
    return figure, _heat_words(model)


def _comparison_word(model: ViewModel) -> str:
    metric = model.metric_view.metric
    if metric.best is not None:
        return f"farther from {metric.best:g} than"
    return "below" if metric.higher_is_better else "above"


def _client(model: ViewModel, i: int) -> str:
    few = f" (n = {model.sizes[i]:,})" if model.metric_view.few[i] else ""
    return plain(brief(model.clients[i], MAX_NAME_LETTERS)) + few


def _annotate_cells(
    ax: Any, model: ViewModel, order: Sequence[int], losses: np.ndarray, ends: tuple[float, float]
) -> None:
    """Draw numbers where there is room, a ring around each client's best, and what is no number."""
    numbers = losses.size <= MAX_CELLS_WITH_NUMBERS
    scores = model.to_scores(model.metric_view.centres) if model.scene.colour == "raw" else model.regret
    for (row, g), loss in np.ndenumerate(losses):
        i = order[row]
        box = ([g - 0.5, g + 0.5, g + 0.5, g - 0.5], [row - 0.5, row - 0.5, row + 0.5, row + 0.5])
        if model.by_chance[g, i] or model.metric_view.few[i]:
            hatch = "xxx" if model.metric_view.few[i] else "///"
            ax.fill(*box, fill=False, hatch=hatch, edgecolor="0.45", linewidth=0)
        if not numbers and math.isfinite(loss):
            if model.regret[g, i] == 0:
                ax.plot(g, row, marker="o", fillstyle="none", color=TEXT, markersize=3)
            continue
        text = "NaN" if math.isnan(loss) else "∞" if math.isinf(loss) else numeral(scores[g, i], 2)
        dark = math.isfinite(loss) and loss > ends[0] + 0.65 * (ends[1] - ends[0])
        is_hatched, is_best = model.by_chance[g, i] or bool(model.metric_view.few[i]), model.regret[g, i] == 0
        face = "none" if dark or not is_hatched else (1.0, 1.0, 1.0, 0.8)
        edge = ("white" if dark else TEXT) if is_best else "none"
        ring = {"boxstyle": f"round,pad={0.25 if is_best else 0.1}", "fc": face, "ec": edge}
        ax.text(g, row, text, ha="center", va="center", fontsize=8, color="white" if dark else TEXT, bbox=ring)


def _heat_words(model: ViewModel) -> str:
    label, size = model.metric_view.metric.label, f"{len(model.clients)} clients and {len(model.names)} generators"
    lost = np.where(np.isfinite(model.regret), model.regret, -math.inf)
    g, i = divmod(lowest(-lost.ravel()), lost.shape[1])
    if not lost[g, i] > 0:
        return f"Regret by {label} of {size}."
    most = f"{model.clients[i]} with {model.names[g]}, {numeral(lost[g, i], 4)} {_comparison_word(model)}"
    return f"Regret by {label} of {size}; largest: {most} the client’s best."


def _regret(model: ViewModel) -> tuple[Drawing, str]:
    """Draw what each client loses if everybody gets the winner by avg, by all, or for the worst client."""
    choices = model.choices()
    if len(model.names) < 2:
        raise InvalidInput(
            "view", "is 'regret', but there is only one generator", "Attach another one, or choose another view"
        )
    if not choices:
        seen = f"is 'regret', but no {model.labels['avg']} is known yet"
        raise InvalidInput("view", seen, "Wait, or choose another view")
    lost = model.losses_beside_best[[g for g, _ in choices]]
    worst = np.where(np.isnan(lost), -1.0, lost).max(axis=0)
    order = order_by_size(-worst)[:MAX_CLIENTS_WITH_BARS].tolist()
    figure, (ax,) = panels(1, width=7.2, height=1.8 + 0.2 * len(order) * len(choices))
    finite = lost[np.isfinite(lost)]
    top = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    thick = 0.8 / len(choices)
    for k, (g, words) in enumerate(choices):
        own = lost[k, order]
        places = np.arange(len(order)) + (k - (len(choices) - 1) / 2) * thick
        lengths = np.where(np.isnan(own), 0.0, np.minimum(own, top))
        style = {"color": BARS[k % 3], "hatch": HATCHES[k % 3], "edgecolor": "white", "linewidth": 0}
        ax.barh(
            places, lengths, 0.92 * thick, label=plain(f"{brief(model.names[g], MAX_NAME_LETTERS)}, {words}"), **style
        )
        for place, length, value in zip(places, lengths, own, strict=True):
            text = "not known" if math.isnan(value) else "0 (best)" if value == 0 else numeral(value, 4)
            ax.text(length + 0.01 * top, place, "∞" if math.isinf(value) else text, va="center", fontsize=8)
    ax.set_yticks(range(len(order)), [plain(brief(model.clients[i], MAX_NAME_LETTERS)) for i in order])
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_xlim(0.0, 1.16 * top)
    some = f" ({len(order)} of {len(model.clients)} clients, who lose most)" if len(order) < len(model.clients) else ""
    ax.set_xlabel(f"{model.metric_view.metric.label} {_comparison_word(model)} the client’s best{some}")
    legend(figure, ax, columns=1)
    return figure, " ".join(
        _regret_sentence(model, g, words, own) for (g, words), own in zip(choices, lost, strict=True)
    )


def _regret_sentence(model: ViewModel, g: int, words: str, own: np.ndarray) -> str:
    if np.isnan(own).all():
        return f"With {model.names[g]}, {words}, the clients’ losses are not known."
    i = lowest(-own)
    pays = "no client loses" if own[i] == 0 else f"{model.clients[i]} loses most, {numeral(own[i], 4)}"
    return f"With {model.names[g]}, {words}, {pays}."


def _weights(model: ViewModel) -> tuple[Drawing, str]:
    """Draw a bar a client."""
    shares = np.array(model.scene.shares)
    first = order_by_size(-shares, 1.0).tolist()
    order = sorted(first[:MAX_CLIENTS_WITH_BARS])
    figure, (bars,) = panels(1, width=5.0, height=max(3.4, 1.4 + 0.22 * len(order)))
    bars.barh(range(len(order)), shares[order], color=CLIENT)
    for row, i in enumerate(order):
        bars.text(shares[i], row, f" {percent(shares[i])}", va="center", fontsize=8)
    bars.set_yticks(range(len(order)), [plain(brief(model.clients[i], MAX_NAME_LETTERS)) for i in order])
    bars.set_ylim(len(order) - 0.5, -0.5)
    bars.set_xlim(0.0, 1.18 * shares.max())
    some = f"; the {len(order)} largest of {len(shares)}" if len(order) < len(shares) else ""
    bars.set_xlabel(f"weight{some}")
    said = "; ".join(f"{model.clients[i]} {percent(shares[i])}" for i in first[:MAX_GENERATORS_DESCRIBED])
    return figure, f"Weights of the clients, the largest first: {said}."


VIEWS = {
    "leaderboard": _leaderboard,
    "places": _places,
    "heat map": _heat_map,
    "regret": _regret,
    "weights": _weights,
}


def summary_figure(scores: WeightedScores, generators: Sequence[str], clients: Sequence[str], words: str) -> Drawing:
    """Return the figure of avg and all, a row a generator, beside the regret of each client, under the verdict."""
    rows = min(len(clients), MAX_CLIENTS_NAMED)
    figure, (left, right) = panels(2, width=5.4, height=max(3.6, 0.2 * rows + 1.6))
    names = [plain(brief(name, MAX_NAME_LETTERS)) for name in generators]
    _draw_scores(left, scores, names)
    _draw_regret(figure, right, scores, names, clients)
    legend(figure, left)
    figure.suptitle(textwrap.fill(plain(words), 110), x=0.01, ha="left", fontsize=11)
    return figure


def _draw_scores(ax: Any, scores: WeightedScores, names: Sequence[str]) -> None:
    """Draw the numbers that decisions use, as scores, with their 95 % intervals."""
    places = np.arange(len(names))
    sign = -1.0 if scores.metric_view.metric.higher_is_better and scores.metric_view.metric.best is None else 1.0
    labels = {"avg": scores.metric_view.average_label, "all": "all"}
    sides = {"avg": (scores.avg_centres, scores.avg_draws), "all": (scores.all_centres, scores.all_draws)}
    for part, (losses, draws) in sides.items():
        if np.isnan(losses).all():
            continue
        reach = None if draws is None else INTERVAL_ERRORS * draws.std(axis=0)
        style = {key: AGGREGATES[part][key] for key in ("color", "marker")}
        ax.errorbar(sign * losses, places, xerr=reach, linestyle="none", label=labels[part], **style)
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(label_of(scores))


def label_of(scores: WeightedScores) -> str:
    """Return what the numbers that decisions use are called."""
    view = scores.metric_view
    if view.metric.best is not None:
        return f"{view.metric.label}, distance from {view.metric.best:g}"
    return f"{view.metric.label}, corrected for few rows" if view.is_corrected else view.metric.label


def _draw_regret(
    figure: Drawing, ax: Any, scores: WeightedScores, names: Sequence[str], clients: Sequence[str]
) -> None:
    centres = scores.metric_view.centres
    finite = np.where(np.isfinite(centres), centres, np.nan)
    with np.errstate(invalid="ignore"):
        regret = (finite - np.fmin.reduce(finite, axis=0)).T
    ax.grid(False)
    ax.set_facecolor("0.8")
    image = ax.imshow(np.ma.masked_invalid(regret), aspect="auto", cmap="Oranges", vmin=0.0, interpolation="nearest")
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    if len(clients) <= MAX_CLIENTS_NAMED:
        ax.set_yticks(range(len(clients)), [plain(brief(name, MAX_NAME_LETTERS)) for name in clients])
    else:
        ax.set_ylabel(f"{len(clients)} clients")
    figure.colorbar(image, ax=ax, label=f"{scores.metric_view.metric.label} above the client’s best")
