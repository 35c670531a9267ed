"""The page that a class's answers are pasted into: self-contained, offline, and with no Python behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..toolkit import modules, saved


def page_of(text: str, lessons: Mapping[str, Any]) -> bytes:
    """The page as UTF-8, with `text` pasted already, and with the lessons that it knows the answers of."""
    return saved.written("playground/view/collect.html", **parts(text, lessons))


def parts(text: str, lessons: Mapping[str, Any]) -> dict[str, str]:
    """What a page needs to collect answers, whatever stands around it."""
    script = modules.module("playground/view/collect.js")
    style = modules.style("toolkit/view/chart.css", "playground/view/collect.css")
    return {**saved.embedded(script, {"text": text, "lessons": lessons}), "style": style}
