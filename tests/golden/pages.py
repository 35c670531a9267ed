"""A run notebook with the state of its labs, and a page that a lab saved: each with the code of its release."""

import gzip
import json

import nbformat
from nbclient import NotebookClient

import nbmetrics as nm
from tests.browser.labs import LABS
from tests.golden.labs import content

WIDGETS = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
NOTEBOOK, PAGE = "notebook.ipynb.gz", "correlation.html.gz"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
CELLS = [
    """import nbmetrics as nm
played = nm.Playground("Heterogeneous six")
played.reset()
played""",
    """clients = [nm.Client(nm.Gaussian(mean), name=f"Client {weight}", weight=weight)
           for weight, mean in enumerate([[0, 0], [2, 0], [0, 3]], 1)]
generators = {"Narrow": nm.Gaussian([0.5, 1]), "Wide": nm.Gaussian([0.5, 1], [1.5, 2])}
compared = nm.Dashboard(nm.Federation(clients), generators)
compared.wait()
compared""",
]


def make_notebook(release):
    """Write a notebook with a Playground and a Dashboard, run from top to bottom as Jupyter does, but no pictures."""
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{k}") for k, source in enumerate(CELLS)]
    book = nbformat.v4.new_notebook(cells=cells, metadata=KERNEL)
    NotebookClient(book, timeout=120).execute()
    for cell in book.cells:
        for output in cell.outputs:
            output["data"].pop("image/png", None)
            output["metadata"].pop("image/png", None)
    write(release, NOTEBOOK, nbformat.writes(book))
    names = {}
    exec("\n".join(CELLS), names)
    labs = {"Playground": names["played"], "Dashboard": names["compared"]}
    release.write("notebook.json", {name: shown(name, lab) for name, lab in labs.items()})


def shown(name, lab):
    """The scene of a lab, what is before and after it, and the numbers in its table."""
    found = {"scene": content(lab.scene), "history": lab.history, "rows": LABS[name].rows(lab)}
    lab.close()
    return found


def make_page(release, folder):
    """Write the page of a CorrelationLab."""
    lab = nm.CorrelationLab(0.25, -0.5, metric="rfid")
    text = lab.export_html(folder / "page.html", title="Kept", text="A question.\nTwo lines.", author="A. Teacher")
    write(release, PAGE, text.read_text("utf-8"))
    release.write("page.json", {"scene": content(lab.scene), "scores": lab.result["scores"]})
    lab.close()


def write(release, name, text):
    """Write a text, compressed; the same text gives the same file."""
    release.path(name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def read(release, name):
    """A text that `write` wrote."""
    return gzip.decompress(release.path(name).read_bytes()).decode()


def labs_of(book):
    """The state of each lab that a notebook shows, by the name of its class."""
    state = book.metadata["widgets"][WIDGETS]["state"]
    shown = [o["data"][VIEW]["model_id"] for cell in book.cells for o in cell.outputs if VIEW in o.get("data", {})]
    models = [state[model]["state"] for model in shown]
    return {lab_named(model): json.loads(json.dumps(model)) for model in models}


def lab_named(model):
    """The class of the lab with that state."""
    return "Dashboard" if "board" in model else "Playground"
