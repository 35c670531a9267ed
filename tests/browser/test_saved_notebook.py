"""A notebook that JupyterLab saved, where no lab lives: on GitHub and in HTML, each lab is a picture and its words."""

import nbformat
import pytest
from nbconvert import HTMLExporter
from traitlets.config import Config

from tests.browser.labs import LABS
from tests.browser.test_reopened import SAVE

WIDGETS = "application/vnd.jupyter.widget-state+json"
# As docs/install.md says it to the command.
AS_PICTURES = {"template_name": "classic", "config": Config({"ClearMetadataPreprocessor": {"enabled": True}})}


def pictures_of(book):
    """(what each output with a picture holds, the words that the file has for it)."""
    outputs = [o for cell in book.cells for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
    return [(o["data"], o["metadata"]["image/png"]["alt"]) for o in outputs]


@pytest.mark.slow
@pytest.mark.jupyterlab
@pytest.mark.place("GitHub", shows="a picture with words")
@pytest.mark.place("HTML by nbconvert", shows="a picture with words")
@pytest.mark.parametrize("names", [("Playground",), tuple(LABS)])
def test_labs_are_pictures_with_words(run_cells, lab_server, browser, names):
    page = run_cells(*(LABS[name].source for name in names))
    page.evaluate(SAVE)
    path = lab_server.work / page.evaluate("() => window.__panel.context.path")
    book = nbformat.read(path, as_version=4)
    assert WIDGETS in book.metadata["widgets"], "as make lab saves it, so that labs reopen"
    pictures = pictures_of(book)
    assert len(pictures) == len(names)
    assert all(words.startswith(name) for (_, words), name in zip(pictures, names, strict=True))
    assert [data["text/plain"] for data, _ in pictures] == [words for _, words in pictures]
    assert_pictures_show(browser, HTMLExporter(**AS_PICTURES).from_notebook_node(book)[0], path, pictures)


def assert_pictures_show(browser, html, path, pictures):
    """The page from disk with no network has them, by their words."""
    path.with_suffix(".html").write_text(html, "utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(path.with_suffix(".html").as_uri(), wait_until="domcontentloaded")
    for _, words in pictures:
        picture = page.get_by_role("img", name=words, exact=True)
        assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth; }") > 400
    context.close()
