"""How often a drag is painted and answered: printed, and never asserted as a time.

On a stock server, without the settings of binder/. What is asserted is that nothing stale passes for current, that no
more than two questions wait, and that the last state is answered.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.frontends import end_sessions, open_notebook
from tests.browser.labs import LABS, group, settle
from tests.browser.page import WATCH, centre, drag, numbers, unfold
from tests.browser.traced import traced

pytestmark = pytest.mark.slow

SECONDS = 3
PLAYGROUND = LABS["Playground"]
SMALL = "import nbmetrics as nm\nlab = nm.Playground('Two clients', {{'G': nm.Gaussian([0, 0])}}, metric={!r}); lab"
LARGE = """import numpy as np, nbmetrics as nm
turns = np.arange(12) * np.pi / 6
clients = [nm.Client(nm.Gaussian([3 * np.cos(t), 3 * np.sin(t)], [0.2 + t / 9, 0.3]), name=f"C{{k}}")
           for k, t in enumerate(turns)]
generators = {{f"G{{k}}": nm.Gaussian([k / 3 - 1, 0], [1 + k, 2]) for k in range(6)}}
lab = nm.Playground(nm.Federation(clients), generators, metric={!r}); lab"""
BOARD = """import numpy as np, nbmetrics as nm
rng = np.random.default_rng(0)
rows = lambda shift, spread, n: rng.normal(size=(n, 8)) * spread + shift
clients = {f"C{k}": rows(rng.normal(size=8), 1 + k / 100, 60 + k) for k in range(100)}
generators = {f"G{k}": rows(k / 20, 1 + k / 10, 500) for k in range(20)}
lab = nm.Dashboard(clients, generators); lab"""
# Before the page loads: what goes over the wire, the questions, how many wait at most, and the answers by revision.
WIRE = """
const wire = window.__wire = { waiting: [], most: 0, asked: 0, answers: {}, times: [] };
const content = data => {
  if (!(data instanceof ArrayBuffer)) return {};
  const at = k => Number(new DataView(data).getBigUint64(8 * k, true));
  return JSON.parse(new TextDecoder().decode(data.slice(at(5), at(6)))).data ?? {};
};
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener('message', event => {
      const result = content(event.data).state?.result;
      if (!result?.scores) return;
      wire.answers[result.rev] = result.scores;
      wire.times.push(performance.now());
      wire.waiting = wire.waiting.filter(rev => rev > result.rev);
    });
  }
  send(data) {
    const message = content(data).content;
    if (message?.kind === 'ask') wire.most = Math.max(wire.most, wire.waiting.push(message.scene.rev));
    if (message?.kind === 'ask') wire.asked++;
    return super.send(data);
  }
};"""
# What every frame shows of the first generator: FID-avg, the charted metric, and the revision the status is about.
FRAMES = """() => {
  const seen = window.__frames = [];
  const table = document.querySelector('table[aria-label="Scores"]'), status = document.querySelector('.nbm-status');
  const frame = () => {
    const cells = [...table.tBodies[0].rows[0].querySelectorAll('td')];
    const charted = cells[4] ?? cells[0];
    const shown = { rev: +table.dataset.rev, about: +status.dataset.rev, fid: +cells[0].dataset.value,
      charted: +charted.dataset.value, isCurrent: !charted.classList.contains('nbm-behind') };
    if (seen.at(-1)?.rev !== shown.rev) seen.push(shown);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


@pytest.fixture
def opened(browser, stock_server):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(WIRE)

    def open_lab(source):
        page = open_notebook(context, stock_server, "rates.ipynb", source, path="/lab/tree/{}?reset")
        root = group(page, PLAYGROUND)
        settle(root)
        return page, root

    yield open_lab
    errors = [error for page in context.pages for error in page.nbmetrics_errors]
    context.close()
    end_sessions(stock_server)
    assert not errors, f"the page threw: {errors}"


# On a circle, one move a frame: from outside, moves come as slowly as the test's own process is served.
CIRCLE = """async ([x, y, seconds]) => {
  const stage = document.querySelector('.nbm-stage'), start = performance.now(), end = start + 1000 * seconds;
  for (let now = start; now < end; now = await new Promise(requestAnimationFrame)) {
    const [turn, pointerId, bubbles] = [(now - start) / 300, 1, true];
    const [clientX, clientY] = [x + 60 * Math.sin(turn), y + 60 * Math.cos(turn) - 60];
    stage.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, pointerId, bubbles }));
  }
  return [start, performance.now()];
}"""


def circle(page, locator):
    """Take hold of a handle, and drag it for SECONDS; when that began and ended on the page's clock."""
    locator.scroll_into_view_if_needed()
    x, y = centre(locator)
    page.mouse.move(x, y)
    page.mouse.down()
    return page.evaluate(CIRCLE, [x, y, SECONDS])


@pytest.mark.parametrize(
    ("scene", "metric"),
    [
        ("two clients", "fid"),
        ("two clients", "fld"),
        ("two clients", "precision"),
        ("12 clients × 6 generators", "fld"),
    ],
)
def test_a_drag_is_answered_in_truth(opened, scene, metric):
    page, root = opened((SMALL if scene == "two clients" else LARGE).format(metric))
    page.evaluate(FRAMES)
    name = "G mean" if scene == "two clients" else "G0 mean"
    started, ended = circle(page, root.get_by_role("slider", name=name, exact=True))
    settle(root)  # held still, and not let go
    page.mouse.up()
    settle(root)
    wire, frames = page.evaluate("() => [window.__wire, window.__frames]")
    seconds = (ended - started) / 1000
    answers = sum(started < at < ended for at in wire["times"]) / seconds
    print(
        f"drag with {scene}, {metric}: {answers:.0f} answers a second, {len(frames) / seconds:.0f} frames a "
        f"second painted, at most {wire['most']} questions waiting"
    )
    assert wire["asked"] and wire["most"] <= 2
    last = root.get_by_role("table", name="Scores").get_attribute("data-rev")
    assert last in wire["answers"], "the last state is answered"
    python = {int(rev): scores for rev, scores in wire["answers"].items()}
    assert_shown_is_true(frames, python, metric)


def assert_shown_is_true(frames, python, metric):
    """What Python answered of a frame is what the frame showed; older answers were marked as such."""
    known = [frame for frame in frames if frame["rev"] in python]
    assert known
    for frame in known:
        assert frame["fid"] == pytest.approx(python[frame["rev"]]["fid"]["avg"][0], rel=1e-9)
    for frame in (frame for frame in frames if frame["about"] in python):
        about = frame["rev"] if metric == "fid" else frame["about"]
        assert frame["isCurrent"] or frame["about"] < frame["rev"]
        assert not frame["isCurrent"] or about == frame["rev"], "an older answer passes for current"
        if about in python:
            assert frame["charted"] == pytest.approx(python[about][metric]["avg"][0], rel=1e-9)


@pytest.mark.parametrize("name", ["C3 mean", "G0 mean"])
def test_a_large_scene_with_the_sweep_open_paints_every_move(opened, name, record_property):
    page, root = opened(LARGE.format("fid"))
    unfold(root)
    root.get_by_role("tab", name="Sweep").click()
    settle(root)
    page.evaluate(WATCH)
    before = numbers(root)
    drag(page, root.get_by_role("slider", name=name, exact=True), -60, 50, steps=120)
    watch = page.evaluate("() => window.__watch")
    assert numbers(root) != before
    cost = sorted(watch["cost"])
    middle, p95 = cost[len(cost) // 2], cost[int(0.95 * len(cost))]
    record_property("cost_p95_ms", p95)
    print(
        f"12 clients × 6 generators, sweep open, dragging {name}: script and layout of a frame median {middle:.1f} ms, "
        f"p95 {p95:.1f} ms, {len(cost)} frames of {watch['moves']} moves"
    )
    assert len(cost) >= 0.9 * watch["moves"]
    settle(root)


def test_a_large_dashboard_paints_every_move_of_a_weight(browser, stock_server, record_property):
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = open_notebook(context, stock_server, "board.ipynb", BOARD, path="/lab/tree/{}?reset")
    root = group(page, LABS["Dashboard"])
    expect(root.locator(".nbm-dashboard-progress")).to_be_hidden(timeout=120_000)
    slider = root.get_by_role("slider", name=re.compile(" weight$")).first
    board = root.get_by_role("table", name="Leaderboard")
    before = board.inner_text()
    with traced(browser, page) as frames:
        drag(page, slider, 60, 0, steps=480)
    assert board.inner_text() != before
    cost = sorted(frames)
    middle, p95 = cost[len(cost) // 2], cost[int(0.95 * len(cost))]
    record_property("cost_p95_ms", p95)
    ends = f"{frames[0]:.1f} ms the first, {frames[-1]:.1f} ms the last"
    frames = f"median {middle:.1f} ms, p95 {p95:.1f} ms, {ends}, {len(cost)} frames"
    print(f"Dashboard of 20 × 100, dragging a weight: {frames}")
    context.close()
    end_sessions(stock_server)
