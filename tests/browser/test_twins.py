"""TwinsLab in JupyterLab: the twin follows every frame of a drag, and Python finds what has no formula."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from nbmetrics.labs.twins.scene import PRESETS, TwinsScene
from tests.browser.page import (
    CONTRAST,
    OVERFLOW,
    answered,
    assert_no_key_reached_the_notebook,
    drag,
    handle,
    numbers,
    painted,
    press,
    tab_to,
    unfold,
)

LAB = "import nbmetrics as nm\nlab = nm.TwinsLab({}); lab"
UNEQUAL = "Unequal shapes (numerical)"
# In every frame: the scores of both generators, client by client, then avg and all, and where the twin is drawn.
RECORD = """() => {
  const table = document.querySelector('.nbm table[aria-label="Scores"]');
  const frames = window.__frames = [];
  const frame = () => {
    if (!table.isConnected) return;
    const rows = [...table.tBodies[0].rows].map(r => [1, 2].map(k => Number(r.cells[k].dataset.value)));
    const twin = document.querySelector('.nbm-twin-pair .nbm-twin-second .nbm-body').getAttribute('transform');
    if (frames.at(-1)?.rev !== table.dataset.rev) frames.push({ rev: table.dataset.rev, rows, twin });
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


@pytest.fixture
def opened(run_cells):
    def open_lab(arguments=""):
        page = run_cells(LAB.format(arguments))
        lab = page.get_by_role("group", name="TwinsLab")
        lab.get_by_role("table", name="Scores").locator("tbody tr").first.wait_for()
        unfold(lab)
        return page, lab

    return open_lab


def pairs(lab):
    """First and Twin of every row; None where the page has no number."""
    return [row[:2] for row in numbers(lab)]


def headline(lab):
    return lab.locator(".nbm-twin-headline")


def settle(page, lab):
    """The scene and the result, once Python has answered what the page shows, searches included."""
    scene, result = answered(page, lab)
    assert "error" not in result, result
    return TwinsScene.parse(scene), result


def assert_python_agrees(page, lab):
    _, result = settle(page, lab)
    scores = np.column_stack([result["scores"]["first"], result["scores"]["second"]])
    np.testing.assert_allclose(pairs(lab), scores, rtol=1e-8, atol=1e-8 * scores.max())
    expect(lab.get_by_role("status")).to_contain_text("Python agrees")


def test_opens_on_twins_and_says_so(opened):
    page, lab = opened()
    expect(headline(lab)).to_have_text("Every client scores both alike. Pooled, the twin is 3.056 worse.")
    rows = [row.inner_text().split("\t") for row in lab.get_by_role("table", name="Scores").locator("tr").all()]
    assert rows[0] == ["FID with", "First", "Twin", "Difference"]
    assert rows[1] == ["Client 1", "5.528", "5.528", "= 0"] and rows[-1] == ["all", "0.000", "3.056", "≠ +3.056"]
    assert_python_agrees(page, lab)


def test_the_twin_follows_in_every_frame_and_clients_score_alike_all_the_way(opened, shot):
    page, lab = opened()
    page.evaluate(RECORD)
    shot("twins-light-before", lab)
    drag(page, handle(lab, "Client 2 mean"), 60, -80, steps=25, release=False)
    shot("twins-light-during", lab)
    page.mouse.up()
    painted(page)
    frames = page.evaluate("() => window.__frames")
    scores = np.array([frame["rows"] for frame in frames])
    assert len(frames) > 12 and len({frame["twin"] for frame in frames}) > 0.9 * len(frames)
    np.testing.assert_allclose(scores[:, :-1, 0], scores[:, :-1, 1], atol=1e-9 * scores.max())
    assert np.ptp(scores[:, 0, 0]) > 0.1 and np.all(scores[:, -1, 1] > 0.5)
    assert_python_agrees(page, lab)


@pytest.mark.slow
def test_escape_gives_a_drag_up_and_undo_redo_reset_travel(opened):
    page, lab = opened()
    start = pairs(lab)
    drag(page, handle(lab, "Client 1 mean"), -40, 30, release=False)
    assert pairs(lab) != start
    page.keyboard.press("Escape")
    page.mouse.up()
    assert pairs(lab) == start
    expect(lab.get_by_role("button", name="Undo")).to_be_hidden()
    drag(page, handle(lab, "Client 1 mean"), -40, 30)
    settle(page, lab)
    moved = pairs(lab)
    for button, wanted in [("Undo", start), ("Redo", moved), ("Reset", start)]:
        press(lab, button)
        settle(page, lab)
        assert pairs(lab) == wanted


def test_the_switch_ties_the_shapes_together(opened):
    page, lab = opened()
    switch = lab.get_by_role("switch", name="One shape for all clients")
    handle(lab, "Client 1 mean").focus()
    handle(lab, "Client 1 width").press("Shift+ArrowRight")
    scene, _ = settle(page, lab)
    assert [c.width for c in scene.clients] == [2, 2] and switch.is_checked()
    press(lab, "Add client")
    scene, _ = settle(page, lab)
    assert [c.width for c in scene.clients] == [2, 2, 2]
    switch.click()
    handle(lab, "Client 2 mean").focus()
    handle(lab, "Client 2 width").press("ArrowLeft")
    scene, _ = settle(page, lab)
    assert [c.width for c in scene.clients] == [2, 1.9, 2] and not scene.shared
    switch.click()
    scene, _ = settle(page, lab)
    assert [c.width for c in scene.clients] == [1.9] * 3 and scene.shared


def test_presets_show_what_they_are_named_for(opened, shot):
    page, lab = opened(repr("Three on a line"))
    for k, name in enumerate(PRESETS):
        lab.get_by_label("Preset").select_option(name)
        scene, result = settle(page, lab)
        assert scene.preset == name
        if "no twin" in name:
            assert result["second"] is None
            expect(headline(lab)).to_contain_text("No twin here: ")
            expect(lab.get_by_role("status")).to_have_text("No twin here; Python agrees.")
        else:
            expect(headline(lab)).to_contain_text("Every client scores both alike. Pooled, the twin is")
            assert_python_agrees(page, lab)
        shot(f"twins-preset-{k}", lab)


def test_unequal_shapes_are_answered_after_release_and_fade_till_then(opened, shot):
    page, lab = opened(repr(UNEQUAL))
    settle(page, lab)
    twin = lab.locator(".nbm-twin-pair > .nbm-twin-second").first
    expect(twin).not_to_have_class("nbm-twin-second nbm-twin-behind")
    drag(page, handle(lab, "Client 3 mean"), -60, 20, release=False)
    expect(headline(lab)).to_have_text("Let go, and Python searches for the twin.")
    expect(twin).to_have_class("nbm-twin-second nbm-twin-behind")
    assert [row[1] for row in pairs(lab)] == [None] * 5
    shot("twins-light-searching", lab)
    page.mouse.up()
    expect(headline(lab)).to_contain_text("Every client scores both alike", timeout=30_000)
    expect(twin).to_have_class("nbm-twin-second")
    assert_python_agrees(page, lab)
    first, second = np.array(pairs(lab)).T
    np.testing.assert_allclose(first[:-1], second[:-1], atol=1e-8 * first.max())
    assert second[-1] > 0.1


@pytest.mark.slow
def test_renaming_or_weighing_needs_no_other_search_where_nothing_moved(opened):
    page, lab = opened(repr(UNEQUAL))
    settle(page, lab)
    before = pairs(lab)
    name = lab.get_by_label("Client 1 name")
    name.fill("Hospital")
    name.press("Enter")
    assert pairs(lab) == before
    weight = lab.get_by_label("Hospital weight")
    weight.fill("3")
    weight.press("Enter")
    assert_python_agrees(page, lab)
    assert pairs(lab) != before


def test_as_printed_the_clients_scores_differ(opened, shot):
    page, lab = opened()
    press(lab, "The papers’ formula")
    expect(headline(lab)).to_have_text("Not twins: the clients’ scores differ by 2.472.")
    assert all(second - first > 2 for first, second in pairs(lab)[:2])
    expect(lab.get_by_role("table", name="Scores").locator("td.nbm-differs")).to_have_count(4)
    assert_python_agrees(page, lab)
    shot("twins-light-printed", lab)
    handle(lab, "Client 2 mean").press("ArrowUp")
    expect(headline(lab)).to_contain_text("No twin here: the printed construction needs a direction orthogonal")
    settle(page, lab)
    expect(lab.get_by_role("status")).to_have_text("No twin here; Python agrees.")


def test_as_printed_identical_clients_have_no_twin_and_no_arrow(opened, shot):
    page, lab = opened(repr("Identical clients (no twin)"))
    press(lab, "The papers’ formula")
    assert_has_no_twin(page, lab)
    shot("twins-light-printed-identical", lab)
    lab.get_by_label("Preset").select_option("Two clients")
    press(lab, "The papers’ formula")
    expect(headline(lab)).to_have_text("Not twins: the clients’ scores differ by 2.472.")
    for _ in range(4):
        handle(lab, "Client 2 mean").press("Shift+ArrowLeft")
    assert_has_no_twin(page, lab)


def assert_has_no_twin(page, lab):
    """As printed, of clients that are all alike: said truly, with nothing drawn that is not there."""
    expect(headline(lab)).to_have_text("No twin here: the second generator is the first.")
    expect(lab.locator(".nbm-twin-why")).to_contain_text("Corrected, there is none either: all clients with weight are")
    expect(lab.locator(".nbm-twin-why")).not_to_contain_text("outline")
    for part in ("arrow", "other"):
        expect(lab.locator(f".nbm-stage .nbm-twin-{part}")).to_be_hidden()
    assert "NaN" not in lab.inner_html()
    assert lab.locator(".nbm-twin-axis text").all_text_contents()[-1] == "1"
    settle(page, lab)
    expect(lab.get_by_role("status")).to_contain_text("Python agrees")


def test_the_published_table_is_the_papers(opened, shot):
    _, lab = opened()
    press(lab, "The papers’ table")
    table = nm.experiments.published("twin_generators_ffhq")
    np.testing.assert_array_equal(np.array(pairs(lab)).T, table.iloc[:, 1:].to_numpy(dtype=float))
    expect(headline(lab)).to_have_text("Each client’s two scores are within 1.00. Pooled, Generator 2 is 90.44 worse.")
    marks = [text[0] for text in lab.get_by_role("table", name="Scores").locator("td:last-child").all_inner_texts()]
    assert marks == ["≈"] * 7 + ["≠"]
    expect(handle(lab, "Client 1 mean")).to_be_hidden()
    shot("twins-light-published", lab)
    lab.get_by_role("button", name="Twins").click()
    expect(handle(lab, "Client 1 mean")).to_be_visible()


def test_everything_by_keyboard_alone(opened):
    page, lab = opened()
    lab.get_by_role("button", name="Add client").focus()
    reached = tab_to(page, "Client 2 weight")
    wanted = ["Preset", "Share▾", "More▾", "The papers’ formula", "The papers’ table", "One shape for all clients"]
    wanted += ["Client 1 mean", "Client 1 width", "Client 2 mean", "Client 1 name", "Client 1 weight"]
    assert set(wanted) <= set(reached), reached
    mean = handle(lab, "Client 2 mean")
    mean.focus()
    for key, value in [("ArrowRight", "x 2.10, y 0.00"), ("Shift+ArrowUp", "x 2.10, y 1.00")]:
        page.keyboard.press(key)
        expect(mean).to_have_attribute("aria-valuetext", value)
    expect(headline(lab)).to_contain_text("Every client scores both alike")
    press(lab, "Remove")
    expect(headline(lab)).to_contain_text("No twin here")
    handle(lab, "Client 1 mean").press("Control+z")
    expect(handle(lab, "Client 2 mean")).to_have_count(1)
    unfold(lab)
    lab.get_by_role("button", name="The papers’ formula").press("Enter")
    lab.get_by_role("switch", name="One shape for all clients").press("Space")
    scene, _ = settle(page, lab)
    assert scene.construction == "printed" and not scene.shared
    assert_no_key_reached_the_notebook(page)


def test_table_view_shows_the_generators_and_takes_numbers(opened):
    page, lab = opened()
    generators = lab.get_by_role("table", name="Generators")
    expect(generators).to_be_hidden()
    press(lab, "Table view")
    painted(page)
    rows = [row.inner_text().split("\t") for row in generators.locator("tbody tr").all()]
    assert rows[0] == ["First", "0.000", "0.000", "2.236", "1.000", "0.0°"]
    assert rows[1][:3] == ["Twin", "0.000", "1.236"]
    x = lab.get_by_role("spinbutton", name="Client 2 x")
    x.fill("1")
    x.press("Enter")
    assert_python_agrees(page, lab)
    expect(generators.locator("tbody tr").first).to_contain_text("−0.500")


def test_copied_code_makes_the_same_pair(opened):
    _, lab = opened()
    lab.get_by_label("Preset").select_option("Three on a line")
    handle(lab, "Client 1 mean").press("ArrowUp")
    press(lab, "Copy code")
    made: dict = {}
    exec(lab.locator(".nbm-code").input_value(), made)
    gaps = np.subtract(*np.array(pairs(lab)).T[::-1])
    assert made["pair"].all_gap == pytest.approx(gaps[-1], rel=1e-12)
    np.testing.assert_allclose(made["differences"], gaps[:-2], atol=1e-12)
    np.testing.assert_allclose(made["lab"].result["scores"]["second"], np.array(pairs(lab))[:, 1], rtol=1e-12)
    made["lab"].close()


@pytest.mark.slow
def test_save_picture_downloads_a_png(opened):
    page, lab = opened()
    with page.expect_download() as download:
        press(lab, "Save picture")
    data = download.value.path().read_bytes()
    assert download.value.suggested_filename == "twinslab.png"
    assert data.startswith(b"\x89PNG") and len(data) > 20_000


def test_with_the_kernel_gone_shared_shapes_go_on_and_unequal_ones_say_what_they_need(opened, kernel):
    page, lab = opened()
    settle(page, lab)
    kernel.kill()
    page.evaluate(RECORD)
    drag(page, handle(lab, "Client 2 mean"), 40, -60, steps=16)
    frames = page.evaluate("() => window.__frames")
    scores = np.array([frame["rows"] for frame in frames])
    assert len(frames) > 8
    np.testing.assert_allclose(scores[:, :-1, 0], scores[:, :-1, 1], atol=1e-9 * scores.max())
    expect(lab.get_by_role("status")).to_contain_text("run the cell again")
    lab.get_by_role("switch", name="One shape for all clients").click()
    drag(page, handle(lab, "Client 2 width"), 20, 0)
    expect(headline(lab)).to_have_text("This twin needs Python, but Python is busy or unreachable.")


def test_names_are_text(run_cells):
    evil = "<img src=x onerror=alert(1)>"
    page = run_cells(
        "import nbmetrics as nm\n"
        f"clients = [nm.Client(nm.Gaussian([x, 0]), name=n) for x, n in ((-1, {evil!r}), (1, 'b'))]\n"
        "lab = nm.TwinsLab(clients); lab"
    )
    lab = page.get_by_role("group", name="TwinsLab")
    expect(lab.get_by_role("rowheader").first).to_have_text(evil)
    press(lab, "Copy code")
    assert json.dumps(evil) in lab.locator(".nbm-code").input_value()
    assert page.locator("img[src='x']").count() == 0
    settle(page, lab)


@pytest.mark.slow
@pytest.mark.parametrize("construction", ["corrected", "printed", "published"])
def test_wide(opened, theme, shot, construction):
    page, lab = opened(f"'Three on a line', construction={construction!r}")
    for colours in ("light", "dark"):
        theme(f"JupyterLab {colours.title()}")
        settle(page, lab)
        shot(f"twins-{construction}-{colours}", lab)
        press(lab, "Table view")
        page.mouse.move(5, 5)
        painted(page)
        shot(f"twins-{construction}-{colours}-table", lab)
        assert page.evaluate(OVERFLOW) == []
        assert page.evaluate(CONTRAST) == []
        press(lab, "Table view")


@pytest.mark.slow
def test_narrow(opened, narrow, theme, shot):
    page, lab = opened("'Three on a line'")
    theme("JupyterLab Dark")
    mean = handle(lab, "Client 1 mean")
    for width in (400, 320):
        narrow(width)
        settle(page, lab)
        shot(f"twins-dark-{width}", lab)
        overflowing = [line for line in page.evaluate(OVERFLOW) if "nbm-scroll" not in line]
        assert overflowing == []
        before = mean.get_attribute("aria-valuetext")
        drag(page, mean, -10, 10)
        settle(page, lab)
        assert mean.get_attribute("aria-valuetext") != before
