"""The rooms of the package: imports go one way, heavy libraries keep to theirs, and rooms stay small."""

import ast
import subprocess
import sys
from itertools import chain

import pytest

from tests.rooms import (
    LABS,
    LEVEL,
    PACKAGE,
    ROOMS,
    ROOT,
    arrows,
    circles,
    imported,
    lines_by_room,
    page_files,
    page_imported,
    python_files,
    room_of,
    statements,
)

WIDGETS = {room for room in ROOMS if room.startswith("labs/")}
# Who may import what; arrays may do so inside a function, to know a tensor when it is given one.
ALLOWED = {
    "ipywidgets": WIDGETS,
    "anywidget": WIDGETS,
    "traitlets": WIDGETS,
    "torch": {"features", "training", "torch"},
    "torchmetrics": {"torch"},
    "matplotlib": {"figures"},
    "dask": {"cluster"},
    "distributed": {"cluster"},
}
LAZILY_ALLOWED = {("arrays", "torch"), ("metrics/w1.py", "torch")}  # whose critic is a network
# What is trained on digits is a network; each figure.py draws one thing.
ALLOWED_FILES = {"torch": {"features/train_digits.py"}, "matplotlib": {"figure.py", "snapshot.py"}}
MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_ROOM_SHARE = 600, 52, 0.20


def may(top, room, relative):
    files = ALLOWED_FILES.get(top, ())
    return room in ALLOWED[top] or str(relative) in files or relative.name in files


def complaint(relative, name, when):
    """What is wrong with this import in this file, or None."""
    room, (top, *rest) = room_of(relative), name.split(".")
    if name == "nbmetrics.__version__":
        return None  # no room's, and imports nothing
    if top == "nbmetrics":
        target = next((r for r in ("/".join(rest[:2]), *rest[:1]) if r in LEVEL), None)
        if target is None:
            return f"imports {name}: name the room it lives in"
        if LEVEL[target] > LEVEL[room]:
            return f"imports {name}: {target} comes later than {room}"
        if room in LABS and target in LABS - {room}:
            return f"imports {name}: a lab knows no other"
    elif when == "never" or (when == "late" and {(room, top), (str(relative), top)} & LAZILY_ALLOWED):
        return None  # types only load nothing; an arrow between rooms, above, counts all the same
    elif top in ALLOWED and not may(top, room, relative):
        return f"imports {name}, and may not"
    elif name.startswith(("matplotlib.pyplot", "matplotlib.pylab")):
        return f"imports {name}: figures are made with the object API"
    return None


def complaints(source, relative):
    if room_of(relative) not in LEVEL:
        return [f"{relative}: a room without a place in the order; give it one in tests/rooms.py"]
    said = ((line, complaint(relative, name, when)) for line, name, when in imported(source, relative))
    return [f"{relative}:{line} {what}" for line, what in said if what]


def page_complaints(source, relative):
    room = room_of(relative)
    targets = [room_of(target) for target, _ in page_imported(source, relative)]
    known = {room, "labs/toolkit"} | ({"labs/plane"} if room in LABS else set())
    return [f"{relative} imports from {target}" for target in targets if target not in known]


def test_imports_go_one_way():
    files = [path.relative_to(PACKAGE) for path in python_files()]
    found = chain.from_iterable(complaints((PACKAGE / path).read_text("utf-8"), path) for path in files)
    assert not (wrong := list(found)), "\n" + "\n".join(wrong)


def test_page_modules_know_their_own_room_the_plane_and_the_toolkit():
    files = [path.relative_to(PACKAGE) for path in page_files()]
    found = chain.from_iterable(page_complaints((PACKAGE / path).read_text("utf-8"), path) for path in files)
    assert not (wrong := list(found)), "\n" + "\n".join(wrong)


def test_no_files_import_one_another_in_a_circle():
    graph = {}
    for (importer, target), when in arrows().items():
        if when != "never":
            graph.setdefault(importer, set()).add(target)
    assert len(graph) > 100 and circles(graph) == []


def test_no_room_holds_a_fifth_of_the_lines():
    lines = lines_by_room()
    assert set(lines) == set(ROOMS)
    assert max(lines.values()) <= MAX_ROOM_SHARE * sum(lines.values()), lines


@pytest.mark.parametrize(
    ("where", "source", "wrong"),
    [
        ("arrays.py", "from .errors import InvalidInput", False),
        ("errors.py", "from .arrays import eigvalsh", True),
        ("errors.py", "def f():\n    from nbmetrics import labs", True),
        ("metrics/fid/metric.py", "from ...summaries.moments import Moments\nfrom ..base import Metric", False),
        ("metrics/__init__.py", "from .fid.metric import FID", False),
        ("metrics/w1.py", "from .. import federation", True),
        ("federation/partition_schemes.py", "from nbmetrics.partition import dirichlet", False),
        ("evaluation/scores.py", "from nbmetrics import Gaussian", True),
        ("evaluation/scores.py", "from ..experiments import base", True),
        ("arrays.py", "import torch", True),
        ("arrays.py", "def f():\n    import torch", False),
        ("metrics/w1.py", "import torch", True),
        ("metrics/w1.py", "def f():\n    import torch", False),
        ("labs/toolkit/lab.py", "import anywidget, traitlets", False),
        ("labs/toolkit/lab.py", "from ..plane.items import Item", True),
        ("labs/plane/items.py", "from ..toolkit.fields import number", False),
        ("labs/twins/lab.py", "from ..plane.items import Item", False),
        ("labs/twins/lab.py", "from ..playground.scene import Scene", True),
        ("scene.py", "import traitlets", True),
        ("evaluation/figure.py", "from matplotlib.figure import Figure", False),
        ("experiments/kernels.py", "from matplotlib.figure import Figure", True),
        ("figures/drawing.py", "from matplotlib import pyplot as plt", True),
        ("evaluation/scores.py", "if TYPE_CHECKING:\n    from matplotlib.figure import Figure", False),
        ("arrays.py", "if TYPE_CHECKING:\n    from .labs import Playground", True),
        ("cli/options.py", "from .. import __version__", False),
        ("cli/options.py", "from .. import fid", True),
        ("__main__.py", "from .cli import main", False),
        ("misc.py", "", True),
    ],
)
def test_the_walk_itself(where, source, wrong):
    assert bool(complaints(source, PACKAGE.joinpath(where).relative_to(PACKAGE))) is wrong


@pytest.mark.parametrize(
    ("where", "wanted", "wrong"),
    [
        ("toolkit/view/lab.js", "./dom.js", False),
        ("toolkit/view/lab.js", "../../plane/view/distributions.js", True),
        ("plane/view/stage.js", "../../toolkit/view/dom.js", False),
        ("twins/view/index.js", "../../plane/view/stage.js", False),
        ("twins/view/index.js", "../../playground/view/score_table.js", True),
    ],
)
def test_the_walk_of_pages_itself(where, wanted, wrong):
    relative = PACKAGE.joinpath("labs", where).relative_to(PACKAGE)
    for source in (f'import {{ a }} from "{wanted}";\n', f'/** @import {{ A }} from "{wanted}" */\n'):
        assert bool(page_complaints(source, relative)) is wrong


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []


def in_fresh_python(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_importing_the_package_brings_in_nothing_heavy():
    loaded = set(in_fresh_python("import nbmetrics, sys; print(*sys.modules)").split())
    assert not loaded & {"torch", "matplotlib", "pandas", "anywidget", "scipy", "sklearn"}


def test_a_playground_opens_with_no_more_than_it_shows():
    code = "import nbmetrics, sys\nlab = nbmetrics.Playground(); print(*sys.modules)"
    opened, shown = in_fresh_python(f"{code}\nlab._repr_mimebundle_(); print(*sys.modules)").splitlines()
    assert "nbmetrics.labs.playground.lab" in opened.split()
    assert not {"pandas", "matplotlib", "scipy", "sklearn", "torch", "dask"} & set(opened.split())
    assert not {"pandas", "scipy", "sklearn", "torch", "dask"} & set(shown.split())


def test_the_room_of_training_brings_in_no_torch_before_it_trains():
    assert "torch" not in in_fresh_python("import nbmetrics.training, sys; print(*sys.modules)").split()


def test_scenes_need_no_widgets():
    loaded = set(in_fresh_python("import nbmetrics, sys; nbmetrics.Scene; print(*sys.modules)").split())
    assert "nbmetrics.labs.playground.scene" in loaded
    assert not loaded & {"anywidget", "ipywidgets", "traitlets", "matplotlib"}


def test_importing_the_package_is_quick():
    timed = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"

    def best(module):
        return min(float(in_fresh_python(timed.format(module))) for _ in range(3))

    assert best("nbmetrics") <= best("numpy") + 0.3


def docstring_lines(node):
    first = node.body[0]
    return 0 if ast.get_docstring(node) is None else first.end_lineno - first.lineno + 1


def long_functions(path, most):
    """Those with more lines of code than that: a docstring may be as long as it is useful."""
    for node, _ in statements(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1 - docstring_lines(node)
            if lines > most:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {lines} lines"


def test_files_and_functions_stay_small():
    folders = (PACKAGE, ROOT / "tests")
    files = [p for folder in folders for p in folder.rglob("*") if p.suffix in {".py", ".js"} and p.is_file()]
    files = [p for p in files if "node_modules" not in p.parts]
    lengths = {p: len(p.read_text("utf-8").splitlines()) for p in files}
    large = [f"{p.relative_to(ROOT)} has {n} lines" for p, n in lengths.items() if n > MAX_FILE_LINES]
    large += [line for p in files if p.suffix == ".py" for line in long_functions(p, MAX_FUNCTION_LINES)]
    assert not large, "\n" + "\n".join(large)
