"""A lab is a guest of its notebook: keys that it does not use are the notebook's, and what it shows is saved."""

import json
import shutil

import pytest

from tests.browser.frontends import (
    JUPYTERLAB,
    SERVER_CONFIG,
    START,
    assert_ran,
    end_sessions,
    open_notebook,
    serving,
)
from tests.browser.labs import LABS, group, handle, settle, shown
from tests.browser.page import drag, painted, unfold, until
from tests.browser.test_reopened import SAVE, context, next_day, place  # noqa: F401
from tests.slow import by_default

# Presses keys at all that can have the focus in a lab; what then reaches the lab's place, as a notebook would hear it.
PRESS = """(root, keys) => {
  const heard = [];
  const listen = event => heard.push([event.key, event.target.hasAttribute('data-lm-suppress-shortcuts')]);
  root.parentElement.addEventListener('keydown', listen);
  const stops = [...root.querySelectorAll("button, input, select, textarea, summary, [tabindex='0']")];
  const seen = stops.filter(stop => stop.getClientRects().length && !stop.disabled);
  const answers = seen.map(stop => {
    stop.focus();
    for (const name of keys) {
      const parts = name.split('+'), has = part => parts.includes(part);
      const held = { ctrlKey: has('Control'), metaKey: has('Meta'), altKey: has('Alt'), shiftKey: has('Shift') };
      const event = new KeyboardEvent('keydown', { key: parts.at(-1), ...held, bubbles: true, cancelable: true });
      if (!stop.dispatchEvent(event)) heard.push([name, 'used']);
    }
    return [stop.outerHTML.slice(0, 80), heard.splice(0)]; });
  root.parentElement.removeEventListener('keydown', listen);
  return answers; }"""
NOTEBOOK_KEYS = ["Control+s", "Meta+s", "Shift+Enter", "Control+Enter", "Alt+Enter", "F9", "Control+b"]
# D D deletes a cell of a notebook, X cuts it, 0 0 restarts the kernel, M makes it text; Escape would leave a menu.
LAB_KEYS = ["d", "X", "0", "M", "ArrowLeft", "ArrowDown", "Control+z", "Control+y", "Control+Z", "Escape"]


@pytest.mark.parametrize("lab", by_default(LABS, "CorrelationLab"))
def test_keys_that_no_lab_uses_are_the_notebooks_wherever_the_focus_is(run_cells, lab):
    case = LABS[lab]
    page = run_cells(case.source)
    root = group(page, case)
    unfold(root)
    settle(root)
    before = shown(root)
    answers = root.evaluate(PRESS, NOTEBOOK_KEYS)
    assert len(answers) > 8
    for stop, heard in answers:
        wanted = [[key.split("+")[-1], False] for key in NOTEBOOK_KEYS]
        assert heard == wanted, stop
    painted(page)
    assert shown(root) == before, "they did nothing in the lab"
    for stop, heard in root.evaluate(PRESS, LAB_KEYS):
        assert all(how == "used" for _, how in heard), stop


LISTENERS = (
    "() => window.__kept.flatMap(model => [...model.listeners.values()]).reduce((sum, { size }) => sum + size, 0)"
)


@pytest.mark.parametrize("lab", by_default(LABS, "CorrelationLab"))
@pytest.mark.parametrize("place", ["plain"], indirect=True)
def test_a_lab_lives_and_ends_where_anywidget_gives_no_signal(run_cells, lab, place):
    case = LABS[lab]
    page = run_cells("before = 1")
    page.evaluate("() => { window.__old = true; }")
    page.python.run_cell(case.source)
    root = group(page, case)
    slider = handle(root, case)
    settle(root)
    start = shown(root)
    drag(page, slider, -40, -20)
    settle(root)
    assert shown(root) != start
    page.evaluate("() => { window.__kept = [...window.__models.values()]; }")
    assert page.evaluate(LISTENERS) > 0
    page.python.run_cell("lab.close()")
    until(page, lambda: (root.count(), page.evaluate(LISTENERS)), lambda left: left == (0, 0))


def saved_state(server, name):
    """The widgets that the file has, by their model; none while it is written."""
    text = (server.work / name).read_text("utf-8")
    try:
        book = json.loads(text)
    except ValueError:
        return {}
    saved = book["metadata"].get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {})
    return saved.get("state", {})


def saved_scene(server, name):
    return next((one["state"]["scene"] for one in saved_state(server, name).values() if "scene" in one["state"]), None)


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
    first = until(page, lambda: saved_scene(lab_server, name), bool)
    drag(page, handle(root, case), 30, 10)
    settle(root)
    page.keyboard.press("Control+s")
    until(page, lambda: saved_scene(lab_server, name), lambda scene: scene and scene["rev"] > first["rev"])
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.keyboard.press("Escape")
    assert page.evaluate(ACTIVE)[:3] == [0, 3, True], "no cell deleted, and the lab's cell has the focus"
    count = page.evaluate(ACTIVE)[3]
    handle(root, case).focus()
    page.keyboard.press("Shift+Enter")
    now = until(page, lambda: page.evaluate(ACTIVE), lambda now: now[0] == 1 and (now[3] or 0) > count)
    assert now[1] == 3


@pytest.fixture(scope="module")
def plain_jupyterlab(tmp_path_factory):
    """JupyterLab that saves widgets, without what the server of binder/ keeps of an older file."""
    config = tmp_path_factory.mktemp("config")
    shutil.copytree(SERVER_CONFIG / "labconfig", config / "labconfig")
    with serving(tmp_path_factory.mktemp("plain"), JUPYTERLAB, config) as server:
        yield server


FRONTENDS = {"jupyterlab": ("plain_jupyterlab", "/lab/tree/{}?reset"), "notebook": ("notebook_server", "/notebooks/{}")}
RESTART = "() => window.__panel.sessionContext.session.kernel.restart()"


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
