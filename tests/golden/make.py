"""Keeps what the present code writes, for every later release to open: python -m tests.golden.make v0.1-dc18906

The name is that of the release and the commit that nbmetrics/ is of. What was kept is never written anew.
"""

import argparse
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

import nbmetrics as nm
from tests import ROOT
from tests.golden import FOLDER
from tests.golden.data import data_of_labs
from tests.golden.kept import make_kept
from tests.golden.labs import DATA
from tests.golden.lessons import answers, lessons, own_lesson
from tests.golden.models import make_features, make_models
from tests.golden.pages import make_notebook, make_page
from tests.golden.release import ABOUT, Release
from tests.golden.runs import make_runs
from tests.golden.shares import shares
from tests.golden.summaries import make_summaries

BESIDE = ("numpy", "scipy", "torch", "anywidget", "ipywidgets")


def git(*words):
    """What git says."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def about(commit):
    """What the artefacts were made by; SystemExit where that is not the code of the commit."""
    tree = git("rev-parse", f"{commit}:nbmetrics")
    if git("status", "--porcelain", "nbmetrics") or git("rev-parse", "HEAD:nbmetrics") != tree:
        sys.exit(f"nbmetrics/ is not as in {commit}: commit it first, and name that commit")
    versions = {name: version(name) for name in BESIDE}
    return {"version": nm.__version__, "commit": git("rev-parse", commit), "tree": tree, **versions}


def make(release):
    """Write all that is kept of a release into its empty folder."""
    rng = np.random.default_rng(20261124)
    release.write(DATA, {**data_of_labs(rng), "own lesson": own_lesson()})
    make_runs(release)
    with tempfile.TemporaryDirectory() as folder:
        for name, found in shares(release, Path(folder)).items():
            release.write(f"shares/{name}.json", found)
        make_page(release, Path(folder))
    release.write("lessons.json", lessons())
    release.write("answers.json", answers())
    make_summaries(release)
    make_models(release)
    make_features(release)
    make_notebook(release)
    make_kept(release)


def main():
    """Write one release, and print what it takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="such as v0.1-dc18906: v, the release, and the commit of nbmetrics/")
    parser.add_argument("--kept", action="store_true", help="only saved scores, a store, a race and an account")
    given = parser.parse_args()
    name = given.name
    described = about(name.rpartition("-")[2])
    release = Release(FOLDER / name)
    if release.folder.exists():
        sys.exit(f"{release.folder} is there: what was kept is never written anew")
    (make_kept if given.kept else make)(release)
    sums = release.sums()
    release.write(ABOUT, {**described, "files": sums})
    for path in [*sums, ABOUT]:
        print(f"{release.path(path).stat().st_size:>9,}  {path}")


if __name__ == "__main__":
    main()
