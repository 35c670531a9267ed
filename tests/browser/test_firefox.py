"""Saved pages in Firefox: each opens from disk, moves by pointer and keys, asks for nothing, complains of nothing."""

import numpy as np
import pytest

from tests.browser.firefox import find_firefox, firefox
from tests.browser.frontends import free_port
from tests.browser.labs import LABS, ROWS
from tests.labs.toolkit.common import OF_DATA

pytestmark = pytest.mark.skipif(
    find_firefox() is None,
    reason="no Firefox found: install firefox-esr or set FIREFOX to its path, then make test-browser",
)
SLOW = pytest.mark.slow
PLACE = "handle => handle.getAttribute('aria-valuetext')"
CODE = "root => root.querySelector('.nbm-code').value"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with firefox(tmp_path_factory.mktemp("firefox") / "profile") as page:
        page.resize(1280, 900)
        yield page


def foreign(page):
    return [url for url in page.asked if not url.startswith(("file:", "blob:", "data:"))]


@pytest.mark.place("A saved page in Firefox", shows="✓", drags="✓")
@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n == "Playground" else SLOW) for n in LABS])
def test_a_saved_page_moves_in_firefox(page, tmp_path, name, record_property):
    case = LABS[name]
    lab = case.new()
    page.open(lab.export_html(tmp_path / "page.html").as_uri())
    root = page.find(name, "[role=group]")
    if name == "Monitor":  # its weights are in a fold
        page.click("Details", "summary")
    handle = page.find(case.handle, "[role=slider], input")
    first = page.call(ROWS, root)
    np.testing.assert_allclose(first, case.rows(lab), rtol=case.rtol, atol=1e-8)
    lab.close()
    places = [page.call(PLACE, handle)]
    page.drag(handle, -160 if name == "PrivacyLab" else -40, -24)  # from ε to ε is further
    places.append(page.call(PLACE, handle))
    page.press(handle, "ArrowLeft")
    places.append(page.call(PLACE, handle))
    assert len(set(places)) == 3
    if name != "MemorizationLab":  # whose numbers are Python's: the page marks them as those of the scene before
        page.click("Share", "button")
        page.click("Copy code", "[role=menuitem]")
        moved, same = page.call(ROWS, root), case.lab_of(page.call(CODE, root))
        assert moved != first
        exact = slice(1 if name in OF_DATA else None)  # avg; all waits for Python, or is a first guess
        for shown, wanted in zip(moved, case.rows(same), strict=True):
            np.testing.assert_allclose(shown[exact], wanted[exact], rtol=case.rtol, atol=1e-8)
        same.close()
    assert (page.errors, foreign(page)) == ([], [])
    record_property("version A saved page in Firefox", page.version.split(".")[0])


def test_a_page_that_asks_and_complains_is_noticed(page, tmp_path):
    url = f"http://127.0.0.1:{free_port()}/asked"
    asks = tmp_path / "asks.html"
    asks.write_text(f"<p aria-label=here>x</p><script>fetch('{url}'); console.error('so')</script>")
    page.open(asks.as_uri())
    page.call("node => node.id", page.find("here"))
    assert foreign(page) == [url]
    assert any("so" in line for line in page.errors)
