"""Exported pages: opened from disk in Chromium with the network off, they look and drag like the live lab."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.labs import LABS, TWO_OF_LABS, shown
from tests.browser.page import cells, drag, handle, numbers, painted, press, unfold
from tests.browser.test_frontends import BEYOND
from tests.labs.toolkit.common import EVIL, NAMES, evil_lab
from tests.slow import by_default

SCHEMES = ("light", "dark")

# After a write, each of them makes the browser lay the page out at once.
READS = """root => { window.reads = [];
  for (const name of ["clientWidth", "clientHeight", "scrollWidth", "scrollHeight"]) {
    const { get } = Object.getOwnPropertyDescriptor(Element.prototype, name);
    const read = function () {
      if (root.contains(this)) window.reads.push(`${name} of ${this.getAttribute("class")}`);
      return get.call(this); };
    Object.defineProperty(Element.prototype, name, { get: read });
  } }"""


def python_numbers(root):
    """FID and KID by Python for what the page shows, by way of its own Copy code."""
    press(root, "Copy code")
    made: dict = {}
    exec(root.locator(".nbm-code").input_value(), made)
    table = nm.evaluate(made["federation"], made["generators"]).table
    parts = [table[table["metric"] == m][a].to_numpy() for m in ("fid", "kid") for a in ("avg", "all")]
    return np.column_stack(parts)


@pytest.mark.parametrize("preset", by_default(["Two clients", "Heterogeneous six"], "Heterogeneous six"))
def test_dragging_gives_pythons_numbers_with_no_network(saved, preset):
    page, root = saved.open(nm.Playground(preset))
    before = numbers(root)
    drag(page, handle(root, "Client 2 mean"), 80, -40)
    drag(page, handle(root, "Generator 1 width"), 40, 0)
    drag(page, handle(root, "Client 1 angle"), 0, -60)
    after = numbers(root)
    assert before != after
    np.testing.assert_allclose(after, python_numbers(root), rtol=1e-9, atol=1e-12)


@pytest.mark.place("A saved page in Chromium", shows="✓", drags="✓")
@pytest.mark.parametrize("name", TWO_OF_LABS)
def test_every_lab_moves_by_pointer_and_keys(saved, browser, name, record_property):
    case = LABS[name]
    page, root = saved.open(case.new())
    unfold(root)  # where the weights of a Monitor are
    grip = handle(root, case.handle)
    first, places = shown(root), [grip.get_attribute("aria-valuetext")]
    drag(page, grip, -160 if name == "PrivacyLab" else -40, -24)  # from ε to ε is further
    places.append(grip.get_attribute("aria-valuetext"))
    grip.press("ArrowLeft")
    painted(page)
    places.append(grip.get_attribute("aria-valuetext"))
    assert len(set(places)) == 3
    assert name == "MemorizationLab" or shown(root) != first  # whose numbers are Python's
    record_property("version A saved page in Chromium", browser.version.split(".")[0])


def test_a_drag_reads_no_sizes_of_what_it_paints(saved):
    page, root = saved.open(nm.Playground())
    painted(root)
    root.evaluate(READS)
    before = numbers(root)
    drag(page, handle(root, "Client 2 mean"), 40, -30)
    assert numbers(root) != before and page.evaluate("window.reads") == []


@pytest.mark.parametrize("where", by_default(["scene", "presets", "history"], "history"))
def test_a_page_that_was_edited_to_take_all_memory_says_so_instead(browser, tmp_path, where):
    copycat = {"cc": nm.scene.Copycat(nm.Scene.preset_named("Two clients").distributions, "Client 1", 20)}
    lab = nm.Playground("Two clients", copycat)
    lab.history = {"past": [lab.scene], "future": []}
    text = lab.export_html(tmp_path / "page.html").read_text("utf-8")
    before, state, after = re.split(r'(?<=json">)(.*?)(?=</script>)', text, maxsplit=1)
    edited = json.loads(state)
    parts = {
        "scene": edited["scene"],
        "presets": edited["presets"]["Your clients"],
        "history": edited["history"]["past"][0],
    }
    parts[where]["generators"][0]["count"] = 1_000_000_000
    path = tmp_path / "edited.html"
    path.write_text(before + json.dumps(edited) + after, "utf-8")
    wrong = []
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(path.as_uri())
    expect(page.get_by_role("alert")).to_contain_text("count is 1000000000, but should be from 2 to 2000")
    assert page.get_by_role("group", name="Playground").count() == 0 and wrong == []
    context.close()


def test_samples_of_a_saved_page_show_no_band_of_other_points(saved, look):
    scene = nm.Scene.preset_named("Two clients").to_json() | {"samples": 50, "view": {"panel": "samples"}}
    page, root = saved.open(nm.Playground(nm.Scene.parse(scene)))
    band, needs = root.get_by_text("of 20 redraws"), root.get_by_text("if all clients were alike, need Python")
    expect(band).to_be_visible()
    root.get_by_label("Points", exact=True).press("ArrowRight")
    expect(root.get_by_text("these points", exact=True)).to_be_visible()
    for gone in (band, root.get_by_text("their mean"), root.locator(".nbm-bias")):
        expect(gone).to_be_hidden()
    assert root.locator(".nbm-band:not([hidden])").count() == 0
    expect(needs).to_be_visible()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        painted(page)
        look(f"saved-samples-{scheme}", page, full_page=True)
    root.get_by_role("button", name="Undo").click()
    expect(band).to_be_visible()


def test_undo_redo_reset_and_keys_work(saved):
    page, root = saved.open(nm.Playground())
    start = numbers(root)
    handle(root, "Client 1 mean").press("Shift+ArrowUp")
    expect(handle(root, "Client 1 mean")).to_have_attribute("aria-valuetext", "x -2.60, y 1.00")
    moved = numbers(root)
    page.keyboard.press("Control+z")
    expect(handle(root, "Client 1 mean")).to_have_attribute("aria-valuetext", "x -2.60, y 0.00")
    assert numbers(root) == start != moved
    root.get_by_role("button", name="Redo").click()
    expect(handle(root, "Client 1 mean")).to_have_attribute("aria-valuetext", "x -2.60, y 1.00")
    root.get_by_label("Preset").select_option("Heterogeneous six")
    expect(handle(root, "Client 6 mean")).to_have_count(1)
    drag(page, handle(root, "Client 1 mean"), 30, 30)
    press(root, "Reset")
    expect(handle(root, "Client 1 mean")).to_have_attribute("aria-valuetext", "x -2.60, y 1.40")


def test_it_opens_on_the_state_it_was_saved_in_and_says_what_it_is(saved):
    lab = nm.Playground()
    lab.from_share(nm.Playground("Heterogeneous six").share())
    page, root = saved.open(lab)
    assert len(cells(root)) == 3
    status = root.get_by_role("status")
    expect(status).to_contain_text("A saved page")
    expect(status).to_contain_text("needs a notebook")
    drag(page, handle(root, "Client 1 mean"), 30, 30)
    page.wait_for_timeout(1800)  # longer than the page waits for a kernel before it says that none answers
    expect(status).to_contain_text("A saved page")
    root.get_by_role("button", name="Undo").click()
    root.get_by_role("button", name="Undo").click()
    expect(handle(root, "Client 3 mean")).to_have_count(0)


def test_a_name_is_text_in_a_saved_page(saved):
    page, root = saved.open(evil_lab())
    painted(page)
    whole = "nodes => nodes.map(n => n.querySelector('title').textContent || n.querySelector('.nbm-name').textContent)"
    assert root.locator(".nbm-stage .nbm-clients:has(.nbm-name)").evaluate_all(whole) == NAMES
    expect(handle(root, f"{EVIL} mean")).to_have_count(1)
    assert page.locator("img").count() == 0
    drag(page, handle(root, f"{EVIL} mean"), 30, 30)


def test_locks_hold_in_a_saved_page(saved):
    lab = nm.Playground()
    lab.lock("drag", "presets")
    page, root = saved.open(lab)
    before = numbers(root)
    drag(page, handle(root, "Client 2 mean"), 80, -40)
    assert numbers(root) == before
    expect(root.get_by_label("Preset")).to_be_hidden()


@pytest.mark.slow
def test_save_picture_works_under_the_pages_own_security_policy(saved):
    page, root = saved.open(nm.Playground())
    with page.expect_download() as download:
        press(root, "Save picture")
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("lab", by_default(LABS, "Playground", "Dashboard", "MemorizationLab", "Monitor"))
@pytest.mark.parametrize("width", by_default([1280, 400, 320], 320))
def test_every_lab_fits_light_and_dark(saved, lab, width, look):
    page, root = saved.open(LABS[lab].new(), width)
    root.get_by_role("slider").first.wait_for()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        painted(page)
        look(f"saved-{lab}-{scheme}-{width}", page, full_page=True)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        assert root.evaluate(BEYOND) == []
        back = page.evaluate("e => getComputedStyle(document.querySelector('.nbm')).backgroundColor")
        assert (back == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("lab", TWO_OF_LABS)
def test_nothing_moves_by_itself_where_motion_is_not_wanted(saved, lab):
    page, _ = saved.open(LABS[lab].new(), reduced_motion="reduce")
    page.add_style_tag(content=".nbm-mark, .nbm button { transition: all 2s; animation: 3s spin infinite }")
    moving = page.evaluate(
        """() => [...document.querySelectorAll('.nbm, .nbm *')].map(n => getComputedStyle(n))
        .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    )
    assert moving == 0


# What scrolls sideways and is no stop of Tab, nor has one in it.
UNREACHED = """root => [...root.querySelectorAll('.nbm-scroll')].filter(node => node.scrollWidth > node.clientWidth
  && node.tabIndex < 0 && !node.querySelector('input, button, select, [tabindex="0"]')).map(node => node.innerText)"""


@pytest.mark.parametrize(("name", "tab"), [("Playground", "Terms"), ("TwinsLab", None)])
def test_a_table_that_scrolls_sideways_is_reached_by_keys(saved, name, tab):
    page, root = saved.open(LABS[name].new())
    unfold(root)
    if tab:
        root.get_by_role("tab", name=tab, exact=True).click()
    else:
        press(root, "Table view")
    root.evaluate("root => { root.parentElement.style.width = '200px'; }")
    painted(page)
    scrolled = "root => [...root.querySelectorAll('.nbm-scroll')].filter(n => n.scrollWidth > n.clientWidth).length"
    assert root.evaluate(scrolled), "narrow enough"
    assert root.evaluate(UNREACHED) == []
