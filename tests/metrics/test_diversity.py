"""Vendi, RKE and RRKE: spectra of kernel matrices, by other means; groups far apart, weights, and what tables say."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm
from scipy.spatial.distance import cdist

import nbmetrics as nm
from nbmetrics.metrics import RKE, RRKE, Sample, Vendi

RNG = np.random.default_rng(20261124)
X, Y = RNG.normal(size=(30, 6)) + 0.5, RNG.normal(size=(20, 6))
SIGMA = 2.0


def gaussian(x, y, sigma=SIGMA):
    return np.exp(-cdist(x, y, "sqeuclidean") / (2 * sigma**2))


def cosine(x, y):
    return 1.0 - cdist(x, y, "cosine")


def entropic(kernel, rows):
    """exp of the entropy of the eigenvalues of K/n, as published."""
    values = np.linalg.eigvals(kernel(rows, rows) / len(rows)).real
    values = values[values > 1e-12]
    return np.exp(-np.sum(values * np.log(values)))


def squared(rows, sigma=SIGMA):
    return len(rows) ** 2 / np.sum(gaussian(rows, rows, sigma) ** 2)


def relative(x, y, sigma=SIGMA):
    return -2 * np.log(np.linalg.norm(gaussian(x, y, sigma) / np.sqrt(len(x) * len(y)), "nuc"))


SCORES = {
    "vendi": (nm.vendi, lambda rows: entropic(cosine, rows)),
    "vendi of points": (lambda rows: nm.vendi(rows, nm.RBF(SIGMA)), lambda rows: entropic(gaussian, rows)),
    "rke": (lambda rows: nm.rke(rows, SIGMA), squared),
}
EACH = pytest.mark.parametrize("name", SCORES)


@EACH
@pytest.mark.parametrize("rows", [X, X[:4], X[:, :1]], ids=["n > d", "n < d", "d = 1"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_the_published_formulas(name, rows, dtype):
    ours, theirs = SCORES[name]
    assert ours(rows.astype(dtype)) == pytest.approx(theirs(rows), rel=1e-5 if dtype is np.float32 else 1e-9)


@EACH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors(name, dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    ours, _ = SCORES[name]
    rows = X.astype(dtype)
    assert ours(torch.from_numpy(rows)) == pytest.approx(ours(rows), rel=1e-5 if dtype == "float32" else 1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_relative_is_the_published_formula(dtype):
    x, y = X.astype(dtype), Y.astype(dtype)
    assert nm.rrke(x, y, SIGMA) == pytest.approx(relative(X, Y), rel=1e-5 if dtype == "float32" else 1e-9)
    assert nm.rrke(y, x, SIGMA) == pytest.approx(nm.rrke(x, y, SIGMA), rel=1e-9)
    assert nm.rrke(x, x, SIGMA) == pytest.approx(0.0, abs=1e-7 if dtype == "float32" else 1e-12)
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert nm.rrke(torch.from_numpy(x), y, SIGMA) == pytest.approx(nm.rrke(x, y, SIGMA), rel=1e-5)


def test_relative_is_the_fidelity_of_kernel_covariances():
    # in an explicit feature space: of a kernel on 30 + 20 points, rows of a root of its matrix are the features
    joint = sqrtm(gaussian(np.concatenate([X, Y]), np.concatenate([X, Y]))).real
    p, q = (features.T @ features / len(features) for features in (joint[:30], joint[30:]))
    root = sqrtm(p).real
    overlap = np.trace(sqrtm(root @ q @ root).real)
    assert nm.rrke(X, Y, SIGMA) == pytest.approx(-2 * np.log(overlap), rel=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(2, 6), st.integers(0, 99))
def test_groups_far_apart_are_counted(groups, each, seed):
    order = np.random.default_rng(seed).permutation(groups * each)
    rows = np.repeat(100 * np.eye(groups, 5), each, axis=0)[order]
    assert nm.vendi(rows) == pytest.approx(groups, rel=1e-9)
    assert nm.vendi(rows, nm.RBF(1.0)) == pytest.approx(groups, rel=1e-9)
    assert nm.rke(rows, 1.0) == pytest.approx(groups, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5))
def test_groups_that_a_generator_leaves_out(groups, made):
    made = min(groups, made)
    rows = np.repeat(100 * np.eye(5), 4, axis=0)
    assert nm.rrke(rows[: 4 * groups], rows[: 4 * made], 1.0) == pytest.approx(np.log(groups / made), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(0, 99), st.floats(-5, 5))
def test_they_lie_between_copies_and_unlike_rows(n, seed, offset):
    rows = np.random.default_rng(seed).normal(size=(n, 3)) + offset
    for ours, _ in SCORES.values():
        assert 1.0 <= ours(rows) <= n * (1 + 1e-9)
        assert ours(rows[::-1]) == pytest.approx(ours(rows), rel=1e-9)
        assert ours(np.tile(rows, (3, 1))) == pytest.approx(ours(rows), rel=1e-6)  # repeating everything adds nothing
        assert ours(np.tile(rows[:1], (n, 1))) == pytest.approx(1.0, abs=1e-9)
    assert nm.rke(7 * rows, 7 * SIGMA) == pytest.approx(nm.rke(rows, SIGMA), rel=1e-9)
    assert nm.vendi(7 * rows) == pytest.approx(nm.vendi(rows), rel=1e-9)


METRICS = {"vendi": Vendi(), "vendi of points": Vendi(nm.RBF(SIGMA)), "rke": RKE(SIGMA)}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=2).filter(any), st.sampled_from(sorted(METRICS)))
def test_a_weighted_mixture_is_that_of_repeated_rows(weights, name):
    parts, metric = (X[:12], Y[:8]), METRICS[name]
    pooled = metric.pool([metric.summarize(Sample(rows=x)) for x in parts], np.array(weights) / sum(weights))
    repeated = [np.repeat(x, w * 24 // len(x), axis=0) for x, w in zip(parts, weights, strict=True)]
    assert metric.score(pooled) == pytest.approx(SCORES[name][1](np.concatenate(repeated)), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=2).filter(any), st.integers(0, 9))
def test_relative_of_a_weighted_mixture(weights, seed):
    parts, metric = (X[:12], Y[:8]), RRKE(SIGMA)
    made = np.random.default_rng(seed).normal(size=(7, 6))
    sides = [metric.summarize(Sample(rows=x)) for x in (*parts, made)]
    shares = np.array(weights) / sum(weights)
    pooled = metric.distance(metric.pool(sides[:2], shares), sides[2])
    repeated = [np.repeat(x, w * 24 // len(x), axis=0) for x, w in zip(parts, weights, strict=True)]
    assert pooled == pytest.approx(relative(np.concatenate(repeated), made), rel=1e-8)
    average = sum(w * metric.distance(side, sides[2]) for w, side in zip(shares, sides, strict=False))
    assert pooled <= average + 1e-12


def test_rke_of_distributions_is_exact():
    # E exp(−(X − X′)²/σ²) with X − X′ of variance 2v: √(σ²/2 / (σ²/2 + 2v)) in each direction
    assert nm.rke(nm.Gaussian([3.0], 4.0), 2.0) == pytest.approx(np.sqrt(1 + 2 * 4 * 2 / 4), rel=1e-9)
    assert nm.rke(nm.Gaussian([0.0, 1.0], [1.0, 9.0]), 1.0) == pytest.approx(np.sqrt(5 * 37), rel=1e-9)
    far = nm.Mixture([nm.Gaussian([0.0], 1e-8), nm.Gaussian([100.0], 1e-8)], [3, 1])
    assert nm.rke(far, 1.0) == pytest.approx(1 / (9 / 16 + 1 / 16), rel=1e-6)
    draws = nm.Gaussian([0.0, 1.0], [1.0, 9.0]).sample(2000, np.random.default_rng(0))
    assert nm.rke(draws, 1.0) == pytest.approx(np.sqrt(5 * 37), rel=0.1)


def test_the_median_is_one_for_all_and_scale_free():
    clients, made = [X, X + 3], {"narrow": 0.1 * X, "wide": X}
    scores = nm.evaluate(clients, made, ["rke", "rrke"], progress=False)
    sigma = np.median(np.concatenate([cdist(z, z)[np.triu_indices(60, 1)] for z in [np.concatenate(clients)]]))
    assert scores.table["all"][1] == pytest.approx(squared(X, sigma), rel=1e-9)
    assert f"σ = {sigma:g}" in scores.conventions[0] and f"σ = {sigma:g}" in scores.conventions[1]
    assert scores.table["all"][2] == pytest.approx(relative(np.concatenate(clients), 0.1 * X, sigma), rel=1e-8)
    larger = nm.evaluate([50 * c for c in clients], {k: 50 * v for k, v in made.items()}, ["rke", "rrke"]).table
    np.testing.assert_allclose(larger["avg"], scores.table["avg"], rtol=1e-8)
    # of each sample's own rows, two widths are alike
    assert nm.rke(0.1 * X) == pytest.approx(nm.rke(X), rel=1e-9)


def test_few_rows_keep_counts_low_and_the_divergence_high():
    def mean(score, n):
        return np.mean([score(*np.random.default_rng([n, s]).normal(size=(2, n, 4)) + 1) for s in range(20)])

    for ours, _ in SCORES.values():
        assert mean(lambda x, y: ours(x), 20) < 0.97 * mean(lambda x, y: ours(x), 100)  # noqa: B023
    assert mean(lambda x, y: nm.rrke(x, y, SIGMA), 20) > 2 * mean(lambda x, y: nm.rrke(x, y, SIGMA), 100)


def test_tables_say_that_clients_do_not_matter():
    names = ["vendi", "rke"]
    scores = nm.evaluate({"a": X, "b": Y}, {"g": X[:15], "h": Y[:15]}, names, progress=False)
    np.testing.assert_allclose(scores.table["avg"], scores.table["all"], rtol=1e-14)
    for name, line in zip(names, scores.conventions, strict=False):
        assert "looks at the generator alone: avg = all" in line
        assert scores.inversions(name).empty
    assert (scores.ledger.query("aggregate == 'all'")["bytes"] == 0).all()
    assert scores.ranks("vendi")["all"].tolist() == [1, 2] if nm.vendi(X[:15]) > nm.vendi(Y[:15]) else [2, 1]
    assert scores.with_weights([1, 5]).table["all"].tolist() == pytest.approx(scores.table["all"].tolist())


def test_few_and_unequal_rows_are_said():
    scores = nm.evaluate([X], {"few": Y[:5], "many": Y}, Vendi(), progress=False)
    assert (
        "Vendi: generators have 5 to 20 rows, and it rises with their number: compare equal numbers." in scores.cautions
    )
    (said,) = (line for line in scores.cautions if "rows are few for such a score" in line)
    assert f"{nm.vendi(Y[:5]):.3g} of at most 5, one a row" in said
    calm = nm.evaluate([X], {"g": np.tile([[1.0, 2, 3, 4, 5, 6]], (20, 1))}, ["vendi"], progress=False)
    assert calm.cautions == []


@pytest.mark.parametrize("metric", [Vendi(), RKE(SIGMA), RRKE(SIGMA)], ids=lambda m: m.name)
@pytest.mark.parametrize("design", [nm.Bootstrap(20), nm.Influence()], ids=lambda d: type(d).__name__)
def test_intervals_repeat_no_row(metric, design):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.BiasWarning)
        scores = nm.evaluate([X, Y], {"g": X[:24]}, metric, uncertainty=design, progress=False)
    row = scores.table.iloc[0]
    assert any("jackknife of thirds" in line for line in scores.conventions)
    assert metric.lowest <= row["all_low"] < row["all_high"] and row["gap_low"] <= row["gap"] <= row["gap_high"]


REFUSED = {
    "a row of zeros": (lambda: nm.vendi(np.eye(3) * [1, 1, 0]), "rows", "row 2 is 0"),
    "another kernel": (lambda: nm.vendi(X, "linear"), "kernel", "'cosine' or nm.RBF"),
    "too many pairs": (lambda: nm.vendi(np.zeros((5001, 1)), nm.RBF(1.0)), "rows", "at most 5,000"),
    "too many pairs of two": (lambda: nm.rrke(np.zeros((2, 1)), np.zeros((5001, 1)), 1.0), "rows", "at most 5,000"),
    "no sigma": (lambda: nm.rke(X, None), "sigma", "'median'"),
    "a negative sigma": (lambda: nm.rke(X, -1.0), "sigma", "from"),
    "equal rows": (lambda: nm.rke(np.ones((3, 2))), "sigma", "as a number"),
    "far apart": (lambda: nm.rrke(X, X + 1e6, 1.0), "sigma", "larger sigma"),
    "a distribution too wide": (lambda: nm.rke(nm.Gaussian(np.zeros(50), 1e30), 1.0), "sigma", "larger sigma"),
    "NaN": (lambda: nm.vendi(X * np.nan), "rows", "Drop or fix"),
    "one axis": (lambda: nm.rke(X[0]), "rows", "reshape"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    act, argument, fix = REFUSED[case]
    with pytest.raises(nm.InvalidInput, match=rf"^{argument}: .*{fix}"):
        act()


def test_a_generator_without_directions_leaves_the_others_their_scores():
    scores = nm.evaluate([X], {"g": Y, "zeros": np.zeros((4, 6))}, "vendi", progress=False)
    assert scores.table["all"].isna().tolist() == [False, True]
    assert any("Vendi all has no value for 1 of 2 generators" in line for line in scores.cautions)
