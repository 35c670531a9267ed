"""What the generator made, at some steps of a run: first, last, best, alarms, and others evenly spread.

{"side": of pictures, 0 of points, "low", "high", "steps": [0, 100, …],
 "rows": [base64 of float32 (n, 2), or of bytes (n, side²), …]}
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .history import History
from .packed import text_of

# Steps whose samples travel.
MOST = 40


def samples_of(history: History, wanted: Iterable[int] = ()) -> dict[str, Any]:
    """The samples of at most `MOST` steps, `wanted` before others; {} where none can be looked at."""
    points = [point for point in history.points if "rows" in point.frames]
    if not points:
        return {}
    places = {point.step: place for place, point in enumerate(points)}
    named = [places[step] for step in wanted if step in places][: MOST // 2]
    even = np.linspace(0, len(points) - 1, max(2, MOST - len(set(named)))).astype(int).tolist()
    chosen = sorted({*named, *even})
    found = [(points[place].step, history.array(points[place].frames["rows"])) for place in chosen]
    known = [(step, rows) for step, rows in found if rows is not None and rows.ndim == 2 and np.isfinite(rows).any()]
    width = known[0][1].shape[1] if known else 0
    known = [(step, rows) for step, rows in known if rows.shape[1] == width]
    if not known:
        return {}
    side = 0 if width <= 3 else math.isqrt(width)
    if not side:  # one feature lies on a line, of three the first two are shown
        known = [(step, np.column_stack([rows, np.zeros(len(rows))])[:, :2]) for step, rows in known]
    low, high = _range(np.concatenate([rows.ravel() for _, rows in known]))
    steps = [step for step, _ in known]
    packed = [text_of(rows, "<f4") if not side else _greys(rows, low, high) for _, rows in known]
    return {"side": side, "low": low, "high": high, "steps": steps, "rows": packed}


def _range(values: np.ndarray) -> tuple[float, float]:
    """Within which almost all lie."""
    low, high = np.quantile(values[np.isfinite(values)], [0.005, 0.995])
    return float(low), float(high) if high > low else float(low) + 1.0


def _greys(rows: np.ndarray, low: float, high: float) -> str:
    scaled = np.nan_to_num((rows - low) / (high - low))
    return text_of(np.rint(255 * np.clip(scaled, 0.0, 1.0)), "u1")
