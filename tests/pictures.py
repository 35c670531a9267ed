"""The pictures of the README, of docs/labs.md and of notebooks, made from the present labs.

    python -m tests.pictures            all of them: `make pictures`
    python -m tests.pictures opening    one of them

The pages are saved ones in a headless Chromium, so nothing is needed but that. Each picture carries the words of what
it was made from, by which tests/test_pictures.py sees that it is of another.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import nbformat
import numpy as np
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo

import nbmetrics as nm
from tests import ROOT

OPENING = ROOT / "notebooks/images/playground.png"
DIGITS = ROOT / "notebooks/images/federated-digits.png"
MOVING = ROOT / "docs/images/average-or-pooled.webp"
IMAGES = ROOT / "docs/images"
WINDOW = {"width": 1020, "height": 1000}
DESCRIPTION = 0x010E  # EXIF: ImageDescription
# The moving picture: Client 2 goes this part of the way to Client 1, where both scores agree, and back; how long a
# frame and a rest last.
WAY = 0.6
STEPS, FRAME_MS, REST_MS = 14, 90, 1800
ARROW = [(0, 0), (0, 16), (4, 13), (7, 19), (10, 18), (7, 11), (12, 11)]
BESIDE = 12  # pixels left around what is shown


@contextmanager
def opened(lab, **window):
    """(page, the root of the lab) of a saved page."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import QUIET, find_chromium

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        page = browser.new_page(viewport=WINDOW | window)
        page.goto(lab.export_html(Path(folder) / "lab.html").as_uri())
        root = page.get_by_role("group", name=type(lab).__name__, exact=True)
        root.wait_for()
        page.evaluate("() => document.fonts.ready")
        yield page, root
        browser.close()


def opening():
    """The Playground as it opens, drawn by Python: for where nothing runs."""
    snapshot = nm.Playground().snapshot()
    save_described(OPENING, snapshot.png, snapshot.alt)


def save_described(path: Path, png: bytes, words: str):
    """A PNG file with the words of what it shows."""
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    described = PngInfo()
    described.add_itxt("Description", words)
    picture.save(path, pnginfo=described, optimize=True)


def federated_digits() -> nm.Images:
    """What the generators of notebook 08 make, as its own cells say."""
    book = nbformat.read(ROOT / "notebooks/08_federated_digits.ipynb", as_version=4)
    code = [cell.source for cell in book.cells if cell.cell_type == "code"]
    names: dict = {}
    for source in code[: 1 + next(k for k, source in enumerate(code) if "generators = {" in source)]:
        exec(source, names)
    made = names["generators"]
    return nm.images(np.concatenate(list(made.values())), labels=np.repeat(list(made), [*map(len, made.values())]))


def words_of(pictures: nm.Images) -> str:
    """The names of the rows, and a number that changes with the images."""
    assert pictures.labels is not None
    return f"{', '.join(np.unique(pictures.labels))}: {sum(int(image.sum()) for image in pictures)}"


def digits():
    """The generators of notebook 08, side by side."""
    pictures = federated_digits()
    save_described(DIGITS, pictures.plot()._repr_png_(), words_of(pictures))


def shown_box(root):
    """The upper part of a lab, down to where the plane and the scores end: left, top, right, bottom."""
    whole, plane, table = (
        node.bounding_box()
        for node in (root, root.locator("svg:has([role=slider])").first, root.get_by_role("table", name="Scores"))
    )
    bottom = max(part["y"] + part["height"] for part in (plane, table))
    return whole["x"] - BESIDE, whole["y"] - BESIDE, whole["x"] + whole["width"] + BESIDE, bottom + 2


def with_pointer(picture, x, y):
    """The picture with an arrow at (x, y), as a hand would see it: pictures of pages have none."""
    outline = [(x + dx, y + dy) for dx, dy in ARROW]
    ImageDraw.Draw(picture).polygon(outline, fill="black", outline="white")
    return picture


def moving():
    """The Playground while Client 2 is dragged toward Client 1, until avg and all agree, and back."""
    lab = nm.Playground()
    with opened(lab) as (page, root):
        box = shown_box(root)
        ends = [root.get_by_role("slider", name=f"Client {k} mean", exact=True).bounding_box() for k in (1, 2)]
        (x_near, _), (x, y) = [(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2) for end in ends]
        reach = WAY * (x_near - x)

        def frame(at):
            page.mouse.move(x + at * reach, y)
            for _ in range(2):
                page.evaluate("() => new Promise(requestAnimationFrame)")
            shot = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
            return with_pointer(shot, x + at * reach, y).crop(tuple(round(edge) for edge in box))

        page.mouse.move(x, y)
        page.mouse.down()
        there = [frame(1 - (1 - k / STEPS) ** 2) for k in range(STEPS + 1)]  # slower toward the end
        page.mouse.up()
    back = there[-3:0:-3]
    lasts = [REST_MS, *[FRAME_MS] * (STEPS - 1), REST_MS, *[FRAME_MS] * len(back)]
    exif = Image.Exif()
    exif[DESCRIPTION] = json.dumps(lab.snapshot().alt)  # EXIF is ASCII
    there[0].save(
        MOVING, save_all=True, append_images=[*there[1:], *back], duration=lasts, loop=0, quality=80, exif=exif
    )


def still(name: str, make: Callable[[], object], act: Callable[[object], object] = lambda root: None):
    """A picture maker for docs/labs.md: a lab's page, after `act` did something to it."""

    def picture():
        lab = make()
        with opened(lab) as (page, root):
            act(root)
            page.mouse.move(1, 1)
            page.wait_for_timeout(300)  # until what fades has faded
            shot = Image.open(io.BytesIO(root.screenshot(animations="disabled"))).convert("RGB")
        # as many colours as rare marks need
        shot.quantize(192, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            IMAGES / f"{name}.png", optimize=True
        )

    return picture


def reveal(root):
    """Place the guess of a lesson, and look."""
    flag = root.get_by_role("slider", name="Your guess", exact=True)
    flag.press("ArrowRight")
    root.get_by_role("button", name="Reveal").click()


def show(root):
    """Past the question, to the numbers."""
    root.get_by_role("button", name="Just show me").click()


def of_notebook(name, lab):
    """What the first two cells of a notebook define as `lab`."""

    def make():
        book = nbformat.read(ROOT / f"notebooks/{name}.ipynb", 4)
        cells = [cell.source for cell in book.cells if cell.cell_type == "code"]
        names: dict = {}
        exec("\n".join(cells[:2]), names)
        return names[lab]

    return make


PICTURES = {
    "opening": opening,
    "digits": digits,
    "moving": moving,
    "correlation": still("correlation", nm.CorrelationLab, show),
    "twins": still("twins", nm.TwinsLab),
    "lesson": still("lesson", lambda: nm.Playground(lesson="Average against pooled"), reveal),
    "dashboard": still("dashboard", of_notebook("12_which_generator", "dashboard")),
    "monitor": still("monitor", of_notebook("09_watching_training", "monitor")),
    "memorization": still("memorization", lambda: nm.MemorizationLab(copied=0.5)),
    "privacy": still("privacy", nm.PrivacyLab),
}


def description(path: Path) -> str:
    """What a picture says it is of."""
    with Image.open(path) as picture:
        return picture.info.get("Description") or json.loads(picture.getexif().get(DESCRIPTION, '""'))


if __name__ == "__main__":
    for folder in (OPENING.parent, IMAGES):
        folder.mkdir(exist_ok=True)
    for wanted in sys.argv[1:] or PICTURES:
        PICTURES[wanted]()
        print(f"{wanted}: done")
