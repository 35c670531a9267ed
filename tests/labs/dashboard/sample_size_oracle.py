"""Independent of the page: the p-values to expect after more rows, and the sentence of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import owens_t

from nbmetrics.labs.dashboard.verdict import p_text

ROWS = (100, 300, 1_000, 3_000, 10_000)


# Enough is p = .05, a third of now, or four fifths of what the most rows would do.
ENOUGH, THIRD, MOST = 0.05, 1 / 3, 0.8


# There is nothing to buy where p is .01 already, or would be nine tenths of now.
SETTLED, NOTABLE = 0.01, 0.9


@dataclass(frozen=True)
class Buy:
    """More rows of a client, or of both generators (`client` None): the p-value expected after each of `ROWS`."""

    client: int | None
    after: tuple[float, ...]


@dataclass(frozen=True)
class Settling:
    """Attributes
    ----------
    now : the one-sided p-value as it stands
    rows : the number of rows by which the buys are ordered
    buys : the best first
    """

    now: float
    rows: int
    buys: tuple[Buy, ...]


def p_after(away: float, kept: float) -> float:
    """The mean one-sided p-value once the variance of the difference is down to a share `kept`, from 0 to 1.

    `away` is |difference| in standard errors now (`standard_errors_apart`). With Z the standard normal tail it is
    Z(away) for kept = 1, and 0 for kept = 0; between them 2 T(away, √(kept/(1 − kept))), with T of Owen (1956).
    """
    slope = np.sqrt(kept / (1.0 - kept)) if kept < 1.0 else np.inf
    return float(2.0 * owens_t(away, slope))


def kept_after(variances: np.ndarray, sizes: np.ndarray, more: np.ndarray) -> float:
    """The share of the variance that is left after so many more rows of each source; 1 where there is none."""
    total = variances.sum()
    counted = variances > 0
    left = variances[counted] * (sizes[counted] / (sizes[counted] + more[counted]))
    return float(left.sum() / total) if total > 0 else 1.0


def settle(away: float, variances: np.ndarray, sizes: np.ndarray) -> Settling:
    """What more rows of one client, or of both generators, would do for two leaders.

    variances and sizes (numbers of rows) are (k + 2,), as of `variance_by_source`. The weights stay as they are.
    """
    k = len(variances) - 2
    sources: list[tuple[int | None, list[int]]] = [*((i, [i]) for i in range(k)), (None, [k, k + 1])]
    buys, cuts = [], []
    for client, which in sources:
        if not variances[which].sum() > 0:
            continue
        more = np.zeros((len(ROWS), k + 2))
        more[:, which] = np.array(ROWS, dtype=float)[:, None]
        buys.append(Buy(client, tuple(p_after(away, kept_after(variances, sizes, r)) for r in more)))
        cuts.append([sum(variances[s] * r / (sizes[s] + r) for s in which if variances[s] > 0) for r in ROWS])
    now = p_after(away, 1.0)
    least = [min((buy.after[n] for buy in buys), default=now) for n in range(len(ROWS))]
    target = max(min(ENOUGH, THIRD * now), now - MOST * (now - least[-1]))
    n = next((n for n in range(len(ROWS)) if least[n] <= target), len(ROWS) - 1)
    order = sorted(range(len(buys)), key=lambda at: -cuts[at][n])
    return Settling(now, ROWS[n], tuple(buys[at] for at in order))


def settle_sentence(found: Settling, leader: str, rival: str, clients: Sequence[str]) -> str:
    """The advice: "300 more rows from south should bring one-sided p = 0.12 to p = 0.03; …"."""
    if np.isnan(found.now):
        return f"Not known: how many more rows would decide between {leader} and {rival}."
    if not found.buys:
        return f"More rows would change nothing: {leader} and {rival} are compared exactly."
    now = f"one-sided {p_text(found.now)}"
    if found.now <= SETTLED:
        return f"More rows would hardly change the winner by avg: {now} for {leader} over {rival}, unadjusted."
    n, best = ROWS.index(found.rows), found.buys[0]
    rows = f"{found.rows:,} more rows from {_source(best, clients)}"
    then = p_text(best.after[n])
    if best.after[n] > NOTABLE * found.now:
        undecided = f"More rows from one source would not decide between {leader} and {rival}"
        return f"{undecided}: with {rows}, {now} should become {then}."
    said = f"{rows} should bring {now} to {then}"
    generated = next((buy for buy in found.buys if buy.client is None), None)
    if generated is None or generated.after[n] > NOTABLE * found.now:
        return f"{said}; more generated rows would not help."
    return f"{said}."


def _source(buy: Buy, clients: Sequence[str]) -> str:
    return "each of the two generators" if buy.client is None else clients[buy.client]
