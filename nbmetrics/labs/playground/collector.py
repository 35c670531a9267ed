"""The page that a class's answers are pasted into: self-contained, offline, and with no Python behind it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from ..toolkit import modules

_FIELD = re.compile(r"\{\{(\w+)\}\}")


def page_of(text: str, lessons: Mapping[str, Any]) -> bytes:
    """The page as UTF-8, with `text` pasted already, and with the lessons that it knows the answers of."""
    script = modules.module("playground/view/collect.js")
    state = json.dumps({"text": text, "lessons": lessons}).replace("<", modules.ESCAPED)
    fields = {
        "style": modules.style("toolkit/view/chart.css", "playground/view/collect.css"),
        "state": state,
        "script": script,
        "hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }
    # One pass, so that braces in a text are left alone.
    filled = _FIELD.sub(lambda found: fields[found[1]], modules.source("playground/view/collect.html"))
    return filled.encode("utf-8", "replace")
