"""A history as a page gets it: steps and scores as base64 of their bytes, so that 10,000 steps are one short message.

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
from typing import Any

import numpy as np

from .history import History, Line

# Bytes of the clients' scores that travel in one message; of a longer run steps are left out.
MOST_BYTES = 1_200_000
# Clients up to which the table of KID's gap travels.
MOST_TABLED = 200


def text_of(values: Any, kind: str = "<f8") -> str:
    """Numbers as base64 of their little-endian bytes."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def packed(history: History, after: float = -math.inf, kept: Sequence[int] = ()) -> dict[str, Any]:
    """The lines and losses of the steps after one; where they are too many, `kept` are never left out."""
    names = [facts.name for facts in metrics_of(history)]
    lines, left_out = {}, 0
    for name, line in history.lines.items():
        thin = _thinned(_after(line, after), kept)
        left_out = max(left_out, int(np.sum(line.steps > after)) - len(thin.steps))
        lines[name] = {"metric": names.index(line.facts.name), "label": label_of(line), **_series(thin)}
    return {"lines": lines, "losses": _losses(history, after), "left_out": left_out}


def _series(line: Line) -> dict[str, str]:
    scores = {part: text_of(getattr(line, part)) for part in ("steps", "avg", "all", "gap")}
    return {**scores, "clients": text_of(line.clients, "<f4"), "errors": text_of(line.errors, "<f4")}


def label_of(line: Line) -> str:
    """Such as "FID", or "FID, 500 rows"."""
    return line.facts.label + line.name.removeprefix(line.facts.name)


def metrics_of(history: History) -> list[Any]:
    """The facts of all metrics, each once, the last segment's."""
    return list({facts.name: facts for segment in history.segments for facts in segment.metrics}.values())


def _after(line: Line, after: float) -> Line:
    return _taken(line, np.flatnonzero(line.steps > after))


def _taken(line: Line, places: np.ndarray) -> Line:
    parts = {part: getattr(line, part)[places] for part in ("steps", "clients", "avg", "all", "errors")}
    return replace(line, points=(), kinds=(), **parts)


def _thinned(line: Line, kept: Sequence[int]) -> Line:
    count, most = len(line.steps), max(100, MOST_BYTES // (4 * max(1, line.clients.shape[1])))
    if count <= most:
        return line
    even = np.linspace(0, count - 1, most).astype(int)
    named = np.flatnonzero(np.isin(line.steps, kept))
    return _taken(line, np.union1d(even, named))


def _losses(history: History, after: float) -> dict[str, Any]:
    points = [point for point in history.points if point.losses and point.step > after]
    found: dict[str, tuple[list[int], list[float]]] = {}
    for point in points:
        for name, value in point.losses.items():
            steps, values = found.setdefault(name, ([], []))
            steps.append(point.step)
            values.append(value)
    return {name: {"steps": text_of(steps), "values": text_of(values)} for name, (steps, values) in found.items()}


def gaps_of(history: History) -> dict[str, Any]:
    """KID's gap by metric as a table for any weights, see toolkit/view/kidgap.js; of runs whose segments share it."""
    found = {}
    k = len(history.names)
    for facts in (facts for facts in metrics_of(history) if facts.kind == "kid" and k <= MOST_TABLED):
        where = [(segment, segment.position(facts.name)) for segment in history.segments]
        begun = [(segment, place) for segment, place in where if place >= 0 and segment.frames]  # others scored nothing
        tables = [history.array(segment.frames.get(f"gap {place}")) for segment, place in begun]
        first = tables[0] if tables else None
        if first is None or first.shape != (k, k + 2):
            continue
        if all(table is not None and np.array_equal(table, first) for table in tables):
            own, rows = first[:, -2], first[:, -1]
            found[facts.name] = {
                "cross": text_of(first[:, :-2][np.triu_indices(k)]),
                "own": own.tolist(),
                "n": [written(n) for n in rows],
            }
    return found


def written(value: float) -> float | str:
    """A number as JSON has it."""
    return float(value) if math.isfinite(value) else str(float(value))
