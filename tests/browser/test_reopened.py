"""A notebook that was run, saved and closed, opened again by a new kernel: its labs are there before a cell is run."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.frontends import FIND, START, assert_ran, end_sessions, open_notebook, watched
from tests.browser.labs import LABS, group, handle, settle, shown
from tests.browser.page import drag, painted

SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
AGAIN = "run the cell again"
COMING = re.compile("Python (computes|redraws|is still|looks)|as Python computes")
FIRST = "Playground"


@pytest.fixture
def context(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context
    errors = [error for page in context.pages for error in page.nbmetrics_errors]
    context.close()
    assert not errors, f"the page threw: {errors}"


def next_day(context, server, page):
    """The notebook saved and closed, its kernel shut down; then opened anew, and nothing run."""
    address = page.url
    page.evaluate(SAVE)
    page.goto("about:blank")
    end_sessions(server)
    page = watched(context.new_page())
    page.goto(f"{address}?reset")
    page.evaluate(FIND)
    page.nbmetrics_errors.clear()  # as in open_notebook
    return page


def place(root, case):
    return handle(root, case).get_attribute("aria-valuetext")


def said(root):
    painted(root)
    return root.inner_text()


FRONTENDS = {"jupyterlab": ("lab_server", "/lab/tree/{}?reset"), "notebook": ("notebook_server", "/notebooks/{}")}
PLACES = {
    "jupyterlab": pytest.mark.place("JupyterLab", reopens="✓"),
    "notebook": pytest.mark.place("Notebook", reopens="✓"),
}
EVERYWHERE = [*(("jupyterlab", lab) for lab in LABS), ("notebook", FIRST)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frontend", "lab", "saves"),
    [
        pytest.param("jupyterlab", FIRST, 1, marks=PLACES["jupyterlab"]),
        *(pytest.param(*other, 2, marks=[PLACES[other[0]], pytest.mark.slow]) for other in EVERYWHERE),
    ],
)
def test_a_lab_is_there_again_and_moves_and_outlives_another_save(context, request, frontend, lab, saves):
    fixture, path = FRONTENDS[frontend]
    server, case = request.getfixturevalue(fixture), LABS[lab]
    page = open_notebook(context, server, f"reopened-{lab}.ipynb", case.source, path=path)
    drag(page, handle(group(page, case), case), -40, -20)
    settle(group(page, case))  # long after JupyterLab would have asked whether it may show news
    expect(page.locator(".Toastify__toast")).to_have_count(0)
    left = shown(group(page, case)), place(group(page, case), case)
    for _ in range(saves):  # saved with its Python, then without
        page = next_day(context, server, page)
        root = group(page, case)
        assert (shown(root), place(root, case)) == left
        assert said(root).count(AGAIN) == 1 and not COMING.search(said(root))
        drag(page, handle(root, case), 30, 0)
        assert place(root, case) != left[1]
        if lab != "MemorizationLab":  # whose cards are Python's
            assert shown(root) != left[0]
        assert said(root).count(AGAIN) == 1 and not COMING.search(said(root))
    page.evaluate(START)
    assert_ran(page)
    root = group(page, case)
    settle(root)
    assert AGAIN not in said(root)
    end_sessions(server)
