"""A lab is a guest of its notebook: keys that it does not use are the notebook's, and what it shows is saved."""

import json

import pytest

from tests.browser.frontends import START, assert_ran, end_sessions, open_notebook
from tests.browser.labs import LABS, group, handle, settle, shown
from tests.browser.page import drag, painted, unfold, until
from tests.browser.test_reopened import SAVE, context, next_day, place  # noqa: F401
from tests.slow import by_default

# What reaches the place of a lab, as a notebook would hear it, and is not done there.
LISTEN = """root => {
  window.__heard = [];
  root.parentElement.addEventListener('keydown', event => {
    const isMarked = event.target.hasAttribute('data-lm-suppress-shortcuts');
    window.__heard.push([event.key, event.defaultPrevented, isMarked]);
    event.preventDefault();
  }); }"""
FOCUSABLE = "button, input, select, textarea, summary, [tabindex='0']"
NOTEBOOK_KEYS = ["Control+s", "Meta+s", "Shift+Enter", "Control+Enter", "Alt+Enter", "Control+Shift+c", "F9"]
# D D deletes a cell of a notebook, X cuts it, 0 0 restarts the kernel, M makes it text.
LAB_KEYS = ["d", "X", "0", "M", "Control+z", "Control+y"]


def stops(root):
    """What in the lab can have the focus now."""
    return [one for one in root.locator(FOCUSABLE).all() if one.is_visible() and one.is_enabled()]


@pytest.mark.parametrize("lab", by_default(LABS, "Playground"))
def test_keys_that_no_lab_uses_are_the_notebooks_wherever_the_focus_is(run_cells, lab):
    case = LABS[lab]
    page = run_cells(case.source)
    root = group(page, case)
    unfold(root)
    settle(root)
    root.evaluate(LISTEN)
    before = shown(root)
    found = stops(root)
    assert len(found) > 8
    for stop in found:
        stop.focus()
        for key in NOTEBOOK_KEYS:
            page.keyboard.press(key)
        heard = [entry for entry in page.evaluate("() => window.__heard.splice(0)") if not is_modifier(entry[0])]
        wanted = [[key.split("+")[-1].upper(), False, False] for key in NOTEBOOK_KEYS]
        assert [[key.upper(), *rest] for key, *rest in heard] == wanted, stop
    painted(page)
    assert shown(root) == before, "they did nothing in the lab"
    handle(root, case).focus()
    for key in LAB_KEYS:
        page.keyboard.press(key)
    assert all(is_modifier(key) for key, *_ in page.evaluate("() => window.__heard"))


def is_modifier(key):
    return key in ("Control", "Shift", "Meta", "Alt")


def saved_state(server, name):
    """The widgets that the file has, by their model."""
    book = json.loads((server.work / name).read_text("utf-8"))
    saved = book["metadata"].get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {})
    return saved.get("state", {})


ACTIVE = """() => { const { content } = window.__panel;
  return [content.activeCellIndex, content.widgets.length, content.activeCell.node === document.activeElement,
    content.widgets[0].model.executionCount]; }"""


@pytest.mark.slow
@pytest.mark.jupyterlab
@pytest.mark.parametrize("lab", by_default(LABS, "Playground"))
def test_after_a_drag_jupyterlab_saves_runs_and_takes_the_focus_back(run_cells, lab_server, lab):
    case = LABS[lab]
    page = run_cells(case.source, "after = 1", "last = 2")
    root = group(page, case)
    drag(page, handle(root, case), -40, -20)
    settle(root)
    name = page.evaluate("() => window.__panel.context.path")
    assert not saved_state(lab_server, name)
    handle(root, case).focus()
    page.keyboard.press("Control+s")
    until(page, lambda: saved_state(lab_server, name), len)
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.keyboard.press("Escape")
    assert page.evaluate(ACTIVE)[:3] == [0, 3, True], "no cell deleted, and the lab's cell has the focus"
    count = page.evaluate(ACTIVE)[3]
    handle(root, case).focus()
    page.keyboard.press("Shift+Enter")
    now = until(page, lambda: page.evaluate(ACTIVE), lambda now: now[0] == 1 and (now[3] or 0) > count)
    assert now[1] == 3


FRONTENDS = {"jupyterlab": ("lab_server", "/lab/tree/{}?reset"), "notebook": ("notebook_server", "/notebooks/{}")}
RESTART = "() => window.__panel.sessionContext.session.kernel.restart()"
SCENE_SAVED = "() => window.__panel.context.model.dirty"


@pytest.mark.slow
@pytest.mark.parametrize("is_saved_before", [False, True])
@pytest.mark.parametrize(
    ("frontend", "lab"),
    by_default([*(("jupyterlab", lab) for lab in LABS), ("notebook", "Playground")], ("jupyterlab", "Playground")),
)
def test_a_notebook_saved_after_its_kernel_restarted_shows_its_labs(context, request, frontend, lab, is_saved_before):  # noqa: F811
    fixture, path = FRONTENDS[frontend]
    server, case = request.getfixturevalue(fixture), LABS[lab]
    name = f"restarted-{lab}-{is_saved_before}.ipynb"
    page = open_notebook(context, server, name, case.source, path=path)
    root = group(page, case)
    settle(root)
    if is_saved_before:
        page.evaluate(SAVE)
    page.evaluate(RESTART)
    until(page, root.inner_text, lambda said: "run the cell again" in said)
    for _ in range(2):  # with the kernel gone, and reopened by another
        drag(page, handle(root, case), -30, -10)
        painted(page)
        left = place(root, case), shown(root)
        page = next_day(context, server, page)
        root = group(page, case)
        assert (place(root, case), shown(root)) == left
    assert len(saved_state(server, name)) == 2, "the lab and its layout"
    page.evaluate(START)
    assert_ran(page)
    settle(group(page, case))
    page.evaluate(SAVE)
    assert len(saved_state(server, name)) == 2, "what was run again is forgotten"
    end_sessions(server)
