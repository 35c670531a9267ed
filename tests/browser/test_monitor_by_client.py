"""The Monitor of a generator with one distribution for each client: intra has a figure of one line, and no all."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PLAIN
from tests.browser.page import painted, until
from tests.browser.test_monitor import at, lab_of, now_python, open_details, rows

in_page = pytest.mark.parametrize("place", [PLAIN], indirect=True)
# Plain steps, then ones by client; what is made for the first client comes near it and goes away again.
SOURCE = """
import numpy as np
import nbmetrics as nm
rng = np.random.default_rng(0)
clients = {name: rng.normal(mean, 1, (60, 2)) for name, mean in [("north", -1), ("south", 1), ("east", 2)]}
lab = nm.Monitor(clients, keep_all=True, samples=90)
def made(step):
    middles = {"north": -4 + step / 4, "south": 1.0, "east": 2 - step / 30}
    return nm.Generator.by_client(lambda client, n, rng: rng.normal(middles[client], 1, (n, 2)))
def log(first, last):
    for step in range(first, last):
        lab.log(100 * step, made(step) if step >= 5 else lambda n, rng: rng.normal(1, 1, (n, 2)), loss=1 / (1 + step))
    lab.wait()
log(0, 5)
lab"""


@pytest.fixture
def shown(run_cells):
    page = run_cells(SOURCE)
    now_python(page, "log(5, 25)")
    root = page.get_by_role("group", name="Monitor", exact=True).first
    until(page, lambda: at(root), lambda found: found == 2400)
    yield page, root
    lab_of(page).close()


@in_page
def test_the_scores_of_intra_are_those_of_python_under_any_weights(shown):
    page, root = shown
    open_details(root)
    run = lab_of(page)
    for weights in (None, [0.8, 0.1, 0.1]):
        if weights:
            now_python(page, f"lab.scene = {{**lab.scene, 'weights': {weights}}}")
            run = run.with_weights(weights)
            until(page, lambda: rows(root)[2][0], lambda found: found != before)  # noqa: B023
        until(page, lambda: len(rows(root)[0]), lambda found: found == 3)
        found, table = rows(root), run.table.query("step == 2400")[["avg", "all", "gap"]].to_numpy()
        before = found[2][0]
        np.testing.assert_allclose(found[0], table[0], rtol=1e-6)
        np.testing.assert_allclose(found[1], table[1], rtol=1e-6)
        assert [len(row) for row in found] == [3, 3, 1, 1]
        np.testing.assert_allclose([found[2][0], found[3][0]], table[2:, 0], rtol=1e-6)
    said = root.inner_text()
    assert "NaN" not in said and "intra-" not in said and "being computed" not in said


@in_page
def test_the_figure_of_intra_has_one_line_and_its_own_best_step(shown):
    page, root = shown
    best = lab_of(page).best("fid_intra")["avg"]
    images = root.get_by_role("img", name=re.compile("^FID intra over 20 steps, at the last, 2,400: [0-9.]+$"))
    expect(images).to_have_count(1)
    assert images.locator("path.nbm-step-all, .nbm-step-gap").count() == 0
    drawn = images.locator("svg:visible")
    expect(drawn).to_have_count(1)
    assert drawn.locator(".nbm-step-edges path").count() == 0, "no step without a number"
    plain = root.get_by_role("img", name=re.compile("^FID over 25 steps"))
    expect(plain.locator("svg:visible")).to_have_count(2)
    bands = ".nbm-step-bands path:not([d=''])"
    expect(drawn.locator(bands)).to_have_count(1)
    expect(plain.locator(bands)).to_have_count(3)
    open_details(root)
    root.get_by_role("combobox", name="Metric").select_option("FID intra")
    expect(root.get_by_role("heading").first).to_have_text(re.compile(f"^Keep step {best:,}, .*FID intra"))
    root.get_by_role("combobox", name="Client").select_option("north")
    value = lab_of(page)._live_run.history.lines["fid_intra"].clients[-1, 0]
    expect(root.get_by_text(re.compile(f"^FID intra: north {value:.2f}"[:-1]))).to_be_visible()
    expect(root.get_by_role("img", name=re.compile("^FID intra of 3 clients; at step 2,400"))).to_be_visible()
    expect(root.get_by_text("intra: the weighted mean of the clients’ scores")).to_be_visible()
    before = drawn.locator(bands).get_attribute("d")
    now_python(page, "lab.scene = {**lab.scene, 'weights': [0.8, 0.1, 0.1]}")
    expect(plain.locator(bands)).to_have_count(1)  # of avg of the steps with one distribution
    expect(drawn.locator(bands)).to_have_count(1)
    assert drawn.locator(bands).get_attribute("d") != before


@in_page
def test_a_saved_page_says_what_it_cannot_know(shown, tmp_path, browser):
    page, root = shown
    lab_of(page).export_html(tmp_path / "run.html")
    saved = browser.new_page()
    saved.goto((tmp_path / "run.html").as_uri())
    alone = saved.get_by_role("group", name="Monitor", exact=True)
    assert rows(alone) == rows(root)
    expect(alone.get_by_text("A saved page: steps and weights move here, and intra follows.")).to_be_visible()
    open_details(alone)
    alone.get_by_role("slider", name="north weight", exact=True).fill("0.5")
    painted(alone)
    assert [len(row) for row in rows(alone)] == [0, 0, 1, 1], "the mixture moves with the weights, intra does not"
    moved = lab_of(page).with_weights([0.5, 0.25, 0.25]).table.query("step == 2400")
    np.testing.assert_allclose([row[0] for row in rows(alone)[2:]], moved["avg"].to_numpy()[2:], rtol=1e-6)
    expect(alone.get_by_text("Scores for these weights need a notebook.").first).to_be_visible()
    expect(alone.get_by_role("heading").first).to_have_text("Keep step 1,200, best by FID intra.")
    expect(alone.get_by_text("FID: FID is not known for these weights.")).to_be_visible()
    assert "NaN" not in alone.inner_text()
    saved.close()
