"""Means of few runs: their intervals, and how unlikely a difference of two such means is.

The error of a mean of r runs has parts: the differences of the runs, of which s²/r says how large their part is, with
r − 1 degrees of freedom, and what the real rows add. Each part is given its own quantile of Student's t,

    reach(level)² = Σ t²(level, degrees of freedom) · variance,

which is never too short for normal errors, whatever the true variances are: P(χ² > x) is convex in x. Welch's t, whose
degrees of freedom are estimated, rejects up to 11 % instead of 5 % of the time for 2 and 5 runs. Source: Banerjee,
"On confidence interval for two-means problem based on separate estimates of variances", Sankhyā 22, 1960; for equal
numbers of runs it is the test of Hsu (1938), of min(r₁, r₂) − 1 degrees of freedom.

Runs are not always normal: some trainings collapse. Two runs that both came out alike have no spread, and any t is
large then. So the p-value of two models is also never below the one-sided p-value of a permutation of the runs'
labels, 1/C(r₁ + r₂, r₁) at least. For runs of any distribution that both models share, that is α or less, to either
side, at most 2α of the time: where half of the runs are far worse, .07 was seen at .05 for 3 and 8 runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Of the search for a p-value: halvings of its logarithm's range.
BISECTIONS = 60
SMALLEST_P = 1e-12
# Deals of the labels that are counted; of more, which only many runs have, t alone decides.
MAX_DEALS = 20_000
# Of the sum of the absolute scores: sums that differ by less are alike.
ALIKE = 1e-12


class ErrorPart(NamedTuple):
    """An independent part of the error of a mean or a difference.

    Attributes
    ----------
    variance : its estimate, in squared units of the score
    freedom : the degrees of freedom of that estimate; infinity where it is known
    """

    variance: float
    freedom: float


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation (n − 1) of the scores of runs, which do not depend on their order.

    The standard deviation of a single run is NaN, and so are both where a score is not finite.
    """
    if not np.isfinite(values).all():
        return math.nan, math.nan
    n, largest = len(values), max(map(abs, values)) or 1.0
    mean = math.fsum(value / n for value in values)
    if n < 2:
        return mean, math.nan
    return mean, largest * math.sqrt(math.fsum(((value - mean) / largest) ** 2 for value in values) / (n - 1))


def reach(parts: Sequence[ErrorPart], level: float) -> float:
    """Return half the width of an interval of this level; NaN where a variance is.

    >>> round(reach([ErrorPart(1.0, 2)], 0.95), 3), round(reach([ErrorPart(0.5, 2), ErrorPart(0.5, 2)], 0.95), 3)
    (4.303, 4.303)
    """
    from scipy.special import ndtri, stdtrit

    upper = 0.5 + level / 2.0
    quantiles = [float(ndtri(upper) if math.isinf(f) else stdtrit(f, upper)) for _, f in parts]
    return math.hypot(*(q * math.sqrt(part.variance) for q, part in zip(quantiles, parts, strict=True)))


def p_value(difference: float, parts: Sequence[ErrorPart]) -> float:
    """Return the two-sided p-value of a difference: 1 − the level of the interval that just ends at 0.

    From `SMALLEST_P` to 1; 1 of no difference, NaN where the difference or a variance is.

    >>> round(p_value(4.303, [ErrorPart(1.0, 2)]), 4)
    0.05
    """
    if math.isnan(difference) or any(math.isnan(part.variance) for part in parts):
        return math.nan
    low, high, size = math.log(SMALLEST_P), 0.0, abs(difference)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if reach(parts, 1.0 - math.exp(middle)) < size else (middle, high)
    return math.exp(high)


def p_of_labels(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the share of all deals of the models' labels to the runs with a difference as large, to the same side.

    `smallest_p` where all runs of one model are better than all of the other; that too where there are more than
    `MAX_DEALS` deals.

    >>> p_of_labels([0.0, 1.0], [2.0, 3.0]), p_of_labels([0.0, 2.5], [2.0, 3.0])
    (0.16666666666666666, 0.3333333333333333)
    """
    values, count = np.sort(np.concatenate([first, second])), len(first)
    if math.comb(len(values), count) > MAX_DEALS:
        return smallest_p(count, len(second))
    deals = np.array(list(itertools.combinations(range(len(values)), count)))
    sums, seen = values[deals].sum(axis=1), math.fsum(first)
    tie = ALIKE * float(np.abs(values).sum())
    is_lower = seen / count < math.fsum(second) / len(second)
    return float(np.mean(sums <= seen + tie if is_lower else sums >= seen - tie))


def smallest_p(first: int, second: int) -> float:
    """Return 1/C(r₁ + r₂, r₁), the p-value where all r₁ runs of one model are better than the r₂ of the other.

    Were the labels of the models dealt at random to the same runs, this one deal of the C(r₁ + r₂, r₁) would come up so
    often. Two and two runs never show a difference at .05, three and three at .05 at best.

    >>> [round(smallest_p(r, r), 3) for r in (1, 2, 3, 4, 5)]
    [0.5, 0.167, 0.05, 0.014, 0.004]
    """
    return 1.0 / math.comb(first + second, first)


def holm(pvalues: Sequence[float]) -> np.ndarray:
    """Return p-values adjusted for their number, so that one below .05 is found in 5 % of tables without differences.

    Step-down (Holm, Scandinavian Journal of Statistics 6, 1979), for any dependence; NaN are no tests.

    >>> holm([0.01, float("nan"), 0.04]).tolist()
    [0.02, nan, 0.04]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    adjusted, tests = np.full(len(p), np.nan), np.flatnonzero(~np.isnan(p))
    at = tests[np.argsort(p[tests], kind="stable")]
    steps = p[at] * np.arange(len(at), 0, -1)
    adjusted[at] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(at) else steps
    return adjusted
