"""The facts that a page needs of the scores: they depend on the data alone, not on the scene.

    {"clients": [{"name", "rows", "share"}], "generators": {name: {"rows"}},
     "metrics": [{"name", "label", "higher", "best", "same", "alone", "corrected", "note"}],
     "values": {metric: {generator: [k]}}, "centres": …, "leaves": [k], "filled": {"done", "total", "doing"}}

`values` are plain scores. `centres` are what decisions use, as losses (lower is better): scores without the bias of few
rows where all of a metric have that, the plain ones otherwise. What is not known yet is null, and what is no finite
number is the text "nan", "inf" or "-inf", as JSON has neither.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...evaluation.scores import Scores
from ...metrics.base import Metric, losses


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of one metric.

    Attributes
    ----------
    values, centres : (G, k), plain scores, and losses that decisions use
    known : bool (G, k), whether a score was computed yet
    draws : (B, G, k) noise of the centres, 0 for exact laws; None where there is no interval
    is_corrected : whether the centres are other than the plain scores
    """

    metric: Metric[Any]
    values: np.ndarray
    centres: np.ndarray
    known: np.ndarray
    draws: np.ndarray | None
    is_corrected: bool

    @property
    def is_same(self) -> bool:
        """Whether avg and all order the generators alike, always: KID."""
        return is_kid(self.metric)


def is_kid(metric: Metric[Any]) -> bool:
    """Whether avg − all is the same for every generator."""
    from ...metrics.kid.metric import KID

    return isinstance(metric, KID)


def centres_of(scores: Scores, metric: Metric[Any], known: np.ndarray) -> tuple[np.ndarray, bool]:
    """What decisions use, (G, k), and whether it is without the bias of few rows."""
    plain = losses(metric, scores.values(metric.name).by_client)
    rows = scores.clients[scores.clients["metric"] == metric.name]
    if "corrected" not in rows:
        return plain, False
    corrected = losses(metric, rows["corrected"].to_numpy().reshape(plain.shape))
    if np.isnan(corrected[known & ~np.isnan(plain)]).any():
        return plain, False
    return corrected, not np.allclose(corrected[known], plain[known], rtol=1e-9, atol=0.0, equal_nan=True)


def written(values: np.ndarray, known: np.ndarray) -> list[float | str | None]:
    """Numbers as JSON has them."""
    return [number(value) if is_known else None for value, is_known in zip(values, known, strict=True)]


def number(value: float) -> float | str:
    """A number as JSON has it, or "nan", "inf", "-inf"."""
    return float(value) if math.isfinite(value) else str(float(value))


def packed(draws: np.ndarray) -> dict[str, Any]:
    """Draws (B, …) as whole numbers of −127 to 127 and a scale for each place."""
    rounded, scale = quantised(draws)
    return {"scale": scale.ravel().tolist(), "int8": base64.b64encode(rounded.tobytes()).decode()}


def quantised(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draws as int8, and the scale that each place is multiplied with: what both sides compute with."""
    scale = np.abs(draws).max(axis=0) / 127.0
    unit = np.where(scale == 0.0, 1.0, scale)
    return np.rint(draws / unit).astype(np.int8), scale


def facts_of_clients(names: Sequence[str], rows: Sequence[int], shares: Sequence[float]) -> list[dict[str, Any]]:
    """One dict a client."""
    return [{"name": n, "rows": r, "share": s} for n, r, s in zip(names, rows, shares, strict=True)]


def facts_of_metric(facts: Facts, note: str) -> dict[str, Any]:
    """What the page has to know of a metric."""
    metric = facts.metric
    return {
        "name": metric.name,
        "label": metric.label,
        "higher": metric.higher_is_better,
        "best": metric.best,
        "same": facts.is_same,
        "corrected": facts.is_corrected,
        "sure": facts.draws is not None,
        "note": note,
    }
