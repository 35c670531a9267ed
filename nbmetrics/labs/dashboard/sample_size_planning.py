"""The variance of the difference of the two leading generators by source of rows, from which the page plans more rows.

    settle: {"pair": [leader, rival], "variances": [k + 2], "sizes": [k + 2]} or {"why": reason}

Var(A − B) is a sum over sources of rows: each client, and each of the two generators. A source's part goes down as
1/n; the page computes the p-value to expect from it (view/sample_size_planning.js).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...evaluation.noise import Noise
from ...ranking import lowest, order
from .json_numbers import json_number
from .metric_view import WeightedScores, counted_weights
from .place_ranges import standard_errors_apart

NO_SOURCES = "only uncertainty=nm.Influence() shows which rows the noise comes from"
ONE_GENERATOR = "there is one generator"


def variance_by_source(
    real_draws: np.ndarray, generated_draws: np.ndarray, weights: np.ndarray, a: int, b: int
) -> np.ndarray:
    """Return Var(avg of a − avg of b) by source, (k + 2,): each client's rows, the rows of a, and those of b.

    Draws are (B, G, k), of the noise that comes from the clients' rows and from the generated ones.
    """
    counted = weights > 0
    real = np.zeros(len(weights))
    real[counted] = ((real_draws[:, a] - real_draws[:, b])[:, counted] * weights[counted]).var(axis=0)
    generated = [(generated_draws[:, g][:, counted] @ weights[counted]).var() for g in (a, b)]
    return np.array([*real, *generated])


def leading_pair(scores: WeightedScores) -> tuple[int, int] | None:
    """Return the winner by avg and its closest rival in standard errors, by position; None where it is not known."""
    losses, draws = scores.avg_centres, scores.avg_draws
    placed = [int(g) for g in order(losses) if not np.isnan(losses[g])]
    sure = [] if draws is None else [g for g in placed if not np.isnan(draws[:, g]).any()]
    if len(sure) < 2 or sure[0] != placed[0]:
        return None
    away = [standard_errors_apart(losses, draws, sure[0], g) for g in sure[1:]]
    return sure[0], sure[1:][lowest(np.nan_to_num(away, nan=np.inf))]


class NoiseBySource(NamedTuple):
    """The noise of all generators' scores, and the rows of each client and of each generator, 0 for a distribution."""

    noise: Noise
    clients: Sequence[int]
    generators: Sequence[int]


def plan_sample_size(
    names: Sequence[str],
    scores: WeightedScores,
    split: NoiseBySource | None,
    chosen: Sequence[int],
    weights: np.ndarray,
) -> dict[str, Any]:
    """Return the variance of the difference of the two leaders by source of rows, as the page needs it.

    Parameters
    ----------
    names, chosen : of the generators that `weighted_scores` is of, and their positions in `split`
    weights : λ of all clients
    """
    if len(names) < 2:
        return {"why": ONE_GENERATOR}
    pair, deciding = leading_pair(scores), counted_weights(weights, scores.metric_view.counts)
    if pair is None or deciding is None or split is None:
        return {"why": scores.metric_view.why or "it is not computed yet"}
    generated = split.noise.generated
    if generated is None:
        return {"why": NO_SOURCES}
    which = [chosen[g] for g in pair]
    generated_noise, total_noise = generated[:, which], split.noise.by_client[:, which]
    variances = variance_by_source(total_noise - generated_noise, generated_noise, deciding, 0, 1)
    sizes = [*split.clients, *(split.generators[g] for g in which)]
    return {
        "pair": [names[g] for g in pair],
        "variances": [json_number(v) for v in variances],
        "sizes": [int(size) for size in sizes],
    }
