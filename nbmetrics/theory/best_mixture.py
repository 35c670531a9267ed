"""The best mixture of generators by KID-all: which shares of their samples to serve, and what it saves each client.

Twin: labs/dashboard/view/mixture_card.js · held by: tests/labs/dashboard/test_mixture_page.py

    KID-all(α) = E k(X, X′) + αᵀKα − 2αᵀc      K_jl = E k(Y_j, Y_l′),  c_j = E k(X, Y_j),  X from the pooled clients

E k(X, X′) is that of the "stratified" estimator, which has no bias whatever the clients' weights.

Flow: every party's rows in two halves → `evaluate`, which computes each block of the kernel once → the means of whole
samples and of halves, from the same blocks → the simplex.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..errors import InvalidInput, check_count, encodable, refusal_of, shown
from ..evaluation.evaluate import evaluate
from ..evaluation.scores import Scores
from ..federation import as_generators
from ..metrics import metric_of
from ..metrics.base import Sample
from ..metrics.kid.estimators import AllPairs
from ..metrics.kid.mean_tables import remember_means
from ..metrics.kid.metric import KID
from ..ranking import lowest
from ..summaries.kernel_mean import KernelMean, KernelPart
from .simplex import descend, is_convex

SIDES = (0, 1)


class Means(NamedTuple):
    """What KID-all of every mixture is made of; `between` is K, its diagonal without pairs of a row with itself.

    real : E k(X, X′), the same for all mixtures
    cross, between, full : c (m,), K (m, m), and K with the pairs of a row with itself, which has no negative curvature
    """

    real: float
    cross: np.ndarray
    between: np.ndarray
    full: np.ndarray

    def score(self, weights: np.ndarray) -> float:
        """KID-all of Σ α_j G_j."""
        return float(self.real + weights @ self.between @ weights - 2.0 * (weights @ self.cross))

    @property
    def apart(self) -> np.ndarray:
        """K_jj + K_ll − 2K_jl (m, m): KID between generators; Σ_{j<l} α_j α_l of it is what mixing takes off KID."""
        own = np.diag(self.between)
        return np.asarray(own[:, None] + own - 2.0 * self.between)

    def lowest(self) -> np.ndarray:
        """The weights of the lowest score that is found, not above that of any single generator.

        Where K, estimated without bias, curves downwards, the search for the lowest unbiased score starts from every
        single generator and from the minimum with `full`, which is convex.
        """
        singles = np.eye(len(self.cross))
        best = singles[lowest([self.score(single) for single in singles])]
        starts = [best] if is_convex(self.between) else [descend(self.full, self.cross, best), *singles]
        weights = min((descend(self.between, self.cross, start) for start in starts), key=self.score)
        return weights if self.score(weights) < self.score(best) else best


@dataclass(frozen=True, eq=False)
class BestMixture:
    """The mixture of generators of the lowest KID-all.

    Attributes
    ----------
    weights : name -> α, 0 or more, of sum 1
    score : its KID-all on the rows it was chosen on, which flatters it
    best_single, best_single_score : the generator of the lowest KID-all, and that score; `score` is never above it
    cross_fitted : KID-all of the mixture that is chosen on one half of all rows, on the other half, mean of both ways:
        what to expect of a choice from half as many rows. `score` where all distributions are exact; NaN where rows are
        too few
    clients : DataFrame client, mixture, best_single, saved: each client's KID from both, and best_single − mixture
    means : of the kernel: `means.score(α)` is KID-all of any mixture of the generators, in their order
    note : how `cross_fitted` was made, or why it is NaN
    """

    weights: dict[str, float]
    score: float
    best_single: str
    best_single_score: float
    cross_fitted: float
    clients: pd.DataFrame
    means: Means
    note: str

    def __repr__(self) -> str:
        served = ", ".join(f"{name}: {weight:.4g}" for name, weight in self.weights.items() if weight)
        lines = [
            f"BestMixture({served})",
            f"KID-all {self.score:.5g} on the rows it was chosen on",
            f"cross-fitted {self.cross_fitted:.5g} ({self.note})",
            f"best single generator: {self.best_single}, {self.best_single_score:.5g}",
        ]
        return encodable("\n".join(lines))


def best_mixture(
    federation: Any,
    generators: Any,
    metric: Any = "kid",
    *,
    samples: int | None = None,
    seed: int = 0,
    progress: str | bool = "auto",
) -> BestMixture:
    """The shares α of generators whose mixture Σ α_j G_j has the lowest KID-all (Rezaei et al. 2024).

    Parameters
    ----------
    federation, generators, samples, progress : as `evaluate` takes them
    metric : "kid", or `nm.metrics.KID(kernel)` of any kernel on all pairs of rows
    seed : of rows that are drawn, and of the halves

    Returns
    -------
    BestMixture: `weights`, `score`, `best_single`, `best_single_score`, `cross_fitted`, `clients`. Of rows each score
    is unbiased for weights fixed beforehand; chosen on the same rows it is too low, so read `cross_fitted`.

    Raises
    ------
    InvalidInput
        For another metric: KID-all alone is quadratic in α. Otherwise as `evaluate` does.

    Source: Rezaei, Farnia & Li, "Be More Diverse than the Most Diverse", 2024.

    Examples
    --------
    >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
    >>> best = nm.best_mixture(clients, {"left": nm.Gaussian([-1, 0]), "right": nm.Gaussian([1, 0])})
    >>> best.weights, round(best.score, 9), best.best_single
    ({'left': 0.5, 'right': 0.5}, 0.0, 'left')
    """
    halved = Halved(on_all_pairs(metric), check_count(seed, "seed", minimum=0))
    scores = evaluate(federation, as_generators(generators), halved, samples=samples, seed=seed, progress=progress)
    result = scores.result(halved.name)
    if refusal := refusal_of(*result.real, *result.generated):
        raise refusal
    return mixture_of(scores, halved.name)


def on_all_pairs(metric: Any) -> KID:
    kid = metric_of(metric, "metric")
    if not isinstance(kid, KID):
        seen = f"got {shown(metric)}, and {kid.label}-all is not quadratic in the weights of a mixture"
        raise InvalidInput("metric", seen, 'Give "kid", or nm.metrics.KID(kernel)')
    if not isinstance(kid.estimator, AllPairs):
        seen = f"{kid.label} is estimated by {kid.estimator}, and a mixture needs all pairs"
        raise InvalidInput("metric", seen, 'Give estimator="unbiased"')
    return kid


class Half(KernelPart):
    """One of the two halves of a sample's rows: `side` 0 or 1, with `share` of the rows."""

    side: int
    share: float


class Halved(KID):
    """A KID whose summaries keep the two halves of the rows apart; its scores are the same."""

    def __init__(self, metric: KID, seed: int) -> None:
        self.__dict__.update(metric.__dict__)
        self.metric, self.seed = metric, seed

    def resolve(self, clients: Sequence[Sample]) -> Halved:
        """The same of the resolved metric."""
        return Halved(self.metric.resolve(clients), self.seed)

    @property
    def convention(self) -> str:
        return self.metric.convention

    def caution(self, real: Any, generated: Any) -> str | None:
        """Of the metric itself."""
        return self.metric.caution(real, generated)

    def summarize(self, sample: Sample) -> Any:
        """The kernel mean of `sample`, of two parts where it is rows.

        The halves depend on the number of rows alone, so rows that belong together across parties stay so.
        """
        rows = sample.rows
        if rows is None or rows.shape[0] < 2:
            return self.estimator.summarize(sample)
        order = np.random.default_rng([self.seed, rows.shape[0]]).permutation(rows.shape[0])
        parts = []
        for side in SIDES:
            chosen = rows[np.sort(order[side::2])]
            part = Half(self.kernel, *self.kernel.content(Sample(rows=chosen)))
            part.side, part.share = side, chosen.shape[0] / rows.shape[0]
            parts.append(part)
        return KernelMean(tuple(parts), tuple(part.share for part in parts), (len(parts),))


def mixture_of(scores: Scores, metric: str) -> BestMixture:
    """The best mixture by a KID that `scores` has; cross-fitted where it is `Halved`."""
    result = scores.result(metric)
    generated = dict(zip(scores.generators, result.generated, strict=True))
    return mixture_from(on_all_pairs(result.metric), generated, scores.names, result.real, scores.weights)


def mixture_from(
    kid: KID,
    generated_means: dict[str, KernelMean],
    clients: Sequence[str],
    real: Sequence[KernelMean],
    weights: Sequence[float],
) -> BestMixture:
    """The same from the kernel means of generators, by name, and of clients, under some weights of the clients."""
    names, generated = list(generated_means), list(generated_means.values())
    _remember(kid.kernel, generated)
    pooled: KernelMean = KernelMean.pool(real, weights)
    own = pooled.stratified if kid.estimator.unbiased else pooled.self_mean(unbiased=False)
    means = _means(kid, own, pooled, generated)
    alpha = means.lowest()
    singles = np.array([means.score(single) for single in np.eye(len(names))])
    best = lowest(singles)
    fitted, note = _cross_fit(kid, means, alpha, pooled, generated_means)
    return BestMixture(
        dict(zip(names, alpha.tolist(), strict=True)),
        means.score(alpha),
        names[best],
        float(singles[best]),
        fitted,
        _by_client(kid, clients, real, generated, means, alpha, best),
        means,
        note,
    )


def blocks(kid: KID, generated: Sequence[KernelMean]) -> Iterator[tuple[int, int]]:
    """Compute the means of the kernel that take long, which `mixture_from` then finds; yields how many of how many."""
    _remember(kid.kernel, generated)
    total = len(generated) * (len(generated) - 1) // 2
    for done, (first, second) in enumerate(combinations(generated, 2)):
        yield done, total
        first.mean_with(second)


def _remember(kernel: Any, generated: Sequence[KernelMean]) -> None:
    """The means of all generators with one another at once, where embeddings make that cheaper than pairs of rows."""
    parts = [part for mean in generated for part in mean.parts]
    if kernel.should_embed(parts, parts):
        remember_means(kernel, parts, parts)


def _means(kid: KID, real: float, pooled: KernelMean, generated: Sequence[KernelMean]) -> Means:
    cross = np.array([pooled.mean_with(g) for g in generated])
    full = np.diag([g.self_mean(unbiased=False) for g in generated])
    for i, g in enumerate(generated):
        for j in range(i):
            full[i, j] = full[j, i] = g.mean_with(generated[j])
    between = full.copy()
    np.fill_diagonal(between, [g.self_mean(unbiased=kid.estimator.unbiased) for g in generated])
    return Means(real, cross, between, full)


def _by_client(
    kid: KID,
    names: Sequence[str],
    real: Sequence[KernelMean],
    generated: Sequence[KernelMean],
    means: Means,
    weights: np.ndarray,
    best: int,
) -> pd.DataFrame:
    """What the mixture and the best single generator score with each client."""
    singles = singles_by_client(kid, real, generated, means)
    single = singles[:, best]
    mixed = singles @ weights - weights @ means.apart @ weights / 2.0
    return pd.DataFrame({"client": names, "mixture": mixed, "best_single": single, "saved": single - mixed})


def singles_by_client(
    kid: KID, real: Sequence[KernelMean], generated: Sequence[KernelMean], means: Means
) -> np.ndarray:
    """(k, m): KID of each client with each generator alone."""
    own = np.array([mean.self_mean(unbiased=kid.estimator.unbiased) for mean in real])
    cross = np.array([[mean.mean_with(g) for g in generated] for mean in real])
    return own[:, None] + np.diag(means.between) - 2.0 * cross


def _cross_fit(
    kid: KID, means: Means, weights: np.ndarray, pooled: KernelMean, generated: dict[str, KernelMean]
) -> tuple[float, str]:
    """KID-all on one half of the weights chosen on the other, mean of both ways; and how it was made.

    The term of the clients alone has no choice in it, and is that of all rows.
    """
    everyone = [part for mean in (pooled, *generated.values()) for part in mean.parts]
    if all(part.count == math.inf for part in everyone):
        return means.score(weights), "all distributions are exact: there is nothing to cross-fit"
    if not any(isinstance(part, Half) for part in everyone):
        return math.nan, "the rows were not scored in halves: see nm.best_mixture"
    for name, mean in generated.items():
        if kid.estimator.unbiased and min(_of_side(mean, side).pairs for side in SIDES) <= 0.0:
            return math.nan, f"generator {name!r} has too few rows: each half needs 2"
    both = [
        _means(kid, means.real, _of_side(pooled, side), [_of_side(mean, side) for mean in generated.values()])
        for side in SIDES
    ]
    chosen = [half.lowest() for half in both]
    score = (both[0].score(chosen[1]) + both[1].score(chosen[0])) / 2.0
    return score, "chosen on one half of the rows, scored on the other, mean of both ways"


def _of_side(mean: KernelMean, side: int) -> KernelMean:
    """The kernel mean of one half of the rows; exact distributions are in both."""
    kept = [
        (part, w / part.share if isinstance(part, Half) else w)
        for part, w in zip(mean.parts, mean.weights, strict=True)
        if not isinstance(part, Half) or part.side == side
    ]
    return KernelMean(*map(tuple, zip(*kept, strict=True)))
