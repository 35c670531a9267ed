"""Sharing: links that pages open, pages and pictures saved from a page, and what is said where the hand is."""

import base64
from itertools import cycle

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.conftest import HERE
from tests.browser.labs import LABS, TWO_OF_LABS, group, handle, shown
from tests.browser.page import centre, painted, press, run_code, settle, told
from tests.slow import by_default

CLIPBOARD = ["clipboard-read", "clipboard-write"]
PNG = b"\x89PNG"
WORDS = {"title": "What does the pool say?", "text": "Drag a client.\nWho <b>wins</b>?", "author": "A. Teacher"}


def copied(page):
    return page.evaluate("() => navigator.clipboard.readText()")


def preset_shown(root):
    painted(root)
    return root.get_by_label("Preset").locator("option:checked").inner_text()


def changed(root, case):
    """The lab after a key on its first handle."""
    slider = handle(root, case)
    slider.press("Shift+ArrowRight")
    painted(root)
    return slider.get_attribute("aria-valuetext")


@pytest.mark.parametrize("lab", by_default(LABS, "Playground"))
def test_a_copied_link_opens_the_same_state_in_the_page_and_in_python(saved, lab):
    case = LABS[lab]
    made = case.new()
    page, root = saved.open(made, permissions=CLIPBOARD)
    name = preset_shown(root)
    stands = changed(root, case)
    assert preset_shown(root) == f"{name}, changed"
    press(root, "Copy link")
    expect(told(root)).to_contain_text("Link copied")
    link = copied(page)
    assert link.startswith(page.url + "#nbm1.") and made.share_url(page.url).split(".")[:-1] == link.split(".")[:-1]
    there = page.context.new_page()
    there.goto(link)
    again = group(there, case)
    painted(there)
    assert handle(again, case).get_attribute("aria-valuetext") == stands
    assert preset_shown(again) == f"{name}, changed" and shown(again) == shown(root)
    expect(again.get_by_role("button", name="Undo")).to_be_hidden()
    made.from_share(link.split("#")[1])
    assert preset_shown(saved.open(made)[1]) == f"{name}, changed"
    press(again, "Reset")
    assert preset_shown(again) == name


def test_a_link_of_python_opens_in_an_open_page_and_undo_goes_back(saved):
    page, root = saved.open(nm.Playground())
    other = nm.Playground("Heterogeneous six")
    page.evaluate("text => { location.hash = text; }", other.share())
    expect(root.locator(".nbm-clients .nbm-body")).to_have_count(6)
    assert preset_shown(root) == "Heterogeneous six"
    root.get_by_role("button", name="Undo").click()
    expect(root.locator(".nbm-clients .nbm-body")).to_have_count(2)


def test_a_lesson_goes_along_and_one_of_a_teachers_own_is_named(saved):
    lab = nm.Playground(lesson="Average against pooled")
    page, root = saved.open(nm.Playground())
    page.evaluate("text => { location.hash = text; }", lab.share())
    expect(root.get_by_label("Lesson")).to_have_value("Average against pooled")
    own = {name: part for name, part in lab.lessons["Average against pooled"].items() if name != "after"}
    own |= {"name": "Mine"}
    page.evaluate("text => { location.hash = text; }", nm.Playground(lesson=own).share())
    expect(page.get_by_role("alert")).to_contain_text("made by a teacher")


BAD = {
    "nbm1.Playground.eNqrVgIAAXUA-Q": "checksum does not fit",
    "nbm9.Playground.e": "has version 9",
    "hello": "After # a link has nbm1.Playground",
    "%E0%A4%A": "It is damaged",
    "<img src=x onerror=alert(1)>": "After # a link has",
}


@pytest.mark.parametrize("when", by_default(["at first", "later"], "later"))
def test_a_bad_link_is_refused_in_words_and_the_page_shows_what_it_had(saved, when):
    page, root = saved.open(nm.Playground())
    url, before, good = page.url, shown(root), nm.Playground("Heterogeneous six").share()
    for text, why in BAD.items() if when == "at first" else list(BAD.items())[::2]:
        if when == "at first":
            page.goto("about:blank")
            page.goto(f"{url}#{text}")
            root = group(page, LABS["Playground"])
            expect(page.get_by_role("alert")).to_contain_text("shows its saved scene")
        else:
            page.evaluate("text => { location.hash = text; }", text)
            expect(page.get_by_role("alert")).to_contain_text("shows what it showed before")
        expect(page.get_by_role("alert")).to_contain_text(why)
        assert shown(root) == before and page.locator("img").count() == 0
        page.evaluate("text => { location.hash = text; }", good)
        expect(root.locator(".nbm-clients .nbm-body")).to_have_count(6)
        expect(page.get_by_role("alert")).to_have_count(0)
        root.get_by_role("button", name="Undo").click()
        expect(root.locator(".nbm-clients .nbm-body")).to_have_count(2)


def test_another_labs_link_and_one_about_points_that_the_page_lacks_say_so(saved):
    page, _ = saved.open(nm.MemorizationLab(points=40))
    for lab, said in (
        (nm.TwinsLab(), "for a TwinsLab"),
        (nm.MemorizationLab(points=50), "points that this page does not"),
    ):
        page.evaluate("text => { location.hash = text; }", lab.share())
        expect(page.get_by_role("alert")).to_contain_text(said)


@pytest.mark.slow
@pytest.mark.parametrize("lab", TWO_OF_LABS)
def test_a_page_saved_from_a_page_is_that_page_as_it_is_now(saved, lab, tmp_path):
    case = LABS[lab]
    page, root = saved.open(case.new(), words=WORDS)
    stands = changed(root, case)
    with page.expect_download() as got:
        press(root, "Save page")
    assert got.value.suggested_filename == f"{lab.lower()}.html"
    expect(told(root)).to_have_text(f"Page saved: {lab.lower()}.html")
    path = tmp_path / "again.html"
    got.value.save_as(path)
    page.goto(path.as_uri())
    again = group(page, case)
    painted(page)
    assert handle(again, case).get_attribute("aria-valuetext") == stands and shown(again) == shown(root)
    expect(page.get_by_role("heading", name=WORDS["title"])).to_be_visible()
    assert page.locator("meta[http-equiv]").count() == 1 and page.title() == WORDS["title"]
    handle(again, case).press("Shift+ArrowLeft")
    painted(page)
    assert handle(again, case).get_attribute("aria-valuetext") != stands


def test_title_text_and_author_stand_on_top_as_text(saved, look):
    page, root = saved.open(nm.Playground(), words=WORDS)
    assert page.locator(".lead p").all_inner_texts() == WORDS["text"].split("\n")
    assert page.locator(".by").inner_text() == WORDS["author"] and page.locator(".lead b, .by b, h1 b").count() == 0
    assert centre(page.locator(".lead"))[1] < root.bounding_box()["y"]
    look("saved-with-a-question", page)


PICTURES = list(zip(LABS, cycle(["light", "dark"]), strict=False))


@pytest.mark.slow
@pytest.mark.parametrize(("lab", "scheme"), by_default(PICTURES, PICTURES[0], PICTURES[3]))
def test_a_saved_pages_picture_has_the_words_and_the_scores_too(saved, lab, scheme):
    page, root = saved.open(LABS[lab].new(), color_scheme=scheme)
    painted(root)
    with page.expect_download() as got:
        press(root, "Save picture")
    expect(told(root)).to_have_text(f"Picture saved: {lab.lower()}.png")
    path = HERE / "shots" / f"picture-{lab}-{scheme}.png"
    got.value.save_as(path)
    data = path.read_bytes()
    width, height = (int.from_bytes(data[k : k + 4], "big") for k in (16, 20))
    drawn = root.locator(
        ".nbm-stage, .nbm-pair-sheet, .nbm-memo-plane, .nbm-dashboard-board, .nbm-step-plot, .nbm-noise-card"
    ).first.bounding_box()
    assert data.startswith(PNG) and width >= 3 * drawn["width"] and height > 3 * drawn["height"] + 200


def test_what_is_said_is_at_the_button_and_goes_with_the_next_press(saved):
    page, root = saved.open(nm.Playground(), permissions=CLIPBOARD)
    press(root, "Copy code")
    expect(told(root)).to_have_text("Code copied: paste it into a cell.")
    assert told(root).get_attribute("role") == "status"
    (x, y), (at_x, at_y) = centre(told(root)), centre(root.get_by_role("button", name="Share", exact=True))
    assert abs(x - at_x) < 200 and 0 < y - at_y < 60
    page.mouse.click(5, 5)
    expect(told(root)).to_have_count(0)


def test_where_the_clipboard_is_closed_the_link_is_below_to_be_copied_by_hand(saved):
    page, root = saved.open(nm.Playground())
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('closed')); }")
    press(root, "Copy link")
    expect(told(root)).to_contain_text("Copy the link below")
    text = root.get_by_label("Link", exact=True)
    expect(text).to_be_visible()
    assert text.input_value().split("#")[1].startswith("nbm1.Playground.")


def test_in_a_notebook_python_gives_the_line_the_page_and_the_picture(run_cells, tmp_path):
    case = LABS["Playground"]
    page = run_cells(case.source)
    page.context.grant_permissions(CLIPBOARD)
    root = group(page, case)
    stands = changed(root, case)
    press(root, "Copy link")
    expect(told(root)).to_contain_text("Python that opens this state copied")
    opened = case.lab_of(copied(page))
    settle(page, root)
    np.testing.assert_allclose(case.rows(opened), shown(root), rtol=1e-9)
    opened.close()
    for name, file in (("Save page", "playground.html"), ("Save picture", "playground.png")):
        with page.expect_download() as got:
            press(root, name)
        assert got.value.suggested_filename == file
        got.value.save_as(tmp_path / file)
        expect(told(root)).to_contain_text(f"saved: {file}")
    drawn = base64.b64encode((tmp_path / "playground.png").read_bytes()).decode()
    assert drawn == run_code(page, "import base64; print(_j.dumps(base64.b64encode(lab.snapshot().png).decode()))")
    alone = page.context.new_page()
    alone.goto((tmp_path / "playground.html").as_uri())
    painted(alone)
    assert handle(group(alone, case), case).get_attribute("aria-valuetext") == stands
    alone.close()


@pytest.fixture
def impatient():
    """impatient(page): what it waits for comes ten times as soon; as ever after the test."""
    pages = []

    def hurry(page):
        pages.append(page)
        page.evaluate("""() => { const wait = window.__wait = setTimeout;
          window.setTimeout = (call, after, ...rest) => wait(call, after / 10, ...rest); }""")

    yield hurry
    for page in pages:
        page.evaluate("() => { window.setTimeout = window.__wait; }")


@pytest.mark.slow
def test_while_python_is_busy_the_page_draws_the_picture_and_the_page_comes_later(run_cells, kernel, impatient):
    case = LABS["Playground"]
    page = run_cells(case.source)
    root = group(page, case)
    kernel.freeze()
    impatient(page)
    with page.expect_download() as got:
        press(root, "Save picture")
    assert got.value.path().read_bytes().startswith(PNG)
    expect(told(root)).to_contain_text("as this page shows it, without Python")
    press(root, "Save page")
    expect(told(root)).to_have_text("Python is busy or unreachable: the page comes once it answers.")
    with page.expect_download() as got:
        kernel.thaw()
    assert got.value.suggested_filename == "playground.html"
    assert run_code(page, "print(_j.dumps(lab.share()))").startswith("nbm1.")


def test_what_the_question_hides_is_in_no_picture(run_cells):
    """CorrelationLab asks before it shows its scores: the picture is the page's then, with them veiled."""
    page = run_cells(LABS["CorrelationLab"].source)
    root = group(page, LABS["CorrelationLab"])
    with page.expect_download():
        press(root, "Save picture")
    expect(told(root)).to_have_text("Picture saved: correlationlab.png")
