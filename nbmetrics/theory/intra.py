"""What intra and all have to do with each other, where a generator has one distribution for each client.

With δ_i = μ_i − g_i, the kernel mean of client i less that of what was made for it, KID-intra is Σ λ_i ‖δ_i‖² and
KID-all ‖Σ λ_i δ_i‖². Their difference depends on the generator, so Theorem 1 does not extend: intra and all may order
generators differently by KID, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..federation import Federation, Generator
from ..metrics import metric_of
from ..metrics.base import Metric
from ..metrics.kid.metric import KID
from ..tables import check_same_order
from .aggregates import Sides, as_federation, of_clients, sample_of


def kid_intra_identity(federation: Any, generator: Any, kernel: Any = None) -> Sides:
    """KID-intra − KID-all (left) is ½ Σ λ_i λ_j ‖δ_i − δ_j‖² (right), so intra ≥ all for distributions.

    Parameters
    ----------
    federation, kernel : as for `kid_gap`
    generator : `nm.Generator.by_client` or a dict client -> rows or distribution

    For rows both sides are unbiased, clients as strata, and may be below 0.

    Examples
    --------
    >>> clients = {"cats": nm.Gaussian([-1.0]), "dogs": nm.Gaussian([1.0])}
    >>> swapped = {"cats": nm.Gaussian([1.0]), "dogs": nm.Gaussian([-1.0])}
    >>> sides = nm.theory.kid_intra_identity(clients, swapped)
    >>> round(sides.left, 6), abs(sides.difference) < 1e-9
    (76.0, True)
    """
    clients = as_federation(federation)
    metric = KID(kernel, "stratified").resolve([client.to_sample() for client in clients])
    real, made = _both_sides(metric, clients, generator)
    inner = _inner_products(real, real) + _inner_products(made, made)
    cross = _inner_products(real, made)
    inner -= cross + cross.T
    squares = np.diag(inner)
    apart, weights = squares[:, None] + squares[None, :] - 2.0 * inner, np.array(clients.weights)
    left = _intra(metric, real, made, clients.weights) - _all(metric, real, made, clients.weights)
    return Sides(left, 0.5 * float(weights @ apart @ weights))


def intra_convexity(federation: Any, generator: Any, metric: Any = "fid") -> Sides:
    """all (left) ≤ intra (right), for metrics jointly convex in both sides, as FID and KID.

    FID-all is at most W₂² of the mixtures of Gaussians with the same moments (Gelbrich 1990), and W₂² is jointly
    convex. It holds for distributions, and for rows taken as whole populations, `nm.Empirical(rows)`.

    Examples
    --------
    >>> clients = {"cats": nm.Gaussian([-2.0]), "dogs": nm.Gaussian([2.0])}
    >>> nm.theory.intra_convexity(clients, {"cats": nm.Gaussian([2.0]), "dogs": nm.Gaussian([-2.0])})
    Sides(left=0.0, right=16.0)
    """
    clients, measure = as_federation(federation), metric_of(metric, "metric")
    measure = measure.resolve([client.to_sample() for client in clients])
    real, made = _both_sides(measure, clients, generator)
    return Sides(_all(measure, real, made, clients.weights), _intra(measure, real, made, clients.weights))


def _both_sides(metric: Metric[Any], clients: Federation, generator: Any) -> tuple[list[Any], list[Any]]:
    """Return the summaries of the clients, and of what was made for each."""
    source = generator if isinstance(generator, Generator) else Generator(generator, name="generator")
    if not source.is_by_client:
        raise InvalidInput("generator", "has one distribution for all clients", "Give a dict client -> source")
    members = source.for_clients(clients.names)
    check_same_order([(party.name or "", party.columns) for party in (*clients, *members)], "generator")
    return of_clients(metric, clients), [metric.summarize(sample_of(member, metric, clients)) for member in members]


def _intra(metric: Metric[Any], real: Sequence[Any], made: Sequence[Any], weights: Sequence[float]) -> float:
    return math.fsum(w * metric.distance(x, y) for x, y, w in zip(real, made, weights, strict=True) if w)


def _all(metric: Metric[Any], real: Sequence[Any], made: Sequence[Any], weights: Sequence[float]) -> float:
    return metric.distance(metric.pool(real, weights), metric.pool(made, weights))


def _inner_products(first: Sequence[Any], second: Sequence[Any]) -> np.ndarray:
    """Return E k(X, Y) of each of the first with each of the second, without the pairs of a row with itself."""
    return np.array([[a.self_mean() if a is b else a.mean_with(b) for b in second] for a in first])
