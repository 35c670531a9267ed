"""The headline: which generator avg calls best, which all, in one line.

Twin: labs/playground/view/headline.js · held by: tests/labs/playground/test_headline_page.py
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...evaluation.scores import Scores
from ...ranking import places
from .scene import METRICS


def headline(scores: Scores, metric: str) -> str:
    """What avg and all say of who is best, such as "Average says Narrow. Pooled says Wide." """
    label, losses = scores.label(metric), scores.losses(metric)
    if len(scores.generators) == 1:
        avg, pooled, _ = scores.values(metric)
        return f"{label} averaged: {avg[0]:.3f}. Pooled: {pooled[0]:.3f}."
    ranks = {"avg": places(losses.avg), "all": places(losses.all)}
    best = {part: [scores.generators[g] for g in np.flatnonzero(ranks[part] == 1)] for part in ranks}
    lead = f"{label} agrees with itself: " if METRICS.get(metric, {}).get("kernel") else ""
    both = "both" if lead else "Both"
    if best["avg"] != best["all"]:
        return f"Average {_says(best['avg'])}. Pooled {_says(best['all'])}."
    if len(best["avg"]) > 1:
        return f"{lead}{both} {_says(best['avg'], 'see')}."
    same = (ranks["avg"] == ranks["all"]).all()
    return f"{lead}{both} say {best['avg'][0]}{'.' if same else ', and order the others differently.'}"


def with_cautions(text: str, label: str, samples: int, cautions: Iterable[str]) -> str:
    """Return the headline beside what it rests on: few points, or scores that come with cautions."""
    is_cautioned = any(line.startswith((f"{label}:", f"{label} ")) for line in cautions)
    first = f"From {samples:,} points each: " if samples else ""
    return f"{first}{text}{' But see the cautions.' if is_cautioned else ''}"


def _says(best: list[str], see: str = "sees") -> str:
    if len(best) == 1:
        return f"says {best[0]}"
    return f"{see} {best[0]} and {best[1]} level" if len(best) == 2 else f"{see} {len(best)} level"
