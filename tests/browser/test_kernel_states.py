"""Dragging with a kernel that is idle, busy for seconds, or dead: the page paints every move from its own maths."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LAB, PLAIN
from tests.browser.labs import LABS, group, handle, settle, shown
from tests.browser.page import WATCH, drag, painted, run_code, unfold

SIX = "import nbmetrics as nm\nlab = nm.Playground('Heterogeneous six'); lab"
SOURCES = {name: case.source for name, case in LABS.items()} | {"Playground": SIX}


# Every frame of MemorizationLab's picture: what the slider says, and how many points are ringed as copies.
RINGED = """root => {
  const [slider] = root.getElementsByTagName('input'), [rings] = root.getElementsByClassName('nbm-memo-marks');
  const frames = window.__frames = [];
  const frame = () => {
    frames.push([slider.valueAsNumber, Number(rings.dataset.rings)]);
    if (root.isConnected) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
POINTS = 60
MOVES = 30
STATES = {"idle": lambda kernel: None, "busy": lambda kernel: kernel.occupy(), "killed": lambda kernel: kernel.kill()}


def cases(names, default, possible):
    """Some by default, of which what Jupyter does is in JupyterLab, and at length all that are possible there."""
    rest = [(LAB, *case) for case in possible if (LAB, *case) not in default]
    slow = [pytest.param(*case, marks=pytest.mark.slow) for case in rest]
    return pytest.mark.parametrize(("place", *names), [*default, *slow], indirect=["place"])


# Their sliders stay where they are in many of the moves: test_dashboard_live, test_privacy, and below.
STEPPED = ("MemorizationLab", "Dashboard", "Monitor", "PrivacyLab")
# Of a killed kernel by default in test_correlation, of TwinsLab in test_twins.
MOVED = [(PLAIN, "busy", "Playground")]
OF_STATES = [(state, lab) for state in STATES for lab in LABS if lab not in STEPPED]


@cases(("state", "lab"), MOVED, OF_STATES)
def test_every_move_is_painted(run_cells, kernel, state, lab, record_property):
    page = run_cells(SOURCES[lab])
    root = group(page, LABS[lab])
    STATES[state](kernel)
    page.evaluate(WATCH)
    before = shown(root)
    drag(page, handle(root, LABS[lab]), -220, -60, steps=MOVES)
    painted(root)
    watch = page.evaluate("() => window.__watch")
    assert shown(root) != before
    assert len(watch["latency"]) >= 0.9 * MOVES, f"{len(watch['latency'])} paints for {watch['moves']} moves"
    for name in ("latency", "cost"):
        ordered = sorted(watch[name])
        p50, p95 = ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]
        record_property(f"{name}_p95_ms", p95)
        print(f"drag in {lab}, kernel {state}: {name} median {p50:.1f} ms, p95 {p95:.1f} ms of {len(ordered)} frames")


# From ipykernel 7 on JupyterLab's widgets are answered beside a cell that runs, so there only a dead kernel is away.
@pytest.mark.slow
@cases(("state",), [(PLAIN, "busy")], [("killed",)])
def test_the_picture_of_copies_follows_without_python(run_cells, kernel, state):
    """Its cards are Python's: they stay as they are, say so, and come up to date once Python is back."""
    case = LABS["MemorizationLab"]
    page = run_cells(case.source)
    root = group(page, case)
    settle(root)
    STATES[state](kernel)
    before = shown(root)
    root.evaluate(RINGED)
    handle(root, case).evaluate("node => node.scrollIntoView({ block: 'center' })")
    painted(page)
    drag(page, handle(root, case), -60, 0, steps=40)
    root.get_by_text("Python is busy or unreachable").locator("visible=true").first.wait_for()
    frames = page.evaluate("() => window.__frames")
    assert len({percent for percent, _ in frames}) > 10
    # the recorder may come before the page's paint of a frame
    ago = [frames[0], *frames[:-1]]
    assert all(
        copies in {round(p / 100 * POINTS) for p in (f[0], b[0])} for f, b in zip(frames, ago) for copies in f[1:]
    )
    assert shown(root) == before
    if state == "busy":
        kernel.release()
        settle(root)
        assert shown(root) != before


@pytest.mark.slow
@pytest.mark.jupyterlab
def test_python_answers_a_released_drag(run_cells, record_property):
    page = run_cells(SIX)
    lab = page.get_by_role("group", name="Playground")
    handle = lab.get_by_role("slider", name="Client 3 mean", exact=True)
    handle.wait_for()
    settle(lab)
    waits = []
    for _ in range(5):
        drag(page, handle, -15, 10, steps=6, release=False)
        page.evaluate(
            """() => { window.__answer = new Promise(done => addEventListener('pointerup', () => {
              const start = performance.now(), rev = name => document.querySelector(`.nbm ${name}`).dataset.rev;
              const check = () => rev('.nbm-status') === rev('table[aria-label="Scores"]')
                ? done(performance.now() - start) : requestAnimationFrame(check);
              requestAnimationFrame(check); }, { once: true })); }"""
        )
        page.mouse.up()
        waits.append(page.evaluate("() => window.__answer"))
    waits.sort()
    print(f"Python's answer to a released drag: median {waits[2]:.0f} ms, worst {waits[-1]:.0f} ms")
    record_property("answer_ms", waits[2])
    rev = int(lab.get_by_role("table", name="Scores").get_attribute("data-rev"))
    assert run_code(page, "print(_j.dumps(lab.result['rev']))") == rev


EACH_LAB = [(lab,) for lab in LABS]


@cases(("lab",), [(LAB, "Playground")], EACH_LAB)
def test_says_that_python_is_away_and_catches_up(run_cells, kernel, lab):
    page = run_cells(SOURCES[lab])
    root = group(page, LABS[lab])
    unfold(root)  # where the weights of a Monitor are
    settle(root)
    kernel.freeze()
    handle(root, LABS[lab]).scroll_into_view_if_needed()
    drag(page, handle(root, LABS[lab]), -40, -20)
    root.get_by_text("Python is busy or unreachable").locator("visible=true").first.wait_for()
    kernel.thaw()
    rev = settle(root)
    deadline = time.monotonic() + 30
    while run_code(page, "print(_j.dumps(lab.scene['rev']))") != rev and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert run_code(page, "print(_j.dumps(lab.scene['rev']))") == rev


# What would stay for good, if it waited for a kernel that is gone.
COMING = re.compile("Python (computes|redraws|is still|looks)|as Python computes")


@cases(("lab",), [(PLAIN, "MemorizationLab"), (PLAIN, "Dashboard")], EACH_LAB)
def test_a_killed_kernel_is_told_once_and_nothing_waits_for_it_for_good(run_cells, kernel, lab):
    page = run_cells(SOURCES[lab])
    root = group(page, LABS[lab])
    settle(root)
    kernel.kill()
    drag(page, handle(root, LABS[lab]), -40, -20)
    if lab == "Playground":
        root.get_by_label("Metric", exact=True).select_option("density")
    expect(root.get_by_text("run the cell again")).to_have_count(1)
    unfold(root)
    for tab in root.get_by_role("tab").all():
        tab.click()
        painted(root)
        assert root.inner_text().count("run the cell again") == 1
        assert not COMING.search(root.inner_text())
    assert not COMING.search(root.inner_text())
