"""When FID-avg sleeps through a collapse: the law of total variance says it, of the clients and of what is left."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..arrays import as_rows, plain_array, to_numpy
from ..errors import InvalidInput
from ..tables import is_table
from .aggregates import as_federation, check_columns, moments_of, root_trace

# Of T: what is left of a difference of clients by rounding.
ROUNDING = 1e-12


class Collapse(NamedTuple):
    """What FID-avg says of a perfect generator before, and after it collapsed.

    before : FID-avg of a perfect generator, 2 T (1 − r); its FID-all is 0
    after : FID-avg of what it collapsed to; of one point also its FID-all, T (1 + q)
    ratio : after / before; below 1 FID-avg calls the collapse an improvement; infinite where all clients are alike
    q : ‖m − μ̂‖² / T, how far from the pooled mean it collapsed
    r : Σ λ_i Tr (C_i^½ Ĉ C_i^½)^½ / T, how much of the pool's variance the clients have inside
    T : Tr Ĉ
    """

    before: float
    after: float
    ratio: float
    q: float
    r: float
    T: float


def collapse(federation: Any, target: Any) -> Collapse:
    """What a collapse of a perfect generator to the rows `target`, (n, d) or one point (d,), does to FID-avg.

    FID-avg of a generator of mean m and covariance C_G is T + ‖m − μ̂‖² + Tr C_G − 2 Σ λ_i Tr (C_i^½ C_G C_i^½)^½. So a
    collapse to a point lowers FID-avg exactly where q < 1 − 2 r: where clients vary little inside beside between them
    and the point is near the pooled mean. A random point of the data has q = 1 on average, so it
    raises FID-avg, 1 / (1 − r) times on average.
    Moments of the rows given count as those of laws (of `target` with ddof 0).
    Raises InvalidInput for clients without moments or all of one point, and a target of other columns.

    Examples
    --------
    >>> found = nm.theory.collapse([nm.Gaussian([-1.0], 0.01), nm.Gaussian([1.0], 0.01)], [0.0])
    >>> round(found.ratio, 3), round(found.r, 3)
    (0.555, 0.1)
    """
    clients = as_federation(federation)
    check_columns(clients, target, "target")
    points = target
    if not is_table(target) and (row := plain_array(target, "target")).ndim == 1:
        points = row[None]
    rows = to_numpy(as_rows(points, "target", dim=clients.dim)).astype(float)
    weights, moments = clients.weights, moments_of(clients)
    mean = np.sum([w * m for w, (m, _) in zip(weights, moments, strict=True)], axis=0)
    parts = [(w, np.vstack([root, m - mean])) for w, (m, root) in zip(weights, moments, strict=True)]
    pool = np.concatenate([math.sqrt(w) * part for w, part in parts])
    total = float(np.sum(pool**2))
    if not total > 0:
        raise InvalidInput("federation", "has clients that do not vary", "Give rows or distributions that differ")
    left = (rows - rows.mean(axis=0)) / math.sqrt(len(rows))

    def inside(root: np.ndarray) -> float:
        return math.fsum(w * root_trace(own, root) for w, (_, own) in zip(weights, moments, strict=True))

    r, q = inside(pool) / total, float(np.sum((rows.mean(axis=0) - mean) ** 2)) / total
    before, after = 2 * total * (1 - r), total * (1 + q) + float(np.sum(left**2)) - 2 * inside(left)
    ratio = after / before if before > ROUNDING * total else math.inf
    return Collapse(before, after, ratio, q, r, total)
