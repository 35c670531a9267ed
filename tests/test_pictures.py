"""The committed pictures are of the present labs, move where they should, and are small; `make pictures` makes them."""

import pytest
from PIL import Image

import nbmetrics as nm
from tests import ROOT, pictures

MOST_BYTES = 2_000_000


@pytest.mark.parametrize("path", [pictures.OPENING, pictures.MOVING], ids=lambda path: path.name)
def test_a_picture_is_of_the_scene_that_the_playground_opens_with(path):
    assert pictures.description(path) == nm.Playground().snapshot().alt, "make pictures makes it again"


def test_the_picture_of_notebook_08_is_of_its_generators():
    assert pictures.description(pictures.DIGITS) == pictures.words_of(pictures.federated_digits())


def test_the_moving_picture_moves_and_is_small():
    assert pictures.MOVING.stat().st_size < MOST_BYTES
    with Image.open(pictures.MOVING) as picture:
        assert picture.n_frames > 10
        assert picture.width >= 800


def test_what_the_moving_picture_shows_is_so():
    """Far apart avg and all choose differently; where the drag ends, both choose Narrow."""
    found = []
    for way in (0, pictures.WAY):
        scene = nm.Playground().scene
        near, far = (client["x"] for client in scene["clients"])
        scene["clients"][1]["x"] = far + way * (near - far)
        ranks = nm.Playground(nm.Scene.parse(scene)).scores().ranks("fid").set_index("generator")
        found.append([ranks[part].idxmin() for part in ("avg", "all")])
    assert found == [["Narrow", "Wide"], ["Narrow", "Narrow"]]


def test_every_committed_picture_is_made_here_and_shown_somewhere():
    folders = (ROOT / "docs/images", ROOT / "notebooks/images")
    committed = {path for folder in folders for path in folder.iterdir()}
    made = {pictures.IMAGES / f"{name}.png" for name in pictures.PICTURES}
    made |= {pictures.OPENING, pictures.DIGITS, pictures.MOVING}
    texts = [path.read_text("utf-8") for path in (*ROOT.glob("docs/*.md"), *ROOT.glob("notebooks/*.ipynb"))]
    assert committed <= made
    assert all(any(f"images/{path.name}" in text for text in texts) for path in committed)
