"""A saved MemorizationLab: what it holds is there and right, what it does not hold is closed or says so."""

import re
import time

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.memo import shown, tab, verdict
from tests.browser.page import handle, painted, press, unfold
from tests.labs.inside import send
from website.examples import memorization

NOTED = ".nbm-memo-below > .nbm-note >> nth=0"
# What a page asks by, for the lab of these tests.
KEYS = {"curve": 'copied ["moons",0,0,0,1,100,0]', "interactions": "interactions moons 100 0"}


@pytest.fixture
def half_copied():
    lab = nm.MemorizationLab(points=100, copied=0.5)
    yield lab
    lab.close()


def python_computes(lab, *kinds):
    """As if the page had shown these tabs."""
    for kind in kinds:
        send(lab, {"kind": kind, "scene": lab.scene, "key": KEYS[kind]})
    end = time.monotonic() + 120
    while any(("curve" in kinds and lab.curve.get("done") != 1, "interactions" in kinds and not lab.interactions)):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_page_that_a_script_wrote_has_its_verdicts(saved, half_copied, look):
    page, root = saved.open(half_copied)
    unfold(root)
    np.testing.assert_allclose(shown(root), list(half_copied.result["cards"].values()))
    assert verdict(root, "FLD gap") == "notices"
    assert [node.get_attribute("data-verdict") for node in root.locator(".nbm-memo-card").all()].count("unknown") == 0
    expect(root.locator(NOTED)).to_contain_text("the grey band")
    look("memo-saved-cards", page, full_page=True)


def test_what_needs_python_is_closed_and_the_page_says_what_it_is(saved, half_copied, look):
    page, root = saved.open(half_copied)
    unfold(root)
    expect(root.get_by_role("status")).to_contain_text("The numbers are from Python, for the saved scene")
    expect(handle(root, "Points per set")).to_be_disabled()
    expect(root.get_by_role("spinbutton", name="Seed")).to_be_disabled()
    options = root.get_by_label("Preset").locator("option[value]:not([hidden])")
    closed = {option.get_attribute("value"): option.is_disabled() for option in options.all()}
    assert closed == {name: name != "Your own" for name in half_copied.presets}
    share = handle(root, "Share copied")
    share.press("End")
    expect(share).to_have_attribute("aria-valuetext", "100\u00a0%")
    expect(root.locator(".nbm-memo-cards")).to_have_attribute("data-current", "true")
    handle(root, "Spread").press("ArrowRight")
    expect(root.locator(".nbm-memo-cards")).to_have_attribute("data-current", "false")
    expect(root.get_by_role("heading").first).to_have_text(
        re.compile("^100\u00a0% copied, spread .*: Python is needed to see which metrics notice\\.$")
    )
    expect(root.get_by_text("these belong to the saved picture").filter(visible=True)).to_have_count(1)
    look("memo-saved-moved", page, full_page=True)
    press(root, "Reset")
    expect(root.locator(".nbm-memo-cards")).to_have_attribute("data-current", "true")


def test_of_a_chosen_point_that_moved_no_saved_neighbour_is_told(saved, half_copied, look):
    page, root = saved.open(half_copied)
    unfold(root)
    choose = root.get_by_role("slider", name="Generated point", exact=True)
    words, link, bump = (root.locator(what) for what in (".nbm-memo-chosenwords", ".nbm-memo-link", ".nbm-memo-shade"))
    root.get_by_role("button", name="fitted bumps, 1σ").click()
    choose.press("Home")
    expect(words).to_contain_text("train point")
    assert link.get_attribute("hidden") is None and bump.get_attribute("hidden") is None
    handle(root, "Share copied").press("End")
    expect(words).to_have_text(re.compile(r"Generated point \d+, a copy\. The rest needs Python\."))
    for gone in (link, bump):
        assert gone.get_attribute("hidden") is not None
    expect(root.get_by_role("button", name="fitted bumps, 1σ")).to_be_hidden()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        painted(page)
        look(f"memo-saved-chosen-{scheme}", page, full_page=True)
    root.get_by_role("button", name="Undo").click()
    expect(words).to_contain_text("train point")
    expect(root.get_by_role("button", name="fitted bumps, 1σ")).to_be_visible()


@pytest.mark.slow
def test_presets_of_the_points_that_it_holds_have_their_numbers(saved, memo_lab):
    _, root = saved.open(memo_lab(preset="Half copied"))
    unfold(root)
    preset, cards = root.get_by_label("Preset"), root.locator(".nbm-memo-cards")
    expect(preset.locator("option", has_text="Digits: honest")).to_be_disabled()
    preset.select_option("Copycat")
    expect(root.locator(".nbm-memo-marks")).to_have_attribute("data-rings", "400")
    expect(cards).to_have_attribute("data-current", "true")
    np.testing.assert_allclose(shown(root), list(memo_lab(preset="Copycat").result["cards"].values()))
    expect(root.get_by_role("heading").first).to_have_text(re.compile("^100\u00a0% copied: .* notice"))
    handle(root, "Spread").press("ArrowLeft")
    expect(cards).to_have_attribute("data-current", "false")
    root.get_by_role("button", name="Undo").click()
    expect(cards).to_have_attribute("data-current", "true")


def test_which_metric_notices_first_is_answered_at_each_place_of_the_slider(saved, memo_lab):
    _, root = saved.open(memo_lab(points=100))
    expect(root.locator(".nbm-memo-question")).to_contain_text("Which metric notices first?")
    share, heading = handle(root, "Share copied"), root.get_by_role("heading").first
    for percent in (5, 10, 15, 20):
        share.press("ArrowRight")
        expect(share).to_have_attribute("aria-valuetext", f"{percent}\u00a0%")
        expect(heading).to_have_text(re.compile(f"^{percent}\u00a0% copied: .*(notice|notices)"))
        np.testing.assert_allclose(
            shown(root), list(memo_lab(points=100, copied=percent / 100).result["cards"].values()), rtol=1e-9
        )
    share.press("Shift+ArrowRight")
    expect(share).to_have_attribute("aria-valuetext", "70\u00a0%")
    expect(root.locator(".nbm-memo-cards")).to_have_attribute("data-current", "true")


def test_a_curve_and_maps_that_are_not_there_are_not_asked_about(saved, half_copied, look):
    page, root = saved.open(half_copied)
    unfold(root)
    tab(root, "Curve")
    expect(root.get_by_role("button", name="Reveal")).to_be_visible()
    root.get_by_label("Curve over").select_option("spread")
    expect(root.get_by_text("This page was saved without this curve: it needs Python.")).to_be_visible()
    for name in ("Reveal", "Just show me"):
        expect(root.get_by_role("button", name=name)).to_be_hidden()
    expect(root.locator(".nbm-memo-veil")).to_be_hidden()
    look("memo-saved-curve", page, full_page=True)
    tab(root, "Interactions")
    expect(root.get_by_text("This page was saved without the maps")).to_be_visible()
    expect(root.get_by_text("Brighter is worse")).to_be_hidden()


@pytest.mark.slow
def test_a_curve_and_maps_that_are_there_go_along(saved, half_copied, look):
    lab = half_copied
    python_computes(lab, *KEYS)
    page, root = saved.open(lab)
    unfold(root)
    tab(root, "Curve")
    handle(root, "FLD notices at").press("Enter")
    handle(root, "FID-test notices at").press("Enter")
    root.get_by_role("button", name="Reveal").click()
    told = root.locator(".nbm-memo-told")
    curve = lab._saved_traits["curve"]
    away = (np.array(curve["metrics"]["fld"]) - lab.result["honest"]["fld"]) / lab.result["noise"]["fld"]
    first = curve["values"][np.flatnonzero(away > 3)[0]]
    expect(told).to_contain_text(f"FLD notices from {100 * first:g}\u00a0% (you guessed 35\u00a0%)")
    look("memo-saved-revealed", page, full_page=True)
    handle(root, "Spread").press("ArrowLeft")
    expect(told).to_contain_text("These curves are for the saved scene")
    tab(root, "Interactions")
    expect(root.locator(".nbm-memo-heat")).to_have_count(3)
    root.get_by_role("button", name="set Share copied 25 %").first.click()
    expect(handle(root, "Share copied")).to_have_attribute("aria-valuetext", "25\u00a0%")
    painted(page)
    look("memo-saved-maps", page, full_page=True)


@pytest.mark.slow
def test_the_sites_page_asks_and_reveals_where_metrics_notice(saved, look):
    lab = memorization()
    page, root = saved.open(lab)
    unfold(root)
    lab.close()
    tab(root, "Curve")
    for name in ("FLD notices at", "FID-test notices at"):
        handle(root, name).press("Enter")
    root.get_by_role("button", name="Reveal").click()
    expect(root.locator(".nbm-memo-told")).to_contain_text("FLD notices from")
    handle(root, "Share copied").press("End")
    painted(page)
    expect(root.locator(".nbm-memo-told")).to_contain_text("FLD notices from")
    look("memo-site-revealed", page, full_page=True)
    tab(root, "Interactions")
    expect(root.locator(".nbm-memo-heat")).to_have_count(3)
    expect(root.locator(".nbm-memo-maps.nbm-memo-old")).to_have_count(0)


def test_the_heat_maps_of_a_locked_lab_look_closed(saved, half_copied, look):
    lab = half_copied
    python_computes(lab, "interactions")
    lab.lock("drag")
    page, root = saved.open(lab)
    unfold(root)
    tab(root, "Interactions")
    cells = root.locator(".nbm-memo-heat td button")
    expect(cells.first).to_be_disabled()
    assert all(cell.is_disabled() and cell.get_attribute("title") == "Locked by the teacher" for cell in cells.all())
    look("memo-locked-maps", page, full_page=True)
