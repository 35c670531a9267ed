"""The card of what two generators disagree about: asked for above the heat map, and a press shows a mode there."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PLAIN
from tests.waiting import until

# They reach into the Python beside the page, or measure a page as wide as its window.
pytestmark = pytest.mark.parametrize("place", [PLAIN], indirect=True)

CODE = """
import numpy as np
import nbmetrics as nm
rng = np.random.default_rng(5)
centers = {"a": 0.0, "b": 6.0, "c": 12.0}
rows = lambda n, *of: np.concatenate([rng.normal(centers[k], 1.0, (n, 3)) for k in of])
clients = {k: rows(60, k) for k in centers}
lab = nm.Dashboard(clients, {"no c": rows(60, *"ab"), "even": rows(40, *"abc")}, "fid"); lab.wait(); lab"""
ASK, AGAIN = "What do they disagree about?", "Find the modes again"
# Names of scores that stand in two lines.
BROKEN = r"""root => {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), range = document.createRange(), broken = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    for (const { index, 0: name } of text.data.matchAll(/FID-(avg|all)/g)) {
      range.setStart(text, index);
      range.setEnd(text, index + name.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(text.data);
    }
  return broken; }"""


def test_the_name_of_a_score_is_in_one_line(run_cells):
    page = run_cells(CODE)
    root = page.get_by_role("group", name="Dashboard", exact=True)
    root.get_by_role("button", name=ASK).click()
    card = root.get_by_role("region", name="What they disagree about")
    expect(card).to_contain_text("FID-avg")
    for width in range(320, 460, 12):
        page.set_viewport_size({"width": width, "height": 900})
        assert card.evaluate(BROKEN) == [], width


def test_modes_are_asked_for_and_shown_in_the_heat_map(run_cells):
    page = run_cells(CODE)
    page.set_viewport_size({"width": 1366, "height": 900})
    root = page.get_by_role("group", name="Dashboard", exact=True)
    card = root.get_by_role("region", name="What they disagree about")
    expect(card).to_be_hidden()
    root.get_by_role("button", name=ASK).focus()
    page.keyboard.press("Enter")
    expect(card).to_be_visible()
    expect(root.get_by_role("button", name=ASK)).to_be_hidden()
    expect(card).to_be_focused()
    expect(card).to_be_in_viewport()
    lab = page.python.names["lab"]
    modes = lab.disagreement["modes"]
    where = next(k for k, mode in enumerate(modes) if max(mode["clients"]) > 0.5)
    expect(card.get_by_role("listitem")).to_have_count(len(modes))
    item = card.get_by_role("listitem").nth(where)
    client = lab.disagreement["clients"][max(range(3), key=modes[where]["clients"].__getitem__)]
    expect(item).to_contain_text(f"Most frequent at {client}")
    expect(item).to_contain_text(re.compile(r"Without its generated rows: FID-avg .+ → .+, FID-all .+ → .+\.$"))
    numbers = re.findall(r"[-−]?\d[\d,.]*(?= →|,|\.$)", item.locator("p").last.inner_text())
    before, change = lab.disagreement["scores"], [modes[where][part] for part in ("avg", "all")]
    wanted = [before[0], before[0] + change[0], before[1], before[1] + change[1]]
    assert [float(n.replace("−", "-").replace(",", "")) for n in numbers] == pytest.approx(wanted, rel=1e-3, abs=1e-3)
    names = card.get_by_role("listitem").get_by_role("button").all_inner_texts()
    letters = "ABCDEF"[: len(modes)]
    assert [name.partition(", more in ")[0] for name in names] == [f"Mode {letter}" for letter in letters]
    expect(card).to_contain_text(f"Avg and all differ most about {names[0]}; the others follow in that order.")
    item.get_by_role("button").click()
    until(lambda: lab.scene["client"] == client)
    root.get_by_role("slider", name="a weight", exact=True).press("ArrowRight")
    expect(root.get_by_role("button", name=AGAIN)).to_be_visible()
    expect(root).to_contain_text("These modes are for other weights, generators or another metric.")


def test_modes_that_avg_and_all_change_alike_say_their_order(run_cells):
    page = run_cells(CODE.replace('"fid"', '"kid"'))
    root = page.get_by_role("group", name="Dashboard", exact=True)
    root.get_by_role("button", name=ASK).press("Enter")
    card = root.get_by_role("region", name="What they disagree about")
    expect(card).to_contain_text(re.compile(r"Mode A, more in .+, changes the difference most, avg and all alike;"))
