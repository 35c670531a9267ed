"""The page of `nbmetrics score --html`: wide tables scroll by themselves, the page never does."""

import numpy as np
import pytest

from nbmetrics.cli import main
from tests.slow import by_default

# How far the page is wider than the window; and of each table how far it scrolls, and where its first column stays.
MEASURED = """() => [
  document.documentElement.scrollWidth - innerWidth,
  [...document.querySelectorAll(".wide")].map((box) => {
    box.scrollLeft = 1e4;
    const left = (element) => element.getBoundingClientRect().left;
    return [box.scrollLeft, ...[...box.querySelectorAll("tr > :first-child")].map((cell) => left(cell) - left(box))];
  }),
]"""


@pytest.mark.parametrize("width", by_default([1280, 400], 400))
def test_tables_scroll_and_the_page_does_not(browser, tmp_path, monkeypatch, width):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for path in ("real/the university hospital of the north", "real/s", "a", f"model-{'long' * 30}"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        np.save(f"{path}.npy", rng.normal(size=(30, 3)))
    words = ["score", "real", *sorted(str(p) for p in tmp_path.glob("*.npy")), "--metrics", "fid,kid,precision"]
    assert main([*words, "--uncertainty", "influence", "--html", "r.html"]) == 0
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto((tmp_path / "r.html").as_uri())
    beyond, tables = page.evaluate(MEASURED)
    page.close()
    assert beyond <= 0 and len(tables) == 3
    scores, *_ = tables
    assert scores[0] > 100 and all(abs(place) < 1 for table in tables for place in table[1:])
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "clients that are all alike would have about" in text and "scores." not in text
