"""What scores say in words: where avg and all order the generators differently.

Twin: labs/playground/view/board.js · held by: tests/labs/playground/test_board_page.py
"""

from __future__ import annotations

import math

import numpy as np

from ..orders import half_tied_pairs, inverted_pairs
from .result import Readable, Values


def summary(scores: Readable) -> list[str]:
    """A line or two a metric; none of one generator, or where a score is NaN."""
    lines = []
    pairs = math.comb(len(scores.generators), 2)
    for name in scores.metrics:
        losses, label = scores.losses(name), scores.plain_label(name)
        if not pairs or np.isnan([*losses.avg, *losses.all]).any():
            continue
        inverted = scores.inversions(name)
        if inverted.empty:
            lines.append(f"{label}: {_agreement(scores.generators, losses)}.")
        else:
            worst = inverted.sort_values("avg_margin").iloc[-1]
            lines.append(
                f"{label}: avg and all order {len(inverted)} of {pairs} pairs differently; "
                f"avg prefers {worst['avg_prefers']}, all prefers {worst['all_prefers']}."
            )
        if label != scores.label(name):
            lines += _without_bias(scores, name, pairs)
    return lines


def _without_bias(scores: Readable, metric: str, pairs: int) -> list[str]:
    """A line where the corrected scores, which the table shows first, invert other pairs than the plain ones."""
    rows, result = scores.table[scores.table["metric"] == metric], scores.result(metric)
    avg, pooled = (result.losses(rows[f"{part}_corrected"].to_numpy()) for part in ("avg", "all"))
    if np.isnan([avg, pooled]).any():
        return []
    inverted: list[list[int]] = inverted_pairs(avg, pooled).tolist()
    if inverted == inverted_pairs(*scores.losses(metric)[:2]).tolist():
        return []
    order = "the generators alike"
    if inverted:
        widest = max(inverted, key=lambda pair: abs(avg[pair[1]] - avg[pair[0]]))
        first, second = sorted(widest, key=lambda g: avg[g])
        order = f"{len(inverted)} of {pairs} pairs differently; avg prefers {scores.generators[first]}, "
        order += f"all prefers {scores.generators[second]}"
    told = f"{scores.label(metric)} without the bias of few rows: avg and all order {order}"
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
