"""Numbers that lessons, docstrings and notebooks state, computed again by other means."""

import json
import re

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import nbmetrics as nm
from nbmetrics import experiments
from nbmetrics.experiments.federated_data import LabelledRows, class_and_noise_generators, split_halves
from nbmetrics.metrics.w1 import W1
from tests import ROOT


def reveal(lesson):
    found = json.loads((ROOT / "nbmetrics/labs/playground/lessons.json").read_text("utf-8"))
    return next(entry["reveal"] for entry in found if entry["name"] == lesson)


def test_where_kid_puts_the_best_place_between_clients_of_unequal_weight():
    # E (1 + x·y/2)³ of N(a, I) and N(b, I) in the plane, moment by moment
    def kernel(a, b):
        one = 1 + a @ b / 2
        return one**3 + 3 * one / 4 * (a @ a) + 3 / 4 * one * (2 + b @ b) + 6 / 8 * a @ b

    def score(x):
        g = np.array([x, 0.0])
        clients = [(0.75, np.array([-2.0, 0.0])), (0.25, np.array([2.0, 0.0]))]
        return sum(w * (kernel(c, c) + kernel(g, g) - 2 * kernel(c, g)) for w, c in clients)

    distribution = nm.kid(nm.Gaussian([-2, 0]), nm.Gaussian([-1, 0]))
    near, far = np.array([-2.0, 0.0]), np.array([-1.0, 0.0])
    assert distribution == pytest.approx(kernel(near, near) + kernel(far, far) - 2 * kernel(near, far), rel=1e-12)
    best = minimize_scalar(score, bounds=(-3, 1), method="bounded").x
    (stated,) = re.findall(r"at −(\d\.\d\d)", reveal("Weights matter"))
    assert -float(stated) == pytest.approx(best, abs=0.005)


@pytest.mark.parametrize(("d", "constant"), [(2, 2 / np.pi), (64, (2 / (np.pi * 64)) ** 0.5)])
def test_sliced_w1_of_a_pure_shift(d, constant):
    pytest.importorskip("ot")
    assert "2/π at d = 2 and about √(2/πd) at large d" in " ".join(W1.__doc__.split())
    directions = np.random.default_rng(1).normal(size=(50_000, d))
    along = np.abs(directions[:, 0]) / np.linalg.norm(directions, axis=1)
    assert np.mean(along) == pytest.approx(constant, rel=0.02)
    rows = np.random.default_rng(0).normal(size=(20, d))
    metric = W1("sliced", projections=4000)
    sliced = nm.evaluate([rows], [rows + 3 * np.eye(d)[0]], metric).table["all"][0]
    assert sliced / 3 == pytest.approx(constant, rel=0.05)


def test_which_digits_show_the_single_class_inversion():
    clients, half = split_halves(LabelledRows.of(None, None), 0)
    made = class_and_noise_generators(half, [0.2], 0)
    scores = nm.evaluate(
        nm.Federation.from_labels(clients.rows, clients.labels), made, "fid", progress=False
    ).table.set_index("generator")
    avg, pooled = (scores[a] - scores.loc["noise 0.2", a] for a in ("avg", "all"))
    assert {int(k[-1]) for k in avg.index if avg[k] < 0} == {3, 5, 8, 9}
    assert (pooled.drop("noise 0.2") > 0).all()
    assert "for the labels 3, 8 and 9, and for 5 with most" in experiments.single_class.__doc__


def test_no_text_promises_every_figure_or_knows_how_the_papers_estimated_kid():
    texts = [ROOT / "README.md", *sorted((ROOT / "notebooks").glob("*.ipynb"))]
    texts += sorted((ROOT / "nbmetrics/experiments").glob("*.py"))
    joined = " ".join(" ".join(path.read_text("utf-8").split()) for path in texts)
    for promise in (
        "very figure and table",
        "subsets are to blame, not",
        "defaults give the paper",
        "wo claims of the",
    ):
        assert promise not in joined
    assert joined.count("ost likely") >= 3
