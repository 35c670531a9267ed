"""The rooms of the package: imports go one way, heavy libraries keep to theirs, and rooms stay small."""

import ast
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "nbmetrics"

GROUPS = [
    {"errors"},
    {"arrays"},
    {"roots"},
    {"critic"},
    {"distributions", "densities", "summaries", "joint"},
    {"metrics"},
    {"partition"},
    {"federation"},
    {"uncertainty", "influence", "orders", "theory", "scene"},
    {"results", "display", "sampling", "heterogeneity", "scores", "evaluation", "figures"},
    {"experiments", "features", "training", "cluster"},
    {"labs"},
]
LEVEL = {room: level for level, group in enumerate(GROUPS) for room in group}

# Who may import what; arrays may do so inside a function, to know a tensor when it is given one.
ALLOWED = {
    "ipywidgets": {"labs"},
    "anywidget": {"labs"},
    "traitlets": {"labs"},
    "torch": {"critic", "features", "training"},
    "torchvision": {"features", "training"},
    "torch_fidelity": {"features", "training"},
    "matplotlib": {"figures"},
    "dask": {"cluster"},
    "distributed": {"cluster"},
}
LAZILY_ALLOWED = {("arrays", "torch")}


def within(tree, wanted):
    return {id(inner) for outer in ast.walk(tree) if wanted(outer) for inner in ast.walk(outer)}


def is_function(node):
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def is_for_types_only(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported(tree, module, is_package):
    """(line, dotted name, when) of every import; names of `from x import y` become x.y."""
    late, never = within(tree, is_function), within(tree, is_for_types_only)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            here = module.split(".")
            base = here[: len(here) - node.level + is_package] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{prefix}.{alias.name}" for alias in node.names]
        else:
            continue
        when = "never" if id(node) in never else "late" if id(node) in late else "at once"
        yield from ((node.lineno, name, when) for name in names)


def complaint(room, name, when):
    """What is wrong with this import in this room, or None."""
    top, *rest = name.split(".")
    if top == "nbmetrics":
        target = rest[0] if rest else None
        if target not in LEVEL:
            return f"imports {name}: name the room it lives in"
        if LEVEL[target] > LEVEL[room]:
            return f"imports {name}: {target} comes later than {room}"
    elif when == "never" or (when == "late" and (room, top) in LAZILY_ALLOWED):
        return None  # types only load nothing; an arrow between rooms, above, counts all the same
    elif top in ALLOWED and room not in ALLOWED[top]:
        return f"imports {name}: only {' and '.join(sorted(ALLOWED[top]))} may"
    elif name.startswith(("matplotlib.pyplot", "matplotlib.pylab")):
        return f"imports {name}: figures are made with the object API"
    return None


def complaints(source, relative):
    room = relative.parts[0].removesuffix(".py")
    if room not in LEVEL:
        return [f"{relative}: a room without a place in the order; give it one in {Path(__file__).name}"]
    is_package = relative.name == "__init__.py"
    parts = relative.parent.parts if is_package else relative.with_suffix("").parts
    found = imported(ast.parse(source), ".".join(("nbmetrics", *parts)), is_package)
    said = ((line, complaint(room, name, when)) for line, name, when in found)
    return [f"{relative}:{line} {what}" for line, what in said if what]


def modules():
    # The package's own __init__ resolves names lazily and may name every room.
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def test_imports_go_one_way():
    found = chain.from_iterable(complaints(path.read_text(), path.relative_to(PACKAGE)) for path in modules())
    assert not (wrong := list(found)), "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("where", "source", "wrong"),
    [
        ("arrays.py", "from .errors import InvalidInput", False),
        ("errors.py", "from .arrays import eigvalsh", True),
        ("errors.py", "def f():\n    from nbmetrics import labs", True),
        ("metrics/frechet.py", "from ..summaries import Moments\nfrom .base import Metric", False),
        ("metrics/__init__.py", "from .frechet import FID", False),
        ("metrics/frechet.py", "from .. import federation", True),
        ("federation.py", "from nbmetrics.partition import dirichlet", False),
        ("scores.py", "from nbmetrics import Gaussian", True),
        ("arrays.py", "import torch", True),
        ("arrays.py", "def f():\n    import torch", False),
        ("labs/base.py", "import anywidget, traitlets", False),
        ("scene.py", "import traitlets", True),
        ("evaluate.py", "def f():\n    from dask.distributed import Client", True),
        ("figures.py", "from matplotlib.figure import Figure", False),
        ("figures.py", "from matplotlib import pyplot as plt", True),
        ("scores.py", "if TYPE_CHECKING:\n    from matplotlib.figure import Figure", False),
        ("arrays.py", "if TYPE_CHECKING:\n    from .labs import Playground", True),
        ("misc.py", "", True),
    ],
)
def test_the_walk_itself(where, source, wrong):
    assert bool(complaints(source, Path(where))) is wrong


def in_fresh_python(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_importing_the_package_brings_in_nothing_heavy():
    loaded = set(in_fresh_python("import nbmetrics, sys; print(*sys.modules)").split())
    assert not loaded & {"torch", "matplotlib", "pandas", "anywidget", "scipy", "sklearn"}


def test_importing_the_package_is_quick():
    timed = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"

    def best(module):
        return min(float(in_fresh_python(timed.format(module))) for _ in range(5))

    assert best("nbmetrics") <= best("numpy") + 0.3


def long_functions(path, most):
    for node in ast.walk(ast.parse(path.read_text())):
        if is_function(node):
            lines = node.end_lineno - node.lineno + 1
            if lines > most:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {lines} lines"


def test_files_and_functions_stay_small():
    folders = (PACKAGE, ROOT / "tests")
    files = [p for folder in folders for p in folder.rglob("*") if p.suffix in {".py", ".js"} and p.is_file()]
    files = [p for p in files if "node_modules" not in p.parts]
    lengths = {p: len(p.read_text().splitlines()) for p in files}
    large = [f"{p.relative_to(ROOT)} has {n} lines" for p, n in lengths.items() if n > 450]
    large += [line for p in files if p.suffix == ".py" for line in long_functions(p, 60)]
    assert not large, "\n" + "\n".join(large)
