"""KID-avg − KID-all under any weights, from one matrix of kernel means of clients.

Twin: labs/toolkit/view/kidgap.js · held by: tests/labs/dashboard/test_kid_gap_page.py
"""

from __future__ import annotations

import numpy as np

from ..errors import refusal_of
from ..metrics.kid.batches import tabulate
from ..metrics.kid.estimators import AllPairs
from ..metrics.kid.metric import KID
from .result import Result


def client_kernel_means(result: Result) -> np.ndarray | None:
    """Return the kernel means of every two clients, M (k, k), from which KID's gap follows under any weights.

    M_ij is the mean of k over the rows of clients i and j, and M_ii = U_i that over pairs of different rows (over all
    pairs for the biased estimator and for exact distributions). No generator takes part:

        gap(λ) = Σ λ_i M_ii − λᵀMλ

    is KID-avg − KID-all of the "stratified" estimator, without bias under any weights. None for estimators that are
    not on all pairs, refused clients, or too many clients for a matrix. Source: Theorem 1 of Wang et al.

    Examples
    --------
    >>> scores = nm.evaluate({"a": nm.Gaussian([0.0]), "b": nm.Gaussian([2.0])}, {"g": nm.Gaussian([0.0])}, "kid")
    >>> means, weights = client_kernel_means(scores._results[0]), np.array([0.5, 0.5])
    >>> bool(np.isclose(kid_gap(means, weights), scores.table["gap"][0]))
    True
    """
    estimator = result.metric.estimator if isinstance(result.metric, KID) else None
    if not isinstance(estimator, AllPairs) or refusal_of(*result.real):
        return None
    parts = [part for mean in result.real for part in mean.parts]
    shares = np.zeros((len(result.real), len(parts)))  # a client that is a mixture has several parts
    stop = 0
    for row, mean in zip(shares, result.real, strict=True):
        row[stop : stop + len(mean.parts)] = mean.weights
        stop += len(mean.parts)
    table = tabulate(estimator.kernel, parts)
    if table is None:
        return None
    where = [part.position for part in parts]
    means = shares @ table[np.ix_(where, where)] @ shares.T
    np.fill_diagonal(means, [mean.self_mean(unbiased=estimator.unbiased) for mean in result.real])
    return np.asarray(means)


def kid_gap(means: np.ndarray, weights: np.ndarray) -> float:
    """Return Σ λ_i M_ii − λᵀMλ, M (k, k) of `client_kernel_means`, λ (k,); clients of weight 0 take no part."""
    used = weights > 0
    means, weights = means[np.ix_(used, used)], weights[used]
    return float(weights @ np.diag(means) - weights @ means @ weights)
