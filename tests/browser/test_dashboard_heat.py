"""Clients and generators of a saved Dashboard: each cell in words as Python has it, by keys, folded, and opened."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.conftest import HERE
from tests.browser.page import painted

HOSTILE = '<img src=x onerror="alert(1)">'


class Odd:
    """The distance of the means; no number and infinite where they are far apart."""

    name = "odd"

    def has_closed_form(self, distribution):
        return True

    def summarize(self, sample):
        return sample.distribution.mean.mean()

    def pool(self, summaries, weights):
        return np.average(summaries, weights=weights)

    def terms(self, real, generated):
        apart = abs(real - generated)
        return {"apart": math.nan if 15 < apart < 25 else math.inf if apart > 25 else apart}


SHIFTS = {"north": 0, "south": 1, "east": 2, "west": 20, HOSTILE: 30}


@pytest.fixture(scope="module")
def odd():
    clients = {name: nm.Gaussian([shift, shift]) for name, shift in SHIFTS.items()}
    lab = nm.Dashboard(clients, {"Narrow": nm.Gaussian([0, 0]), "<b>Wide</b>": nm.Gaussian([1.5, 1.5])}, Odd())
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def lab():
    rng = np.random.default_rng(0)
    clients = {name: rng.normal(shift / 10, 1, (40, 2)) for name, shift in SHIFTS.items()}
    generators = {name: rng.normal(shift, 1, (60, 2)) for name, shift in (("Narrow", 0), ("<b>Wide</b>", 1.5))}
    lab = nm.Dashboard(clients, generators, "kid")
    yield lab
    lab.close()


def grid(root):
    return root.get_by_role("grid", name="Clients and generators", exact=True)


def words(root):
    return (
        grid(root).get_by_role("gridcell").evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label'))")
    )


def in_focus(page):
    painted(page)
    return page.evaluate("document.activeElement.getAttribute('aria-label')")


RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def numeral(text):
    base, _, power = text.replace("−", "-").partition("·10")
    return float(base) * 10.0 ** int(power.translate(RAISED) or 0)


@pytest.mark.parametrize("which", ["odd", "lab"])
def test_every_cell_says_what_python_found(saved, odd, lab, which):
    lab = odd if which == "odd" else lab
    page, root = saved.open(lab)
    painted(page)
    table = lab.scores.clients.set_index(["client", "generator"])
    centres = table["corrected"].fillna(table["value"]) if "corrected" in table else table["value"]
    said = words(root)
    assert len(said) == len(table)
    for text in said:
        names, told = text.rsplit(": ", 1) if "cannot tell" not in text else text.split(";")[0].rsplit(": ", 1)
        client, generator = next(pair for pair in table.index if names == ", ".join(pair))
        value = table["value"][client, generator]
        if not math.isfinite(value):
            assert told == ("no number (NaN)" if math.isnan(value) else "infinite")
            continue
        score, compared = told.split(", ", 1)
        assert numeral(score.split(" (plain")[0]) == pytest.approx(value, rel=6e-3, abs=6e-4)
        regret = centres[client, generator] - centres[client].min()
        shown = re.match(r"(\S+) above the client’s best", compared)
        assert bool(shown) == (regret > 0), text
        if shown:
            assert numeral(shown[1]) == pytest.approx(regret, rel=6e-3, abs=6e-4)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        painted(page)
        page.screenshot(path=HERE / "shots" / f"dashboard-heat-{which}-{scheme}.png", full_page=True)
    assert not saved.wrong


def test_by_keys_alone_a_cell_is_found_chosen_and_closed(saved, lab):
    lab.scene = {**lab.scene, "order": "given", "client": "", "generator": ""}
    page, root = saved.open(lab, width=400)
    painted(page)
    first = grid(root).get_by_role("gridcell").first
    assert grid(root).locator("[tabindex='0']").count() == 1
    first.focus()
    names = list(SHIFTS)
    for key, place in {
        "ArrowDown": (1, 0), "ArrowRight": (1, 1), "Home": (1, 0), "End": (1, 1), "Control+End": (4, 1),
        "PageUp": (0, 1), "Control+Home": (0, 0), "ArrowUp": (0, 0), "PageDown": (4, 0),
    }.items():  # fmt: skip
        page.keyboard.press(key)
        assert in_focus(page).startswith(f"{names[place[0]]}, {['Narrow', '<b>Wide</b>'][place[1]]}:"), key
    page.keyboard.press("Enter")
    card = root.get_by_role("group", name="Chosen cell")
    expect(card.get_by_role("heading")).to_have_text(f"{HOSTILE}, Narrow")
    expect(card).to_contain_text("need Python")
    assert grid(root).locator("[aria-selected='true']").get_attribute("aria-label").startswith(HOSTILE)
    page.keyboard.press("Enter")
    expect(card).to_be_hidden()
    grid(root).get_by_role("gridcell", name="south, Narrow").click()
    expect(card.get_by_role("heading")).to_have_text("south, Narrow")
    root.get_by_role("button", name="Close").click()
    expect(card).to_be_hidden()
    assert not saved.wrong


def test_a_cell_that_was_open_is_in_the_page(saved, lab):
    lab.scene = {**lab.scene, "client": "south", "generator": "Narrow"}
    page, root = saved.open(lab)
    card = root.get_by_role("group", name="Chosen cell")
    expect(card).to_contain_text("KID’s witness")
    row = lab.details["rows"]["client"][0]["row"]
    expect(card.get_by_role("listitem").first).to_contain_text(f"row {row}")
    page.screenshot(path=HERE / "shots" / "dashboard-cell.png", full_page=True)


def test_an_order_by_weights_waits_until_it_is_asked_for(saved, lab):
    lab.scene = {**lab.scene, "order": "weight", "client": "", "generator": ""}
    page, root = saved.open(lab)
    painted(page)
    before = words(root)
    again = root.get_by_role("button", name="Sort again")
    expect(again).to_be_hidden()
    slider = root.get_by_role("slider", name="west weight", exact=True)
    slider.press("Shift+ArrowRight")
    expect(again).to_be_visible()
    assert words(root) == before
    again.click()
    painted(page)
    assert words(root)[0].startswith("west, ") and sorted(words(root)) == sorted(before)
    expect(again).to_be_hidden()


@pytest.mark.slow
def test_five_hundred_clients_fold_and_the_worst_has_a_row(saved):
    rng = np.random.default_rng(0)
    clients = {f"c{i}": nm.Gaussian(rng.normal([5 * (i % 3), 0], 0.3)) for i in range(500)}
    clients["c317"] = nm.Gaussian([40.0, 0.0])
    lab = nm.Dashboard(clients, {"a": nm.Gaussian([0, 0]), "b": nm.Gaussian([5, 1])}, "fid")
    page, root = saved.open(lab)
    painted(page)
    expect(root.get_by_text(re.compile("500 clients in .*; worst: c317"))).to_be_visible()
    rows = int(grid(root).get_attribute("aria-rowcount"))
    assert rows <= 1 + 40 + 2
    value = float(lab.scores.clients.query("client == 'c317' and generator == 'a'")["value"].iloc[0])
    page.keyboard.press("Tab")
    alone = [text for text in words(root) if text.startswith("c317, a: ")]
    assert len(alone) == 1 and numeral(alone[0].split(": ")[1].split(", ")[0]) == pytest.approx(value, rel=1e-3)
    group = grid(root).locator("[aria-expanded='false']").first
    group.get_by_role("gridcell").first.focus()
    members = int(re.match(r"(\d+) clients", in_focus(page))[1])
    page.keyboard.press("Enter")
    painted(page)
    assert int(grid(root).get_attribute("aria-rowcount")) == rows + members
    root.get_by_role("region", name="Heat map").screenshot(path=HERE / "shots" / "dashboard-heat-500.png")
    lab.close()
