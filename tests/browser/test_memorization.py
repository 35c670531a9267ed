"""MemorizationLab in JupyterLab: the picture follows the sliders in every frame, the cards follow Python."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from nbmetrics.labs.memorization.scene import MemorizationScene, presets
from nbmetrics.labs.memorization.study import study_of
from tests.browser.memo import SLOW, card, curve_of, open_with, settle, shown, tab, verdict
from tests.browser.page import handle, press, run_code
from tests.slow import by_default

# In every frame: what the slider says, how many copies are ringed, and whether the cards are of that picture.
RECORD = """() => {
  const [root] = document.getElementsByClassName('nbm-memo');
  const [slider] = root.getElementsByTagName('input'), [rings] = root.getElementsByClassName('nbm-memo-marks');
  const cards = root.querySelector('.nbm-memo-cards');
  const frames = window.__frames = [];
  const frame = () => {
    const copies = Number(rings.dataset.rings);
    const old = cards.classList.contains('nbm-memo-old');
    frames.push({ percent: slider.valueAsNumber, copies, current: cards.dataset.current, old });
    if (root.isConnected) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
# After the page's own callback of the frame that follows the event: what is painted then is what is shown.
SAME_FRAME = """slider => new Promise(done => {
  const root = slider.closest('.nbm-memo');
  const d = () => root.querySelector('.nbm-memo-marks').toDataURL();
  const before = d();
  slider.value = String(slider.valueAsNumber + 7);
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  requestAnimationFrame(() => {
    const after = d();
    slider.dispatchEvent(new Event('change', { bubbles: true }));
    done(before !== after);
  });
})"""


@pytest.fixture
def opened(run_cells):
    return open_with(run_cells)


def test_opens_honest_with_one_thing_to_do(opened):
    page, lab = opened()
    expect(lab.locator(".nbm-memo-question")).to_have_text(
        "Drag “Share copied” to the right. Which metric notices first?"
    )
    _, result = settle(page, lab)
    np.testing.assert_allclose(shown(lab), list(result["cards"].values()))
    assert [node.get_attribute("data-verdict") for node in lab.locator(".nbm-memo-card").all()] == ["quiet"] * 9
    first = page.evaluate("() => document.querySelector('.nbm-memo input').getAttribute('aria-label')")
    assert first == "Share copied" and lab.get_by_role("tab").count() == 4


def test_the_picture_follows_the_mouse_in_every_frame_and_the_right_cards_arrive(opened, shot):
    page, lab = opened("points=200")
    settle(page, lab)
    shot("memorization-light-before", lab)
    page.evaluate(RECORD)
    box = handle(lab, "Share copied").bounding_box()
    y, start = box["y"] + box["height"] / 2, box["x"] + 8
    page.mouse.move(start, y)
    page.mouse.down()
    for k in range(1, 25):
        page.mouse.move(start + k * box["width"] / 48, y)
    shot("memorization-light-during", lab)
    page.mouse.up()
    scene, result = settle(page, lab)
    shot("memorization-light-after", lab)
    frames = page.evaluate("() => window.__frames")
    assert len({frame["percent"] for frame in frames}) > 10
    # the recorder's callback may come before the page's in a frame, so a picture may be the slider's of a frame ago
    ago = [frames[0], *frames[:-1]]
    late = [f for f, b in zip(frames, ago) if f["copies"] not in {round(g["percent"] / 100 * 200) for g in (f, b)}]
    assert not late
    assert all(frame["old"] == (frame["current"] == "false") for frame in frames)
    assert any(frame["old"] for frame in frames) and not frames[-1]["old"]
    assert 0.4 < scene["copied"] < 0.6
    np.testing.assert_allclose(shown(lab), list(result["cards"].values()))
    assert verdict(lab, "FLD gap") == "notices" and verdict(lab, "FID-test") != "notices"


def test_every_slider_moves_the_picture_in_the_same_frame(opened):
    page, lab = opened("points=60, copied=0.5, jitter=0.05, bandwidth=0.05")
    settle(page, lab)
    for name in ("Share copied", "Jitter of copies", "KDE bandwidth", "Spread"):
        assert handle(lab, name).evaluate(SAME_FRAME), name
    assert_python_has_the_points(page, lab)


def assert_python_has_the_points(page, lab):
    scene, result = settle(page, lab)
    study = study_of(scene["data"], scene["points"], scene["seed"])
    made = study.generated(MemorizationScene.parse(scene))
    assert result["cards"]["fid_test"] == pytest.approx(nm.fid(study.test, made), abs=1e-9)
    press(lab, "Table view")
    table = lab.get_by_role("table", name="Generated points")
    expect(table.locator("tbody tr")).to_have_count(scene["points"])
    row = table.locator("tbody tr").first
    index, x, y = (float(row.locator("th, td").nth(k).inner_text().replace("−", "-")) for k in range(3))
    np.testing.assert_allclose([x, y], made[int(index)], atol=6e-4)


def test_by_keyboard_alone(opened):
    page, lab = opened()
    share = handle(lab, "Share copied")
    share.focus()
    for key, wanted in [
        ("ArrowRight", "1\u00a0%"),
        ("Shift+ArrowRight", "11\u00a0%"),
        ("End", "100\u00a0%"),
        ("Home", "0\u00a0%"),
    ]:
        share.press(key)
        expect(share).to_have_attribute("aria-valuetext", wanted)
    share.press("ArrowRight")
    settle(page, lab)  # the order of the points is Python's
    page.keyboard.press("Tab")
    expect(handle(lab, "Generated point")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(lab.locator(".nbm-memo-chosenwords")).to_contain_text("number 1 of 120", timeout=SLOW)
    page.keyboard.press("ArrowRight")
    expect(lab.locator(".nbm-memo-chosenwords")).to_contain_text("number 2 of 120")
    page.keyboard.press("Escape")
    expect(lab.locator(".nbm-memo-chosenwords")).to_have_text("")
    scene, _ = settle(page, lab)
    assert scene["copied"] == 0.01 and scene["selected"] is None
    lab.get_by_role("tab", name="Cards").focus()
    page.keyboard.press("ArrowRight")
    expect(lab.get_by_role("tab", name="Curve")).to_be_focused()
    expect(lab.get_by_role("tab", name="Curve")).to_have_attribute("aria-selected", "true")


def test_undo_redo_and_reset_travel_and_looking_leaves_no_step(opened):
    page, lab = opened()
    share = handle(lab, "Share copied")
    share.press("Shift+ArrowRight")
    handle(lab, "Spread").press("ArrowLeft")
    tab(lab, "Items")
    tab(lab, "Cards")
    values = []
    for button in ("Undo", "Undo", "Redo", "Redo", "Reset"):
        press(lab, button)
        scene, _ = settle(page, lab)
        values.append((scene["copied"], scene["spread"]))
    assert values == [(0.1, 1), (0, 1), (0.1, 1), (0.1, 0.98), (0, 1)]


MOONS = [name for name, scene in presets().items() if scene.data == "moons"]


@pytest.mark.parametrize("name", by_default(MOONS, "Copycat"))
def test_presets_show_what_they_are_named_for(opened, shot, name):
    page, lab = opened("points=60")
    lab.get_by_label("Preset").select_option(name)
    scene, result = settle(page, lab)
    wanted = presets()[name]
    assert {k: scene[k] for k in ("copied", "spread", "jitter")} == {
        k: getattr(wanted, k) for k in ("copied", "spread", "jitter")
    }
    np.testing.assert_allclose(shown(lab), list(result["cards"].values()))
    shot(f"memorization-preset-{re.sub('[^a-z]+', '-', name.lower())}", lab)
    if name == "Copycat":
        assert verdict(lab, "FLD") == "notices" and verdict(lab, "FID-train") != "notices"
        assert "10¹" in card(lab, "FLD").locator(".nbm-memo-number").inner_text()


def test_a_click_chooses_the_nearest_point_and_links_it_to_what_it_is_like(opened, shot):
    page, lab = opened("points=60, copied=0.5, jitter=0.01")
    settle(page, lab)
    handle(lab, "Generated point").press("Enter")
    plane = lab.locator(".nbm-memo-plane")
    expect(plane.locator(".nbm-memo-link")).to_be_visible()
    places = plane.evaluate("""svg => { const at = c => svg.getElementsByClassName(c)[0];
      const [x, y] = at('nbm-memo-chosen').getAttribute('transform').match(/[\\d.]+/g).map(Number);
      return { x, y, tx: +at('nbm-memo-link').getAttribute('x2'), ty: +at('nbm-memo-link').getAttribute('y2') }; }""")
    page.keyboard.press("Escape")
    expect(plane.locator(".nbm-memo-chosen")).to_be_hidden()
    box = plane.bounding_box()
    page.mouse.click(box["x"] + places["x"] + 2, box["y"] + places["y"])
    scene, result = settle(page, lab)
    chosen = scene["selected"]
    study = study_of("moons", 60, 0)
    made = study.generated(MemorizationScene.parse(scene))
    nearest = int(np.argmin(np.sum((study.train - made[chosen]) ** 2, axis=1)))
    assert result["nearest"][chosen] == nearest
    unit = (places["tx"] - places["x"]) / (study.train[nearest] - made[chosen])[0]
    assert places["ty"] - places["y"] == pytest.approx(-unit * (study.train[nearest] - made[chosen])[1], abs=0.01)
    words = lab.locator(".nbm-memo-chosenwords")
    expect(words).to_contain_text(f"Generated point {chosen}, a copy: ")
    expect(words).to_contain_text(f"from train point {nearest}.")
    expect(handle(lab, "Generated point")).to_have_attribute("aria-valuetext", words.inner_text())
    shot("memorization-chosen", lab)


def test_predict_then_reveal(opened, shot):
    page, lab = opened("points=100")
    tab(lab, "Curve")
    curve, result = curve_of(page, lab)
    lines = lab.locator(".nbm-memo-curve .nbm-curve")
    assert {node.get_attribute("d") for node in lines.all()} == {"M0 0"}
    reveal = lab.get_by_role("button", name="Reveal")
    expect(reveal).to_be_disabled()
    shot("memorization-predict", lab)
    handle(lab, "FLD notices at").press("Enter")
    handle(lab, "FID-test notices at").press("ArrowLeft")
    reveal.click()
    expect(lab.locator(".nbm-memo-told")).to_contain_text("(you guessed 35\u00a0%)")
    expect(lab.locator(".nbm-memo-told")).to_contain_text("(you guessed 64\u00a0%)")
    shot("memorization-revealed", lab)
    for name, label in (("fld", "FLD"), ("fid_test", "FID-test")):
        away = (np.array(curve["metrics"][name], float) - result["honest"][name]) / result["noise"][name]
        seen = np.flatnonzero(away > 3)
        truth = (
            f"{label} notices from {100 * curve['values'][seen[0]]:g}\u00a0%" if len(seen) else f"{label} never notices"
        )
        expect(lab.locator(".nbm-memo-told")).to_contain_text(truth)
    assert all(len(node.get_attribute("d")) > 50 for node in lines.all())
    lab.get_by_role("button", name="Predict again").click()
    expect(reveal).to_be_disabled()


@pytest.mark.slow
def test_the_curve_over_another_slider_and_its_table(opened, shot):
    page, lab = opened("points=100")
    tab(lab, "Curve")
    lab.get_by_role("combobox", name="Curve over").select_option("bandwidth")
    page.wait_for_function(
        "() => document.querySelector('.nbm-memo-curve .nbm-axislabel').textContent === 'KDE bandwidth'"
    )
    curve, _ = curve_of(page, lab)
    assert curve["parameter"] == "bandwidth"
    press(lab, "Table view")
    table = lab.get_by_role("table", name="Curve")
    expect(table.locator("tbody tr")).to_have_count(len(curve["values"]))
    shot("memorization-bandwidth", lab)
    handle(lab, "Spread").press("ArrowLeft")
    again, _ = curve_of(page, lab)
    assert again["key"] != curve["key"] and again["metrics"]["fid_test"] != curve["metrics"]["fid_test"]


@pytest.mark.slow
def test_heat_maps_set_the_share(opened, shot):
    page, lab = opened("points=60")
    tab(lab, "Interactions")
    maps = lab.locator(".nbm-memo-heat")
    expect(maps).to_have_count(3, timeout=2 * SLOW)
    shot("memorization-interactions", lab)
    lab.get_by_role("button", name="set Share copied 50 %").first.click()
    scene, _ = settle(page, lab)
    assert scene["copied"] == 0.5
    expect(handle(lab, "Share copied")).to_have_attribute("aria-valuetext", "50\u00a0%")
    expect(maps.locator(".nbm-memo-here")).to_have_count(8)


@pytest.mark.slow
def test_points_and_seed_draw_new_rows(opened):
    page, lab = opened()
    handle(lab, "Points per set").press("ArrowLeft")
    scene, result = settle(page, lab)
    assert scene["points"] == 100 and len(result["memorization"]) == 100
    seed = lab.get_by_role("spinbutton", name="Seed")
    seed.fill("7")
    seed.press("Enter")
    scene, _ = settle(page, lab)
    assert scene["seed"] == 7
    seed.fill("-1")
    seed.press("Enter")
    expect(lab.get_by_role("status")).to_contain_text("whole number")
    page.wait_for_timeout(300)  # it would have come to Python by now
    assert run_code(page, "print(_j.dumps(lab.scene['seed']))") == 7


@pytest.mark.slow
def test_a_chosen_point_that_is_gone_is_chosen_no_more(opened):
    page, lab = opened("points=100")
    settle(page, lab)
    tab(lab, "Items")
    for _ in range(4):
        lab.get_by_role("button", name="Show more").click()
    lab.get_by_role("button", name="◆ 95").click()
    words = lab.locator(".nbm-memo-chosenwords")
    expect(words).to_contain_text("Generated point 95")
    handle(lab, "Points per set").press("ArrowLeft")
    expect(words).to_have_text("")
    scene, result = settle(page, lab)
    assert scene["points"] == len(result["memorization"]) == 80 and scene["selected"] is None
    handle(lab, "Share copied").press("End")
    assert settle(page, lab)[1]["cards"]["auth_pct"] == 0


@pytest.fixture
def bounded(run_cells):
    """bounded(page): Python takes a share of copies of half at most."""
    pages = []
    change = (
        "import nbmetrics as nm; nm.MemorizationLab._state.declared['fields']['copied']['number'] = [0, {}]; print(1)"
    )

    def bound(page):
        pages.append(page)
        run_code(page, change.format(0.5))

    yield bound
    for page in pages:
        run_code(page, change.format(1.0))


def test_a_scene_that_python_refuses_is_told_and_the_next_is_answered(opened, bounded, shot):
    page, lab = opened("points=60")
    settle(page, lab)
    bounded(page)
    share = handle(lab, "Share copied")
    share.press("End")
    expect(lab.get_by_role("status")).to_have_text("Python: copied: got 1. Give a number from 0 to 0.5")
    expect(lab.get_by_text("Python has no numbers for this picture")).to_be_visible()
    shot("memorization-refused", lab)
    share.press("Home")
    share.press("Shift+ArrowRight")
    scene, result = settle(page, lab)
    assert scene["copied"] == 0.1 and shown(lab) == pytest.approx(list(result["cards"].values()))


def test_copied_code_rebuilds_the_same_cards(opened):
    page, lab = opened()
    for name in ("Share copied", "Jitter of copies", "KDE bandwidth"):
        handle(lab, name).press("Shift+ArrowRight")
    _, result = settle(page, lab)
    press(lab, "Copy code")
    made: dict = {}
    exec(lab.locator(".nbm-code").input_value(), made)
    assert made["lab"].result["cards"] == pytest.approx(result["cards"], rel=1e-9, abs=1e-9)
    made["lab"].close()


def test_without_a_kernel_the_picture_follows_and_the_cards_say_they_are_old(opened, kernel, shot):
    page, lab = opened()
    _, result = settle(page, lab)
    kernel.shut_down()
    share = handle(lab, "Share copied")
    rings = lab.locator(".nbm-memo-marks")
    share.press("Shift+ArrowRight")
    share.press("Shift+ArrowRight")
    page.wait_for_function("node => node.dataset.rings === '24'", arg=rings.element_handle())
    handle(lab, "Points per set").press("Home")  # the bumps are of other points now, and not shown
    for key, ringed in (("End", True), ("Home", False)):
        share.press(key)
        page.wait_for_function(
            "([node, ringed]) => ringed === Number(node.dataset.rings) > 24", arg=[rings.element_handle(), ringed]
        )
    expect(lab.locator(".nbm-memo-cards")).to_have_attribute("data-current", "false")
    expect(lab.get_by_text("these numbers belong to an earlier picture")).to_be_visible(timeout=SLOW)
    expect(lab.get_by_role("status")).to_contain_text(re.compile("the cards wait for Python|run the cell again"))
    np.testing.assert_allclose(shown(lab), list(result["cards"].values()))
    assert float(lab.locator(".nbm-memo-cards").evaluate("node => getComputedStyle(node).opacity")) < 0.8
    shot("memorization-no-kernel", lab)
