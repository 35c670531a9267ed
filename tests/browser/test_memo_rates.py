"""How soon MemorizationLab's cards follow a slider, and what a frame of its picture costs: printed, never asserted.

On a stock server, without the settings of binder/. What is asserted is that every frame shows the copies that its
slider says, that cards which pass for current are Python's of just that scene, and that the newest scene is answered.
"""

from dataclasses import replace

import numpy as np
import pytest

from nbmetrics.labs.memorization.scene import MemorizationScene
from nbmetrics.labs.memorization.study import study_of
from tests.browser.frontends import end_sessions, open_notebook
from tests.browser.labs import LABS, group, handle, settle

pytestmark = pytest.mark.slow

CASE = LABS["MemorizationLab"]
MOVES = 40
SECONDS = 4
# One move at a time, without letting go: until a frame shows current cards, and what they say there.
ANSWERED = """async (slider, moves) => {
  const lab = slider.closest('.nbm-memo'), cards = lab.querySelector('.nbm-memo-cards');
  const values = () => [...cards.querySelectorAll('[data-value]')].map(node => Number(node.dataset.value));
  const seen = [];
  for (let k = 0; k < moves; k++) {
    slider.value = String((37 * (k + 1)) % 100);
    const start = performance.now();
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    let frames = 0;
    do { await new Promise(requestAnimationFrame); frames++; } while (cards.dataset.current !== 'true');
    seen.push({ percent: slider.valueAsNumber, wait: performance.now() - start, frames, values: values() });
  }
  slider.dispatchEvent(new Event('change', { bubbles: true }));
  return seen;
}"""
# One move a frame: what the frame's callbacks and its layout cost, from the first of them on, and when it began.
DRAGGED = """async (slider, seconds) => {
  const lab = slider.closest('.nbm-memo'), [rings] = lab.getElementsByClassName('nbm-memo-marks');
  const cards = lab.querySelector('.nbm-memo-cards');
  const frames = [], end = performance.now() + 1000 * seconds;
  for (let k = 0; performance.now() < end; k++) {
    let began = 0;
    const first = new Promise(done => requestAnimationFrame(() => done(began = performance.now())));
    slider.value = String(Math.round(50 - 50 * Math.cos(k / 40)));
    const start = performance.now();
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    const handled = performance.now() - start;
    await new Promise(requestAnimationFrame);
    document.body.offsetHeight;
    const cost = handled + performance.now() - began;
    const copies = Number(rings.dataset.rings);
    frames.push({ began, cost, percent: slider.valueAsNumber, copies, rev: cards.dataset.rev });
    await first;
  }
  slider.dispatchEvent(new Event('change', { bubbles: true }));
  return frames;
}"""


@pytest.fixture
def opened(browser, stock_server):
    context = browser.new_context(viewport={"width": 1280, "height": 900})

    def open_lab(points):
        source = CASE._replace(arguments=f"points={points}").source
        page = open_notebook(context, stock_server, "memo-rates.ipynb", source, path="/lab/tree/{}?reset")
        root = group(page, CASE)
        # then nothing else is under way in Python
        root.get_by_text("A card notices differences above").wait_for(timeout=120_000, state="attached")
        settle(root)
        return root

    yield open_lab
    errors = [error for page in context.pages for error in page.nbmetrics_errors]
    context.close()
    end_sessions(stock_server)
    assert not errors, f"the page threw: {errors}"


def cards_of(points, percent):
    """Python's, computed here."""
    study = study_of("moons", points, 0)
    made = study.generated(replace(MemorizationScene(points=points), copied=percent / 100))
    return list(study.judge.cards(study.features(made)).values())


def told(values):
    return f"median {np.median(values):.0f} ms, p95 {np.quantile(values, 0.95):.0f} ms"


def test_from_the_slider_to_all_cards(opened, record_property):
    root = opened(400)
    seen = handle(root, CASE).evaluate(ANSWERED, MOVES)
    waits = [move["wait"] for move in seen]
    record_property("slider_to_cards_ms", float(np.median(waits)))
    print(f"slider to all cards at 400 points: {told(waits)} of {len(waits)} moves")
    assert len({move["percent"] for move in seen}) > MOVES / 2
    for move in seen:
        np.testing.assert_allclose(move["values"], cards_of(400, move["percent"]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("points", [400, 1000])
def test_the_picture_follows_a_drag(opened, record_property, points):
    root = opened(points)
    frames = handle(root, CASE).evaluate(DRAGGED, SECONDS)
    costs = [frame["cost"] for frame in frames]
    apart = np.diff([frame["began"] for frame in frames])
    answers = len({frame["rev"] for frame in frames})
    record_property("frame_cost_p95_ms", float(np.quantile(costs, 0.95)))
    print(
        f"a drag of {points} points: {1000 * len(apart) / apart.sum():.0f} frames a second ({told(apart)} apart), "
        f"script and layout of a frame {told(costs)} of {len(costs)}, {answers / SECONDS:.0f} answers a second"
    )
    assert len({frame["percent"] for frame in frames}) > 10
    assert all(frame["copies"] == points * frame["percent"] / 100 for frame in frames)
    settle(root)
    values = [float(node.get_attribute("data-value")) for node in root.locator(".nbm-memo-number").all()]
    np.testing.assert_allclose(values, cards_of(points, frames[-1]["percent"]), rtol=1e-9, atol=1e-9)
