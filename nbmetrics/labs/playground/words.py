"""The headline: which generator avg calls best, which all, in one line.

Twin: labs/playground/view/words.js · held by: tests/labs/playground/test_words_page.py
"""

from __future__ import annotations

from collections.abc import Iterable

from ...evaluation.scores import Scores
from .scene import METRICS


def headline(scores: Scores, metric: str) -> str:
    """What avg and all say of who is best, such as "Average says Narrow. Pooled says Wide." """
    label = scores.label(metric)
    if len(scores.generators) == 1:
        row = scores.table.set_index("metric").loc[metric]
        return f"{label} averaged: {row['avg']:.3f}. Pooled: {row['all']:.3f}."
    places = scores.ranks(metric).set_index("generator").loc[list(scores.generators)]
    best = {part: [str(g) for g, place in places[part].items() if place == 1] for part in ("avg", "all")}
    lead = f"{label} agrees with itself: " if METRICS.get(metric, {}).get("kernel") else ""
    both = "both" if lead else "Both"
    if best["avg"] != best["all"]:
        return f"Average {_says(best['avg'])}. Pooled {_says(best['all'])}."
    if len(best["avg"]) > 1:
        return f"{lead}{both} {_says(best['avg'], 'see')}."
    same = (places["avg"] == places["all"]).all()
    return f"{lead}{both} say {best['avg'][0]}{'.' if same else ', and order the others differently.'}"


def hedged(text: str, label: str, samples: int, cautions: Iterable[str]) -> str:
    """The same beside what it rests on: few points, or scores that come with cautions, which stand under the table."""
    is_cautioned = any(line.startswith((f"{label}:", f"{label} ")) for line in cautions)
    first = f"From {samples:,} points each: " if samples else ""
    return f"{first}{text}{' But see the cautions.' if is_cautioned else ''}"


def _says(best: list[str], see: str = "sees") -> str:
    if len(best) == 1:
        return f"says {best[0]}"
    return f"{see} {best[0]} and {best[1]} level" if len(best) == 2 else f"{see} {len(best)} level"
