"""Where ANYWIDGET_HMR is set, an edit to a page file reaches the labs that are open; elsewhere nothing is watched."""

import os
import shutil
import subprocess
import sys
import threading

import pytest

import nbmetrics as nm
from nbmetrics.labs.toolkit import modules, reload
from tests import ROOT

EDIT = r"""
import threading
from pathlib import Path

import nbmetrics as nm
from nbmetrics.labs.toolkit import reload
from tests.waiting import until

view = Path(nm.__file__).parent / "labs" / "correlation" / "view"
lab, before = nm.CorrelationLab(), nm.CorrelationLab._esm
told = []
lab.observe(lambda change: told.append(change["name"]), ["_esm", "_css"])
path = view / "questions.js"
original = path.read_text("utf-8")
path.write_text(original + 'export const EDITED = "edited";\n', "utf-8")
until(lambda: 'EDITED = "edited"' in lab._esm)
assert told == ["_esm"] and lab._esm != before and "export default" in lab._esm
path.unlink()  # as an editor does for a moment
sheet = view / "style.css"
(view.parents[1] / "toolkit" / "view" / "lab.css").write_text(".nbm { color: red; }", "utf-8")
path.write_text(original, "utf-8")
until(lambda: ".nbm { color: red; }" in lab._css)
assert sheet.read_text("utf-8") in lab._css
later = nm.CorrelationLab()
until(lambda: later._css == lab._css and later._esm == lab._esm)
assert [t.name for t in threading.enumerate()].count(reload.THREAD) == 1
print("seen")
"""


@pytest.mark.slow
def test_an_edit_reaches_the_labs_that_are_open(tmp_path):
    shutil.copytree(ROOT / "nbmetrics", tmp_path / "nbmetrics", ignore=shutil.ignore_patterns("__pycache__"))
    paths = os.pathsep.join(map(str, (tmp_path, ROOT)))
    environment = {**os.environ, "ANYWIDGET_HMR": "1", "PYTHONPATH": paths}
    run = subprocess.run(
        [sys.executable, "-c", EDIT], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.stdout == "seen\n", run.stderr[-3000:]


def test_without_the_variable_nothing_is_watched(monkeypatch):
    monkeypatch.delenv("ANYWIDGET_HMR", raising=False)
    monkeypatch.setattr(reload, "follow", lambda lab: pytest.fail("followed"))
    nm.CorrelationLab().close()
    assert reload.THREAD not in (thread.name for thread in threading.enumerate())


@pytest.mark.parametrize(
    "kind", [nm.Playground, nm.CorrelationLab, nm.TwinsLab, nm.MemorizationLab, nm.Dashboard, nm.Monitor, nm.PrivacyLab]
)
def test_pages_say_what_they_were_joined_from(kind):
    assert modules.rejoin(kind._esm) == kind._esm and modules.rejoin(kind._css) == kind._css
    assert modules.rejoin("export default 1;") == "export default 1;"
