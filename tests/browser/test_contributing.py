"""The lab of CONTRIBUTING.md, a user's own outside the package, as a saved page opened from disk."""

import re

import pytest
from playwright.sync_api import expect

from tests.test_contributing import LAB, follow


@pytest.fixture
def saved_page(tmp_path, monkeypatch):
    follow(tmp_path, LAB)
    monkeypatch.syspath_prepend(tmp_path)
    import apart

    lab = apart.ApartLab()
    yield lab.export_html(tmp_path / "apart.html")
    lab.close()


def test_the_slider_moves_the_number_and_undo_moves_it_back(saved_page, browser):
    assert str(saved_page.parent) not in saved_page.read_text("utf-8")
    context, wrong = browser.new_context(offline=True), []
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    page.goto(saved_page.as_uri())
    root = page.get_by_role("group", name="ApartLab", exact=True)
    numbers, slider = root.get_by_text(re.compile("FID avg")), root.get_by_role("slider", name="Distance")
    expect(numbers).to_have_text("Clients at ±1: FID avg 1.000, FID all 0.172.")
    for _ in range(5):
        slider.press("ArrowRight")
    expect(numbers).to_have_text("Clients at ±1.5: FID avg 2.250, FID all 0.644.")
    slider.press("End")
    expect(numbers).to_have_text("Clients at ±5: FID avg 25.00, FID all 16.80.")
    root.get_by_role("button", name="Undo").click()
    expect(numbers).to_contain_text("FID avg 2.250")
    root.get_by_label("Preset").select_option("Apart")
    expect(numbers).to_contain_text("FID avg 4.000")
    root.get_by_role("button", name="Copy code").click()
    made: dict = {}
    exec(root.locator(".nbm-code").input_value(), made)
    assert made["lab"].result["avg"] == pytest.approx(4.0)
    made["lab"].close()
    assert wrong == []
    context.close()
