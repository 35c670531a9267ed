"""Pictures to look at (tests/browser/shots), and what can be checked of them: nothing overflows, text is readable."""

import pytest

from tests.browser.conftest import WINDOW
from tests.browser.drag import answered, drag

LAB = "import nbmetrics as nm\nlab = nm.Playground({preset!r}); lab"
PRESETS = {"two": "Two clients", "six": "Heterogeneous six"}
OVERFLOW = """() => { const lab = document.querySelector('.nbm');
  return [...lab.querySelectorAll('*')].filter(n => n.clientWidth && n.scrollWidth > n.clientWidth + 1
    && !n.closest('svg, input, textarea, select'))
    .map(n => n.className + ' ' + n.scrollWidth + '>' + n.clientWidth); }"""
# WCAG contrast of every text with the colour behind it.
CONTRAST = """() => {
  const rgb = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { c: [r, g, b], a }; };
  const luminance = c => c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = node => { for (; node; node = node.parentElement) {
    const { c, a } = rgb(getComputedStyle(node).backgroundColor); if (a > 0.99) return c; } return [255, 255, 255]; };
  const low = [];
  for (const node of document.querySelectorAll('.nbm *')) {
    const text = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!text || !node.getClientRects().length || node.disabled || node.tagName === 'OPTION') continue;
    const style = getComputedStyle(node);
    const color = rgb(node.namespaceURI.endsWith('svg') ? style.fill : style.color).c;
    const [a, b] = [luminance(color), luminance(behind(node))].sort((p, q) => q - p);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(node.textContent + ' ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return low; }"""


# JupyterLab lays out its parts a while after the window changed.
LAID_OUT = """async width => {
  let [before, still] = ['', 0];
  while (still < 6) {
    await new Promise(requestAnimationFrame);
    const box = JSON.stringify(document.querySelector('.nbm').getBoundingClientRect());
    still = innerWidth === width && box === before && JSON.parse(box).right <= width ? still + 1 : 0;
    before = box;
  } }"""


@pytest.fixture
def narrow(lab_page):
    """narrow(width): the window that wide, once the lab in it is laid out anew; no file browser beside it."""
    lab_page.evaluate("() => window.jupyterapp.shell.collapseLeft()")

    def resize(width, height=900):
        lab_page.set_viewport_size({"width": width, "height": height})
        lab_page.evaluate(LAID_OUT, width)

    yield resize
    lab_page.set_viewport_size(WINDOW)
    lab_page.evaluate("() => window.jupyterapp.shell.expandLeft()")


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
        lab.get_by_role("button", name="Table view").click()
        page.mouse.move(5, 5)
        answered(page, lab)
        shot(f"{preset}-{colours}-after", lab)
        assert page.evaluate(OVERFLOW) == []
        assert page.evaluate(CONTRAST) == []
        lab.get_by_role("button", name="Table view").click()
        lab.get_by_role("button", name="Reset").click()


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
