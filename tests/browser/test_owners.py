"""Right outputs, wrong owners: a generator with one ellipse per client is dragged, swapped, undone and asked about."""

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.labs import LABS, group
from tests.browser.page import CONTRAST, OVERFLOW, answered, drag, handle, menu_item, numbers, painted, press, tab_to
from tests.slow import by_default

NAME = "Right outputs, wrong owners"
SWAP = "Swap Cats and Dogs"
HEADS = ["FID intra", "FID avg", "FID all", "KID intra", "KID avg", "KID all"]
INTRA = [0, 3]
OTHERS = [1, 2, 4, 5]
LINES = "nodes => nodes.map(n => ['x1', 'y1', 'x2', 'y2'].map(k => Math.round(n.getAttribute(k))))"


def row(lab, generator=0):
    return np.array(numbers(lab)[generator])


def swap(lab, generator=0):
    lab.get_by_role("group", name="Owners").get_by_role("button", name=SWAP).nth(generator).click()


def lines(lab):
    painted(lab.page)
    return lab.locator(".nbm-owner-lines line").evaluate_all(LINES)


def in_python(lab):
    """The same rows by Python, of the code that the page writes."""
    press(lab, "Copy code")
    made: dict = {}
    exec(lab.locator(".nbm-code").input_value(), made)
    table = made["scores"].table.set_index(["generator", "metric"])
    parts = [table.loc[(slice(None), metric), part] for metric in ("fid", "kid") for part in ("intra", "avg", "all")]
    return made["lab"], np.column_stack([part.to_numpy() for part in parts])


def test_a_drag_and_a_swap_move_intra_and_python_says_the_same(run_cells):
    page = run_cells(f"import nbmetrics as nm\nlab = nm.Playground({NAME!r}); lab")
    lab = group(page, LABS["Playground"])
    assert lab.get_by_role("table", name="Scores").locator("thead th").all_inner_texts() == ["Generator", *HEADS]
    honest, swapped = row(lab), row(lab, 1)
    np.testing.assert_allclose(honest[OTHERS], swapped[OTHERS], rtol=1e-9)
    assert honest[0] == pytest.approx(0.25) and swapped[0] == pytest.approx(16.25)
    before = lines(lab)
    drag(page, handle(lab, "Honest for Dogs mean"), 30, -25)
    near = row(lab)
    assert (near != honest).all() and (lines(lab)[1] != before[1]) and lines(lab)[2:] == before[2:]
    swap(lab)
    far = row(lab)
    np.testing.assert_allclose(far[OTHERS], near[OTHERS], rtol=1e-9)
    assert (far[INTRA] > 5 * near[INTRA]).all()
    scene, result = answered(page, lab)
    assert [part["name"] for part in scene["generators"][0]["parts"]] == ["Dogs", "Cats"]
    assert result["scores"]["fid"]["intra"] == pytest.approx([far[0], swapped[0]], rel=1e-9)
    again, table = in_python(lab)
    np.testing.assert_allclose(numbers(lab), table, rtol=1e-9)
    assert again.scene["generators"] == scene["generators"]
    lab.get_by_role("button", name="Undo").click()
    np.testing.assert_allclose(row(lab), near, rtol=1e-12)
    expect(lab.locator(".nbm-headline")).to_contain_text("Best by intra: Honest")
    press(lab, "Reset")
    np.testing.assert_allclose(row(lab), honest, rtol=1e-12)


@pytest.mark.slow
def test_by_keyboard_alone(saved):
    page, lab = saved.open(nm.Playground(NAME), 1366, 768)
    lab.get_by_label("Preset").focus()
    wanted = ["Honest for Cats mean", "Honest for Cats width", "Honest for Dogs mean", "Swapped for Cats mean"]
    assert set(wanted) <= set(tab_to(page, SWAP))
    before = row(lab)
    page.keyboard.press("Enter")
    after = row(lab)
    np.testing.assert_allclose(after[OTHERS], before[OTHERS], rtol=1e-9)
    assert after[0] == pytest.approx(16.25) and page.evaluate("document.activeElement.textContent") == SWAP
    expect(lab.locator(".nbm-status")).to_contain_text("intra 0.250, avg 5.922, all 0.250 before")
    mean = handle(lab, "Honest for Dogs mean")
    mean.focus()
    for key, text in [("ArrowDown", "x -2.00, y 0.40"), ("Shift+ArrowRight", "x -1.00, y 0.40")]:
        page.keyboard.press(key)
        expect(mean).to_have_attribute("aria-valuetext", text)
    owner = lab.get_by_label("Honest for Dogs owner")
    owner.select_option("Cats")
    expect(lab.get_by_label("Honest for Cats owner")).to_have_value("Cats")
    expect(handle(lab, "Honest for Cats mean")).to_have_attribute("aria-valuetext", "x -1.00, y 0.40")
    page.keyboard.press("Control+z")
    expect(mean).to_have_attribute("aria-valuetext", "x -1.00, y 0.40")
    mean.focus()
    page.keyboard.press("Delete")
    expect(lab.get_by_role("group", name="Owners").get_by_role("button")).to_have_count(1)


def test_clients_and_models_come_go_and_are_renamed_with_their_ellipses(saved):
    _, lab = saved.open(nm.Playground("Two clients"))
    expect(lab.get_by_role("group", name="Owners")).to_be_hidden()
    menu_item(lab, "One ellipse per client", "Add").click()
    expect(lab.locator("thead th", has_text="intra")).to_have_count(2)
    assert row(lab, 2).shape == (6,)
    menu_item(lab, "Add client", "Add").click()
    expect(handle(lab, "Model 1 for Client 3 mean")).to_be_visible()
    name = lab.get_by_label("Client 2 name")
    name.fill("Dogs")
    name.press("Enter")
    expect(handle(lab, "Model 1 for Dogs mean")).to_be_visible()
    for client in ("Client 1", "Client 3"):
        handle(lab, f"{client} mean").focus()
        lab.page.keyboard.press("Delete")
        expect(handle(lab, f"Model 1 for {client} mean")).to_have_count(0)
    expect(lab.get_by_role("group", name="Owners").get_by_role("button")).to_be_hidden()
    assert row(lab, 2)[0] == pytest.approx(row(lab, 2)[2]), "of one client, intra is all"
    options = lab.get_by_label("Metric").locator("option:not([hidden])").all_inner_texts()
    assert options == ["FID", "KID", "KID (RBF)"]


@pytest.mark.parametrize(
    ("width", "scheme"), by_default([(1366, "light"), (390, "dark"), (320, "light")], (390, "dark"))
)
def test_it_fits_and_is_readable(saved, width, scheme):
    page, lab = saved.open(nm.Playground(NAME), width, 768, color_scheme=scheme)
    painted(page)
    assert page.evaluate(OVERFLOW) == [] and page.evaluate(CONTRAST) == []
    expect(lab.get_by_role("button", name=SWAP)).to_have_count(2)


def test_the_lesson_hides_the_swap_until_a_guess_is_revealed(saved):
    page, lab = saved.open(nm.Playground(lesson=NAME))
    start = row(lab)
    expect(lab.get_by_role("button", name=SWAP)).to_be_hidden()
    flag = lab.get_by_role("slider", name="Your guess")
    flag.focus()
    page.keyboard.press("ArrowRight")
    lab.get_by_role("button", name="Reveal").click()
    revealed = row(lab)
    np.testing.assert_allclose(revealed[OTHERS], start[OTHERS], rtol=1e-9)
    expect(lab.locator(".nbm-outcome")).to_contain_text("FID intra comes to 16.25")
    expect(lab.locator(".nbm-verdict")).to_contain_text("FID intra is 16.25; bring it below 0.1")
    swap(lab)
    np.testing.assert_allclose(row(lab), start, rtol=1e-9)
    for client in ("Cats", "Dogs"):
        handle(lab, f"Model for {client} mean").focus()
        for _ in range(3):
            page.keyboard.press("ArrowDown")
    expect(lab.locator(".nbm-verdict")).to_contain_text("Done")
    press(lab, "Reset")
    expect(lab.locator(".nbm-question")).to_contain_text("What is FID intra then?")
    lab.get_by_label("Lesson", exact=True).select_option("")
    lab.get_by_label("Preset").select_option(NAME)
    assert len(numbers(lab)) == 2
    expect(lab.locator(".nbm-question")).to_be_hidden()
