"""Three claims that follow from Theorem 2.2 and Proposition 1 as the papers print them, and fail with them.

Each function returns both sides, so that a counter-example is one call; its docstring says what is true instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..metrics.base import Sample
from ..metrics.fid.metric import FID
from .aggregates import (
    Sides,
    as_federation,
    average,
    fid_gap_identity,
    gap_constant,
    moments_of,
    of_clients,
    pooled_gaussian,
    root_trace,
    sample_of,
)
from .barycenter import barycenter
from .twins import printed_twin


def printed_gap(federation: Any, generator: Any) -> Sides:
    """The submission's Remark 3: FID-avg − FID-all (left) = 2 Tr ((C_G Ĉ)^{1/2} − (C_G C̃)^{1/2}) + const (right).

    The constant is the one that is right where all covariances commute, 0 for distributions. Were the remark true,
    `difference` would be one number for all generators. It is FID-avg's distance from its bound, `fid_avg_bound`, so
    never negative, and it moves with the generator: over 30 random 4 × 4 ones from 0.16 to 1.04, or from 0.13 to 2.36.
    `fid_gap_identity` is the true form.
    """
    clients = as_federation(federation)
    root = to_numpy(FID().summarize(sample_of(generator, FID(), clients)).root)
    pooled, centre = pooled_gaussian(clients), barycenter(clients)
    roots = root_trace(root, pooled.root) - root_trace(root, centre.root)
    return Sides(fid_gap_identity(clients, generator).left, 2 * roots + gap_constant(clients, pooled))


def printed_order(federation: Any, first: Any, second: Any) -> Sides:
    """FID-avg(first) − FID-avg(second) (left) and FID(X̃, first) − FID(X̃, second) (right), X̃ the barycenter.

    The submission says that FID "changes monotonically with FID(X̃, G)", which would give both sides one sign; the
    equality of Theorem 2.2 would make them equal. Where covariances do not commute, FID-avg and FID(X̃, ·) order some
    pairs of generators differently: 9 to 15 of 435 pairs of random 4 × 4 ones. The sentence names FID-all, whose
    order differs from that by FID(X̃, ·) far more often, and already on the papers' own toy (v = 1 against v = 2).
    What is true: X̃ itself has the lowest FID-avg.

    Parameters
    ----------
    federation, first, second : clients and two generators, distributions or rows
    """
    clients = as_federation(federation)
    metric = FID()
    real, middle = of_clients(metric, clients), metric.summarize(Sample(distribution=barycenter(clients)))
    generated = [metric.summarize(sample_of(generator, metric, clients)) for generator in (first, second)]
    averages = [average(metric, real, g, clients.weights) for g in generated]
    centred = [metric.distance(middle, g) for g in generated]
    return Sides(averages[0] - averages[1], centred[0] - centred[1])


def printed_twin_bound(federation: Any) -> Sides:
    """Proposition 1's bound: 2u (left) ≤ FID-all(G′) − FID-all(Ĝ) (right), u and G′ as in `printed_twin`.

    For distributions it is the other way round. The right side is u + Bures²(Σ λ_i C_i, Ĉ), which is at least u and at
    most 2u, and 2u only where the means differ in directions in which no client varies. For means ±e₁ in R³ and C = I
    it is 1.1716 where 2 is claimed. Nor does any other twin reach the bound there: generators that these clients score
    as they score Ĝ are by the triangle inequality within 4 Bures²(C, Ĉ) = 0.686 of it.

    Raises
    ------
    NoTwin
        As `printed_twin`.
    """
    clients = as_federation(federation)
    gap, centre = printed_twin(clients).all_gap, pooled_gaussian(clients).mean
    u = np.dot(clients.weights, [np.sum((mean - centre) ** 2) for mean, _ in moments_of(clients)])
    return Sides(2 * float(u), gap)
