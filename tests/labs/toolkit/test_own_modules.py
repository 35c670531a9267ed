"""Page modules of a lab outside the package: they import one another and the toolkit, and a page tells no folders."""

import json

import pytest

import nbmetrics as nm
from nbmetrics.labs.toolkit import modules
from tests.node import needs_node, node

FILES = {
    "my lab/view/index.js": """\
import { half as halved } from "./parts/half-of.js";
import { figure } from "nbmetrics/toolkit/view/numbers.js";
import facts from "../facts.json" with { type: "json" };
export default () => figure(halved(facts.whole));
""",
    "my lab/view/parts/half-of.js": """\
import { two } from "../../shared.js";
export const half = (x) => x / two;
""",
    "my lab/shared.js": "export const two = 2;\n",
    "my lab/facts.json": '{"whole": 5}',
    "my lab/view/style.css": ".mine { color: red; }\n",
}


@pytest.fixture
def entry(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    yield tmp_path / "my lab/view/index.js"
    modules.forget()


@needs_node
def test_it_runs_as_one_module(entry, tmp_path):
    joined = modules.module(entry)
    assert str(tmp_path) not in joined and "import " not in joined
    page = tmp_path / "page.mjs"
    page.write_text(joined.replace("export default", "const made =") + "\nconsole.log(made());", "utf-8")
    assert node(page) == "2.500\n"


def test_its_style_follows_the_toolkits(entry, tmp_path):
    style = modules.style(entry.with_name("style.css"))
    assert style.startswith(modules.style()) and style.endswith(FILES["my lab/view/style.css"])
    assert str(tmp_path) not in style


def test_an_edit_is_found_when_it_is_joined_again(entry):
    before = modules.module(entry), modules.style(entry.with_name("style.css"))
    (entry.parents[1] / "facts.json").write_text(json.dumps({"whole": 7}), "utf-8")
    entry.with_name("style.css").write_text(".mine { color: blue; }\n", "utf-8")
    modules.forget()
    module, style = map(modules.rejoin, before)
    assert '{"whole":7}' in module and module == before[0].replace('{"whole":5}', '{"whole":7}')
    assert style == before[1].replace("color: red", "color: blue")


def test_a_file_that_is_not_there_is_named(entry):
    (entry.parents[1] / "shared.js").unlink()
    with pytest.raises(FileNotFoundError, match=r"shared\.js"):
        modules.module(entry)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import { el } from 'nbmetrics/toolkit/view/dom.js';", "double quotes"),
        ('import { el } from "nbmetrics/toolkit/view/dom.js"', "semicolon"),
        ('import * as dom from "nbmetrics/toolkit/view/dom.js";', "names in braces"),
        ('const end = "</script>";', "end the page's script"),
    ],
)
def test_what_would_leave_the_page_empty_is_refused(tmp_path, line, said):
    path = tmp_path / "view.js"
    path.write_text(f"{line}\nexport default 1;\n")
    with pytest.raises(nm.InvalidInput, match=said):
        modules.module(path)
