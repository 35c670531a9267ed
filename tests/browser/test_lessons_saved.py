"""Lessons on pages from disk: the guess in the plane, help for who is stuck, curves drawn in, answers of a class."""

import re
from itertools import product

import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from nbmetrics.labs.playground.answers import pack
from tests import EVIL
from tests.browser.page import CONTRAST, OVERFLOW, drag, painted, unfold, until
from tests.slow import by_default

PATIENCE = 30_000  # milliseconds at one question before help is offered: lesson_card.js
CENTRE = "node => { const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }"
SPAN = "node => { const box = node.getBoundingClientRect(); return [box.width, box.height]; }"


def place(root):
    return root.get_by_role("slider", name="Your guess")


def ghost(root):
    return root.locator(".nbm-ghost")


def button(root, name):
    return root.get_by_role("button", name=name, exact=True)


def select(root):
    return root.get_by_label("Lesson", exact=True)


@pytest.fixture
def opened(saved):
    """A lab as a page, and the clock of that page, which runs by itself until a test moves it on."""

    def opened(lesson, width=1280, **options):
        page, root = saved.open(nm.Playground(lesson=lesson), width, **options)
        painted(page)
        return page, root

    return opened


def test_the_menu_says_how_many_lessons_there_are(saved):
    _, root = saved.open(nm.Playground())
    first = select(root).locator("option").first
    expect(first).to_have_text(f"Lessons ({len(nm.lessons())})")
    select(root).select_option("Weights matter")
    expect(first).to_have_text("No lesson")
    select(root).select_option("No lesson")
    expect(root.locator(".nbm-question")).to_be_hidden()
    expect(first).to_have_text(f"Lessons ({len(nm.lessons())})")


@pytest.mark.parametrize("lesson", by_default(["Average against pooled", "Weights matter"], "Weights matter"))
def test_the_guess_stands_in_the_plane_moves_with_the_flag_and_stays_after_reveal(opened, lesson):
    page, root = opened(lesson)
    expect(ghost(root)).to_be_hidden()
    place(root).press("Enter")
    expect(ghost(root)).to_be_visible()
    painted(page)
    ellipse = ghost(root).locator("ellipse")
    seen = [(ellipse.evaluate(CENTRE), ellipse.evaluate(SPAN))]
    for _ in range(2):
        place(root).press("Shift+ArrowRight")
        painted(page)
        seen.append((ellipse.evaluate(CENTRE), ellipse.evaluate(SPAN)))
    xs, widths = ([part[k][0] for part in seen] for k in (0, 1))
    moved, still = (xs, widths) if lesson == "Weights matter" else (widths, xs)
    assert moved[0] < moved[1] < moved[2] and still == pytest.approx([still[0]] * 3, abs=0.5)
    button(root, "Reveal").click()
    painted(page)
    assert (ellipse.evaluate(CENTRE)[0], ellipse.evaluate(SPAN)[0]) == pytest.approx((xs[2], widths[2]), abs=0.5)
    button(root, "Undo").click()
    button(root, "Undo").click()
    painted(page)
    assert ellipse.evaluate(SPAN)[0] == pytest.approx(widths[1], abs=0.5)


def test_the_guess_in_the_plane_takes_no_press_and_hides_no_name(opened):
    page, root = opened("Average against pooled")
    place(root).press("Shift+ArrowLeft")
    painted(page)
    before = root.get_by_role("slider", name="Client 2 mean").get_attribute("aria-valuetext")
    drag(page, root.get_by_role("slider", name="Client 2 mean"), 30, 0)
    assert root.get_by_role("slider", name="Client 2 mean").get_attribute("aria-valuetext") != before
    flag = ghost(root).locator("text").bounding_box()
    for name in root.locator(".nbm-item .nbm-name").all():
        box = name.bounding_box()
        apart = box["x"] + box["width"] < flag["x"] or flag["x"] + flag["width"] < box["x"]
        assert apart or box["y"] + box["height"] < flag["y"] + 1 or flag["y"] + flag["height"] < box["y"] + 1


def test_a_flag_near_the_end_of_the_plane_is_flown_to_the_left(opened):
    page, root = opened("Weights matter")
    place(root).press("End")
    painted(page)
    text, plane = ghost(root).locator("text").bounding_box(), root.locator(".nbm-stage").bounding_box()
    assert plane["x"] < text["x"] and text["x"] + text["width"] < plane["x"] + plane["width"]


ANIMATED = "root => root.getAnimations({ subtree: true }).map(animation => animation.animationName ?? '').sort()"


@pytest.mark.slow
def test_the_curves_are_drawn_in_once_at_reveal(opened):
    page, root = opened("Average against pooled")
    place(root).press("Enter")
    assert "nbm-draw-in" not in root.evaluate(ANIMATED)
    button(root, "Reveal").click()
    until(page, lambda: root.evaluate(ANIMATED), lambda names: names.count("nbm-draw-in") == 4)
    expect(root.locator(".nbm-drawing")).to_have_count(0)
    unfold(root)
    root.get_by_role("tab", name="Terms").click()
    root.get_by_role("tab", name="Sweep").click()
    painted(page)
    assert root.evaluate(ANIMATED) == []


def test_a_number_is_drawn_in_from_the_guess(opened):
    page, root = opened("Heterogeneity and gap")
    place(root).press("Enter")
    button(root, "Reveal").click()
    until(page, lambda: root.evaluate(ANIMATED), lambda names: "nbm-run" in names)


def test_who_wants_no_motion_sees_the_answer_at_once(opened):
    page, root = opened("Average against pooled", reduced_motion="reduce")
    place(root).press("Enter")
    button(root, "Reveal").click()
    expect(root.locator(".nbm-curve.nbm-of-avg")).to_be_visible()
    painted(page)
    assert root.evaluate(ANIMATED) == []


def later(page, milliseconds=PATIENCE + 1000):
    page.clock.run_for(milliseconds)


OF_TWO_WIDTHS = list(product(["Average against pooled", "Heterogeneity and gap"], [1280, 400]))


@pytest.mark.parametrize(("lesson", "width"), by_default(OF_TWO_WIDTHS, *OF_TWO_WIDTHS[1:3]))
def test_placing_the_flag_moves_nothing(opened, lesson, width):
    page, root = opened(lesson, width)
    before = [node.bounding_box() for node in (root.locator(".nbm-stage"), button(root, "Reveal"))]
    place(root).press("ArrowRight")
    expect(button(root, "Copy my answer")).to_be_visible()
    painted(page)
    assert [node.bounding_box() for node in (root.locator(".nbm-stage"), button(root, "Reveal"))] == before


@pytest.mark.slow
@pytest.mark.parametrize("width", by_default([1280, 400], 400))
def test_a_hint_comes_after_a_while_and_moves_nothing(saved, width):
    page, root = saved.open(nm.Playground(), width, alone=True)
    page.clock.install()
    select(root).select_option("Average against pooled")
    later(page, 500)
    plane = root.locator(".nbm-stage")
    before = plane.bounding_box()
    later(page, PATIENCE - 2000)
    expect(button(root, "Hint")).to_have_count(0)
    later(page)
    expect(button(root, "Hint")).to_be_visible()
    assert plane.bounding_box() == before
    expect(root.locator(".nbm-hint")).to_be_hidden()
    button(root, "Hint").click()
    later(page, 500)
    expect(root.locator(".nbm-hint")).to_have_text(re.compile("^Each client sees its own data alone"))
    expect(button(root, "Hint")).to_have_count(0)
    select(root).select_option("Where is KID?")
    later(page, 500)
    expect(root.locator(".nbm-hint")).to_be_hidden()
    later(page)
    expect(button(root, "Hint")).to_be_visible()


@pytest.mark.slow
def test_who_is_stuck_with_a_task_is_shown_how_and_can_go_on(saved):
    page, root = saved.open(nm.Playground(), alone=True)
    page.clock.install()
    select(root).select_option("Make them disagree")
    later(page, 500)
    expect(button(root, "Show me")).to_have_count(0)
    expect(button(root, "Reveal")).to_be_disabled()
    later(page)
    button(root, "Show me").click()
    later(page, 500)
    expect(root.locator(".nbm-verdict")).to_contain_text("✓ Done!")
    expect(button(root, "Show me")).to_have_count(0)
    button(root, "Reveal").click()
    later(page, 500)
    expect(root.locator(".nbm-lesson-name")).to_have_text("Make them disagree · ✓ answered")
    for _ in range(2):
        button(root, "Undo").click()
    later(page, 500)
    expect(root.locator(".nbm-verdict")).to_contain_text("Not yet")


def test_a_task_that_no_lesson_shows_is_revealed_instead(saved):
    lab = nm.Playground("Two clients")
    lesson = lab.make_lesson(question="Make them agree.", check={"kind": "agreement"}, answer="So it goes.")
    page, root = saved.open(nm.Playground(lesson=lesson), alone=True)
    page.clock.install()
    select(root).select_option("No lesson")
    later(page, 500)
    select(root).select_option("My lesson")
    later(page)
    button(root, "Show me").click()
    later(page, 500)
    expect(root.get_by_text("So it goes.")).to_be_visible()
    expect(root.get_by_text("Now try")).to_be_hidden()
    expect(root.locator(".nbm-verdict")).to_contain_text("Your turn")


def test_after_reveal_the_question_reads_as_done_and_the_task_as_an_offer(saved):
    page, root = saved.open(nm.Playground(), alone=True)
    page.clock.install()
    select(root).select_option("Heterogeneity and gap")
    later(page, 500)
    place(root).press("Enter")
    button(root, "Reveal").click()
    later(page, 500)
    expect(root.locator(".nbm-lesson-name")).to_have_text("Heterogeneity and gap · ✓ answered")
    expect(root.locator(".nbm-verdict")).to_have_text("Your turn: the gap of FID is 2.472; bring it below 0.05.")
    assert "Not yet" not in root.inner_text()
    later(page)
    button(root, "Show me").click()
    later(page, 500)
    expect(root.locator(".nbm-verdict")).to_contain_text("✓ Done!")
    expect(root.locator(".nbm-outcome")).to_contain_text("your guess 3.00 is 0.53 away")


def test_an_answer_is_copied_and_collected(saved, tmp_path):
    page, root = saved.open(nm.Playground(lesson="Weights matter"), permissions=["clipboard-read", "clipboard-write"])
    expect(button(root, "Copy my answer")).to_have_count(0)
    place(root).press("Shift+ArrowLeft")
    button(root, "Copy my answer").click()
    expect(button(root, "✓ Copied")).to_be_visible()
    guess = float(place(root).get_attribute("aria-valuenow"))
    open_answer = root.get_by_label("My answer as a string").input_value()
    button(root, "Reveal").click()
    painted(page)
    shown = root.get_by_label("My answer as a string").input_value()
    table = nm.collect_answers([open_answer, shown]).table
    assert table["guess"].tolist() == pytest.approx([guess] * 2, rel=1e-5)
    assert table["answer"].isna().tolist() == [True, False] and table["answer"][1] == pytest.approx(-1, abs=1e-3)
    assert page.evaluate("navigator.clipboard.readText()") == open_answer


GUESSES = [-3.0, -2.0, -1.0, -1.0, -0.9, -1.0, 0.0, 0.0, 0.1, 0.0, 0.0, 2.0, 2.0, -1.5, 1.0, 0.5]


def string(name, guess, answer=None):
    return pack({"name": name, "guess": guess, "answer": answer})


@pytest.fixture
def projector(saved, tmp_path):
    def projector(answers, width=1280, scheme="light"):
        page = saved.show(answers.export_html(tmp_path / "class.html"), width, 800, color_scheme=scheme)
        return page, page.get_by_role("group", name="Answers of a class")

    return projector


def test_a_class_is_collected_on_one_page_and_the_answer_is_drawn_in(projector):
    _, root = projector(nm.collect_answers())
    paste, said = root.get_by_label("Answer strings"), root.locator(".nbm-class-said")
    flags = root.locator(".nbm-class-flags path")
    expect(said).to_have_text("No flags yet: paste answers below.")
    expect(root.get_by_role("heading")).to_contain_text("At which variance")
    root.get_by_label("Lesson").select_option("Where is KID?")
    expect(root.get_by_role("heading")).to_contain_text("KID is another distance")
    expect(button(root, "Reveal")).to_be_disabled()
    paste.fill("\n".join(f"Ada {k}: {string('Weights matter', guess)}" for k, guess in enumerate(GUESSES)))
    expect(flags).to_have_count(len(GUESSES))
    expect(said).to_have_text("16 flags, their median at 0.00.")
    expect(root.get_by_role("heading")).to_contain_text("Client 1 has three times the weight")
    assert "Ada" not in root.inner_text()
    expect(root.locator(".nbm-class-answer")).to_be_hidden()
    button(root, "Reveal").click()
    expect(said).to_have_text("16 flags, their median at 0.00. The answer is −1.00.")
    expect(root.locator(".nbm-class-answer text")).to_have_text("−1.00")
    line, right = root.locator(".nbm-class-line").evaluate(CENTRE), flags.nth(sorted(GUESSES).index(-1))
    assert line[0] == pytest.approx(right.bounding_box()["x"], abs=3), "the flag of who was right stands on the line"
    paste.fill(f"{paste.input_value()} nbma1.broken {string('Where is KID?', 2.0)}")
    expect(root.get_by_text("17 answers read. 1 could not be read: copy it again.")).to_be_visible()
    select(root).select_option("Where is KID?")
    expect(said).to_have_text("1 flag.")
    expect(button(root, "Reveal")).to_be_enabled()
    paste.fill("")
    expect(flags).to_have_count(0)


def test_answers_to_a_lesson_that_is_not_known_bring_what_they_found(projector):
    own = nm.Playground().make_lesson(question=f"{EVIL}?", flag="x", name=f"{EVIL}mine")
    strings = [string(own["name"], guess, answer) for guess, answer in ((1.0, 0.1), (2.0, 0.1), (3.0, None))]
    for known, wanted in ((None, 0.1), (own, 0.0)):
        page, root = projector(nm.collect_answers(strings, lesson=known))
        expect(root.get_by_role("heading")).to_have_text(f"{EVIL}?" if known else f"{EVIL}mine")
        button(root, "Reveal").click()
        expect(root.locator(".nbm-class-said")).to_contain_text(f"The answer is {wanted:.2f}.")
        assert page.locator("img").count() == 0


LOOKS = list(product([1280, 400], ["light", "dark"]))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), by_default(LOOKS, (1280, "light"), (400, "dark")))
def test_the_collecting_page_looks_right(projector, width, scheme, look):
    answers = nm.collect_answers([string("Weights matter", guess) for guess in GUESSES * 6])
    page, root = projector(answers, width, scheme)
    button(root, "Reveal").click()
    page.wait_for_function("() => document.getAnimations().length === 0")
    look(f"class-{width}-{scheme}", page, full_page=True)
    assert page.evaluate(OVERFLOW) == [] and page.evaluate(CONTRAST) == []
    plane = root.locator(".nbm-chart").bounding_box()
    for flag in root.locator(".nbm-class-flags path").all()[::7]:
        box = flag.bounding_box()
        assert plane["y"] <= box["y"] and plane["x"] <= box["x"] and re.match("M0", flag.get_attribute("d"))
