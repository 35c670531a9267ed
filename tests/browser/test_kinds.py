"""The Playground's other kinds of generators, drawn points, data, and what is attached from the notebook."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.page import drag, handle, menu_item, numbers, opened, run_code, settle, told

SCORES = "s = lab.scores().table; print(_j.dumps([s[a].tolist() for a in ('avg', 'all')]))"
ROWS = """import numpy as np, nbmetrics as nm
rng = np.random.default_rng(0)
mine = rng.normal(1, 0.7, size=(120, 2))
wide = rng.normal(size=(50, 3))
moons = nm.TwoMoons()
def ring(n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.stack([2 * np.cos(angle), 2 * np.sin(angle)], axis=1)
lab = nm.Playground([nm.Client(rng.normal([-2, 0], 0.6, size=(400, 2)), name="north"),
                     nm.Client(rng.normal([2, 1], [1, 0.4], size=(200, 2)), name="south")])
lab"""


def agrees(page, lab):
    """The page's numbers are Python's, FID and KID, avg and all."""
    settle(page, lab)
    avg, pooled = run_code(page, SCORES)
    rows = numbers(lab)
    wanted = np.reshape([avg, pooled], (2, -1, len(rows))).transpose(2, 1, 0).reshape(len(rows), -1)
    np.testing.assert_allclose(rows, wanted, rtol=1e-7, atol=1e-9)


KINDS = {
    "bumps": "Two bumps",
    "truncated": "Ideal estimator, truncated by ψ",
    "point": "Collapsed to a point",
    "copycat": "Copycat of a client’s points",
}


def choose(lab, value):
    menu_item(lab, KINDS.get(value, value), "Add").click()


def test_every_kind_of_generator_can_be_added_and_scores_as_python_says(playground, shot):
    page, lab = playground
    for value in ("bumps", "truncated", "point", "copycat"):
        choose(lab, value)
    settle(page, lab)
    names = [row.locator("th").inner_text() for row in lab.locator("table[aria-label=Scores] tbody tr").all()]
    assert names[2:] == ["Two bumps 1", "Ideal", "Collapsed 1", "Copycat 1"]
    agrees(page, lab)
    ideal = numbers(lab)[3]
    assert ideal[1] == pytest.approx(0, abs=1e-9) and ideal[3] == pytest.approx(0, abs=1e-9)
    shot("kinds", lab)


def test_bumps_drag_by_the_same_handles_and_psi_is_a_number(playground):
    page, lab = playground
    choose(lab, "bumps")
    settle(page, lab)
    before = numbers(lab)[2]
    drag(page, handle(lab, "Two bumps 1 width"), 40, 0)
    assert numbers(lab)[2] != before
    choose(lab, "truncated")
    psi = lab.get_by_label("Ideal ψ", exact=True)
    psi.fill("0.5")
    psi.press("Enter")
    agrees(page, lab)
    assert run_code(page, "print(_j.dumps(lab.scene['generators'][-1]))")["psi"] == 0.5


def test_a_copycat_follows_its_client_by_name_and_keeps_it(playground):
    page, lab = playground
    choose(lab, "copycat")
    lab.get_by_label("Copycat 1 copies").select_option("Client 2")
    name = lab.get_by_label("Client 2 name", exact=True)
    name.fill("South")
    name.press("Enter")
    agrees(page, lab)
    assert run_code(page, "print(_j.dumps(lab.scene['generators'][-1]['of']))") == "South"
    handle(lab, "South mean").focus()
    expect(menu_item(lab, "Remove")).to_be_disabled()
    menu_item(lab, "Remove").dispatch_event("click")
    expect(told(lab)).to_have_text("Copycat 1 copies it")
    expect(handle(lab, "South mean")).to_have_count(1)


def test_drawn_points_move_with_their_ellipse_and_score_as_python_says(run_cells, shot):
    page = run_cells("import nbmetrics as nm\nlab = nm.Playground(samples=60, seed=3); lab")
    lab = page.get_by_role("group", name="Playground")
    lab.get_by_role("table", name="Scores").locator("tbody tr").first.wait_for()
    agrees(page, lab)
    drag(page, handle(lab, "Client 1 mean"), 50, -30, release=False)
    shot("points-during", lab)
    page.mouse.up()
    agrees(page, lab)


def test_clients_from_data_show_points_and_a_fitted_ellipse(run_cells, shot, theme):
    page = run_cells(ROWS)
    lab = page.get_by_role("group", name="Playground")
    lab.get_by_role("table", name="Scores").locator("tbody tr").first.wait_for()
    agrees(page, lab)
    assert lab.locator(".nbm-clients .nbm-cloud").first.get_attribute("d").count("M") == 200
    assert lab.get_by_role("slider", name="north mean").count() == 0
    choose(lab, "truncated")
    agrees(page, lab)
    theme("JupyterLab Dark")
    shot("data-dark", lab)


@pytest.mark.slow
@pytest.mark.jupyterlab
def test_the_picker_lists_what_fits_and_attaches_it(run_cells):
    page = run_cells(ROWS)
    lab = page.get_by_role("group", name="Playground")
    group = opened(lab, "Add").get_by_role("group", name="From the notebook")
    expect(group.get_by_role("menuitem", name="mine")).to_be_visible()
    listed = group.get_by_role("menuitem")
    assert listed.all_inner_texts() == ["mine", "moons", "ring", "wide: 3 features, not 2"]
    offered = [item.inner_text() for item in listed.all() if item.get_attribute("aria-disabled") != "true"]
    assert offered == ["mine", "moons", "ring"]
    for name in offered:
        choose(lab, name)
        expect(lab.locator("table[aria-label=Scores] tbody tr", has_text=name)).to_have_count(1)
    agrees(page, lab)
    lab.get_by_role("button", name="Undo").click()
    expect(lab.locator("table[aria-label=Scores] tbody tr", has_text="ring")).to_have_count(0)


def test_attach_from_the_notebook_and_copied_code_names_the_data(run_cells):
    page = run_cells(ROWS)
    lab = page.get_by_role("group", name="Playground")
    lab.get_by_role("table", name="Scores").locator("tbody tr").first.wait_for()
    run_code(page, "lab.attach('mine', mine); print(1)")
    expect(lab.locator("table[aria-label=Scores] tbody tr", has_text="mine")).to_have_count(1)
    agrees(page, lab)
    code = run_code(page, "print(_j.dumps(lab.to_code()))")
    assert 'data = {"north": ..., "south": ..., "mine": ...}' in code
    items = "(*lab._scene.clients, *lab._scene.generators)"
    held = f"{{i.name: lab._data[i.key] for i in {items} if i.kind == 'data'}}"
    rebuilt = code.replace("data = {", f"data = {held} if True else {{").replace("lab = nm.", "again = nm.")
    rebuilt = rebuilt.replace("lab.scores", "again.scores").removesuffix("lab\n")
    run_code(page, f"{rebuilt}\nprint(1)")
    ours, theirs = run_code(page, SCORES), run_code(page, SCORES.replace("lab.", "again."))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_what_is_attached_while_a_drag_lasts_is_kept(run_cells):
    page = run_cells("import numpy as np, nbmetrics as nm\nlab = nm.Playground('Two clients'); lab")
    lab = page.get_by_role("group", name="Playground")
    rows = lab.locator("table[aria-label=Scores] tbody tr", has_text="mine")
    drag(page, handle(lab, "Client 2 mean"), 60, 20, release=False)
    run_code(page, "lab.attach('mine', np.random.default_rng(0).normal(size=(40, 2))); print(1)")
    expect(rows).to_have_count(1)
    page.mouse.move(300, 300)
    page.mouse.up()
    agrees(page, lab)
    expect(rows).to_have_count(1)


@pytest.mark.slow
def test_a_metric_that_needs_points_comes_from_python(run_cells):
    page = run_cells("import nbmetrics as nm\nlab = nm.Playground('Two clients', metric='fld'); lab")
    lab = page.get_by_role("group", name="Playground")
    table = lab.get_by_role("table", name="Scores")
    expect(table.get_by_role("columnheader", name="FLD avg")).to_be_visible()
    _, result = settle(page, lab)
    shown = [row[4] for row in numbers(lab)]
    assert shown == pytest.approx(result["scores"]["fld"]["avg"])
    drag(page, handle(lab, "Generator 1 mean"), 60, 0)
    moved = settle(page, lab)[1]["scores"]["fld"]["avg"]
    assert [row[4] for row in numbers(lab)] == pytest.approx(moved) and moved != pytest.approx(shown)
