"""What scores say in words: where avg and all order the generators differently.

Twin: labs/playground/view/score_table.js · held by: tests/labs/playground/test_score_table_page.py
"""

from __future__ import annotations

import math

import numpy as np

from ..ranking import half_tied_pairs, inverted_pairs, places
from .cells import ScoresProtocol, Values


def summary(scores: ScoresProtocol) -> list[str]:
    """A line or two a metric; none of one generator, or where a score is NaN."""
    lines = []
    for name in scores.metrics:
        losses, label = scores.losses(name), scores.plain_label(name)
        if len(scores.generators) < 2 or np.isnan([*losses.avg, *losses.all]).any():
            continue
        order = _inversion(scores.generators, losses.avg, losses.all) or _agreement(scores.generators, losses)
        lines.append(f"{label}: {order}.")
        if label != scores.label(name):
            lines += _without_bias(scores, name)
    return lines


def _inversion(generators: tuple[str, ...], avg: np.ndarray, pooled: np.ndarray) -> str:
    """Who is best by avg and by all, and how many pairs they order differently; nothing where none."""
    inverted: list[list[int]] = inverted_pairs(avg, pooled).tolist()
    if not inverted:
        return ""
    best, best_pooled = (_best(generators, losses) for losses in (avg, pooled))
    count = f"{len(inverted)} of {math.comb(len(generators), 2)} pairs"
    if best != best_pooled:
        return f"avg prefers {best}, all prefers {best_pooled}; they order {count} differently"
    widest = max(inverted, key=lambda pair: abs(avg[pair[1]] - avg[pair[0]]))
    first, second = (generators[g] for g in sorted(widest, key=lambda g: avg[g]))
    pair = f"avg ranks {first} above {second}, all {second} above {first}"
    example = ", for example" if len(inverted) > 1 else ""
    return f"avg and all prefer {best}; they order {count} differently{example}: {pair}"


def _best(generators: tuple[str, ...], losses: np.ndarray) -> str:
    """The generator of the lowest loss, or all those that share it."""
    return " and ".join(generators[g] for g in np.flatnonzero(places(losses) == 1))


def _without_bias(scores: ScoresProtocol, metric: str) -> list[str]:
    """A line where the corrected scores, which the table shows first, invert other pairs than the plain ones."""
    rows, result = scores.table[scores.table["metric"] == metric], scores.result(metric)
    avg, pooled = (result.losses(rows[f"{part}_corrected"].to_numpy()) for part in ("avg", "all"))
    if np.isnan([avg, pooled]).any():
        return []
    if np.array_equal(inverted_pairs(avg, pooled), inverted_pairs(*scores.losses(metric)[:2])):
        return []
    order = _inversion(scores.generators, avg, pooled) or "avg and all order the generators alike"
    told = f"{scores.label(metric)} without the bias of few rows: {order}"
    return [f"{told} (how sure: scores.flips('{metric}'))."]


def _agreement(generators: tuple[str, ...], losses: Values) -> str:
    """How avg and all order the generators where they invert no pair."""
    avg, pooled, _ = losses
    half = half_tied_pairs(avg, pooled)
    if not len(half):
        return "avg and all order the generators alike"
    with np.errstate(invalid="ignore"):  # two scores of −∞
        margins = np.nan_to_num(np.abs(np.diff([avg[half], pooled[half]], axis=2))[..., 0], posinf=math.inf)
    which = int(np.argmax(margins.max(axis=0)))
    blind, ranked, values = ("avg", "all", pooled) if np.argmax(margins[:, which]) else ("all", "avg", avg)
    better, worse = sorted(half[which], key=lambda g: values[g])
    more = f" ({len(half)} such pairs)" if len(half) > 1 else ""
    names = generators[better], generators[worse]
    return f"{blind} cannot tell {names[0]} from {names[1]}, {ranked} prefers {names[0]}{more}"
