"""Menus of the toolbar by keys, pointer and touch; nothing moves when controls come and go; Delete removes an item."""

import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.labs import LABS, TWO_OF_LABS
from tests.browser.page import handle, menu_item, numbers, opened, painted, press, told, unfold
from tests.slow import by_default

FOCUSED = "() => document.activeElement.textContent"
# Where the toolbar is in its lab, however far the page is scrolled.
TOOLBAR = """root => {
  const [lab, bar] = [root, root.querySelector(".nbm-toolbar")].map(n => n.getBoundingClientRect());
  return [bar.x - lab.x, bar.y - lab.y, bar.width, bar.height]; }"""

# The right edge of the toolbar; and of each control its name, left, top, right and whether its place is kept for it.
CONTROLS = """bar => [bar.getBoundingClientRect().right, [...bar.querySelectorAll("button, select")]
  .filter(node => node.getClientRects().length).map(node => {
    const { left, top, right } = node.getBoundingClientRect();
    const name = node.ariaLabel || node.firstChild.textContent;
    return [name, left, top, right, getComputedStyle(node).visibility === "hidden"]; })]"""


@pytest.fixture
def playground_page(saved):
    return saved.open(nm.Playground())


def button(root, name):
    return root.get_by_role("button", name=name, exact=True)


def test_a_menu_by_keys(playground_page):
    page, root = playground_page
    share = button(root, "Share")
    share.focus()
    expect(share).to_have_attribute("aria-haspopup", "menu")
    page.keyboard.press("Enter")
    expect(share).to_have_attribute("aria-expanded", "true")
    for key, wanted in [
        (None, "Copy link"),
        ("ArrowDown", "Copy code"),
        ("End", "Save picture"),
        ("ArrowDown", "Copy link"),
        ("ArrowUp", "Save picture"),
        ("Home", "Copy link"),
        ("s", "Save page"),
        ("s", "Save picture"),
        ("s", "Save page"),
    ]:
        if key:
            page.keyboard.press(key)
        assert page.evaluate(FOCUSED) == wanted
    page.keyboard.press("Escape")
    expect(share).to_have_attribute("aria-expanded", "false")
    expect(share).to_be_focused()
    page.keyboard.press("ArrowUp")
    assert page.evaluate(FOCUSED) == "Save picture"
    page.keyboard.press("Tab")
    expect(root.get_by_role("menu")).to_have_count(0)
    button(root, "Add").press("ArrowDown")
    page.keyboard.press("Enter")
    expect(root.locator(".nbm-clients .nbm-body")).to_have_count(3)
    expect(button(root, "Add")).to_be_focused()


def test_a_press_elsewhere_closes_and_one_menu_is_open_at_a_time(playground_page):
    page, root = playground_page
    opened(root, "Add")
    page.mouse.click(700, 600)
    expect(root.get_by_role("menu")).to_have_count(0)
    opened(root, "Add")
    button(root, "More").click()
    expect(root.get_by_role("menu")).to_have_count(1)
    button(root, "More").click()
    expect(root.get_by_role("menu")).to_have_count(0)


@pytest.mark.parametrize("lab", TWO_OF_LABS)
@pytest.mark.parametrize("width", by_default([320, 400, 1280], 320))
def test_menus_stay_in_the_lab_and_nothing_moves(saved, lab, width):
    page, root = saved.open(LABS[lab].new(), width)
    painted(root)
    box = root.bounding_box()
    stays = root.evaluate(TOOLBAR)
    for name in ("Add", "Share", "More"):
        if not button(root, name).count():
            continue
        place = opened(root, name).bounding_box()
        assert place["x"] >= box["x"] and place["x"] + place["width"] <= box["x"] + box["width"], name
        cut = "items => items.filter(item => item.scrollWidth > item.clientWidth).map(item => item.textContent)"
        assert root.get_by_role("menuitem").evaluate_all(cut) == []
        page.keyboard.press("Escape")
    unfold(root)  # where the slider of a Monitor is
    slider = root.get_by_role("slider", name=LABS[lab].handle, exact=True)
    slider.press("Shift+ArrowRight")
    expect(root.get_by_role("button", name="Undo")).to_be_visible()
    assert root.evaluate(TOOLBAR) == stays
    root.get_by_role("button", name="Undo").click()
    expect(root.get_by_role("button", name="Redo")).to_be_visible()
    assert root.evaluate(TOOLBAR) == stays


@pytest.mark.parametrize("lab", TWO_OF_LABS)
@pytest.mark.parametrize("width", by_default([320, 400, 700, 1280], 320))
def test_controls_stand_in_the_order_of_their_use_and_what_waits_leaves_no_gap(saved, lab, width):
    _, root = saved.open(LABS[lab].new(), width)
    painted(root)
    bar, controls = root.locator(".nbm-toolbar").evaluate(CONTROLS)
    names = [name for name, *_ in controls]
    order = [name for name in ("Add", "Preset", "Undo", "Redo", "Lesson", "Metric", "Share", "More") if name in names]
    assert [name for name in names if name in order] == order
    assert controls == sorted(controls, key=lambda control: (control[2], control[1])), "Tab goes as the eye does"
    rows = {y: [control for control in controls if control[2] == y] for _, _, y, _, _ in controls}
    for row in rows.values():
        waits = [is_waiting for *_, is_waiting in row]
        assert not all(waits), "a row of nothing"
        if any(waits) and not waits[-1]:
            assert row[-1][3] == pytest.approx(bar, abs=1), "what comes behind it ends where the lab does"


@pytest.mark.slow
def test_nothing_is_greyed_as_the_lab_opens(saved):
    for lab in LABS:
        _, root = saved.open(LABS[lab].new())
        painted(root)
        greyed = root.locator(".nbm-toolbar :is(button, select):is(:disabled, [aria-disabled=true])")
        expect(greyed.filter(visible=True)).to_have_count(0)
        names = ["Undo", "Redo"]
        assert [name for name in names if button(root, name).is_visible()] == []
        assert [name for name in ("Remove", "Reset") if menu_item(root, name, "More").count()] == []


@pytest.mark.parametrize("key", by_default(["Delete", "Backspace"], "Delete"))
def test_delete_takes_the_chosen_item_away_and_the_focus_stays(playground_page, key):
    page, root = playground_page
    before = numbers(root)
    handle(root, "Narrow width").focus()
    page.keyboard.press(key)
    expect(root.locator(".nbm-generators .nbm-body")).to_have_count(1)
    expect(handle(root, "Wide mean")).to_be_focused()
    page.keyboard.press(key)
    expect(root.locator(".nbm-status")).to_have_text("The last generator stays.")
    page.keyboard.press("Control+z")
    assert numbers(root) == before


def test_what_cannot_be_removed_says_why(playground_page):
    _, root = playground_page
    handle(root, "Client 1 mean").focus()
    press(root, "Remove")
    handle(root, "Client 2 mean").focus()
    item = menu_item(root, "Remove")
    expect(item).to_be_disabled()
    item.dispatch_event("click")
    expect(told(root)).to_have_text("The last client stays")


def test_no_more_is_added_than_a_lab_holds(saved):
    clients = [nm.Gaussian([k / 10, 0]) for k in range(24)]
    _, root = saved.open(nm.Playground(clients))
    press(root, "Add client")
    expect(root.locator(".nbm-status")).to_have_text("A lab shows at most 24 clients.")
    expect(root.locator(".nbm-clients .nbm-body")).to_have_count(24)


def test_a_finger_opens_and_chooses(saved):
    page, root = saved.open(nm.Playground(), 400, has_touch=True)
    button(root, "Add").tap()
    root.get_by_role("menuitem", name="Add generator").tap()
    expect(root.locator(".nbm-generators .nbm-body")).to_have_count(3)
    button(root, "More").tap()
    page.touchscreen.tap(200, 500)
    expect(root.get_by_role("menu")).to_have_count(0)
