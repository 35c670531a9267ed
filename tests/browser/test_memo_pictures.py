"""What MemorizationLab shows of images and of the user's own features, and pictures of it to look at."""

import base64

import numpy as np
import pytest
from matplotlib import image as plt_image
from playwright.sync_api import expect

from nbmetrics import MemorizationLab
from nbmetrics.labs.memorization.scene import MemorizationScene
from nbmetrics.labs.memorization.study import study_of
from tests.browser.memo import SLOW, curve_of, open_with, settle, tab
from tests.browser.page import CONTRAST, OVERFLOW, painted, press, run_code, unfold

OWN = """import numpy as np, nbmetrics as nm
rng = np.random.default_rng(0)
train, test, fresh = (rng.standard_normal((n, 6)) for n in (120, 120, 100))
made = np.concatenate([train[:5] + 1e-6, fresh[5:]])
pictures = {name: rng.integers(0, 256, (n, 6, 6)).astype("uint8") for name, n in [("train", 120), ("generated", 100)]}
lab = nm.MemorizationLab(train, test, made, pictures)
lab"""
# More than are scored at once.
MANY = OWN.replace("(120, 120, 100)", "(2000, 2000, 1800)").replace(", pictures)", ")")


@pytest.fixture
def opened(run_cells):
    return open_with(run_cells)


def test_digits_show_memorized_images_beside_their_originals(opened, theme, shot):
    page, lab = opened("data='digits', points=100, copied=0.05")
    theme("JupyterLab Dark")
    tab(lab, "Items")
    _, result = settle(page, lab)
    shot("memorization-digits-dark", lab)
    rows = lab.get_by_role("table", name="Items").locator("tbody tr")
    expect(rows).to_have_count(12)
    copies = np.flatnonzero(
        study_of("digits", 100, 0).copies(MemorizationScene.parse(run_code(page, "print(_j.dumps(lab.scene))")))
    )
    names = [rows.nth(k).locator("th").inner_text() for k in range(len(copies))]
    assert {int(name.split()[1]) for name in names} == set(copies.tolist()) and all(
        name.startswith("◈") for name in names
    )
    assert [rows.nth(k).locator("td").nth(2).inner_text() for k in range(len(copies))] == ["identical"] * len(copies)
    pixels = """canvas => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]
      .filter((_, k) => k % 4 === 0)"""
    found = [rows.first.locator("canvas").nth(k).evaluate(pixels) for k in (0, 1)]
    pictures = run_code(page, "print(_j.dumps(lab.pictures))")
    sent = np.frombuffer(base64.b64decode(pictures["generated"]), np.uint8).reshape(100, -1)
    assert found[0] == found[1] == sent[int(names[0].split()[1])].tolist()
    lab.get_by_role("button", name="Poorest quality").click()
    first = int(np.argmin(result["quality"]))
    expect(rows.first.locator("th")).to_contain_text(f" {first}")
    rows.first.get_by_role("button").click()
    expect(lab.locator(".nbm-memo-chosenwords")).to_contain_text(f"Generated point {first}")
    lab.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(36)


def test_own_features_have_no_sliders_and_find_the_copies(opened, shot):
    page, lab = opened(code=OWN)
    settle(page, lab)
    expect(lab.get_by_role("slider")).to_have_count(1)  # the one that chooses points
    assert [node.inner_text() for node in lab.get_by_role("tab").all() if node.is_visible()] == ["Cards", "Items"]
    expect(lab.locator(".nbm-memo-question")).to_contain_text("Is your generator memorizing?")
    shot("memorization-own", lab)
    tab(lab, "Items")
    rows = lab.get_by_role("table", name="Items").locator("tbody tr")
    expect(rows).to_have_count(12)
    assert {int(rows.nth(k).locator("th").inner_text().split()[1]) for k in range(5)} == set(range(5))
    assert rows.first.locator("canvas").count() == 3
    shot("memorization-own-items", lab)


@pytest.mark.slow
def test_the_saved_picture_has_the_shading_in_it(saved, tmp_path):
    page, root = saved.open(MemorizationLab(points=60, jitter=0.1))
    unfold(root)
    root.get_by_role("button", name="fitted bumps").click()
    painted(page)
    with page.expect_download() as got:
        press(root, "Save picture")
    got.value.save_as(tmp_path / "saved.png")
    image = plt_image.imread(tmp_path / "saved.png")
    box = root.locator(".nbm-memo-plane").bounding_box()
    assert image.shape[0] > 3 * box["height"] + 300 and image.shape[1] >= 3 * box["width"]  # words and cards, too
    assert root.locator("image").count() == 0, "what was put into the drawing for the picture is out again"
    # pale orange, which only the shading has: red above green above blue, none of them dark
    red, green, blue = (image[..., channel] for channel in range(3))
    assert np.mean((red > green + 0.05) & (green > blue + 0.05) & (blue > 0.5)) > 0.02


@pytest.mark.slow
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_wide_pictures(opened, theme, shot, colours):
    page, lab = opened("copied=0.3")
    theme(f"JupyterLab {colours.title()}")
    settle(page, lab)
    for name in ("Cards", "Curve", "Items"):
        tab(lab, name)
        if name == "Curve":
            lab.get_by_role("button", name="Just show me").click()
            curve_of(page, lab)
        shot(f"memorization-{colours}-{name.lower()}", lab)
        assert page.evaluate(OVERFLOW) == [] and page.evaluate(CONTRAST) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 320])
def test_narrow_pictures(opened, narrow, theme, shot, width):
    page, lab = opened("points=200, copied=0.3")
    narrow(width)
    theme("JupyterLab Dark")
    settle(page, lab)
    for name in ("Cards", "Curve", "Items"):
        tab(lab, name)
        painted(lab)
        shot(f"memorization-{width}-{name.lower()}", lab)
        assert [line for line in page.evaluate(OVERFLOW) if "nbm-scroll" not in line] == []


@pytest.mark.slow
def test_many_rows_of_ones_own_say_how_far_python_is_and_come_to_the_same(opened, shot):
    page, lab = opened(code=MANY)
    expect(lab.locator(".nbm-memo-wait").first).to_contain_text("Python computes")
    shot("memorization-own-waiting", lab)
    expect(lab.get_by_role("status")).to_contain_text("Python computed these cards", timeout=4 * SLOW)
    values = [float(node.get_attribute("data-value")) for node in lab.locator(".nbm-memo-number").all()]
    assert values == run_code(page, "print(_j.dumps(lab.scores()['value'].tolist()))")


# How many pixels of the moving marks have a colour, but for the softness of edges.
PIXELS = """(canvas, wanted) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let k = 0; k < data.length; k += 4)
    if (data[k + 3] > 250 && wanted.every((value, c) => Math.abs(data[k + c] - value) < 8)) count++;
  return count; }"""


def test_the_marks_take_the_colours_of_the_theme(opened, theme):
    page, lab = opened("points=120, copied=1")
    settle(page, lab)
    marks, light, dark = lab.locator(".nbm-memo-marks"), [0xC2, 0x4E, 0x00], [0xF2, 0xA3, 0x3C]
    assert marks.evaluate(PIXELS, light) > 300 and marks.evaluate(PIXELS, dark) == 0
    theme("JupyterLab Dark")
    painted(page)
    assert marks.evaluate(PIXELS, dark) > 300 and marks.evaluate(PIXELS, light) == 0
