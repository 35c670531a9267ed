"""The Dashboard of images: a strip in each row, and pictures of its views as PNG and SVG, from a saved page."""

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.page import painted, press

VIEWS = ["Everything", "Leaderboard", "Places by avg and by all", "Heat map", "Which clients lose?", "Weights"]
SIZES = "all => all.map(img => [img.complete, img.naturalWidth, img.getBoundingClientRect().width])"


@pytest.fixture(scope="module")
def of_images():
    rng = np.random.default_rng(4)
    clients = {
        name: rng.integers(k * 60, k * 60 + 90, (40, 3, 3), np.uint8) for k, name in enumerate(["<b>", "b", "c"])
    }
    generators = {"Dim": rng.integers(0, 120, (60, 3, 3), np.uint8), "Wide": rng.integers(0, 210, (50, 3, 3), np.uint8)}
    lab = nm.Dashboard(nm.Federation(clients, extractor="pixels"), generators)
    yield lab
    lab.close()


def saved_view(page, root, view, kind):
    root.get_by_label("View", exact=True).select_option(view)
    with page.expect_download() as download:
        root.get_by_role("button", name=kind, exact=True).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


@pytest.mark.slow
def test_each_row_has_some_pictures_and_each_view_can_be_saved(saved, of_images):
    page, root = saved.open(of_images)
    table = root.get_by_role("table", name="Leaderboard", exact=True)
    for name, count in {"Dim": 60, "Wide": 50}.items():
        expect(table.get_by_alt_text(f"5 of {count} images of {name}, drawn at random")).to_be_visible()
    assert of_images.clients_strip["of"] == 120 and of_images.clients_strip["picture"] not in page.content()
    assert all(done and own == 19 and wide > own for done, own, wide in table.locator("img").evaluate_all(SIZES))
    press(root, "Table view")
    expect(root.get_by_text("chosen at random")).to_be_visible()
    press(root, "Table view")

    root.get_by_role("button", name="Share", exact=True).click()
    root.get_by_role("menuitem", name="Save a view").press("Enter")
    expect(root.get_by_label("View", exact=True)).to_be_focused()
    assert root.get_by_label("View", exact=True).locator("option").all_inner_texts() == VIEWS
    name, data = saved_view(page, root, "Heat map", "SVG")
    assert name == "dashboard-heat-map.svg"
    drawing = ElementTree.fromstring(data)
    tags = {node.tag.split("}")[1] for node in drawing.iter()}
    assert drawing.tag.endswith("}svg") and not {"style", "script", "image"} & tags
    texts = {text.text for text in drawing.iter() if text.tag.endswith("}text")}
    assert {"Heat map", "Dim", "Wide", "<b>", "b", "c"} <= texts and of_images.verdict[0] in texts
    assert b"var(" not in data
    name, data = saved_view(page, root, "Everything", "PNG")
    assert name == "dashboard-everything.png"
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("L"))
    assert pixels.shape[0] > 2500 and pixels.std() > 10
    for view in VIEWS:
        assert len(saved_view(page, root, view, "SVG")[1]) > 1000
    assert page.locator(".nbm-dashboard-paper").count() == 0

    root.get_by_label("View", exact=True).press("Escape")
    expect(root.get_by_label("View", exact=True)).to_be_hidden()
    expect(root.get_by_role("button", name="Share", exact=True)).to_be_focused()
    page.set_viewport_size({"width": 400, "height": 900})
    painted(page)
    expect(table.locator("img").first).to_be_hidden()


# Bottoms of the rows and heights of rows and pictures, from the top of the lab.
ROWS = """(root, top) => [...root.querySelectorAll('.nbm-dashboard-board tbody tr')].map(row => {
  const box = row.getBoundingClientRect();
  return [box.bottom - top, box.height, row.querySelector('img').getBoundingClientRect().height]; })"""


def test_nine_generators_with_their_pictures_are_all_in_view_above_the_weights(saved):
    rng = np.random.default_rng(4)
    clients = {f"client {k}": rng.integers(k * 20, k * 20 + 90, (40, 3, 3), np.uint8) for k in range(5)}
    generators = {f"generator {g}": rng.integers(0, 90 + 15 * g, (40, 3, 3), np.uint8) for g in range(9)}
    lab = nm.Dashboard(nm.Federation(clients, extractor="pixels"), generators)
    lab.wait()
    _, root = saved.open(lab, width=919, height=768)
    lab.close()
    expect(root.locator(".nbm-dashboard-board img").last).to_be_visible()
    painted(root)
    top = root.bounding_box()["y"]
    rows = root.evaluate(ROWS, top)
    first_weight = root.get_by_role("slider").first.bounding_box()
    assert len(rows) == 9 and rows[-1][0] < first_weight["y"] - top
    area = root.locator(".nbm-dashboard-orders").bounding_box()
    assert rows[-1][0] <= area["y"] + area["height"] - top + 1
    assert all(20 < picture <= row for _, row, picture in rows)
    assert first_weight["y"] + first_weight["height"] - top <= 640
