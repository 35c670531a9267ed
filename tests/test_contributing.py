"""The recipes of CONTRIBUTING.md, followed to the letter: its files are written where it says, and their tests run."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests import ROOT

GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
# {path: text} of the blocks that begin with ```python path, ```json path or ```js path.
FILES = dict(re.findall(r"^```(?:python|json|js) (\S+)\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE))
METRIC = ("nbmetrics/metrics/spread.py", "nbmetrics/metrics/__init__.py", "tests/metrics/test_spread.py")
LAB = (
    "apart/__init__.py",
    "apart/scene.json",
    "apart/presets.json",
    "apart/scene.py",
    "apart/lab.py",
    "apart/view.js",
    "test_apart.py",
)


def follow(folder, paths):
    """Write the blocks into a folder; what is there already, such as a registry, gets the lines at its end."""
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a", encoding="utf-8") as file:
            file.write(("\n" if file.tell() else "") + FILES[path])


def run_tests(folder, test, *path):
    """pytest in a fresh interpreter that finds the package along `path`."""
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)


def test_every_file_of_the_guide_is_tried():
    assert set(FILES) == {*METRIC, *LAB}


def test_the_recipe_of_a_metric(tmp_path):
    shutil.copytree(ROOT / "nbmetrics", tmp_path / "nbmetrics", ignore=shutil.ignore_patterns("__pycache__"))
    follow(tmp_path, METRIC)
    done = run_tests(tmp_path, METRIC[-1], tmp_path)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH: install Node.js 20 or newer")
def test_the_recipe_of_a_lab(tmp_path):
    follow(tmp_path, LAB)
    done = run_tests(tmp_path, LAB[-1], ROOT, tmp_path)
    assert done.returncode == 0 and "passed" in done.stdout, done.stdout


def test_the_lab_is_about_a_hundred_lines():
    assert sum(FILES[path].count("\n") for path in LAB if "test" not in path) <= 120
