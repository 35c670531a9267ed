"""What stays behind when a lab's cell is run again and again, and when a lab is closed."""

import pytest
from playwright.sync_api import expect

from tests.browser.labs import LABS, group, handle, settle
from tests.browser.page import run_code

pytestmark = pytest.mark.slow

AGAIN = 50
# The notebook's own first runs fill caches of its own.
FIRST = 5
RUN_CELL = """async () => {
  const { content } = window.__panel;
  content.activeCellIndex = 0;
  await window.jupyterapp.commands.execute('notebook:run-cell');
}"""
LIVE = """import threading, time
from ipywidgets.widgets.widget import _instances
for w in list(_instances.values()):
    if {close} and isinstance(w, nm.{lab}): w.close()
def alive(): return [len(_instances), sum(t.name.startswith('nbmetrics ') for t in threading.enumerate())]
end = time.monotonic() + {patience}
while any(alive()) and time.monotonic() < end: time.sleep(0.05)
print(alive())"""
# Seconds in which the threads of closed labs end what they are at.
PATIENCE = 30


def run_again(page, case, times):
    """Each time the lab is new, is used, and asks Python something."""
    for _ in range(times):
        page.evaluate(RUN_CELL)
        root = group(page, case)
        handle(root, case).press("ArrowLeft")
    settle(root)


def live(page, lab, close=False):
    """Widgets and threads in the kernel, after closing the labs where that is asked for."""
    return run_code(page, LIVE.format(lab=lab, close=close, patience=PATIENCE * close))


def counts(session):
    """DOM listeners and nodes that are alive."""
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    return metrics["JSEventListeners"], metrics["Nodes"]


@pytest.mark.parametrize("lab", LABS)
def test_running_the_cell_again_and_again_leaves_nothing_behind(run_cells, lab):
    case = LABS[lab]
    page = run_cells(case.source)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    run_again(page, case, FIRST)
    nodes_of_one = page.locator(".nbm *").count()
    shown = counts(session)
    live(page, lab, close=True)
    expect(page.locator(".nbm")).to_have_count(0)
    before = counts(session)
    run_again(page, case, AGAIN)
    expect(page.locator(".nbm")).to_have_count(1)
    again = counts(session)
    widgets, threads = live(page, lab)
    assert widgets >= AGAIN and threads >= AGAIN, "each is kept by ipywidgets until it is closed"
    assert live(page, lab, close=True) == [0, 0]
    expect(page.locator(".nbm")).to_have_count(0)
    after = counts(session)
    print(f"{lab}, run {AGAIN} times again, listeners and nodes: shown {shown} -> {again}, closed {before} -> {after}")
    # Notebooks keep a few nodes of every output.
    assert again[1] - shown[1] < nodes_of_one and after[1] - before[1] < nodes_of_one, "the pages of labs stay"
    assert after[0] - before[0] < 10, "listeners stay"
    assert again[0] - shown[0] < 6 * AGAIN, "more than a live widget's own listeners stay"
