"""From its first paint on a lab stands still: what comes later has its room."""

import pytest
from playwright.sync_api import expect

from tests.browser.film import film, jumps
from tests.browser.labs import LABS, group, settle

# What a lab shows while numbers are still to come, beside what its status says.
COMING = {"MemorizationLab": "Python redraws"}
# Not yet of the Dashboard: columns of its leaderboard come with their scores, and move the others sideways.
STEADY = [name for name in LABS if name != "Dashboard"]


@pytest.mark.parametrize("name", STEADY)
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
