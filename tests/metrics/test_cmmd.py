"""CMMD: 1000 MMD² with the RBF kernel of σ = 10, by the V-statistic or without its bias."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import nbmetrics as nm
from nbmetrics.metrics import CMMD, KID

RNG = np.random.default_rng(20261123)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


CLIENTS = {name: unit(RNG.normal(size=(n, 16)) + shift) for name, n, shift in (("a", 30, 0.5), ("b", 20, -0.2))}
MADE = {"g": unit(RNG.normal(size=(25, 16))), "h": unit(RNG.normal(size=(40, 16)) + 1.0)}


def kernel(x, y):
    return 1000 * np.exp(-cdist(x, y, "sqeuclidean") / 200)


def published(x, y):
    """As the authors' code: means of all pairs."""
    return kernel(x, x).mean() + kernel(y, y).mean() - 2 * kernel(x, y).mean()


def unbiased(x, y):
    own = sum((kernel(z, z).sum() - 1000 * len(z)) / (len(z) * (len(z) - 1)) for z in (x, y))
    return own - 2 * kernel(x, y).mean()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_the_authors_formula(dtype):
    x, y = CLIENTS["a"].astype(dtype), MADE["h"].astype(dtype)
    assert nm.cmmd(x, y) == pytest.approx(published(x, y), rel=1e-6 if dtype is np.float32 else 1e-9)
    assert nm.cmmd(x, y, "unbiased") == pytest.approx(unbiased(x, y), rel=1e-6 if dtype is np.float32 else 1e-9)
    assert nm.cmmd(x, x) == pytest.approx(0.0, abs=1e-9)


def test_large_rows_in_single_precision():
    x, y = (unit(np.random.default_rng(s).normal(size=(900, 512)) + 0.1 * s) for s in (0, 1))
    single = nm.cmmd(x.astype(np.float32), y.astype(np.float32))  # enough pairs to be multiplied in float32
    assert single == pytest.approx(published(x, y), rel=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors(dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, y = CLIENTS["a"].astype(dtype), MADE["h"].astype(dtype)
    assert nm.cmmd(torch.from_numpy(x), torch.from_numpy(y)) == pytest.approx(nm.cmmd(x, y), rel=1e-5)


def test_gaussians_are_exact():
    # E exp(−(X − Y)²/2σ²) where X − Y is N(m, v): σ/√(σ² + v) · exp(−m²/2(σ² + v))
    def mean(m, v):
        return 1000 * 10 / np.sqrt(100 + v) * np.exp(-m * m / 2 / (100 + v))

    value = nm.cmmd(nm.Gaussian([1.0], 4.0), nm.Gaussian([6.0], 9.0))
    assert value == pytest.approx(mean(0, 8) + mean(0, 18) - 2 * mean(5, 13), rel=1e-9)


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_the_gap_is_the_same_for_every_generator(estimator):
    scores = nm.evaluate(CLIENTS, MADE, CMMD(estimator), progress=False)
    gap = scores.table["gap"].to_numpy()
    assert np.ptp(gap) < 1e-10
    own = {"biased": lambda x: kernel(x, x).mean(), "unbiased": lambda x: unbiased(x, x) / 2 + kernel(x, x).mean()}
    together = own[estimator](np.concatenate(list(CLIENTS.values())))
    wanted = 0.6 * own[estimator](CLIENTS["a"]) + 0.4 * own[estimator](CLIENTS["b"]) - together
    assert gap[0] == pytest.approx(wanted, abs=1e-9)
    other = scores.with_weights([1, 3]).table["gap"].to_numpy()
    assert np.ptp(other) < 1e-10 and other[0] != pytest.approx(gap[0])


def test_pooled_is_concatenated():
    row = nm.evaluate(CLIENTS, MADE, "cmmd", progress=False).table.iloc[1]
    assert row["all"] == pytest.approx(published(np.concatenate(list(CLIENTS.values())), MADE["h"]), rel=1e-9)
    assert row["avg"] == pytest.approx(
        0.6 * published(CLIENTS["a"], MADE["h"]) + 0.4 * published(CLIENTS["b"], MADE["h"]), rel=1e-9
    )


@pytest.mark.parametrize("design", [nm.Influence(), nm.Jackknife(10), nm.Bootstrap(20)], ids=lambda d: type(d).__name__)
def test_intervals_are_those_of_kid_with_this_kernel(design):
    metrics = [CMMD(), KID(nm.RBF(10.0), "biased", "kid_rbf")]
    table = nm.evaluate(CLIENTS, MADE, metrics, uncertainty=design, progress=False).table.set_index("metric")
    numbers = table.select_dtypes("number")
    np.testing.assert_allclose(numbers.loc["cmmd"], 1000 * numbers.loc["kid_rbf"], rtol=1e-6, atol=1e-9)


def test_few_rows_are_said():
    scores = nm.evaluate(CLIENTS, MADE, "cmmd", progress=False)
    said = [line for line in scores.cautions if line.startswith("CMMD")]
    assert said and "too few rows for the biased estimator" in said[0]
    x, y = CLIENTS["a"], MADE["g"]
    extra = published(x, y) - unbiased(x, y)
    assert f"about {extra:.3g} of it is bias" in said[0]
    assert nm.evaluate(CLIENTS, MADE, CMMD("unbiased"), progress=False).cautions == []
    ample = {"a": RNG.normal(size=(300, 2)) * 5}, {"g": RNG.normal(size=(300, 2)) * 5 + 20}
    assert nm.evaluate(*ample, "cmmd", progress=False).cautions == []


def test_names_and_convention():
    scores = nm.evaluate(CLIENTS, MADE, ["cmmd", CMMD("unbiased", "cmmd_unbiased")], progress=False)
    assert scores.label("cmmd") == "CMMD" and scores.label("cmmd_unbiased") == "CMMD unbiased"
    assert "RBF 1000 exp(−‖x−y‖²/2σ²), σ = 10; meant for CLIP features" in scores.conventions[0]


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, 1e60, "a"])
def test_a_scale_is_refused_outside_its_range(scale):
    with pytest.raises(nm.InvalidInput, match="scale"):
        nm.RBF(1.0, scale)


def test_a_scaled_kernel_keeps_its_scale_when_sigma_is_settled():
    x, y = CLIENTS["a"], MADE["g"]
    plain = nm.kid(x, y, nm.RBF("median"))
    assert nm.kid(x, y, nm.RBF("median", 7.0)) == pytest.approx(7 * plain, rel=1e-9)
