"""The state of a run as its page gets it beside the scores: what it is of, what it costs, what follows under weights.

run     {"clients", "weights", "metrics": [{"name", "label", "higher", "best", "kind"}], "gaps": {}, "kept": false}
told    {"cost": "…", "troubles": ["…"]}, and of a live run "last_step", the time of the last one in seconds since 1970
result  {"weights", "lines": {name: {"best": {"avg", "all"}, "sets": {…} or null, "words", "steps", "all"}},
         "alarms": [{"step", "alarm", "words"}]}: `steps`, `all`, `errors` under other weights
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InvalidInput, printable
from .best_checkpoints import PARTS, best_set, best_steps, checkpoint_sentence, line_errors
from .history import Line, RunHistory
from .live_run import LiveRun
from .page_encoding import encode_gaps, encode_numbers, metrics_of
from .run_api import Run

# Alarms that a page gets, the newest; and steps of a set.
MAX_ALARMS, MAX_SET_STEPS = 200, 1_000
MAX_SENTENCE_LETTERS = 500


def describe_run(history: RunHistory, is_kept: bool) -> dict[str, Any]:
    """Return what does not change while a run goes on."""
    facts = [
        {"name": m.name, "label": m.label, "higher": m.higher_is_better, "best": m.best, "kind": m.kind}
        for m in metrics_of(history)
    ]
    names, weights = list(history.names), list(history.weights)
    return {"clients": names, "weights": weights, "metrics": facts, "gaps": encode_gaps(history), "kept": is_kept}


def describe_status(run: LiveRun) -> dict[str, Any]:
    """Return what a Monitor costs and what went wrong, in words, and of a live run the time of its last step."""
    cost = run.cost
    if not cost.elapsed:
        sentence = ""
    else:
        elsewhere = cost.scoring + cost.telling
        sentence = f"It cost {cost.loop:.2g} s of the loop, and {elsewhere:.2g} s beside it for scores and this page"
        sentence += f", {100 * cost.share:.2g} % of {cost.elapsed:,.3g} s" if cost.elapsed > 1.0 else ""
        counts = [(cost.skipped, "came too soon to be drawn"), (cost.dropped, "gave way to newer ones")]
        sentence += "".join(f"; {count:,} steps {what}" for count, what in counts if count) + "."
    status = {"cost": sentence, "troubles": [printable(line, MAX_SENTENCE_LETTERS) for line in run.troubles]}
    return status if run.last_step_time is None else {**status, "last_step": run.last_step_time}


def judge_run(run: Run, shares: Sequence[float], is_own: bool, *, is_whole: bool = True) -> dict[str, Any]:
    """Return best checkpoints and alarms under weights, and scores under other weights than its own.

    Parameters
    ----------
    shares : the weights of the clients, of sum 1
    is_own : whether these are the run's own weights
    is_whole : whether what takes longest is included: sets, sentences, standard errors and alarms
    """
    reweighted = run if is_own else run.with_weights(list(shares))
    history = reweighted.history
    lines = {name: _judge_line(history, line, is_own, is_whole) for name, line in history.lines.items()}
    result = {"weights": list(shares), "lines": lines}
    return {**result, "alarms": _newest_alarms(reweighted)} if is_whole else result


def _judge_line(history: RunHistory, line: Line, is_own: bool, is_whole: bool) -> dict[str, Any]:
    judgement: dict[str, Any] = {"best": best_steps(history, line)}
    if is_whole:
        judgement |= {"words": checkpoint_sentence(history, line), "sets": _best_sets(history, line)}
        if not is_own:
            judgement["errors"] = encode_numbers(line_errors(history, line), "<f4")
    if not is_own:
        judgement |= {"steps": encode_numbers(line.steps), "all": encode_numbers(line.all), "kind": _commonest(line)}
    return judgement


def _commonest(line: Line) -> str:
    """Return how `all` is known at most steps."""
    return max(set(line.kinds), key=line.kinds.count) if line.kinds else ""


def _best_sets(history: RunHistory, line: Line) -> dict[str, list[int]] | None:
    try:
        return {part: best_set(history, line, part)[:MAX_SET_STEPS] for part in PARTS}
    except InvalidInput:  # the noise is not known
        return None


def _newest_alarms(run: Run) -> list[dict[str, Any]]:
    rows = run.alarms.tail(MAX_ALARMS).to_numpy().tolist()
    return [
        {"step": step, "alarm": name, "words": printable(words, MAX_SENTENCE_LETTERS)} for step, name, words in rows
    ]
