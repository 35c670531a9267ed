"""Do two sets of rows have one distribution? MMD, with the p-value of a permutation test.

If they have, all ways to deal the rows to two sets of these sizes are equally likely. Of two clients whose weights are
their shares of the rows, KID's gap is λ(1 − λ) MMD², so the deals are those of `heterogeneity`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, as_rows, concat, host_view, namespace, to_float64
from ..errors import InvalidInput, check_count, encodable
from ..metrics.base import Sample
from ..metrics.kid.kernels import RBF, as_kernel
from ..tables import check_frames
from .heterogeneity import MAX_PLACES, MAX_SHUFFLES, Parties, kernel_gaps, p_value

MAX_ROWS = 20_000
BY_MEDIAN = RBF("median")


class TwoSampleTest(NamedTuple):
    """The result of `nm.two_sample`.

    Attributes
    ----------
    statistic : MMD² without bias, in units of the kernel; about 0, also below it, for one distribution
    p : p-value, 1/(permutations + 1) at least
    convention : what the test is
    """

    statistic: float
    p: float
    convention: str

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return encodable(f"{type(self).__name__}({parts})")


def two_sample(a: Any, b: Any, kernel: Any = BY_MEDIAN, *, permutations: int = 999, seed: int = 0) -> TwoSampleTest:
    """Test whether two sets of rows have one distribution, by MMD and random exchanges of rows (Gretton et al. 2012).

    p is the share of exchanges, the given order among them, whose MMD is at least that of the given order. It is exact
    for any distribution and sizes, if all rows are independent and neither set was chosen by a look at the other.

    Parameters
    ----------
    a, b : (n, d) and (m, d) rows, n and m at least 2, at most 20,000 together
    kernel : as of `nm.kid`. The default, Gaussian with the median distance of all rows, notices every kind of
        difference if there are enough rows; a polynomial of degree 3, that of KID, only one of the first three moments
    permutations : random exchanges, 1 to 100,000
    seed : of the exchanges, 0 or more

    Returns
    -------
    TwoSampleTest, a named tuple: `statistic`, `p`, `convention`

    Raises
    ------
    InvalidInput
        For rows that are not finite or of other widths, too few or too many rows, or more exchanges than fit in memory.

    Source: Gretton et al., "A kernel two-sample test", JMLR 13, 2012, equation 3.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(60, 2)), rng.normal(0.8, 1, size=(50, 2))
    >>> test = nm.two_sample(x, y)
    >>> round(test.statistic, 3), test.p
    (0.094, 0.001)
    """
    check_frames(a=a, b=b)
    permutations = check_count(permutations, "permutations", maximum=MAX_SHUFFLES)
    seed, kernel = check_count(seed, "seed", minimum=0), as_kernel(kernel)
    first = as_rows(a, "a", min_rows=2)
    second = as_rows(b, "b", min_rows=2, dim=first.shape[1])
    rows = host_view(to_float64(concat([first, second])))
    n, sizes = len(rows), (first.shape[0], second.shape[0])
    if n > MAX_ROWS:
        raise InvalidInput("a", f"has, with b, {n:,} rows", f"Give a random part, {MAX_ROWS:,} rows at most")
    if permutations * n > MAX_PLACES:
        seen = f"got {permutations:,} of {n:,} rows, which need too much memory"
        raise InvalidInput("permutations", seen, f"Give {MAX_PLACES // n:,} at most")
    # In an order that does not depend on which set a row is of: a median of many rows is one of some of them.
    kernel = kernel.resolve([Sample(rows=_sorted(rows))])
    parties = Parties(rows, sizes, tuple(size / n for size in sizes))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # refused below
        gaps, tie = kernel_gaps(kernel, parties, parties.deals(permutations, [seed, 3]))
    if not np.isfinite(gaps).all():
        seen = "gives NaN or infinity for these rows"
        raise InvalidInput("kernel", seen, "Give nm.RBF(), or rescale the rows")
    share = float(np.prod(parties.weights))
    convention = f"MMD² without bias, {kernel}; {permutations:,} random exchanges of the rows, seed {seed}"
    return TwoSampleTest(float(gaps[0]) / share, p_value(gaps, tie), convention)


def _sorted(rows: Array) -> Array:
    """The rows by their last feature, then the one before, …, on their device."""
    if isinstance(rows, np.ndarray):
        return rows[np.lexsort(rows.T)]
    xp = namespace(rows)
    order = xp.argsort(rows[:, 0], stable=True)
    for feature in range(1, rows.shape[1]):
        order = order[xp.argsort(rows[order, feature], stable=True)]
    return rows[order, :]
