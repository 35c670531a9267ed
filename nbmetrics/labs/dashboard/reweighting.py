"""Scores of the clients pooled with other weights than those of a table, one generator at a time; nothing is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...errors import refusal_of
from ...evaluation.cells import Cell, Cells, mixture_or_refusal, pool_or_refusal
from ...evaluation.influence import Influences, influence_values_of, mixture_strata
from ...metrics.base import terms_of


def scores_under(cells: Cells, weights: Sequence[float], *, plain: bool = False) -> Callable[[int], float]:
    """Return what gives the score of the pooled clients with a generator, by position, under the weights λ.

    It is the score of decisions: without the bias of few rows where influence values know it, else, or where `plain`,
    as it is; NaN where the metric refuses the pair.
    """
    metric, source = cells.metric, None if cells.noise is None else cells.noise.source
    places = [] if cells.noise is None else cells.noise.places
    together = pool_or_refusal(metric, cells.real, weights)
    strata = None
    if not plain and isinstance(source, Influences) and not refusal_of(together):
        strata = metric.pool_strata(source.real, weights)

    def score(g: int) -> float:
        answers = cells.answers[g]
        mixture = mixture_or_refusal if any(cells.is_by_client) and cells.is_by_client[g] else pool_or_refusal
        summary = cells.generated[g] if answers is None else mixture(metric, answers, weights)
        value = math.nan
        if strata is not None and isinstance(source, Influences) and g in places:
            generated = mixture_strata(metric, source.generated[places.index(g)], weights)
            value = influence_values_of(metric, strata, generated).value
        if math.isnan(value):
            value = Cell.of(terms_of(metric, together, summary)).value
        if not refusal_of(summary):
            metric.release_cache(summary)
        return value

    return score


def are_corrected(cells: Cells) -> bool:
    """Whether influence values can take the bias of few rows off, under any weights."""
    return cells.noise is not None and isinstance(cells.noise.source, Influences)
