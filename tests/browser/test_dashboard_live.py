"""The Dashboard beside Python: while it fills, when it is stopped or gone, on two displays, locked, and attached to."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.conftest import PLAIN
from tests.browser.labs import LABS, group, handle, settle, shown
from tests.browser.page import drag, open_tab, opened, painted, press, run_code, unfold, until
from tests.browser.plain import in_notebook
from tests.labs.toolkit.common import NAMES
from tests.slow import by_default

CASE = LABS["Dashboard"]
# Scores of G, the one that is filled last, come when the gate opens.
GATED = """
import threading
import numpy as np
import nbmetrics as nm
gate = threading.Event()
class Gated:
    name = "gated"
    def has_closed_form(self, distribution): return True
    def summarize(self, sample): return sample.distribution.mean.mean()
    def pool(self, summaries, weights): return np.average(summaries, weights=weights)
    def terms(self, real, generated):
        if generated == 0.2 and real in (0, 0.5, 2):
            gate.wait(60)
            if gate.broken: raise RuntimeError("the metric broke <b>")
        return {"apart": abs(real - generated)}
gate.broken = False
federation = {"a": nm.Gaussian([0, 0]), "b": nm.Gaussian([0.5, 0.5]), "c": nm.Gaussian([2, 2])}
generators = {"G": nm.Gaussian([0.2, 0.2]), "H": nm.Gaussian([0.9, 0.9])}
lab = nm.Dashboard(federation, generators, Gated()); lab"""
in_page = pytest.mark.parametrize("place", [PLAIN], indirect=True)


@pytest.fixture
def filling(run_cells):
    """A page whose Python is in the middle of filling."""
    page = run_cells(GATED)
    root = page.get_by_role("group", name="Dashboard", exact=True)
    expect(progress(root)).to_contain_text(re.compile("So far, [1-9]"))
    yield page, root
    page.python.names["gate"].set()


def progress(root):
    return root.locator(".nbm-dashboard-progress")


def weight(root, name):
    return root.get_by_role("slider", name=f"{name} weight", exact=True)


def values_by_avg(root):
    painted(root)
    cells = root.locator(".nbm-dashboard-board td.nbm-dashboard-avg")
    return cells.evaluate_all("cells => cells.map(cell => Number(cell.dataset.value))")


@in_page
def test_while_it_fills_it_says_so_stops_and_goes_on(filling):
    page, root = filling
    done, total = map(int, re.search(r"So far, (\d+) of (\d+)", progress(root).inner_text()).groups())
    assert 0 < done < total == 6
    progress(root).get_by_role("button", name="Stop").click()
    expect(progress(root)).to_contain_text("stopped")
    page.python.names["gate"].broken = True
    progress(root).get_by_role("button", name="Go on").click()
    expect(progress(root).get_by_role("button", name="Stop")).to_be_visible()
    page.python.names["gate"].set()
    expect(progress(root)).to_contain_text("Python: the metric broke <b>")
    page.python.names["gate"].broken = False
    progress(root).get_by_role("button", name="Go on").click()
    expect(progress(root)).to_be_hidden()
    assert values_by_avg(root) == pytest.approx([(0.2 + 0.3 + 1.8) / 3, (0.9 + 0.4 + 1.1) / 3])
    settle(root)


@pytest.mark.slow
@in_page
@pytest.mark.parametrize("moment", ["before", "in the middle of"])
def test_a_kernel_killed_while_it_fills_leaves_what_is_known_and_weights_move(filling, kernel, moment):
    page, root = filling
    before = values_by_avg(root)
    assert before == pytest.approx([(0.9 + 0.4 + 1.1) / 3, math.nan], nan_ok=True)
    if moment == "before":
        kernel.kill()
        weight(root, "a").fill("0.2")
    else:
        drag(page, weight(root, "a"), 10, 0, release=False)
        kernel.kill()
        weight(root, "a").fill("0.2")
        page.mouse.up()
    now = [0.9 * 0.2 + (0.4 + 1.1) * 0.4, math.nan]
    assert values_by_avg(root) == pytest.approx(now, nan_ok=True)
    expect(progress(root)).to_contain_text("Python has stopped: known scores stay")
    expect(progress(root).get_by_role("button")).to_be_hidden()
    expect(root.locator(".nbm-status")).to_contain_text("run the cell again")
    page.keyboard.press("Control+z")
    painted(root)
    assert values_by_avg(root) == pytest.approx(before, nan_ok=True)


@in_page
def test_two_displays_stay_equal_and_a_drag_is_one_step(run_cells):
    page = run_cells(CASE.source, "lab")
    first, second = (page.get_by_role("group", name=CASE.name).nth(k) for k in range(2))
    group_shown = second.locator("td[data-value]").first
    group_shown.wait_for()
    settle(first)
    start = shown(first)
    drag(page, handle(first, CASE), 50, 0, release=False)
    painted(first)
    assert values_by_avg(first) == values_by_avg(second)
    page.mouse.up()
    settle(second), settle(first)
    moved = shown(first)
    assert moved == shown(second) != start
    handle(second, CASE).press("Control+z")
    settle(second), settle(first)
    assert shown(first) == shown(second) == start
    handle(first, CASE).press("Control+Shift+z")
    settle(second), settle(first)
    assert shown(first) == shown(second) == moved


# Each headline that the page showed, from the first on.
HEADLINES = """() => { const seen = window.__headlines = [];
  const look = () => { const node = document.querySelector('.nbm-dashboard-headline');
    if (node?.textContent && node.textContent !== seen.at(-1)) seen.push(node.textContent); };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true }); }"""
OPENING = """
import numpy as np
import nbmetrics as nm
rng = np.random.default_rng(0)
centres = rng.normal(0, 2, (10, 64))
federation = {f"client {k}": rng.normal(centre, 1, (150, 64)) for k, centre in enumerate(centres)}
generators = {f"G{k}": rng.normal(centres.mean(axis=0), 0.5 + k / 2, (600, 64)) for k in range(5)}"""


@in_page
def test_it_opens_with_what_is_certain_and_says_that_it_is_testing(run_cells):
    page = run_cells(OPENING)
    page.evaluate(HEADLINES)
    page.python.run_cell("lab = nm.Dashboard(federation, generators); lab")
    root = page.get_by_role("group", name="Dashboard", exact=True)
    question = "For each client:"  # late where another Dashboard is still at work
    expect(root.locator(".nbm-dashboard-todo")).to_contain_text(question, timeout=60_000)
    settle(root)
    *before, last = page.evaluate("window.__headlines")
    assert last == page.python.names["lab"].verdict[0] and "disagree" in last
    assert before and all(text.startswith("So far") or "testing whether" in text for text in before), before


HELD = ["Undo", "By rows", "All alike", "Try these weights", "hold Client 1", "hold Client 2"]


@in_page
def test_a_lock_closes_every_control_of_its_kind_and_looking_stays_open(run_cells):
    page = run_cells(CASE.source)
    root = group(page, CASE)
    press(root, "Table view")
    open_tab(root, "How stable")
    root.get_by_role("button", name="hold Client 1").click()
    root.get_by_role("button", name="Wide", exact=True).click()
    painted(root)
    unfold(root)
    offered = {name: root.get_by_role("button", name=name, exact=True).is_visible() for name in HELD}
    sliders, numbers = root.get_by_role("slider").all(), root.locator("input[type=number]").filter(visible=True).all()
    assert len(sliders) == 3 and len(numbers) == 3
    scene = run_code(page, "lab.lock(); print(_j.dumps(lab.scene))")
    for slider in sliders:
        expect(slider).to_be_disabled()
    for json_number in numbers:
        expect(json_number).to_be_disabled()
    gone = [*HELD, "Attach", "Remove", "Reset", "Copy code"]
    assert [name for name in gone if root.get_by_role("button", name=name).filter(visible=True).count()] == []
    expect(root.get_by_label("Preset")).to_be_hidden()
    expect(root.get_by_text("Merge, drop or split clients")).to_be_hidden()
    page.keyboard.press("Control+z")
    root.get_by_label("Metric", exact=True).select_option("kid")
    root.get_by_role("button", name="worst client").click()
    open_tab(root, "Who loses")
    root.get_by_role("gridcell").first.click()
    open_tab(root, "How stable")
    looked = until(page, lambda: run_code(page, "print(_j.dumps(lab.scene))"), lambda found: found["client"])
    assert (looked["metric"], looked["by"]) == ("kid", "worst")
    assert {key: looked[key] for key in ("weights", "held", "generators")} == {
        key: scene[key] for key in ("weights", "held", "generators")
    }
    run_code(page, "lab.unlock(); print(1)")
    expect(weight(root, "Client 2")).to_be_enabled()
    expect(root.get_by_text("Merge, drop or split clients")).to_be_visible()
    root.get_by_label("Metric", exact=True).select_option("fid")
    painted(root)
    back = {name: root.get_by_role("button", name=name, exact=True).is_visible() for name in HELD}
    assert back == offered


@in_page
def test_attach_lists_what_fits_and_shows_it_and_remove_can_be_undone(run_cells, monkeypatch):
    page = run_cells(CASE.source)
    root = group(page, CASE)
    evil = NAMES[0]
    variables = {"mine": nm.Gaussian([0.6, 1]), "flat": np.zeros((9, 2)), "wide": np.eye(3), "text": "no", evil: 3}
    in_notebook(monkeypatch, variables)
    menu = opened(root, "Attach")
    items = menu.get_by_role("group", name="From the notebook").get_by_role("menuitem")
    expect(items).to_have_text(["flat", "mine", "wide: 3 features, not 2"])
    items.filter(has_text="mine").click()
    expect(root.locator(".nbm-dashboard-board tbody tr")).to_have_count(4)
    settle(root)
    assert run_code(page, "print(_j.dumps(list(lab.scores.generators)))")[-1] == "mine"
    assert all(np.isfinite(shown(root)).ravel())
    root.get_by_role("button", name="mine", exact=True).click()
    root.get_by_role("button", name="Remove", exact=True).click()
    expect(root.locator(".nbm-dashboard-board tbody tr")).to_have_count(3)
    root.get_by_role("button", name="Undo", exact=True).click()
    expect(root.get_by_role("button", name="mine", exact=True)).to_be_visible()
    settle(root)


@in_page
def test_what_cannot_be_attached_is_told_and_the_next_is_answered(run_cells, monkeypatch):
    page = run_cells(CASE.source)
    root = group(page, CASE)

    def broken(n, rng):
        raise RuntimeError("no rows <b>today</b>")

    in_notebook(monkeypatch, {"broken": broken})
    opened(root, "Attach").get_by_role("menuitem", name="broken").click()
    expect(root.locator(".nbm-status")).to_contain_text("no rows <b>today</b>")
    expect(root.locator(".nbm-dashboard-board tbody tr")).to_have_count(3)
    expect(root.get_by_role("button", name="Undo", exact=True)).to_be_hidden()
    expect(progress(root)).to_be_hidden()
    handle(root, CASE).press("ArrowRight")
    settle(root)


@pytest.mark.slow
def test_500_clients_and_20_generators_with_holes_open_and_are_dragged_with_no_network(saved):
    rng = np.random.default_rng(0)
    values = rng.gamma(2, 1, (500, 20))
    values[3, 1], values[5, 2] = np.nan, np.inf
    names = [*NAMES, "W" * 300]
    columns = [f"{name}!"[-300:] for name in names] + [f"G{k}" for k in range(20 - len(names))]
    table = pd.DataFrame(values, index=[*names, *(f"c{k}" for k in range(500 - len(names)))], columns=columns)
    lab = nm.Dashboard.from_table(table, label=f"<i>Loss</i> {NAMES[2]}")
    page, root = saved.open(lab)
    unfold(root)
    press(root, "497 more clients")
    slider = weight(root, names[0])
    drag(page, slider, 60, 0)
    share = float(slider.input_value())
    assert share > 0.003
    weights = np.full(500, (1 - share) / 499)
    weights[0] = share
    wanted = weights @ values
    found = dict(
        root.locator(".nbm-dashboard-board tbody tr").evaluate_all(
            "rows => rows.map(row => [row.querySelector('button').title, "
            "row.querySelector('.nbm-dashboard-avg').dataset.value])"
        )
    )
    assert list(found) and set(found) == set(columns)
    for name, value in zip(columns, wanted, strict=True):
        assert float(found[name].replace("Infinity", "inf")) == pytest.approx(value, rel=0.01, nan_ok=True)
    assert root.locator("img, .nbm-dashboard i").count() == 0
    page.keyboard.press("Control+z")
    painted(root)
    assert float(slider.input_value()) < 0.003
    lab.close()


ROWS = np.random.default_rng(1).normal(size=(40, 2))
EDGES = {
    "one client": ({"only": ROWS}, {"g": ROWS + 0.1, "h": ROWS * 2}),
    "one generator": ({"a": ROWS, "b": ROWS + 1}, {"g": ROWS * 1.5}),
    "identical generators": ({"a": ROWS, "b": ROWS + 1}, {"g": ROWS * 1.5, "h": ROWS * 1.5}),
    "constant rows": ({"flat": np.ones((30, 2)), "b": ROWS}, {"g": ROWS + 1, "still": np.zeros((30, 2))}),
}


@in_page
@pytest.mark.parametrize("edge", by_default(EDGES, "constant rows", "one client"))
def test_odd_data_are_shown_and_weighed(run_cells, edge, monkeypatch):
    clients, generators = EDGES[edge]
    page = run_cells("federation = generators = None")
    page.python.names.update(federation=clients, generators=generators)
    page.python.run_cell("import nbmetrics as nm\nlab = nm.Dashboard(federation, generators); lab")
    root = group(page, CASE)
    settle(root)
    said = run_code(page, "print(_j.dumps(lab.verdict[0]))")
    expect(root.get_by_role("heading").first).to_have_text(said)
    slider = weight(root, next(iter(clients)))
    if edge == "one client":
        expect(slider).to_be_disabled()
    else:
        slider.press("ArrowLeft")
    settle(root)
    said = run_code(page, "print(_j.dumps(lab.verdict[0]))")
    expect(root.get_by_role("heading").first).to_have_text(said)


@in_page
def test_a_score_that_is_not_pythons_is_said(run_cells):
    """What is compared with Python's answer is every avg on show: one of another metric that differs is enough."""
    page = run_cells(CASE.source)
    root = group(page, CASE)
    settle(root)
    status = root.locator(".nbm-status")
    expect(status).to_contain_text("Python agrees with these numbers.")
    lab = page.python.names["lab"]
    metric, scores = list(lab.result["avg"].items())[-1]
    generator = lab.scene["generators"][-1]
    wrong = {**lab.result["avg"], metric: {**scores, generator: scores[generator] + 1}}
    page.python.names["lab"].result = {**lab.result, "avg": wrong}
    expect(status).to_contain_text("Python’s numbers differ by")
