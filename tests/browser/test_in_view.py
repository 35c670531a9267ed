"""After Shift+Enter a lab is where the eye is, in each notebook and at each size of a window, and stands still.

JupyterLab is as its users have it: it attaches only the cells in view. One server, one page and one kernel serve all
notebooks; what stands before the lab's cell is run beside the page, so that nothing waits for its outputs.
"""

import re
from typing import NamedTuple

import nbformat
import pytest

from tests import ROOT
from tests.browser.film import STILL, TOP_PX, film, jumps, seen
from tests.browser.frontends import (
    FIND,
    JUPYTERLAB,
    START,
    assert_ran,
    end_sessions,
    open_voila,
    serving,
    watched,
    write_notebook,
)
from tests.browser.kernels import CLOSE, EXECUTED, KeptKernel
from tests.browser.labs import LABS, group, settle
from tests.browser.test_reopened import SAVE
from tests.slow import by_default

NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
SIZES = [(1366, 768), (1920, 1080), (1024, 768)]
QUICK = [(name, SIZES[0]) for name in NOTEBOOKS if name[:2] == "00"]
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
def kept(usual_page, usual_server):
    kept = KeptKernel(usual_page, usual_server)
    yield kept
    kept.clear()
    kept.end()


@pytest.fixture(scope="module")
def opened(usual_server, usual_page, kept):
    """opened(name): the notebook, with all that stands before its first lab run; it stays open until another is."""
    now = {}

    def open_there(name):
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

    return open_there


@pytest.mark.jupyterlab
@pytest.mark.parametrize(("name", "size"), by_default([(name, size) for name in NOTEBOOKS for size in SIZES], *QUICK))
def test_a_lab_that_was_run_is_in_view_from_its_first_paint_on(opened, name, size):
    notebook = opened(name)
    notebook.run(size)
    moved = jumps(notebook.page)
    print(f"{name} {size[0]} x {size[1]}: {seen(notebook.page)} px")
    assert seen(notebook.page) >= TOP_PX
    assert moved == []


# High enough that less than the lab's first 300 pixels are in view below it.
HIGH = "# a line\n" * 22


@pytest.mark.slow
@pytest.mark.jupyterlab
def test_a_notebook_that_is_reopened_stays_where_it_is(browser, usual_server, usual_page, kept):
    """By the kernel that ran it, and then by another."""
    write_notebook(usual_server, "again.ipynb", [HIGH, LABS["Playground"].source])
    kept.clear()
    kept.open("again.ipynb")
    usual_page.evaluate(START)
    assert_ran(usual_page)
    settle(group(usual_page, LABS["Playground"]))
    usual_page.evaluate(SAVE)
    usual_page.evaluate(CLOSE)
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = watched(context.new_page())
    for has_kernel in (True, False):
        if not has_kernel:
            end_sessions(usual_server)
            kept.is_lost = True
        page.goto(f"{usual_server.url}/lab/tree/again.ipynb?reset")
        page.mouse.click(700, 5)
        page.evaluate(FIND)
        film(page)
        assert 0 < seen(page) < TOP_PX, "reason enough to scroll"
        assert page.evaluate(SCROLLED) == 0
    context.close()


@pytest.mark.slow
@pytest.mark.jupyterlab
def test_a_lab_that_was_run_in_notebook_7_is_in_view(browser, notebook_server):
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = watched(context.new_page())
    write_notebook(notebook_server, "in-view.ipynb", ["# a line\n" * 8, "pass", LABS["Playground"].source])
    page.goto(f"{notebook_server.url}/notebooks/in-view.ipynb")
    page.evaluate(FIND)
    Notebook(page, 2).run()
    assert jumps(page) == []
    assert seen(page) >= TOP_PX
    context.close()


# What Playwright evaluates in a page counts as a user's doing.
UNTOUCHED = "Object.defineProperty(Navigator.prototype, 'userActivation', { get: () => ({ hasBeenActive: false }) })"


@pytest.mark.slow
@pytest.mark.jupyterlab
def test_voila_stays_at_its_top(browser, voila_server):
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    context.add_init_script(UNTOUCHED)
    high = "from IPython.display import HTML\nHTML('<div style=\"height: 550px\"></div>')"
    page = open_voila(context, voila_server, "in-view.ipynb", high, LABS["Playground"].source)
    settle(group(page, LABS["Playground"]))
    film(page)
    assert 0 < seen(page) < TOP_PX, "reason enough to scroll"
    scrolled = "() => [...document.querySelectorAll('*')].filter(node => node.scrollTop).length"
    assert page.evaluate(scrolled) == 0
    context.close()


# A notebook in small: a pane of 500 pixels, with something above and below the lab.
PANE = """above => {
  const pane = document.querySelector('main');
  pane.style.cssText = 'max-width: none; height: 500px; overflow-y: auto; overflow-anchor: none';
  const gap = height => { const node = document.createElement('div'); node.style.height = `${height}px`; return node; };
  pane.append(gap(above));
}"""
# The lab grows, and the pane is too small for what was seen of it.
GROW = """() => {
  document.querySelector('main').style.height = '350px';
  document.querySelector('.nbm').style.minHeight = '3000px';
}"""
# … as soon as it was painted.
GROW_AT_ONCE = f"""() => {{
  const frame = () => requestAnimationFrame(document.querySelector('.nbm') ? () => setTimeout({GROW}) : frame);
  frame(); }}"""
SCROLL = "top => { document.querySelector('main').scrollTop = top; }"
PANE_SCROLLED = "() => document.querySelector('main').scrollTop"


@pytest.fixture
def page(browser):
    """One of its own: a clock is put into it."""
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    yield watched(context.new_page())
    context.close()


@pytest.fixture
def in_pane(run_in_page, page):
    """in_pane(above): a cell shows a Playground so far below the top of a pane, which stands still at last."""

    def run(above, meanwhile="() => {}", source="import nbmetrics as nm\nlab = nm.Playground(); lab"):
        before, _, shown = source.rpartition("\n")
        run_in_page(page, before)
        page.mouse.click(5, 5)
        page.evaluate(PANE, above)
        page.evaluate(meanwhile)
        page.python.run_cell(shown)
        page.locator(".nbm").wait_for()
        page.evaluate(STILL)

    return run


def test_a_lab_of_which_too_little_is_seen_comes_into_view_once(in_pane, page):
    in_pane(above=400)
    assert page.evaluate(PANE_SCROLLED) == 392
    page.evaluate(SCROLL, 0)
    page.evaluate(GROW)
    page.evaluate(STILL)
    assert page.evaluate(PANE_SCROLLED) == 0, "never a second time"


# The notebook scrolls on its own as soon as the lab is there, empty.
SCROLL_AT_ONCE = """() => new MutationObserver(() => {
  if (document.querySelector('.nbm')) dispatchEvent(new Event('scroll'));
}).observe(document.body, { childList: true, subtree: true })"""


def test_a_lab_that_is_still_empty_does_not_use_up_the_one_scroll(in_pane, page):
    in_pane(400, SCROLL_AT_ONCE, LABS["Monitor"].source)
    assert page.evaluate(PANE_SCROLLED) == 392


def test_a_lab_that_was_seen_comes_into_view_where_it_is_pushed_out(in_pane, page):
    in_pane(150, GROW_AT_ONCE)
    assert page.evaluate(PANE_SCROLLED) == 142


ACTS = {
    "wheel": lambda page: page.mouse.wheel(0, 1),
    "key": lambda page: page.keyboard.press("Shift"),
    "press": lambda page: page.mouse.down(),
}


@pytest.mark.parametrize("act", by_default(ACTS, "wheel"))
def test_a_reader_who_has_done_something_is_left_alone(in_pane, page, act):
    in_pane(above=150)
    page.mouse.move(50, 50)
    ACTS[act](page)
    page.evaluate(STILL)
    page.evaluate(SCROLL, 0)
    page.evaluate(GROW)
    page.evaluate(STILL)
    assert page.evaluate(PANE_SCROLLED) == 0


def test_a_lab_that_grows_long_after_its_run_moves_nothing(in_pane, page):
    page.clock.install()
    in_pane(above=150)
    page.clock.fast_forward(3001)
    page.evaluate(GROW)
    page.evaluate(STILL)
    assert page.evaluate(PANE_SCROLLED) == 0
