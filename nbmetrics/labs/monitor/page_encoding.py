"""Encode a history for the page: steps and scores as base64 of their bytes, so that 10,000 steps are a short message.

past    {"lines": {name: line}, "losses": {name: series}, "left_out": 0}
recent  the same of what came later
line    {"metric": 0, "label": "FID", "steps", "clients", "avg", "all", "gap", "errors"}: float64, but clients (S, k)
        and errors (S, 3), those of avg, all and gap, float32 by rows
series  {"steps", "values"}
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from .history import Line, RunHistory

# Bytes of numbers that travel in one message, a third more as text; of a longer run steps are left out.
MAX_MESSAGE_BYTES = 1_800_000
# Clients up to which the table of KID's gap travels.
MAX_GAP_CLIENTS = 200


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
    """Return the facts of all metrics, each once, as of the last segment."""
    return list({facts.name: facts for segment in history.segments for facts in segment.metrics}.values())


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
    for facts in (facts for facts in metrics_of(history) if facts.kind == "kid" and k <= MAX_GAP_CLIENTS):
        where = [(segment, segment.position(facts.name)) for segment in history.segments]
        started = [
            (segment, place) for segment, place in where if place >= 0 and segment.frames
        ]  # others scored nothing
        tables = [history.client_kernel_means(segment, place) for segment, place in started]
        first = tables[0] if tables else None
        if first is not None and all(_is_same_table(table, first) for table in tables):
            gaps[facts.name] = {"means": encode_numbers(first[np.triu_indices(k)])}
    return gaps
