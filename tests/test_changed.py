"""`make check` runs the tests of what changed, and only those."""

import subprocess
import sys

import pytest

from tests import ROOT
from tests.changed import ALWAYS, ELSEWHERE, changed, selected


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("nbmetrics/metrics/fld.py", ["tests/metrics/test_fld.py", "tests/metrics/test_fld_baseline.py"]),
        ("nbmetrics/metrics/w1.py", ["tests/metrics/test_w1.py"]),
        ("nbmetrics/metrics/base.py", ["tests/metrics"]),
        ("nbmetrics/evaluation/display.py", ["tests/evaluation/test_display.py"]),
        ("nbmetrics/labs/twins/view/maths.js", ["tests/labs/twins"]),
        (
            "nbmetrics/labs/toolkit/share.py",
            ["tests/labs/toolkit/test_share.py", "tests/labs/toolkit/test_share_page.py"],
        ),
        ("nbmetrics/labs/toolkit/view/dom.js", ["tests/labs/toolkit"]),
        ("nbmetrics/federation/client.py", ["tests/test_federation.py"]),
        ("nbmetrics/errors.py", []),
        (
            "notebooks/07_theorems.ipynb",
            [f"tests/test_{about}.py" for about in ("boxes", "exercises", "notebooks", "teaching")],
        ),
        ("docs/teaching.md", ["tests/test_teaching.py"]),
        ("tests/labs/toolkit/test_saved.py", ["tests/labs/toolkit/test_saved.py"]),
        ("tests/labs/toolkit/common.py", ["tests/labs/toolkit"]),
        ("tests/golden/v0.1-dc18906/runs/long.zip", ["tests/test_golden.py"]),
        ("tests/metrics/test_removed.py", []),
        ("tests/conftest.py", []),
        ("tests/browser/test_axe.py", []),
        ("docs/fuzz.md", []),
    ],
)
def test_a_changed_file_asks_for_its_own_tests_or_those_of_its_room(path, tests):
    assert selected([path]) == [*ALWAYS, *tests]


def test_nothing_is_named_twice():
    paths = ["nbmetrics/metrics/base.py", "nbmetrics/metrics/fld.py", "tests/test_rooms.py", "README.md", "README.md"]
    assert selected(paths) == [*ALWAYS, "tests/metrics", "tests/test_readme.py"]


def test_what_is_named_is_there():
    assert all((ROOT / path).exists() for place, tests in ELSEWHERE.items() for path in (place, *tests))


def test_without_the_branch_it_is_what_differs_from_the_last_commit():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    assert changed("a branch that is not there") == changed("HEAD")


def test_as_make_calls_it():
    run = subprocess.run([sys.executable, "-m", "tests.changed"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[0] == ALWAYS[0]
