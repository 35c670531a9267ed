"""Models that were trained several times: means over runs, how far runs differ, and whether models differ by more.

The runs of all models are scored on the same real rows, so what these rows add by chance to all scores alike cancels in
the difference of two models. What does not cancel is taken from the influence values of the rows, where there are
intervals; without them a comparison is one on these real rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ..errors import InvalidInput, check_choice
from ..ranking import all_lowest, places, same_scores
from .cells import Cells
from .noise import LEVEL
from .run_statistics import ErrorPart, holm, mean_and_spread, p_of_labels, p_value, reach, smallest_p
from .scores_protocol import ScoresProtocol
from .winners import Winners, winners_of

if TYPE_CHECKING:
    import pandas as pd

# A difference of the mean of 1/rows between two models from which a biased score is not compared.
MAX_ROW_DIFFERENCE = 0.01
ON_THESE_ROWS = "on these real rows"


@runtime_checkable
class ReadsModels(Protocol):
    """Cells that were saved, with what the clients' rows add to the error of the models' means."""

    real_parts: Mapping[str, Sequence[ErrorPart]]
    level: float


class Model(NamedTuple):
    """A model: its name, and the positions of its runs among the generators."""

    name: str
    runs: tuple[int, ...]


class RunScores(NamedTuple):
    """The scores of all runs by one aggregate, (generators,), that decide: corrected for few rows where all are.

    `losses` : what is compared, lower is better
    """

    scores: np.ndarray
    losses: np.ndarray


def models_of(names: Sequence[str], groups: Sequence[str | None]) -> list[Model]:
    """Return the models in the order of their first runs; a generator without group is a model of one run."""
    runs: dict[str, list[int]] = {}
    for g, (name, group) in enumerate(zip(names, groups, strict=True)):
        runs.setdefault(name if group is None else group, []).append(g)
    return [Model(name, tuple(own)) for name, own in runs.items()]


def has_runs(scores: ScoresProtocol) -> bool:
    """Whether some model has several runs."""
    return any(group is not None for group in scores.groups) and len(set(_names(scores))) < len(scores.generators)


def _names(scores: ScoresProtocol) -> list[str]:
    return [name if group is None else group for name, group in zip(scores.generators, scores.groups, strict=True)]


def run_scores(cells: Cells) -> dict[str, RunScores]:
    """Return by aggregate the scores of all runs."""
    winners, ends = winners_of(cells), cells.intervals()
    plain = {part: np.asarray(getattr(cells, part)) for part in cells.aggregates}
    scores = {part: ends[f"{part}_corrected"] for part in plain} if winners.is_corrected and ends else plain
    return {part: RunScores(own, cells.losses(own)) for part, own in scores.items()}


def model_winners(scores: ScoresProtocol, metric: str) -> Winners:
    """Return which models are best by the means over their runs; positions are those of `models_of`."""
    cells, models = scores.result(metric), models_of(scores.generators, scores.groups)
    of_runs = winners_of(cells)
    means = {
        part: np.array([mean_and_spread(own.losses[list(model.runs)].tolist())[0] for model in models])
        for part, own in run_scores(cells).items()
    }
    is_left_out = np.array([of_runs.is_left_out[list(model.runs)].any() for model in models])
    best = {part: all_lowest(np.where(is_left_out, np.nan, own)) for part, own in means.items()}
    return Winners(means, best, of_runs.is_corrected, is_left_out)


def contrasts_of(models: Sequence[Model], generators: int) -> np.ndarray:
    """Return the mean of each model, then the difference of each pair of means, as weights of the runs, (K, runs)."""
    means = np.zeros((len(models), generators))
    for row, model in zip(means, models, strict=True):
        row[list(model.runs)] = 1.0 / len(model.runs)
    pairs = [means[i] - means[j] for i, j in itertools.combinations(range(len(models)), 2)]
    return np.array([*means, *pairs])


def real_parts(scores: ScoresProtocol, cells: Cells, part: str) -> list[ErrorPart]:
    """Return what the clients' rows add to the error of each of `contrasts_of`; NaN where that is not known."""
    contrasts = contrasts_of(models_of(scores.generators, scores.groups), len(scores.generators))
    if isinstance(cells, ReadsModels):
        return list(cells.real_parts.get(part, [ErrorPart(math.nan, math.inf)] * len(contrasts)))
    if cells.clients and not cells.sent and all(client.distribution is not None for client in cells.clients):
        return [ErrorPart(0.0, math.inf)] * len(contrasts)
    if cells.noise is None or cells.metric.best is not None:  # a distance from the best is not linear in the rows
        return [ErrorPart(math.nan, math.inf)] * len(contrasts)
    try:
        variances, freedom = cells.noise.real_part(scores.weights, part, contrasts)
    except InvalidInput:
        return [ErrorPart(math.nan, math.inf)] * len(contrasts)
    return [ErrorPart(float(variance), freedom) for variance in variances]


def models_frame(scores: ScoresProtocol, metric: str) -> pd.DataFrame:
    """See `Scores.models`."""
    import pandas as pd

    cells, models = scores.result(metric), models_of(scores.generators, scores.groups)
    level, winners = level_of(cells), model_winners(scores, metric)
    columns: dict[str, object] = {"model": [m.name for m in models], "runs": [len(m.runs) for m in models]}
    for part, own in run_scores(cells).items():
        real = real_parts(scores, cells, part)
        rows = []
        for model, shared in zip(models, real, strict=False):
            mean, spread = mean_and_spread(own.scores[list(model.runs)].tolist())
            away = reach([_part_of_runs(spread, len(model.runs)), *_known(shared)], level)
            rows.append((mean, spread, *_within_edges(cells, mean - away, mean + away)))
        ends = zip(("", "_sd", "_low", "_high"), zip(*rows, strict=True), strict=True)
        columns |= {f"{part}{end}": values for end, values in ends}
        columns[f"{part}_rank"] = places(winners.losses[part])
    columns["note"] = [doubt_of_model(scores, cells, model, cells.aggregates) for model in models]
    return pd.DataFrame(columns)


def _within_edges(cells: Cells, *ends: float) -> tuple[float, ...]:
    """No score lies beyond the edges of a metric."""
    return tuple(float(np.clip(end, cells.metric.lowest, cells.metric.highest)) for end in ends)


def _part_of_runs(spread: float, runs: int) -> ErrorPart:
    return ErrorPart(spread * spread / runs, max(runs - 1, 1))


def _known(part: ErrorPart) -> list[ErrorPart]:
    return [] if math.isnan(part.variance) else [part]


def level_of(cells: Cells) -> float:
    """Return the level of the intervals."""
    if isinstance(cells, ReadsModels):
        return cells.level
    return LEVEL if cells.noise is None else cells.noise.level


class Comparison(NamedTuple):
    """Two models by one aggregate: the difference of their means, its interval and p-value, or why there is none.

    Attributes
    ----------
    difference : first − second; of their distances from the best score where a metric has one
    smallest_p : below which no p-value of so many runs goes
    note : why there is no p-value, or what it leaves out
    """

    first: Model
    second: Model
    difference: float
    low: float
    high: float
    p: float
    smallest_p: float
    note: str


def comparisons(scores: ScoresProtocol, metric: str, by: str) -> list[Comparison]:
    """Return the comparison of each pair of models."""
    cells, models = scores.result(metric), models_of(scores.generators, scores.groups)
    own = run_scores(cells)[by]
    doubts = {model: doubt_of_model(scores, cells, model, [by]) for model in models}
    values = own.scores if cells.metric.best is None else own.losses
    pairs = itertools.combinations(models, 2)
    real = real_parts(scores, cells, by)[len(models) :]
    return [
        _comparison(cells, pair, values, shared, doubts[pair[0]] or doubts[pair[1]] or _row_bias(scores, cells, pair))
        for pair, shared in zip(pairs, real, strict=True)
    ]


def _comparison(
    cells: Cells, pair: tuple[Model, Model], values: np.ndarray, shared: ErrorPart, doubt: str
) -> Comparison:
    """`doubt` : why there is no test, or nothing"""
    (first, spread), (second, other) = (mean_and_spread(values[list(model.runs)].tolist()) for model in pair)
    counts = [len(model.runs) for model in pair]
    difference, floor = 0.0 if same_scores(first, second) else first - second, smallest_p(*counts)
    if doubt:
        return Comparison(*pair, difference, math.nan, math.nan, math.nan, floor, doubt)
    parts = [_part_of_runs(s, n) for s, n in zip((spread, other), counts, strict=True)]
    parts += _known(shared)
    own = [values[list(model.runs)].tolist() for model in pair]
    away, p = reach(parts, level_of(cells)), max(p_value(difference, parts), p_of_labels(*own))
    note = ON_THESE_ROWS if math.isnan(shared.variance) else ""
    return Comparison(*pair, difference, difference - away, difference + away, p, floor, note)


def doubt_of_model(scores: ScoresProtocol, cells: Cells, model: Model, parts: Sequence[str]) -> str:
    """Return why the runs of a model do not say how far its runs differ by these aggregates, "" where they do."""
    if len(model.runs) < 2:
        return f"{model.name} has one run, which does not say how far its runs differ"
    names = [scores.generators[g] for g in model.runs]
    by_part = run_scores(cells)
    for part in parts:
        own = by_part[part].scores
        if unscored := [n for n, g in zip(names, model.runs, strict=True) if not math.isfinite(own[g])]:
            return f"{unscored[0]} has no {part}"
    if any(winners_of(cells).is_left_out[list(model.runs)]):
        return f"a run of {model.name} lies below 0 by more than chance, see the caution"
    every = np.column_stack([cells.by_client, cells.own, cells.all])
    for i, j in itertools.combinations(range(len(names)), 2):
        one, other = every[model.runs[i]], every[model.runs[j]]
        if np.all(same_scores(one, other) | (np.isnan(one) & np.isnan(other))):
            return f"{names[i]} and {names[j]} have the same scores: is it one run given twice?"
    return ""


def _row_bias(scores: ScoresProtocol, cells: Cells, pair: tuple[Model, Model]) -> str:
    """Return why two models of other numbers of rows are not compared by plain scores, "" where they are."""
    if cells.metric.is_unbiased or _is_corrected(cells):
        return ""
    counted = dict(scores.provenance.get("generator_rows") or {})
    rows = [[counted.get(scores.generators[g]) or 0 for g in model.runs] for model in pair]
    if not all(count > 0 for own in rows for count in own):  # a distribution, or not known
        return ""
    first, second = (math.fsum(1.0 / count for count in own) / len(own) for own in rows)
    if abs(first - second) <= MAX_ROW_DIFFERENCE * max(first, second):
        return ""
    few, many = (f"{min(own):,}" + f" to {max(own):,}" * (min(own) < max(own)) for own in rows)
    seen = f"{pair[0].name} has runs of {few} rows and {pair[1].name} of {many}, and fewer rows move {cells.label}"
    return f"{seen}: give all as many" + ", or uncertainty=nm.Influence()" * cells.metric.has_influence_values


def _is_corrected(cells: Cells) -> bool:
    """Whether the scores that decide are others than the plain ones, as the bias of few rows is taken off."""
    return any(
        not np.array_equal(own.scores, np.asarray(getattr(cells, part)), equal_nan=True)
        for part, own in run_scores(cells).items()
    )


def comparison_frame(scores: ScoresProtocol, metric: str, by: str) -> pd.DataFrame:
    """See `Scores.compare_models`."""
    import pandas as pd

    check_choice(by, scores.result(metric).aggregates, "by")
    pairs = comparisons(scores, metric, by)
    adjusted = holm([pair.p for pair in pairs])
    rows = [
        (c.first.name, c.second.name, c.difference, c.low, c.high, c.p, float(p), c.smallest_p, c.note)
        for c, p in zip(pairs, adjusted, strict=True)
    ]
    columns = ["model", "other", "difference", "low", "high", "p", "p_holm", "smallest_p", "note"]
    return pd.DataFrame(rows, columns=columns)


def comparison_count(scores: ScoresProtocol, items: int) -> int:
    """Return how many comparisons of so many models or generators a table holds, over its metrics and aggregates."""
    return math.comb(items, 2) * sum(len(scores.result(metric).aggregates) for metric in scores.metrics)


def tested_count(scores: ScoresProtocol) -> int:
    """Return how many comparisons of models have a p-value, over the metrics and aggregates of a table."""
    parts = ((metric, part) for metric in scores.metrics for part in scores.result(metric).aggregates)
    return sum(not math.isnan(pair.p) for metric, part in parts for pair in comparisons(scores, metric, part))


def lines_of_means(scores: ScoresProtocol, metric: str) -> list[str]:
    """Return how the means over runs were made."""
    cells = scores.result(metric)
    if not has_runs(scores):
        return [f"{_kind(cells)}: no model has several runs, so no mean has an interval"]
    is_real_part_known = not math.isnan(real_parts(scores, cells, "all")[0].variance)
    alone = "for these real rows alone, as these scores have no uncertainty"
    of = "for these real rows and others" if is_real_part_known else alone
    return [f"{_kind(cells)}: means over runs; {level_of(cells):.0%} intervals, {of}; runs are taken for normal"]


def lines_of_comparison(scores: ScoresProtocol, metric: str) -> list[str]:
    """Return how models are compared, and how many comparisons are made."""
    if not has_runs(scores):
        return [f"{_kind(scores.result(metric))}: no model has several runs, so no two are compared"]
    cells, count = scores.result(metric), len(models_of(scores.generators, scores.groups))
    pairs, every = math.comb(count, 2), tested_count(scores)
    test = (
        f"{_kind(cells)}: means over runs; {level_of(cells):.0%} intervals and two-sided p by Student's t of each "
        "model's runs (Banerjee 1960), p not below the one-sided one of a permutation of the runs' labels"
    )
    return [test, f"{_many(pairs, 'comparison')} here (p_holm is for these), {_expected(every)}"]


def _expected(every: int) -> str:
    """How many comparisons stand behind a whole table, and what p-value chance alone gives then."""
    if every < 2:
        return "and no other in this table"
    least = f"the smallest of {every:,} independent p-values is {1.0 / (every + 1):.2g} on average"
    return f"{every:,} in the whole table, over its metrics and aggregates: were no two models different, {least}"


def count_of_flips(scores: ScoresProtocol, metric: str) -> str:
    """Return how many pairs of generators are compared here and in the whole table, for their one-sided p-values."""
    count = len(scores.generators)
    pairs, every = math.comb(count, 2) * len(scores.result(metric).aggregates), comparison_count(scores, count)
    least = f"the smallest of {every:,} independent ones would be {0.5 / (every + 1):.2g} on average"
    return (
        f"{_many(pairs, 'one-sided p-value')} here, {every:,} in the whole table, over its metrics and aggregates: "
        f"were no two generators different, {least}"
    )


def _kind(cells: Cells) -> str:
    return f"{cells.label}, corrected for few rows" if _is_corrected(cells) else f"plain {cells.label}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
