"""Lessons in JupyterLab: predict, then reveal, by pointer and by keyboard; a challenge; a teacher's own; pictures."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests import EVIL
from tests.browser.page import (
    CONTRAST,
    OVERFLOW,
    answered,
    assert_no_key_reached_the_notebook,
    drag,
    menu_item,
    painted,
    press,
    run_code,
    scene_where,
    tab_to,
    until,
)
from tests.slow import by_default

OPEN = "import nbmetrics as nm\nlab = nm.Playground(lesson={lesson!r}); lab"
LOWEST = re.compile(r"^FID avg is lowest at (\S+): your guess (\S+) is (\S+) away\. FID all is lowest at (\S+)\.$")


def question(lab):
    return lab.locator("h3.nbm-question")


def place(lab):
    return lab.get_by_role("slider", name="Your guess")


def reveal(lab):
    return lab.get_by_role("button", name="Reveal")


def curves(lab):
    """The curves of the sweep that can be seen."""
    return lab.locator(".nbm-curve:visible")


@pytest.fixture
def opened(run_cells):
    def opened(lesson=None):
        source = OPEN.format(lesson=lesson) if lesson else "import nbmetrics as nm\nlab = nm.Playground(); lab"
        page = run_cells(source)
        lab = page.get_by_role("group", name="Playground")
        lab.get_by_role("table", name="Scores").locator("tbody tr").first.wait_for()
        return page, lab

    return opened


def test_predict_and_reveal_by_pointer_and_undo_brings_the_question_back(opened):
    page, lab = opened()
    expect(question(lab)).to_be_hidden()
    lab.get_by_label("Lesson").select_option("Average against pooled")
    expect(question(lab)).to_contain_text("At which variance")
    expect(lab.get_by_role("tab")).to_have_count(0)
    expect(place(lab)).to_have_attribute("aria-valuetext", "not placed yet")
    expect(reveal(lab)).to_be_disabled()
    expect(curves(lab)).to_have_count(0)
    drag(page, place(lab).locator("circle"), -40, 0)
    expect(lab.get_by_text("Your guess: ").first).to_be_visible()
    guess = float(place(lab).get_attribute("aria-valuenow"))
    assert 0 < guess < 2.5
    reveal(lab).click()
    expect(curves(lab)).not_to_have_count(0)
    expect(lab.locator(".nbm-outcome")).to_have_text(LOWEST)
    found = LOWEST.match(lab.locator(".nbm-outcome").inner_text()).groups()
    best, said, away, other = map(float, found)
    assert (best, other) == (1, 2) and said == pytest.approx(guess, abs=0.005)
    assert away == pytest.approx(abs(guess - best), abs=0.01)
    expect(lab.get_by_text("One metric, two winners")).to_be_visible()
    told = {"name": "Average against pooled", "guess": guess, "revealed": True}
    told |= {
        "about": {"Generator": "Generator"},
        "answer": pytest.approx(1, abs=1e-3),
        "other": pytest.approx(2, abs=1e-3),
    }
    scene_where(page, lambda scene: scene["lesson"] == told)
    lab.get_by_role("button", name="Undo").click()
    expect(curves(lab)).to_have_count(0)
    expect(lab.get_by_text("One metric, two winners")).to_be_hidden()
    expect(reveal(lab)).to_be_enabled()
    lab.get_by_role("button", name="Undo").click()
    expect(reveal(lab)).to_be_disabled()
    expect(place(lab)).to_have_attribute("aria-valuetext", "not placed yet")
    assert run_code(page, "print(_j.dumps(lab.lesson))") == "Average against pooled"


def test_predict_and_reveal_by_keyboard_alone(opened):
    page, lab = opened()
    lab.get_by_label("Preset").focus()
    tab_to(page, "Lesson")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(question(lab)).to_contain_text("At which variance")
    tab_to(page, "Your guess")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(reveal(lab)).to_be_enabled()
    tab_to(page, "Reveal", key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(lab.locator(".nbm-outcome")).to_contain_text("FID avg is lowest at 1.00")
    assert page.evaluate("() => document.activeElement.innerText").startswith("FID avg is lowest"), "focus is kept"
    page.keyboard.press("Control+z")
    expect(reveal(lab)).to_be_enabled()
    assert_no_key_reached_the_notebook(page)


def test_the_bias_of_few_points_is_guessed_on_the_cards_own_axis(opened):
    page, lab = opened("Sample size and bias")
    expect(place(lab)).to_have_attribute("aria-valuetext", "not placed yet")
    place(lab).click(position={"x": 60, "y": 28})
    guess = float(place(lab).input_value())
    assert 0 < guess < 0.3
    place(lab).press("ArrowRight")
    expect(place(lab)).to_have_js_property("value", str(round(guess + 0.01, 2)))
    reveal(lab).click()
    expect(lab.locator(".nbm-outcome")).to_contain_text(re.compile(r"FID all comes to 0\.\d\d, the mean of 20 draws"))
    expect(place(lab)).to_be_disabled()
    result = "print(_j.dumps([lab.scene['samples'], lab.result.get('bands', {}).get('fid', {}).get('all')]))"
    samples, band = until(page, lambda: run_code(page, result), lambda found: found[1])
    assert samples == 20
    expect(lab.locator(".nbm-outcome")).to_contain_text(f"comes to {band['mean'][0]:.2f},")
    verdict = lab.locator(".nbm-verdict")
    expect(verdict).to_contain_text("Your turn")
    lab.get_by_role("slider", name="Points").focus()
    page.keyboard.press("End")
    expect(verdict).to_contain_text("Done!")


def test_a_guess_where_the_flag_stands_needs_only_a_click_or_enter_and_escape_gives_a_drag_up(opened):
    page, lab = opened("Heterogeneity and gap")
    place(lab).press("Enter")
    expect(reveal(lab)).to_be_enabled()
    expect(place(lab)).to_have_attribute("aria-valuetext", "3.00")
    painted(page)
    box = place(lab).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 30, box["y"] + box["height"] / 2, steps=5)
    expect(place(lab)).not_to_have_attribute("aria-valuetext", "3.00")
    page.keyboard.press("Escape")
    page.mouse.up()
    expect(place(lab)).to_have_attribute("aria-valuetext", "3.00")
    reveal(lab).click()
    expect(lab.locator(".nbm-outcome")).to_have_text("The gap of FID comes to 2.47: your guess 3.00 is 0.53 away.")
    lab.get_by_role("button", name="Undo").click()
    expect(lab.get_by_role("slider", name="Client 2 mean")).to_have_attribute("aria-valuetext", "x 1.00, y 0.00")


def test_the_challenge_goes_from_not_yet_to_done_and_kid_cannot_do_it(opened):
    page, lab = opened("Make them disagree")
    verdict = lab.locator(".nbm-verdict")
    expect(verdict).to_have_text("Not yet: FID avg and FID all both prefer Narrow.")
    assert verdict.get_attribute("role") == "status"
    expect(reveal(lab)).to_be_disabled()
    painted(page)
    unit = lab.locator(".nbm-stage").bounding_box()["width"] / 10
    lab.get_by_role("slider", name="Wide mean").focus()
    drag(page, lab.get_by_role("slider", name="Wide width"), -0.8 * unit, 0)
    lab.get_by_role("slider", name="Narrow mean").focus()
    drag(page, lab.get_by_role("slider", name="Narrow width"), -0.2 * unit, 0)
    expect(verdict).to_contain_text("Done! FID avg ranks Narrow above Wide by")
    reveal(lab).click()
    expect(lab.get_by_text("which FID")).to_be_visible()
    lab.get_by_label("Metric").select_option("kid")
    expect(verdict).to_contain_text("Your turn: KID avg and KID all both prefer")


def test_next_lesson_no_lesson_preset_and_reset(opened):
    page, lab = opened("Weights matter")
    start = run_code(page, "print(_j.dumps(lab.scene))")
    place(lab).press("ArrowLeft")
    press(lab, "Reset")
    scene, _ = answered(page, lab)
    assert scene["lesson"] == start["lesson"]
    place(lab).press("ArrowLeft")
    reveal(lab).click()
    expect(lab.locator(".nbm-outcome")).to_contain_text("FID avg is lowest at −1.00")
    lab.get_by_role("button", name="Next lesson").click()
    expect(lab.get_by_label("Lesson")).to_have_value("Sample size and bias")
    lab.get_by_label("Lesson").select_option("No lesson")
    expect(question(lab)).to_be_hidden()
    scene_where(page, lambda scene: scene["lesson"] is None)
    lab.get_by_label("Lesson").select_option("Where is KID?")
    expect(lab.get_by_label("Preset")).to_be_hidden()
    place(lab).press("ArrowLeft")
    reveal(lab).click()
    expect(lab.get_by_label("Preset")).to_have_value("")
    lab.get_by_label("Preset").select_option("Two clients")
    expect(lab.get_by_label("Lesson")).to_have_value("")
    run_code(page, "lab.lock('presets'); print(1)")
    expect(lab.get_by_label("Lesson")).to_be_hidden()


def outcome(lab):
    return lab.locator(".nbm-outcome")


def test_the_verdict_on_a_guess_stays_as_it_was_at_reveal(opened):
    page, lab = opened("Weights matter")
    for key in ("Shift+ArrowLeft", "ArrowRight"):
        place(lab).press(key)
    reveal(lab).click()
    said = "FID avg is lowest at −1.00: your guess −0.90 is 0.10 away. FID all is lowest at −1.00."
    expect(outcome(lab)).to_have_text(said)
    now = lab.get_by_text("FID: avg and all are both best at 0.00.")
    expect(now).to_have_count(0)
    lab.get_by_label("Client 1 weight").fill("1")
    lab.get_by_label("Client 1 weight").press("Tab")
    expect(now).to_be_visible()
    expect(outcome(lab)).to_have_text(said.replace(" is lowest", " was lowest"))
    expect(place(lab)).to_have_attribute("aria-valuetext", "−0.90")
    scene, _ = answered(page, lab)
    assert scene["lesson"]["answer"] == pytest.approx(-1, abs=1e-3)
    run_code(page, "lab.from_share(nm.Playground.from_share(lab.share()).share()); print(1)")
    expect(outcome(lab)).to_contain_text("your guess −0.90 is 0.10 away")
    lab.get_by_label("Metric").select_option("kid")
    painted(page)
    expect(outcome(lab)).to_contain_text("FID avg was lowest at −1.00: your guess −0.90 is 0.10 away")
    expect(place(lab)).to_have_count(0)  # its chart is of another metric
    for _ in range(3):
        lab.get_by_role("button", name="Undo").click()
    expect(outcome(lab)).to_have_text(said)


EVEN = """first, *others = lab.scene["clients"]
lab.scene = {**lab.scene, "clients": [{**first, "weight": 1.0}, *others], "rev": lab.scene["rev"] + 1}
print(1)"""


def test_what_is_moved_before_reveal_counts(opened):
    page, lab = opened("Weights matter")
    run_code(page, EVEN)
    place(lab).press("Enter")
    reveal(lab).click()
    expect(outcome(lab)).to_have_text(
        "FID avg is lowest at 0.00: your guess 0.00 is exactly right. FID all is lowest at 0.00."
    )


def test_the_question_stays_with_its_generator(opened):
    page, lab = opened("Average against pooled")
    lab.get_by_role("slider", name="Generator mean").press("Delete")
    painted(page)
    expect(lab.get_by_role("slider", name="Generator mean")).to_be_visible()  # it is what the question is about
    place(lab).press("ArrowLeft")
    reveal(lab).click()
    name = lab.get_by_label("Generator name")
    name.fill("Mine")
    name.press("Tab")
    expect(lab.get_by_text("Variance along width of Mine")).to_be_visible()
    menu_item(lab, "Ideal estimator, truncated by ψ").click()
    lab.get_by_label("Ideal name").focus()
    lab.get_by_label("Mine name").focus()
    expect(lab.get_by_text("Variance along width of Mine")).to_be_visible()
    expect(outcome(lab)).to_have_text(LOWEST)
    expect(lab.get_by_text("FID: avg is best at 1.00, all at 2.00.")).to_be_visible()
    expect(place(lab)).to_be_visible()
    said = outcome(lab).inner_text()
    lab.get_by_label("Mine name").focus()
    press(lab, "Remove")
    expect(lab.get_by_label("Mine name")).to_have_count(0)
    expect(outcome(lab)).to_have_text(said.replace(" is lowest", " was lowest"))


@pytest.mark.parametrize(
    "lesson",
    by_default(["Average against pooled", "Heterogeneity and gap", "Make them disagree"], "Heterogeneity and gap"),
)
def test_a_locked_lesson_can_be_answered(opened, lesson):
    page, lab = opened(lesson)
    run_code(page, "lab.lock(); print(1)")
    expect(lab.get_by_label("Client 1 weight")).to_be_disabled()
    expect(lab.get_by_role("slider", name="Client 2 mean")).to_have_attribute("aria-disabled", "true")
    if lesson == "Make them disagree":
        expect(lab.get_by_text("Look at the picture, then press Reveal.")).to_be_visible()
    else:
        expect(place(lab)).not_to_have_attribute("aria-disabled", "true")
        place(lab).press("ArrowRight")
        flag = place(lab).locator("circle") if lesson == "Average against pooled" else place(lab)
        before = place(lab).get_attribute("aria-valuetext")
        drag(page, flag, 40, 0)
        expect(place(lab)).not_to_have_attribute("aria-valuetext", before)
    reveal(lab).click()
    expect(lab.locator(".nbm-meaning")).to_be_visible()
    run_code(page, "lab.unlock(); print(1)")
    expect(lab.get_by_role("slider", name="Client 2 mean")).not_to_have_attribute("aria-disabled", "true")


FOCUS = "() => [document.activeElement.className, document.activeElement.innerText]"


def test_focus_stays_in_the_lab_when_what_had_it_goes_away(opened):
    page, lab = opened("Heterogeneity and gap")
    place(lab).press("Enter")
    expect(reveal(lab)).to_be_enabled()  # nothing can have the focus before
    reveal(lab).focus()
    page.keyboard.press("Enter")
    until(page, lambda: page.evaluate(FOCUS), lambda found: found[0] == "nbm-answer")
    page.keyboard.press("Control+z")
    until(page, lambda: page.evaluate(FOCUS), lambda found: found[0] == "nbm-question")
    page.keyboard.press("Control+y")
    expect(lab.get_by_role("button", name="Next lesson")).to_be_visible()
    tab_to(page, "Next lesson", key="Shift+Tab")
    page.keyboard.press("Enter")
    asked = until(page, lambda: page.evaluate(FOCUS), lambda found: found[0] == "nbm-question")
    assert asked[1].startswith("Client 1 has three times the weight")
    tab_to(page, "Your guess")


def test_another_parameter_is_no_way_around_the_question(opened):
    page, lab = opened("Average against pooled")
    for label in ("Metric", "Parameter"):
        expect(lab.get_by_label(label)).to_be_hidden()
    run_code(page, "lab.scene = {**lab.scene, 'view': {**lab.scene['view'], 'metric': 'kid'}, 'rev': 9}; print(1)")
    painted(page)
    expect(curves(lab)).to_have_count(0)
    expect(place(lab)).to_be_visible()


def test_a_teachers_own_lesson_is_text(opened):
    clients = [{"name": f"{EVIL}a", "x": 0, "y": 0, "width": 1, "height": 1, "angle": 0, "weight": 1}]
    generators = [
        {"name": f"{EVIL}{k}", "x": k, "y": 0, "width": 1, "height": 1, "angle": 0} for k in range(2)
    ]  # the second is asked about
    own = {
        "name": f"{EVIL}mine",
        "question": f"{EVIL}Where?",
        "scene": {"clients": clients, "generators": generators},
        "predict": {"metric": "fid", "aggregate": "all", "sweep": "x", "generator": f"{EVIL}1", "best": "min"},
        "check": {"kind": "below", "metric": "fid", "aggregate": "avg", "generator": f"{EVIL}1", "value": 0.5},
        "reveal": f"{EVIL}There.",
        "tries": [f"{EVIL}again"],
    }
    alerts = []
    page, lab = opened(own)
    page.on("dialog", lambda d: (alerts.append(d.message), d.dismiss()))
    expect(question(lab)).to_have_text(f"{EVIL}Where?")
    expect(lab.get_by_label("Lesson")).to_have_value(f"{EVIL}mine")
    expect(lab.get_by_text(f"of {EVIL}1", exact=False).first).to_be_visible()
    place(lab).press("ArrowRight")
    reveal(lab).click()
    expect(lab.get_by_text(f"{EVIL}There.")).to_be_visible()
    expect(lab.get_by_text(f"{EVIL}again")).to_be_visible()
    expect(lab.locator(".nbm-outcome")).to_contain_text("FID all is lowest at 0.00")
    painted(page)
    assert page.locator("img[src='x']").count() == 0 and alerts == []
    assert json.dumps(own["name"])[1:-1] in json.dumps(run_code(page, "print(_j.dumps(lab.lesson))"))


LOOKED_AT = ["Average against pooled", "Heterogeneity and gap", "Sample size and bias", "Make them disagree"]


def look(page, lab, shot, name):
    shot(f"{name}-asked", lab)
    if place(lab).count():
        place(lab).focus()
        page.keyboard.press("Shift+ArrowRight")
        shot(f"{name}-guessed", lab)
        reveal(lab).click()
        expect(lab.locator(".nbm-outcome")).to_be_visible()
        answered(page, lab)
        shot(f"{name}-revealed", lab)


@pytest.mark.slow
@pytest.mark.usefixtures("tall")
@pytest.mark.parametrize("lesson", LOOKED_AT)
def test_wide(opened, theme, shot, lesson):
    page, lab = opened(lesson)
    for colours in ("light", "dark"):
        theme(f"JupyterLab {colours.title()}")
        answered(page, lab)
        look(page, lab, shot, f"lesson-{LOOKED_AT.index(lesson)}-{colours}")
        assert page.evaluate(OVERFLOW) == []
        assert page.evaluate(CONTRAST) == []
        lab.get_by_label("Lesson").select_option("No lesson")
        lab.get_by_label("Lesson").select_option(lesson)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LOOKED_AT)
def test_narrow(opened, narrow, theme, shot, lesson):
    page, lab = opened(lesson)
    narrow(400, 2200)
    theme("JupyterLab Dark")
    look(page, lab, shot, f"lesson-{LOOKED_AT.index(lesson)}-400")
    assert [line for line in page.evaluate(OVERFLOW) if "nbm-scroll" not in line] == []
