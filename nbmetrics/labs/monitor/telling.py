"""What a page is told of a run beside its scores: what it is of, what it costs, and what follows under some weights.

run     {"clients", "weights", "metrics": [{"name", "label", "higher", "best", "kind"}], "gaps": {}, "kept": false}
told    {"cost": "…", "troubles": ["…"]}
judged  {"weights", "lines": {name: {"best": {"avg", "all"}, "sets": {…} or null, "words", "steps", "all"}},
         "alarms": [{"step", "alarm", "words"}]}: `steps`, `all`, `errors` under other weights
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InvalidInput, printable
from .best import PARTS, best_set, best_steps, errors, kept_words
from .history import History, Line
from .packed import gaps_of, metrics_of, text_of
from .recording import Recording
from .run import Run

# Alarms that are told, the newest; and steps of a set.
MOST_ALARMS, MOST_OF_SET = 200, 1_000
LONGEST_WORDS = 500


def run_of(history: History, is_kept: bool) -> dict[str, Any]:
    """What does not change while a run goes on."""
    facts = [
        {"name": m.name, "label": m.label, "higher": m.higher_is_better, "best": m.best, "kind": m.kind}
        for m in metrics_of(history)
    ]
    names, weights = list(history.names), list(history.weights)
    return {"clients": names, "weights": weights, "metrics": facts, "gaps": gaps_of(history), "kept": is_kept}


def told_of(record: Recording) -> dict[str, Any]:
    """What a Monitor costs, and what went wrong, in words."""
    cost = record.cost
    if not cost.elapsed:
        said = ""
    else:
        beside = cost.scoring + cost.telling
        said = f"It cost {cost.loop:.2g} s of the loop, and {beside:.2g} s beside it for scores and this page"
        said += f", {100 * cost.share:.2g} % of {cost.elapsed:,.3g} s" if cost.elapsed > 1.0 else ""
        parts = [(cost.skipped, "came too soon to be drawn"), (cost.dropped, "gave way to newer ones")]
        left = [f"{count:,} steps {what}" for count, what in parts if count]
        said += "".join(f"; {part}" for part in left) + "."
    return {"cost": said, "troubles": [printable(line, LONGEST_WORDS) for line in record.troubles]}


def judged(record: Run, shares: Sequence[float], is_given: bool, *, is_whole: bool = True) -> dict[str, Any]:
    """Best checkpoints, alarms and, under other weights, all; what takes longest only where it is to be `is_whole`."""
    run = record if is_given else record.with_weights(list(shares))
    history = run.history
    lines = {name: _line(history, line, is_given, is_whole) for name, line in history.lines.items()}
    found = {"weights": list(shares), "lines": lines}
    return {**found, "alarms": _alarms(run)} if is_whole else found


def _line(history: History, line: Line, is_given: bool, is_whole: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"best": best_steps(history, line)}
    if is_whole:
        found |= {"words": kept_words(history, line), "sets": _sets(history, line)}
        if not is_given:
            found["errors"] = text_of(errors(history, line), "<f4")
    if not is_given:
        found |= {"steps": text_of(line.steps), "all": text_of(line.all), "kind": _kind(line)}
    return found


def _kind(line: Line) -> str:
    """How `all` is known at most steps."""
    return max(set(line.kinds), key=line.kinds.count) if line.kinds else ""


def _sets(history: History, line: Line) -> dict[str, list[int]] | None:
    try:
        return {part: best_set(history, line, part)[:MOST_OF_SET] for part in PARTS}
    except InvalidInput:  # the noise is not known
        return None


def _alarms(run: Run) -> list[dict[str, Any]]:
    found = run.alarms.tail(MOST_ALARMS).to_numpy().tolist()
    return [{"step": step, "alarm": name, "words": printable(words, LONGEST_WORDS)} for step, name, words in found]
