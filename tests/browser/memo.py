"""What the tests of MemorizationLab's page share."""

import time

from playwright.sync_api import expect

from tests.browser import labs
from tests.browser.page import painted, run_code, unfold

# Milliseconds in which Python, on a machine with other work, has answered.
SLOW = 60_000
LAB = "import nbmetrics as nm\nlab = nm.MemorizationLab({}); lab"


def open_with(run_cells):
    """open_lab(arguments) -> page, lab."""

    def open_lab(arguments="points=120", code=None):
        page = run_cells(code or LAB.format(arguments))
        lab = page.get_by_role("group", name="MemorizationLab")
        lab.locator(".nbm-memo-right").wait_for()
        unfold(lab)
        return page, lab

    return open_lab


def tab(lab, name):
    unfold(lab)
    lab.get_by_role("tab", name=name).click()


def card(lab, label):
    return lab.get_by_role("region", name=label, exact=True)


def settle(page, lab):
    """Until the page shows Python's numbers of the scene that it shows; that scene and those numbers."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        rev = labs.settle(lab)
        scene, result = run_code(page, "print(_j.dumps([lab.scene, lab.result]))")
        if scene["rev"] == result["rev"] == rev and result.get("noise"):
            assert "error" not in result, result
            expect(lab.get_by_text("still redrawing").filter(visible=True)).to_have_count(0, timeout=SLOW)
            return scene, result
        page.wait_for_timeout(25)
    raise AssertionError(f"the page shows {rev}, the scene is {scene}, the answer {result['rev']}")


def shown(lab):
    """The numbers behind the cards, in their order."""
    return [float(node.get_attribute("data-value")) for node in lab.locator(".nbm-memo-number[data-value]").all()]


def verdict(lab, label):
    return card(lab, label).get_attribute("data-verdict")


def curve_of(page, lab):
    painted(lab)
    expect(lab.get_by_role("group", name="Curve", exact=True)).to_have_attribute("aria-busy", "false", timeout=SLOW)
    expect(lab.locator(".nbm-memo-curve .nbm-memo-wait")).to_have_text("", timeout=SLOW)
    return run_code(page, "print(_j.dumps([lab.curve, lab.result]))")
