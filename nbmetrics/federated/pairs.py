"""Whether an order survives noise, pair by pair: would the opposite order have been shown as well, had it been true?

Noise may prefer one generator whatever the clients are: that of a covariance always favours the wider one. So that a
best generator stays first is no proof that its lead survived. Of a best generator and a rival let Δ be the difference
of their scores without clipping and noise, and e, in one draw, the difference that is released less Δ:

    kept               the share of draws with sign(Δ + e) = sign Δ: the order is shown as it is
    kept if reversed   the share with sign(−Δ + e) = −sign Δ: with the opposite order, as far apart, that is shown

The order survives where both are at least `KEPT`, and elsewhere the noise decides. What noise adds to both scores
cancels in e.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ranking import lowest, numeral

# The share of the draws from which on an order is said to survive.
KEPT = 0.95
RAISED = str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class PairSurvival(NamedTuple):
    """The generator that is best without noise against its rivals, at one ε, by one metric and aggregate.

    Attributes
    ----------
    best, rival : positions; the rival is the one whose order with the best survives least, the closest of several
    first : draws in which the best stays first of all generators
    kept, kept_if_reversed : draws in which its order with the rival is kept, and would be if it were the opposite
    difference : how much better the best is than the rival, without clipping and noise
    error : root mean square of what noise and clipping add to that difference
    survives : whether the best stays first, and every pair of it is kept and would be if reversed, in 95 % of the draws
    """

    best: int
    rival: int
    first: int
    kept: int
    kept_if_reversed: int
    difference: float
    error: float
    survives: bool


def pair_survival(exact: np.ndarray, drawn: np.ndarray) -> PairSurvival:
    """Of losses without noise (generators,), and with noise (draws, generators); two generators or more."""
    best = lowest(exact)
    rivals = np.delete(np.arange(len(exact)), best)
    true = exact[rivals] - exact[best]
    shown = drawn[:, rivals] - drawn[:, [best]]
    kept = (np.sign(shown) == np.sign(true)).sum(axis=0)
    opposite = (np.sign(shown - 2.0 * true) == -np.sign(true)).sum(axis=0)
    error = np.sqrt(((shown - true) ** 2).mean(axis=0))
    weakest = np.lexsort((true, np.minimum(kept, opposite)))[0]
    first = int((drawn.argmin(axis=1) == best).sum())
    least = min(first, int(kept.min()), int(opposite.min()))
    return PairSurvival(
        best=best,
        rival=int(rivals[weakest]),
        first=first,
        kept=int(kept[weakest]),
        kept_if_reversed=int(opposite[weakest]),
        difference=float(true[weakest]),
        error=float(error[weakest]),
        survives=least >= KEPT * len(drawn) - 1e-9,
    )


def two_digits(value: float) -> str:
    """A number to two significant digits.

    >>> [two_digits(value) for value in (1389.9, 54.9, 0.1595, 0.0000213, 0.0)]
    ['1,400', '55', '0.16', '2.1·10⁻⁵', '0']
    """
    if 0.0 < abs(value) < 1e-4:
        digits, power = f"{value:.1e}".split("e")
        return f"{digits.removesuffix('.0').replace('-', '−')}·10{str(int(power)).translate(RAISED)}"
    return numeral(float(f"{value:.2g}"), ",.0f" if abs(value) >= 100 else ".2g", beside=0)
