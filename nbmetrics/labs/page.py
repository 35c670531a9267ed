"""The modules of `nbmetrics/js` joined into one ES module, so that nothing has to be built or fetched."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_IMPORT = re.compile(r'^import\s+(?:[^"]*?\s+from\s+)?"\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|class|const)", re.MULTILINE)


def source(name: str) -> str:
    """One file of `nbmetrics/js` as it is."""
    return resources.files("nbmetrics").joinpath("js", name).read_text("utf-8")


@cache
def module(entry: str) -> str:
    """`entry` and all it imports, in the order they depend on each other; its default export stays."""
    seen: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in seen:
            return
        seen[name] = ""
        text = source(name)
        for needed in _IMPORT.findall(text):
            visit(needed)
        body = _EXPORT.sub("", _IMPORT.sub("", text))
        del seen[name]
        seen[name] = f"// {name}\n{body}"

    visit(entry)
    return "\n".join(seen.values())


@cache
def style(*names: str) -> str:
    """The style sheet that all views share, and those of one lab's own."""
    return "\n".join(source(name) for name in ("lab.css", *names))
