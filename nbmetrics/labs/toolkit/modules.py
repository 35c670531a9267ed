"""The page's modules joined into one ES module, each in a scope of its own, so that nothing is built or fetched.

`import { a, b as c } from "../x.js"` becomes `const { a, b: c } = toolkit_view_x;`, and a JSON file is put in as it is.
The entry stays at the top level, where its `export default` is what anywidget asks for.

A file is named by its path under `nbmetrics/labs`, or is a `Path` of one's own: a lab may live anywhere, and its
modules import the toolkit's as "nbmetrics/toolkit/view/lab.js".
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from functools import cache
from importlib import resources
from pathlib import Path

_NAMED = re.compile(r'^import\s+\{([^}]*)\}\s+from\s+"((?:\.|nbmetrics/)[\w./-]+\.js)";\n', re.MULTILINE)
_JSON = re.compile(r'^import\s+(\w+)\s+from\s+"(\.[\w./-]+\.json)"\s+with\s+\{ type: "json" \};\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


def source(path: str | Path) -> str:
    """One file under `nbmetrics/labs`, such as "toolkit/view/dom.js", or one of one's own."""
    if isinstance(path, Path):
        return path.read_text("utf-8")
    return resources.files("nbmetrics").joinpath("labs", path).read_text("utf-8")


@cache
def module(entry: str | Path) -> str:
    """`entry` and all it imports, in the order they depend on each other."""
    joined: dict[str, str] = {}

    def join(path: str | Path) -> str:
        name = _name(path, entry)
        scope = re.sub(r"\W", "_", name.removesuffix(".js"))
        if name in joined:
            return scope
        text = source(path)
        named = _NAMED.sub(lambda m: f"const {{{_renamed(m[1])}}} = {join(_beside(path, m[2]))};\n", text)
        body = _JSON.sub(lambda m: f"const {m[1]} = {_as_script(_beside(path, m[2]))};\n", named)
        exports = ", ".join(_EXPORT.findall(body))
        body = _EXPORT.sub("", body)
        joined[name] = body if path == entry else f"const {scope} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"
        return scope

    join(entry)
    return "\n".join(f"// {name}\n{text}" for name, text in joined.items())


def _name(path: str | Path, entry: str | Path) -> str:
    """What a module is called in the page: one's own by where it lies from the entry, for a page tells no folders."""
    return path if isinstance(path, str) else "own/" + os.path.relpath(path, Path(entry).parent).replace(os.sep, "/")


def _renamed(names: str) -> str:
    """`a, b as c` of an import as `a, b: c` of a destructuring."""
    return re.sub(r"\s+as\s+", ": ", names)


def _beside(path: str | Path, wanted: str) -> str | Path:
    if not wanted.startswith("."):
        return wanted.removeprefix("nbmetrics/")
    if isinstance(path, Path):
        return Path(os.path.normpath(path.parent / wanted))
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), wanted))


def _as_script(path: str | Path) -> str:
    """A JSON file as an expression that can stand in a page's script."""
    return json.dumps(json.loads(source(path))).replace("<", "\\u003c")


@cache
def style(*paths: str | Path) -> str:
    """The style sheet that all views share, and those of one lab's own."""
    return "\n".join(source(path) for path in ("toolkit/view/lab.css", *paths))
