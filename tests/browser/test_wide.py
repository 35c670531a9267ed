"""The Playground of rows wider than the plane: on a saved page, where nothing moves, and beside a kernel."""

import json
from itertools import product

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests import EVIL
from tests.browser.conftest import PLAIN
from tests.browser.page import CONTRAST, OVERFLOW, cells, numbers, painted, press, run_code, unfold, until
from tests.browser.page import opened as menu
from tests.browser.plain import in_notebook
from tests.slow import by_default

D = 40
WORDS = "Scores: all 40 features. Picture: 2 of 40 dimensions."


def sites(rng):
    return {name: rng.normal(k, 1 + k / 2, (90 - 20 * k, D)) for k, name in enumerate(("north", "south", "east"))}


def models(rng):
    return {"narrow": rng.normal(1, 1, (150, D)), "wide": rng.normal(1, 2, (150, D)), "far": rng.normal(3, 1, (90, D))}


def lab_of(**settings):
    rng = np.random.default_rng(1)
    return nm.Playground(nm.Federation(sites(rng)), models(rng), **settings)


def table(scores):
    parts = [scores.table[scores.table["metric"] == m][a].to_numpy() for m in scores.metrics for a in ("avg", "all")]
    return np.column_stack(parts)


def test_a_saved_page_shows_the_last_numbers_and_moves_nothing(saved):
    lab = lab_of()
    _, root = saved.open(lab)
    np.testing.assert_allclose(numbers(root), table(lab.scores()), rtol=1e-9)
    expect(root.get_by_text(WORDS)).to_be_visible()
    expect(root.get_by_text(lab.scene["plane"]["words"])).to_be_visible()
    expect(root.get_by_role("status")).to_contain_text("nothing can be moved here")
    cautions = root.get_by_role("list", name="Cautions").get_by_role("listitem").all_inner_texts()
    assert cautions == lab.scores().cautions
    assert root.get_by_role("slider").count() == 0
    expect(root.get_by_text("Drag, or Tab")).to_be_hidden()
    weight = root.get_by_label("south weight", exact=True)
    expect(weight).to_be_disabled()
    expect(weight).to_have_attribute("title", "Not on a saved page")
    for name in ("Add client", "Add generator"):
        expect(root.get_by_role("menuitem", name=name, exact=True)).to_be_hidden()


def test_a_link_to_a_saved_page_opens_in_it(saved):
    lab = lab_of()
    page, root = saved.open(lab)
    before = numbers(root)
    for text in (nm.Playground().share(), lab.share()):  # there, and back again
        page.evaluate("text => { location.hash = text; }", text)
        painted(root)
        expect(page.get_by_role("alert")).to_have_count(0)
    expect(root.get_by_text(WORDS)).to_be_visible()
    np.testing.assert_array_equal(numbers(root), before)


def test_charts_that_cannot_be_say_why(saved):
    page, root = saved.open(lab_of())
    unfold(root)
    for tab, reason in {
        "Terms": "these scores use 40 features",
        "Sweep": "A sweep moves an item",
        "Samples": "nothing is sampled",
    }.items():
        root.get_by_role("tab", name=tab).click()
        expect(root.get_by_text(reason)).to_be_visible()
        expect(root.get_by_role("tabpanel", name=tab).locator(":is(svg, table, input):visible")).to_have_count(0)
    root.get_by_role("tab", name="Clients").click()
    painted(page)
    expect(root.get_by_role("img", name="FID of narrow")).to_be_visible()
    expect(root.locator(".nbm-ribbon svg")).to_be_visible()


def test_metrics_of_the_planes_axes_are_not_offered_and_others_need_python(saved):
    page, root = saved.open(lab_of(metric="precision"))
    unfold(root)
    select = root.get_by_label("Metric", exact=True)
    offered = select.locator("option:not([hidden])").all_inner_texts()
    assert "Recall" in offered and not {"CFID", "MFID", "RFID", "FLD"} & set(offered)
    select.select_option("recall")
    expect(root.get_by_role("tabpanel").get_by_text("Recall needs Python: open the lab in a notebook.")).to_be_visible()
    select.select_option("precision")
    painted(page)
    assert len(numbers(root)[0]) == 6 and None not in numbers(root)[0]


def test_a_refused_score_is_a_dash_with_its_reason(saved):
    rng = np.random.default_rng(1)
    clients, made = nm.Federation(sites(rng)).with_weights([1, 1, 4]), models(rng)
    _, root = saved.open(nm.Playground(clients, made, metric="precision"))
    unfold(root)
    assert [row[5][0] for row in cells(root)] == ["–", "–", "–"]
    assert all(float(row[4][0]) <= 1 for row in cells(root))
    expect(root.get_by_role("list", name="Cautions")).to_contain_text("Precision all has no value")
    expect(root.get_by_text("Precision lacks some values")).to_be_visible()


LOOKS = list(product([1280, 400, 320], ["light", "dark"]))


@pytest.mark.parametrize(("width", "scheme"), by_default(LOOKS, (1280, "light"), (320, "dark")))
def test_it_is_readable_at_any_width(saved, scheme, width):
    page, _ = saved.open(lab_of(plane="lda"), width=width, color_scheme=scheme)
    painted(page)
    assert page.evaluate(OVERFLOW) == [] and page.evaluate(CONTRAST) == []


def test_names_of_columns_are_text(saved):
    import pandas as pd

    rng = np.random.default_rng(1)
    columns = [EVIL, *(f"c{k}" for k in range(1, D))]
    frames = {name: pd.DataFrame(rows, columns=columns) for name, rows in sites(rng).items()}
    _, root = saved.open(nm.Playground(frames, models(rng), plane=(EVIL, "c3")))
    expect(root.get_by_text(f"Across: {EVIL}, up: c3")).to_be_visible()


ROWS = """import numpy as np, pandas as pd, nbmetrics as nm
rng = np.random.default_rng(1)
D = 40
sites = {n: rng.normal(k, 1 + k / 2, (90 - 20 * k, D)) for k, n in enumerate(("north", "south", "east"))}
models = {"narrow": rng.normal(1, 1, (150, D)), "wide": rng.normal(1, 2, (150, D))}
frame, flat = pd.DataFrame(rng.normal(1, 1, (80, D))), rng.normal(size=(9, 2))
lab = nm.Playground(nm.Federation(sites), models)
lab"""
# As evaluate says, of what the lab's scene says.
WANTED = """f = nm.Federation([nm.Client(lab._data[c.key], weight=c.weight, name=c.name) for c in lab._scene.clients])
s = nm.evaluate(f, {g.name: lab._data[g.key] for g in lab._scene.generators}).table
print(_j.dumps([s[s.metric == m][a].tolist() for m in ("fid", "kid") for a in ("avg", "all")]))"""


def opened(run_cells):
    page = run_cells(ROWS)
    lab = page.get_by_role("group", name="Playground")
    lab.get_by_role("table", name="Scores").locator("tbody tr").first.wait_for()
    return page, lab


def agrees(page, lab):
    """The page shows what evaluate gives of the rows and weights that Python knows of."""
    expect(lab.get_by_role("status")).to_contain_text("Python computed these numbers from all 40 features")
    expect(lab.get_by_role("status")).not_to_have_class("nbm-behind")
    wanted = np.transpose(run_code(page, WANTED))
    shown = until(
        page, lambda: numbers(lab), lambda rows: np.shape(rows) == wanted.shape and not any(None in r for r in rows)
    )
    np.testing.assert_allclose(shown, wanted, rtol=1e-9)


@pytest.mark.slow
def test_weights_names_and_removal_beside_a_kernel(run_cells, shot):
    page, lab = opened(run_cells)
    agrees(page, lab)
    weight = lab.get_by_label("east weight", exact=True)
    weight.fill("300")
    weight.press("Enter")
    agrees(page, lab)
    name = lab.get_by_label("north name", exact=True)
    name.fill("Nord")
    name.press("Enter")
    agrees(page, lab)
    lab.get_by_label("south name", exact=True).click()
    press(lab, "Remove")
    expect(lab.get_by_label("south weight", exact=True)).to_have_count(0)
    agrees(page, lab)
    shot("wide", lab)
    for _ in range(3):
        lab.get_by_role("button", name="Undo").click()
    expect(lab.get_by_label("north weight", exact=True)).to_have_value("90")
    agrees(page, lab)


def test_avg_follows_weights_while_python_is_busy_and_all_waits(run_cells, kernel):
    page, lab = opened(run_cells)
    agrees(page, lab)
    by_client = run_code(page, "print(_j.dumps(lab.result['scores']['fid']['byClient']))")
    before = numbers(lab)
    kernel.occupy()
    weight = lab.get_by_label("east weight", exact=True)
    weight.fill("200")
    weight.press("Enter")
    shares = np.array([90, 70, 200]) / 360
    shown = until(page, lambda: numbers(lab), lambda rows: rows != before)
    np.testing.assert_allclose([row[0] for row in shown], np.array(by_client) @ shares, rtol=1e-9)
    assert [row[1] for row in shown] == [row[1] for row in before]
    behind = "nodes => nodes.map(node => node.classList.contains('nbm-behind'))"
    assert lab.locator("table[aria-label=Scores] tbody tr:first-child td").evaluate_all(behind) == [False, True] * 2
    assert "≠" not in lab.get_by_role("table", name="Scores").inner_text()
    kernel.release()
    agrees(page, lab)


@pytest.mark.parametrize("place", [PLAIN], indirect=True)
def test_the_picker_takes_frames_of_this_width_and_says_why_not_others(run_cells, monkeypatch):
    page, lab = opened(run_cells)
    in_notebook(monkeypatch, page.python.names)
    picker = menu(lab, "Add").get_by_role("group", name="From the notebook")
    expect(picker.get_by_role("menuitem", name="frame", exact=True)).to_be_visible()
    expect(picker.get_by_role("menuitem", name="flat: 2 features, not 40")).to_have_attribute("aria-disabled", "true")
    expect(menu(lab, "Add").get_by_role("menuitem", name="Add client")).to_be_hidden()
    picker.get_by_role("menuitem", name="frame", exact=True).click()
    expect(lab.locator("table[aria-label=Scores] tbody tr", has_text="frame")).to_have_count(1)
    agrees(page, lab)
    run_code(page, "lab.attach_client('west', rng.normal(5, 1, (30, D))); print(1)")
    expect(lab.get_by_label("west weight", exact=True)).to_have_value("30")
    agrees(page, lab)


def test_a_preset_of_the_plane_is_dragged_as_ever_and_undone(run_cells):
    page, lab = opened(run_cells)
    start = numbers(lab)
    lab.get_by_label("Preset").select_option("Two clients")
    expect(lab.get_by_role("slider", name="Client 1 mean", exact=True)).to_be_visible()
    expect(menu(lab, "Add").get_by_role("menuitem", name="Add client")).to_be_visible()
    page.keyboard.press("Escape")
    expect(lab.get_by_text("Drag, or Tab")).to_be_visible()
    expect(lab.get_by_text(WORDS)).to_be_hidden()
    lab.get_by_role("slider", name="Client 1 mean", exact=True).press("ArrowRight")
    expect(lab.get_by_role("status")).to_contain_text("Python agrees")
    for _ in range(2):
        lab.get_by_role("button", name="Undo").click()
    expect(lab.get_by_text(WORDS)).to_be_visible()
    until(page, lambda: numbers(lab), lambda rows: json.dumps(rows) == json.dumps(start))
