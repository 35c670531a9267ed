"""The best checkpoint by each aggregate, and the set of those that are not worse by more than chance.

The set is Hsu's (1984) for comparisons with the best, from draws of the noise that all steps share: step s is in it
where no other step j is better by more than noise would make it,

    D_s − D_j ≤ c_s σ_sj for all j,    c_s the 95 % quantile over draws of max_j (ε_s − ε_j)/σ_sj.

ε are joint draws from influence values (`evaluation.draws`): the clients' rows are the same at every step, and so,
where the Monitor drew them, are the latents, so differences vary less than scores do. The step that is best in truth,
at this number of rows, is in the set with a probability of about 95 %, however many steps there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...ranking import lowest, order, same_scores
from .alarm_rules import MAX_TIMES_BEST, column_intervals, far_from_best, far_limit, least_loss, real_levels, times_text
from .history import UNKNOWN, Line, RunHistory
from .log_events import MetricFacts, Point
from .step_noise import MAX_NOISY_CLIENTS, draws_under_weights, standard_errors

CONFIDENCE_LEVEL = 0.95
# Of more steps, those with the best scores are compared; the others are taken for worse.
MAX_COMPARED_STEPS = 1_000
PARTS = ("avg", "all")
# Of a noise that is read.
MAX_NOISE_DRAWS = 4_096
# Of the noise itself: what is left of a difference by rounding.
SPREAD_ROUNDING = 1e-6


@dataclass(frozen=True)
class BestStep:
    """The step with the best score and its place on the line; None where there is none."""

    step: int | None
    place: int | None


def best_step(line: Line, part: str) -> BestStep:
    """Return the best step of a line by `part`, avg or all; of equal ones the first."""
    losses = line.facts.losses(getattr(line, part))
    finite = np.where(np.isfinite(losses), losses, np.inf)
    if not np.isfinite(finite).any():
        return BestStep(None, None)
    place = lowest(finite)
    return BestStep(int(line.steps[place]), place)


def best_steps(history: RunHistory, line: Line) -> dict[str, int | None]:
    """Return the best step by avg and by all."""
    return {part: best_step(line, part).step for part in PARTS}


def best_set(history: RunHistory, line: Line, part: str) -> list[int]:
    """Return the steps not worse than any other by more than chance; InvalidInput where the noise is not known."""
    losses = line.facts.losses(getattr(line, part))
    best_first = order(np.where(np.isfinite(losses), losses, np.inf))
    rivals = [
        place for other in PARTS if (place := best_step(line, other).place) is not None
    ]  # a sentence asks for them
    first = [*best_first[:MAX_COMPARED_STEPS], *(p for p in best_first[MAX_COMPARED_STEPS:] if p in rivals)]
    places = [int(p) for p in first if np.isfinite(losses[p])]
    if not places:
        return []
    if all(line.points[place].count == 0 for place in places):  # distributions: exact, so no chance
        return [int(line.steps[p]) for p in sorted(places) if same_scores(losses[p], losses[places[0]])]
    draws_by_place = {place: noise_draws(history, line, place, part) for place in places}
    size = next((len(draws) for draws in draws_by_place.values() if draws is not None), 0)
    exact = {place: np.zeros(size) for place in places if line.points[place].count == 0 and size}
    draws_by_place |= exact  # of a distribution: the clients' rows, which the others share, are all that varies
    best_draws = draws_by_place[places[0]]
    moved = any(history.is_of_other_mixture(line.facts, line.points[place]) for place in places)
    if best_draws is None or moved:
        why = "not under these weights" if moved else "no rows, too few rows, other weights, or logged without it"
        raise InvalidInput(
            "metric", f"{line.facts.label} has no known noise: {why}", "Use monitor.best, or another metric"
        )
    draws = {p: d for p, d in draws_by_place.items() if d is not None and len(d) == len(best_draws)}
    is_in_set = is_best_within_chance(losses[list(draws)], np.stack(list(draws.values())))
    return sorted(int(line.steps[p]) for p, is_in in zip(draws, is_in_set, strict=True) if is_in)


def is_best_within_chance(losses: np.ndarray, draws: np.ndarray, level: float = CONFIDENCE_LEVEL) -> np.ndarray:
    """Whether each of S losses may be the best, (S,) bools; `draws` (S, B) of their noise."""
    may_be_best = np.zeros(len(losses), dtype=bool)
    centred = draws - draws.mean(axis=1, keepdims=True)
    gram = centred @ centred.T / (draws.shape[1] - 1)
    squares = np.diag(gram)
    spreads = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * gram, 0.0))
    spreads[spreads <= SPREAD_ROUNDING * np.sqrt(squares.max(initial=0.0))] = 0.0  # of the same rows
    inverse = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=spreads > 0)
    for s, own in enumerate(draws):
        others = spreads[s] > 0
        limit = 0.0
        if others.any():
            limit = np.quantile(((own - draws[others]) * inverse[s, others, None]).max(axis=0), level)
        may_be_best[s] = bool(np.all(losses[s] - losses <= max(limit, 0.0) * spreads[s]))
    return may_be_best


def noise_draws(history: RunHistory, line: Line, place: int, part: str) -> np.ndarray | None:
    """Return (B,) draws of the noise of one score as a loss; None where it is not known.

    Of KID-all it is that of KID-avg: what they differ by is the same at every step and cancels. Of FID-all under other
    weights than those logged it is that under those logged; of a mixture that moves with the weights nothing is known
    under others.
    """
    facts = line.facts
    by_client, of_all = _kept_draws(history, facts, line.points[place])
    if by_client is not None and by_client.ndim and len(by_client) > MAX_NOISE_DRAWS:
        return None
    of_avg, of_all = draws_under_weights(history.weights, by_client, of_all)
    draws: Any = of_avg if part == "avg" or facts.kind == "kid" else of_all
    if draws is None or draws.ndim != 1 or not 1 < len(draws) <= MAX_NOISE_DRAWS:
        return None
    if not np.abs(draws).max() <= np.finfo(np.float32).max:
        return None
    value = np.asarray(draws, dtype=np.float64)
    return -value if facts.higher_is_better and facts.best is None else value


def _kept_draws(history: RunHistory, facts: MetricFacts, point: Point) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the draws of a point's avg, by client, and of all; None of those that tell nothing under these weights."""
    if history.is_of_other_mixture(facts, point):
        return None, None
    by_client = history.array(point.frames.get(f"own noise {facts.of}" if facts.of else f"noise {facts.name}"))
    of_all = None if facts.of else history.array(point.frames.get(f"all noise {facts.name}"))
    is_mean = by_client is not None and by_client.shape[1:] == (1,)  # of many clients
    return None if is_mean and not history.is_under(point.segment) else by_client, of_all


def line_errors(history: RunHistory, line: Line) -> np.ndarray:
    """Return (S, 3) standard errors of avg, all and gap under the history's weights; NaN where they are not known.

    Under other weights than those logged that of avg is made from the draws, of runs that are not too long for it, and
    those of all and the gap are not known.
    """
    errors = line.errors.copy()
    if np.isfinite(errors).any() or len(line.points) > MAX_COMPARED_STEPS or len(history.names) > MAX_NOISY_CLIENTS:
        return errors
    for place in range(len(line.points)):
        errors[place] = standard_errors(noise_draws(history, line, place, "avg"), None)
    return errors


def checkpoint_headline(history: RunHistory, line: Line) -> str:
    """Say in a sentence which step to keep, and where the run is now if that is far from it."""
    by, facts = best_steps(history, line), line.facts
    avg, of_all = line.label_of("avg"), line.label_of("all")
    if by["avg"] is None and line.moves and UNKNOWN in line.kinds:
        return f"{line.label} is not known for these weights."
    if by["avg"] is None:
        return f"{line.label} has no score yet."
    if by["all"] is None and not facts.of:
        return f"Best by {avg}: step {by['avg']:,}."
    last = int(line.steps[-1])
    if (turn := turning_point(history, line)) is not None:
        part, before, sign = turn
        verb = "fell" if line.facts.higher_is_better else "rose"
        kept = by["avg" if facts.of else "all"]
        return f"Keep step {kept:,}, not {last:,}: after {before:,}, {line.label_of(part)} {verb}{sign}."
    newest = ", the newest" if by["avg"] == last else ""
    if facts.of:
        return f"Keep step {by['avg']:,}{newest}, best by {avg}{_now_text(line, 'avg')}."
    if by["avg"] == by["all"]:
        return f"Keep step {by['all']:,}{newest}, best by {avg} and {of_all}{_now_text(line, 'all')}."
    parts = () if by["all"] == last else ("all", "avg")  # at the best step by all avg is worse: no news
    now = next(filter(None, (_now_text(line, part) for part in parts)), "")
    return f"Best by {avg}: step {by['avg']:,}; by {of_all}: step {by['all']:,}{now}."


def _now_text(line: Line, part: str) -> str:
    """Say how far avg or all is from its best at the newest step; "" where it is not worth a word."""
    best, values = best_step(line, part).place, getattr(line, part)
    assert best is not None
    if not np.isfinite(values[-1]):
        is_known = part == "avg" or line.kinds[-1] != UNKNOWN
        return f"; now {line.label_of(part)} has no value" if is_known else ""
    times = times_text(line, values[-1], values[best]).removeprefix(",")
    return f"; now {line.label_of(part)} is{times}" if times and values[-1] > MAX_TIMES_BEST * values[best] else ""


def turning_point(history: RunHistory, line: Line) -> tuple[str, int, str] | None:
    """Return all or avg, the last step before it went far from its best, where it stays, and how far; else None."""
    intervals, real = column_intervals(history, line), real_levels(history, line)
    for part in ("all", "avg"):
        is_far = far_from_best(intervals[part], real[part], least_loss(line))
        if not len(is_far) or not is_far[-1]:
            continue
        losses = line.facts.losses(getattr(line, part))
        best = best_step(line, part).place
        assert best is not None
        is_low = losses <= far_limit(losses[best : best + 1], real[part])
        before = int(line.steps[np.flatnonzero(is_low)[-1]])
        values = getattr(line, part)
        return part, before, times_text(line, values[-1], values[best]).replace(",", " to", 1)
    return None


def checkpoint_sentence(history: RunHistory, line: Line) -> str:
    """Say in sentences what to keep, and whether what avg and all would keep differ by more than chance."""
    headline, by = checkpoint_headline(history, line), best_steps(history, line)
    if None in by.values() or by["avg"] == by["all"]:
        return headline
    if turning_point(history, line) is not None:
        headline += f" Best by {line.facts.label}-avg: step {by['avg']:,}."
    try:
        sets = {part: best_set(history, line, part) for part in PARTS}
    except InvalidInput:
        return headline
    is_apart = {"all": by["avg"] not in sets["all"], "avg": by["all"] not in sets["avg"]}
    values = {part: " and ".join(_value_text(line, part, step) for step in by.values()) for part in PARTS}
    first = f"By all, the difference {'is more than' if is_apart['all'] else 'could be'} chance ({values['all']})"
    if is_apart["all"] == is_apart["avg"]:
        return f"{headline} {first}, and by avg too ({values['avg']})."
    return (
        f"{headline} {first}; by avg, it {'is more than' if is_apart['avg'] else 'could be'} chance ({values['avg']})."
    )


def _value_text(line: Line, part: str, step: int | None) -> str:
    return f"{getattr(line, part)[line.steps == step][0]:.4g}"
