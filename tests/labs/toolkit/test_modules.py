"""The joiner: each page module in a scope of its own, in one script."""

import json
import re

import pytest

import nbmetrics as nm
from nbmetrics.labs.toolkit import modules
from tests.node import needs_node, node

LABS = (nm.Playground, nm.CorrelationLab, nm.TwinsLab, nm.MemorizationLab, nm.Dashboard, nm.Monitor, nm.PrivacyLab)
# Two files of one name, each with an `own` of its own; a name given another; a name that is used by nobody.
FILES = {
    "a/view/index.js": (
        'import {\n  told,\n  twice as doubled,\n} from "../../b/view/words.js";\n'
        'import { told as toldHere } from "./words.js";\n'
        'import facts from "../facts.json" with { type: "json" };\n'
        'const own = /** @type {string} */ ("index");\n'
        "/**\n * Where it begins.\n */\n"
        "export default () => [own, told(), toldHere(), doubled(2), facts.end, facts.list.length];\n"
    ),
    "a/view/words.js": 'const own = "a";\nexport const told = () => own;\n',
    "b/view/words.js": (
        'import facts from "../../a/facts.json" with { type: "json" };\n'
        'const own = "b";\nexport function told() {\n  return own + facts.list[0];\n}\n'
        "export function twice(value) {\n  return 2 * value;\n}\nexport class Unused {}\n"
    ),
    "a/facts.json": json.dumps({"end": "</script><!-- −", "list": [7, 8]}, indent=2),
}
EXPECTED = ["index", "b7", "a", 4, "</script><!-- −", 2]


@pytest.fixture
def joined(monkeypatch):
    monkeypatch.setattr(modules, "source", FILES.__getitem__)
    modules.module.cache_clear()
    yield modules.module("a/view/index.js")
    modules.module.cache_clear()


def run_in_node(text, path):
    path.write_text(text, "utf-8")
    return node(path)


@needs_node
def test_every_module_keeps_its_names_to_itself(joined, tmp_path):
    shown = joined.replace("export default", "const shown =") + "\nconsole.log(JSON.stringify(shown()));\n"
    assert json.loads(run_in_node(shown, tmp_path / "joined.mjs")) == EXPECTED


def test_names_are_taken_out_of_scopes_by_destructuring(joined):
    assert re.search(r"const \{\s*told,\s*twice: doubled,\s*\} = b_view_words;", joined)
    assert "const { told: toldHere } = a_view_words;" in joined
    assert "return { told, twice, Unused };" in joined
    assert not re.search(r"^import|^export (?!default)", joined, re.MULTILINE)


def test_blocks_for_readers_and_types_stay_out_and_casts_stay(joined):
    assert "Where it begins" not in joined and 'own = /** @type {string} */ ("index");' in joined


def test_a_file_is_put_in_once_after_what_it_imports(joined):
    assert modules.files_of(joined) == ["a/facts.json", "b/view/words.js", "a/view/words.js", "a/view/index.js"]


def test_json_is_a_constant_that_cannot_end_the_script(joined):
    (line,) = [line for line in joined.splitlines() if line.startswith("const a_facts_json = ")]
    assert "<" not in line and json.loads(line.partition(" = ")[2].rstrip(";")) == json.loads(FILES["a/facts.json"])


def test_a_style_is_the_sheets_in_order():
    text = modules.style("toolkit/view/tabs.css")
    sheets = [modules.source(path) for path in ("toolkit/view/lab.css", "toolkit/view/tabs.css")]
    assert 0 <= text.find(sheets[0]) < text.find(sheets[1])


@needs_node
@pytest.mark.parametrize("kind", LABS)
def test_node_reads_the_module_of_every_lab(kind, tmp_path):
    (tmp_path / "lab.mjs").write_text(kind._esm, "utf-8")
    node("--check", tmp_path / "lab.mjs")


@pytest.mark.parametrize("kind", LABS)
def test_a_module_has_one_export_and_no_import_left(kind):
    assert re.findall(r"^export (\w+)", kind._esm, re.MULTILINE) == ["default"]
    assert not re.search(r"^import\b", kind._esm, re.MULTILINE)


@pytest.mark.parametrize(
    ("kind", "most"), [(nm.CorrelationLab, 111_000), (nm.MemorizationLab, 159_000), (nm.PrivacyLab, 97_000)]
)
def test_a_page_carries_only_what_it_uses(kind, most):
    assert len(kind._esm) <= most


@pytest.mark.parametrize(
    ("kind", "own", "others"),
    [
        (nm.Playground, "playground", {"toolkit", "plane"}),
        (nm.TwinsLab, "twins", {"toolkit", "plane"}),
        (nm.CorrelationLab, "correlation", {"toolkit"}),
        (nm.MemorizationLab, "memorization", {"toolkit"}),
        (nm.Dashboard, "dashboard", {"toolkit"}),
        (nm.Monitor, "monitor", {"toolkit"}),
        (nm.PrivacyLab, "privacy", {"toolkit"}),
    ],
)
def test_no_lab_loads_the_page_of_another(kind, own, others):
    paths = modules.files_of(f"{kind._esm}\n{kind._css}")
    assert {f"{own}/view/index.js", "toolkit/view/lab.css"} <= set(paths)
    assert {path.split("/")[0] for path in paths} == {own, *others}
    assert ("toolkit/view/matrix.js" in paths) == ("toolkit/view/matrix.css" in paths)
