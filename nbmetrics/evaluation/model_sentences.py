"""What scores say in words of models that were trained several times: means, spreads, and which models differ."""

from __future__ import annotations

import math

from ..ranking import figure
from .models import (
    Comparison,
    Model,
    comparisons,
    has_runs,
    model_winners,
    models_of,
    run_scores,
    tested_count,
)
from .run_statistics import holm, mean_and_spread
from .scores_protocol import ScoresProtocol
from .winners import AGGREGATES

# Models differ where the p-value, adjusted for the pairs of one metric and aggregate, is at most this.
ALPHA = 0.05
MAX_NAMED = 6


def model_lines(scores: ScoresProtocol) -> list[str]:
    """Return the means over runs, the verdict by each aggregate, and how many comparisons that is; [] without runs."""
    if not has_runs(scores):
        return []
    models = models_of(scores.generators, scores.groups)
    lines = []
    for metric in scores.metrics:
        lines += [_means(scores, metric, part, models) for part in scores.result(metric).aggregates]
        if len(models) > 1:
            lines += [_verdict(scores, metric, part) for part in scores.result(metric).aggregates]
    count = tested_count(scores)
    if count > 1:
        least = f"the smallest of {count:,} independent p-values would be {1.0 / (count + 1):.2g} on average"
        lines.append(f"{count:,} comparisons of models are made here: were no two models different, {least}.")
    return lines


def model_verdict(scores: ScoresProtocol, metric: str) -> str:
    """Return which models differ by more than their runs do, by each aggregate; "" without runs of two models."""
    if not has_runs(scores) or len(models_of(scores.generators, scores.groups)) < 2:
        return ""
    return " ".join(_verdict(scores, metric, part) for part in scores.result(metric).aggregates)


def _label(scores: ScoresProtocol, metric: str, part: str) -> str:
    label = scores.label(metric) if model_winners(scores, metric).is_corrected else scores.plain_label(metric)
    return f"{label}-{part}"


def _means(scores: ScoresProtocol, metric: str, part: str, models: list[Model]) -> str:
    """The mean of each model, and the standard deviation of its runs."""
    values, texts = run_scores(scores.result(metric))[part].scores, []
    for model in models[:MAX_NAMED]:
        mean, spread = mean_and_spread(values[list(model.runs)].tolist())
        runs = f"{len(model.runs)} run{'s' * (len(model.runs) != 1)}"
        beside = "" if math.isnan(spread) else f", sd {figure(spread, 2)}"
        is_below = (
            scores.result(metric).metric.is_distance and mean < 0.0
        )  # which no distance is, but an estimate may be
        texts.append(f"{model.name} {'about 0' if is_below else figure(mean, 4)} ({runs}{beside})")
    more = f", and {len(models) - MAX_NAMED} more" * (len(models) > MAX_NAMED)
    return f"{_label(scores, metric, part)}, means over runs: {', '.join(texts)}{more}."


def _verdict(scores: ScoresProtocol, metric: str, part: str) -> str:
    """Which models differ by more than their runs do."""
    pairs = comparisons(scores, metric, part)
    adjusted = holm([pair.p for pair in pairs])
    tested = [(pair, float(p)) for pair, p in zip(pairs, adjusted, strict=True) if not math.isnan(p)]
    label = _label(scores, metric, part)
    if not tested:
        note = pairs[0].note
        return f"{label}: no test of the models, as {note}{'.' * (not note.endswith('?'))}"
    apart = [_told_apart(scores, metric, pair, p, len(tested)) for pair, p in tested if p <= ALPHA]
    if not apart:
        of = f" ({_p_text(tested[0][0])})" if len(tested) == 1 else f" (p adjusted for {len(tested)} pairs)"
        sentence = f"no model is shown to be better than another{of}{_more_runs(tested)}"
    else:
        more = f", and {len(apart) - MAX_NAMED} more pairs" * (len(apart) > MAX_NAMED)
        others = len(tested) - len(apart)
        rest = f"; not shown of {others} other pair{'s' * (others != 1)}" * (others > 0)
        sentence = f"{'; '.join(apart[:MAX_NAMED])}{more}: by more than their runs differ{rest}"
    untested = len(pairs) - len(tested)
    left = f"; {untested} pair{'s' * (untested != 1)} not tested" * (untested > 0)
    return f"{label}{_scope(tested)}: {sentence}{left}."


def _told_apart(scores: ScoresProtocol, metric: str, pair: Comparison, adjusted: float, count: int) -> str:
    """Who is better, and how sure that is."""
    metric_itself = scores.result(metric).metric
    is_first_lower = pair.difference < 0.0
    is_lower_better = metric_itself.best is not None or not metric_itself.higher_is_better
    better, worse = (pair.first, pair.second) if is_first_lower == is_lower_better else (pair.second, pair.first)
    p = _p_text(pair) if count == 1 else f"{_p_text(pair)}, {adjusted:.2g} adjusted for {count} pairs"
    return f"{better.name} is better than {worse.name} ({p})"


def _p_text(pair: Comparison) -> str:
    return f"p {'≤' if pair.p <= pair.smallest_p else '='} {pair.p:.2g}"


def _more_runs(tested: list[tuple[Comparison, float]]) -> str:
    """That so few runs cannot show a difference, where that is so."""
    count = len(tested)
    if any(pair.smallest_p * count <= ALPHA for pair, _ in tested):
        return ""
    runs = next(r for r in range(2, 100) if count / math.comb(2 * r, r) <= ALPHA)
    return f": so few runs cannot show it, {runs} of each model could"


def _scope(tested: list[tuple[Comparison, float]]) -> str:
    """What the comparisons leave out."""
    notes = list(dict.fromkeys(pair.note for pair, _ in tested if pair.note))
    return f", {notes[0]}" if notes else ""


def model_headline(scores: ScoresProtocol, metric: str) -> str:
    """Return which model is best by each aggregate where they differ, by the means over runs; else ""."""
    winners, names = model_winners(scores, metric), [m.name for m in models_of(scores.generators, scores.groups)]
    if len(names) < 2 or winners.agree or not winners.are_known:
        return ""
    best = (
        f"Best by {_label(scores, metric, part)}, mean over runs: {winners.names(part, names)}." for part in AGGREGATES
    )
    return " ".join(best)
