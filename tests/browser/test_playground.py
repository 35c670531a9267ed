"""The Playground in JupyterLab: pointer, keyboard, presets, undo, names as text, two displays, code."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests import EVIL
from tests.browser.page import (
    assert_no_key_reached_the_notebook,
    cells,
    centre,
    drag,
    finger,
    handle,
    menu_item,
    numbers,
    painted,
    press,
    run_code,
    settle,
    tab_to,
    until,
)

LAB = "import nbmetrics as nm\nlab = nm.Playground('Two clients'); lab"
SCENE = "print(_j.dumps(lab.scene))"


def python_numbers(page):
    scene = nm.Scene.parse(run_code(page, SCENE))
    table = nm.evaluate(scene.federation, scene.sources).table
    parts = [table[table["metric"] == m][a].to_numpy() for m in ("fid", "kid") for a in ("avg", "all")]
    return np.column_stack(parts)


def test_opens_on_the_papers_toy_and_says_where_avg_and_all_disagree(playground):
    _, lab = playground
    shown = [[cell[0] for cell in row] for row in cells(lab)]
    assert shown == [["1.000", "0.172", "4.625", "0.750"], ["1.172", "0.000", "3.875", "0.000"]]
    assert [cell[1] for cell in cells(lab)[0]] == ["1st, all 2nd", "2nd, avg 1st", "2nd", "2nd"]
    words = lab.get_by_role("listitem").all_inner_texts()
    assert "avg ranks Generator 1 above Generator 2, all ranks Generator 2 above Generator 1" in words[0]
    assert "avg − all is 3.875 for every generator" in words[1]
    assert "no Inception network" in lab.inner_text()


def test_drag_moves_the_client_and_python_gets_the_same_numbers(playground):
    page, lab = playground
    before = numbers(lab)
    drag(page, handle(lab, "Client 2 mean"), 80, -40)
    assert numbers(lab) != before
    _, result = settle(page, lab)
    scene = run_code(page, SCENE)
    assert scene["clients"][1]["x"] > 2 and scene["clients"][1]["y"] > 0.5
    assert handle(lab, "Client 2 mean").get_attribute("aria-valuetext").startswith(f"x {scene['clients'][1]['x']:.2f}")
    np.testing.assert_allclose(numbers(lab), python_numbers(page), rtol=1e-9)
    assert result["scores"]["fid"]["avg"] == pytest.approx([row[0] for row in numbers(lab)], rel=1e-9)


def test_width_height_angle_and_body_can_be_dragged(playground):
    page, lab = playground
    painted(page)
    box = lab.locator(".nbm-clients .nbm-body").first.bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 32, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    settle(page, lab)
    assert run_code(page, SCENE)["clients"][0]["x"] < -1.5
    drag(page, handle(lab, "Generator 1 width"), 40, 0)
    drag(page, handle(lab, "Generator 1 height"), 0, -40)
    drag(page, handle(lab, "Generator 1 angle"), 0, -90)
    settle(page, lab)
    item = run_code(page, SCENE)["generators"][0]
    assert item["width"] > 1.5 and item["height"] > 1.5 and 10 < item["angle"] < 90


def test_escape_gives_a_drag_up(playground):
    page, lab = playground
    before = numbers(lab)
    drag(page, handle(lab, "Client 1 mean"), -60, 30, release=False)
    assert numbers(lab) != before
    page.keyboard.press("Escape")
    page.mouse.move(10, 10)
    page.mouse.up()
    settle(page, lab)
    assert numbers(lab) == before
    expect(lab.get_by_role("button", name="Undo")).to_be_hidden()


def test_undo_redo_reset_in_the_page_and_in_python(playground):
    page, lab = playground
    start = numbers(lab)
    drag(page, handle(lab, "Client 1 mean"), -60, 0)
    moved = numbers(lab)
    lab.get_by_role("button", name="Undo").click()
    settle(page, lab)
    assert numbers(lab) == start
    lab.get_by_role("button", name="Redo").click()
    settle(page, lab)
    assert numbers(lab) == moved
    run_code(page, "lab.undo(); print(1)")
    until(page, lambda: numbers(lab), lambda shown: shown == start)
    lab.get_by_label("Preset").select_option("Heterogeneous six")
    expect(lab.locator(".nbm-clients .nbm-body")).to_have_count(6)
    handle(lab, "Client 1 mean").press("ArrowRight")
    press(lab, "Reset")
    settle(page, lab)
    assert run_code(page, SCENE)["clients"][0]["x"] == -2.6


@pytest.mark.jupyterlab
def test_everything_by_keyboard_alone(playground):
    page, lab = playground
    lab.get_by_label("Preset").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(lab.locator(".nbm-clients .nbm-body")).to_have_count(6)
    reached = tab_to(page, "Client 6 weight")
    wanted = [
        "Share▾",
        "More▾",
        "Client 1 mean",
        "Client 1 width",
        "Client 1 height",
        "Client 1 angle",
        "Generator 3 mean",
        "Client 1 name",
    ]
    assert set(wanted) <= set(reached), reached
    mean = handle(lab, "Client 1 mean")
    mean.focus()
    for key, value in [
        ("ArrowRight", "x -2.50, y 1.40"),
        ("Shift+ArrowUp", "x -2.50, y 2.40"),
        ("ArrowDown", "x -2.50, y 2.30"),
    ]:
        page.keyboard.press(key)
        expect(mean).to_have_attribute("aria-valuetext", value)
    for name, key, value in [
        ("width", "Shift+ArrowRight", "1.70"),
        ("height", "ArrowUp", "0.50"),
        ("angle", "ArrowRight", "31°"),
    ]:
        handle(lab, f"Client 1 {name}").focus()
        page.keyboard.press(key)
        expect(handle(lab, f"Client 1 {name}")).to_have_attribute("aria-valuetext", value)
    page.keyboard.press("Control+z")
    expect(handle(lab, "Client 1 angle")).to_have_attribute("aria-valuetext", "30°")
    press(lab, "Reset")
    expect(lab.get_by_role("button", name="More", exact=True)).to_be_focused()  # the menu has closed under the focus
    lab.get_by_label("Client 1 weight").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    press(lab, "Remove")
    expect(lab.locator(".nbm-clients .nbm-body")).to_have_count(5)
    assert_no_key_reached_the_notebook(page)


def test_rename_weights_and_bad_entries(playground):
    page, lab = playground
    name = lab.get_by_label("Client 1 name")
    name.fill("Client 2")
    name.press("Enter")
    expect(lab.get_by_role("status")).to_contain_text("taken")
    expect(name).to_have_value("Client 1")
    name.fill("Client 2 ")
    name.press("Enter")
    expect(lab.get_by_role("status")).to_contain_text("taken")
    name.fill(" Hospital ")
    name.press("Enter")
    expect(lab.get_by_label("Hospital name", exact=True)).to_have_value("Hospital")
    expect(handle(lab, "Hospital mean")).to_have_count(1)
    weight = lab.get_by_label("Hospital weight")
    weight.fill("3")
    weight.press("Enter")
    settle(page, lab)
    client = run_code(page, SCENE)["clients"][0]
    assert (client["name"], client["weight"]) == ("Hospital", 3)
    np.testing.assert_allclose(numbers(lab), python_numbers(page), rtol=1e-9)
    kept = numbers(lab)
    weight.fill("-2")
    weight.press("Enter")
    assert numbers(lab) == kept
    expect(lab.get_by_role("status")).to_contain_text("Hospital weight: a number from 0 to 1000000 is needed")


@pytest.mark.jupyterlab
def test_a_name_is_text_everywhere(run_cells):
    setup = f"import nbmetrics as nm\nname = {EVIL!r}\n"
    federation = (
        "fed = nm.Federation([nm.Client(nm.Gaussian([-1, 0]), name=name), nm.Client(nm.Gaussian([1, 0]), name='b')])\n"
    )
    page = run_cells(
        setup + federation + "lab = nm.Playground(fed, {name + '2': nm.Gaussian([0, 0])}); lab",
        "lab.scores()",
    )
    alerts = []
    page.on("dialog", lambda d: (alerts.append(d.message), d.dismiss()))
    lab = page.get_by_role("group", name="Playground")
    expect(handle(lab, f"{EVIL} mean")).to_have_count(1)
    expect(lab.locator(".nbm-stage title").first).to_have_text(EVIL)
    expect(lab.get_by_role("rowheader").first).to_have_text(EVIL + "2")
    press(lab, "Copy code")
    assert json.dumps(EVIL) in lab.locator(".nbm-code").input_value()
    expect(page.locator(".jp-OutputArea-output", has_text=EVIL + "2").first).to_be_visible()
    painted(page)
    assert page.locator("img[src='x']").count() == 0
    assert alerts == []


def test_two_displays_of_one_lab_stay_equal(run_cells):
    page = run_cells(LAB, "lab")
    labs = [page.get_by_role("group", name="Playground").nth(k) for k in range(2)]
    labs[1].wait_for()
    start = numbers(labs[0])
    drag(page, handle(labs[0], "Client 2 mean"), 50, -50, release=False)
    dragged = numbers(labs[0])
    assert start != dragged == numbers(labs[1])
    page.mouse.up()
    handle(labs[1], "Generator 1 mean").press("ArrowLeft")
    assert dragged != numbers(labs[0]) == numbers(labs[1])
    assert labs[0].get_by_role("table", name="Scores").get_attribute("data-rev") == labs[1].get_by_role(
        "table", name="Scores"
    ).get_attribute("data-rev")


def test_copied_code_rebuilds_the_lab(playground):
    page, lab = playground
    lab.get_by_label("Preset").select_option("Heterogeneous six")
    drag(page, handle(lab, "Client 3 mean"), 33, 21)
    press(lab, "Copy code")
    made: dict = {}
    exec(lab.locator(".nbm-code").input_value(), made)
    table = made["lab"].scores().table
    parts = [table[table["metric"] == m][a].to_numpy() for m in ("fid", "kid") for a in ("avg", "all")]
    np.testing.assert_allclose(numbers(lab), np.column_stack(parts), rtol=1e-12, atol=1e-12)


def test_table_view_shows_every_number_and_takes_them(playground):
    page, lab = playground
    expect(lab.get_by_role("spinbutton", name="Client 1 x")).to_be_hidden()
    press(lab, "Table view")
    expect(menu_item(lab, "Table view")).to_have_attribute("aria-description", "shown")
    page.keyboard.press("Escape")
    height = lab.get_by_role("spinbutton", name="Generator 2 height")
    height.fill("0")
    height.press("Enter")
    settle(page, lab)
    assert run_code(page, SCENE)["generators"][1]["height"] == 0
    np.testing.assert_allclose(numbers(lab), python_numbers(page), rtol=1e-9, atol=1e-12)


def test_save_picture_downloads_a_png(playground):
    page, lab = playground
    with page.expect_download() as download:
        press(lab, "Save picture")
    data = download.value.path().read_bytes()
    assert download.value.suggested_filename == "playground.png"
    assert data.startswith(b"\x89PNG") and len(data) > 20_000


THREADS = "import threading\nprint([t.name for t in threading.enumerate()].count('nbmetrics Playground'))"


@pytest.mark.jupyterlab
def test_close_removes_the_display_and_frees_the_worker(playground):
    page, lab = playground
    handle(lab, "Client 1 mean").press("ArrowLeft")
    settle(page, lab)
    assert run_code(page, THREADS) == 1
    run_code(page, "lab.close(); print(1)")
    expect(page.locator(".nbm")).to_have_count(0)
    until(page, lambda: run_code(page, THREADS), lambda threads: threads == 0)


def test_a_finger_drags_too(playground):
    page, lab = playground
    target = handle(lab, "Client 2 mean")
    settle(page, lab)
    with finger(page) as touch:
        target.scroll_into_view_if_needed()
        x, y = centre(target)
        touch("touchStart", x, y)
        for k in range(1, 7):
            touch("touchMove", x + 10 * k, y)
        touch("touchEnd")
        settle(page, lab)
    assert run_code(page, SCENE)["clients"][1]["x"] > 1.8


def test_add_and_remove_either_kind(playground):
    page, lab = playground
    for kind, css in (("client", "clients"), ("generator", "generators")):
        press(lab, f"Add {kind}")
        expect(lab.locator(f".nbm-{css} .nbm-body")).to_have_count(3)
        press(lab, "Remove")
        expect(lab.locator(f".nbm-{css} .nbm-body")).to_have_count(2)
        expect(menu_item(lab, "Remove")).to_have_count(0)
        page.keyboard.press("Escape")
    settle(page, lab)
