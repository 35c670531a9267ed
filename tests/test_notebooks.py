"""Every notebook runs from top to bottom, is committed without outputs, and shows what it says."""

from functools import cache

import nbformat
import pytest
from jupyter_core.utils import run_sync
from nbclient import NotebookClient

from tests import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


# A kernel that is as when it began, but that what it has imported is there at once.
FORGET = """import ipywidgets
ipywidgets.Widget.close_all()
get_ipython().reset(new_session=True)"""


@pytest.fixture(scope="module")
def ran():
    """ran(name) -> the notebook, run once from top to bottom in a kernel that forgets between two; read it only."""
    first = NotebookClient(nbformat.v4.new_notebook())
    manager = first.create_kernel_manager()
    first.start_new_kernel(cwd=str(FOLDER))

    @cache
    def run(name):
        book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        forget = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(FORGET)])
        for cells in (book, forget):
            NotebookClient(cells, km=manager, timeout=120).execute()
        return book

    yield run
    run_sync(manager.shutdown_kernel)(now=True)


def test_there_are_notebooks():
    assert FOLDER / "00_start_here.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_is_committed_without_outputs(path):
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_runs(ran, path):
    book = ran(path.stem)
    shown = [o for cell in book.cells if cell.cell_type == "code" for o in cell.outputs]
    kinds = set().union(*(o.get("data", {}) for o in shown))
    assert "image/png" in kinds
    assert path.stem == "theorems" or "application/vnd.jupyter.widget-view+json" in kinds


def test_start_here_shows_the_table_and_the_scatter(ran):
    book = ran("00_start_here")
    kinds = [set().union(*(o.get("data", {}) for o in cell.outputs)) for cell in book.cells if cell.cell_type == "code"]
    assert "text/html" in kinds[1]
    assert "image/png" in kinds[2]
    table = [cell for cell in book.cells if cell.cell_type == "code"][1]
    html = next(o.data["text/html"] for o in table.outputs if "text/html" in o.get("data", {}))
    assert "avg prefers only eights, all prefers noisy copies" in html


def test_theorems_are_plotted_and_print_the_corrections_and_the_published_inversions(ran):
    book = ran("theorems")
    outputs = [o for cell in book.cells if cell.cell_type == "code" for o in cell.outputs]
    said = "\n".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in outputs)
    assert "as printed  client scores [[1.1716, 2.0], [1.1716, 2.0]]" in said
    assert "corrected   client scores [[1.1716, 1.1716], [1.1716, 1.1716]]" in said
    assert "Sides(left=2.0, right=1.171" in said and "of 105 pairs differently" in said
    assert "left=62.418" in said and "bound − avg" in said
    published = next(line for line in said.splitlines() if line.split()[:2] == ["published", "kid"])
    assert published.split()[2:4] == ["81", "4950"]
    section, plots = "", {}
    for cell in book.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            section = cell.source.splitlines()[0]
        found = [o for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
        plots[section] = plots.get(section, 0) + len(found)
    assert [count for section, count in plots.items() if section[3:4].isdigit()] == [1, 1, 1, 3, 1, 2]
