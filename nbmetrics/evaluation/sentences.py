"""What scores say in words: who is best by each aggregate, and which pairs of generators avg and all order differently.

Twin: labs/playground/view/score_table.js · held by: tests/labs/playground/test_score_table_page.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..ranking import figure, half_tied_pairs, inverted_pairs, numeral
from .model_sentences import model_headline, model_lines
from .models import has_runs
from .scores_protocol import ScoresProtocol
from .winners import AGGREGATES, Winners, plain_winners_of, winners_of

PAIRS = " pairs differently"
# A client makes most of an avg worth a line: more than this share of it, with a score so many times the others' mean.
MIN_LEADING_SHARE, MIN_LEADING_RATIO = 0.5, 10.0


def summary(scores: ScoresProtocol) -> list[str]:
    """A line or two a metric, first by the scores that a table shows first; none of one generator, or of NaN.

    Where models have several runs, the lines are about the models: the best single run may be best by luck.
    """
    if lines := model_lines(scores):
        return lines
    for name in scores.metrics:
        shown, plain = winners_of(scores.result(name)), plain_winners_of(scores.result(name))
        if len(scores.generators) < 2:
            continue
        if "intra" in shown.losses and not np.isnan(shown.losses["intra"]).any():
            lines.append(f"{shown_label(scores, name)}-intra {_intra(scores.generators, shown)}.")
        if np.isnan([shown.losses[part] for part in AGGREGATES]).any():
            continue
        lines.append(f"{shown_label(scores, name)}: {_order(scores.generators, shown)}.")
        if shown.is_corrected and _differ(shown, plain):
            order = _order(scores.generators, plain)
            lines.append(f"{scores.plain_label(name)} (not corrected for few rows): {order}.")
    return lines


def shown_label(scores: ScoresProtocol, metric: str) -> str:
    """Return the label of a metric, said to be of plain scores where those decide who is best beside corrected ones."""
    return scores.label(metric) if winners_of(scores.result(metric)).is_corrected else scores.plain_label(metric)


def headline(scores: ScoresProtocol, metric: str) -> str:
    """Return who is best by each aggregate, such as "Best by FID-avg: narrow. Best by FID-all: wide."

    It is "" where they agree, or where a score is not known.
    """
    winners = winners_of(scores.result(metric))
    if has_runs(scores):
        return model_headline(scores, metric)
    if len(scores.generators) < 2 or winners.agree or not winners.are_known:
        return ""
    label = shown_label(scores, metric)
    return " ".join(f"Best by {label}-{part}: {winners.names(part, scores.generators)}." for part in winners.best)


def leading_clients(scores: ScoresProtocol) -> list[str]:
    """Return a line for each distance of which one client makes most of avg, for most of the generators.

    Such as "west makes 99.9 % of FID avg: 211,668 against 0.6 and 1.3"; of several generators for the best led ones.
    """
    lines = []
    for metric in scores.metrics:
        cells = scores.result(metric)
        has_zero = not cells.metric.higher_is_better and cells.metric.best is None
        leaders = [_leader(own, scores.weights) for own in cells.by_client] if has_zero else []
        client = max(set(leaders), key=leaders.count, default=None)
        if client is None or 2 * leaders.count(client) <= len(leaders):
            continue
        g = min((g for g, leader in enumerate(leaders) if leader == client), key=lambda g: float(cells.avg[g]))
        own, label = cells.by_client[g], f"{scores.plain_label(metric)} avg"
        if len(leaders) > 1:
            others = f"{leaders.count(client)} of {len(leaders)} generators"
            label += f" of {scores.generators[g]} (and most for {others})"
        part = float(scores.weights[client] * own[client] / cells.avg[g])
        share = f"{100 * part:.3g} %" if part < 0.9995 else "more than 99.9 %"
        value = numeral(float(own[client]), ",.0f") if own[client] >= 1e3 else figure(float(own[client]), 3)
        rest = [float(v) for i, v in enumerate(own) if i != client and scores.weights[i]]
        few = [figure(v, 2) for v in rest]
        against = " and ".join(few) if len(few) < 3 else f"{figure(min(rest), 2)} to {figure(max(rest), 2)}"
        lines.append(f"{scores.names[client]} makes {share} of {label}: {value} against {against}.")
    return lines


def _leader(by_client: np.ndarray, weights: Sequence[float]) -> int | None:
    """Return the client that makes most of an avg by a far higher score than the others'; None where none does."""
    parts = np.where(np.array(weights) > 0, by_client, 0.0) * np.array(weights)
    if not np.isfinite(parts).all() or np.count_nonzero(weights) < 2:
        return None
    first = int(np.argmax(parts))
    others = float(np.abs(np.delete(parts, first)).sum())
    is_far = by_client[first] * (1.0 - weights[first]) > MIN_LEADING_RATIO * others
    return first if is_far and parts[first] * (1.0 - MIN_LEADING_SHARE) > MIN_LEADING_SHARE * others else None


def _differ(shown: Winners, plain: Winners) -> bool:
    """Whether other generators are best, or other pairs inverted."""
    first, second = (inverted_pairs(winners.losses["avg"], winners.losses["all"]) for winners in (shown, plain))
    return shown.best != plain.best or not np.array_equal(first, second)


def _order(generators: Sequence[str], winners: Winners) -> str:
    """Who is best by each aggregate, and how avg and all order the pairs."""
    avg, pooled = winners.losses["avg"], winners.losses["all"]
    inverted: list[list[int]] = inverted_pairs(avg, pooled).tolist()
    are_same = winners.best["avg"] == winners.best["all"]
    pairs = _inversions(generators, inverted, avg, are_same) or _half_ties(generators, avg, pooled)
    left_out = [name for name, is_out in zip(generators, winners.is_left_out, strict=True) if is_out]
    apart = f" (without {', '.join(left_out)}, see the caution)" if left_out else ""
    if not pairs:
        return f"avg and all order the generators alike{apart}"
    if not inverted and len(generators) == 2:
        return f"{pairs}{apart}"
    return f"{_best(generators, winners)}{apart}; {pairs}"


def _intra(generators: Sequence[str], winners: Winners) -> str:
    """Whom intra prefers, and how many pairs it orders otherwise than all."""
    left_out = [name for name, is_out in zip(generators, winners.is_left_out, strict=True) if is_out]
    apart = f" (without {', '.join(left_out)}, see the caution)" if left_out else ""
    said = f"prefers {winners.names('intra', generators)}{apart}"
    count = len(inverted_pairs(winners.losses["intra"], winners.losses["all"]))
    return f"{said}; it and all order {count} of {math.comb(len(generators), 2)}{PAIRS}" if count else said


def _best(generators: Sequence[str], winners: Winners) -> str:
    if winners.best["avg"] == winners.best["all"]:
        return f"{' and '.join(AGGREGATES)} prefer {winners.names('avg', generators)}"
    return ", ".join(f"{part} prefers {winners.names(part, generators)}" for part in AGGREGATES)


def _inversions(generators: Sequence[str], inverted: list[list[int]], avg: np.ndarray, has_example: bool) -> str:
    """How many pairs avg and all order differently, and the one that avg tells apart most; "" where none."""
    if not inverted:
        return ""
    count = f"they order {len(inverted)} of {math.comb(len(generators), 2)}{PAIRS}"
    if not has_example:
        return count
    widest = max(inverted, key=lambda pair: abs(avg[pair[1]] - avg[pair[0]]))
    first, second = (generators[g] for g in sorted(widest, key=lambda g: avg[g]))
    pair = f"avg ranks {first} above {second}, all ranks {second} above {first}"
    return f"{count}{', for example' if len(inverted) > 1 else ''}: {pair}"


def _half_ties(generators: Sequence[str], avg: np.ndarray, pooled: np.ndarray) -> str:
    """The pair that one of avg and all cannot tell apart and the other does most; "" where none."""
    half = half_tied_pairs(avg, pooled)
    if not len(half):
        return ""
    with np.errstate(invalid="ignore"):  # two scores of −∞
        margins = np.nan_to_num(np.abs(np.diff([avg[half], pooled[half]], axis=2))[..., 0], posinf=math.inf)
    which = int(np.argmax(margins.max(axis=0)))
    blind, ranked, values = ("avg", "all", pooled) if np.argmax(margins[:, which]) else ("all", "avg", avg)
    better, worse = sorted(half[which], key=lambda g: values[g])
    more = f" ({len(half)} such pairs)" if len(half) > 1 else ""
    names = generators[better], generators[worse]
    return f"{blind} cannot tell {names[0]} from {names[1]}, {ranked} ranks {names[0]} above {names[1]}{more}"
