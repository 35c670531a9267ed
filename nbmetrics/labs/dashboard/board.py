"""The facts that a page needs of the scores: they depend on the data alone, not on the scene.

    {"clients": [{"name", "rows", "share", "classes"}], "generators": {name: {}},
     "metrics": [{"name", "label", "higher", "best", "same", "pooled", "corrected", "distance", "sure", "why", "note"}],
     "values": {metric: {generator: [k]}}, "centres": …, "few": {metric: [k]}, "leaves": [k],
     "tree": [[left, right, apart]], "gaps": {metric: {"means"}},
     "ledger": what each score costs and reveals, see costs.py, once it is known,
     "filled": {"done", "total", "doing", "stopped", "why"}, "regroup": what was done to the clients, see changes.py}

`values` are plain scores. `centres` are what decisions use, as losses (lower is better): the score without the bias of
few rows where that can be taken off, the plain one elsewhere. `few` says of each client why its scores have no
interval, or "": such a client is left out of decisions. What is not known yet is null, and what is no finite number is
the text "nan", "inf" or "-inf", as JSON has neither.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...evaluation.cells import Cells
from ...evaluation.noise import Noise, pack_draws, unpack_draws
from ...metrics.base import Metric, losses
from ...metrics.fid.infinity import FIDInfinity
from ...metrics.fid.metric import FID
from ...metrics.kid.metric import KID
from .incremental import NOT_YET

# Classes of a client, and of all, that a page carries.
MOST_CLASSES, MOST_NAMED = 100, 5_000
# Clients whose kernel means with one another a page carries.
MOST_CROSSED = 150


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of one metric, k clients and G generators.

    Attributes
    ----------
    values, centres : (G, k), plain scores, and losses that decisions use
    known : bool (G, k), whether a score was computed yet
    few : k reasons why a client's scores have no interval, or ""
    draws : (B, G, k) noise of the centres as the page has it; None where it is not known
    why : there are no draws
    note : how the numbers were made
    is_pooled : whether there are pooled data to score
    """

    metric: Metric[Any]
    values: np.ndarray
    centres: np.ndarray
    known: np.ndarray
    few: tuple[str, ...]
    draws: np.ndarray | None
    why: str
    note: str
    is_pooled: bool = True

    @property
    def is_corrected(self) -> bool:
        """Whether a centre is other than its plain score."""
        plain = losses(self.metric, self.values)
        return not np.allclose(self.centres[self.known], plain[self.known], rtol=1e-9, atol=0.0, equal_nan=True)

    @property
    def is_same(self) -> bool:
        """Whether avg and all order the generators alike, always."""
        return isinstance(self.metric, KID)

    @property
    def is_distance(self) -> bool:
        """Whether a true score is never below 0, and an estimate without the bias of few rows may be."""
        return isinstance(self.metric, FID | FIDInfinity)

    def of(self, chosen: Sequence[int]) -> Facts:
        """Of some of the generators, by position."""
        which = list(chosen)
        draws = None if self.draws is None else self.draws[:, which]
        values, centres, known = self.values[which], self.centres[which], self.known[which]
        return replace(self, values=values, centres=centres, known=known, draws=draws)

    @property
    def counts(self) -> np.ndarray:
        """bool (k,): the clients that decisions look at."""
        return np.array([not reason for reason in self.few])


def facts_of(result: Cells, known: np.ndarray, noise: Noise | None, why: str) -> Facts:
    """What a result and its noise say, where `known`."""
    metric, values = result.metric, result.by_client
    centres = losses(metric, values)
    few: tuple[str, ...] = ("",) * values.shape[1]
    draws = None
    if noise is not None:
        is_sounded = all(set(reasons) != {NOT_YET} for reasons in noise.reasons)
        # A generator whose own rows are too few has no interval with any client, which is no client's fault.
        sure = [reasons for reasons in noise.reasons if not all(reasons)]
        columns = list(zip(*sure, strict=True)) if sure else [(r,) for r in noise.reasons[0]] if noise.reasons else []
        few = tuple(next((reason for reason in column if reason), "") for column in columns) or few
        corrected = losses(metric, noise.centres)
        centres = np.where(np.isnan(corrected), centres, corrected)
        if not is_sounded:
            why = why or NOT_YET
        elif all(few):
            why = why or few[0]
        else:
            draws = np.stack([rounded(noise.by_client[:, g]) for g in range(len(values))], axis=1)
    note = "; ".join(filter(None, [metric.convention or metric.label, result.span]))
    return Facts(metric, values, centres, known, few, draws, why, note)


def rounded(draws: np.ndarray) -> np.ndarray:
    """Draws (B, k) as the page has them; NaN where there are none."""
    return unpack_draws(*pack_draws(draws))


def facts_of_clients(
    names: Sequence[str], rows: Sequence[int], shares: Sequence[float], classes: Sequence[Sequence[str]] = ()
) -> list[dict[str, Any]]:
    """One dict a client, with its classes where they are known."""
    facts = [{"name": n, "rows": r, "share": s} for n, r, s in zip(names, rows, shares, strict=True)]
    return [{**own, "classes": list(known)} for own, known in zip(facts, classes, strict=True)] if classes else facts


def facts_of_metric(facts: Facts) -> dict[str, Any]:
    """What the page has to know of a metric."""
    metric = facts.metric
    return {
        "name": metric.name,
        "label": metric.label,
        "higher": metric.higher_is_better,
        "best": metric.best,
        "same": facts.is_same,
        "pooled": facts.is_pooled,
        "corrected": facts.is_corrected,
        "distance": facts.is_distance,
        "sure": facts.draws is not None,
        "why": facts.why if facts.draws is None else "",
        "note": facts.note,
    }


def packed_gap(means: np.ndarray | None) -> dict[str, str] | None:
    """What makes KID-avg − KID-all under any weights (`client_kernel_means`); None where a page should not carry it."""
    if means is None or not 1 < len(means) <= MOST_CROSSED or not np.isfinite(means).all():
        return None
    upper = np.ascontiguousarray(means[np.triu_indices(len(means))], dtype="<f8")
    return {"means": base64.b64encode(upper.tobytes()).decode()}


def packed_clients(draws: np.ndarray) -> dict[str, Any]:
    """Draws (B, k) of one generator as whole numbers and what one is worth; clients without have the scale null."""
    scale, numbers = pack_draws(draws)
    return {"scale": [number(s) for s in scale], "int8": base64.b64encode(numbers).decode()}


def packed_all(names: Sequence[str], draws: np.ndarray) -> dict[str, Any]:
    """Draws (B, G) of the pooled clients, by generator."""
    return {name: packed_clients(draws[:, g : g + 1]) for g, name in enumerate(names)}


def written(values: np.ndarray, known: np.ndarray) -> list[float | str | None]:
    """Numbers as JSON has them, None for what is not known."""
    return [number(value) if is_known else None for value, is_known in zip(values, known, strict=True)]


def number(value: float) -> float | str:
    """A number as JSON has it, or "nan", "inf", "-inf"."""
    return float(value) if math.isfinite(value) else str(float(value))
