"""Orders of generators by two scores: ties, places, the pairs that the two order differently; and numbers as read.

Twin: labs/toolkit/view/ties.js · held by: tests/test_ties.py
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Differences below this share of the terms are rounding, not an order: thousands of ε, as thousands of terms add up.
TIE = 1e-12


def is_tie(a: Any, b: Any, scale: Any) -> Any:
    """Whether a and b differ by rounding alone, elementwise.

    Processors add in different orders, so a sum that is 0 on one is 1e-17 on another; what is decided must not be.

    Parameters
    ----------
    a, b : numbers or arrays; NaN ties with nothing, an infinity with itself
    scale : the sum of the absolute values of the terms that a and b were summed from

    Returns
    -------
    a boolean, or an array of them

    >>> bool(is_tie(0.1 + 0.2, 0.3, 0.6)), bool(is_tie(1.0, 1.0 + 1e-9, 2.0))
    (True, False)
    """
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        return (np.asarray(a) == b) | (np.abs(np.subtract(a, b)) <= TIE * np.where(np.isfinite(scale), scale, 0.0))


def same_scores(first: Any, second: Any) -> Any:
    """Whether scores differ by rounding alone, elementwise, where their terms are not known: beside their own sizes."""
    return is_tie(first, second, np.maximum(np.abs(first), np.abs(second)))


def all_lowest(scores: Any, scale: Any = None) -> list[int]:
    """Return the positions of all that tie with the lowest score, in the order given; none where all are NaN.

    Parameters
    ----------
    scores : (G,)
    scale : (G,) the sums of the absolute values of their terms; without it the scores' own sizes

    >>> all_lowest([3.0, 0.1 + 0.2, float("nan"), 0.3])
    [1, 3]
    """
    scores = np.asarray(scores, dtype=np.float64)
    scale = np.abs(scores) if scale is None else np.asarray(scale, dtype=np.float64)
    scored = np.flatnonzero(~np.isnan(scores))
    if not len(scored):
        return []
    least = int(scored[np.argmin(scores[scored])])
    positions: list[int] = np.flatnonzero(is_tie(scores, scores[least], np.maximum(scale, scale[least]))).tolist()
    return positions


def lowest(scores: Any, scale: Any = None) -> int:
    """Return the first of `all_lowest`; 0 where all are NaN."""
    return next(iter(all_lowest(scores, scale)), 0)


def order(scores: Any, scale: Any = None) -> np.ndarray:
    """Positions from the lowest score to the highest, NaN last; what ties with its neighbour stays as given.

    Parameters
    ----------
    scores : (n,)
    scale : a number, the sum of the absolute values of the terms; without it the scores' own sizes
    """
    scores = np.asarray(scores, dtype=np.float64)
    at = np.argsort(scores, kind="stable")
    low, high = scores[at[:-1]], scores[at[1:]]
    ties = same_scores(low, high) if scale is None else is_tie(low, high, scale)
    return at[np.lexsort((at, np.cumsum(np.r_[0, ~ties]) if len(at) else at))]


def numeral(value: float, spec: str = ".3f", *, beside: float = 1.0) -> str:
    """A number as people read it: with a true minus sign, and 0 where it is only rounding.

    Parameters
    ----------
    value : a number
    spec : how it is written, as `format` takes it
    beside : a number of its kind; what is less than a billionth of it is rounding

    >>> numeral(-0.25), numeral(-0.0001), numeral(4e-17, ".2g")
    ('−0.250', '0.000', '0')
    """
    is_rounding = abs(value) <= 1e-9 * abs(beside)
    text = format(0.0 if is_rounding else value, spec)
    nothing_left = math.isfinite(value) and not set(text.split("e")[0]) & set("123456789")
    return text.lstrip("+-") if nothing_left else text.replace("-", "−")


def figure(value: float, digits: int = 5) -> str:
    """So many significant digits; what is only rounding reads as 0, and what is not known as a dash."""
    if math.isnan(value):
        return "–"
    return "0" if abs(value) < TIE else numeral(value, f".{digits}g", beside=0)


def inverted_pairs(avg: Any, pooled: Any) -> np.ndarray:
    """The pairs, (m, 2) positions, that avg and all order differently; a tie in either is no order."""
    pairs, first, second = _orders(avg, pooled)
    return pairs[first * second < 0]


def half_tied_pairs(avg: Any, pooled: Any) -> np.ndarray:
    """The pairs, (m, 2) positions, that one of avg and all orders and the other does not."""
    pairs, first, second = _orders(avg, pooled)
    return pairs[(first == 0) != (second == 0)]


def _orders(avg: Any, pooled: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pair (m, 2), and the sign of its difference by avg and by all, 0 where that is only rounding."""
    avg, pooled = (np.asarray(scores, dtype=np.float64) for scores in (avg, pooled))
    i, j = np.triu_indices(len(avg), 1)
    return np.column_stack([i, j]), _signs(avg[i], avg[j]), _signs(pooled[i], pooled[j])


def _signs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # two scores of −∞ are no order
        return np.where(same_scores(first, second), 0, np.nan_to_num(np.sign(first - second)))


def places(scores: np.ndarray) -> np.ndarray:
    """From 1 for the lowest; what is the same but for rounding shares a place, and NaN comes last."""
    beaten = (scores < scores[:, None]) & ~same_scores(scores, scores[:, None])
    return np.where(np.isnan(scores), len(scores), 1 + beaten.sum(axis=1))
