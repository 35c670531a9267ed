"""What the page gets of a run: steps and scores as base64 of their bytes, so that 10,000 steps are a short message;
what the run is of, what it costs, and what follows under weights.

past    {"lines": {name: line}, "losses": {name: series}, "left_out": 0}
recent  the same of what came later
line    {"metric": 0, "label": "FID", "steps", "clients", "avg", "all", "gap", "errors"}: float64, but clients (S, k)
        and errors (S, 3), those of avg, all and gap, float32 by rows; "moves": true where clients follow the weights
series  {"steps", "values"}
run     {"clients", "weights", "metrics": [{"name", "label", "higher", "best", "kind", "of"}], "gaps": {},
         "kept": false}: `of` is the metric whose intra it is, else ""
told    {"counts": "…", "cost": "…", "troubles": ["…"]}, and of a live run "last_step", the time of the last one in
         seconds since 1970
result  {"weights", "lines": {name: {"best": {"avg", "all"}, "sets": {…} or null, "headline", "words", "status",
         "note", "steps", "all"}}, "alarms": [{"step", "alarm", "words"}]}: `steps`, `all`, `errors` under other
         weights, and of a line that moves `avg`, and `clients` where they are not too many
samples {"side": of pictures, 0 of points, "low", "high", "steps": [0, 100, …], "rows": [base64 of float32 (n, 2), or of
         bytes (n, side²), …]}, of the first, last and best steps, those of alarms, and others evenly spread
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InvalidInput, printable
from .alarm_rules import level_sentence, one_point_sentence
from .best_checkpoints import (
    PARTS,
    best_set,
    best_steps,
    checkpoint_headline,
    checkpoint_sentence,
    line_errors,
)
from .history import Line, RunHistory

if TYPE_CHECKING:
    from .live_run import LiveRun
    from .run import Run

# Bytes of numbers that travel in one message, a third more as text; of a longer run steps are left out.
MAX_MESSAGE_BYTES = 1_800_000
# Clients up to which the table of KID's gap travels.
MAX_GAP_CLIENTS = 200
# Alarms that a page gets, the newest; and steps of a set.
MAX_ALARMS, MAX_SET_STEPS = 200, 1_000
MAX_SENTENCE_LETTERS = 500
# Steps whose previews a page gets.
MAX_PREVIEW_STEPS = 40
# What a preview shows from its lowest to its highest value: these quantiles of all.
_RANGE_QUANTILES = 0.005, 0.995


def encode_numbers(values: Any, kind: str = "<f8") -> str:
    """Encode numbers as base64 of their little-endian bytes."""
    with np.errstate(over="ignore"):  # of single precision
        return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def encode_history(history: RunHistory, after: float = -math.inf, kept: Sequence[int] = ()) -> dict[str, Any]:
    """Encode lines and losses of the steps after one; where they are too many, `kept` are never left out."""
    names = [facts.name for facts in metrics_of(history)]
    lines = {name: _later(line, after) for name, line in history.lines.items()}
    losses = _losses(history, after)
    size = sum(len(line.steps) * (32 + 4 * line.clients.shape[1]) for line in lines.values())
    share = MAX_MESSAGE_BYTES / max(MAX_MESSAGE_BYTES, size + sum(16 * len(steps) for steps, _ in losses.values()))
    encoded_lines, encoded_losses, all_steps, sent = {}, {}, set[int](), set[int]()
    for name, line in lines.items():
        places = select_steps(line.steps, (line.avg, line.all), share, kept)
        all_steps.update(line.steps.tolist())
        sent.update(line.steps[places].tolist())
        facts = {"metric": names.index(line.facts.name), "label": line.label}
        facts |= {"moves": True} if history.lines[name].moves else {}
        encoded_lines[name] = {**facts, **_encode_line(_select(line, places))}
    for name, (steps, values) in losses.items():
        places = select_steps(steps, (values,), share, kept)
        all_steps.update(steps.tolist())
        sent.update(steps[places].tolist())
        encoded_losses[name] = {"steps": encode_numbers(steps[places]), "values": encode_numbers(values[places])}
    return {"lines": encoded_lines, "losses": encoded_losses, "left_out": len(all_steps - sent)}


def _encode_line(line: Line) -> dict[str, str]:
    scores = {part: encode_numbers(getattr(line, part)) for part in ("steps", "avg", "all", "gap")}
    return {**scores, "clients": encode_numbers(line.clients, "<f4"), "errors": encode_numbers(line.errors, "<f4")}


def metrics_of(history: RunHistory) -> list[Any]:
    """Return the facts of all metrics and of their intra, where there is one, each once, as of the last segment."""
    return list(history.metrics.values())


def _later(line: Line, after: float) -> Line:
    return _select(line, np.flatnonzero(line.steps > after))


def _select(line: Line, places: np.ndarray) -> Line:
    parts = {part: getattr(line, part)[places] for part in ("steps", "clients", "avg", "all", "errors")}
    return replace(line, points=(), kinds=(), **parts)


def select_steps(steps: np.ndarray, curves: Sequence[np.ndarray], share: float, kept: Sequence[int] = ()) -> np.ndarray:
    """Return the places of a share of the steps: ends, `kept`, and the lowest and highest of each curve in even parts.

    So what stands out, up to a value that is not finite, is still seen.
    """
    count = len(steps)
    most = int(share * count)
    if share >= 1.0 or count <= 2:
        return np.arange(count)
    named = np.flatnonzero(np.isin(steps, list(kept)))[: most // 4]
    parts = max(0, most - len(named) - 2) // (2 * len(curves))
    edges = np.linspace(0, count, parts + 1).astype(int)
    highs = [np.where(np.isfinite(curve), curve, np.inf) for curve in curves]
    lows = [np.where(np.isfinite(curve), curve, -np.inf) for curve in curves]
    places = [start + int(high[start:end].argmax()) for high in highs for start, end in pairwise(edges)]
    places += [start + int(low[start:end].argmin()) for low in lows for start, end in pairwise(edges)]
    return np.unique([0, count - 1, *named, *places])


def _losses(history: RunHistory, after: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the steps and values of each loss, by name."""
    series: dict[str, tuple[list[int], list[float]]] = {}
    for point in history.points:
        if point.step > after:
            for name, value in point.losses.items():
                steps, values = series.setdefault(name, ([], []))
                steps.append(point.step)
                values.append(value)
    return {name: (np.array(steps), np.array(values)) for name, (steps, values) in series.items()}


def _is_same_table(table: np.ndarray | None, first: np.ndarray) -> bool:
    """Whether two segments have the same table, but for the last digits of another processor."""
    return table is not None and np.allclose(table, first, rtol=1e-9, atol=0.0)


def encode_gaps(history: RunHistory) -> dict[str, Any]:
    """Encode KID's gaps as tables for any weights, see toolkit/view/kid_gap.js, where all segments share them."""
    gaps = {}
    k = len(history.names)
    for facts in (facts for facts in history.plain_metrics.values() if facts.kind == "kid" and k <= MAX_GAP_CLIENTS):
        where = [(segment, segment.position(facts.name)) for segment in history.segments]
        started = [
            (segment, place) for segment, place in where if place >= 0 and segment.frames
        ]  # others scored nothing
        tables = [history.client_kernel_means(segment, place) for segment, place in started]
        first = tables[0] if tables else None
        if first is not None and all(_is_same_table(table, first) for table in tables):
            gaps[facts.name] = {"means": encode_numbers(first[np.triu_indices(k)])}
    return gaps


def describe_run(history: RunHistory, is_kept: bool) -> dict[str, Any]:
    """Return what does not change while a run goes on."""
    facts = [
        {"name": m.name, "label": m.label, "higher": m.higher_is_better, "best": m.best, "kind": m.kind, "of": m.of}
        for m in metrics_of(history)
    ]
    names, weights = list(history.names), list(history.weights)
    return {"clients": names, "weights": weights, "metrics": facts, "gaps": encode_gaps(history), "kept": is_kept}


def describe_status(run: LiveRun) -> dict[str, Any]:
    """Return what a Monitor costs and what went wrong, in words, and of a live run the time of its last step."""
    cost, counts = run.cost, ""
    sentence = ""
    if cost.elapsed:
        elsewhere = cost.scoring + cost.telling
        sentence = f"It took {cost.loop:.2g} s of the training loop"
        sentence += f" and {elsewhere:.2g} s in the background for scores and this page"
        sentence += f", {100 * cost.share:.2g} % of {cost.elapsed:,.3g} s" if cost.elapsed > 1.0 else ""
        sentence += f"; {cost.dropped:,} steps were skipped for newer ones" if cost.dropped else ""
        sentence += "."
    if cost.skipped:
        scored = sum(point.is_scored for point in run.history.logged)
        count = scored + cost.skipped + cost.dropped
        counts = f"{scored:,} of {count:,} steps scored; to score all: keep_all=True."
    status = {
        "counts": counts,
        "cost": sentence,
        "troubles": [printable(line, MAX_SENTENCE_LETTERS) for line in run.troubles],
    }
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
        judgement |= {"headline": checkpoint_headline(history, line), "words": checkpoint_sentence(history, line)}
        judgement |= {"status": one_point_sentence(history, line), "note": level_sentence(history, line)}
        judgement |= {"sets": _best_sets(history, line)}
        if not is_own:
            judgement["errors"] = encode_numbers(line_errors(history, line), "<f4")
    if not is_own:
        judgement |= {"steps": encode_numbers(line.steps), "all": encode_numbers(line.all), "kind": _commonest(line)}
    if not is_own and line.moves:
        judgement["avg"] = encode_numbers(line.avg)
        if 4 * line.clients.size <= MAX_MESSAGE_BYTES:
            judgement["clients"] = encode_numbers(line.clients, "<f4")
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


def encode_previews(history: RunHistory, wanted: Iterable[int] = ()) -> dict[str, Any]:
    """Encode the previews of at most `MAX_PREVIEW_STEPS` steps, `wanted` before others; {} where there are none."""
    points = [point for point in history.points if "rows" in point.frames]
    if not points:
        return {}
    places = {point.step: place for place, point in enumerate(points)}
    named = [places[step] for step in wanted if step in places][: MAX_PREVIEW_STEPS // 2]
    even = np.linspace(0, len(points) - 1, max(2, MAX_PREVIEW_STEPS - len(set(named)))).astype(int).tolist()
    chosen = sorted({*named, *even})
    loaded = [(points[place].step, history.array(points[place].frames["rows"])) for place in chosen]
    previews = [
        (step, rows) for step, rows in loaded if rows is not None and rows.ndim == 2 and np.isfinite(rows).any()
    ]
    width = previews[0][1].shape[1] if previews else 0
    previews = [(step, rows) for step, rows in previews if rows.shape[1] == width]
    if not previews:
        return {}
    side = 0 if width <= 3 else math.isqrt(width)
    if not side:  # one feature lies on a line, of three the first two are shown
        previews = [(step, np.column_stack([rows, np.zeros(len(rows))])[:, :2]) for step, rows in previews]
    low, high = _value_range(np.concatenate([rows.ravel() for _, rows in previews]))
    steps = [step for step, _ in previews]
    texts = [encode_numbers(rows, "<f4") if not side else _encode_greys(rows, low, high) for _, rows in previews]
    return {"side": side, "low": low, "high": high, "steps": steps, "rows": texts}


def _value_range(values: np.ndarray) -> tuple[float, float]:
    """Return the range that almost all values lie in."""
    low, high = np.quantile(values[np.isfinite(values)], _RANGE_QUANTILES)
    return float(low), float(high) if high > low else float(low) + 1.0


def _encode_greys(rows: np.ndarray, low: float, high: float) -> str:
    scaled = np.nan_to_num((rows - low) / (high - low))
    return encode_numbers(np.rint(255 * np.clip(scaled, 0.0, 1.0)), "u1")
