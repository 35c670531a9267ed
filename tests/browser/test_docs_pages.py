"""The documentation in Chromium, from disk: its pages ask for nothing, and work by keys, narrow, and in the dark."""

import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests import ROOT
from tests.browser.conftest import HERE
from tests.browser.looks import assert_accessible
from tests.browser.page import painted, tab_to

pytest.importorskip("sphinx", reason="sphinx is not installed: pip install nbmetrics[docs]")

AXE = HERE.parent / "js" / "node_modules" / "axe-core" / "axe.min.js"
# The first page, pages of the reference, of the guides with tables, and of how to; the others are like them.
PAGES = ["index", "api/evaluate", "metrics", "cluster", "howto/add_a_metric"]
MOST_BYTES = 1_500_000
# Furo's check boxes, by which keys open its menus, stand outside of what axe calls a region.
RUN = """async () => {
  const { violations } = await axe.run({ resultTypes: ['violations'], rules: { region: { enabled: false } },
    preload: false });
  return violations.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.html.slice(0, 120)}`)); }"""
# The article scrolls apart from the page on a narrow screen.
FITS = """() => [...document.querySelectorAll('html, .content')].every(
  node => node.scrollWidth <= node.clientWidth)"""
# Where what has the focus is seen: the label stands for a check box that opens a drawer.
FOCUSED = """() => { const node = document.activeElement;
  const label = [...(node.labels ?? [])].find(one => one.checkVisibility() && one.clientWidth);
  const { left, right } = (label ?? node).getBoundingClientRect();
  return { words: node.getAttribute('aria-label') ?? node.textContent.trim(), left, right }; }"""


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    """The folder of these pages, as they are in the site."""
    out = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-A", "site=yes", "-t", "notebooks"]
    only = f"include_patterns={','.join(f'{page}.md' for page in PAGES)}"
    subprocess.run([*command, "-D", only, ROOT / "docs", out], check=True, capture_output=True)
    return out


@pytest.mark.slow
@pytest.mark.skipif(not AXE.exists(), reason="no axe-core: npm install --prefix tests/js")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_in_light_and_dark(saved, docs, look, name):
    page = saved.show(docs / f"{name}.html")
    painted(page)
    files = {Path(unquote(urlsplit(url).path)) for url in saved.asked if url.startswith("file:")}
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    page.add_script_tag(path=AXE)
    assert_accessible(page, RUN, FITS, look, f"docs-{name}")


@pytest.mark.slow
def test_on_a_narrow_screen_keys_open_the_menus_and_meet_nothing_unseen(saved, docs):
    page = saved.show(docs / "metrics.html", 320)
    for menu, inside in (("site navigation", "Add a metric"), ("table of contents", "Which one to ship")):
        page.evaluate("() => document.activeElement.blur()")
        tab_to(page, f"Toggle {menu} sidebar")
        page.keyboard.press("Space")
        tab_to(page, inside)
        painted(page)
        found = page.evaluate(FOCUSED)
        assert 0 <= found["left"] < found["right"] <= 320, found
