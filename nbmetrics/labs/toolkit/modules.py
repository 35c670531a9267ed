"""The page's modules joined into one ES module, each in a scope of its own, so that nothing is built or fetched.

`import { a, b as c } from "../x.js"` becomes `const { a, b: c } = toolkit_view_x;`, and a JSON file is a scope itself.
The entry stays at the top level, where its `export default` is what anywidget asks for. Each part stands below a
comment with the path of its file; what files say in blocks of `/** … */`, for readers and for types, stays out.

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

from ...errors import InvalidInput, shown

_NAMED = re.compile(r'^import\s+\{([^}]*)\}\s+from\s+"((?:\.|nbmetrics/)[\w./-]+\.js)";\n', re.MULTILINE)
_JSON = re.compile(r'^import\s+(\w+)\s+from\s+"(\.[\w./-]+\.json)"\s+with\s+\{ type: "json" \};\n', re.MULTILINE)
# The style sheets of a lab with tabs and charts.
CHARTS = ("toolkit/view/tabs.css", "toolkit/view/chart.css")
# The comment above each part.
_PATH = re.compile(r"^(?://|/\*) (\S+\.(?:js|json|css))(?: \*/)?$", re.MULTILINE)
_BLOCK = re.compile(r"^[ \t]*/\*\*[^*]*(?:\*(?!/)[^*]*)*\*/\n", re.MULTILINE)
# What "<" is in a script that stands in a page, where "</script>" would end it.
ESCAPED = r"\u003c"
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)

# Where files of one's own lie, by what they are called in a page.
_OWN: dict[str, Path] = {}


def source(path: str | Path) -> str:
    """Return the text of a file under `nbmetrics/labs`, such as "toolkit/view/dom.js", or of a path."""
    if isinstance(path, Path):
        return path.read_text("utf-8")
    return resources.files("nbmetrics").joinpath("labs", path).read_text("utf-8")


@cache
def module(entry: str | Path) -> str:
    """Return `entry` joined with all it imports, in the order they depend on each other."""
    joined: dict[str, str] = {}

    def join(path: str | Path) -> str:
        name = _name(path, entry)
        scope = re.sub(r"\W", "_", name.removesuffix(".js"))
        if name not in joined:
            joined[name] = _as_script(path, scope) if name.endswith(".json") else in_scope(path, scope)
        return scope

    def in_scope(path: str | Path, scope: str) -> str:
        text = _BLOCK.sub("", source(path))
        body = _NAMED.sub(lambda m: f"const {{{_as_destructuring(m[1])}}} = {join(_beside(path, m[2]))};\n", text)
        body = _JSON.sub(lambda m: f"const {m[1]} = {join(_beside(path, m[2]))};\n", body)
        exports = ", ".join(_EXPORT.findall(body))
        body = _EXPORT.sub("", body)
        _check(body, str(path))
        body = _dedent(body)
        return body if path == entry else f"const {scope} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"

    join(entry)
    return "\n".join(f"// {name}\n{text}" for name, text in joined.items())


def _dedent(body: str) -> str:
    """Return code without what begins its lines, a tenth of a page, where no text runs over several lines."""
    is_text = any(line.count("`") % 2 for line in body.splitlines())
    return body if is_text else re.sub(r"^[ \t]+", "", body, flags=re.MULTILINE)


def _check(body: str, path: str) -> None:
    """Raise InvalidInput for what would leave the page empty: an import not of our form, the end of its script."""
    if match := re.search(r"^import\b.*", body, re.MULTILINE):
        fix = 'Write import { a, b as c } from "./file.js"; with names in braces, double quotes and a semicolon'
        raise InvalidInput(path, f"has {shown(match[0])}", fix)
    if "</script" in body:
        raise InvalidInput(path, "has the text </script, which would end the page's script", "Write <\\/script")


def _name(path: str | Path, entry: str | Path) -> str:
    """Return the name of a file in the page; outside the package, its path relative to the entry."""
    if isinstance(path, str):
        return path
    folder = Path(entry).parent
    name = re.sub(r"\s", "_", f"own/{folder.name}/{os.path.relpath(path, folder)}").replace(os.sep, "/")
    _OWN[name] = path
    return name


def _as_destructuring(names: str) -> str:
    """Return `a, b as c` of an import as `a, b: c` of a destructuring."""
    return re.sub(r"\s+as\s+", ": ", names)


def _beside(path: str | Path, wanted: str) -> str | Path:
    if not wanted.startswith("."):
        return wanted.removeprefix("nbmetrics/")
    if isinstance(path, Path):
        return Path(os.path.normpath(path.parent / wanted))
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), wanted))


def _as_script(path: str | Path, scope: str) -> str:
    """Return a JSON file as a constant of a page's script, which no text in it can end."""
    text = json.dumps(json.loads(source(path)), ensure_ascii=False, separators=(",", ":"))
    return f"const {scope} = {text.replace('<', ESCAPED)};"


@cache
def style(*paths: str | Path) -> str:
    """Return the style sheet of all views joined with those of `paths`."""
    return "\n".join(f"/* {_name(path, path)} */\n{source(path)}" for path in ("toolkit/view/lab.css", *paths))


def files_of(joined: str) -> list[str]:
    """Return the paths of the files that a module or a style was joined from, in their order."""
    return _PATH.findall(joined)


def rejoin(text: str) -> str:
    """Return a joined module or style joined anew from its present files; other texts unchanged."""
    names = files_of(text)
    if not names:
        return text
    paths = [_OWN.get(name, name) for name in names]
    return style(*paths[1:]) if names[-1].endswith(".css") else module(paths[-1])


def forget() -> None:
    """Clear the caches, so that files are read again."""
    module.cache_clear()
    style.cache_clear()
