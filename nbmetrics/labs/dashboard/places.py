"""Orders of generators, and where two of them cross by more than chance.

Twin: labs/dashboard/view/places.js · held by: tests/labs/dashboard/test_views.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...ranking import places
from .ranges import Ranges, leaders


def order_of(losses: np.ndarray) -> list[int]:
    """Least loss first; equal ones in the order given, those without a loss last."""
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
    """Groups, each a leader and all that are left that it is not shown to beat; in one the order is the one given."""
    left, found = losses.astype(float), []
    while group := leaders(ranges, left):
        found.append(sorted(group))
        left[group] = math.nan
    return found


def crossings(left: Sequence[int], right: Sequence[int], by_left: Ranges, by_right: Ranges) -> list[str]:
    """Of each generator whether its line is crossed: "", "chance", or "real", where each order is more than chance."""
    found, at = [""] * len(by_left.better), {g: row for row, g in enumerate(right)}
    for row, a in enumerate(left):
        for b in left[row + 1 :]:
            if at.get(a, 0) < at.get(b, 0):
                continue
            is_real = by_left.better[a, b] and by_right.better[b, a]
            for g in (a, b):
                found[g] = "real" if is_real or found[g] == "real" else "chance"
    return found
