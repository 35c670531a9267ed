"""The guides say what is so: paths and make targets exist, pictures are of the present code, twins name each other."""

import re
from functools import reduce
from importlib import import_module

import nbformat
import pytest
import yaml

from tests import ROOT, flow_figure, rooms, rooms_figure

DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)
GUIDES = ("README.md", "CONTRIBUTING.md", "notebooks/README.md", *DOCS, "CHANGELOG.md")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(" ".join(re.findall(r"^([a-z][\w -]*):(?!=)", MAKEFILE, re.MULTILINE)).split())
# A picture is drawn again when a room has grown or shrunk by more than this.
STALE = 0.25, 60
# What the recipes of CONTRIBUTING.md make, and the reader's own files.
MADE = re.compile(
    r"(nbmetrics/labs/)?apart/.*|view/index.js|.*\bspread\.py|test_apart\.py|(apart|lab|lesson)\.html"
    r"|hospitals/|~/\.cache/.*|turin_parquet/|site/.*|lessons/|(index|teachers|class|gallery)\.html|labs/\w+\.html"
)


def linked(text, folder):
    """The paths that a Markdown text links to, from the folder it lies in."""
    found = re.findall(r"\]\(([^)#\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    return [(folder / path).resolve() for path in found if "://" not in path]


def mentioned(text):
    """What a Markdown text has in `code` that reads like a folder or a file."""
    return re.findall(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|js|md|html|toml|cff|ipynb))`", text)


def is_there(path):
    """Whether a file or folder of the package, the tests or the notebooks ends like this."""
    rooms = ("nbmetrics", "tests", "notebooks", "website")
    within = (found for room in rooms for found in (ROOT / room).rglob("*"))
    return (ROOT / path).exists() or any(f"/{found.as_posix()}".endswith(f"/{path.rstrip('/')}") for found in within)


@pytest.mark.parametrize("guide", GUIDES)
def test_every_path_that_a_guide_names_exists(guide):
    text, folder = (ROOT / guide).read_text("utf-8"), (ROOT / guide).parent
    assert [path for path in linked(text, folder) if not path.exists()] == []
    assert [path for path in mentioned(text) if not MADE.fullmatch(path) and not is_there(path)] == []
    assert guide not in {"README.md", "CONTRIBUTING.md", "docs/architecture.md"} or len(linked(text, folder)) > 5


def test_every_guide_is_linked_from_the_readme_or_a_guide_that_is():
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        reached.add(page)
        left += {path for path in linked(page.read_text("utf-8"), page.parent) if path.suffix == ".md"} - reached
    assert {ROOT / path for path in GUIDES} - {ROOT / "CHANGELOG.md"} <= reached


def anchors(text):
    """What a link may name after #: each heading in lower case, its spaces as hyphens, without other signs."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missed(text, page):
    """The paths and headings that a text links to, and that are not there."""
    paths = [str(path) for path in linked(text, page.parent) if not path.exists()]
    for path, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", text):
        target = (page.parent / path).resolve() if path else page
        found = anchors(target.read_text("utf-8") if path else text) if target.exists() else set()
        paths += [] if anchor in found else [f"{path}#{anchor}"]
    return paths


@pytest.mark.parametrize("guide", GUIDES)
def test_every_heading_that_a_guide_links_to_exists(guide):
    assert missed((ROOT / guide).read_text("utf-8"), ROOT / guide) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_file_and_heading_that_a_notebook_links_to_exists(path):
    cells = nbformat.read(path, as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert missed(text, path) == []


def test_links_to_what_is_not_there_are_missed():
    page = ROOT / "docs/labs.md"
    text = "# Here\n[a](#here) [b](#there) [c](speed.md#growth) [d](speed.md#no) [e](no.md#x) [f](https://e.org/#x)"
    assert missed(text, page) == ["#there", "speed.md#no", "no.md#x"]


def test_paths_are_read_and_missed():
    text = "see [a](absent/b.py), [web](https://example.org/x), `absent/c/`, `fid/` and `lab.py` or `3/4`"
    assert linked(text, ROOT) == [ROOT / "absent/b.py"]
    assert [path for path in mentioned(text) if not is_there(path)] == ["absent/c/", "3/4"]


def test_the_tree_names_every_room():
    tree = re.search(r"^```\n(nbmetrics/.*?)^```", ARCHITECTURE, re.DOTALL | re.MULTILINE)[1]
    names = {line.split()[0].strip("/").removesuffix(".py") for line in tree.splitlines()[1:] if line.startswith("  ")}
    assert names == {room.split("/")[-1] for room in rooms.ROOMS}


def test_the_picture_of_the_rooms_is_of_the_present_code():
    picture = (ROOT / "docs/rooms.svg").read_text("utf-8")
    (lines, graph), (now, arrows) = rooms_figure.facts_of(picture), rooms_figure.facts()
    assert graph == arrows, "python -m tests.rooms draws it again"
    share, some = STALE
    stale = {room: (lines[room], n) for room, n in now.items() if abs(lines[room] - n) > max(some, share * n)}
    assert not stale, f"python -m tests.rooms draws it again: {stale}"
    assert rooms_figure.drawing(lines, graph) == picture


def test_a_picture_of_rooms_shows_each_arrow_that_does_not_follow_from_others():
    lines, graph = dict.fromkeys("abcd", 100), {"a": {"b", "c", "d"}, "b": {"c"}, "c": set(), "d": set()}
    assert rooms_figure.floors_of(graph) == {"a": 2, "b": 1, "c": 0, "d": 0}
    picture = rooms_figure.drawing(lines, rooms_figure.reduced(graph))
    assert rooms_figure.facts_of(picture) == (lines, {"a": {"b", "d"}, "b": {"c"}, "c": set(), "d": set()})


def test_the_picture_of_the_flow_names_what_the_code_has():
    assert flow_figure.drawing() == (ROOT / "docs/flow.svg").read_text("utf-8")
    for name, home in flow_figure.HOMES.items():
        module, path = home.split(":")
        assert callable(reduce(getattr, path.split("."), import_module(module))), name
    assert set(flow_figure.HOMES) <= {name for *_, name in flow_figure.BOXES.values()}


def twins():
    """(Python, page, test) of each row of the table, by their paths from the root."""
    cell = r"\[[^]]+\]\(\.\./(\S+)\) \|"
    row = re.compile(rf"^\|[^|]+\| {cell} {cell} {cell}$", re.MULTILINE)
    return row.findall(ARCHITECTURE)


def header(path):
    """{(twin, test)} that the comment or docstring at the beginning of a file names, by their paths from the root."""
    text = (ROOT / path).read_text("utf-8")
    text = text[: text.find("*/") if path.endswith(".js") else text.find('"""', 3)]
    lines = re.findall(r"^(?: \* )?Twin: (.*) · held by: (tests/\S+)$", text, re.MULTILINE)
    return {(f"nbmetrics/{other}", test) for others, test in lines for other in others.split(", ")}


def test_twins_name_each_other_and_what_holds_them():
    table = twins()
    assert len(table) > 15
    for python, page, test in table:
        for path, other in ((python, page), (page, python)):
            assert (other, test) in header(path), f"{path} should name {other} and {test}"


def test_every_twin_that_a_file_names_is_in_the_table():
    listed = {(a, b, test) for python, page, test in twins() for a, b in ((python, page), (page, python))}
    files = [path.relative_to(ROOT).as_posix() for path in rooms.PACKAGE.rglob("*") if path.suffix in {".py", ".js"}]
    assert {(path, *named) for path in files for named in header(path)} == listed


def commands():
    """(job, command) of everything that the workflow runs."""
    flow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    return [(name, step["run"]) for name, job in flow["jobs"].items() for step in job["steps"] if "run" in step]


def test_the_workflow_calls_make_targets_that_exist():
    called = [(job, target) for job, run in commands() for target in re.findall(r"\bmake ([a-z][\w-]*)", run)]
    assert {target for _, target in called} <= TARGETS
    wanted = {
        "test-python",
        "test-browser",
        "test-js",
        "lint",
        "test-all",
        "docs",
        "release-check",
        "check-extras",
        "coverage",
    }
    assert {target for _, target in called} >= wanted


def test_the_workflow_covers_what_the_package_promises():
    flow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    classified = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert flow["jobs"]["linux"]["strategy"]["matrix"]["python"] == classified
    assert flow["jobs"]["macos"]["runs-on"].startswith("macos")
    assert any("EXTRAS=" in run for job, run in commands() if job == "macos")
    assert "schedule" in flow[True]  # YAML 1.1 reads the key `on` as true
    assert ("browser", "make test-browser") in commands()


def test_guides_call_make_targets_that_exist():
    for guide in GUIDES:
        text = (ROOT / guide).read_text("utf-8")
        called = re.findall(r"(?:^|`)(?:BROWSER=none )?make ([a-z][\w-]+)", text, re.MULTILINE)
        assert set(called) <= TARGETS, guide


def test_the_citation_names_what_the_package_is_about():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert cited["cff-version"] == "1.2.0" and f'version = "{cited["version"]}"' in project
    assert [a["name"] for a in cited["authors"]] == re.findall(r'authors = \[\{ name = "([^"]+)" \}\]', project)
    titles = [reference["title"] for reference in cited["references"]]
    assert len(titles) == len(set(titles)) and all(r["authors"] and r["type"] for r in cited["references"])
    short = [title.split(":")[0] for title in titles]
    for source in import_module("nbmetrics.datasets").SOURCES.values():
        assert any(source.startswith(title) for title in short), source


def test_the_glossary_has_each_word_once_in_two_sentences():
    text = (ROOT / "docs/glossary.md").read_text("utf-8")
    entries = re.findall(r"^\*\*(.+?)\.\*\* ((?:.+\n)+)", text, re.MULTILINE)
    heads = " ".join(head for head, _ in entries).lower()
    wanted = (
        "client generator weight aggregate avg all gap regret flip inversion convention caution interval fid kid fld"
    )
    assert len(entries) >= 20 and all(heads.count(f"{word}") for word in [*wanted.split(), "p-value", "extractor"])
    assert len({head for head, _ in entries}) == len(entries)
    for head, body in entries:
        plain = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(body.split()))
        assert len(re.findall(r"[.?](?= |$)", plain)) == 2, head
