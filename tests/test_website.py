"""The site as files: every link leads somewhere, every page is small, nothing comes from elsewhere."""

import inspect
import json
import re
import shutil
from html.parser import HTMLParser

import nbformat
import pytest

import nbmetrics as nm
from nbmetrics.labs import __all__ as LABS
from tests import EVIL, ROOT
from website import books, build, labs, markdown, templates
from website.examples import EXAMPLE_TEXTS, EXAMPLES
from website.templates import Page, render

MOST_BYTES = 1_500_000
STATE = r'<script type="application/json">(.*?)</script>'
OPENS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}


class Links(HTMLParser):
    """What a page opens by itself, where it leads, its metas, and the first-level headings outside of labs."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.leads, self.metas, self.ids = [], [], {}, set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids.add(found.get("id"))
        if tag == "meta":
            self.metas[found.get("name") or found.get("property")] = found.get("content")
        if target := found.get(OPENS.get(tag, "")):
            (self.leads if tag == "a" else self.loads).append(target)


def read(path):
    return Links(path.read_text("utf-8"))


def weight(path):
    """Bytes of a page with its pictures."""
    local = [source for source in read(path).loads if not source.startswith("data:")]
    return path.stat().st_size + sum((path.parent / source).stat().st_size for source in local)


def assert_whole(site):
    """No dead link, nothing from elsewhere, no heavy page, in a whole site."""
    pages = sorted(site.rglob("*.html"))
    own = [path for path in pages if "docs" not in path.relative_to(site).parts]
    for path in own:
        page = read(path)
        assert all(source.startswith("data:image/svg") or (path.parent / source).is_file() for source in page.loads)
        for target in page.leads:
            if not re.match("[a-z]+:", target):
                file, _, _ = target.partition("#")
                assert not file.startswith("/")
                assert (path.parent / file).is_file() if file else path.is_file(), f"{path.name} leads to {target}"
        assert weight(path) <= MOST_BYTES, path
        assert len(page.metas["description"]) > 20 and page.metas["og:title"] and page.metas["viewport"]
        assert (path.parent / page.metas["og:image"]).suffix == ".png"
        assert (path.parent / page.metas["og:image"]).is_file()
    return own


def test_every_link_leads_to_a_file_and_every_page_is_small(site):
    pages = {str(path.relative_to(site)) for path in assert_whole(site)}
    assert {"index.html", "teachers.html", "class.html", "labs/twinslab.html", "lessons/where-is-kid.html"} <= pages
    assert len([page for page in pages if page.startswith("lessons/")]) == len(nm.lessons()) + 1
    linked = {
        (path.parent / href.partition("#")[0]).resolve() for path in site.rglob("*.html") for href in read(path).leads
    }
    assert {site / page for page in pages} <= linked, "every page can be reached"


def test_each_preset_that_a_page_can_show_is_a_link_that_opens_it(site, opened):
    lab = opened(nm.TwinsLab)
    shared = [href[1:] for href in read(site / labs.path_of("TwinsLab")).leads if href[0] == "#"]
    scenes = [opened(nm.TwinsLab.from_share, text).scene for text in shared]
    starts = {**lab.presets}
    assert starts.pop("Unequal shapes (numerical)"), "a search by Python, which the page lacks"
    assert [{**scene, "rev": 0} for scene in scenes] == [{**scene, "rev": 0} for scene in starts.values()]


def test_a_preset_without_its_numbers_is_no_link(opened):
    links = {scene["name"] for scene in labs._scenes(opened(nm.MemorizationLab))}
    assert links == {"Honest", "Copycat", "Half copied", "Noisy copycat", "Collapsed", "Too wide"}


def test_a_lesson_leads_on_to_the_next_ones_page_and_the_last_to_none(site):
    pages = [f"{labs.slug(name)}.html" for name in nm.lessons()["name"]]
    states = [json.loads(re.search(STATE, (site / "lessons" / page).read_text("utf-8"))[1]) for page in pages]
    assert [state["onward"] for state in states] == [*pages[1:], ""]
    assert all(state["locked"] == ["presets"] for state in states)


def test_every_lab_of_the_package_has_a_page_and_those_of_data_an_example():
    assert set(labs.all_labs()) == set(LABS) and labs.all_labs()[0] == "Playground"
    needy = {
        name
        for name in LABS
        if any(
            one.default is one.empty and one.kind == one.POSITIONAL_OR_KEYWORD
            for one in inspect.signature(getattr(nm, name)).parameters.values()
        )
    }
    assert needy <= set(EXAMPLES) == set(EXAMPLE_TEXTS) and all(len(labs.summary(name)) > 20 for name in LABS)


def test_no_lesson_is_answered_before_it_is_played(site):
    for row in nm.lessons().itertuples():
        for page in ("index", labs.slug(row.name)):
            seen = re.sub(
                r"<script.*?</script>", "", (site / f"lessons/{page}.html").read_text("utf-8"), flags=re.DOTALL
            )
            assert row.aim not in seen


def test_what_is_put_into_a_page_is_text():
    page = Page("a/b.html", EVIL, EVIL, "lessons.html", values={"lessons": []})
    text = render(page, {EVIL: "index.html"}, lambda path: False)
    assert EVIL not in text and text.count("&lt;img") >= 3 and 'href="../index.html"' in text


def test_only_an_older_site_is_replaced(tmp_path):
    (tmp_path / "kept.txt").write_text("mine")
    with pytest.raises(nm.InvalidInput, match="holds something else"):
        build.build(tmp_path, only=["Playground"])
    with pytest.raises(nm.InvalidInput, match="is a file"):
        build.build(tmp_path / "kept.txt")
    with pytest.raises(nm.InvalidInput, match="there is no folder"):
        build.build(tmp_path / "no" / "site")
    with pytest.raises(nm.InvalidInput, match="Playground"):
        build.build(tmp_path / "site", only=["Playgruond"])
    with pytest.raises(nm.InvalidInput, match="the Playground too"):
        build.build(tmp_path / "site", only=["TwinsLab"])
    for odd in ("a\0b", "~nobody at all/site", None, "x" * 300):
        with pytest.raises(nm.InvalidInput, match=r"^out: got"):
            build.build(odd)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_what_lies_beside_an_older_site_is_not_lost(tmp_path, site):
    again = shutil.copytree(site, tmp_path / "site")
    assert {path.name for path in again.iterdir()} <= build.SITE_ENTRIES and build._check_target(again) == again
    (again / ".git").mkdir()
    with pytest.raises(nm.InvalidInput, match=r"something else, such as '\.git'"):
        build.build(again)
    assert (again / "index.html").is_file() and (again / ".git").is_dir()


def test_binder_is_linked_where_the_repository_is_known_and_put_into_words_elsewhere(monkeypatch):
    page = Page("notebooks/index.html", "Notebooks", "All of them.", "notebooks.html", values={"books": []})
    monkeypatch.setattr(templates, "urls", dict)
    assert "mybinder" not in render(page, {}, bool) and "<code>make lab</code>" in render(page, {}, bool)
    monkeypatch.setattr(templates, "urls", lambda: {"repository": "https://github.com/some/where"})
    link = "https://mybinder.org/v2/gh/some/where/HEAD?labpath=notebooks/00_start_here.ipynb"
    assert f'href="{link}"' in render(page, {}, bool)


CELLS = [
    (
        "markdown",
        "# How *wide*?\n\nA $\\hat\\rho^2$ of [this](01_b.ipynb), [all](README.md), [that](../docs/none.md) and "
        "![a](images/p.png).\n\n```python\nx = 1\n```",
    ),
    ("code", "print('<b>not bold</b>')"),
    ("code", "import nbmetrics as nm\nlab = nm.TwinsLab('Three on a line')\nlab"),
    ("code", "import pandas as pd\npd.DataFrame({'<i>': [1.5]})"),
]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The page of a tiny notebook, and the folder it is in."""
    folder = tmp_path_factory.mktemp("books")
    (folder / "images").mkdir()
    (folder / "images/p.png").write_bytes((ROOT / "notebooks/images/playground.png").read_bytes())
    made = nbformat.v4.new_notebook(cells=[getattr(nbformat.v4, f"new_{kind}_cell")(text) for kind, text in CELLS])
    nbformat.write(made, folder / "00_a.ipynb")
    page, _ = books.book_pages([folder / "00_a.ipynb"], folder / "out")
    return page, render(page, {"Notebooks": books.BOOKS}, lambda path: False), folder / "out"


def test_a_notebook_is_run_and_written_down(book):
    page, text, out = book
    assert page.title == "How wide?" and page.description.startswith("A ")
    assert 'role="img" aria-label="\\hat\\rho^2"' in text and "<h1>How <em>wide</em>?</h1>" in text
    assert 'href="01_b.html"' in text and ", that and" in text and 'src="images/p.png"' in text
    assert '<a href="index.html">all</a>' in text and '<pre class="code" tabindex="0"><code class="language-' in text
    assert (out / "notebooks/images/p.png").is_file()
    assert (
        "&lt;b&gt;not bold&lt;/b&gt;" in text
        and "&lt;i&gt;" in text
        and "<td>1.5</td>" in text
        and "<th></th>" not in text
    )


def test_the_list_of_notebooks_has_their_first_sentences():
    cell = nbformat.v4.new_markdown_cell("# Title\n\nA $\\hat y$ and a *guess*. There are two:\n\n- one")
    assert books._opening(nbformat.v4.new_notebook(cells=[cell])) == "A ŷ and a guess."


def test_a_lab_in_a_notebook_is_its_picture_and_a_link_that_opens_its_scene(book, opened):
    _, text, out = book
    source, alt = re.search(r'<img src="(images/00_a-1.png)"[^>]* alt="([^"]*)"', text).groups()
    assert (out / "notebooks" / source).read_bytes().startswith(b"\x89PNG") and alt.startswith("TwinsLab")
    share = re.search(r'href="../labs/twinslab.html#([^"]+)"', text)[1]
    found, wanted = opened(nm.TwinsLab.from_share, share), opened(nm.TwinsLab, "Three on a line")
    assert {**found.scene, "rev": 0} == {**wanted.scene, "rev": 0}


def test_a_scene_whose_numbers_its_page_lacks_is_not_linked(opened):
    links = {
        preset: books._hash("MemorizationLab", opened(nm.MemorizationLab, preset=preset, points=points).scene)[:6]
        for preset, points in (("Copycat", None), ("Half copied", 100))
    }
    assert links == {"Copycat": "#nbm1.", "Half copied": ""}


def test_a_formula_that_cannot_be_drawn_is_shown_as_it_is_written():
    assert markdown.formula(r"\begin{matrix} <1> \end{matrix}") == r"<code>\begin{matrix} &lt;1&gt; \end{matrix}</code>"
    assert markdown.formula(r"x").count("<path") == 1


@pytest.mark.slow
def test_the_whole_site_but_for_its_notebooks(tmp_path):
    site = build.build(tmp_path / "site", notebooks=False)
    pages = {str(path.relative_to(site)) for path in assert_whole(site)}
    assert {labs.path_of(name) for name in LABS} | {"gallery.html"} <= pages
    for page, home in {"docs/index.html": "../index.html", "docs/api/evaluate.html": "../../index.html"}.items():
        assert home in read(site / page).leads
