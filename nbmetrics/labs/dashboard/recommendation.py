"""What to do after a verdict: which generator to ship, and which client pays most for it.

Twin: labs/dashboard/view/recommendation.js · held by: tests/labs/dashboard/test_recommendation_page.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...ranking import lowest
from .verdict import Verdict, join_names
from .winner_regions import regret

MIN_DECIMAL, MAX_DECIMAL = 1e-4, 1e6
COMPARISON = " than with its best generator"


def recommendation(verdict: Verdict, names: Sequence[str], clients: Sequence[str], centres: np.ndarray) -> str:
    """Return one or two sentences; "" where nothing can be said yet.

    `centres` : (G, k) losses of the generators `names` with the `clients` that count
    """
    if verdict.state == "size":
        return "Score more rows, or compare by KID, before you choose."
    if verdict.state not in ("winner", "tie") or len(names) < 2:
        return ""
    shared = [name for name in verdict.avg if name in verdict.all]
    if len(shared) > 1:
        return f"Choose among {join_names(shared, range(len(shared)))} by price or speed, or score more rows."
    losses = regret(centres)
    if shared:
        return f"Ship {shared[0]} ({_cost(losses[names.index(shared[0])], clients, COMPARISON)})."
    if verdict.state == "tie":
        return "Score more rows before you choose."
    each = _cost(losses[names.index(verdict.avg[0])], clients, COMPARISON)
    pool = _cost(losses[names.index(verdict.all[0])], clients, "" if each.endswith(COMPARISON) else COMPARISON)
    return f"For each client: {_first_of(verdict.avg)} ({each}). For the pool: {_first_of(verdict.all)} ({pool})."


def _first_of(best: Sequence[str]) -> str:
    return best[0] if len(best) == 1 else f"{best[0]}, one of {len(best)} tied"


def _cost(lost: np.ndarray, clients: Sequence[str], comparison: str) -> str:
    """Return which client loses most beside its own best generator, and how much, with these words behind it."""
    finite = [i for i in range(len(lost)) if not math.isnan(lost[i])]
    if not finite:
        return "the loss of each client is not known"
    most = finite[lowest(-lost[finite])]
    if lost[most] == 0:
        return "no client has a better one"
    return f"{clients[most]}: {points(float(lost[most]))} worse{comparison}"


def points(loss: float) -> str:
    """Return a loss with two digits, as the page has it."""
    if loss == math.inf:
        return "∞"
    if not MIN_DECIMAL <= loss < MAX_DECIMAL:
        mantissa, exponent = f"{loss:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{float(f'{loss:.2g}'):f}".rstrip("0").rstrip(".")
