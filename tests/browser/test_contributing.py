"""The lab of CONTRIBUTING.md, a user's own outside the package, as a saved page opened from disk."""

import re
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.page import press
from tests.test_contributing import LAB, follow


@pytest.fixture
def lab(tmp_path, monkeypatch):
    follow(tmp_path, LAB)
    monkeypatch.syspath_prepend(tmp_path)
    import apart

    made = apart.ApartLab()
    yield made
    made.close()
    for name in [name for name in sys.modules if name.split(".")[0] == "apart"]:
        del sys.modules[name]


@pytest.fixture
def opened_page(lab, saved, tmp_path):
    """opened_page() -> the lab's group, in its saved page."""

    def opened():
        page, root = saved.open(lab)
        assert str(tmp_path) not in page.content()
        return root

    return opened


def test_the_slider_moves_the_number_and_undo_moves_it_back(opened_page):
    root = opened_page()
    numbers, slider = root.get_by_text(re.compile("FID avg")), root.get_by_role("slider", name="Distance")
    expect(numbers).to_have_text("Clients at ±1.0: FID avg 1.000, FID all 0.172.")
    for _ in range(5):
        slider.press("ArrowRight")
    expect(numbers).to_have_text("Clients at ±1.5: FID avg 2.250, FID all 0.644.")
    slider.press("End")
    expect(numbers).to_have_text("Clients at ±5.0: FID avg 25.00, FID all 16.80.")
    root.get_by_role("button", name="Undo").click()
    expect(numbers).to_contain_text("FID avg 2.250")


def test_presets_and_copied_code(opened_page):
    root = opened_page()
    root.get_by_label("Preset").select_option("Apart")
    expect(root.get_by_text(re.compile("FID avg"))).to_contain_text("FID avg 4.000")
    press(root, "Copy code")
    made: dict = {}
    exec(root.locator(".nbm-code").input_value(), made)
    assert made["lab"].result["avg"] == pytest.approx(4.0)
    made["lab"].close()


def test_what_a_teacher_locked_stays_locked(lab, opened_page):
    lab.lock("drag", "presets")
    root = opened_page()
    expect(root.get_by_role("slider", name="Distance")).to_be_disabled()
    expect(root.get_by_label("Preset")).to_be_hidden()


def test_keys_undo_what_keys_moved(opened_page):
    root = opened_page()
    numbers, slider = root.get_by_text(re.compile("FID avg")), root.get_by_role("slider", name="Distance")
    slider.press("ArrowRight")
    expect(numbers).to_contain_text("±1.1")
    slider.press("Control+z")
    expect(numbers).to_contain_text("±1.0")
    slider.press("Control+y")
    expect(numbers).to_contain_text("±1.1")
