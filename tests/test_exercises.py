"""The exercises of the notebooks: right answers by several routes, and the usual wrong ones, each told why.

An exercise is one cell, which needs no other: a notebook that was saved and reopened can be answered at once.
"""

from fractions import Fraction
from functools import cache

import nbformat
import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.evaluation import race as race_module
from tests import ROOT

FOLDER = ROOT / "notebooks"


@cache
def source(name):
    book = nbformat.read(next(FOLDER.glob(f"{name}_*.ipynb")), as_version=4)
    (cell,) = (cell.source for cell in book.cells if cell.cell_type == "code" and "def check(" in cell.source)
    return cell


@cache
def text(name):
    """All of a notebook's words."""
    book = nbformat.read(next(FOLDER.glob(f"{name}_*.ipynb")), as_version=4)
    return "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")


@pytest.fixture
def said(capsys):
    """said(notebook, *answers) -> the lines that its exercise prints for them."""
    kept = {}

    def run(name, *answers):
        if name not in kept:
            kept[name] = {}
            exec(source(name), kept[name])
        capsys.readouterr()
        kept[name]["check"](*answers)
        return capsys.readouterr().out.splitlines()

    return run


def verdicts(lines):
    """Of each answer, numbered or named: whether it was right, None for one that is not there yet."""
    told = [line for line in lines if not line.startswith(" ")]
    return [None if "not answered yet" in line else ": right" in line or ". right" in line for line in told]


def test_start_here_weighs_by_rows_and_shows_that_all_is_another_question(said):
    assert verdicts(said("00", None, None)) == [None, None]
    for avg in (8.5, Fraction(17, 2), "8.5", 4 / 4 + 30 / 4):
        assert verdicts(said("00", avg, False)) == [True, True]
    assert "weighs both clients alike" in said("00", 7, False)[0]
    assert "swapped" in said("00", 5.5, None)[0] and "by its share" in said("00", 14, None)[0]
    wrong = said("00", 8.5, True)
    assert verdicts(wrong) == [True, False]
    assert [line[-3:] for line in wrong[2:]] == ["8.3", "5.6"] and all("avg 8.5" in line for line in wrong[2:])


def test_the_best_variances_by_formula_or_by_a_grid(said):
    assert verdicts(said("01", None, None)) == [None, None]
    for answer in ((1, 5), (1.0, 1 + 2**2), (0.97, 4.8), (Fraction(1), Fraction(5))):
        assert verdicts(said("01", *answer)) == [True, True]
    assert ["best by all" in said("01", 5, 1)[0], "best by avg" in said("01", 5, 1)[1]] == [True, True]
    for v, why in ((4, "within them"), (3, "variances add"), (2, "clients at ±1"), (9, "a grid finds it")):
        assert why in said("01", 1, v)[1]
    assert "squared" in said("01", 4, 5)[0]


def test_kid_keeps_a_difference_and_fid_does_not(said):
    assert verdicts(said("02", None, None)) == [None, None]
    for answer in (3, 35 - 32, 10.625 - (42.625 - 35), 3.004):
        assert verdicts(said("02", answer, False)) == [True, True]
    assert "not their ratio" in said("02", 10.625 * 35 / 42.625, False)[0]
    assert "better by all, too" in said("02", 10.625 + 42.625 - 35, False)[0]
    assert "how far is avg above all" in said("02", 35, False)[0]
    assert verdicts(said("02", 3, True)) == [True, False]
    assert "'A': 2.47, 'B': 4.28" in said("02", 3, True)[1]


def test_rows_enough_for_a_bias_below_one_and_scores_of_different_rows(said):
    assert verdicts(said("03", None, None)) == [None, None]
    for rows, better in ((2400, "not shown"), (3000, " Not shown")):
        assert verdicts(said("03", rows, better)) == [True, True]
    assert verdicts(said("03", 640, "B")) == [False, False]
    assert "3.6 from 640 and 2.9 from 800" in said("03", 640, "A")[1]
    assert "features" in said("03", 64, None)[0] and "try fewer" in said("03", 10**9, None)[0]
    assert verdicts(said("03", 1200, None)) == [True, None] and "not twice as many" in said("03", 1200, None)[0]
    assert verdicts(said("03", 1000, None)) == [False, None] and "falls like 1/rows" in said("03", 1000, None)[0]


def test_a_generator_that_only_cfid_sees_through(said):
    rng = np.random.default_rng(1)
    plain = ("def generator", "check(generator)")
    assert all(text in source("04") for text in plain)
    for right in (
        lambda x, y: rng.permutation(y),
        lambda x, y: y[::-1],
        lambda x, y: np.roll(y, 1, axis=0),
        lambda x, y: -y,
        lambda x, y: y.std() * rng.normal(size=y.shape),
        lambda x, y: sorted(y.tolist()),
    ):
        assert said("04", right)[0].startswith("right: MFID 0.0")
    wrong = {
        "break the pairs": lambda x, y: y,
        "break the pairs further": lambda x, y: np.where(np.arange(len(y))[:, None] % 3, y, rng.permutation(y)),
        "only too sure": lambda x, y: x @ [[1.0], [-0.5]],
        "compare means and spreads": lambda x, y: np.zeros_like(y),
        "needs the shape": lambda x, y: y[:, 0],
    }
    told = {why: said("04", made)[0] for why, made in wrong.items()}
    assert all(line.startswith("not yet") for line in told.values())
    assert all(why in told[why] for why in wrong if why != "only too sure"), told
    assert "still follows x" in told["only too sure"] and "only too sure of itself" in text("04")


def test_twins_by_offset_by_turning_or_by_search(said):
    clients = [nm.Gaussian([-2, 0]), nm.Gaussian([2, 0])]
    root = 5**0.5 - 1
    rights = [nm.Gaussian([0, s * root]) for s in (1, -1)] + [nm.Gaussian([0, 1.236]), nm.Gaussian([0, 0], [1, 5])]
    for twin in (*rights, nm.theory.twin(clients).second):
        assert said("05", twin)[0].startswith("right: it is +0.00 and") or "-0.00" in said("05", twin)[0]
    wrong = {
        "the first generator itself": nm.Gaussian([0, 0], [5, 1]),
        "the paper's formula": nm.Gaussian([0, 2]),
        "The clients disagree": nm.Gaussian([1, 1]),
        "score it better": nm.Gaussian([0, 0]),
        "score it worse": nm.Gaussian([0, root**2]),
    }
    for why, twin in wrong.items():
        (line,) = said("05", twin)
        assert line.startswith("not yet") and why in line
    assert "the scores 5.5 and 8" in text("05")
    pooled, printed = (nm.fid(clients[0], g) for g in (nm.Gaussian([0, 0], [5, 1]), nm.Gaussian([0, 2])))
    assert (round(pooled, 1), printed) == (5.5, pytest.approx(8))


def test_the_copycat_is_found_by_several_scores_and_by_distances(said):
    assert verdicts(said("06", "?", None)) == [None, None]
    kept = {}
    exec(source("06"), kept)
    train, test, sent = kept["train"], kept["test"], kept["sent"]
    gaps = {name: nm.fld_gap(train, test, rows) for name, rows in sent.items()}
    cells = {name: nm.c_t(train, test, rows) for name, rows in sent.items()}
    assert min(gaps, key=gaps.get) == min(cells, key=cells.get) == "B" and cells["B"] < -3
    near = np.linalg.norm(sent["B"][:, None] - train, axis=2).min(axis=1)
    for copies in (120, (near < 0.005).sum(), (near < 0.01).sum()):
        assert verdicts(said("06", " b", copies)) == [True, True]
    fids = {name: nm.fid(test, rows) for name, rows in sent.items()}
    assert min(fids, key=fids.get) == "A" and "FID-test is the lowest" in said("06", "A", None)[0]
    assert "it is shrunk" in said("06", "C", None)[0] and "A, B or C" in said("06", "D", None)[0]
    flds = {name: nm.fld(train, test, rows) for name, rows in sent.items()}
    assert flds["C"] > flds["B"] > flds["A"]
    by_auth_pct = round(400 - 4 * nm.auth_pct(train, sent["B"]))
    assert "for A it would be 267" in said("06", "B", by_auth_pct)[1]
    assert "Where do they jump" in said("06", "B", 40)[1]


def test_an_equality_that_a_turned_generator_breaks(said):
    for cov in ([[2, 1.5], [1.5, 2]], [[2, -1.5], [-1.5, 2]], [[1.5, 1.2], [1.2, 1.1]]):
        assert said("07", nm.Gaussian([1, 0], cov))[0].startswith("right: FID-avg")
    for cov in (2.0, [3, 0.5], [[3, 0], [0, 0.5]]):
        assert "turn it" in said("07", nm.Gaussian([0, 5], cov))[0]
    assert "make it thinner" in said("07", nm.Gaussian([0, 0], [[2, 0.3], [0.3, 2]]))[0]


def test_the_distribution_of_a_collapse_that_fid_avg_calls_better(said):
    assert verdicts(said("09", None, None)) == [None, None]
    for r, factor in ((1 / 3, 0.9), (0.333, 1.2 / (4 / 3)), (Fraction(1, 3), Fraction(9, 10))):
        assert verdicts(said("09", r, factor)) == [True, True]
    assert "take the root" in said("09", 1 / 9, None)[0] and "r = √s" in said("09", 0.5, None)[0]
    assert "FID-avg falls here" in said("09", 1 / 3, 1.8)[1]
    assert "= 1.33 T, after it T(1 + q) = 1.20 T" in said("09", 1 / 3, 0.675)[1]


def test_who_pays_and_from_which_weight_on_the_winner_changes(said):
    assert verdicts(said("12", None, None)) == [None, None]
    for regret, weight in ((16, 11 / 27), (34 - 18, 0.41), (16.0, Fraction(11, 27)), (16, 0.407)):
        assert verdicts(said("12", regret, weight)) == [True, True]
    assert "with B it is 18" in said("12", 34, None)[0] and "another client" in said("12", 26, None)[0]
    assert "avg of B − A" in said("12", 2, None)[0] and "minus its score" in said("12", 3, None)[0]
    assert "go up" in said("12", 16, 1 / 3)[1] and "go down" in said("12", 16, 0.5)[1]
    table = pd.DataFrame({"A": [8.0, 12, 34], "B": [20.0, 22, 18]}, index=["first", "second", "third"])
    scores = nm.Dashboard.from_table(table).scores
    for weight, winner in ((0.40, "A"), (0.42, "B")):
        shares = [(1 - weight) / 2] * 2 + [weight]
        found = scores.with_weights(shares).table.set_index("generator")["avg"]
        assert found.idxmin() == winner
    assert scores.regret(scores.table["metric"][0]).set_index("client").loc["third", "by_avg"] == 16


def test_how_many_times_the_rows_and_which_level(said):
    assert verdicts(said("14", None, None)) == [None, None]
    level = race_module.level_of(1, 0.05, 3)
    for answer in ((4, level), (2**2, 1 - 3 * 0.05 / np.pi**2), (Fraction(4), 0.9848), (3.9, 0.985)):
        assert verdicts(said("14", *answer)) == [True, True]
    assert "not 1/n" in said("14", 2, None)[0] and "the other way" in said("14", 2**0.5, None)[0]
    assert "width" in said("14", 16, None)[0]
    for wrong, why in (
        (1 - 0.3 / np.pi**2, "the whole look"),
        (1 - level, "1 minus"),
        (0.95, "at once"),
        (0.5, "others"),
    ):
        assert why in said("14", 4, wrong)[1]
    assert "may not spend all" in said("14", 4, 1 - 0.05 / 2)[1]


def test_a_lesson_that_the_middle_does_not_answer(said):
    def scene(xs, weights=None, widths=(1, 1, 1, 1)):
        clients = nm.Federation([nm.Gaussian([x, 0], [w, 1]) for x, w in zip(xs, widths, strict=False)])
        return nm.Playground(clients.with_weights(weights or [1] * len(xs)), {"Mine": nm.Gaussian([0, 0])})

    for xs, weights in (((-2, 2), [1, 3]), ((2, -2), [6, 2]), ((-4, 4), [3, 5]), ((-2, 2, 2, 2), None)):
        right = scene(xs, weights)
        assert said("13", right)[0].startswith("right: the middle is at 0.00, the answer 1.00")
        mean = nm.theory.minimizers(nm.Federation([nm.Gaussian([x, 0]) for x in xs]).with_weights(weights or [1] * 4))
        assert mean.of_avg.mean[0] == pytest.approx(1)
    assert "leave it at 0" in said("13", scene((-1, 3)))[0]
    assert "is not enough" in said("13", scene((-2, 2)))[0]
    assert "is not enough" in said("13", scene((-2, 2), widths=(0.2, 5)))[0]
    assert "weighted mean" in said("13", scene((-2, 2), [1, 2]))[0]
