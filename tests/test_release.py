"""The checks of a release: what they compare is what it should be, and they fail where it is not."""

import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

from tests import ROOT, import_costs, release


def test_one_version_everywhere():
    assert len(set(release.versions().values())) == 1


def test_files_that_differ_or_are_missing_are_named():
    release.same({"a": b"1"}, {"a": b"1"})
    with pytest.raises(release.Failed, match=r"3 files .*: a, b, c"):
        release.same({"a": b"1", "b": b"2"}, {"a": b"0", "c": b"3"})


def test_a_wheel_is_read_without_its_list_of_checksums(tmp_path):
    with zipfile.ZipFile(tmp_path / "p.whl", "w") as wheel:
        wheel.writestr("p/view.js", "let x;")
        wheel.writestr("p.dist-info/RECORD", "p/view.js,,")
    assert release.packed(tmp_path / "p.whl") == {"p/view.js": b"let x;"}


def test_what_git_tracks_holds_pages_facts_and_data():
    found = set(release.tracked())
    assert {"nbmetrics/labs/toolkit/view/lab.js", "nbmetrics/labs/toolkit/scene.json", "nbmetrics/py.typed"} <= found
    assert "nbmetrics/features/digits-cnn.npz" in found and not any(path.startswith(".venv") for path in found)


def test_every_check_is_run_and_says_what_holds():
    methods = {name for name in vars(release.Release) if not name.startswith("_")}
    assert set(release.CHECKS) == methods
    assert all(getattr(release.Release, name).__doc__ for name in release.CHECKS)


def test_a_command_that_fails_fails_the_check(tmp_path):
    with pytest.raises(release.Failed, match="no such luck"):
        release.run(sys.executable, "-c", "raise SystemExit('no such luck')", folder=tmp_path)


# The compiled dependencies that Pyodide 314.0.7 ships for Python 3.14, from its lock file of 23 November 2026.
PYODIDE = {
    "numpy": "2.4.6",
    "scipy": "1.18.0",
    "pandas": "3.0.2",
    "matplotlib": "3.10.8",
    "scikit-learn": "1.8.0",
}
PURE = {"ipywidgets", "anywidget", "array-api-compat", "tqdm"}


def test_lower_bounds_are_at_most_what_pyodide_ships():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    bounds = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups() for requirement in project["dependencies"])
    assert bounds.keys() == PYODIDE.keys() | PURE
    assert all(numbers(bounds[name]) <= numbers(version) for name, version in PYODIDE.items())


def numbers(version):
    return tuple(map(int, version.split(".")))


@pytest.mark.slow
def test_wheel_and_sdist_are_built_installed_and_tried():
    pytest.importorskip("build", reason="build is not installed: pip install nbmetrics[release]")
    pytest.importorskip("twine", reason="twine is not installed: pip install nbmetrics[release]")
    done = subprocess.run([sys.executable, "-m", "tests.release"], cwd=ROOT, capture_output=True, text=True)
    if "No matching distribution found" in done.stdout or "NewConnectionError" in done.stdout:
        pytest.skip("pip's index cannot be reached; with a network, make release-check")
    assert done.returncode == 0, done.stdout


def test_the_page_of_dependencies_has_each_of_them():
    page = (ROOT / "docs/dependencies.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = re.findall(r"^\| ([\w-]+) \| [^|]+ \| `([\w.]+)` \| \d+ \|[ \d]+\|", page, re.MULTILINE)
    assert dict(rows) == import_costs.PARTS
    assert list(import_costs.PARTS) == [re.match(r"[\w-]+", line)[0] for line in project["dependencies"]]
    assert all(f"`{extra}`" in page for extra in project["optional-dependencies"])


def test_nothing_is_imported_before_it_is_needed():
    after = {step: import_costs.dependencies_after(code) for step, code in import_costs.STEPS.items()}
    core = ["numpy", "array-api-compat", "tqdm"]
    assert after["import nbmetrics"] == [] and after["evaluate"] == core
    assert set(after["print(scores)"]) == {*core, "pandas"}
    assert set(after["Playground"]) == {*core, "ipywidgets", "anywidget"}


def test_the_extra_all_has_every_other_one():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    assert set(re.fullmatch(r"nbmetrics\[(.+)\]", everything)[1].split(",")) == set(extras)
