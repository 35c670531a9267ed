"""The import graph: which file of the package, Python or page, imports which, and the room that each lives in.

`python -m tests.rooms` draws it into docs/rooms.svg, and the ways of a score and of a drag into docs/flow.svg.
"""

import ast
import functools
import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "nbmetrics"

# From the ground up: a room imports only rooms before it.
ROOMS = [
    "errors",
    "lazy_imports",
    "plugins",
    "files",
    "threads",
    "progress",
    "ranking",
    "datasets",
    "tables",
    "arrays",
    "partition",
    "distributions",
    "densities",
    "summaries",
    "metrics",
    "figures",
    "federation",
    "evaluation",
    "theory",
    "features",
    "training",
    "torch",
    "cluster",
    "federated",
    "experiments",
    "labs/toolkit",
    "labs/plane",
    "labs/playground",
    "labs/correlation",
    "labs/twins",
    "labs/memorization",
    "labs/dashboard",
    "labs/monitor",
    "labs/privacy",
    "labs",
    "scene",
    "cli",
]
LEVEL = {room: level for level, room in enumerate(ROOMS)}
# Labs know the toolkit and the plane, and not one another.
LABS = {room for room in ROOMS if room.startswith("labs/")} - {"labs/toolkit", "labs/plane"}

_PAGE_IMPORT = re.compile(r'^import\s[^"]*"(\.[\w./]+)"', re.MULTILINE)
_PAGE_TYPES = re.compile(r'@import\s[^"]*"(\.[\w./]+)"')


def room_of(relative):
    """The room of a file, by its path under the package."""
    first, *rest = Path(relative).with_suffix("").parts
    if first == "__main__":
        return "cli"
    return f"labs/{rest[0]}" if first == "labs" and rest and rest[0] != "__init__" else first


def python_files():
    """All but the package's own __init__, which resolves names when asked and may name every room."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def page_files():
    return sorted(PACKAGE.rglob("*.js"))


def statements(tree, outer=()):
    """(statement, those that it stands in) of a file, and of no expression, which are most of a tree."""
    for part in ("body", "handlers", "cases", "orelse", "finalbody"):
        for node in getattr(tree, part, ()):
            yield node, outer
            yield from statements(node, (*outer, node))


def _is_function(node):
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _is_for_types_only(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@functools.cache
def imported(source, relative):
    """(line, dotted name, when) of every import of a Python file; names of `from x import y` become x.y."""
    return list(_imported(ast.parse(source), Path(relative)))


def _imported(tree, relative):
    is_package = relative.name == "__init__.py"
    here = ("nbmetrics", *(relative.parent if is_package else relative.with_suffix("")).parts)
    for node, outer in statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + is_package] if node.level else ()
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{prefix}.{alias.name}" for alias in node.names]
        else:
            continue
        when = (
            "never" if any(map(_is_for_types_only, outer)) else "late" if any(map(_is_function, outer)) else "at once"
        )
        yield from ((node.lineno, name, when) for name in names)


def page_imported(source, relative):
    """(path under the package, whether for its types only) of every import of a page module."""
    for pattern, is_type in ((_PAGE_IMPORT, False), (_PAGE_TYPES, True)):
        for wanted in pattern.findall(source):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(str(relative)), wanted)), is_type


def arrows():
    """{(importer, imported): "at once", "late" or "never"} between files of the package, by their paths under it."""
    paths = {path.relative_to(PACKAGE).as_posix() for path in python_files()}
    found = {}
    for path in sorted(paths):
        for _, name, when in imported((PACKAGE / path).read_text("utf-8"), path):
            target = _file_of(name, paths)
            if target and target != path:
                found.setdefault((path, target), when)
    for path in page_files():
        relative = path.relative_to(PACKAGE).as_posix()
        for target, is_type in page_imported(path.read_text("utf-8"), relative):
            if target.endswith(".js"):
                found[relative, target] = "never" if is_type else "at once"
    return found


def _file_of(name, paths):
    """The file of the longest beginning of a dotted name that is one."""
    parts = name.split(".")[1:] if name.split(".")[0] == "nbmetrics" else []
    for length in range(len(parts), 0, -1):
        stem = "/".join(parts[:length])
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            if path in paths:
                return path
    return None


def lines_by_room():
    """{room: lines of Python, page modules and styles}."""
    found = {}
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in {".py", ".js", ".css"} and path != PACKAGE / "__init__.py":
            room = room_of(path.relative_to(PACKAGE))
            found[room] = found.get(room, 0) + len(path.read_text("utf-8").splitlines())
    return found


def circles(graph):
    """The sets of nodes, two or more, that reach one another in {node: set of nodes}."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            circle = set()
            while node not in circle:
                circle.add(stack.pop())
            if len(circle) > 1:
                found.append(circle)

    for node in graph:
        if node not in order:
            visit(node)
    return found


def main():
    from tests import flow_figure, rooms_figure

    for name, picture in (("rooms", rooms_figure.drawing(*rooms_figure.facts())), ("flow", flow_figure.drawing())):
        (ROOT / "docs" / f"{name}.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
