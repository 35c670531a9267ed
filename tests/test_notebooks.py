"""Every notebook runs from top to bottom, is committed without outputs, and shows what it says."""

import gc
import importlib.util
import re
import warnings
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import psutil
import pytest
from jupyter_core.utils import run_sync
from nbclient import NotebookClient

import nbmetrics as nm
from nbmetrics.datasets.noto import FONT
from tests import ROOT
from tests.slow import by_default

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# Three quarters of the time of all; tests of the rooms try what they show.
LONG = tuple(f"{number:02}_" for number in (7, 8, 9, 10, 11, 12))


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

    def execute(book):
        client = NotebookClient(book, km=manager, timeout=120)
        try:
            client.execute()
        finally:  # a socket that is left to the garbage warns in the test of somebody else
            client.kc.stop_channels()
            client.kc = None

    @cache
    def run(name):
        book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        forget = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(FORGET)])
        process = psutil.Process(manager.provisioner.pid)
        before = sum(process.cpu_times())
        execute(book)
        book.metadata["cpu"] = sum(process.cpu_times()) - before
        execute(forget)
        return book

    yield run
    run_sync(manager.shutdown_kernel)(now=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_there_are_notebooks():
    assert FOLDER / "00_start_here.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_is_committed_without_outputs(path):
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.mark.parametrize(
    "path", by_default(NOTEBOOKS, *(path for path in NOTEBOOKS if not path.stem.startswith(LONG))), ids=lambda p: p.stem
)
def test_runs(ran, path):
    book = ran(path.stem)
    shown = [o for cell in book.cells if cell.cell_type == "code" for o in cell.outputs]
    kinds = set().union(*(o.get("data", {}) for o in shown))
    # of one thread; those of a BLAS that wait for work count too, on a busy machine as much again
    assert book.metadata["cpu"] < 120, "seconds of processor time"
    assert "image/png" in kinds
    assert "application/vnd.jupyter.widget-view+json" in kinds


def test_start_here_shows_the_table_and_the_scatter(ran):
    book = ran("00_start_here")
    kinds = [set().union(*(o.get("data", {}) for o in cell.outputs)) for cell in book.cells if cell.cell_type == "code"]
    assert "text/html" in kinds[1]
    assert "image/png" in kinds[2]
    table = [cell for cell in book.cells if cell.cell_type == "code"][1]
    html = next(o.data["text/html"] for o in table.outputs if "text/html" in o.get("data", {}))
    assert "avg and all prefer Gaussian fit; they order" in html
    assert "avg ranks only eights above noisy copies, all ranks noisy copies above only eights" in html


@pytest.mark.slow
def test_theorems_are_plotted_and_print_the_corrections_and_the_published_inversions(ran):
    book = ran("07_theorems")
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


def text_of(book):
    """All that a notebook's cells printed or showed as text."""
    outputs = [o for cell in book.cells if cell.cell_type == "code" for o in cell.outputs]
    return "\n".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in outputs)


def names_of(name, *wanted):
    """What those cells of a notebook define that hold one of these texts; no lab and no scores are made."""
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    names = {}
    for cell in book.cells:
        if cell.cell_type == "code" and any(text in cell.source for text in wanted):
            lines = [line for line in cell.source.splitlines() if not line.startswith(("lab", "scores"))]
            exec("\n".join(lines), names)
    return names


@pytest.mark.slow
def test_federated_digits_say_what_their_text_says(ran):
    said = text_of(ran("08_federated_digits"))
    rows = {}
    for line in said.splitlines():
        if found := re.fullmatch(r" *(\S.*\S) +(fid|kid) +(\S+) +(\S+) +\S+", line):
            rows[found[2], found[1]] = [float(value.replace("−", "-").strip("*")) for value in found.group(3, 4)]
    order = ["much noise", "only eights", "a little noise", "fresh"]
    assert sorted(order, key=lambda g: rows["fid", g][0]) == order
    for metric, part in (("fid", 1), ("kid", 0), ("kid", 1)):
        ranked = sorted(order, key=lambda g: rows[metric, g][part])
        assert ranked == ["fresh", "a little noise", "much noise", "only eights"]
    spread = dict(re.findall(r"^(\w.*\S) +(\d+\.\d)$", said, re.MULTILINE))
    hospital, *made = (float(spread[g]) for g in ("a hospital, on average", "much noise", "a little noise", "fresh"))
    assert 2 * hospital < made[0] < made[1] < made[2]
    assert "FID-avg ranks above fresh images: class 8\n" in said
    assert "FID-avg orders noisy copies: noise 0.3, noise 0.2, noise 0.1, noise 0\n" in said
    assert "FID-all ranks above fresh images: no single class\n" in said
    assert float(re.search(r"recall-avg and recall-all: (\S+)", said)[1]) < 1e-12
    low, high = re.search(r"look-alikes: (\S+) to (\S+)", said).groups()
    assert 0.09 < float(low) < float(high) < 0.12
    if importlib.util.find_spec("ot"):
        assert "W1-avg: class 8, noise 0.2, noise 0\nW1-all: noise 0, noise 0.2, class 8\n" in said
    else:
        assert "pip install POT" in said
    assert "Not yet:" in said and "These are better images" in said


@pytest.mark.slow
def test_the_exercise_of_federated_digits_takes_right_answers_by_any_route():
    names = names_of("08_federated_digits", "load_digits", "generators = {", "from_dataset", "def check")
    check, fresh, noisy = (names[name] for name in ("check", "fresh", "noisy"))
    for images in (noisy(0.5), 0.5 * fresh, 0.5 * fresh + 0.5 * fresh.mean(axis=0)):
        assert re.fullmatch(r"Yes: .* You won by avg, and lost by all\.", check(images))
    assert "These are better images" in check(fresh)
    assert "What would bring" in check(fresh[names["kind"] == 8])
    pair = {name: names["generators"][name] for name in ("fresh", "much noise")}
    for alpha, wanted in ((0.1, "much noise"), (1, "fresh")):
        shared = nm.Federation.dirichlet(names["hospitals"], None, clients=10, alpha=alpha, extractor="digits-cnn")
        ranks = nm.evaluate(shared, pair, "fid").ranks("fid").set_index("generator")
        assert ranks["avg"].idxmin() == wanted and ranks["all"].idxmin() == "fresh"


@pytest.mark.slow
def test_watching_training_says_what_is_written(ran):
    said = text_of(ran("09_watching_training"))
    headline = re.search(r"Keep step (\S+), not 1,500: after (\S+), FID-all rose to", said)
    assert [int(at.replace(",", "")) for at in headline.groups()] == [1100, 1200] and "Best by FID-avg: step" in said
    before, after = (
        [float(x) for x in row] for row in re.findall(r"^fid +(\S+) +(\S+) +(\S+) +(\S+)$", said, re.MULTILINE)
    )
    assert 0.99 * before[0] < after[0] < after[1] < 1.01 * before[1] and after[2] > 1.5 * before[3]
    kid = [[float(x) for x in row] for row in re.findall(r"^kid +(\S+) +(\S+) +(\S+) +(\S+)$", said, re.MULTILINE)]
    assert kid[1][0] > kid[0][1] and kid[1][2] > kid[0][3]
    assert float(re.search(r"KID's gap lies within (\S+) of", said)[1]) < 1e-10
    one_class, alike = (float(row) for row in re.findall(r"a random digit +(\S+)", said))
    assert min(one_class, alike) > 1.3, "a collapse to a random digit, which FID-avg sees"
    if importlib.util.find_spec("torch"):
        kept = r"Best by FID-avg: step (\S+); by FID-all: step (\S+)\. By all, the difference is more than chance"
        heap, model = (int(step.replace(",", "")) for step in re.findall(kept, said)[-1])  # of the last run
        assert heap < model / 2


def test_sample_size_says_what_is_written(ran):
    book = ran("03_sample_size_and_bias")
    words = " ".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    cells = [cell for cell in book.cells if cell.cell_type == "code" and ".heterogeneity(" in cell.source]
    shown = [cell.outputs[-1].data["text/plain"] for cell in cells]
    alike, unlike, few = ([float(x) for x in re.findall(r"(?<=\s)-?\d+\.\d+(?!\S)|NaN", plain)] for plain in shown)
    for (gap, shuffled, *_), stated in (
        (alike, "shows a gap of 5.0, but"),
        (alike, "alike by construction: 5.1."),
        (unlike, "rose only from 5.0 to 5.4"),
        (few, "the gap of 27.2 compares with 27.0 for random deals"),
    ):
        assert stated in words and re.search(rf"\b({gap:.1f}|{shuffled:.1f})\b", stated)
    assert alike[-2] > 0.2 and alike[-1] > 0.2 and alike[3] < 0 < alike[4]
    assert unlike[-2:] == [0.05, 0.002] and unlike[3] > 0, "the smallest that 19 and 499 deals can give"
    assert few[-2] > 0.05 > few[-1] and np.isnan(few[2:5]).all(), "KID's test still sees the difference"


@pytest.mark.slow
def test_which_generator_says_what_is_written(ran):
    said = text_of(ran("12_which_generator"))
    assert "avg and all disagree: blend wins by avg" in said and "KID, there is a tie" in said
    assert "{'avg': 'blend', 'all': 'fresh', 'worst': 'blend'}" in said
    assert "narrow is first by avg and shifted by all, which sample size alone can explain" in said
    assert "In truth: {'shifted': 0.16, 'narrow': 0.31}" in said


@pytest.mark.slow
def test_your_own_images_come_to_the_decision_that_is_written(ran):
    book = ran("10_your_own_images")
    said = text_of(book)
    assert "1 of 601 files" in said and "oslo/diagnosis 4/broken.png" in said
    assert "avg prefers model-c, all prefers " in said
    assert "Best by FID-avg: model-c. Best by FID-all: model-b." in said, "the shell says the same"
    has_colour = Path(FONT).is_file()
    assert (
        "avg ranks only faces above noisy, all ranks noisy above only faces"
        if has_colour
        else "apt install fonts-noto-color"
    ) in said
    alike = said.count("KID: avg and all order the generators alike.")
    assert alike == 3 + has_colour, "the table, the lab's picture, the shell, and colour"
    assert "2,397 images at 8 a second: 5 minutes" in said
    flips = re.findall(r"^\d +(model-\w) +(model-\w) +(\S+) +(model-\w) +(\S+)$", said, re.MULTILINE)
    fid, kid = ({frozenset(row[:2]): row for row in part} for part in (flips[:3], flips[3:]))
    for table, by_avg in ((fid, True), (kid, False)):
        a_or_b = table[frozenset(("model-a", "model-b"))]
        assert min(float(a_or_b[2]), float(a_or_b[4])) > 0.1
        for other in ("model-a", "model-b"):
            row = table[frozenset((other, "model-c"))]
            assert (row[0] == "model-c") is by_avg and row[3] == other
            assert float(row[2]) < 0.01 and float(row[4]) < 0.01
    dealt = re.findall(r"^\d +model-\w +(\d\d\.\d+) +(0\.\d+)  ", said, re.MULTILINE)
    assert len(dealt) == 3 and all(float(gap) > 20 * float(shuffled) for gap, shuffled in dealt)
    assert len(re.findall(r"≤ 0\.05 +≤ 0\.002 *$", said, re.MULTILINE)) == 3
    precision = re.findall(r"^\d+ +model-(\w) +precision +(\S+) +(\S+)", said, re.MULTILINE)
    assert [max(precision, key=lambda row: float(row[k]))[0] for k in (1, 2)] == ["c", "a"]
    answers = re.findall(r"above\n +(.*)\. You: not answered yet", said)
    assert answers == ["larger", "about the same", "about the same"]


@pytest.mark.slow
def test_the_exercise_of_your_own_images_tells_right_from_wrong(capsys):
    with pytest.warns(nm.UnreadWarning, match="broken.png"):
        names = names_of("10_your_own_images", "load_digits", "from_folder(folder", "models = {", "def check")
    names["check"]({"fid": " Larger ", "fid_infinity": "same", "kid": "smaller"})
    verdicts = re.findall(r"You: (.*)\.", capsys.readouterr().out)
    assert verdicts[-3:] == ["right", "right", "not 'smaller'"]


@pytest.mark.slow
def test_beyond_one_machine_says_what_is_written(ran):
    said = text_of(ran("11_beyond_one_machine"))
    apart = [float(x) for x in re.findall(r"differ by (\S+) at most", said)]
    has_dask = importlib.util.find_spec("distributed") is not None
    assert len(apart) == 2 + has_dask and max(apart) < 1e-10
    assert has_dask or "No cluster here." in said
    assert "avg prefers narrow, all prefers wide" in said and "KID: avg and all order the generators alike" in said
    survives = re.findall(r"^(\S+) rows, FID-(\w+): the best model stays the best from ε = (\S+)$", said, re.MULTILINE)
    assert [row[:2] for row in survives] == [(n, part) for n in ("5,000", "200") for part in ("all", "avg")]
    many, few = ([float(row[2]) for row in survives if row[0] == n] for n in ("5,000", "200"))
    assert max(many) <= 0.3 and min(few) >= 3
    assert "north.account: 1 release has spent ε = 1 of 3" in said and "its checksum is right" in said
    assert "Best by FID-avg: narrow. Best by FID-all: wide." in said, "of four commands, with noise"


def test_beyond_one_machine_says_of_noise_what_its_study_shows():
    """Of 200 rows at ε = 3: first in all runs by FID-avg, and hardly more than half of the opposite orders shown."""
    names = names_of("11_beyond_one_machine", "import numpy as np")
    clients = {name: np.concatenate(list(read()))[:200] for name, read in names["hospitals"].items()}
    table = nm.federated.rank_survival(clients, names["models"], "fid", clip=6.0, epsilons=[3.0])
    row = table.set_index(["aggregate", "epsilon"]).loc[("avg", 3.0)]
    assert row["best_kept"] >= 0.95 and 0.5 <= row["kept_if_reversed"] <= 0.7 and not row["survives"]


def test_the_exercise_of_beyond_one_machine_tells_right_from_wrong(capsys):
    check = names_of("11_beyond_one_machine", "import numpy as np", "def can_stay")["check"]
    check(17_152, {"KID", "fid "}, "Half")
    check(8 * (64 + 64 * 64), {"fid"}, "a quarter")
    right, wrong = np.split(np.array(capsys.readouterr().out.splitlines()[3:]), [3])
    assert [line[2:8].strip(": ") for line in right] == ["right"] * 3
    assert "symmetric" in wrong[0] and "missing {'kid'}" in wrong[1] and "not quite" in wrong[2]


def test_how_many_samples_says_what_is_written(ran):
    said = text_of(ran("14_how_many_samples"))
    assert "there is a tie of 3, by avg and by all: clean, no nines and no eights" in said
    assert "clean is best by FID-all with confidence 0.95" in said
    share = int(re.search(r"rows instead of \S+: (\d+)%", said)[1])
    assert share < 75
    once, ever = re.search(r"at the end: (\d+)%; with 20 looks: (\d+)%", said).groups()
    assert int(once) < 8 < 20 < int(ever)
    assert "budget of 10,000 draws is spent, and FID-all does not tell first and second apart" in said
    assert "first and second tie: by FID-all they lie within 0.02 of each other" in said
    assert re.search(r"With other rows of the clients the winner could be (plus|minus) \(p = ", said)
