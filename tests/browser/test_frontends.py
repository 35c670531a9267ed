"""Every lab in JupyterLab, Notebook 7 and Voila, by finger at two pixels a point, and in a column of 320 px."""

import struct
from itertools import product
from pathlib import Path

import pytest

from tests.browser.frontends import end_sessions, open_notebook, open_voila, watched
from tests.browser.labs import (
    LABS,
    assert_python_has_the_same_numbers,
    group,
    handle,
    settle,
    shown,
)
from tests.browser.page import centre, drag, painted, unfold
from tests.slow import by_default

VIEWPORT = {"width": 1280, "height": 900}
TALL = {"width": 1280, "height": 2600}
SHOTS = Path(__file__).parent / "shots"
# Where the notebook stands: its selected cell, and how far any page is scrolled.
STANDS = "() => [window.__panel?.content.activeCellIndex, document.scrollingElement.scrollTop]"
# What reaches over the right edge of the lab, outside of what scrolls or cuts by itself.
BEYOND = """root => {
  const edge = root.getBoundingClientRect().right + 0.5;
  const isHeld = node => {
    for (let up = node.parentElement; up !== root; up = up.parentElement)
      if (getComputedStyle(up).overflowX !== 'visible') return true;
    return false; };
  return [...root.querySelectorAll('*')].filter(n => n.getClientRects().length
    && n.getBoundingClientRect().right > edge && !isHeld(n))
    .map(n => `${n.tagName} ${n.getAttribute('class')} by ${(n.getBoundingClientRect().right - edge).toFixed(1)} px`);
}"""


@pytest.fixture
def context(browser):
    """context(**settings): a browser context of this test's own."""
    made = []

    def make(**settings):
        made.append(browser.new_context(viewport=VIEWPORT, **settings))
        return made[-1]

    yield make
    errors = [error for one in made for page in one.pages for error in page.nbmetrics_errors]
    for one in made:
        for page in one.pages:
            page.goto("about:blank")  # what a reader does: Voila ends the kernel of a page that is left
        one.close()
    assert not errors, f"the page threw: {errors}"


@pytest.fixture
def in_jupyterlab(run_cells):
    return run_cells


@pytest.fixture
def in_notebook(context, notebook_server, request):
    name = f"{request.node.callspec.params['lab']}.ipynb"
    yield lambda *sources: open_notebook(context(), notebook_server, name, *sources)
    end_sessions(notebook_server)


@pytest.fixture
def in_voila(context, voila_server, request):
    name = f"{request.node.callspec.params['lab']}.ipynb"
    return lambda *sources: open_voila(context(), voila_server, name, *sources)


# Two pixels to a point, and a finger.
FINGER = {"has_touch": True, "device_scale_factor": 2}


@pytest.fixture
def in_jupyterlab_by_finger(context, lab_server):
    yield lambda *sources: open_notebook(
        context(**FINGER), lab_server, "finger.ipynb", *sources, path="/lab/tree/{}?reset"
    )
    end_sessions(lab_server)


@pytest.fixture
def in_plain_page_by_finger(context, run_in_page):
    return lambda *sources: run_in_page(watched(context(**FINGER).new_page()), *sources)


PLACES = {
    "jupyterlab": pytest.mark.place("JupyterLab", shows="✓", drags="✓", python="✓"),
    "notebook": pytest.mark.place("Notebook", shows="✓", drags="✓", python="✓"),
    "voila": pytest.mark.place("Voila", shows="✓", drags="✓", python="✓"),
}
QUICK = [("jupyterlab", "Playground")]
EVERYWHERE = [
    pytest.param(*case, marks=[PLACES[case[0]], *([] if case in QUICK else [pytest.mark.slow])])
    for case in product(PLACES, LABS)
]


@pytest.mark.parametrize(("frontend", "lab"), EVERYWHERE)
def test_a_lab_works_in_every_front_end(request, frontend, lab):
    case = LABS[lab]
    page = request.getfixturevalue(f"in_{frontend}")("before = 1", case.source, "after = 1")
    root = group(page, case)
    slider = handle(root, case)
    settle(root)  # until then a slow page may still move under the mouse
    start = shown(root)
    drag(page, slider, -40, -30)
    assert_python_has_the_same_numbers(root, case)
    moved = shown(root)
    assert moved != start
    spoken, stands = handle(root, case).get_attribute("aria-valuetext"), page.evaluate(STANDS)
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft"):
        handle(root, case).press(key)
    assert_python_has_the_same_numbers(root, case)
    assert handle(root, case).get_attribute("aria-valuetext") != spoken
    assert page.evaluate(STANDS) == stands
    pressed = shown(root)
    unfold(root)
    root.get_by_label("Preset", exact=True).select_option(case.preset)
    assert_python_has_the_same_numbers(root, case)
    assert shown(root) not in (start, pressed)
    root.get_by_role("button", name="Undo").click()
    settle(root)
    assert shown(root) == pressed


def dispatch(session, kind, *point):
    points = [dict(zip("xy", point, strict=True))] if point else []
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def png_size(path):
    return struct.unpack(">II", path.read_bytes()[16:24])


PIXELS_A_POINT = """canvases => canvases.map(
  canvas => [canvas.width / canvas.clientWidth, canvas.height / canvas.clientHeight])"""


@pytest.mark.parametrize("where", ["plain_page", pytest.param("jupyterlab", marks=pytest.mark.slow)])
@pytest.mark.parametrize("lab", by_default(LABS, "MemorizationLab"))
def test_a_finger_drags_at_two_pixels_a_point_and_nothing_leaves_a_narrow_column(request, where, lab, look):
    case = LABS[lab]
    page = request.getfixturevalue(f"in_{where}_by_finger")(case.source)
    root = group(page, case)
    settle(root)
    start = shown(root)
    handle(root, case).scroll_into_view_if_needed()
    x, y = centre(handle(root, case))
    session = page.context.new_cdp_session(page)
    dispatch(session, "touchStart", x, y)
    for k in range(1, 7):
        dispatch(session, "touchMove", x - 8 * k, y - 4 * k)
    dispatch(session, "touchEnd")
    assert_python_has_the_same_numbers(root, case)
    assert shown(root) != start
    page.set_viewport_size(TALL)
    picture = SHOTS / f"{lab}-two-pixels.png"
    root.screenshot(path=picture)
    assert png_size(picture)[0] == pytest.approx(2 * root.bounding_box()["width"], abs=4)
    assert root.locator("img").count() == 0
    canvases = root.locator("canvas:not(.nbm-memo-shade)").evaluate_all(PIXELS_A_POINT)
    assert canvases == [[2, 2]] * {"MemorizationLab": 1, "Dashboard": 1, "Monitor": 2}.get(lab, 0), (
        "all but a veil of colour is sharp"
    )
    page.mouse.click(2, 2)  # what was told beside a menu goes with the next press
    root.evaluate("root => { root.parentElement.style.width = '320px'; }")
    assert root.bounding_box()["width"] == 320
    unfold(root)
    tabs = root.get_by_role("tab").all()
    for k in range(len(tabs) or 1):
        if tabs:
            tabs[k].tap()
        painted(root)
        look(f"{lab}-320-{k}", root)
        assert root.evaluate(BEYOND) == []


def test_two_displays_of_twins_stay_equal(run_cells):
    case = LABS["TwinsLab"]
    page = run_cells(case.source, "lab")
    first, second = (page.get_by_role("group", name=case.name).nth(k) for k in range(2))
    second.wait_for()
    start = shown(first)
    drag(page, handle(first, case), 50, -50, release=False)
    painted(first)
    assert shown(first) == shown(second) != start
    page.mouse.up()
    handle(second, case).press("ArrowLeft")
    settle(second)
    settle(first)
    assert shown(first) == shown(second)
