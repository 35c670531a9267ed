"""Distributions beside scipy, their own samples, and the theorem that score-all never exceeds score-avg."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from tests.fuzzing import examples

RNG = np.random.default_rng(20261123)
seeds = st.integers(0, 2**32 - 1)
COV = np.array([[2.0, 0.6], [0.6, 0.5]])


def test_cov_may_be_a_number_variances_or_a_matrix():
    np.testing.assert_array_equal(nm.Gaussian([0.0, 0.0]).cov, np.eye(2))
    np.testing.assert_array_equal(nm.Gaussian([0, 0], 3).cov, 3.0 * np.eye(2))
    np.testing.assert_array_equal(nm.Gaussian([0, 0], [4, 0]).cov, np.diag([4.0, 0.0]))
    np.testing.assert_array_equal(nm.Gaussian([0, 0], COV).cov, COV)
    assert nm.Gaussian(1.5).dim == 1
    assert nm.Gaussian([1, 2, 3]).dim == 3


@pytest.mark.parametrize("rank", [0, 1, 3, 5])
def test_the_root_is_a_factor_of_the_covariance(rank):
    factor = RNG.normal(size=(rank, 5))
    gaussian = nm.Gaussian(np.zeros(5), factor.T @ factor)
    np.testing.assert_allclose(gaussian.root.T @ gaussian.root, factor.T @ factor, atol=1e-13)


def test_a_gaussian_cannot_be_changed_under_a_score():
    gaussian = nm.Gaussian([0.0, 1.0], COV)
    for array in (gaussian.mean, gaussian.cov, gaussian.root):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize("angle", [0.0, 30.0, 90.0, -135.0])
def test_ellipse_axes_are_standard_deviations_along_the_turned_axes(angle):
    gaussian = nm.Gaussian.ellipse([1.0, 2.0], 3.0, 0.5, angle)
    along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    across = np.array([-along[1], along[0]])
    assert along @ gaussian.cov @ along == pytest.approx(9.0)
    assert across @ gaussian.cov @ across == pytest.approx(0.25)
    assert along @ gaussian.cov @ across == pytest.approx(0.0, abs=1e-14)
    assert abs(np.linalg.det(gaussian.root)) == pytest.approx(1.5, rel=1e-14)


@pytest.mark.parametrize("cov", [COV, 0.3, [1.0, 1e-6]], ids=["matrix", "number", "variances"])
def test_log_prob_is_scipys(cov):
    gaussian = nm.Gaussian([0.5, -1.0], cov)
    x = RNG.normal(size=(20, 2))
    expected = scipy.stats.multivariate_normal(gaussian.mean, gaussian.cov).logpdf(x)
    np.testing.assert_allclose(gaussian.log_prob(x), expected, rtol=1e-10)


def test_mixture_log_prob_is_the_weighted_sum_of_densities():
    first, second = nm.Gaussian([0.0, 0.0], COV), nm.Gaussian([2.0, 1.0], 0.4)
    mixture = nm.Mixture([first, second, nm.Gaussian([0, 0], 0.0)], [3, 1, 0])
    x = RNG.normal(size=(30, 2))
    expected = np.log(0.75 * np.exp(first.log_prob(x)) + 0.25 * np.exp(second.log_prob(x)))
    np.testing.assert_allclose(mixture.log_prob(x), expected, rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_log_prob_of_a_row_too_far_away_is_minus_infinity():
    assert nm.Gaussian([0, 0], 1e-320).log_prob([[1e44, 1], [0, 0]])[0] == -np.inf


def test_no_density_where_the_covariance_is_singular():
    with pytest.raises(nm.InvalidInput, match=r"cov.*singular"):
        nm.Gaussian([0, 0], [1, 0]).log_prob([[0.0, 0.0]])


DISTRIBUTIONS = {
    "gaussian": nm.Gaussian([1.0, -2.0], COV),
    "singular": nm.Gaussian([1.0, -2.0], [[1.0, 1.0], [1.0, 1.0]]),
    "mixture": nm.Mixture([nm.Gaussian([0, 0], COV), nm.Gaussian([3, 1], 0.1)], [1, 2]),
    "empirical": nm.Empirical([[0.0, 0.0], [1.0, 3.0], [5.0, -1.0]]),
    "nested": nm.Mixture([nm.Mixture([nm.Gaussian([0, 0]), nm.Gaussian([4, 0])]), nm.Empirical([[1.0, 1.0]])]),
}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_samples_have_the_mean_and_covariance_of_the_distribution(distribution):
    rows = distribution.sample(100_000, 7)
    spread = np.sqrt(np.trace(distribution.cov))
    np.testing.assert_allclose(rows.mean(0), distribution.mean, atol=0.02 * spread)
    np.testing.assert_allclose(np.cov(rows, rowvar=False), distribution.cov, atol=0.03 * spread**2)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_sampling_follows_the_seed_and_nothing_else(distribution):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    np.testing.assert_array_equal(distribution.sample(9, 5), distribution.sample(9, np.random.default_rng(5)))
    assert (distribution.sample(9, 5) != distribution.sample(9, 6)).any()
    assert distribution.sample(0, 1).shape == (0, 2)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_a_fitted_gaussian_has_the_moments_of_its_rows():
    rows = 1e3 + RNG.normal(size=(50, 3))
    fitted = nm.Gaussian.fit(rows)
    np.testing.assert_allclose(fitted.mean, rows.mean(0), rtol=1e-14)
    np.testing.assert_allclose(fitted.cov, np.cov(rows, rowvar=False), rtol=1e-9)


def test_an_empirical_distribution_has_ddof_0():
    rows = RNG.normal(size=(30, 3))
    distribution = nm.Empirical(rows)
    np.testing.assert_allclose(distribution.mean, rows.mean(0), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(distribution.cov, np.cov(rows, rowvar=False, ddof=0), rtol=1e-12, atol=1e-15)


def random_distribution(rng, d):
    """A Gaussian of any rank, or a mixture of two."""

    def gaussian():
        factor = rng.normal(size=(rng.integers(0, d + 1), d)) * 10.0 ** rng.uniform(-2, 1)
        return nm.Gaussian(rng.normal(size=d) * rng.uniform(0, 3), factor.T @ factor)

    return gaussian() if rng.random() < 0.5 else nm.Mixture([gaussian(), gaussian()], rng.uniform(0.01, 1, size=2))


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(seeds)
def test_all_never_exceeds_avg_for_distributions(seed):
    rng = np.random.default_rng(seed)
    d, clients = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    federation = nm.Federation([random_distribution(rng, d) for _ in range(clients)]).with_weights(
        rng.uniform(size=clients)
    )
    metrics = ["fid", "kid", nm.metrics.KID(nm.RBF(), name="kid_rbf")]
    table = nm.evaluate(federation, [random_distribution(rng, d) for _ in range(2)], metrics, progress=False).table
    scale = sum(np.trace(c.distribution.cov) + c.distribution.mean @ c.distribution.mean + 1 for c in federation)
    floor = np.where(table["metric"] == "kid", scale**3, scale)
    assert (table["gap"] >= -1e-10 * floor).all()
    assert (table[["avg", "all"]].min(axis=1) >= -1e-10 * floor).all()


@pytest.mark.parametrize("metric", ["fid", "kid"])
def test_all_never_exceeds_avg_for_whole_populations(metric):
    distributions = [nm.Empirical(RNG.normal(size=(n, 3)) + n) for n in (2, 5, 9)]
    table = nm.evaluate(
        distributions, [nm.Empirical(RNG.normal(size=(4, 3))), nm.Gaussian([5, 5, 5])], metric, progress=False
    ).table
    assert (table["gap"] > 0).all()


def test_unbiased_covariances_of_two_rows_can_put_all_above_avg():
    rows = np.array([[0.0], [1.0]])
    table = nm.evaluate([rows, rows], [np.array([[0.0], [10.0]])], "fid", progress=False).table
    # variances 1/2, pooled 1/3, generator's 50; means 1/2 and 5
    assert table["avg"][0] == pytest.approx(4.5**2 + (np.sqrt(50) - np.sqrt(1 / 2)) ** 2, rel=1e-13)
    assert table["all"][0] == pytest.approx(4.5**2 + (np.sqrt(50) - np.sqrt(1 / 3)) ** 2, rel=1e-13)
    assert table["avg"][0] == pytest.approx(60.75, abs=0.005)
    assert table["all"][0] == pytest.approx(62.42, abs=0.005)
