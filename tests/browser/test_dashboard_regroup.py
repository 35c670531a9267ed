"""Clients are taken together, cut, moved and left out in the Dashboard's page, by mouse and by keyboard, and back."""

import numpy as np
import pytest
from playwright.sync_api import expect

import nbmetrics as nm
from tests.browser.conftest import PLAIN
from tests.browser.labs import LABS, group, settle
from tests.browser.page import painted, run_code, unfold

CASE = LABS["Dashboard"]
SOURCE = "import nbmetrics as nm\nlab = nm.Dashboard(federation, generators); lab"
SIZES = {"north": 60, "south": 40, "<b>isle": 30}


def made():
    rng = np.random.default_rng(4)
    clients = [
        nm.Client(rng.normal(k, 1, (n, 2)), labels=np.arange(n) % 3, name=name)
        for k, (name, n) in enumerate(SIZES.items())
    ]
    generators = {"near": rng.normal(0.5, 1.2, (80, 2)), "far": rng.normal(2, 1, (80, 2))}
    return nm.Federation(clients), generators


def clients_of(root):
    painted(root)
    return [name.removesuffix(" weight") for name in weights_of(root)]


def weights_of(root):
    sliders = root.locator("input[type=range][aria-label$=' weight']")
    return dict(sliders.evaluate_all("all => all.map(one => [one.ariaLabel, one.value])"))


def shown(root):
    settle(root)
    board = root.locator(".nbm-dashboard-board tbody").inner_text()
    return weights_of(root), board, root.get_by_role("heading").first.inner_text()


@pytest.mark.parametrize("place", [PLAIN], indirect=True)
def test_clients_are_regrouped_by_mouse_and_by_keys_and_undo_brings_the_former_numbers(run_cells):
    page = run_cells("federation = generators = None")
    federation, generators = made()
    page.python.names.update(federation=federation, generators=generators)
    page.python.run_cell(SOURCE)
    root = group(page, CASE)
    start = shown(root)
    merged = merge_by_mouse(page, root)
    scores = nm.evaluate(federation.merge("south + <b>isle", ["south", "<b>isle"]), generators, "fid")
    found = run_code(page, "print(_j.dumps(lab.scores.values('fid').avg.tolist()))")
    assert found == pytest.approx(scores.values("fid").avg.tolist(), rel=1e-9)
    split_by_keys(page, root)
    said = status(root)
    for keys, count, wanted in (("z", 2, merged), ("z", 3, start), ("Shift+z", 2, merged)):
        page.keyboard.press(f"Control+{keys}")
        expect(said).to_have_text(f"Now {count} clients.")
        assert shown(root) == wanted
    root.get_by_role("button", name="Undo", exact=True).click()
    expect(said).to_have_text("Now 3 clients.")
    move_and_drop(page, root)
    settle(root)
    root.get_by_label("Preset").select_option("As given")
    expect(said).to_have_text("Now 3 clients.")
    assert shown(root) == start


def status(root):
    return root.locator(".nbm-regroup").get_by_role("status")


def merge_by_mouse(page, root):
    unfold(root)
    root.get_by_text("Merge, drop or split clients").click()
    panel = root.locator(".nbm-regroup")
    merge = panel.get_by_role("button", name="Merge", exact=True)
    panel.get_by_label("south").check()
    expect(merge).to_have_attribute("aria-disabled", "true")
    merge.click(force=True)
    expect(status(root)).to_have_text("Choose two clients or more.")
    panel.get_by_label("<b>isle").check()
    merge.click()
    expect(status(root)).to_have_text("Now 2 clients.")
    assert clients_of(root) == ["north", "south + <b>isle"]
    return shown(root)


def split_by_keys(page, root):
    panel = root.locator(".nbm-regroup")
    panel.get_by_label("north").focus()
    page.keyboard.press("Space")
    split = panel.get_by_role("button", name="Split by label")
    for _ in range(6):  # the other client, a name, Merge, Drop
        if not split.evaluate("button => button === document.activeElement"):
            page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(status(root)).to_have_text("Now 4 clients.")
    expect(split).to_be_focused()
    assert clients_of(root) == ["north: 0", "north: 1", "north: 2", "south + <b>isle"]


def move_and_drop(page, root):
    panel = root.locator(".nbm-regroup")
    panel.get_by_label("north").check()
    panel.get_by_label("Class to move").select_option("2")
    panel.get_by_label("Client that gets the class").select_option("<b>isle")
    panel.get_by_role("button", name="Move", exact=True).click()
    expect(status(root)).to_have_text("Now 3 clients.")
    assert run_code(page, "print(_j.dumps(lab.board['clients'][2]['rows']))") == 50
    panel.get_by_label("south").check()
    panel.get_by_role("button", name="Drop", exact=True).click()
    expect(status(root)).to_have_text("Now 2 clients.")
    assert clients_of(root) == ["north", "<b>isle"] and root.locator(".nbm b", has_text="isle").count() == 0
