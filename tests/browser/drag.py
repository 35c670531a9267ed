"""Dragging in a real page, and what each frame of a drag cost."""

from __future__ import annotations

import json

# For every pointermove: when the first cell of the Scores table changed, counted from the event's own time stamp,
# and what the frame cost: the handlers of the event, then everything from the first animation callback to the end
# of a forced layout. The callback that marks the start of a frame is renewed first in every frame, so it runs first.
WATCH = """() => {
  const table = document.querySelector('table[aria-label="Scores"]');
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


def centre(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, locator, dx, dy, steps=20, release=True):
    """Real mouse events: press on the handle, move by (dx, dy) pixels in steps, release."""
    locator.scroll_into_view_if_needed()
    x, y = centre(locator)
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, steps + 1):
        page.mouse.move(x + dx * k / steps, y + dy * k / steps)
    if release:
        page.mouse.up()


def cells(scope):
    """The four numbers of each generator as the page shows them, and the rest of the text of the cells."""
    rows = scope.locator("table[aria-label=Scores] tbody tr")
    return [[row.locator("td").nth(k).inner_text().split("\n") for k in range(4)] for row in rows.all()]


def numbers(scope):
    """The exact numbers behind the cells."""
    rows = scope.locator("table[aria-label=Scores] tbody tr").all()
    return [[float(td.get_attribute("data-value")) for td in row.locator("td").all()] for row in rows]


def output(page, index):
    """The text of the output of the code cell `index`."""
    return page.evaluate(
        "i => window.__panel.content.widgets.filter(c => c.model.type === 'code')[i].outputArea.node.innerText",
        index,
    )


def run_code(page, code):
    """Run code in the notebook's kernel, beside the cells, and give back its JSON-valued last expression."""
    wrapped = f"import json as _j\n{code}"
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
