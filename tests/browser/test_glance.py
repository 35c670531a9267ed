"""Labs at one glance, on pages opened from disk: a live headline, cards in one look, what to move in sight."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from nbmetrics.labs.memorization.scene import CARDS
from tests.browser.counts import first_screen_counts
from tests.browser.memo import card, shown, verdict
from tests.browser.page import OVERFLOW, handle, open_tab, painted, press, unfold
from tests.slow import by_default
from tests.waiting import until

LAYERS = ["train", "copies of train", "other generated", "test", "fitted bumps, 1σ"]
# How many pixels of the marks that move are drawn.
INK = """canvas => { const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let k = 3; k < data.length; k += 4) if (data[k] > 40) count++;
  return count; }"""


@pytest.fixture(scope="module")
def copied():
    lab = nm.MemorizationLab(points=100, copied=0.5)
    until(lambda: lab.result.get("noise"))
    yield lab
    lab.close()


def heading(root):
    return root.get_by_role("heading").first


def layer(root, name):
    return root.get_by_role("group", name="Shown in the picture").get_by_role("button", name=name, exact=True)


def test_the_headline_is_the_first_heading_and_live(saved, copied):
    _, root = saved.open(copied)
    noticing = [CARDS[name]["label"] for name in CARDS if verdict(root, title(name)) == "notices"]
    assert noticing
    expect(heading(root)).to_contain_text("50\u00a0% copied: ")
    expect(heading(root)).to_contain_text(noticing[0])
    page, root = saved.open(nm.CorrelationLab())
    expect(heading(root)).to_have_text("The generator pairs ŷ with x the wrong way round.")
    root.get_by_role("button", name="Just show me").click()
    expect(heading(root)).to_have_text(
        "The generator pairs ŷ with x the wrong way round: MFID sees nothing, RFID 1.60, CFID 2.56."
    )
    handle(root, "correlations").press("Shift+ArrowUp")
    painted(page)
    expect(heading(root)).to_contain_text("CFID 2.26")
    _, root = saved.open(nm.TwinsLab())
    expect(heading(root)).to_have_text("Every client scores both alike. Pooled, the twin is 3.056 worse.")


@pytest.mark.parametrize("width", by_default([1280, 900, 400, 320], 1280))
def test_a_headline_that_changes_moves_nothing_below_it(saved, width):
    page, root = saved.open(nm.CorrelationLab(), width=width)
    root.get_by_role("button", name="Just show me").click()
    tops = set()
    for rho_hat in ("0.8", "0.3", "0", "0.95", "-0.5"):
        unfold(root)
        field = root.get_by_role("spinbutton", name="ρ̂ generated")
        field.fill(rho_hat)
        field.press("Enter")
        painted(page)
        tops.add(root.evaluate("root => root.querySelector('.nbm-toolbar').getBoundingClientRect().top + scrollY"))
    assert len(tops) == 1


def title(name):
    label = CARDS[name]["label"]
    return label[0].upper() + label[1:]


def test_all_cards_stand_beside_the_picture(saved, copied):
    page, root = saved.open(copied, height=720)
    picture = root.locator(".nbm-memo-picture").bounding_box()
    boxes = [box.bounding_box() for box in root.locator(".nbm-memo-card").all()]
    assert len(boxes) == 9 and all(box["height"] < 40 for box in boxes)
    assert all(box["x"] > picture["x"] + picture["width"] for box in boxes)
    assert boxes[0]["y"] > 0 and boxes[-1]["y"] + boxes[-1]["height"] < 720
    np.testing.assert_allclose(shown(root), list(copied.result["cards"].values()))
    for width in (400, 320):
        page.set_viewport_size({"width": width, "height": 900})
        painted(page)
        assert [line for line in page.evaluate(OVERFLOW) if "nbm-scroll" not in line] == []


def test_what_a_card_sees_is_told_on_hover_on_focus_and_in_the_table_view(saved, copied):
    page, root = saved.open(copied)
    told = root.locator(".nbm-memo-told-of")
    expect(told).to_have_text("Point at a metric to read what it sees and what it misses.")
    before = told.bounding_box()
    card(root, "FLD gap").hover()
    expect(told).to_contain_text(f"FLD gap, near honest is best: {copied_from_honest(copied, 'fld_gap')} from honest.")
    expect(told).to_contain_text("Misses poor points, lost variety.")
    assert told.bounding_box() == before, "nothing may jump under the pointer"
    page.mouse.move(5, 5)
    expect(told).to_contain_text("Point at a metric")
    card(root, "FLD").focus()
    for key, label in (("ArrowDown", "FLD-train"), ("End", "Recall"), ("ArrowUp", "Precision"), ("Home", "FLD")):
        page.keyboard.press(key)
        expect(card(root, label)).to_be_focused()
        expect(told).to_contain_text(f"{label}, ")
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    assert not root.evaluate("root => document.activeElement.classList.contains('nbm-memo-card')"), "one stop of Tab"
    words = root.locator(".nbm-memo-sees")
    expect(words.first).to_be_hidden()
    press(root, "Table view")
    expect(words.filter(visible=True)).to_have_count(9)
    expect(card(root, "C_T")).to_contain_text(f"Sees {CARDS['c_t']['sees']}. Misses {CARDS['c_t']['misses']}.")


def copied_from_honest(lab, name):
    away = lab.result["cards"][name] - lab.result["honest"][name]
    return f"{'+' if away > 0 else '−'}{abs(away):.1f}"


def test_only_copies_and_train_are_shown_until_more_is_asked_for_or_moved(saved, copied):
    page, root = saved.open(copied)
    unfold(root)
    pressed = {name: layer(root, name).get_attribute("aria-pressed") for name in LAYERS}
    assert pressed == dict(zip(LAYERS, ["true", "true", "false", "false", "false"], strict=True))
    marks = root.locator(".nbm-memo-marks")
    expect(marks).to_have_attribute("data-rings", "50")
    expect(root.locator(".nbm-memo-behind .nbm-memo-test")).to_be_hidden()
    expect(root.locator(".nbm-memo-shade")).to_be_hidden()
    few = marks.evaluate(INK)
    handle(root, "Share copied").press("Home")
    painted(page)
    assert marks.evaluate(INK) == 0, "without copies there is train alone"
    handle(root, "Share copied").press("Control+z")
    handle(root, "Spread").press("ArrowLeft")
    painted(page)
    expect(layer(root, "other generated")).to_have_attribute("aria-pressed", "true")
    assert marks.evaluate(INK) > few
    handle(root, "Spread").press("Control+z")
    for name in ("test", "fitted bumps, 1σ", "copies of train"):
        layer(root, name).click()
    expect(root.locator(".nbm-memo-behind .nbm-memo-test")).to_be_visible()
    expect(root.locator(".nbm-memo-shade")).to_be_visible()
    expect(marks).to_have_attribute("data-rings", "0")


WINDOWS = [(1280, 800), (800, 800), (400, 800), (320, 700)]


@pytest.mark.parametrize(("width", "height"), by_default(WINDOWS, (320, 700)))
def test_what_a_question_asks_to_move_is_in_sight_of_it(saved, width, height):
    page, root = saved.open(nm.CorrelationLab(), width=width, height=height)
    for _ in range(2):
        root.get_by_role("button", name="Just show me").click()
        root.get_by_role("button", name="Next question").click()
    question = root.get_by_role("region", name="Question")
    expect(question).to_contain_text("Move the scale of x until RFID is half of CFID.")
    question.evaluate("node => node.scrollIntoView({ block: 'start' })")
    painted(page)
    slider, clouds = handle(root, "scale of x"), root.get_by_role("region", name="Clouds")
    for part in (slider, clouds.locator("svg").first):
        box = part.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= height
    slider.focus()
    for key in ["Shift+ArrowLeft"] * 10 + ["ArrowLeft"] * 20:
        page.keyboard.press(key)
        painted(page)
        if root.get_by_role("button", name="Ask me again").is_visible():
            break
    expect(question).to_contain_text("Done.")


def test_there_is_a_way_back_from_a_question(saved):
    page, root = saved.open(nm.CorrelationLab())
    question = root.get_by_role("region", name="Question")
    back, example = (question.get_by_role("button", name=name) for name in ("Back", "Show the example again"))
    expect(back).to_be_hidden()
    expect(example).to_be_hidden()
    point = handle(root, "correlations")
    point.press("Shift+ArrowUp")
    expect(example).to_be_visible()
    question.get_by_role("button", name="Just show me").click()
    question.get_by_role("button", name="Next question").click()
    expect(point).to_have_attribute("aria-valuetext", "ρ 0.80, ρ̂ −0.80, CFID 2.560")
    back.click()
    expect(question).to_contain_text("1 of 3")
    expect(point).to_have_attribute("aria-valuetext", "ρ 0.80, ρ̂ −0.70, CFID 2.263", timeout=2000)
    question.get_by_role("button", name="Next question").click()
    root.get_by_label("Preset").select_option("Right pairing")
    example.click()
    painted(page)
    expect(point).to_have_attribute("aria-valuetext", "ρ 0.80, ρ̂ −0.80, CFID 2.560")
    expect(question).to_contain_text("2 of 3")


def test_a_twin_without_width_is_seen_and_said(saved):
    lab = nm.TwinsLab("Unequal shapes (numerical)")
    until(lambda: lab.result.get("second"))
    second = lab.result["second"]
    assert min(second["width"], second["height"]) < 1e-6
    _, root = saved.open(lab)
    body = root.locator(".nbm-twin-pair .nbm-twin-second .nbm-body")
    radii = [float(body.get_attribute(name)) for name in ("rx", "ry")]
    assert min(radii) >= 3 and float(body.evaluate("node => getComputedStyle(node).fillOpacity")) > 0.5
    expect(root.locator(".nbm-twin-why")).to_contain_text("The second generator is a line: the streak has no width")
    lab.close()


def test_twins_are_told_in_plain_words(saved):
    _, root = saved.open(nm.TwinsLab())
    unfold(root)
    tabs = root.get_by_role("group", name="Construction").get_by_role("button")
    assert tabs.all_inner_texts() == ["Twins", "The papers’ formula", "The papers’ table"]
    assert all("Proposition 1" in tab.get_attribute("title") for tab in tabs.all()[:2])
    switch = root.get_by_role("switch", name="One shape for all clients")
    expect(switch).to_be_checked()
    tabs.nth(1).click()
    expect(root.locator(".nbm-twin-why")).to_contain_text("The papers (Proposition 1) take u = ")


@pytest.fixture(scope="module")
def six_by_ten():
    """Six generators and ten clients with long enough names, of which avg and all prefer different ones."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 2, (10, 4))
    clients = {f"client {k}": rng.normal(centre, 1, (150, 4)) for k, centre in enumerate(centres)}
    spreads = {"blend": 0.5, "blurred": 0.8, "noisy": 1.2, "trained": 1.6, "fresh": 2.2, "no eights": 2.4}
    generators = {name: rng.normal(centres.mean(axis=0), sd, (600, 4)) for name, sd in spreads.items()}
    lab = nm.Dashboard(clients, generators)
    lab.wait()
    yield lab
    lab.close()


# The window, the width of the lab in it, and the height of it that is in view, in a notebook with the files beside it.
NOTEBOOK, PHONE = (1366, 768, 919), (390, 844, None)


def as_in(saved, lab, width, height, wide):
    page, root = saved.open(lab, width=width, height=height)
    root.evaluate("(root, wide) => { root.parentElement.style.width = wide && `${wide}px`; }", wide)
    painted(page)
    return page, root


def test_a_dashboards_first_screen_is_its_verdict_its_lines_and_the_first_weights(saved, six_by_ten):
    page, root = as_in(saved, six_by_ten, *NOTEBOOK)
    top = root.bounding_box()["y"]
    parts = [
        root.get_by_role("heading").first,
        root.locator(".nbm-dashboard-ribbon svg"),
        root.get_by_role("slider", name=re.compile(" weight$")).first,
    ]
    for part in parts:
        box = part.bounding_box()
        assert box["y"] + box["height"] - top <= 640
    words, controls = first_screen_counts(page, root)
    assert words <= 130 and controls <= 14, (words, controls)
    whole = first_screen_counts(page, root, None)
    assert whole.words <= 350 and root.bounding_box()["height"] <= 1100
    open_tab(root, "How stable")
    assert root.bounding_box()["height"] <= 1100
    page, root = as_in(saved, six_by_ten, *PHONE)
    assert root.bounding_box()["height"] <= 2.5 * 844


@pytest.mark.parametrize("wide", by_default([220, 250, 320], 250))
def test_names_in_a_narrow_leaderboard_are_cut_once(saved, six_by_ten, wide):
    """As on a phone in JupyterLab, beside the prompt."""
    _, root = as_in(saved, six_by_ten, 390, 844, wide)
    names = root.locator(".nbm-dashboard-board tbody .nbm-dashboard-name")
    assert names.evaluate_all("all => all.filter(node => node.scrollWidth > node.clientWidth)") == []
    assert all(name.count("…") <= 1 and len(name) > 4 for name in names.all_inner_texts())


def test_a_dashboards_second_level_opens_a_tab_at_a_time_by_keys(saved, six_by_ten):
    page, root = saved.open(six_by_ten)
    tabs = root.get_by_role("tablist", name="More about the verdict").get_by_role("tab")
    assert tabs.all_inner_texts() == ["Who loses", "How stable", "Mixture", "Costs"]
    tabs.first.focus()
    for key, name in (
        ("ArrowRight", "How stable"),
        ("End", "Costs"),
        ("ArrowRight", "Who loses"),
        ("ArrowLeft", "Costs"),
    ):
        page.keyboard.press(key)
        expect(root.get_by_role("tab", name=name)).to_be_focused()
        expect(root.get_by_role("tab", selected=True)).to_have_text(name)
        expect(root.get_by_role("tabpanel")).to_have_count(1)
    sliders = root.get_by_role("slider", name=re.compile(" weight$"))
    expect(sliders).to_have_count(3)
    root.get_by_text("More weights").press("Enter")
    page.keyboard.press("Tab")
    expect(root.get_by_role("button", name="7 more clients")).to_be_focused()
    page.keyboard.press("Enter")
    expect(sliders).to_have_count(10)
    expect(root.locator(".nbm-weight-track span").first).to_be_hidden()
    press(root, "Who wins where")
    expect(root.locator(".nbm-weight-track span").first).to_be_visible()
