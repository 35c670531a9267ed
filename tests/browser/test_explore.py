"""The Explore panel in JupyterLab: clients, terms, sweep, samples, places, their tables, and the flag of a lesson."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.page import CONTRAST, OVERFLOW, WATCH, answered, drag, handle, painted, press, scene_where, unfold

TEXTS = """table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.innerText))"""
BIG = """
import numpy as np, nbmetrics as nm
rng = np.random.default_rng(0)
def item(name, **more):
    x, y, width, height = rng.uniform([-3.5, -3.5, 0.3, 0.3], [3.5, 3.5, 1.2, 0.9])
    return dict(name=name, x=x, y=y, width=width, height=height, angle=rng.uniform(-90, 90), **more)
clients = [item(f"Client {i + 1}", weight=1) for i in range(12)]
generators = [item(f"Generator {i + 1}") for i in range(6)]
lab = nm.Playground(nm.Scene.parse(dict(clients=clients, generators=generators, view={"panel": "sweep"})))
lab
"""


@pytest.fixture
def explore(run_cells):
    """explore(preset, **view) -> the page, the lab and its Explore panel."""

    def opened(preset="Two clients", samples=0, **view):
        change = f"{{**s.to_json(), 'samples': {samples}, 'view': {view!r}}}"
        lines = ["import nbmetrics as nm", f"s = nm.Scene.preset_named({preset!r})"]
        cell = "\n".join([*lines, f"lab = nm.Playground(nm.Scene.parse({change}))", "lab"])
        page = run_cells(cell)
        lab = page.get_by_role("group", name="Playground")
        lab.get_by_role("table", name="Scores").wait_for()
        unfold(lab)
        return page, lab

    return opened


def texts(table):
    painted(table.page)
    return table.evaluate(TEXTS)


def number(text):
    return float(text.replace("−", "-"))


def test_tabs_by_pointer_and_by_arrows_are_part_of_the_scene(explore):
    page, lab = explore()
    tab = {name: lab.get_by_role("tab", name=name) for name in ("Clients", "Terms", "Sweep", "Samples")}
    tab["Terms"].click()
    expect(lab.get_by_role("tabpanel")).to_have_attribute("aria-label", "Terms")
    tab["Terms"].press("ArrowRight")
    expect(tab["Sweep"]).to_be_focused()
    expect(tab["Sweep"]).to_have_attribute("aria-selected", "true")
    expect(tab["Terms"]).to_have_attribute("tabindex", "-1")
    scene_where(page, lambda scene: scene["view"]["panel"] == "sweep")
    tab["Sweep"].press("End")
    tab["Samples"].press("ArrowRight")
    expect(tab["Clients"]).to_be_focused()
    lab.get_by_role("button", name="Undo").click()
    expect(tab["Samples"]).to_have_attribute("aria-selected", "true")


def test_clients_view_shows_every_score_and_the_gap(explore):
    _, lab = explore("Heterogeneous six", metric="kid")
    press(lab, "Table view")
    rows = texts(lab.get_by_role("table", name="Each client and generator"))
    scene = nm.Scene.preset_named("Heterogeneous six")
    scores = nm.evaluate(scene.federation, scene.sources, ["kid"], progress=False)
    expected = scores.clients["value"].to_numpy().reshape(3, 6).T
    shown = np.array([[number(cell) for cell in row[1:]] for row in rows])
    np.testing.assert_allclose(shown[:6], expected, rtol=2e-3)
    np.testing.assert_allclose(shown[6:], scores.table[["avg", "all", "gap"]].to_numpy().T, rtol=2e-3)
    expect(lab.get_by_text(f"gap {rows[8][1]}", exact=True)).to_have_count(1)
    lab.get_by_role("button", name="Generator 2", exact=True).click()
    assert f"Client 3 {rows[2][2]}" in lab.get_by_role("img", name="KID of Generator 2").get_attribute("aria-label")


def test_terms_add_up_and_light_up_with_what_they_are_about(explore):
    page, lab = explore(panel="terms")
    table = lab.get_by_role("table", name="Terms")
    for row in texts(table):
        assert sum(map(number, row[1:-1])) == pytest.approx(number(row[-1]), abs=2.1e-3)
    assert [row[-1] for row in texts(table)] == ["1.000", "1.000", "1.000", "0.172"]
    table.get_by_role("row", name="Client 2").hover()
    expect(lab.locator(".nbm-stage .nbm-item.nbm-clients.nbm-hovered:has(.nbm-body)")).to_contain_text("Client 2")
    table.get_by_role("columnheader").nth(3).hover()
    expect(lab.locator(".nbm-part.nbm-lit")).to_have_text("Tr CG")
    expect(table.locator("tbody td.nbm-lit")).to_have_count(4)
    expect(lab.locator(".nbm-stage .nbm-generators.nbm-hovered .nbm-name")).to_have_text("Generator 1")
    page.mouse.move(5, 5)
    handle(lab, "Client 1 mean").hover()
    expect(table.get_by_role("row", name="Client 1")).to_have_class("nbm-hovered")
    expect(lab.locator(".nbm-lit")).to_have_count(0)


def test_metrics_that_python_computes_arrive_and_are_said_to_be_no_sums(explore):
    _, lab = explore(panel="terms")
    lab.get_by_label("Metric").select_option("CFID")
    expect(lab.get_by_role("table", name="Terms").get_by_role("columnheader")).to_have_text(
        ["Client", "mean", "regression", "residual", "CFID"]
    )
    lab.get_by_label("Metric").select_option("Recall")
    expect(lab.get_by_text("Recall is not a sum of parts")).to_be_visible()
    lab.get_by_role("tab", name="Clients").click()
    expect(lab.get_by_role("img", name="Recall of Generator 1")).to_be_visible(timeout=20000)
    lab.get_by_role("tab", name="Sweep").click()
    expect(lab.get_by_text("Recall has no closed form to sweep here; this is FID.")).to_be_visible()


def test_sweep_says_where_avg_and_all_are_best_and_its_marker_moves_the_generator(explore):
    page, lab = explore(panel="sweep")
    expect(lab.get_by_text("FID: avg is best at 1.00, all at 2.00.")).to_be_visible()
    slider = handle(lab, "variance of Generator 1")
    expect(slider).to_have_attribute("aria-valuetext", "1.00")
    painted(page)
    ticks = lab.locator(".nbm-sweep .nbm-lines").all_text_contents()
    drag(page, slider, 64, 0, release=False)
    dragged = number(slider.get_attribute("aria-valuetext"))
    assert dragged > 1.5
    assert lab.locator(".nbm-sweep .nbm-lines").all_text_contents() == ticks
    expect(lab.get_by_text("FID: avg is best at 1.00, all at 2.00.")).to_be_visible()
    page.mouse.up()
    scene_where(page, lambda s: s["generators"][0]["width"] == pytest.approx(math.sqrt(dragged), rel=1e-9))
    slider.press("Shift+ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", f"{dragged - 0.5:.2f}")
    drag(page, slider, -40, 0, release=False)
    page.keyboard.press("Escape")
    page.mouse.move(5, 5)
    page.mouse.up()
    painted(page)
    assert number(slider.get_attribute("aria-valuetext")) == pytest.approx(dragged - 0.5)


def apart(curves):
    """By how many pixels the first two curves differ at most; paths are written to a tenth of a pixel."""
    paths = curves.evaluate_all("nodes => nodes.map(node => node.getAttribute('d'))")
    first, second = ([float(x) for x in re.findall(r"[\d.]+", path)] for path in paths[:2])
    return np.abs(np.subtract(first, second)).max()


def test_without_the_constant_kid_is_one_curve_and_fid_is_not(explore):
    page, lab = explore(panel="sweep", metric="kid")
    expect(lab.get_by_text("KID: avg and all are both best at 2.00.")).to_be_visible()
    lab.get_by_label("Subtract the constant").check()
    expect(lab.get_by_text("KID: avg − 3.875 and all are one curve.")).to_be_visible()
    curves = lab.locator(".nbm-curve")
    assert apart(curves) <= 0.11
    lab.get_by_label("Metric").select_option("FID")
    expect(lab.get_by_text("do not coincide")).to_be_visible()
    assert apart(curves) > 5
    scene_where(page, lambda s: s["view"]["aligned"] and s["view"]["metric"] == "fid")


@pytest.mark.slow
def test_a_clients_weight_can_be_swept(explore):
    page, lab = explore(panel="sweep")
    handle(lab, "Client 2 mean").focus()
    lab.get_by_label("Parameter").select_option("Weight of Client 2")
    slider = handle(lab, "weight of Client 2")
    for _ in range(5):
        slider.press("ArrowRight")
    scene, _ = answered(page, lab)
    assert scene["clients"][1]["weight"] > 1.2  # five steps
    assert number(slider.get_attribute("aria-valuetext")) == pytest.approx(scene["clients"][1]["weight"], abs=0.005)
    press(lab, "Table view")
    rows = texts(lab.get_by_role("table", name="Sweep"))
    assert [row[0] for row in rows][::10] == ["0.00", "2.00", "4.00"]
    assert [number(row[3]) for row in rows] == pytest.approx([number(r[1]) - number(r[2]) for r in rows], abs=2e-3)


def test_a_lesson_hides_the_curves_until_the_flag_is_placed_and_revealed(run_cells):
    page = run_cells("import nbmetrics as nm\nlab = nm.Playground(lesson='Average against pooled'); lab")
    lab = page.get_by_role("group", name="Playground")
    flag = handle(lab, "Your guess")
    flag.wait_for()
    expect(lab.locator(".nbm-curve").first).to_be_hidden()
    expect(lab.get_by_text("is best at")).to_have_count(0)
    expect(handle(lab, "variance of Generator")).to_have_count(0)
    expect(flag).to_have_attribute("aria-valuetext", "not placed yet")
    drag(page, flag.locator(".nbm-touch"), -57, 0)
    scene_where(page, lambda s: s["lesson"]["guess"] is not None)
    assert 1.3 < number(flag.get_attribute("aria-valuetext")) < 1.9
    guess = number(flag.get_attribute("aria-valuetext")) + 0.05
    flag.press("ArrowRight")
    scene = scene_where(page, lambda s: s["lesson"]["guess"] == pytest.approx(guess))
    assert not scene["lesson"]["revealed"]
    lab.get_by_role("button", name="Reveal").click()
    expect(lab.locator(".nbm-curve").first).to_be_visible()
    expect(lab.get_by_text("FID: avg is best at 1.00, all at 2.00.")).to_be_visible()
    away = f"your guess {guess:.2f} is {abs(guess - 1):.2f} away. FID all is lowest at 2.00."
    expect(lab.locator(".nbm-outcome")).to_have_text(f"FID avg is lowest at 1.00: {away}")
    flag.focus()
    page.keyboard.press("ArrowRight")
    painted(page)
    assert number(flag.get_attribute("aria-valuetext")) == pytest.approx(guess)


def test_samples_show_the_estimate_the_band_and_the_bias(explore):
    page, lab = explore(panel="samples")
    points = lab.get_by_label("Points")
    expect(points).to_have_attribute("aria-valuetext", "exact")
    expect(lab.get_by_role("button", name="Redraw")).to_be_disabled()
    for _ in range(3):
        points.press("ArrowRight")
    expect(points).to_have_attribute("aria-valuetext", "50 points")
    expect(lab.locator(".nbm-bias li").first).to_contain_text("too high on average with 50 points", timeout=20000)
    scene, result = answered(page, lab)
    assert scene["samples"] == 50
    bands = result["bands"]
    bias = bands["fid"]["avg"]["mean"][0] - bands["fid"]["avg"]["exact"][0]
    expect(lab.locator(".nbm-bias li").first).to_have_text(f"FID avg is {bias:.3f} too high on average with 50 points.")
    alike = bands["fid"]["gap"]["alike"][0]
    words = re.compile(
        rf"^FID gap: \d.* in these points; about {alike:.3f} would remain even if all clients were alike.$"
    )
    expect(lab.locator(".nbm-bias li").nth(2)).to_have_text(words)
    press(lab, "Table view")
    table = lab.get_by_role("table", name="Estimates")
    before = texts(table)
    assert [row[0] for row in before] == [f"{m} {part}" for m in ("FID", "KID") for part in ("avg", "all", "gap")]
    assert number(before[2][1]) == pytest.approx(number(before[0][1]) - number(before[1][1]), abs=2e-3)
    assert before[0][1] == "1.000" and number(before[0][4]) < number(before[0][3]) < number(before[0][5])
    lab.get_by_role("button", name="Redraw").click()
    expect(table.locator("tbody tr").first.locator("td").nth(1)).not_to_have_text(before[0][2])
    assert scene_where(page, lambda s: s["seed"] == 1)["samples"] == 50


def test_places_cross_where_avg_and_all_disagree(explore):
    _, lab = explore("Heterogeneous six")
    slopes = lab.locator(".nbm-slope")
    expect(slopes).to_have_count(3)
    expect(lab.locator(".nbm-slope.nbm-differs")).to_have_count(3)
    scene = nm.Scene.preset_named("Heterogeneous six")
    first = nm.evaluate(scene.federation, scene.sources, ["fid"], progress=False).table.iloc[0]
    ends = [f"Generator 1{first['avg']:.3f}", f"{first['all']:.3f}Generator 1"]
    assert slopes.nth(0).locator("text").all_text_contents() == ends
    lab.get_by_label("Metric").select_option("KID")
    expect(lab.locator(".nbm-slope.nbm-differs")).to_have_count(0)
    for name in ("Generator 1 mean", "Generator 2 mean"):
        handle(lab, name).focus()
        press(lab, "Remove")
        expect(handle(lab, name)).to_have_count(0)
    expect(lab.get_by_role("img", name=re.compile("^Ranks by KID"))).to_be_hidden()


@pytest.mark.slow
def test_twelve_clients_six_generators_and_the_sweep_open_every_move_is_painted(run_cells):
    page = run_cells(BIG)
    lab = page.get_by_role("group", name="Playground")
    unfold(lab)
    lab.locator(".nbm-sweep").wait_for()
    answered(page, lab)
    page.evaluate(WATCH)
    drag(page, handle(lab, "Client 3 mean"), 60, 40, steps=20)
    watch = page.evaluate("() => window.__watch")
    cost = np.array(watch["cost"])
    print(f"\n{len(cost)} frames, ms each: median {np.median(cost):.1f}, p95 {np.percentile(cost, 95):.1f}")
    # The first event of a drag only reaches the place where the press will be.
    assert len(cost) >= watch["moves"] - 1 >= 20


# The view of the clients is in the pictures of test_pictures.
VIEWS = {
    "terms": {"preset": "Heterogeneous six", "panel": "terms"},
    "sweep": {"panel": "sweep"},
    "samples": {"panel": "samples", "samples": 50},
}


@pytest.mark.slow
@pytest.mark.usefixtures("tall")
@pytest.mark.parametrize("view", VIEWS)
def test_pictures(explore, theme, shot, view):
    page, lab = explore(**VIEWS[view])
    for colours in ("light", "dark"):
        theme(f"JupyterLab {colours.title()}")
        answered(page, lab)
        shot(f"explore-{view}-{colours}-before", lab)
        drag(page, handle(lab, "Client 1 mean"), -30, -40, release=False)
        shot(f"explore-{view}-{colours}-during", lab)
        page.mouse.up()
        press(lab, "Table view")
        page.mouse.move(5, 5)
        answered(page, lab)
        expect(lab.locator(".nbm-bias.nbm-behind")).to_have_count(0)
        shot(f"explore-{view}-{colours}-after", lab)
        assert [line for line in page.evaluate(OVERFLOW) if "nbm-scroll" not in line] == []
        assert page.evaluate(CONTRAST) == []
        press(lab, "Table view")


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_narrow_pictures(explore, narrow, shot, view):
    page, lab = explore(**VIEWS[view])
    for width in (400, 320):
        narrow(width, 2200)
        answered(page, lab)
        shot(f"explore-{view}-{width}", lab)
        assert [line for line in page.evaluate(OVERFLOW) if "nbm-scroll" not in line] == []
