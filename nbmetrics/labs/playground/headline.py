"""The headline: which generator avg calls best, which all, in one line.

Twin: labs/playground/view/headline.js · held by: tests/labs/playground/test_headline_page.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...evaluation.scores import Scores
from ...ranking import places, same_scores
from .scene import METRICS


def headline(scores: Scores, metric: str, margins: Mapping[str, Any] | None = None) -> str:
    """Return which generator is best by avg and which by all, such as "Best on average: Narrow. Best pooled: Wide."

    Where intra prefers another than all does, also who is best by intra. Of drawn points `margins` has, by aggregate,
    (G, G) differences that may be the luck of the draw: scores within them tie.
    """
    label, losses, cells = scores.label(metric), scores.losses(metric), scores.result(metric)
    has_intra = "intra" in cells.aggregates
    if len(scores.generators) == 1:
        avg, pooled, _ = scores.values(metric)
        own = f" Intra: {cells.intra[0]:.3f}." if has_intra else ""
        return f"{label} averaged: {avg[0]:.3f}. Pooled: {pooled[0]:.3f}.{own}"
    by_part = {"avg": losses.avg, "all": losses.all} | ({"intra": cells.losses(cells.intra)} if has_intra else {})
    ranks = {part: _places(values, (margins or {}).get(part)) for part, values in by_part.items()}
    best = {part: [scores.generators[g] for g in np.flatnonzero(ranks[part] == 1)] for part in ranks}
    own = f" Best by intra: {_names(best['intra'])}." if has_intra and best["intra"] != best["all"] else ""
    if best["avg"] != best["all"]:
        return f"Best on average: {_names(best['avg'])}. Best pooled: {_names(best['all'])}.{own}"
    is_kernel = METRICS.get(metric, {}).get("kernel")
    lead = f"{label} averaged and pooled always agree" if is_kernel else "Best on average and pooled"
    others = "" if len(best["avg"]) > 1 or (ranks["avg"] == ranks["all"]).all() else ". The others change places"
    return f"{lead}: {_names(best['avg'])}{others}.{own}"


def _places(losses: np.ndarray, margin: Any) -> np.ndarray:
    if margin is None:
        return places(losses)
    beaten = (losses[:, None] - losses > margin) & ~same_scores(losses[:, None], losses)
    return np.where(np.isnan(losses), len(losses), 1 + beaten.sum(axis=1))


def with_cautions(text: str, label: str, samples: int, cautions: Iterable[str]) -> str:
    """Return the headline beside what it rests on: few points, or scores that come with cautions."""
    is_cautioned = any(line.startswith((f"{label}:", f"{label} ")) for line in cautions)
    first = f"From {samples:,} points each: " if samples else ""
    return f"{first}{text}{' See the cautions.' if is_cautioned else ''}"


def _names(best: list[str]) -> str:
    if len(best) == 1:
        return best[0]
    return f"{best[0]} and {best[1]} (tied)" if len(best) == 2 else f"{len(best)} tied"
