"""A Dashboard of ten digits beside Python: an honest generator, one of which classes are swapped, and a shared one."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.conftest import PLAIN
from tests.browser.counts import first_screen_counts
from tests.browser.page import open_tab, painted
from tests.waiting import until

# Words on the first screen as in test_glance.py; as many controls as there are with three shared generators.
MAX_WORDS, MAX_CONTROLS = 130, 17
CODE = """
import numpy as np
import nbmetrics as nm
x, y = nm.datasets.digits()
x = (x - x.mean(axis=0)) @ np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][:8].T
order = np.random.default_rng(0).permutation(len(x))
half = np.isin(np.arange(len(x)), order[: len(x) // 2])
real, made = ({f"digit {c}": x[side & (y == c)] for c in range(10)} for side in (half, ~half))
swapped = {name: made[f"digit {(i + 1) % 10}"] for i, name in enumerate(made)}
generators = {"honest": made, "swapped": swapped, "shared": np.concatenate(list(made.values())) + 0.3}
lab = nm.Dashboard(real, generators); lab.wait(); lab"""


@pytest.fixture
def opened(run_cells):
    page = run_cells(CODE)
    root = page.get_by_role("group", name="Dashboard", exact=True)
    root.wait_for()
    return page, root, page.python.names["lab"]


def board_of(root):
    """The leaderboard by generator: its number by intra."""
    rows = """rows => rows.map(row => [row.cells[0].innerText.trim(),
      Number(row.querySelector('.nbm-dashboard-avg').dataset.value)])"""
    return dict(root.get_by_role("table", name="Leaderboard").locator("tbody tr").evaluate_all(rows))


def assert_a_saved_page_follows(saved, lab):
    """Its first screen, and intra after a move of a weight, which Python is not asked about."""
    page, root = saved.open(lab, width=1366, height=768)
    root.evaluate("root => { root.parentElement.style.width = '919px'; }")
    painted(page)
    centres = lab.board["centres"]["fid"]
    words, controls = first_screen_counts(page, root)
    assert words <= MAX_WORDS and controls <= MAX_CONTROLS, (words, controls)
    root.get_by_role("slider", name="digit 3 weight", exact=True).fill("0.1")
    painted(page)
    weights = np.array(lab.weights)
    weights *= np.where(np.arange(10) == 3, 0.1 / weights[3], 0.9 / (1 - weights[3]))
    assert board_of(root) == {name: pytest.approx(weights @ centres[name], rel=1e-9) for name in centres}
    expect(root.get_by_role("heading").first).to_contain_text("honest wins. The winner by all is not computed")
    everything = root.locator("tbody tr .nbm-dashboard-all .nbm-dashboard-number")
    assert everything.all_inner_texts()[0] == "–"


@pytest.mark.parametrize("place", [PLAIN], indirect=True)
def test_the_winner_by_intra_a_slider_and_a_cell(opened, saved):
    page, root, lab = opened
    assert_a_saved_page_follows(saved, lab)
    expect(root.get_by_role("heading").first).to_contain_text(
        "honest wins by intra; honest and swapped are tied by all"
    )
    heads = root.get_by_role("table", name="Leaderboard").get_by_role("columnheader")
    expect(heads.filter(has_text=re.compile("^intra$"))).to_be_visible()
    root.get_by_role("slider", name="digit 3 weight", exact=True).fill("0.4")
    until(lambda: lab.weights[3] == pytest.approx(0.4) and list(lab.weights) == lab.result["weights"])
    painted(page)
    weights, centres = np.array(lab.weights), lab.board["centres"]["fid"]
    assert board_of(root) == {name: pytest.approx(weights @ centres[name], rel=1e-9) for name in centres}

    open_tab(root, "How stable")
    for text in ("How stable is the winner by intra?", "No change of the weights makes another generator win."):
        expect(root.get_by_role("region", name="How stable is the winner by intra?")).to_contain_text(text)
    open_tab(root, "Mixture")
    expect(root.get_by_role("region", name="Would a mixture do better?")).to_contain_text(
        "one distribution for all clients; honest and swapped have one for each."
    )
    assert "avg" not in root.locator(".nbm-dashboard").inner_text()

    open_tab(root, "Who loses")
    cell = root.get_by_role("gridcell", name=re.compile("^digit 2, swapped: "))
    cell.click()
    chosen = root.get_by_role("group", name="Chosen cell")
    expect(chosen).to_contain_text("Rows of digit 2 that swapped misses most")
    names = page.python.names
    own = nm.evaluate({"digit 2": names["real"]["digit 2"]}, {"swapped": names["made"]["digit 3"]}, "fid")
    expect(chosen).to_contain_text(f"Plain FID {own.table['all'][0]:.3f} =")
    expect(chosen).to_contain_text("Compared with what swapped made for digit 2")
    painted(page)
