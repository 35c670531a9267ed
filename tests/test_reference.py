"""The documentation as a site: every public name is in its reference, and it builds without a complaint or request."""

import importlib.util
import re
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser

import pytest

from tests import ROOT
from tests.public import docstrings, public

pytest.importorskip("sphinx", reason="sphinx is not installed: pip install nbmetrics[docs]")
import docutils.core

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```\{reference\}\n(.*?)^```", re.DOTALL | re.MULTILINE)
LARGEST = 1_500_000  # bytes of a page


@pytest.fixture(scope="module")
def reference():
    """docs/reference.py as a module."""
    spec = importlib.util.spec_from_file_location("reference", DOCS / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def entries(reference):
    """[(name, shown members)] of all pages of the reference."""
    texts = [block for page in sorted((DOCS / "api").glob("*.md")) for block in BLOCK.findall(page.read_text("utf-8"))]
    return [entry for text in texts for entry in reference.entries(text).items()]


def test_every_public_name_is_in_the_reference_once(reference, entries):
    names = [name for name, _ in entries]
    assert len(names) == len(set(names))
    listed = {id(reference.found(name)) for name in names}
    assert [name for name, thing in public().items() if id(thing) not in listed] == []


def test_the_members_that_the_reference_names_exist(reference, entries):
    odd = [(name, m) for name, shown in entries for m in shown or () if not hasattr(reference.found(name), m)]
    assert [(name, m) for name, m in odd if name != "Monitor"] == []  # some of a Monitor are set when it is made


@pytest.mark.slow
def test_every_docstring_can_be_laid_out(reference):
    settings = {"report_level": 2, "halt_level": 2, "default_role": "literal", "file_insertion_enabled": False}
    for name, text in docstrings().items():
        laid = "\n".join([".. default-role:: literal", "", *reference.laid_out(text.splitlines())])
        try:
            docutils.core.publish_doctree(laid, settings_overrides=settings)
        except docutils.utils.SystemMessage as why:
            pytest.fail(f"{name}: {why}")


def test_sections_and_their_items_are_laid_out(reference):
    text = "What |x| is.\n\nParameters\n----------\na, b : the first\n    and `|y|` of it\n\nMore.\n\n"
    text += "Returns\n-------\nfloat"
    assert reference.laid_out(text.splitlines()) == [
        *[r"What \|x\| is.", "", "", ".. rubric:: Parameters", "", "", "* **a, b**: the first", "  and `|y|` of it"],
        *["", "More.", "", "", ".. rubric:: Returns", "", "float", ""],
    ]


def test_links_out_of_the_guides_lead_somewhere_in_the_site(reference):
    text = [
        "see [a](../CONTRIBUTING.md#set-up), [b](../nbmetrics), [c](../README.md), [d](labs.md#x), [e](https://f.org)"
    ]
    reference.page(None, "install", text)
    assert text == ["see [a](contributing.md#set-up), b, c, [d](labs.md#x), [e](https://f.org)"]


def test_links_to_notebooks_lead_to_their_pages_where_the_site_has_them(reference):
    link = partial(reference.LINK.sub, partial(reference.link, DOCS, DOCS / "howto", True))
    text = "[a](../notebooks/00_start_here.ipynb), [b](../notebooks/README.md), [c](labs.md)"
    books = "../../notebooks"
    pages = f'<a href="{books}/00_start_here.html">a</a>, <a href="{books}/index.html">b</a>'
    assert link(text) == f"{pages}, [c](../labs.md)"


class Page(HTMLParser):
    """What a page asks for, leads to, and can be led to."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.links, self.anchors = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a":
            self.links |= {given["href"]} if "href" in given else set()
        elif tag != "link" or given.get("rel") in {"stylesheet", "preload", "icon"}:
            self.loaded |= {given[key] for key in ("src", "srcset", "href") if given.get(key)}


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_nobody(tmp_path):
    build = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-b", "html", DOCS, tmp_path]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = {path: Page(path.read_text("utf-8")) for path in tmp_path.rglob("*.html")}
    assert len(files) > 30 and all(path.stat().st_size < LARGEST for path in files)
    for path, page in files.items():
        assert not [address for address in page.loaded if re.match(r"(\w+:)?//", address)], path
        for address in page.loaded | page.links:
            target, _, anchor = address.partition("#")
            if re.match(r"\w+:|//", address):
                continue
            there = (path.parent / target.partition("?")[0]).resolve() if target else path
            assert there.exists(), f"{path.name} leads to {address}"
            assert not anchor or there.suffix != ".html" or anchor in files[there].anchors, f"{path.name}: {address}"
    for sheet in tmp_path.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", sheet.read_text("utf-8")), sheet
    assert "mathjax" not in "".join(path.read_text("utf-8").lower() for path in files)
