"""Labs driven in headless Chromium: with Python beside a plain page, and in a real JupyterLab.

    def test_drag(run_cells, theme, shot):
        page = run_cells("import nbmetrics as nm", "lab = nm.Playground(); lab")
        page.get_by_role("slider", name="A mean").press("ArrowRight")
        theme("JupyterLab Dark"); shot("playground-dark")

A test of `run_cells` is two: in a plain page (plain.py), and, slow and so at length alone, in JupyterLab. What is about
JupyterLab is tried there in any case: a test with the mark `jupyterlab`, or whose parameter `place` says so. A test
that asks for `kernel` may freeze or kill it. One server, one page and, until one is killed, one kernel serve the
session: every notebook begins with a kernel that has no names, no widgets and no cells behind it.
"""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from ipywidgets.widgets.widget import _instances
from playwright.sync_api import expect

from tests.browser.frontends import (
    JUPYTERLAB,
    NOTEBOOK_7,
    START,
    VOILA,
    assert_ran,
    serving,
    watched,
    write_notebook,
)
from tests.browser.kernels import UNANSWERED, KeptKernel, Kernel, PlainKernel
from tests.browser.labs import LABS, group
from tests.browser.plain import Server, own_comms
from tests.browser.saved import Saved

HERE = Path(__file__).parent
WINDOW = {"width": 1280, "height": 900}
# The first is Chromium without its windows, for two thirds of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

expect.set_options(timeout=15_000)  # nothing takes that long, but on a machine that is full of other work


def find_chromium():
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), *MAC_APPS]
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


def pytest_collection_modifyitems(items):
    absent = find_chromium() is None
    reason = "no Chromium found: install chromium or set CHROMIUM to its path, then make test-browser"
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")
            if absent:
                item.add_marker(pytest.mark.skip(reason=reason))


PLAIN, LAB = "plain", "jupyterlab"


def pytest_generate_tests(metafunc):
    given = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "run_cells" not in metafunc.fixturenames or any("place" in names for names in given):
        return
    marks = {mark.name for mark in metafunc.definition.iter_markers()}
    both = not marks & {"jupyterlab", "slow"}
    places = [PLAIN, pytest.param(LAB, marks=pytest.mark.slow)] if both else [LAB]
    metafunc.parametrize("place", places, indirect=True)


@pytest.fixture(autouse=True)
def closed_labs():
    """What a test makes is closed after it: the threads of a lab would go on beside the next test."""
    before = set(_instances)
    yield
    for widget in [_instances[name] for name in _instances.keys() - before]:
        widget.close()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {**browser_type_launch_args, "executable_path": find_chromium(), "args": QUIET}


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("lab"), JUPYTERLAB) as server:
        yield server


@pytest.fixture(scope="module")
def stock_server(tmp_path_factory):
    """As anybody has it, without the settings of binder/."""
    with serving(tmp_path_factory.mktemp("stock"), JUPYTERLAB, config="") as server:
        yield server


@pytest.fixture(scope="session")
def notebook_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("notebook"), NOTEBOOK_7) as server:
        yield server


@pytest.fixture(scope="session")
def voila_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("voila"), VOILA) as server:
        yield server


# JupyterLab hides the page behind its splash while it loads a theme's styles.
SET_THEME = """async theme => {
  await window.jupyterapp.commands.execute('apputils:change-theme', { theme });
  while (document.body.dataset.jpThemeName !== theme || document.getElementById('jupyterlab-splash'))
    await new Promise(r => setTimeout(r, 20)); }"""


@pytest.fixture(scope="session")
def lab_page(browser, lab_server):
    context = browser.new_context(viewport=WINDOW)
    page = watched(context.new_page())  # run_cells looks at its errors after every test
    page.goto(f"{lab_server.url}/lab?reset")
    page.wait_for_function("() => window.jupyterapp && window.jupyterapp.restored.then(() => true)")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    yield page
    context.close()


@pytest.fixture(scope="session")
def kept_kernel(lab_page, lab_server):
    kept = KeptKernel(lab_page, lab_server)
    yield kept
    kept.end()


@pytest.fixture
def run_in_jupyterlab(lab_page, lab_server, kept_kernel, request):
    """run_cells, in a new notebook with a kernel like new."""
    stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in request.node.name)
    opened = []
    lab_page.nbmetrics_errors.clear()

    def run(*sources):
        kept_kernel.clear()
        name = f"{request.module.__name__.split('.')[-1]}-{stem}-{len(opened)}.ipynb"
        opened.append(name)
        write_notebook(lab_server, name, sources)
        kept_kernel.open(name)
        lab_page.evaluate(START)
        assert_ran(lab_page)
        return lab_page

    yield run
    errors = [error for error in lab_page.nbmetrics_errors if UNANSWERED not in error]
    kept_kernel.clear()
    assert not errors, f"the page threw: {errors}"


@pytest.fixture(scope="session")
def plain_server():
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="session")
def plain_page(browser):
    context = browser.new_context(viewport=WINDOW)
    yield watched(context.new_page())
    context.close()


@pytest.fixture
def run_in_page(plain_server, monkeypatch):
    """run(page, *sources): in that page, with Python in this process."""
    pythons = []

    def run(page, *sources):
        pythons.append(plain_server.open(page))
        own_comms(monkeypatch, pythons[-1])
        for source in sources:
            pythons[-1].run_cell(source)
        return page

    yield run
    for python in pythons:
        python.end()


@pytest.fixture
def run_in_plain_page(plain_page, run_in_page):
    """run_cells, in a page that the session has for it."""
    plain_page.nbmetrics_errors.clear()
    yield partial(run_in_page, plain_page)
    errors = list(plain_page.nbmetrics_errors)
    plain_page.goto("about:blank")
    assert not errors, f"the page threw: {errors}"


@pytest.fixture
def place(request):
    """Where labs are opened: "plain" or "jupyterlab"."""
    return getattr(request, "param", LAB)


@pytest.fixture
def run_cells(place, request):
    """run_cells(*sources) -> page, which shows what the last lines of the sources are."""
    return request.getfixturevalue("run_in_plain_page" if place == PLAIN else "run_in_jupyterlab")


@pytest.fixture
def lab_view(place, request):
    """The page that run_cells gives."""
    return request.getfixturevalue("plain_page" if place == PLAIN else "lab_page")


@pytest.fixture
def kernel(place, run_cells, request):
    if place == PLAIN:
        yield PlainKernel(request.getfixturevalue("plain_page"))
        return
    kernel = Kernel(*map(request.getfixturevalue, ("lab_server", "lab_page", "kept_kernel")))
    yield kernel
    kernel.thaw()  # a kernel that is stopped or busy would hold up its own shutdown
    kernel.release()


@pytest.fixture
def theme(lab_view, place):
    """theme("JupyterLab Dark"); light again after the test."""

    def set_theme(name):
        if place == PLAIN:
            lab_view.emulate_media(color_scheme="dark" if "Dark" in name else "light")
        else:
            lab_view.evaluate(SET_THEME, name)

    yield set_theme
    set_theme("JupyterLab Light")


@pytest.fixture
def tall(lab_view):
    """A window that holds the whole lab, which scrolls inside JupyterLab."""
    lab_view.set_viewport_size({"width": 1280, "height": 1900})
    yield
    lab_view.set_viewport_size(WINDOW)


@pytest.fixture
def look(request):
    """look(name, page or part of it): a picture in tests/browser/shots, to look at; taken where all tests run."""

    def take(name, target, **options):
        if not request.config.option.markexpr:
            target.screenshot(path=HERE / "shots" / f"{name}.png", **options)

    return take


@pytest.fixture
def shot(lab_view, look):
    """shot(name, locator=None): look, at the page that run_cells gives or a part of it."""
    return lambda name, locator=None: look(name, locator or lab_view)


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
def narrow(lab_view, place):
    """narrow(width): the window that wide, once the lab in it is laid out anew; no file browser beside it."""
    if place == LAB:
        lab_view.evaluate("() => window.jupyterapp.shell.collapseLeft()")

    def resize(width, height=900):
        lab_view.set_viewport_size({"width": width, "height": height})
        lab_view.evaluate(LAID_OUT, width)

    yield resize
    lab_view.set_viewport_size(WINDOW)
    if place == LAB:
        lab_view.evaluate("() => window.jupyterapp.shell.expandLeft()")


@pytest.fixture(scope="session")
def saved_pages(browser):
    return Saved(browser)


@pytest.fixture
def saved(saved_pages, tmp_path):
    saved_pages.begin(tmp_path)
    yield saved_pages
    saved_pages.end()


@pytest.fixture
def playground(run_cells):
    """A page, and the Playground in it as it opens."""
    page = run_cells("import nbmetrics as nm\nlab = nm.Playground('Two clients'); lab")
    return page, group(page, LABS["Playground"])
