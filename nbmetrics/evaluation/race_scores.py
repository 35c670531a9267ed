"""The scores of samplers in a race: clients as given, so that only what was drawn varies, and how far two lie apart.

A client's rows are an exact distribution here: FID is corrected for the number of drawn rows alone, and the variance
of a score is that of the influence values of the drawn rows. Samplers are drawn independently, so the variance of a
difference is the sum of two.

The worst score is a maximum over clients, which has no influence values where two clients tie. With bounds
L_ij ≤ A_i − B_j ≤ U_ij that hold at once, min_j max_i L_ij ≤ max A − max B ≤ max_i min_j U_ij.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, refusal_of
from ..federation import Federation
from ..metrics import Metric, Sample
from ..metrics.fid.infinity import FIDInfinity
from ..metrics.fid.metric import FID
from ..metrics.kid.metric import KID
from ..metrics.stratified import InfluenceValues, Strata
from ..ranking import same_scores
from ..summaries.moments import Moments
from .compute import Evaluation
from .influence import Variance, influence_values_of

AGGREGATES = ("avg", "all", "worst", "intra")


class Bounds(NamedTuple):
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SamplerScore:
    """What the rows of one sampler score: (T,) targets, of which the highest is the score, and their variances.

    `caution` says why an interval is missing or doubtful.
    """

    values: np.ndarray
    variance: Variance
    caution: str = ""

    def interval(self, level: float) -> Bounds:
        """The score, and an interval of the noise of its draws."""
        reach = self.variance.reach(_shared(level, len(self.values)))
        ends = np.stack([self.values, self.values - reach, self.values + reach])
        return Bounds(*(float(end) for end in ends.max(axis=1)))  # NaN wins

    def minus(self, other: SamplerScore, level: float) -> Bounds:
        """How much higher this score is than that of another sampler; NaN where either has no interval."""
        variance = Variance.of_differences(self.variance, other.variance)
        reach = variance.reach(_shared(level, variance.root.size))
        is_same = same_scores(self.values[:, None], other.values)
        apart = np.where(is_same, 0.0, self.values[:, None] - other.values)
        low, high = apart - reach, apart + reach
        return Bounds(
            float(self.values.max() - other.values.max()), float(low.max(axis=0).min()), float(high.min(axis=1).max())
        )


def _shared(level: float, count: int) -> float:
    """The level of each of several intervals that hold at once with `level`."""
    return 1.0 - (1.0 - level) / count


class GivenClients:
    """The clients of a race, summarized once, and the scores of samplers with them.

    `by` : avg, all, worst, or intra, where a sampler has rows for each client of `names`
    """

    def __init__(self, federation: Federation, metric: Metric[Any], by: str, seed: int) -> None:
        evaluation = Evaluation(federation, metric, seed=seed, progress=False)
        (state,) = evaluation.states.values()
        self.metric, self.by, self.weights = state.metric, by, evaluation.weights
        self.label = f"{self.metric.label}-{by}"
        evaluation.summarize_clients(self.metric.name)
        counted = [i for i, weight in enumerate(self.weights) if weight]
        self.names = tuple(evaluation.names[i] for i in counted)
        self.shares: tuple[float, ...] = (1.0,)
        if by == "all":
            summaries = [state.together(self.weights)]
        else:
            summaries = [state.summaries[i] for i in counted]
            self.shares = tuple(self.weights[i] for i in counted)
        if refusal := refusal_of(state.refusal, *summaries):
            raise refusal
        self.real = [Strata.of(_as_given(summary), None) for summary in summaries]

    def score(self, parts: Sequence[np.ndarray]) -> SamplerScore:
        """Score the rows of one sampler: one array for all clients, or one for each."""
        strata = [self.metric.strata(self.metric.summarize(Sample(rows=rows)), rows) for rows in parts]
        each = strata if self.by == "intra" else strata * len(self.real)
        pairs = zip(self.real, each, strict=True)
        influence_values = [influence_values_of(self.metric, real, generated) for real, generated in pairs]
        caution = next((values.caution for values in influence_values if values.caution), "")
        if self.by == "worst":
            variance = Variance.none(len(self.real))
            variance.add(np.stack([_generated(values) for values in influence_values]))
            return SamplerScore(np.array([values.value for values in influence_values]), variance, caution)
        value = sum(share * values.value for share, values in zip(self.shares, influence_values, strict=True))
        variance = Variance.none(1)
        shared = zip(self.shares, influence_values, strict=True)
        if self.by == "intra":
            for share, values in shared:
                variance.add(_generated(values), share)
        else:
            variance.add(sum(share * _generated(values) for share, values in shared))
        return SamplerScore(np.array([value]), variance, caution)


def _generated(influence_values: InfluenceValues) -> Any:
    """The influence values of the rows that were drawn."""
    return influence_values.generated[0]


def _as_given(summary: Any) -> Any:
    """A summary of rows as that of the distribution that has no more rows than these."""
    return replace(summary, count=np.inf) if isinstance(summary, Moments) else summary


def check_metric(metric: Metric[Any]) -> Metric[Any]:
    """Refuse metrics without influence values of drawn rows."""
    fix = 'Give "fid" or "kid"'
    if isinstance(metric, FIDInfinity):
        seen = f"{metric.label} corrects for the clients' own few rows, and a race takes these as they are"
        raise InvalidInput("metric", seen, 'Give "fid", which a race corrects for the number of draws')
    if not isinstance(metric, (FID, KID)) or not metric.has_influence_values:
        seen = f"{metric.label} has no influence values, which the intervals of a race are made of"
        raise InvalidInput("metric", seen, fix)
    return metric
