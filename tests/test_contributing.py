"""The recipes of CONTRIBUTING.md, followed to the letter: its files are written where it says, and their tests run."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests import ROOT
from tests.node import NODE

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


def run_tests(folder, *tests):
    """pytest in a fresh interpreter that finds the package in the folder."""
    settings = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)


def test_every_file_of_the_guide_is_tried():
    assert set(FILES) == {*METRIC, *LAB}


@pytest.mark.slow
def test_the_recipes_of_a_metric_and_a_lab(tmp_path):
    shutil.copytree(ROOT / "nbmetrics", tmp_path / "nbmetrics", ignore=shutil.ignore_patterns("__pycache__"))
    recipes = [METRIC, *([LAB] if NODE else [])]
    follow(tmp_path, [path for recipe in recipes for path in recipe])
    done = run_tests(tmp_path, *(recipe[-1] for recipe in recipes))
    assert done.returncode == 0, done.stdout
    assert all(re.search(rf"^{recipe[-1]}::\w+.* PASSED", done.stdout, re.MULTILINE) for recipe in recipes), done.stdout


def test_the_lab_is_about_a_hundred_lines():
    assert sum(FILES[path].count("\n") for path in LAB if "test" not in path) <= 120
