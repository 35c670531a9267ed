"""The guide for teachers: plans fill the time, what is shown exists, code runs, exam answers are computed."""

import re

import nbformat
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

import nbmetrics as nm
from tests import ROOT

GUIDE = (ROOT / "docs/teaching.md").read_text("utf-8")
CONTENTS = (ROOT / "notebooks/README.md").read_text("utf-8")
LESSONS = nm.lessons().set_index("name")


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", GUIDE, re.DOTALL | re.MULTILINE)[1]


@pytest.mark.parametrize("minutes", [45, 90])
def test_a_plan_fills_its_minutes_and_gives_each_lesson_its_time(minutes):
    rows = re.findall(r"^\| (\d+)–(\d+) \| (.*?) \| (.*?) \|$", section(f"{minutes} minutes"), re.MULTILINE)
    starts, ends = zip(*((int(start), int(end)) for start, end, *_ in rows), strict=True)
    assert starts[0] == 0 and ends[-1] == minutes and starts[1:] == ends[:-1]
    assert all("?" in ask for *_, ask in rows)
    for start, end, shown, _ in rows:
        for name in re.findall(r"\*([^*]+)\*", shown):
            assert int(end) - int(start) >= LESSONS.loc[name, "minutes"]


def test_what_breaks_a_misconception_exists():
    table = section("What they get wrong, and what breaks it")
    named = set(re.findall(r"\*([^*]+)\*", table))
    assert named >= set(LESSONS.index) - {"Make them disagree"}
    assert named - set(LESSONS.index) == {"Subtract the constant", "Points", "Redraw", "Copycat", "Swap"}
    assert '"Copycat"' in (ROOT / "nbmetrics/labs/memorization/presets.json").read_text("utf-8")
    opening = nm.CorrelationLab().scores().table.set_index("metric")["avg"]
    assert [opening["mfid"], opening["cfid"]] == pytest.approx([0, 2.56], abs=1e-9) and "CFID 2.56" in table


def test_its_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL):
        exec(block, names)
    assert len(list(tmp_path.glob("*.html"))) == len(LESSONS) + 2
    assert names["same"].scene["clients"] == names["lab"].scene["clients"] and "#" in names["link"]
    assert max(page.stat().st_size for page in tmp_path.glob("*.html")) < 1_500_000


def exam():
    """{number: the bold part of its answer}"""
    found = re.findall(r"^(\d+)\. .*?<details>.*?\*\*(.*?)\*\*", section("Exam questions"), re.DOTALL | re.MULTILINE)
    return {int(number): answer.rstrip(".") for number, answer in found}


def fids(clients, generator):
    return nm.evaluate(clients, {"G": generator}, "fid").table.loc[0, ["avg", "all"]].to_numpy(float)


def test_the_exam_answers():
    near = nm.Federation([nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])])
    rng = np.random.default_rng(0)

    def best(part):
        found = minimize_scalar(
            lambda v: fids(near, nm.Gaussian([0, 0], [v, 1]))[part], bounds=(0.1, 5), method="bounded"
        )
        return round(found.x, 3)

    answers = {1: f"{np.average([4, 10], weights=[100, 300])}", 2: f"{best(0):g} and {best(1):g}"}
    union = fids(near, nm.Gaussian([0, 0], [2, 1]))
    assert union[0] > fids(near, nm.Gaussian([0, 0]))[0]
    answers[3] = f"{union[0]:.2f} and {union[1]:.0f}"
    distributions = {"A": nm.Gaussian([1, 0]), "B": nm.Gaussian([0, 0], [3, 1])}
    kid = nm.evaluate(near, distributions, "kid").table
    assert kid["gap"][0] == pytest.approx(kid["gap"][1])
    answers[4] = f"{0.25 - (0.30 - 0.12):.2f}"
    below = np.mean([nm.kid(rng.normal(size=(100, 16)), rng.normal(size=(100, 16))) < 0 for _ in range(200)])
    assert below > 0.5 + 2 * (0.25 / 200) ** 0.5
    answers[5] = "more than half"
    perfect = {n: np.mean([nm.fid(*rng.normal(size=(2, n, 64))) for _ in range(3)]) for n in (640, 800)}
    assert [perfect[640], perfect[800]] == pytest.approx([3.5, 2.8], abs=0.1)
    answers[6] = "3.5 and 2.8"
    far = nm.Federation([nm.Gaussian([-2, 0]), nm.Gaussian([2, 0])])
    twin = nm.theory.twin(far)
    offset = abs(twin.second.mean[1])
    assert 2 * offset**2 == pytest.approx(twin.all_gap) and offset == pytest.approx(5**0.5 - 1)
    answers[7] = f"{offset:.2f} and {twin.all_gap:.2f}"
    angles = np.arccos([0.8, -0.8])
    chord = 4 * np.sin((angles[0] - angles[1]) / 2) ** 2
    roots = np.sqrt(1 + np.array([0.8, -0.8]))
    assert chord == pytest.approx(2.56) and 2 * (roots[0] - roots[1]) ** 2 == pytest.approx(1.6)
    answers[8] = f"0, {2 * (roots[0] - roots[1]) ** 2:.1f} and {chord:.2f}"
    rows = rng.normal(size=(50, 3))
    answers[9] = f"{nm.fid(rows, rows):.0f}"
    out = (8 / 9) ** 0.5
    distribution = nm.theory.collapse([nm.Gaussian([-out], 1 / 9), nm.Gaussian([out], 1 / 9)], [0.2**0.5])
    assert (distribution.q, distribution.r, distribution.after) == pytest.approx((0.2, 1 / 3, 1.2))
    answers[10] = f"{distribution.ratio:.1f}"
    message = len(nm.federated.client_summary(rng.normal(size=(200, 64)), "fid"))
    assert message == pytest.approx(8 * 2144, rel=0.05)
    answers[11] = f"{64 + 64 * 65 // 2:,}"
    low, high = ([(1 - w) / 2, (1 - w) / 2, w] for w in (11 / 27 - 0.01, 11 / 27 + 0.01))
    assert np.dot(low, [8, 12, 34]) < np.dot(low, [20, 22, 18]) and np.dot(high, [8, 12, 34]) > np.dot(
        high, [20, 22, 18]
    )
    answers[12] = f"{11 / 27:.2f}"
    swapped = dict(zip(far.names, reversed([client.distribution for client in far]), strict=True))
    scores = nm.evaluate(far, {"G": swapped}, "fid").table.loc[0]
    answers[13] = f"{scores['intra']:.0f}, {scores['avg']:.2f} and {scores['all']:.0f}"
    assert exam() == answers


def test_the_contents_list_every_notebook_with_its_question():
    rows = re.findall(
        r"^\| \[(\d\d)\]\((\S+)\) \| (.*?) \| (\w+) \| (\d+) \| \w+ \| \d+ \| (.*?)\|$", CONTENTS, re.MULTILINE
    )
    table = pd.DataFrame(rows, columns=["number", "file", "question", "lab", "minutes", "needs"]).set_index("file")
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert [path.name for path in paths] == list(table.index)
    for path in paths:
        book = nbformat.read(path, as_version=4)
        code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
        row = table.loc[path.name]
        assert path.name.startswith(row["number"]) and book.cells[0].source.splitlines()[0] == f"# {row['question']}"
        assert "?" in book.cells[0].source and f"nm.{row['lab']}" in code
        assert ("torch" in row["needs"]) == ("training.train(" in code)
        assert ("POT" in row["needs"]) == ("transport_federated" in code)
        assert ("Dask" in row["needs"]) == ("cluster=" in code)
        assert ("font" in row["needs"]) == ("datasets.emoji" in code)


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_asks_is_tried_checked_and_set_beside_the_paper(path):
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert "?" in cells[0].source
    assert re.search(r"hree things to try|## Try this|\*\*Predict\*\*", text)
    assert re.search(r"the (paper|explainer)s?\b.*says?\b", text, re.IGNORECASE) and re.search(
        r"what is true", text, re.IGNORECASE
    )
    assert code.count("def check(") == 1 and "## Your turn" in text and "<details>" in text
