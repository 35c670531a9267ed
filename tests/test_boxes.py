"""What the boxes of the notebooks call true, computed; test_notebooks.py reads what the notebooks themselves print."""

import nbformat
import numpy as np
import pytest
from scipy.optimize import minimize

import nbmetrics as nm
from tests import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def words(name):
    """A notebook's text, in one line."""
    book = nbformat.read(next(FOLDER.glob(f"{name}_*.ipynb")), as_version=4)
    return " ".join("\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown").split())


def test_clients_that_are_alike_leave_no_gap():
    assert "if all clients have one exact distribution, avg equals all" in words("00")
    alike = [nm.Gaussian([1, 0], [2, 1])] * 3
    table = nm.evaluate(alike, {"G": nm.Gaussian([0, 1], [1, 3]), "H": nm.Gaussian([4, 0])}).table
    np.testing.assert_allclose(table["gap"], 0, atol=1e-12)


@pytest.mark.parametrize("v", [0.1, 1.0, 2.0, 3.5])
def test_the_curves_of_the_toy(v):
    assert "FID-avg = 1 + (1 − √v)² and FID-all = (√2 − √v)²" in words("01")
    clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    row = nm.evaluate(clients, {"G": nm.Gaussian([0, 0], [v, 1])}, "fid").table.iloc[0]
    assert [row["avg"], row["all"]] == pytest.approx([1 + (1 - v**0.5) ** 2, (2**0.5 - v**0.5) ** 2])


def test_the_best_generator_by_avg_knows_nothing_of_how_far_clients_lie_apart():
    assert "not on how far apart they are" in words("01") and "does not depend on the clients' means" in words("13")
    shapes = ([4, 1], [[1, 0.5], [0.5, 2]], [1, 1])
    best = []
    for spread in (1, 5):
        means = spread * np.array([[-1, 0], [0, 1], [2, 0]])
        clients = nm.Federation([nm.Gaussian(m, c) for m, c in zip(means, shapes, strict=True)]).with_weights([1, 2, 1])
        best.append(nm.theory.minimizers(clients))
        for found in best[-1]:
            np.testing.assert_allclose(found.mean, np.average(means, axis=0, weights=[1, 2, 1]), atol=1e-12)
    np.testing.assert_allclose(best[0].of_avg.cov, best[1].of_avg.cov, atol=1e-9)
    assert np.abs(best[0].of_all.cov - best[1].of_all.cov).max() > 1


def test_the_best_mean_by_search_whatever_the_spreads():
    assert "the weighted mean of the clients' means, however broad they are" in words("13")
    clients = nm.Federation([nm.Gaussian([-2], 9), nm.Gaussian([2], 0.1)]).with_weights([1, 3])

    def avg(x):
        return nm.evaluate(clients, {"G": nm.Gaussian(x)}, "fid").table["avg"][0]

    assert minimize(avg, [0.0], method="Nelder-Mead").x[0] == pytest.approx(1, abs=1e-3)


def test_the_mean_over_subsets_scatters_about_kid_of_all_rows():
    assert "the mean over subsets scatters about KID of all rows" in words("03")
    rng = np.random.default_rng(0)
    real, made = rng.normal(size=(120, 4)), rng.normal(0.3, 1, size=(120, 4))
    found = [nm.kid(real, made, estimator=nm.Subsets(5, 40, seed=seed)) for seed in range(150)]
    assert np.std(found) > 0.01 * abs(np.mean(found))
    assert np.mean(found) == pytest.approx(nm.kid(real, made), abs=3 * np.std(found) / 150**0.5)


def test_cfid_is_blind_to_what_means_and_covariances_do_not_hold():
    assert "if y = x² and x is symmetric, it cannot tell shuffled outputs from right ones" in words("04")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 1))
    wrong = rng.permutation(x**2)
    assert nm.cfid(x, x**2, wrong) < 1e-3 < 1 < np.mean((wrong - x**2) ** 2)
    line = 0.5 + x
    assert nm.cfid(x, line, rng.permutation(line)) > 1, "of a line it sees the shuffling"


def test_the_published_twins():
    told = words("05")
    assert "the two scores of each client differ by at most one percent, while FID-all nearly doubles" in told
    table = nm.experiments.published("twin_generators_ffhq").set_index("generator")
    clients = table.filter(like="client")
    assert clients.shape[1] == 6
    assert (clients.iloc[1] / clients.iloc[0] - 1).abs().max() < 0.01
    assert 1.85 < table["fid_all"].iloc[1] / table["fid_all"].iloc[0] < 2


def test_what_an_ideal_generator_and_a_shrunk_one_have_by_fld():
    told = words("06")
    assert "at most half as many generated rows as training rows, and below zero with more" in told
    rng = np.random.default_rng(0)
    few, many = [], []
    for _ in range(3):
        train, test, made = rng.normal(size=(3, 300, 8))
        few.append(nm.fld(train, test, made[:150]))
        many.append(nm.fld(train, test, made))
    assert abs(np.mean(few)) < 0.75 and np.mean(many) < -0.75
    assert "shrunk towards their mean score *better* than ideal ones" in told
    rows = nm.experiments.digits()[0][np.random.default_rng(0).permutation(1797)]
    train, test, fresh = (part[:, rows[600:1200].std(axis=0) > 0] for part in np.split(rows[:1500], [600, 1200]))
    shrunk = fresh.mean(axis=0) + 0.8 * (fresh - fresh.mean(axis=0))
    assert nm.fld(train, test, shrunk) < nm.fld(train, test, fresh) - 1


def test_r_is_the_root_of_the_clients_share_of_the_covariance():
    assert "√s where each has a share s of the covariance" in words("09")
    rng = np.random.default_rng(0)
    means = rng.normal(size=(40, 3))
    means -= means.mean(axis=0)
    between = means.T @ means / 40
    for share in (0.25, 1 / 9):
        clients = [nm.Gaussian(m, share / (1 - share) * between) for m in means]
        assert nm.theory.collapse(clients, [0.0, 0, 0]).r == pytest.approx(share**0.5)
    assert nm.theory.collapse([nm.Gaussian(m, 1e-12) for m in means], [0.0, 0, 0]).r == pytest.approx(0, abs=1e-5)
    assert nm.theory.collapse([nm.Gaussian([1, 0])] * 2, [1.0, 0]).r == pytest.approx(1)
