"""A lab as one self-contained page: the same module on a model that has no Python behind it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from html import escape
from typing import Any

import anywidget

from ...errors import check_names, check_text
from . import modules

_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_FIELD = re.compile(r"\{\{(\w+)\}\}")
COMPUTED = "A saved page: its numbers are computed here, in the page."
OF_PLAYGROUND = f"{COMPUTED} What needs Python (FLD, precision and recall, intervals) needs a notebook."
OF_TWINS = f"{COMPUTED} A twin that needs a search by Python needs a notebook."
OF_DASHBOARD = (
    "A saved page: weights move here, and the numbers follow. Values marked ≈ and missing generators need a notebook."
)
OF_MONITOR = (
    "A saved page: steps and weights move here, and avg and KID follow. FID-all under other weights, bands "
    "and tests of chance need a notebook."
)
OF_MONITOR_BY_CLIENT = (
    "A saved page: steps and weights move here, and intra follows. Under other weights, avg, all, bands and tests of "
    "chance need a notebook."
)
OF_PRIVACY = (
    "A saved page: ε, the run, metric and aggregate move here. Other data, another δ or clip, and other runs need a "
    "notebook."
)
OF_PYTHON = (
    "A saved page: its picture follows the sliders. The numbers are from Python, for the saved scene, shares copied "
    "of 0, 5, … 100 %, and presets on the same points; other scenes, points and data need a notebook."
)
MAX_LEAD_LETTERS = 5_000  # letters


@dataclass(frozen=True)
class Lead:
    """What stands above a lab on its page: a title, who wrote it, and a text or a question of some paragraphs."""

    title: str
    text: str = ""
    author: str = ""

    @classmethod
    def of(cls, title: Any, text: Any, author: Any) -> Lead:
        """Checked; InvalidInput names the one that is no text, or too long."""
        (title,) = check_names([title], "title")
        words = "" if text is None else check_text(text, "text", MAX_LEAD_LETTERS)
        return cls(title, words, "" if author is None else check_names([author], "author")[0])

    @property
    def html(self) -> str:
        """As text: nothing of it is markup."""
        by = f'<p class="by">{escape(self.author)}</p>\n' if self.author else ""
        paragraphs = "".join(f"<p>{escape(line)}</p>" for line in self.text.splitlines() if line.strip())
        return by + (f'<div class="lead">{paragraphs}</div>\n' if paragraphs else "")


def saved_page(lab: Any, description: str, lead: Lead) -> bytes:
    """Return the page as UTF-8; user text is JSON in a script that is not run, or escaped."""
    return fill_template(
        "toolkit/view/saved.html",
        **parts(lab),
        title=escape(lead.title),
        author=f'<meta name="author" content="{escape(lead.author)}">\n' if lead.author else "",
        lead=lead.html,
        description=escape(description),
    )


def parts(lab: Any, onward: str = "") -> dict[str, str]:
    """Return the fields of a lab's page: `embed`, and a style.

    `onward` is the address of the page to go on to, where the lab has a button for that.
    """
    script = (
        _DEFAULT.sub("const savedLab = ", lab._esm, count=1)
        + modules.module("toolkit/view/saved.js")
        + "\nopenSaved(savedLab);\n"
    )
    beside = {"saved": lab._saved_words, "kept": lab._saved_answers, "onward": onward}
    return {**embed(script, {**_state(lab), **lab._saved_traits, **beside}), "style": lab._css}


def embed(script: str, state: Any) -> dict[str, str]:
    """Return a page's one script, its hash for the CSP, and its state as JSON that nothing in it can end."""
    return {
        "script": script,
        "hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "state": json.dumps(state).replace("<", modules.ESCAPED),
    }


def fill_template(page: str, **fields: str) -> bytes:
    """Return a template as UTF-8 with the fields filled in; all but `parts` are escaped already."""
    # One pass, so that braces in a user's text are left alone.
    return _FIELD.sub(lambda match: fields[match[1]], modules.source(page)).encode("utf-8", "replace")


def _state(lab: Any) -> dict[str, Any]:
    """Return the lab's own synced traits, but for those tagged live, which mean nothing without a notebook."""
    others = {*anywidget.AnyWidget.class_trait_names(sync=True), *lab.trait_names(live=True)}
    state: dict[str, Any] = lab.get_state([n for n in lab.keys if n not in others and not n.startswith("_")])
    return state
