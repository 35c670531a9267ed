"""Pictures to look at (tests/browser/shots), and what can be checked of them: nothing overflows, text is readable."""

import pytest

from tests.browser.page import CONTRAST, OVERFLOW, answered, drag, press

pytestmark = pytest.mark.slow

LAB = "import nbmetrics as nm\nlab = nm.Playground({preset!r}); lab"
PRESETS = {"two": "Two clients", "six": "Heterogeneous six"}


@pytest.mark.parametrize("preset", PRESETS)
def test_wide(run_cells, theme, shot, preset):
    page = run_cells(LAB.format(preset=PRESETS[preset]))
    lab = page.get_by_role("group", name="Playground")
    for colours in ("light", "dark"):
        theme(f"JupyterLab {colours.title()}")
        answered(page, lab)
        shot(f"{preset}-{colours}-before", lab)
        drag(page, lab.get_by_role("slider", name="Client 1 mean", exact=True), -30, -40, release=False)
        shot(f"{preset}-{colours}-during", lab)
        page.mouse.up()
        press(lab, "Table view")
        page.mouse.move(5, 5)
        answered(page, lab)
        shot(f"{preset}-{colours}-after", lab)
        assert page.evaluate(OVERFLOW) == []
        assert page.evaluate(CONTRAST) == []
        press(lab, "Table view")
        press(lab, "Reset")


@pytest.mark.parametrize("preset", PRESETS)
def test_narrow(run_cells, narrow, theme, shot, preset):
    page = run_cells(LAB.format(preset=PRESETS[preset]))
    lab = page.get_by_role("group", name="Playground")
    theme("JupyterLab Dark")
    mean = lab.get_by_role("slider", name="Client 1 mean", exact=True)
    for width in (400, 320):
        narrow(width)
        answered(page, lab)
        shot(f"{preset}-dark-{width}", lab)
        overflowing = [line for line in page.evaluate(OVERFLOW) if "nbm-scroll" not in line]
        assert overflowing == []
        before = mean.get_attribute("aria-valuetext")
        drag(page, mean, -10, 10)
        assert mean.get_attribute("aria-valuetext") != before
