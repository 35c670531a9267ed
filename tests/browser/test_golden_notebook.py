"""A notebook that an earlier release ran and saved: JupyterLab shows its labs, by their own code, and they move.

The labs have the code of their release, so what is looked for in them is written here, and not taken from this release.
"""

import nbformat
import numpy as np
import pytest
from nbformat.sign import NotebookNotary

from tests.browser.frontends import FIND, end_sessions, watched
from tests.browser.page import drag, until
from tests.golden import pages
from tests.golden.release import releases

# The table of each lab, and what is dragged in it.
TABLES = {"Playground": "Scores", "Dashboard": "Leaderboard"}
HANDLES = {"Playground": "Client 2 mean", "Dashboard": "Client 2 weight"}
NUMBERS = """table => [...table.tBodies[0].rows].map(
  row => [...row.querySelectorAll('td[data-value]')].map(cell => Number(cell.dataset.value)))"""


@pytest.mark.slow
@pytest.mark.jupyterlab
@pytest.mark.parametrize("kept", releases(), ids=str)
def test_its_labs_are_there_again_and_move(browser, lab_server, kept):
    name, text = f"{kept}.ipynb", pages.read(kept, pages.NOTEBOOK)
    (lab_server.work / name).write_text(text, "utf-8")
    # JupyterLab shows no widgets of a notebook that it, or its user, never ran
    NotebookNotary(data_dir=str(lab_server.work.parent / "data")).sign(nbformat.reads(text, as_version=4))
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = watched(context.new_page())
    page.goto(f"{lab_server.url}/lab/tree/{name}?reset")
    page.evaluate(FIND)
    page.nbmetrics_errors.clear()  # as in open_notebook
    for lab, said in kept.read("notebook.json").items():
        assert_moves(page, page.get_by_role("group", name=lab, exact=True), lab, said["rows"])
    assert not page.nbmetrics_errors
    end_sessions(lab_server)
    context.close()


def assert_moves(page, root, lab, rows):
    """A lab shows the numbers that were kept, others after a drag, and those again after Undo."""
    table = root.get_by_role("table", name=TABLES[lab], exact=True)
    table.locator("td[data-value]").first.wait_for()

    def is_as_kept():
        return np.allclose(table.evaluate(NUMBERS), rows, rtol=1e-8, atol=1e-8)

    assert is_as_kept()
    drag(page, root.get_by_role("slider", name=HANDLES[lab], exact=True), 30, -20)
    until(page, is_as_kept, lambda same: not same)
    root.get_by_role("button", name="Undo", exact=True).click()
    until(page, is_as_kept, bool)
