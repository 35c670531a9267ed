"""A lab in marimo, which nbmetrics does not ask for: installed for this test alone, into a folder of its own."""

import os
import subprocess
import sys

import pytest

from tests import ROOT
from tests.browser.frontends import serving, watched
from tests.browser.labs import LABS, assert_python_has_the_same_numbers, group, handle, shown
from tests.browser.page import drag

VERSION = "0.25.2"
MARIMO = ("marimo", "--yes", "run", "{work}/../app.py", "--headless", "--no-token", "--host=127.0.0.1", "--port={port}")
APP = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import nbmetrics as nm
    lab = mo.ui.anywidget(nm.Playground())
    lab
    return lab, mo


@app.cell
def _(lab, mo):
    mo.md(f"Python has revision {lab.value['scene']['rev']}.")
    return


if __name__ == "__main__":
    app.run()
"""


@pytest.fixture(scope="module")
def marimo(tmp_path_factory):
    """A server of the app above."""
    folder = tmp_path_factory.mktemp("marimo")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder / "packages"]
    install += ["-c", ROOT / "constraints.txt", f"marimo=={VERSION}"]
    if (ran := subprocess.run(install, capture_output=True, text=True)).returncode:
        pytest.skip(f"no marimo: pip could not install it; with a network, make test-all. {ran.stderr[-300:]}")
    (folder / "app.py").write_text(APP)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder / "packages", ROOT))))
        with serving(folder, MARIMO) as server:
            yield server


@pytest.mark.slow
@pytest.mark.place("marimo", shows="✓", drags="✓", python="✓")
def test_a_lab_works_in_marimo(marimo, browser, record_property):
    case, asked = LABS["Playground"], []
    page = watched(browser.new_page(viewport={"width": 1280, "height": 900}))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(marimo.url)
    root = group(page, case)
    start = shown(root)
    assert page.get_by_text("Python has revision 0.").is_visible()
    drag(page, handle(root, case), -40, -30)
    assert_python_has_the_same_numbers(root, case)
    assert shown(root) != start
    handle(root, case).press("ArrowDown")
    assert_python_has_the_same_numbers(root, case)
    assert not page.get_by_text("Python has revision 0.").is_visible(), "a cell that reads the lab runs again"
    errors = page.nbmetrics_errors
    page.close()
    assert errors == []
    assert [url for url in asked if not url.startswith((marimo.url, "data:", "blob:"))] == []
    record_property("version marimo", VERSION)
