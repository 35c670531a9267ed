"""The Monitor in a page while Python logs: scrubbing, following, alarms, weights, two displays, any names."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PLAIN
from tests.browser.counts import first_screen_counts
from tests.browser.labs import LABS
from tests.browser.page import painted, until
from tests.labs.toolkit.common import EVIL

in_page = pytest.mark.parametrize("place", [PLAIN], indirect=True)
# Means that come near the clients and go away again, while the losses fall; NaN at one step of one loss.
SOURCE = f"""
import math
import numpy as np
import nbmetrics as nm
rng = np.random.default_rng(0)
clients = {{name: rng.normal(mean, 1, (60, 2)) for name, mean in [("north", -1), ("south", 1), ({EVIL!r}, 2)]}}
lab = nm.Monitor(clients, keep_all=True, samples=50)
def log(first, last, alike=False):
    for step in range(first, last):
        middle = 4 - step / 5
        lab.log(100 * step, lambda n, rng: rng.normal(middle, 0.01 if alike else 1, (n, 2)), critic=1 / (1 + step),
                **{{"odd <b>": math.nan if step == 3 else step}})
    lab.wait()
log(0, 30)
lab"""


def lab_of(page):
    return page.python.names["lab"]


def now_python(page, code):
    """Run code in Python, whether or not it listens to the page."""
    exec(code, page.python.names)


@pytest.fixture
def shown(run_cells):
    page = run_cells(SOURCE)
    yield page, page.get_by_role("group", name="Monitor", exact=True).first
    lab_of(page).close()


def step(root):
    return root.get_by_role("slider", name="Step", exact=True)


def open_details(root):
    root.locator(".nbm-step-details").evaluate("details => (details.open = true)")


def open_earlier_alarms(root):
    root.get_by_role("region", name="Alarms").locator("details").evaluate("details => (details.open = true)")


def at(root):
    painted(root)
    return int(step(root).input_value())


def rows(root):
    """Scores at the step on show, those that are known: a row a metric, avg, all and gap."""
    painted(root)
    return root.locator("table[aria-label=Scores] tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('[data-value]')].map(cell => Number(cell.dataset.value)))"
    )


def cells(root):
    return np.array(rows(root))


def table_at(run, wanted):
    """The same, of Python's table."""
    return np.array(run.table.query(f"step == {wanted}")[["avg", "all", "gap"]])


@in_page
def test_one_scrubber_by_keys_by_mouse_and_by_python(shown):
    page, root = shown
    slider = step(root)
    assert at(root) == 2900
    np.testing.assert_allclose(cells(root), table_at(lab_of(page), 2900), rtol=1e-6)
    moves = {"ArrowLeft": 2800, "PageDown": 2500, "Home": 0, "ArrowRight": 100, "Shift+ArrowRight": 1100, "End": 2900}
    for key, wanted in moves.items():
        slider.press(key)
        assert at(root) == wanted, key
    expect(root.get_by_role("button", name="Follow")).to_be_hidden()
    figure = root.get_by_role("img", name=re.compile("^FID over 30 steps, at the last, 2,900: avg "))
    box = figure.locator("svg").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 20, box["y"] + 70)
    page.mouse.up()
    seen = at(root)
    assert 800 < seen < 1600
    np.testing.assert_allclose(cells(root), table_at(lab_of(page), seen), rtol=1e-6)
    until(page, lambda: lab_of(page).scene["shown"], lambda found: found == seen)
    page.keyboard.press("Control+z")
    assert at(root) == 2900, "the drag was one step of history"
    now_python(page, "lab.scene = {**lab.scene, 'shown': 700}")
    until(page, lambda: at(root), lambda found: found == 700)
    root.get_by_role("button", name="Play").click()
    until(page, lambda: at(root), lambda found: found > 900)
    root.get_by_role("button", name="Pause").click()
    paused = at(root)
    painted(root)
    assert at(root) == paused < 2900
    expect(root.get_by_role("button", name="Play")).to_be_focused()


@in_page
def test_new_steps_are_followed_and_move_no_view_that_was_scrubbed(shown):
    page, root = shown
    now_python(page, "log(30, 33)")
    until(page, lambda: at(root), lambda found: found == 3200)
    np.testing.assert_allclose(cells(root), table_at(lab_of(page), 3200), rtol=1e-6)
    step(root).press("PageDown")
    stayed = at(root)
    before = cells(root)
    now_python(page, "log(33, 45, alike=True)")
    open_earlier_alarms(root)
    alarm = root.get_by_role("region", name="Alarms").get_by_role("button").filter(has_text="collapse:")
    expect(alarm).to_have_count(1)
    expect(step(root)).to_have_attribute("max", "4400")
    assert at(root) == stayed
    np.testing.assert_array_equal(cells(root), before)
    alarm.click()
    assert at(root) == lab_of(page).alarms.query("alarm == 'collapse'").step.item()
    expect(alarm).to_have_attribute("aria-pressed", "true")
    step(root).press("End")
    assert at(root) == 4400
    assert root.locator(".nbm-step-figure:has-text('Losses') .nbm-step-nan").count() == 1, "the NaN of the odd loss"
    expect(
        root.get_by_role("img", name=re.compile("^Losses at this step: critic 0.022, odd <b> 44.00"))
    ).to_be_visible()


@in_page
def test_the_past_under_other_weights(shown):
    page, root = shown
    open_details(root)
    slider = root.get_by_role("slider", name="south weight", exact=True)
    now_python(page, "lab.scene = {**lab.scene, 'shown': 1200}")
    until(page, lambda: at(root), lambda found: found == 1200)
    page.python.hold()
    slider.fill("0.8")
    fid, kid = rows(root)
    other = lab_of(page).with_weights([0.1, 0.8, 0.1])
    wanted = table_at(other, 1200)
    np.testing.assert_allclose(fid, wanted[0, :1], rtol=1e-6, err_msg="avg at once, all when Python has answered")
    np.testing.assert_allclose(kid, wanted[1], rtol=1e-6)
    page.python.go_on()
    until(page, lambda: len(rows(root)[0]), lambda found: found == 3)
    np.testing.assert_allclose(cells(root), wanted, rtol=1e-6)
    best = other.history.lines["fid"]
    kept = f"{int(best.steps[best.avg.argmin()]):,}"
    expect(root.get_by_role("heading").first).to_contain_text(f"step {kept}")
    root.get_by_role("combobox", name="Preset").select_option("As given")
    np.testing.assert_allclose(cells(root), table_at(lab_of(page), 1200), rtol=1e-6)


@pytest.mark.slow
@in_page
def test_two_displays_and_a_saved_page_say_the_same(shown, tmp_path, browser):
    page, root = shown
    page.python.run_cell("lab")
    second = page.get_by_role("group", name="Monitor", exact=True).nth(1)
    step(root).press("PageDown")
    assert at(second) == at(root) == 2600
    np.testing.assert_array_equal(cells(second), cells(root))
    now_python(
        page,
        f"""other = nm.Monitor(clients, keep_all=True, samples=50)
for step in range(40):
    other.log(100 * step, lambda n, rng: rng.normal(step / 20, 1, (n, 2)))
other.wait()
lab.compare(other, {EVIL!r})
lab.wait()""",
    )
    until(page, lambda: len(rows(root)), lambda found: found == 4)
    other = page.python.names["other"]
    np.testing.assert_allclose(cells(root)[2:], table_at(other, 2600), rtol=1e-6)
    expect(root.get_by_text(lab_of(page).compared[0])).to_be_visible()
    expect(step(root)).to_have_attribute("max", "3900")
    expect(root.get_by_role("img", name=re.compile("; Other run: avg ")).first).to_be_visible()
    other.close()
    lab_of(page).export_html(tmp_path / "run.html")
    saved = browser.new_page()
    saved.goto((tmp_path / "run.html").as_uri())
    alone = saved.get_by_role("group", name="Monitor", exact=True)
    np.testing.assert_array_equal(cells(alone), cells(root))
    open_details(alone)
    alone.get_by_role("slider", name="north weight", exact=True).fill("0.5")
    for place, run in ((1, lab_of(page)), (3, other)):
        moved = run.with_weights([0.5, 0.25, 0.25])
        np.testing.assert_allclose(rows(alone)[place], table_at(moved, 2600)[1], rtol=1e-6)
    assert page.locator("img").count() == saved.locator("img").count() == 0, "names are text"
    saved.close()


@in_page
def test_the_first_screen_is_one_screen_and_says_little(shown):
    page, root = shown
    page.set_viewport_size({"width": 919, "height": 640})
    painted(root)
    counts = first_screen_counts(page, root)
    name = "</script><img src=x onerror=alert(1)>"  # a client's name counts as one word
    more = root.inner_text().count(name) * (len(name.split()) - 1)
    assert counts.words - more <= 110 and counts.controls <= 9
    top = root.bounding_box()["y"]
    for part in (
        step(root),
        root.get_by_role("heading").first,
        root.get_by_role("img", name=re.compile("^FID over")),
        root.get_by_role("img", name=re.compile("^KID over")),
        root.get_by_role("table", name="Scores"),
        root.get_by_text(re.compile("^Details")),
    ):
        box = part.bounding_box()
        assert box["y"] + box["height"] - top <= 640, part
    open_details(root)
    expect(root.get_by_role("button", name=re.compile("^KID: "))).to_be_visible()
    root.get_by_role("button", name=re.compile("^KID: ")).click()
    expect(root.get_by_role("combobox", name="Metric")).to_have_value("kid")


@in_page
def test_the_last_tick_is_not_cut(shown):
    page, root = shown
    now_python(page, "log(40, 61)")
    until(page, lambda: at(root), lambda found: found == 6000)
    cut = root.locator(".nbm-step-plot").evaluate_all(
        """plots => plots.flatMap(plot => {
          const { left, right } = plot.getBoundingClientRect();
          return [...plot.querySelectorAll('text')].filter(text => {
            const box = text.getBoundingClientRect();
            return box.width && (box.right > right || box.left < left);
          }).map(text => text.textContent);
        })"""
    )
    assert cut == []


INK = """root => { const own = root.querySelector('[aria-label=Samples] canvas');
  const { data } = own.getContext('2d').getImageData(0, 0, own.width, own.height);
  const lit = []; for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) lit.push(data[i]);
  return lit.reduce((sum, value) => sum + value, 0) / lit.length; }"""


def test_samples_are_seen_in_the_dark_too(saved):
    """A page that goes dark while it is open: the picture is painted anew."""
    page, root = saved.open(LABS["Monitor"].new())
    painted(root)
    assert root.evaluate(INK) < 80
    page.emulate_media(color_scheme="dark")
    painted(root)
    assert root.evaluate(INK) > 180
