"""KID-avg − KID-all under any weights, and how far apart clients are, from one matrix of kernel means of clients.

Twin: labs/toolkit/view/kidgap.js · held by: tests/labs/dashboard/test_kid_gap_page.py
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import refusal_of
from ..metrics.kid.batches import tabulate
from ..metrics.kid.estimators import AllPairs
from ..metrics.kid.metric import KID
from .result import Result


class GapParts(NamedTuple):
    """What `kid_gap_parts` gives: cross (k, k), own (k,) and n (k,)."""

    cross: np.ndarray
    own: np.ndarray
    n: np.ndarray


def kid_gap_parts(result: Result) -> GapParts | None:
    """What KID-avg − KID-all is made of under any weights λ ≥ 0 of sum 1; the generators take no part in it.

    With S = `cross` the kernel means of every two clients, d = `own` the means of k(x, x) and n the numbers of rows
    (infinite for laws, and for the biased estimator, which leaves no pairs of a row with itself out):

        U_i = (S_ii − d_i/n_i) / (1 − 1/n_i)
        L = Σ λ_i²/n_i
        gap(λ) = Σ λ_i U_i − (λᵀSλ − Σ λ_i² d_i/n_i) / (1 − L)

    Clients of weight 0 take no part. None for estimators that are not on all pairs, refused clients, or too many for a
    matrix.

    Examples
    --------
    >>> scores = nm.evaluate({"a": nm.Gaussian([0.0]), "b": nm.Gaussian([2.0])}, {"g": nm.Gaussian([0.0])}, "kid")
    >>> parts, weights = kid_gap_parts(scores._results[0]), np.array([0.5, 0.5])
    >>> gap = weights @ np.diag(parts.cross) - weights @ parts.cross @ weights
    >>> bool(np.isclose(gap, scores.table["gap"][0]))
    True
    """
    estimator = result.metric.estimator if isinstance(result.metric, KID) else None
    if not isinstance(estimator, AllPairs) or refusal_of(*result.real):
        return None
    parts = [part for mean in result.real for part in mean.parts]
    shares = np.zeros((len(result.real), len(parts)))  # a client that is a mixture of laws has several parts
    stop = 0
    for row, mean in zip(shares, result.real, strict=True):
        row[stop : stop + len(mean.parts)] = mean.weights
        stop += len(mean.parts)
    table = tabulate(estimator.kernel, parts)
    if table is None:
        return None
    where = [part.position for part in parts]
    cross = shares @ table[np.ix_(where, where)] @ shares.T
    if not estimator.unbiased:
        none = np.zeros(len(cross))
        return GapParts(cross, none, none + np.inf)
    n = 1.0 / np.array([part.count for part in parts])
    lost, diagonal = shares**2 @ n, shares**2 @ (n * [part.diagonal for part in parts])
    own = np.divide(diagonal, lost, out=np.zeros_like(lost), where=lost > 0)
    # what a kernel about the clients' mean leaves out of k, less a constant, which no gap sees
    lean = shares @ [part.lean for part in parts]
    lean = lean - lean.mean()
    with np.errstate(divide="ignore"):
        return GapParts(cross + lean[:, None] + lean, own + 2.0 * lean, 1.0 / lost)


def client_distances(result: Result) -> np.ndarray | None:
    """KID of every two clients, (k, k): U_i + U_j − 2 S_ij, 0 on the diagonal; unbiased ones may be negative.

    None where `kid_gap_parts` is.
    """
    parts = kid_gap_parts(result)
    if parts is None:
        return None
    own = (np.diag(parts.cross) - parts.own / parts.n) / (1.0 - 1.0 / parts.n)
    apart = own[:, None] + own - 2.0 * parts.cross
    np.fill_diagonal(apart, 0.0)
    return apart
