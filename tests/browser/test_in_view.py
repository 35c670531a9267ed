"""After Shift+Enter a lab is where the eye is, in each notebook and at each size of a window, and stands still.

JupyterLab is as its users have it: it attaches only the cells in view. One server, one page and one kernel serve all
notebooks; what stands before the lab's cell is run beside the page, so that nothing waits for its outputs.
"""

import re
from typing import NamedTuple

import nbformat
import pytest

from tests import ROOT
from tests.browser.film import TOP_PX, film, jumps, seen
from tests.browser.frontends import JUPYTERLAB, serving, watched
from tests.browser.kernels import EXECUTED, KeptKernel
from tests.slow import by_default

NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
SIZES = [(1366, 768), (1920, 1080), (1024, 768)]
QUICK = [(name, SIZES[0]) for name in NOTEBOOKS if name[:2] in ("00", "04", "05")]
A_LAB = re.compile(r"\bnm\.(Playground|CorrelationLab|TwinsLab|MemorizationLab|Dashboard|Monitor|PrivacyLab)\b")
# The cell before the lab's is in the middle of the view, as after a Shift+Enter, and nothing moves any more.
READY = """async index => {
  const { content } = window.__panel;
  content.activeCellIndex = index;
  await window.jupyterapp.commands.execute('notebook:clear-cell-output');
  content.mode = 'command';
  content.deselectAll();
  content.activeCellIndex = index - 1;
  content.activate();
  let [before, still] = ['', 0];
  while (still < 10) {
    await content.scrollToItem(index - 1, 'center');
    await new Promise(requestAnimationFrame);
    const { top, right } = content.widgets[index].node.getBoundingClientRect();
    const now = JSON.stringify([top, right, innerWidth]);
    still = now === before && right <= innerWidth ? still + 1 : 0;
    before = now;
  } }"""
SCROLLED = "() => document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer').scrollTop"
LAB_TOP = "() => document.querySelector('.nbm').getBoundingClientRect().top"
NO_LAB = "() => !document.querySelector('.nbm')"


class Notebook(NamedTuple):
    page: object
    lab_cell: int

    def run(self, size=SIZES[0]):
        """Shift+Enter in the cell before the lab's and in the lab's own, filmed."""
        width, height = size
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.evaluate(READY, self.lab_cell)
        self.page.wait_for_function(NO_LAB)
        film(self.page)
        self.page.keyboard.press("Shift+Enter")
        self.page.keyboard.press("Shift+Enter")
        self.page.locator(".nbm").wait_for(timeout=60_000)


@pytest.fixture(scope="module")
def usual_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("usual"), JUPYTERLAB, windowing="") as server:
        yield server


@pytest.fixture(scope="module")
def usual_page(browser, usual_server):
    context = browser.new_context(viewport={"width": SIZES[0][0], "height": SIZES[0][1]})
    page = watched(context.new_page())
    page.goto(f"{usual_server.url}/lab?reset")
    page.wait_for_function("() => window.jupyterapp && window.jupyterapp.restored.then(() => true)")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    yield page
    context.close()


@pytest.fixture(scope="module")
def opened(usual_server, usual_page):
    """opened(name): the notebook, with all that stands before its first lab run; it stays open until another is."""
    kept, now = KeptKernel(usual_page, usual_server), {}

    def open_notebook(name):
        if name not in now:
            kept.clear()
            now.clear()
            book = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
            nbformat.write(book, usual_server.work / f"{name}.ipynb")
            kept.open(f"{name}.ipynb")
            sources = [(k, cell.source) for k, cell in enumerate(book.cells) if cell.cell_type == "code"]
            lab_cell = next(k for k, source in sources if A_LAB.search(source))
            for source in ["import nbmetrics as nm", *(source for k, source in sources if k < lab_cell)]:
                assert usual_page.evaluate(EXECUTED, source) == "ok", source
            now[name] = Notebook(usual_page, lab_cell)
        return now[name]

    yield open_notebook
    kept.clear()
    kept.end()


@pytest.mark.jupyterlab
@pytest.mark.parametrize(("name", "size"), by_default([(name, size) for name in NOTEBOOKS for size in SIZES], *QUICK))
def test_a_lab_that_was_run_is_in_view_from_its_first_paint_on(opened, name, size):
    notebook = opened(name)
    notebook.run(size)
    moved = jumps(notebook.page)
    print(f"{name} {size[0]} x {size[1]}: {seen(notebook.page)} px")
    assert seen(notebook.page) >= TOP_PX
    assert moved == []
