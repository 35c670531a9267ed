"""The server settings of binder/: a notebook that is saved again keeps the labs it shows, and only those."""

import asyncio
import json
import re
import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import nbformat
import pytest

from tests import ROOT

pytest.importorskip("jupyter_server", reason="no JupyterLab; pip install nbmetrics[lab]")
STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
LAB, LAYOUT, UNSEEN, OTHER, BOX = (digit * 32 for digit in "abcde")
WIDGETS = {
    LAB: {"model_name": "AnyModel", "state": {"layout": f"IPY_MODEL_{LAYOUT}"}},
    LAYOUT: {"model_name": "LayoutModel", "state": {}},
    UNSEEN: {"model_name": "LayoutModel", "state": {}},
}
WHOLE = {name: WIDGETS[name] for name in (LAB, LAYOUT)}


@pytest.fixture
def contents(tmp_path, monkeypatch):
    """The files of a server that read the settings."""
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
    from jupyter_server.services.contents.manager import ContentsManager
    from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

    for changed, name in ((ContentsManager, "__init__"), (KernelWebsocketHandler, "open")):
        monkeypatch.setattr(changed, name, getattr(changed, name))  # put back after the test
    runpy.run_path(str(ROOT / "binder/jupyter_server_config.py"))
    return AsyncLargeFileManager(root_dir=str(tmp_path))


def notebook(shown, widgets):
    """One cell that shows these widgets; what the front end saves of their state, None where it saves none."""
    outputs = [nbformat.v4.new_output("display_data", {VIEW: {"model_id": name}}) for name in shown]
    saved = {} if widgets is None else {"widgets": {STATE: {"state": widgets}}}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("lab", outputs=outputs)], metadata=saved)


def kept(contents, path, book):
    """The widgets in the file after a save."""
    saving = contents.save({"type": "notebook", "content": json.loads(nbformat.writes(book))}, path)
    with ThreadPoolExecutor(1) as pool:  # where a browser is driven from, a loop runs in this thread
        pool.submit(asyncio.run, saving).result()
    written = nbformat.read(f"{contents.root_dir}/{path}", 4)
    return written.metadata.get("widgets", {STATE: {"state": None}})[STATE]["state"]


def test_what_is_shown_is_kept_when_its_python_is_gone(contents):
    assert kept(contents, "a.ipynb", notebook([LAB], WIDGETS)) == WHOLE
    assert kept(contents, "a.ipynb", notebook([LAB], {})) == WHOLE
    assert kept(contents, "a.ipynb", notebook([LAB], {})) == WHOLE


def test_a_lab_that_lives_replaces_the_saved_one_and_a_removed_output_its_state(contents):
    kept(contents, "a.ipynb", notebook([LAB], WIDGETS))
    moved = WIDGETS[LAB] | {"state": {"layout": f"IPY_MODEL_{LAYOUT}", "scene": {"rev": 1}}}
    assert kept(contents, "a.ipynb", notebook([LAB], {LAB: moved})) == WHOLE | {LAB: moved}
    assert kept(contents, "a.ipynb", notebook([OTHER], {OTHER: WIDGETS[LAYOUT]})) == {OTHER: WIDGETS[LAYOUT]}
    assert kept(contents, "a.ipynb", notebook([], {})) == {}


def test_a_lab_inside_an_output_widget_is_kept(contents):
    box = {"model_name": "OutputModel", "state": {"outputs": [{"data": {VIEW: {"model_id": LAB}}}]}}
    assert kept(contents, "a.ipynb", notebook([BOX], WIDGETS | {BOX: box})) == WHOLE | {BOX: box}


def test_nothing_is_added_where_widgets_are_not_saved(contents):
    assert kept(contents, "a.ipynb", notebook([LAB], None)) is None


def test_a_new_name_has_nothing_to_keep(contents):
    assert kept(contents, "b.ipynb", notebook([LAB], {})) == {}


def test_a_hook_of_the_users_own_comes_first(contents):
    def without_outputs(model, **_):
        for cell in model["content"]["cells"]:
            cell["outputs"] = []

    contents.pre_save_hook = without_outputs
    assert kept(contents, "a.ipynb", notebook([LAB], WIDGETS)) == {}


def test_make_lab_starts_jupyterlab_without_a_grammar_of_web_addresses():
    make = re.search("^lab_server := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    code = f"import sys, atexit; atexit.register(lambda: print(*sys.modules)); {make[1]}"
    said = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(version("jupyterlab"))
    assert "jsonschema" in said.split() and "lark" not in said.split()
