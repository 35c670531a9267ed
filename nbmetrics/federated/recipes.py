"""Settings of a release that may not come from a look at the rows: `clip` and σ, of public rows or with noise.

A private quantile (Smith 2011) is drawn by the exponential mechanism (McSherry & Talwar 2007): a candidate c has a
probability proportional to exp(−ε/2 · |#{norms ≤ c} − q n|). Replacing one row changes the count by at most 1 at every
candidate, so each of these factors and their sum change by at most e^{ε/2}, and the probability by at most e^ε: δ is 0.
The candidates are a public grid, each 0.1 % larger than the one before: the usual draw between two of the norms would
have low digits that come from them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import as_rows, to_float64, to_numpy
from ..errors import InvalidInput, check_count, check_list, check_number, shown
from ..metrics import Sample
from ..metrics.kid.kernels import RBF
from .account import Account
from .privacy import MAX_CLIP, MAX_EPSILON, MIN_CLIP, MIN_EPSILON, PureEpsilon, centre_of, system_uniforms

GRID_STEP = 1.001


def private_norm_quantile(
    rows: Any,
    quantile: float = 0.95,
    *,
    epsilon: float,
    bounds: tuple[float, float],
    centre: Any = None,
    account: Account | None = None,
    seed: int | None = None,
) -> float:
    """A norm below which about this share of the rows lies, with pure ε-differential privacy: for `Privacy(clip=…)`.

    Parameters
    ----------
    rows : (n, d) rows
    quantile : the share, between 0 and 1
    epsilon : ε of this number alone, with δ = 0; neighbours replace one row
    bounds : (low, high) between which the norm is sought; public, and may be far apart
    centre : (d,) public point from which norms are measured; 0 by default
    account : `nm.federated.Account`, in which ε is written before the number is returned
    seed : None draws from the operating system, as a release has to; a number repeats it, for tests alone

    Returns
    -------
    float from low to high, of N = log(high/low)/0.001 candidates. With probability 1 − β the share of the rows that it
    covers is within 2 log(N/β)/(ε n) of the best that a candidate can do.

    Raises
    ------
    InvalidInput
        For bad rows, a number out of its range, an ε that is too small for this quantile of so many rows (the number
        could be anything up to `high`), and where the account has not enough left.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(5000, 4))
    >>> clip = nm.federated.private_norm_quantile(rows, 0.95, epsilon=0.1, bounds=(0.01, 1000), seed=0)
    >>> bool(0.9 < np.mean(np.linalg.norm(rows, axis=1) <= clip) <= 1)
    True
    """
    share = check_number(quantile, "quantile", minimum=0.0, maximum=1.0)
    cost = PureEpsilon(check_number(epsilon, "epsilon", minimum=MIN_EPSILON, maximum=MAX_EPSILON))
    grid = _grid(bounds)
    draw = system_uniforms if seed is None else np.random.default_rng(check_count(seed, "seed", minimum=0)).random
    if not (account is None or isinstance(account, Account)):
        raise InvalidInput("account", f"got {shown(account)}", "Give nm.federated.Account(…)")
    norms = _norms(rows, centre)
    _check_enough(cost.epsilon, share, len(norms), len(grid))
    sums = np.cumsum(_probabilities(norms, grid, share, cost.epsilon))
    if account is not None:
        account.spend(cost, f"quantile {share:g} of the norms")
    return float(grid[np.searchsorted(sums, draw(1)[0] * sums[-1])])


def clip_from_public(rows: Any, quantile: float = 0.95, centre: Any = None) -> float:
    """The norm below which this share of public rows lies, for `Privacy(clip=…)`: it protects nobody among them.

    Parameters
    ----------
    rows : (n, d) public rows, of the same features as the rows to protect
    quantile : the share, from 0 to 1
    centre : (d,) public point from which norms are measured; 0 by default

    Examples
    --------
    >>> nm.federated.clip_from_public([[3.0, 4.0], [0.0, 1.0]], quantile=1.0)
    5.0
    """
    share = check_number(quantile, "quantile", minimum=0.0, maximum=1.0)
    clip = float(np.quantile(_norms(rows, centre), share))
    if not MIN_CLIP <= clip <= MAX_CLIP:
        fix = "Give rows that are not all at the centre, or a larger quantile" if clip < MIN_CLIP else "Rescale them"
        raise InvalidInput("rows", f"have norms of {clip:.3g}", fix)
    return clip


def sigma_from_public(rows: Any) -> float:
    """The median distance of at most 2,000 public rows, for `nm.RandomFeatures(nm.RBF(sigma))`: the same for all sites.

    Parameters
    ----------
    rows : (n, d) public rows, n ≥ 2, of the same features as the rows to protect

    Examples
    --------
    >>> nm.federated.sigma_from_public([[0.0], [1.0], [10.0]])
    9.0
    """
    sample = Sample(rows=as_rows(rows, "rows", min_rows=2))
    try:
        return float(RBF("median").resolve([sample]).sigma)  # type: ignore[arg-type]
    except InvalidInput as error:
        raise InvalidInput("rows", error.seen, "Give rows that differ") from None


def _probabilities(norms: np.ndarray, grid: np.ndarray, share: float, epsilon: float) -> np.ndarray:
    """Return (N,) the probability of each candidate of the grid."""
    counts = np.searchsorted(np.sort(norms), grid, side="right")
    logs = -0.5 * epsilon * np.abs(counts - share * len(norms))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _check_enough(epsilon: float, share: float, rows: int, candidates: int) -> None:
    """Raise InvalidInput where candidates that cover all rows, or none, may be as probable together as the best one."""
    least = 2.0 * math.log(candidates) / (rows * max(min(share, 1.0 - share), 1e-9))
    if epsilon < least:
        seen = f"got {epsilon:g}, too little for the {share:g} quantile of {rows:,} rows"
        raise InvalidInput(
            "epsilon", seen, f"Give {1.05 * least:.2g} or more, a quantile nearer to 0.5, or closer bounds"
        )


def _norms(rows: Any, centre: Any) -> np.ndarray:
    """Return (n,) distances of the rows from the centre."""
    x = to_numpy(to_float64(as_rows(rows, "rows")))
    return np.asarray(np.linalg.norm(x - centre_of(centre, x.shape[1]), axis=1))


def _grid(bounds: Any) -> np.ndarray:
    """Return (N,) candidates from low to high, both included."""
    ends = check_list(bounds, "bounds", 10)
    if len(ends) != 2:
        raise InvalidInput("bounds", f"got {shown(bounds)}", "Give two numbers, (low, high)")
    low, high = (check_number(end, "bounds", minimum=MIN_CLIP, maximum=MAX_CLIP) for end in ends)
    if low >= high:
        raise InvalidInput("bounds", f"got {low:g} and {high:g}", "Give the smaller number first")
    steps = max(1, math.ceil(math.log(high / low) / math.log(GRID_STEP)))
    return np.clip(np.geomspace(low, high, steps + 1), low, high)
