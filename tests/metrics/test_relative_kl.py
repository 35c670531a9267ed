"""`flips` of log_likelihood beside the relative-KL test of Gao, Sun and Su, by their formula and in closed form."""

from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import nbmetrics as nm
from tests.benchmarks import relative_kl as simulation

EPSILONS = (0.01, 0.1)


def data(epsilon, run=0, is_level=False):
    real, *generators = simulation.parameters(epsilon, is_level)
    return simulation.rows_of(real, np.random.default_rng([7, run])), generators


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_difference_of_two_log_likelihoods_is_their_estimate(epsilon):
    rows, generators = data(epsilon)
    estimate, error = simulation.relative_kl(rows, *generators)
    first, second = (multivariate_normal(centre, np.diag(scale**2)).logpdf(rows) for centre, scale in generators)
    assert estimate == pytest.approx((first - second).mean(), abs=1e-12)
    assert error == pytest.approx((first - second).std() / np.sqrt(len(rows)), rel=1e-9)
    assert simulation.difference(simulation.scores_of(rows, *generators)) == pytest.approx(estimate, abs=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_with_a_group_for_each_row_flips_is_their_p_value(epsilon):
    """Leaving one row out gives the standard error with n − 1 where theirs has n; that much is left."""
    rows, generators = data(epsilon)
    rows, n = rows[:200], 200
    estimate, error = simulation.relative_kl(rows, *generators)
    flips = simulation.scores_of(rows, *generators, nm.Jackknife(groups=n)).flips("log_likelihood").iloc[0]
    theirs = NormalDist().cdf(-abs(estimate) / (error * np.sqrt(n / (n - 1))))
    assert flips["avg_p"] == pytest.approx(theirs, rel=1e-6, abs=1e-12)
    assert flips["avg_prefers"] == ("1" if estimate > 0 else "2")


def test_with_the_default_groups_it_is_their_p_value_up_to_the_draw_of_the_groups():
    """A standard error from 100 groups of 10 rows is off by a factor of 1 ± 1/√198, here by 4 such at most."""
    rows, generators = data(0.02)
    estimate, error = simulation.relative_kl(rows, *generators)
    p = [
        simulation.scores_of(rows, *generators, nm.Jackknife(seed=seed)).flips("log_likelihood")["avg_p"][0]
        for seed in range(3)
    ]
    z = NormalDist().inv_cdf
    ratios = [abs(estimate) / error / -z(float(value)) for value in p]
    assert np.ptp(p) > 0
    assert ratios == pytest.approx(np.ones(3), abs=4 / np.sqrt(198))


@pytest.mark.parametrize(("epsilon", "is_level"), [(0.02, False), (0.03, False), (0.05, True)])
def test_the_benchmark_rejects_as_often_as_the_closed_form_says(epsilon, is_level):
    runs = 400
    pairs = [data(epsilon, run, is_level) for run in range(runs)]
    found = np.array([simulation.relative_kl(rows, *generators) for rows, generators in pairs])
    mean, error = simulation.expected(epsilon, is_level=is_level)
    assert found[:, 0].mean() == pytest.approx(mean, abs=4 * error / np.sqrt(runs))
    assert found[:, 1].mean() == pytest.approx(error, rel=0.02)
    share, power = (
        (np.abs(found[:, 0]) / found[:, 1] > NormalDist().inv_cdf(0.95)).mean(),
        simulation.power(mean, error),
    )
    assert abs(share - power) < 4 * np.sqrt(power * (1 - power) / runs)


def test_several_clients_are_strata_of_one_test():
    """Relative KL of the weighted mixture: a weighted mean, whose variances add up."""
    (first, generators), (second, _) = data(0.02, 1), data(0.02, 2)
    first, second = first[:200], second[:100]
    parts = [simulation.relative_kl(rows, *generators) for rows in (first, second)]
    weights = np.array([0.3, 0.7])
    estimate = weights @ [value for value, _ in parts]
    errors = [error * np.sqrt(n / (n - 1)) for (_, error), n in zip(parts, (200, 100))]
    clients = {name: nm.Client(rows, weight=w) for name, rows, w in zip("ab", (first, second), weights)}
    named = {name: nm.Gaussian(centre, scale**2) for name, (centre, scale) in zip("12", generators)}
    exact = nm.Jackknife(groups=200)
    scores = nm.evaluate(clients, named, "log_likelihood", uncertainty=exact, progress=False)
    assert simulation.difference(scores) == pytest.approx(estimate, abs=1e-12)
    theirs = NormalDist().cdf(-abs(estimate) / np.hypot(*(weights * errors)))
    assert scores.flips("log_likelihood")["avg_p"][0] == pytest.approx(theirs, rel=1e-6)
    assert scores.flips("log_likelihood")["all_p"][0] == pytest.approx(theirs, rel=1e-6)
