"""CorrelationLab in JupyterLab: pointer, keyboard, questions, presets, undo, scale, code, two displays, no kernel."""

import math
import re

import pytest
from playwright.sync_api import expect

from tests.browser.page import (
    CONTRAST,
    OVERFLOW,
    WATCH,
    answered,
    assert_no_key_reached_the_notebook,
    centre,
    drag,
    finger,
    numbers,
    painted,
    press,
    run_code,
    settle,
    tab_to,
    unfold,
    until,
)

LAB = "import nbmetrics as nm\nlab = nm.CorrelationLab(); lab"
SCENE = "print(_j.dumps(lab.scene))"
SCORES = ("mfid", "rfid", "cfid", "squared_difference")
MOVES = 25

# The same key twice before a frame could be painted.
TWICE = """node => { for (let k = 0; k < 2; k++) node.dispatchEvent(
  new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true, cancelable: true })); }"""


def closed_forms(scene):
    rho, rho_hat, square = scene["rho"], scene["rho_hat"], scene["scale"] ** 2
    cfid = 4 * math.sin((math.acos(rho) - math.acos(rho_hat)) / 2) ** 2
    total = 1 + square
    rfid = 2 * (total - math.sqrt(total**2 - square * cfid))
    return [0, rfid, cfid, (rho - rho_hat) ** 2]


@pytest.fixture
def opened(run_cells):
    page = run_cells(LAB)
    lab = page.get_by_role("group", name="CorrelationLab")
    table(lab).wait_for()
    unfold(lab)
    return page, lab


def table(lab):
    return lab.get_by_role("table", name="Scores")


def values(lab):
    return [value for value, _ in numbers(lab)]


def point(lab):
    return lab.get_by_role("slider", name="correlations")


def pressed(lab, name):
    """The button of that name that chooses the contours."""
    unfold(lab)
    return lab.get_by_role("group", name="Contours of").get_by_role("button", name=name)


def choice(lab, name):
    return question(lab).get_by_role("button", name=name)


def question(lab):
    return lab.get_by_role("region", name="Question")


def test_opens_with_a_question_and_the_wrong_sign(opened):
    _, lab = opened
    assert values(lab) == pytest.approx([0, 1.6, 2.56, 2.56], abs=1e-12)
    rows = table(lab).get_by_role("rowheader").all_inner_texts()
    assert rows == ["MFID", "RFID", "CFID", "squared difference"]
    assert all(text.strip() for text in table(lab).locator("td:last-child").all_inner_texts())
    expect(question(lab)).to_contain_text("Which score cannot see a wrong pairing?")
    expect(point(lab)).to_have_attribute("aria-valuetext", "ρ 0.80, ρ̂ −0.80")
    choice(lab, "Just show me").click()
    expect(point(lab)).to_have_attribute("aria-valuetext", "ρ 0.80, ρ̂ −0.80, CFID 2.560")


def test_drag_moves_the_point_and_python_gets_the_same_numbers(opened):
    page, lab = opened
    drag(page, point(lab), -100, -150)
    scene, _ = settle(page, lab)
    assert scene["rho"] < 0.5 and scene["rho_hat"] > -0.3
    assert values(lab) == pytest.approx(closed_forms(scene), abs=1e-9)
    result = run_code(page, "print(_j.dumps(lab.result['scores']))")
    assert values(lab) == pytest.approx([result[name] for name in SCORES], abs=1e-9)
    unfold(lab)
    field = lab.get_by_role("spinbutton", name="ρ real")
    assert float(field.input_value()) == scene["rho"]
    assert float(lab.get_by_role("spinbutton", name="ρ̂ generated").input_value()) == scene["rho_hat"]


def test_the_point_stops_at_the_edge_and_escape_gives_a_drag_up(opened):
    page, lab = opened
    drag(page, point(lab), 300, 300, release=False)
    assert values(lab)[2] == pytest.approx(4)
    page.keyboard.press("Escape")
    page.mouse.move(5, 5)
    page.mouse.up()
    assert settle(page, lab)[0]["rho"] == 0.8
    expect(lab.get_by_role("button", name="Undo")).to_be_hidden()


def test_a_click_on_the_map_brings_the_point_there(opened):
    page, lab = opened
    chart = lab.locator(".nbm-pair-map")
    chart.scroll_into_view_if_needed()
    painted(page)
    box = chart.bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    scene, _ = settle(page, lab)
    assert scene["rho"] < 0 < scene["rho_hat"]
    assert len(run_code(page, "print(_j.dumps(lab.history['past']))")) == 1


@pytest.mark.slow
def test_a_finger_drags_the_point_and_taps_the_map(opened):
    page, lab = opened
    settle(page, lab)
    with finger(page) as touch:
        point(lab).scroll_into_view_if_needed()
        x, y = centre(point(lab))
        touch("touchStart", x, y)
        for k in range(1, 7):
            touch("touchMove", x - 10 * k, y)
        touch("touchEnd")
        moved, _ = settle(page, lab)
        assert 0.3 < moved["rho"] < 0.7 and moved["rho_hat"] == -0.8
        touch("touchStart", x - 200, y - 100)
        touch("touchEnd")
        expect(point(lab)).to_have_attribute("aria-valuenow", re.compile("^-"))


def test_everything_by_keyboard_alone(opened):
    page, lab = opened
    lab.get_by_label("Preset").focus()
    reached = tab_to(page, "scale of x")
    wanted = ["Share▾", "More▾", "MFID", "Just show me", "CFID", "squared difference"]
    wanted += ["correlations", "ρ real", "ρ̂ generated", "scale of x"]
    assert set(wanted) <= set(reached), reached
    assert reached.index("Just show me") < reached.index("correlations") < reached.index("scale of x")
    point(lab).focus()
    for key, text in [
        ("ArrowRight", "ρ 0.81, ρ̂ −0.80"),
        ("Shift+ArrowLeft", "ρ 0.71, ρ̂ −0.80"),
        ("Shift+ArrowUp", "ρ 0.71, ρ̂ −0.70"),
        ("ArrowDown", "ρ 0.71, ρ̂ −0.71"),
    ]:
        page.keyboard.press(key)
        expect(point(lab)).to_have_attribute("aria-valuetext", f"{text}, CFID {values_of(text):.3f}")
    page.keyboard.press("Control+z")
    text = "ρ 0.71, ρ̂ −0.70"
    expect(point(lab)).to_have_attribute("aria-valuetext", f"{text}, CFID {values_of(text):.3f}")
    scale = lab.get_by_role("slider", name="scale of x")
    scale.focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(scale).to_have_attribute("aria-valuetext", "α = 1.26")
    page.keyboard.press("ArrowLeft")
    expect(scale).to_have_attribute("aria-valuetext", "α = 1.23")
    scale.evaluate(TWICE)
    expect(scale).to_have_attribute("aria-valuetext", "α = 1.95")
    assert_no_key_reached_the_notebook(page)
    settle(page, lab)


def values_of(text):
    rho, rho_hat = (float(part.split()[1].replace("−", "-")) for part in text.split(", "))
    return closed_forms({"rho": rho, "rho_hat": rho_hat, "scale": 1})[2]


def test_the_map_shows_the_score_that_is_chosen(opened):
    page, lab = opened
    bands = lab.locator(".nbm-pair-band:not([d=''])")
    expect(bands).to_have_count(16)
    pressed(lab, "MFID").click()
    expect(bands).to_have_count(1)
    expect(lab.locator(".nbm-pair-map")).to_contain_text("0 everywhere")
    table(lab).get_by_role("row", name="RFID").click()
    expect(pressed(lab, "RFID")).to_have_attribute("aria-pressed", "true")
    assert settle(page, lab)[0]["metric"] == "rfid"
    lab.get_by_label("Preset").select_option("Tiny unit of x")
    expect(bands).to_have_count(1)


def test_presets_undo_redo_reset(opened):
    page, lab = opened
    lab.get_by_label("Preset").select_option("Paired against unpaired")
    assert settle(page, lab)[0]["rho_hat"] == 0
    assert values(lab) == pytest.approx(closed_forms({"rho": 0.8, "rho_hat": 0, "scale": 1}), abs=1e-12)
    drag(page, point(lab), -60, -40)
    moved, _ = settle(page, lab)
    lab.get_by_role("button", name="Undo").click()
    assert settle(page, lab)[0]["rho"] == 0.8
    lab.get_by_role("button", name="Redo").click()
    assert settle(page, lab)[0]["rho"] == moved["rho"]
    press(lab, "Reset")
    assert settle(page, lab)[0]["rho_hat"] == 0
    run_code(page, "lab.undo(); print(1)")
    expect(point(lab)).to_have_attribute("aria-valuenow", str(moved["rho"]))


def test_scale_slider_moves_rfid_alone(opened, tall):
    page, lab = opened
    settle(page, lab)
    scale = lab.get_by_role("slider", name="scale of x")
    painted(page)
    box = scale.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 2 / 3, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, y, steps=10)
    painted(page)
    small = values(lab)
    assert small[1] < 0.4 and small[0] == 0 and small[2:] == pytest.approx([2.56, 2.56])
    page.mouse.move(box["x"] + box["width"] - 1, y, steps=10)
    page.mouse.up()
    scene, _ = settle(page, lab)
    assert scene["scale"] == 10 and values(lab)[1] > 0.98 * 2.56
    assert len(run_code(page, "print(_j.dumps(lab.history['past']))")) == 1
    lab.get_by_role("button", name="Undo").click()
    assert settle(page, lab)[0]["scale"] == 1
    expect(scale).to_have_value("0")


def test_fields_take_numbers_and_say_what_is_wrong(opened):
    page, lab = opened
    unfold(lab)
    field = lab.get_by_role("spinbutton", name="ρ̂ generated")
    field.fill("0.123")
    field.press("Enter")
    assert settle(page, lab)[0]["rho_hat"] == 0.123
    for bad in ("1.5", ""):
        field.fill(bad)
        field.press("Enter")
        expect(lab.get_by_role("status")).to_contain_text("from −1 to 1")
        expect(field).to_have_value("0.123")
    assert run_code(page, SCENE)["rho_hat"] == 0.123


def test_table_view_shows_the_numbers_of_every_picture(opened):
    page, lab = opened
    captions = lab.locator("caption")
    expect(captions.first).to_be_hidden()
    press(lab, "Table view")
    expect(captions).to_have_count(4)
    expect(captions.first).to_contain_text("CFID")
    painted(page)
    row = lab.get_by_role("row", name="α = 0.1")
    assert row.get_by_role("cell").all_inner_texts() == ["?"] * 3, "what the question veils is veiled here too"
    choice(lab, "Just show me").click()
    painted(page)
    assert row.get_by_role("cell").all_inner_texts()[1:] == [
        f"{closed_forms({'rho': 0.8, 'rho_hat': -0.8, 'scale': 0.1})[1]:.4f}",
        "2.5600",
    ]
    pressed(lab, "RFID").click()
    expect(captions.first).to_contain_text("RFID")


def test_copied_code_rebuilds_the_lab(opened):
    page, lab = opened
    drag(page, point(lab), -33, -71)
    lab.get_by_role("slider", name="scale of x").press("Shift+ArrowLeft")
    scene, _ = settle(page, lab)
    press(lab, "Copy code")
    made: dict = {}
    exec(lab.locator(".nbm-code").input_value(), made)
    found = made["scores"].table.set_index("metric")["avg"]
    assert values(lab)[:3] == pytest.approx([found[name] for name in SCORES[:3]], abs=1e-12)
    assert made["lab"].result["scores"] == pytest.approx(dict(zip(SCORES, values(lab), strict=True)), abs=1e-12)
    assert {k: made["lab"].scene[k] for k in ("rho", "rho_hat", "scale", "metric")} == {
        k: scene[k] for k in ("rho", "rho_hat", "scale", "metric")
    }


@pytest.mark.slow
def test_save_picture_downloads_a_png(opened):
    page, lab = opened
    with page.expect_download() as download:
        press(lab, "Save picture")
    data = download.value.path().read_bytes()
    assert download.value.suggested_filename == "correlationlab.png"
    assert data.startswith(b"\x89PNG") and len(data) > 20_000


@pytest.mark.slow
def test_two_displays_of_one_lab_stay_equal(run_cells):
    page = run_cells(LAB, "lab")
    labs = [page.get_by_role("group", name="CorrelationLab").nth(k) for k in range(2)]
    labs[1].wait_for()
    drag(page, point(labs[0]), -50, -50, release=False)
    dragged = values(labs[0])
    assert dragged == values(labs[1]) != pytest.approx([0, 1.6, 2.56, 2.56])
    page.mouse.up()
    point(labs[1]).press("Shift+ArrowUp")
    assert dragged != values(labs[0]) == values(labs[1])
    assert table(labs[0]).get_attribute("data-rev") == table(labs[1]).get_attribute("data-rev")


def test_the_page_goes_on_without_a_kernel(opened, kernel):
    page, lab = opened
    settle(page, lab)
    kernel.kill()
    page.evaluate(WATCH)
    drag(page, point(lab), -120, -160, steps=MOVES)
    watch = page.evaluate("() => window.__watch")
    assert len(watch["latency"]) >= 0.8 * MOVES, f"{len(watch['latency'])} paints for {watch['moves']} moves"
    cost = sorted(watch["cost"])
    print(
        f"script and layout of a frame: median {cost[len(cost) // 2]:.1f} ms, p95 {cost[int(0.95 * len(cost))]:.1f} ms"
    )
    text = point(lab).get_attribute("aria-valuetext")
    assert values(lab)[2] == pytest.approx(values_of(text.rsplit(",", 1)[0]), abs=1e-9)
    lab.get_by_role("button", name="Undo").click()
    expect(point(lab)).to_have_attribute("aria-valuenow", "0.8")


@pytest.mark.slow
def test_wide(run_cells, tall, theme, shot):
    page = run_cells(LAB)
    lab = page.get_by_role("group", name="CorrelationLab")
    for colours in ("light", "dark"):
        theme(f"JupyterLab {colours.title()}")
        answered(page, lab)
        if colours == "light":
            shot("correlation-asked", lab)
            choice(lab, "RFID").click()
        page.mouse.move(5, 5)
        shot(f"correlation-{colours}-before", lab)
        # the check takes the white words on the dark diagonal to be on the page
        assert [line for line in page.evaluate(CONTRAST) if not line.startswith("right pairing")] == []
        drag(page, point(lab), -90, -160, release=False)
        shot(f"correlation-{colours}-during", lab)
        page.mouse.up()
        pressed(lab, "RFID").click()
        lab.get_by_role("slider", name="scale of x").press("Shift+ArrowLeft")
        press(lab, "Table view")
        page.mouse.move(5, 5)
        answered(page, lab)
        shot(f"correlation-{colours}-after", lab)
        assert page.evaluate(OVERFLOW) == []
        lab.get_by_label("Preset").select_option("Right pairing")
        pressed(lab, "MFID").click()
        page.mouse.move(5, 5)
        answered(page, lab)
        shot(f"correlation-{colours}-right", lab)
        press(lab, "Table view")
        lab.get_by_label("Preset").select_option("Wrong sign")
        pressed(lab, "CFID").click()


@pytest.mark.slow
def test_narrow(run_cells, narrow, theme, shot):
    page = run_cells(LAB)
    lab = page.get_by_role("group", name="CorrelationLab")
    choice(lab, "Just show me").click()
    for width in (400, 320):
        narrow(width, 2500)
        theme("JupyterLab Dark" if width == 320 else "JupyterLab Light")
        answered(page, lab)
        # JupyterLab may go on laying out after a change of theme
        until(page, lambda: page.evaluate(OVERFLOW), lambda found: all("nbm-scroll" in line for line in found))
        shot(f"correlation-{width}", lab)
        before = settle(page, lab)[0]["rho"]
        drag(page, point(lab), -30, -30)
        assert settle(page, lab)[0]["rho"] < before - 0.1
