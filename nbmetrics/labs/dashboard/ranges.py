"""Places as ranges: who is shown to be better than whom, from paired draws of the noise.

Twin: labs/dashboard/view/ranges.js · held by: tests/labs/dashboard/test_ranges_page.py

All generators meet the same real rows, so their scores move together and differences are tested, not overlaps. A loss
is a score turned so that lower is better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ...ranking import TIE, order, same_scores

# Of the larger noise, what is left of a difference by rounding.
ROUNDING = 1e-9
LEVEL = 0.95


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
    """Σ λ_i value_i of each generator, (G,); what a client without weight scores does not count, NaN and ∞ neither."""
    counted = weights > 0
    return values[:, counted] @ weights[counted]


def average_noise(draws: np.ndarray, scale: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The noise of `average`, (B, G), of draws (B, G, k) in units of scale (G, k)."""
    counted = weights > 0
    return np.einsum("bgi,gi->bg", draws[:, :, counted], scale[:, counted] * weights[counted])


def leads(losses: np.ndarray, draws: np.ndarray | None, level: float = LEVEL) -> Ranges:
    """Who is better than whom, at a level that holds for all pairs together.

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
    """What the difference of each pair must exceed, (G, G); an infinite loss is beyond all noise."""
    apart = np.abs(draws[:, :, None] - draws[:, None, :])
    errors = _errors(draws)
    noisy = errors > 0
    margins = TIE * np.maximum(np.abs(losses)[:, None], np.abs(losses)[None, :])
    if noisy.any():
        largest = np.sort((apart[:, noisy] / errors[noisy]).max(axis=1))
        beyond = largest[min(math.ceil((len(draws) + 1) * level), len(draws)) - 1]
        margins = np.where(noisy, beyond * errors, margins)
    infinite = np.isinf(losses)
    return np.where(infinite[:, None] | infinite[None, :], 0.0, np.where(np.isnan(errors), np.inf, margins))


def _errors(draws: np.ndarray) -> np.ndarray:
    """The standard error of each difference, (G, G): exactly 0 where it is rounding of the noise itself."""
    errors, own = _deviation(draws[:, :, None] - draws[:, None, :]), _deviation(draws)
    return np.where(errors <= ROUNDING * np.maximum(own[:, None], own[None, :]), 0.0, errors)


def _deviation(draws: np.ndarray) -> np.ndarray:
    """The standard deviation along the first axis, also where squares are beyond all numbers."""
    away = draws - draws.mean(axis=0)
    unit = np.abs(away).max(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    return np.asarray(unit * np.sqrt(((away / unit) ** 2).mean(axis=0)))


def leaders(ranges: Ranges, losses: np.ndarray) -> list[int]:
    """The one with the least loss, and everyone that it is not shown to beat, in the order of their losses."""
    placed = [int(g) for g in order(losses) if not np.isnan(losses[g])]
    return [g for g in placed if not ranges.better[placed[0], g]]


def apart(losses: np.ndarray, draws: np.ndarray | None, a: int, b: int) -> float:
    """|L_a − L_b| in units of its standard error: 0 for ties, ∞ beyond all noise, NaN where it is not known."""
    pair = losses[[a, b]]
    if draws is None or np.isnan(pair).any():
        return math.nan
    if np.isinf(pair).any():
        return 0.0 if pair[0] == pair[1] else math.inf
    difference = abs(pair[0] - pair[1])
    error = _errors(draws[:, [a, b]])[0, 1]
    if error == 0:
        return 0.0 if same_scores(*pair) else math.inf
    return float(difference / error)


def flip(losses: np.ndarray, draws: np.ndarray | None, a: int, b: int) -> float:
    """The one-sided p-value of the order of a and b, unadjusted, up to ½ (ties); NaN where it is not known."""
    return float(ndtr(-apart(losses, draws, a, b)))
