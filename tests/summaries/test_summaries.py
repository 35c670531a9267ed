"""Summaries pool to what the pooled rows would give, by batches or by clients, and know their size."""

import math

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics import FID, KID, Sample
from nbmetrics.summaries.moments import Moments

RNG = np.random.default_rng(20261122)


def blocks(d=5, sizes=(7, 30, 2, 61), offset=1e3):
    return [offset + RNG.normal(size=(n, d)) @ RNG.normal(size=(d, d)) for n in sizes]


@pytest.mark.parametrize("d", [5, 40, 100])
@pytest.mark.parametrize("weights", [None, (0.1, 0.6, 0.25, 0.05), (0.0, 0.5, 0.0, 0.5)])
def test_pooled_summaries_equal_pooled_rows(d, weights):
    parts = blocks(d)
    sizes = np.array([len(p) for p in parts])
    shares = sizes / sizes.sum() if weights is None else np.array(weights)
    pooled = Moments.pool([Moments.of_rows(p) for p in parts], tuple(shares))
    rows, aweights = np.concatenate(parts) - 1e3, np.repeat(shares / sizes, sizes)
    expected = np.cov(rows, rowvar=False, aweights=aweights)
    tolerance = 1e-12 * np.trace(expected)
    np.testing.assert_allclose(pooled.cov, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(pooled.mean - 1e3, aweights @ rows, rtol=0, atol=1e-11)
    assert pooled.trace == pytest.approx(np.trace(expected), rel=1e-12)


@pytest.mark.parametrize("d", [4, 30, 90])
def test_fid_all_equals_fid_of_the_concatenated_rows(d):
    parts, generated = blocks(d, offset=2.0), RNG.normal(size=(150, d))
    scores = nm.evaluate(parts, [generated], "fid", progress=False)
    assert scores.table["all"][0] == pytest.approx(nm.fid(np.concatenate(parts), generated), rel=1e-12)


@pytest.mark.parametrize("d", [3, 40, 100])
def test_batches_give_the_moments_of_all_rows(d):
    rows = 1e3 + RNG.normal(size=(257, d))
    cuts = np.split(rows, [1, 3, 50, 51, 200])
    whole, merged = Moments.of_rows(rows), Moments.of_batches(iter(cuts))
    assert merged.count == pytest.approx(257, rel=1e-12)
    np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-15)
    np.testing.assert_allclose(merged.cov, whole.cov, rtol=0, atol=1e-12 * whole.trace)


@pytest.mark.parametrize("d", [3, 90])
def test_merging_is_associative(d):
    a, b, c = (Moments.of_rows(rows) for rows in blocks(d, sizes=(5, 40, 11)))

    def merge(p, q):
        n = p.count + q.count
        return Moments.pool([p, q], [p.count / n, q.count / n])

    left, right = merge(merge(a, b), c), merge(a, merge(b, c))
    assert left.count == pytest.approx(right.count, rel=1e-12)
    np.testing.assert_allclose(left.mean, right.mean, rtol=1e-15)
    np.testing.assert_allclose(left.cov, right.cov, rtol=0, atol=1e-12 * left.trace)


def test_a_mixture_has_the_moments_of_its_population():
    mixture = nm.Mixture([nm.Gaussian([0.0, 1.0], [1.0, 2.0]), nm.Gaussian([3.0, 0.0], 0.5)], [0.3, 0.7])
    rows = mixture.sample(200_000, 1)
    np.testing.assert_allclose(mixture.mean, rows.mean(0), atol=0.02)
    np.testing.assert_allclose(mixture.cov, np.cov(rows, rowvar=False), atol=0.03)
    np.testing.assert_allclose(Moments.of_distribution(mixture).cov, mixture.cov, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("weights", [None, (0.1, 0.6, 0.25, 0.05), (0.0, 0.5, 0.0, 0.5)])
@pytest.mark.parametrize("kernel", [nm.Polynomial(), nm.RBF(4.0)], ids=str)
def test_pooled_kernel_means_equal_the_weighted_double_sum(weights, kernel):
    parts = blocks(4, sizes=(40, 90, 3, 61), offset=0.5)
    sizes = np.array([len(p) for p in parts])
    shares = sizes / sizes.sum() if weights is None else np.array(weights)
    metric, rows, w = KID(kernel), np.concatenate(parts), np.repeat(shares / sizes, sizes)
    pooled = metric.pool([metric.summarize(Sample(rows=p)) for p in parts], tuple(shares))
    k = kernel.block(rows, rows)
    expected = (w @ k @ w - w**2 @ np.diag(k)) / (1 - w @ w)
    assert pooled.self_mean() == pytest.approx(expected, rel=1e-12)
    assert pooled.self_mean(unbiased=False) == pytest.approx(w @ k @ w, rel=1e-12)


def test_each_block_of_the_kernel_is_computed_once():
    calls = []

    def kernel(x, y):
        calls.append((len(x), len(y)))
        return x @ y.T

    parts, generators = blocks(3, sizes=(4, 5)), blocks(3, sizes=(6, 7))
    scores = nm.evaluate(parts, generators, KID(kernel), progress=False)
    assert scores.table["all"].notna().all()
    scores.with_weights([0.9, 0.1]).table  # noqa: B018
    visited = sum(n * m for n, m in calls if (n, m) != (1, 1))  # single rows are the diagonal
    real, made = 4 + 5, 6 * 6 + 7 * 7
    assert visited == real * real + made + real * (6 + 7)


@pytest.mark.parametrize(
    ("n", "d", "numbers"),
    [(10, 40, 40 + 9 * 40), (500, 40, 40 + 40 * 41 // 2), (500, 100, 100 + 100 * 101 // 2)],
)
def test_moments_say_how_many_bytes_they_are(n, d, numbers):
    assert FID().summarize(Sample(rows=RNG.normal(size=(n, d)))).nbytes == 8 * (numbers + 1)


def test_kernel_means_say_how_many_bytes_they_are():
    few, many = RNG.normal(size=(5, 2)), RNG.normal(size=(500, 2))
    assert KID().summarize(Sample(rows=few)).nbytes == 8 + few.nbytes
    assert KID().summarize(Sample(rows=many)).nbytes == 8 + 8 * math.comb(5, 3)
    assert KID(nm.RBF()).summarize(Sample(rows=many)).nbytes == 8 + many.nbytes
    distribution = nm.Gaussian([0.0, 0.0])
    assert KID().summarize(Sample(distribution=distribution)).nbytes == 8 + 8 * 5


def test_exact_distributions_pool_by_the_population_formula():
    distributions = [nm.Gaussian([0.0, 1.0], [1.0, 0.0]), nm.Gaussian([2.0, 0.0], [[1.0, 0.3], [0.3, 2.0]])]
    pooled = Moments.pool([Moments.of_distribution(distribution) for distribution in distributions], (0.25, 0.75))
    mixture = nm.Mixture(distributions, (0.25, 0.75))
    assert pooled.count == math.inf
    np.testing.assert_allclose(pooled.mean, [1.5, 0.25], rtol=1e-15)
    np.testing.assert_allclose(pooled.cov, mixture.cov, rtol=1e-14, atol=1e-15)


def test_what_is_folded_takes_half_and_gives_every_bit_again():
    rows = np.random.default_rng(0).normal(size=(300, 90))
    plain, folded = Moments.of_rows(rows), Moments.of_rows(rows)
    other = Moments.of_rows(rows[::-1] + 1.0)
    assert folded.graded is folded.graded
    folded.fold()
    assert "graded" not in vars(folded) and folded.kept_dense.packed.nbytes == 8 * 90 * 91 // 2
    assert np.array_equal(folded.cov, plain.cov) and folded.trace == plain.trace and folded.nbytes == plain.nbytes
    pooled = [Moments.pool([part, other], [0.3, 0.7]).cov for part in (plain, folded)]
    assert np.array_equal(*pooled) and FID().distance(other, folded) == FID().distance(other, plain)
    lopsided = Moments(10.0, plain.mean, None, plain.cov + np.triu(np.ones((90, 90))))
    lopsided.fold()
    assert isinstance(lopsided.kept_dense, np.ndarray)
