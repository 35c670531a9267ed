"""Dragging in a real page, reading what it shows, and what each frame of a drag cost.

A lab paints in the next animation frame, and Python answers when it can. So a test reads a page only
after `painted`, which the readers here do themselves, or waits: `expect`, `until`, `answered`.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager

from playwright.sync_api import expect

# For every pointermove: when the first cell of the Scores table changed, counted from the event's own time stamp,
# and what the frame cost: the handlers of the event, then everything from the first animation callback to the end
# of a forced layout. The callback that marks the start of a frame is renewed first in every frame, so it runs first.
WATCH = """() => {
  const table = document.querySelector('table:is([aria-label="Scores"], [aria-label="Leaderboard"])');
  const watch = window.__watch = { latency: [], cost: [], moves: 0 };
  let event = null, handled = 0, started = 0;
  const frame = () => { started = performance.now(); requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  window.addEventListener('pointermove', e => { watch.moves++; event = e; handled = performance.now(); }, true);
  window.addEventListener('pointermove', () => { handled = performance.now() - handled; });
  new MutationObserver(() => {
    if (!event) return;
    watch.latency.push(performance.now() - event.timeStamp);
    document.body.offsetHeight;
    watch.cost.push(handled + performance.now() - started);
    event = null;
  }).observe(table, { subtree: true, childList: true, characterData: true });
}"""


# One frame for what is under way, one that paints it, one for what watches the sizes of what was painted.
PAINTED = "async () => { for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame); }"
CELLS = """table => [...table.tBodies[0].rows].map(row => [...row.cells].slice(1).map(cell => cell.innerText))"""
NUMBERS = """table => [...table.tBodies[0].rows].map(
  row => [...row.querySelectorAll('td')].map(cell => cell.dataset.value ?? null))"""
# Of the revisions that the page shows and that its status is about.
REVS = """root => ['table[aria-label="Scores"]', '.nbm-status'].map(
  part => Number(root.querySelector(part).dataset.rev))"""

# What is wider than the place it has.
OVERFLOW = """() => { const lab = document.querySelector('.nbm');
  return [...lab.querySelectorAll('*')].filter(n => n.clientWidth && n.scrollWidth > n.clientWidth + 1
    && !n.closest('svg, input, textarea, select'))
    .map(n => n.className + ' ' + n.scrollWidth + '>' + n.clientWidth); }"""
# WCAG contrast of every text with the colour behind it.
CONTRAST = """() => {
  const rgb = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { c: [r, g, b], a }; };
  const luminance = c => c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = node => { for (; node; node = node.parentElement) {
    const { c, a } = rgb(getComputedStyle(node).backgroundColor); if (a > 0.99) return c; } return [255, 255, 255]; };
  const low = [];
  for (const node of document.querySelectorAll('.nbm *')) {
    const text = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!text || !node.getClientRects().length || node.disabled || node.tagName === 'OPTION') continue;
    const style = getComputedStyle(node);
    const color = rgb(node.namespaceURI.endsWith('svg') ? style.fill : style.color).c;
    const [a, b] = [luminance(color), luminance(behind(node))].sort((p, q) => q - p);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(node.textContent + ' ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return low; }"""


def painted(scope):
    """Until the page shows what was done to it, there or in a part of it."""
    scope.evaluate(PAINTED)


def handle(scope, name):
    """What is dragged, or moved by keys: a slider to screen readers."""
    return scope.get_by_role("slider", name=name, exact=True)


# The menus of the toolbar, by what is in them.
MENUS = {
    "Add": [
        "Add client",
        "Add generator",
        "Two bumps",
        "Ideal estimator, truncated by ψ",
        "Collapsed to a point",
        "Copycat of a client’s points",
    ],
    "Share": ["Copy link", "Copy code", "Save page", "Save picture"],
    "More": ["Remove", "Reset", "Table view"],
}
MENU_OF = {item: menu for menu, items in MENUS.items() for item in items}


def opened(root, menu):
    """The list of a menu of the toolbar, open."""
    painted(root)
    button = root.get_by_role("button", name=menu, exact=True)
    if button.get_attribute("aria-expanded") == "false":
        button.click()
    return root.get_by_role("menu", name=menu, exact=True)


def menu_item(root, name, menu=None):
    """An item of a menu, which is open then: of the one that has it, or of the one given."""
    return opened(root, menu or MENU_OF[name]).get_by_role("menuitem", name=name, exact=True)


def press(root, name):
    """What is done with a button of the toolbar, alone or in a menu, by its visible text."""
    painted(root)
    alone = root.get_by_role("button", name=name, exact=True)
    if not alone.count():
        unfold(root)
    (alone if alone.count() else menu_item(root, name)).click()


def open_tab(root, name):
    root.get_by_role("tab", name=name, exact=True).click()
    painted(root)


def told(root):
    """What is said beside the menu that was used."""
    return root.locator(".nbm-told:not([hidden])")


def until(page, read, test, seconds=30):
    """What `read()` gives, once `test` holds of it."""
    end = time.monotonic() + seconds
    while not test(found := read()):
        assert time.monotonic() < end, f"never so: {found}"
        page.wait_for_timeout(20)
    return found


def centre(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, locator, dx, dy, steps=8, release=True):
    """Real mouse events: press on the handle, move by (dx, dy) pixels in steps, release; and until it is painted.

    Each step is a frame, which takes 40 ms of a processor.
    """
    painted(page)

    def in_view():
        locator.scroll_into_view_if_needed()
        return centre(locator)

    # a notebook that is laid out meanwhile may scroll back
    x, y = until(page, in_view, lambda at: 0 < at[1] < page.viewport_size["height"])
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, steps + 1):
        page.mouse.move(x + dx * k / steps, y + dy * k / steps)
    if release:
        page.mouse.up()
    painted(page)


UNFOLD = """root => { for (const fold of root.querySelectorAll('details.nbm-fold:not([open])'))
  if (!fold.hidden) fold.open = true; }"""


def unfold(root):
    """Open what a lab opens on demand, as a press on each of its folds does."""
    root.evaluate(UNFOLD)
    painted(root.page)


@contextmanager
def finger(page):
    """A function for touch events: touch("touchStart", x, y), touch("touchMove", x, y), touch("touchEnd")."""
    session = page.context.new_cdp_session(page)

    def touch(kind, *place):
        points = [dict(zip("xy", place, strict=True))] if place else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    painted(page)  # a page with a finger may be laid out in another way
    try:
        yield touch
    finally:
        session.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        session.detach()


# What has the focus, once the page shows that it has it: other stops of Tab may open then.
FOCUSED = f"""async () => {{ await ({PAINTED})(); const node = document.activeElement;
  return node.getAttribute('aria-label') || node.textContent || node.closest('label')?.textContent; }}"""


def tab_to(page, wanted, key="Tab", most=100):
    """Press the key until `wanted` has the focus; what had it on the way."""
    reached = []
    while wanted not in reached:
        assert len(reached) < most, f"{key} does not reach {wanted}: {reached}"
        page.keyboard.press(key)
        reached.append(page.evaluate(FOCUSED))
    return reached


def assert_no_key_reached_the_notebook(page):
    """Where there is one: no cell was added."""
    assert page.evaluate("() => window.__panel?.content.widgets.length ?? 1") == 1


def scores(scope):
    return scope.get_by_role("table", name="Scores", exact=True)


def cells(scope):
    """The lines of each cell of the Scores table, row by row."""
    painted(scope.page)
    return [[text.split("\n") for text in row] for row in scores(scope).evaluate(CELLS)]


def numbers(scope):
    """The exact numbers behind the cells; None where the page has none."""
    painted(scope.page)
    return [[value and float(value) for value in row] for row in scores(scope).evaluate(NUMBERS)]


def run_code(page, code):
    """Run code beside the cells, and give back the JSON that it prints."""
    wrapped = f"import json as _j\n{code}"
    if python := getattr(page, "python", None):
        return json.loads(python.run_code(page, wrapped))
    text = page.evaluate(
        """async code => {
          const kernel = window.__panel.sessionContext.session.kernel;
          const future = kernel.requestExecute({ code, stop_on_error: true });
          let text = '';
          future.onIOPub = m => { if (m.header.msg_type === 'stream') text += m.content.text;
            if (m.header.msg_type === 'error') text += m.content.traceback.join('\\n'); };
          await future.done; return text; }""",
        wrapped,
    )
    return json.loads(text)


def scene_where(page, test):
    """The scene that Python holds, once `test` holds of it."""
    return until(page, lambda: run_code(page, "print(_j.dumps(lab.scene))"), test)


def answered(page, lab):
    """The scene and the result that Python holds, once both are what the page shows and its status is about."""
    painted(page)

    def read():
        return lab.evaluate(REVS), *run_code(page, "print(_j.dumps([lab.scene, lab.result]))")

    def is_done(found):
        revs, scene, result = found
        return {*revs, scene["rev"], result["rev"]} == {scene["rev"]} and not result.get("trying")

    return until(page, read, is_done)[1:]


def settle(page, lab, said=re.compile("Python (agrees|computed)")):
    """As `answered`, once the page says that the answer is what it shows, or is shown."""
    scene, result = answered(page, lab)
    assert "error" not in result, result
    expect(lab.locator(".nbm-status")).to_contain_text(said)
    return scene, result
