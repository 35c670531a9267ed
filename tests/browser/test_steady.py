"""From its first paint on a lab stands still: what comes later has its room."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PLAIN
from tests.browser.film import film, jumps
from tests.browser.labs import LABS, group, settle
from tests.browser.page import open_tab
from tests.slow import by_default

# They reach into the Python beside the page, or measure a page as wide as its window.
pytestmark = pytest.mark.parametrize("place", [PLAIN], indirect=True)

# What a lab shows while numbers are still to come, beside what its status says.
COMING = {"MemorizationLab": "Python redraws"}


@pytest.mark.parametrize("name", by_default(LABS, "Playground", "Dashboard", "MemorizationLab"))
def test_nothing_jumps_while_a_lab_fills(run_cells, lab_view, name):
    case = LABS[name]
    lines = case.source.rpartition("\n")
    page = run_cells(lines[0] or "import nbmetrics as nm")
    film(page)
    page.python.run_cell(lines[2])
    root = group(page, case)
    settle(root)
    if name in COMING:
        expect(root.get_by_text(COMING[name]).locator("visible=true")).to_have_count(0)
    assert jumps(page) == []


# Clients of different sizes, so that scores, tests and noise come one after another.
OF_ROWS = """import numpy as np
import nbmetrics as nm
rng = np.random.default_rng(0)
clients = {f"client {i}": rng.normal(3 * np.eye(4)[i % 4], 1, (60 + 60 * i, 4)) for i in range(6)}
generators = {f"generator {g}": rng.normal(0.75, 1 + 0.2 * g, (600, 4)) for g in range(5)}
"""


@pytest.mark.parametrize("tab", by_default(["Who loses", "How stable"], "Who loses"))
def test_a_dashboard_stands_still_while_scores_and_tests_come(run_cells, lab_view, tab):
    page = run_cells(OF_ROWS)
    film(page)
    page.python.run_cell("lab = nm.Dashboard(clients, generators)\nlab")
    root = group(page, LABS["Dashboard"])
    open_tab(root, tab)
    film(page)
    page.python.run_cell("lab.wait()")
    expect(root.get_by_label("Scores known")).to_be_hidden()
    assert jumps(page) == []
