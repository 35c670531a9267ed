"""Draw until settled: begun and stopped by keyboard, and what came of it stays, also in a saved page."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PLAIN
from tests.slow import by_default
from tests.waiting import until

# They reach into the Python beside the page, or measure a page as wide as its window.
pytestmark = pytest.mark.parametrize("place", [PLAIN], indirect=True)

CODE = """
import numpy as np
import nbmetrics as nm
rng = np.random.default_rng(5)
clients = {name: rng.normal(shift, 1, (200, 4)) for name, shift in (("north", 0), ("south", 1))}
sampler = lambda shift: lambda n, rng: rng.normal(0.5 + shift, 1.1, (n, 4))
generators = {"near": sampler(0), "twin": sampler(0), "far": sampler(2), "files": rng.normal(0.5, 1.1, (100, 4))}
lab = nm.Dashboard(clients, generators, "fid"); lab.wait(); lab"""


def test_generators_are_drawn_from_until_stopped_and_those_that_are_worse_drop_out(run_cells, tmp_path):
    page = run_cells(CODE)
    root = page.get_by_role("group", name="Dashboard", exact=True)
    root.get_by_role("tab", name="How stable").click()
    card = root.get_by_role("region", name="Draw until settled")
    expect(card).to_contain_text("until one is best by FID-avg")
    expect(card).to_contain_text("Not in the race: files.")
    budget = card.get_by_role("spinbutton", name="Draws at most")
    budget.fill("900000")
    budget.press("Tab")
    page.keyboard.press("Enter")
    expect(card.get_by_role("row").filter(has_text="far")).to_contain_text("out of the race")
    card.get_by_role("button", name="Stop").press("Enter")
    expect(card).to_contain_text("The race was interrupted, and FID-avg does not tell near and twin apart by then.")
    lab = page.python.names["lab"]
    assert 0 < lab.race["spent"] < 900_000
    expect(card.get_by_role("button", name="Draw", exact=True)).to_be_visible()
    root.get_by_role("slider", name="north weight", exact=True).press("ArrowRight")
    expect(card).to_contain_text("This race is for other weights, generators or scores.")
    root.get_by_role("button", name="Undo").or_(page.locator("nothing")).first.press("Enter")
    until(lambda: not card.get_by_text("This race is for other").is_visible())
    saved = tmp_path / "lab.html"
    lab.export_html(saved)
    page.goto(saved.as_uri())
    root.get_by_role("tab", name="How stable").click()
    expect(card.get_by_role("row").filter(has_text="far")).to_contain_text("out of the race")
    expect(card.get_by_role("button")).to_have_count(0)


# Of a race: who dropped out at the first look, beside the lines of those that went on.
LOOKS = """
def row(look, name, low, high, state="racing"):
    numbers = {"score": (low + high) / 2, "low": low, "high": high}
    return {"look": look, "sampler": name, "draws": 100 * look, **numbers, "state": state}
looks = [row(1, "near", 0.5, 2.5), row(1, "twin", 0.4, 2.6), row(1, "far", LOW, HIGH, "out: worse than near")]
looks += [row(2, "near", 1.0, 1.4), row(2, "twin", 1.1, 1.5)]
about = {"metric": "fid", "by": "avg", "weights": [200, 200], "generators": ["near", "twin", "far"], "label": "FID-avg"}
told = {"left_out": ["files"], "budget": 900, "spent": 600, "doing": "", "reason": "It is over.", "noise": ""}
lab.race = {**about, **told, "looks": looks}"""


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), by_default([(0.2, 4.0), (1.45, 30.0), (0.1, 1.2)], (1.45, 30.0)))
def test_lines_end_inside_the_picture(run_cells, low, high):
    page = run_cells(CODE, LOOKS.replace("LOW", str(low)).replace("HIGH", str(high)))
    root = page.get_by_role("group", name="Dashboard", exact=True)
    root.get_by_role("tab", name="How stable").click()
    rows = root.get_by_role("region", name="Draw until settled").locator("tbody tr")
    expect(rows).to_have_count(3)
    ends = rows.locator("polyline.nbm-dashboard-interval").evaluate_all(
        "lines => lines.map(line => [...line.points].map(({ x }) => x))"
    )
    assert len(ends) == 3 and all(5 <= left < right <= 103 for left, right in ends), ends
