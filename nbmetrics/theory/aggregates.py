"""What avg and all have to do with each other, metric by metric: identities, inequalities and orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import to_numpy, triangular
from ..distributions import Distribution, Gaussian
from ..errors import InvalidInput, check_count
from ..federation import Federation, Generator
from ..metrics import metric_of
from ..metrics.base import Metric, Sample, sample_if_needed
from ..metrics.conditional import CFID, MFID, RFID
from ..metrics.fid.metric import FID
from ..metrics.kid.metric import KID
from ..tables import check_frames, check_same_order, column_names


class Sides(NamedTuple):
    """Both sides of a claim, computed in different ways."""

    left: float
    right: float

    @property
    def difference(self) -> float:
        """right − left: 0 up to rounding for an identity, ≥ 0 for an inequality."""
        return self.right - self.left


class ConditionalOrder(NamedTuple):
    """The conditional family of one pair of distributions, which is always in this order: MFID ≤ RFID ≤ CFID."""

    mfid: float
    rfid: float
    cfid: float


def as_federation(federation: Any) -> Federation:
    """A `Federation`, made where clients or their data were given."""
    return federation if isinstance(federation, Federation) else Federation(federation)


class MeanRoot(NamedTuple):
    """Mean (d,) and a factor (r, d) of the covariance, rootᵀroot, of a distribution or of rows (ddof 1)."""

    mean: np.ndarray
    root: np.ndarray


def sample_of_client(metric: Metric[Any], client: Any, position: int) -> Sample:
    """What a metric sees of a client; 10,000 rows, the same for every call, of a distribution without a closed form."""
    return sample_if_needed(metric, client.to_sample(), 10_000, [0, position])


def of_clients(metric: Metric[Any], federation: Federation) -> list[Any]:
    """The clients' summaries under one metric; what is wrong with one is said of it by name."""
    own = []
    for position, client in enumerate(federation):
        try:
            own.append(metric.summarize(sample_of_client(metric, client, position)))
        except InvalidInput as error:
            raise error.of(f"client {client.name!r}") from None
    return own


def moments_of(federation: Federation) -> list[MeanRoot]:
    """Mean and factor of the covariance of each client."""
    return [MeanRoot(to_numpy(m.mean), to_numpy(m.root)) for m in of_clients(FID(), federation)]


def check_columns(federation: Federation, source: Any, argument: str) -> None:
    """Raise InvalidInput where a table has the clients' columns in another order."""
    parties = [(client.name or "", client.columns) for client in federation]
    check_same_order([*parties, (argument, column_names(source))])


def sample_of(generator: Any, metric: Metric[Any], federation: Federation) -> Sample:
    """What a metric sees of a single generator: rows, a distribution, or a `Generator` that holds one of them."""
    check_columns(federation, generator, "generator")
    source = generator.through(federation.extraction).source if isinstance(generator, Generator) else generator
    if callable(source) and not isinstance(source, Distribution):
        raise InvalidInput("generator", "is a function", "Give rows, or a distribution")
    return sample_if_needed(
        metric, Sample.of(source, "generator", dim=federation.dim, min_rows=metric.min_rows), 10_000, [1]
    )


def summaries(metric: Metric[Any], federation: Federation, generator: Any) -> tuple[list[Any], Any]:
    """The clients' summaries and the generator's under one metric."""
    summary = metric.summarize(sample_of(generator, metric, federation))
    return of_clients(metric, federation), summary


def average(metric: Metric[Any], real: Sequence[Any], generated: Any, weights: Sequence[float]) -> float:
    """Σ λ_i D(S_i, S_G)."""
    return math.fsum(w * metric.distance(s, generated) for s, w in zip(real, weights, strict=True) if w)


def kid_gap(federation: Any, kernel: Any = None) -> float:
    """KID-avg − KID-all of every generator, from the clients alone (Theorem 1).

    Parameters
    ----------
    federation : `Federation`, or clients that make one; distributions or rows, any weights
    kernel : cubic by default, `nm.RBF(sigma)`, or a function of two blocks of rows (n, d), (m, d) -> (n, m)

    Returns
    -------
    float, Σ λ_i E k(X_i, X_i′) − E k(X̂, X̂′) with X̂ from the pooled data, self-pairs of rows left out. For
    distributions it is Σ λ_i KID(P̂, P_i) ≥ 0; for few rows it may be negative.

    Examples
    --------
    >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
    >>> table = nm.evaluate(clients, {"any": nm.Gaussian([5, 7])}, "kid").table
    >>> [round(nm.theory.kid_gap(clients), 6), *table["gap"].round(6)]
    [3.875, 3.875]
    """
    clients = as_federation(federation)
    metric = KID(kernel).resolve([c.to_sample() for c in clients])
    real = of_clients(metric, clients)
    own = math.fsum(w * s.self_mean() for s, w in zip(real, clients.weights, strict=True))
    return own - metric.pool(real, clients.weights).self_mean()


def kid_gap_identity(federation: Any, generator: Any, kernel: Any = None) -> Sides:
    """Theorem 1: KID-avg − KID-all of this generator (left), and `kid_gap`, which knows no generator (right).

    Parameters are those of `kid_gap`; the generator is rows (m, d) or a distribution.

    Examples
    --------
    >>> clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    >>> abs(nm.theory.kid_gap_identity(clients, nm.Gaussian([0, 0])).difference) < 1e-12
    True
    """
    clients = as_federation(federation)
    metric = KID(kernel).resolve([c.to_sample() for c in clients])
    real, summary = summaries(metric, clients, generator)
    pooled = metric.distance(metric.pool(real, clients.weights), summary)
    return Sides(average(metric, real, summary, clients.weights) - pooled, kid_gap(clients, metric.kernel))


def fid_all_identity(federation: Any, generator: Any) -> Sides:
    """Theorem 2.1: FID-all of the pooled data (left) is the FID of N(μ̂, Ĉ) (right).

    μ̂ = Σ λ_i μ_i and Ĉ = Σ λ_i [C_i + (μ_i − μ̂)(μ_i − μ̂)ᵀ] for distributions. For rows C_i counts with ddof 0, and Ĉ is
    divided by 1 − Σ λ_i²/n_i, which makes it the covariance (ddof 1) of the rows put together where λ_i = n_i/n.

    Examples
    --------
    >>> clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    >>> abs(nm.theory.fid_all_identity(clients, nm.Gaussian([0, 0])).difference) < 1e-12
    True
    """
    clients = as_federation(federation)
    real, summary = summaries(FID(), clients, generator)
    joined = clients.pooled().to_sample() if clients.is_size_weighted else None
    together = FID().pool(real, clients.weights) if joined is None else FID().summarize(joined)
    centre = FID().summarize(Sample(distribution=pooled_gaussian(clients)))
    return Sides(FID().distance(together, summary), FID().distance(centre, summary))


def fid_gap_identity(federation: Any, generator: Any) -> Sides:
    """FID-avg − FID-all (left) by mean roots alone (right): Remark 3 of the papers' submission, corrected.

    2 Tr (C_G Ĉ)^{1/2} − 2 Σ λ_i Tr (C_G C_i)^{1/2} + const, with a constant that no generator is in: 0 for
    distributions, and Σ λ_i Tr C_i + Σ λ_i ‖μ_i − μ̂‖² − Tr Ĉ for rows (ddof 1). Neither side has the generator's mean
    in it. The submission has Tr (C_G C̃)^{1/2} in place of the mean over clients; see `printed_gap`.

    Examples
    --------
    >>> clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    >>> abs(nm.theory.fid_gap_identity(clients, nm.Gaussian([0, 0])).difference) < 1e-9
    True
    """
    clients = as_federation(federation)
    real, summary = summaries(FID(), clients, generator)
    pooled = pooled_gaussian(clients)
    gap = average(FID(), real, summary, clients.weights) - FID().distance(FID().pool(real, clients.weights), summary)
    root = to_numpy(summary.root)
    roots = math.fsum(w * root_trace(root, to_numpy(s.root)) for s, w in zip(real, clients.weights, strict=True) if w)
    return Sides(gap, 2 * root_trace(root, pooled.root) - 2 * roots + gap_constant(clients, pooled))


def gap_constant(clients: Federation, pooled: Gaussian) -> float:
    """Σ λ_i (Tr C_i + ‖μ_i − μ̂‖²) − Tr Ĉ: 0 for distributions, and what ddof 1 leaves for rows."""
    own = [np.sum(root**2) + np.sum((mean - pooled.mean) ** 2) for mean, root in moments_of(clients)]
    return float(np.dot(clients.weights, own) - np.sum(pooled.root**2))


def root_trace(first: np.ndarray, second: np.ndarray) -> float:
    """Tr (AᵀA BᵀB)^{1/2} of two factors: the nuclear norm of ABᵀ."""
    return float(np.linalg.svd(first @ second.T, compute_uv=False).sum())


def pooled_gaussian(federation: Any) -> Gaussian:
    """N(μ̂, Ĉ), the best generator by FID-all (Theorem 2.1); see `fid_all_identity`."""
    clients = as_federation(federation)
    moments, weights = moments_of(clients), np.array(clients.weights)
    sizes = np.array([c.size or math.inf for c in clients])
    centre = weights @ [mean for mean, _ in moments]
    shares = weights / (1.0 - float(np.sum(weights**2 / sizes)))
    within = [math.sqrt(w * (1 - 1 / n)) * root for w, n, (_, root) in zip(shares, sizes, moments, strict=True)]
    between = [math.sqrt(w) * (mean - centre)[None] for w, (mean, _) in zip(shares, moments, strict=True)]
    root = np.concatenate([*within, *between])
    return Gaussian.factored(centre, triangular(root) if len(root) > clients.dim else root)


def convexity(federation: Any, generator: Any, metric: Any = "fid") -> Sides:
    """Observation 1 of the submission: all (left) ≤ avg (right), for metrics convex in the real data, as FID and KID.

    It holds for distributions, and for rows taken as whole populations, `nm.Empirical(rows)`. For rows as samples the
    unbiased estimators can break it: clients {0, 1} and {0, 1} with generator {0, 10} have FID-all 62.42 > FID-avg
    60.75.

    Examples
    --------
    >>> clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    >>> sides = nm.theory.convexity(clients, nm.Gaussian([0, 0]))
    >>> round(sides.left, 3), sides.right
    (0.172, 1.0)
    """
    clients, measure = as_federation(federation), metric_of(metric, "metric")
    measure = measure.resolve([c.to_sample() for c in clients])
    real, summary = summaries(measure, clients, generator)
    pooled = measure.distance(measure.pool(real, clients.weights), summary)
    return Sides(pooled, average(measure, real, summary, clients.weights))


def linearity(federation: Any, generator: Any, metric: Any = "log_likelihood") -> Sides:
    """all (left) = avg (right), for metrics linear in the real distribution: the log-likelihood, and recall from rows.

    Examples
    --------
    >>> clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    >>> sides = nm.theory.linearity(clients, nm.Gaussian([0, 0]))
    >>> abs(sides.difference) < 1e-12
    True
    """
    return convexity(federation, generator, metric)


def conditional_order(real: Any, generated: Any, condition_dim: int = 1) -> ConditionalOrder:
    """MFID ≤ RFID ≤ CFID (Soloveitchik et al.), of distributions or rows whose first columns are x and the others y.

    Parameters
    ----------
    real, generated : (n, dx + dy) rows [x, y] and [x, ŷ], or distributions of such pairs
    condition_dim : dx

    Examples
    --------
    >>> joint = nm.Gaussian([0, 0], [[1, 0.8], [0.8, 1]])
    >>> wrong = nm.Gaussian([0, 0], [[1, -0.8], [-0.8, 1]])
    >>> [round(score, 9) for score in nm.theory.conditional_order(joint, wrong)]
    [0.0, 1.6, 2.56]
    """
    count = check_count(condition_dim, "condition_dim")
    check_frames(real=real, generated=generated)
    first = Sample.of(real, "real", min_rows=2)
    second = Sample.of(generated, "generated", dim=first.dim, min_rows=2)
    scores = []
    for kind in (MFID, RFID, CFID):
        metric = kind(condition_dim=count)
        scores.append(
            metric.distance(*(metric.summarize(sample_if_needed(metric, s, 10_000, [0])) for s in (first, second)))
        )
    return ConditionalOrder(*scores)
