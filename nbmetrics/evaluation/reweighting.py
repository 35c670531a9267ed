"""Scores of the clients pooled with other weights than those of a result, one generator at a time; nothing is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..errors import refusal_of
from ..metrics.base import terms_of
from .influence import Influences, pulls_of
from .result import Result, pooled_or_refused, value_of
from .standing import Standing


def scores_elsewhere(result: Result, weights: Sequence[float], *, plain: bool = False) -> Callable[[int], float]:
    """What gives the score of the pooled clients with a generator, by position, under the weights λ.

    It is the score of decisions: without the bias of few rows where influence values know it, else, or where `plain`,
    as it is; NaN where the metric refuses the pair.
    """
    metric, standing = result.metric, _standing(result)
    together = pooled_or_refused(metric, result.real, weights)
    influences, places = standing.replicas, standing.places
    strata = None
    if not plain and isinstance(influences, Influences) and not refusal_of(together):
        strata = metric.pool_strata(influences.real, weights)

    def score(g: int) -> float:
        answers = result.answers[g]
        summary = result.generated[g] if answers is None else pooled_or_refused(metric, answers, weights)
        found = math.nan
        if strata is not None and isinstance(influences, Influences) and g in places:
            found = pulls_of(metric, strata, influences.generated[places.index(g)]).value
        if math.isnan(found):
            found = value_of(terms_of(metric, together, summary))
        if not refusal_of(summary):
            metric.release_cache(summary)
        return found

    return score


def are_corrected(result: Result) -> bool:
    """Whether influence values can take the bias of few rows off, under any weights."""
    return isinstance(_standing(result).replicas, Influences)


def _standing(result: Result) -> Standing:
    found = result.replicas
    return found if isinstance(found, Standing) else Standing(found, [None] * len(result.generated))
