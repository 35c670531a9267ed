"""Ranges of places: who is shown to be better than whom, from paired draws of the noise, and where two orders cross.

Twin: labs/dashboard/view/place_ranges.js · held by: tests/labs/dashboard/test_place_ranges_page.py
Twin: labs/dashboard/view/place_ranges.js · held by: tests/labs/dashboard/test_view_model.py

All generators meet the same real rows, so their scores move together and differences are tested, not overlaps. A loss
is a score turned so that lower is better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ...ranking import TIE, order, places, same_scores

# Of the larger noise, what is left of a difference by rounding.
NOISE_ROUNDING = 1e-9
CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Ranges:
    """The places that each generator may have.

    Attributes
    ----------
    low, high : (G,) 1 is best; both 0 where the loss is NaN
    better : (G, G) whether the row's generator is shown to be better than the column's
    """

    low: np.ndarray
    high: np.ndarray
    better: np.ndarray


def average(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Σ λ_i value_i of each generator, (G,); clients of weight 0 take no part, with NaN and ∞ neither."""
    counted = weights > 0
    return values[:, counted] @ weights[counted]


def place_ranges(losses: np.ndarray, draws: np.ndarray | None, level: float = CONFIDENCE_LEVEL) -> Ranges:
    """Return who is better than whom, at a level that holds for all pairs together.

    The largest |difference| over all pairs, each in units of its standard error se, has the quantile c over the draws;
    a pair is told apart where its difference is beyond c·se. Where se is 0 it is told apart beyond rounding.

    Parameters
    ----------
    losses : (G,)
    draws : (B, G) noise of the losses about 0, drawn jointly; None where it is not known, and nobody is told apart
    level : of the statement that no pair is told apart the wrong way round
    """
    better = np.zeros((len(losses), len(losses)), dtype=bool)
    if draws is not None and len(losses):
        with np.errstate(invalid="ignore"):
            difference = losses[:, None] - losses[None, :]
            better = difference < -_margins(losses, draws, level)
    placed = ~np.isnan(losses)
    low = np.where(placed, 1 + better.sum(axis=0), 0)
    high = np.where(placed, placed.sum() - better.sum(axis=1), 0)
    return Ranges(low, high, better)


def _margins(losses: np.ndarray, draws: np.ndarray, level: float) -> np.ndarray:
    """Return what the difference of each pair must exceed, (G, G); an infinite loss is beyond all noise."""
    apart = np.abs(draws[:, :, None] - draws[:, None, :])
    errors = _standard_errors(draws)
    noisy = errors > 0
    margins = TIE * np.maximum(np.abs(losses)[:, None], np.abs(losses)[None, :])
    if noisy.any():
        largest = np.sort((apart[:, noisy] / errors[noisy]).max(axis=1))
        beyond = largest[min(math.ceil((len(draws) + 1) * level), len(draws)) - 1]
        margins = np.where(noisy, beyond * errors, margins)
    infinite = np.isinf(losses)
    return np.where(infinite[:, None] | infinite[None, :], 0.0, np.where(np.isnan(errors), np.inf, margins))


def _standard_errors(draws: np.ndarray) -> np.ndarray:
    """Return the standard error of each difference, (G, G): exactly 0 where it is rounding of the noise itself."""
    errors, own = _standard_deviation(draws[:, :, None] - draws[:, None, :]), _standard_deviation(draws)
    return np.where(errors <= NOISE_ROUNDING * np.maximum(own[:, None], own[None, :]), 0.0, errors)


def _standard_deviation(draws: np.ndarray) -> np.ndarray:
    """Return the standard deviation along the first axis, also where squares overflow."""
    away = draws - draws.mean(axis=0)
    unit = np.abs(away).max(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    return np.asarray(unit * np.sqrt(((away / unit) ** 2).mean(axis=0)))


def leaders(ranges: Ranges, losses: np.ndarray) -> list[int]:
    """Return the one with the least loss, and all that it is not shown to beat, in the order of their losses."""
    placed = [int(g) for g in order(losses) if not np.isnan(losses[g])]
    return [g for g in placed if not ranges.better[placed[0], g]]


def standard_errors_apart(losses: np.ndarray, draws: np.ndarray | None, a: int, b: int) -> float:
    """|L_a − L_b| in units of its standard error: 0 for ties, ∞ beyond all noise, NaN where it is not known."""
    pair = losses[[a, b]]
    if draws is None or np.isnan(pair).any():
        return math.nan
    if np.isinf(pair).any():
        return 0.0 if pair[0] == pair[1] else math.inf
    error = float(_standard_errors(draws[:, [a, b]])[0, 1])
    if same_scores(*pair) and not math.isnan(error):
        return 0.0
    return math.inf if error == 0 else float(abs(pair[0] - pair[1])) / error


def order_pvalue(losses: np.ndarray, draws: np.ndarray | None, a: int, b: int) -> float:
    """Return the one-sided p-value of the order of a and b, unadjusted, up to ½ (ties); NaN where it is not known."""
    return float(ndtr(-standard_errors_apart(losses, draws, a, b)))


def sort_by_loss(losses: np.ndarray) -> list[int]:
    """Return positions by loss, least first; equal ones in the order given, those without a loss last."""
    return [int(g) for g in np.argsort(places(losses), kind="stable")]


def place_text(losses: np.ndarray, ranges: Ranges, g: int) -> str:
    """ "2 (1–4)": second by its number, first to fourth by what is more than chance; "2" where it is certain."""
    if math.isnan(losses[g]):
        return "–"
    low, high = ranges.low[g], ranges.high[g]
    return str(low) if low == high else f"{places(losses)[g]} ({low}–{high})"


def range_text(ranges: Ranges, g: int) -> str:
    """ "1–4", or "2"."""
    low, high = ranges.low[g], ranges.high[g]
    return str(low or "–") if low == high else f"{low}–{high}"


def tiers(ranges: Ranges, losses: np.ndarray) -> list[list[int]]:
    """Return groups, each a leader and all that are left that it is not shown to beat; in one the order is as given."""
    left, groups = losses.astype(float), []
    while group := leaders(ranges, left):
        groups.append(sorted(group))
        left[group] = math.nan
    return groups


def crossings(left: Sequence[int], right: Sequence[int], by_left: Ranges, by_right: Ranges) -> list[str]:
    """Of each generator whether its line is crossed: "", "chance", or "real", where each order is more than chance."""
    kinds, at = [""] * len(by_left.better), {g: row for row, g in enumerate(right)}
    for row, a in enumerate(left):
        for b in left[row + 1 :]:
            if at.get(a, 0) < at.get(b, 0):
                continue
            is_real = by_left.better[a, b] and by_right.better[b, a]
            for g in (a, b):
                kinds[g] = "real" if is_real or kinds[g] == "real" else "chance"
    return kinds
