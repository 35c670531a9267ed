"""The Playground as a stranger meets it: the headline, why it says so, the goals, and a layout that holds still."""

import re

import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.page import CONTRAST, OVERFLOW, drag, handle, painted, press, unfold
from tests.slow import by_default

WIDTHS = by_default([320, 400, 800, 1024, 1280, 1920], 320)
BOX = "node => { const { x, y, width, height } = node.getBoundingClientRect(); return [x, y, width, height]; }"


@pytest.fixture(scope="module")
def playground():
    lab = nm.Playground()
    yield lab
    lab.close()


@pytest.fixture
def opened(saved, playground):
    return lambda *size, **options: saved.open(playground, *size, **options)


def headline(root):
    painted(root.page)
    return " ".join(root.get_by_role("heading").first.inner_text().split())


def test_the_first_heading_is_what_avg_and_all_say_and_follows_the_metric(opened):
    _, root = opened()
    assert headline(root) == "Best on average: Narrow. Best pooled: Wide."
    root.get_by_label("Metric").select_option("KID")
    assert headline(root) == "KID averaged and pooled always agree: Wide."
    root.get_by_label("Metric").select_option("FID")
    hint = root.locator(".nbm-sumline").inner_text()
    assert hint.startswith("avg: the mean of ") and " all: one score against " in hint
    ranks = root.get_by_role("img", name=re.compile("^Ranks by FID"))
    expect(ranks).to_have_attribute("aria-label", re.compile(r"Narrow: 1st by avg, 2nd by all \(7\.570, 3\.999\)"))


def test_pointing_at_avg_or_all_draws_what_the_number_is_made_of(opened):
    page, root = opened()
    unfold(root)
    links, words = root.locator(".nbm-links g"), root.locator(".nbm-sumline")
    avg, pooled = (
        root.get_by_role("button", name=re.compile("^avg")),
        root.get_by_role("button", name=re.compile("^all")),
    )
    expect(links).to_have_count(0)
    avg.hover()
    expect(links).to_have_text(["50 % · 7.570", "50 % · 7.570"])
    expect(words).to_have_text("FID avg of Narrow: 50 % · 7.570 + 50 % · 7.570 = 7.570.")
    page.mouse.move(2, 2)
    expect(links).to_have_count(0)
    avg.focus()
    expect(links).to_have_count(2)
    pooled.focus()
    expect(links).to_have_text(["all 3.999"])
    pooled.press("Enter")
    expect(pooled).to_have_attribute("aria-pressed", "true")
    root.get_by_role("table", name="Scores").get_by_role("row", name=re.compile("^Wide")).click()
    root.get_by_role("button", name="Show the best possible").focus()
    expect(links).to_have_text(["all 0.817"])
    root.get_by_role("columnheader", name="FID avg").hover()
    expect(links).to_have_count(2)


def test_pointing_at_a_score_explains_that_score(opened):
    page, root = opened()
    words = root.locator(".nbm-sumline")
    expect(words).to_contain_text("the dashed ellipse of all clients")
    root.get_by_role("table", name="Scores").get_by_role("row", name=re.compile("^Wide")).get_by_role("cell").nth(
        1
    ).hover()
    expect(words).to_have_text("FID all of Wide: one score against the pooled clients, 0.817.")
    root.get_by_role("img", name=re.compile("^Ranks")).get_by_text("10.46").hover()
    expect(words).to_have_text("FID avg of Wide: 50 % · 10.46 + 50 % · 10.46 = 10.46.")
    page.mouse.move(2, 2)
    expect(words).to_contain_text("the dashed ellipse of all clients")


def test_the_best_by_each_stands_in_the_plane_on_request(opened):
    _, root = opened()
    best = root.locator(".nbm-best-each")
    expect(best).to_be_hidden()
    press(root, "Show the best possible")
    expect(best).to_be_visible()
    assert float(best.locator("ellipse").get_attribute("rx")) == pytest.approx(
        float(best.locator("ellipse").get_attribute("ry")), rel=1e-9
    )  # two round clients of one size
    root.get_by_label("Metric").select_option("KID")
    expect(best).to_be_hidden()
    expect(root.get_by_role("button", name="Show the best possible")).to_be_hidden()
    root.get_by_label("Lesson").select_option("Average against pooled")
    expect(best).to_be_hidden()  # it would answer the question
    expect(root.get_by_role("button", name="Show the best possible")).to_be_hidden()


def test_goals_notice_when_they_are_reached_and_offer_the_next(opened):
    page, root = opened()
    goal = root.get_by_role("status", name="Goal")
    expect(goal).to_contain_text("Goal 1 of 4: Drag the clients together")
    drag(page, handle(root, "Client 1 mean"), 40, 0)
    expect(goal).not_to_contain_text("✓")
    drag(page, handle(root, "Client 2 mean"), -170, 0)
    expect(goal).to_contain_text("✓ Goal 1 of 4.")
    assert headline(root).startswith("Best on average and pooled")
    root.get_by_role("button", name="Next goal").click()
    assert headline(root) == "Best on average: Narrow. Best pooled: Wide."
    root.get_by_label("Client 2 weight").fill("15")
    root.get_by_label("Client 2 weight").press("Enter")
    expect(goal).to_contain_text("✓ Goal 2 of 4.")
    root.get_by_role("button", name="Next goal").click()
    narrow = handle(root, "Narrow mean")
    narrow.focus()
    for _ in range(9):
        narrow.press("ArrowDown")
    width = handle(root, "Narrow width")
    width.focus()
    width.press("Shift+ArrowRight")
    width.press("ArrowRight")
    expect(goal).to_contain_text("✓ Goal 3 of 4.")
    root.get_by_role("button", name="Next goal").click()
    root.get_by_label("Metric").select_option("KID")
    for key in ("ArrowUp", "ArrowRight", "ArrowRight"):
        handle(root, "Wide mean").press(key)
    expect(goal).to_contain_text("It is impossible")
    root.get_by_role("button", name="To the lessons").click()
    expect(root.get_by_role("heading").first).to_contain_text("At which variance")
    expect(goal).to_be_hidden()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_layout_holds_and_the_plane_fits_the_window(opened, width):
    page, root = opened(width, 760)
    painted(page)
    assert page.evaluate(OVERFLOW) == []
    plane = root.locator(".nbm-stage").bounding_box()
    assert plane["height"] <= 760
    ranks = root.get_by_role("img", name=re.compile("^Ranks")).bounding_box()
    top, bottom = min(plane["y"], ranks["y"]), max(plane["y"] + plane["height"], ranks["y"] + ranks["height"])
    assert bottom - top <= 760, "scores are in sight while the plane is"


@pytest.mark.parametrize("name", by_default(["Average against pooled", "Make them disagree"], "Average against pooled"))
def test_a_lesson_is_one_column_on_a_phone(saved, name):
    lab = nm.Playground(lesson=name)
    _, root = saved.open(lab, 400, 850)
    lab.close()
    painted(root.page)
    shown = ".nbm-explore" if name == "Average against pooled" else ".nbm-board"
    parts = [root.locator(part).bounding_box() for part in (".nbm-plane", shown)]
    assert len({(round(part["x"]), round(part["width"])) for part in parts}) == 1
    assert parts[0]["width"] > 300


@pytest.mark.parametrize("scheme", by_default(["light", "dark"], "dark"))
def test_texts_stand_out(opened, scheme):
    page, root = opened(color_scheme=scheme)
    unfold(root)
    root.get_by_role("button", name=re.compile("^avg")).click()
    root.get_by_role("button", name="Show the best possible").click()
    painted(page)
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_moves_under_the_pointer_in_a_drag(opened, width):
    page, root = opened(width, 900)
    stride = 10 if width < 700 else 20
    parts = [root.locator(".nbm-stage"), root.locator(".nbm-ribbon"), root.get_by_role("table", name="Scores")]
    painted(page)
    before = [part.evaluate(BOX) for part in parts]
    grip = handle(root, "Client 1 mean")
    x, y = (lambda box: (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))(grip.bounding_box())
    page.mouse.move(x, y)
    page.mouse.down()
    says = set()
    for step in range(1, 13):
        page.mouse.move(x + stride * step, y - step % 7)
        says.add(headline(root))
        assert [part.evaluate(BOX) for part in parts] == before
    assert len(says) > 1
    expect(root.locator(".nbm-trail")).to_have_attribute("d", re.compile(r"^M.+L"))
    page.mouse.up()
    painted(page)
    assert [part.evaluate(BOX) for part in parts] == before
    expect(root.locator(".nbm-trail")).not_to_have_attribute("d", re.compile("M"))


def test_a_generator_has_one_mark_and_one_hue_everywhere(opened):
    _, root = opened()
    unfold(root)
    shapes = """([g, name]) => {
      const lab = document.querySelector('.nbm');
      const nodes = [
        lab.querySelector(`[aria-label="${name} mean"] path`),
        lab.querySelectorAll('table[aria-label="Scores"] tbody tr')[g].querySelector('svg path'),
        lab.querySelectorAll('.nbm-slope')[g].querySelector('.nbm-end'),
        lab.querySelectorAll('.nbm-key')[g].querySelector('path'),
        g ? lab.querySelectorAll('.nbm-dots > g')[g].querySelector('path')
          : lab.querySelector('.nbm-chosen > g path')];
      return nodes.map(n => [n.getAttribute('d'), getComputedStyle(n).getPropertyValue('--nbm-generator')]); }"""
    looks = [root.evaluate(f"(_, given) => ({shapes})(given)", [g, name]) for g, name in enumerate(("Narrow", "Wide"))]
    assert [len({tuple(look) for look in same}) for same in looks] == [1, 1]
    assert looks[0][0] != looks[1][0]


def test_a_third_metric_fits_its_table_and_names_of_any_length_the_headline(saved):
    long = nm.Scene.preset_named("Narrow or wide").to_json()
    long["generators"][0]["name"] = "A generator with a name that goes on to the last letter of eighty".ljust(80, ".")
    lab = nm.Playground(nm.Scene.parse({**long, "view": {"metric": "cfid"}}))
    for width in (320, 1280):
        page, root = saved.open(lab, width, 900)
        painted(page)
        assert page.evaluate(OVERFLOW) == []
        assert root.get_by_role("heading").first.bounding_box()["height"] < 70
    lab.close()
