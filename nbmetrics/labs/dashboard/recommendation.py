"""What to do after a verdict: which generator to ship, and which client pays most for it.

Twin: labs/dashboard/view/recommendation.js · held by: tests/labs/dashboard/test_recommendation_page.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...ranking import lowest, same_scores
from .verdict import Verdict, join_names

MIN_DECIMAL, MAX_DECIMAL = 1e-4, 1e6
COMPARISON = " than with its best generator"
# Of a difference beside its standard error: 95 %, cell by cell.
CHANCE_ERRORS = 1.96


def recommendation(
    verdict: Verdict,
    names: Sequence[str],
    clients: Sequence[str],
    centres: np.ndarray,
    draws: np.ndarray | None = None,
) -> str:
    """Return one or two sentences; "" where nothing can be said yet.

    `centres` : (G, k) losses of the generators `names` with the `clients` that count
    `draws` : (B, G, k) their noise, None where it is not known
    """
    if verdict.state == "size":
        return "Score more rows, or compare by KID, before you choose."
    if verdict.state not in ("winner", "tie") or len(names) < 2:
        return ""
    shared = [name for name in verdict.avg if name in verdict.all]
    if len(shared) > 1:
        return f"Choose among {join_names(shared, range(len(shared)))} by price or speed, or score more rows."
    losses = regret(centres)
    sure = losses if draws is None else np.where(_is_chance(losses, draws), 0.0, losses)

    def cost(name: str, comparison: str) -> str:
        g = names.index(name)
        return _cost(sure[g], clients, comparison, some=bool((losses[g] > 0).any()))

    if shared:
        return f"Ship {shared[0]} ({cost(shared[0], COMPARISON)})."
    if verdict.state == "tie":
        return "Score more rows before you choose."
    each = cost(verdict.avg[0], COMPARISON)
    pool = cost(verdict.all[0], "" if each.endswith(COMPARISON) else COMPARISON)
    return f"For each client: {_first_of(verdict.avg)} ({each}). For the pool: {_first_of(verdict.all)} ({pool})."


def regret(centres: np.ndarray) -> np.ndarray:
    """Return what clients lose with each generator beside their best one, (G, k), at least 0; NaN where not known."""
    with np.errstate(invalid="ignore"):
        best = np.fmin.reduce(centres, axis=0)
        return np.where(same_scores(centres, best), 0.0, centres - best)


def _first_of(best: Sequence[str]) -> str:
    return best[0] if len(best) == 1 else f"{best[0]}, one of {len(best)} tied"


def _is_chance(losses: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return of each regret whether it is no more than chance, (G, k); both scores are of the client's own rows."""
    best = np.argmax(losses == 0, axis=0)
    apart = draws - np.take_along_axis(draws, best[None, None], axis=1)
    with np.errstate(invalid="ignore"):
        return (losses > 0) & (losses <= CHANCE_ERRORS * np.std(apart, axis=0, ddof=1))


def _cost(lost: np.ndarray, clients: Sequence[str], comparison: str, some: bool) -> str:
    """Return which client loses most beside its own best generator, and how much, with these words behind it.

    `some` : whether some client loses, be it by chance
    """
    finite = [i for i in range(len(lost)) if not math.isnan(lost[i])]
    if not finite:
        return "the loss of each client is not known"
    most = finite[lowest(-lost[finite])]
    if lost[most] == 0:
        return "no client has a better one" + " by more than chance" * some
    return f"{clients[most]}: {points(float(lost[most]))} worse{comparison}"


def points(loss: float) -> str:
    """Return a loss with two digits, as the page has it."""
    if loss == math.inf:
        return "∞"
    if not MIN_DECIMAL <= loss < MAX_DECIMAL:
        mantissa, exponent = f"{loss:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{float(f'{loss:.2g}'):f}".rstrip("0").rstrip(".")
