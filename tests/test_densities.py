"""KernelDensity and TwoMoons beside SciPy, scikit-learn and Monte Carlo."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.datasets import make_moons

import nbmetrics as nm
from nbmetrics.densities import KernelDensity, TwoMoons
from nbmetrics.distributions import Distribution

RNG = np.random.default_rng(20261122)


@pytest.mark.parametrize(("n", "d", "bandwidth"), [(1, 1, 0.5), (40, 2, 0.1), (300, 5, 2.0), (60, 30, 1e-3)])
def test_kernel_density_is_the_mixture_of_kernels(n, d, bandwidth):
    rows = RNG.normal(size=(n, d))
    estimate = KernelDensity(rows, bandwidth)
    mixture = nm.Mixture([nm.Gaussian(row, bandwidth**2) for row in rows])
    x = np.concatenate([RNG.normal(size=(25, d)), rows[:1] + bandwidth / 10])
    np.testing.assert_allclose(estimate.log_prob(x), mixture.log_prob(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(estimate.mean, mixture.mean, atol=1e-12)
    np.testing.assert_allclose(estimate.cov, mixture.cov, rtol=1e-10, atol=1e-12)
    assert isinstance(estimate, Distribution)


def test_kernel_density_samples_its_own_distribution():
    estimate = KernelDensity(RNG.normal(size=(50, 2)), 0.7)
    drawn = estimate.sample(100_000, 4)
    np.testing.assert_array_equal(drawn, estimate.sample(100_000, np.random.default_rng(4)))
    np.testing.assert_allclose(drawn.mean(0), estimate.mean, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn.T), estimate.cov, atol=0.04)
    assert estimate.sample(0, 1).shape == (0, 2)


@pytest.mark.parametrize("bandwidth", [0, -1, np.nan, "wide"])
def test_kernel_density_needs_a_positive_bandwidth(bandwidth):
    with pytest.raises(nm.InvalidInput, match="bandwidth"):
        KernelDensity(np.eye(3), bandwidth)
    with pytest.raises(nm.InvalidInput, match="rows"):
        KernelDensity(np.ones(3), 1.0)
    with pytest.raises(nm.InvalidInput, match=r"x.*3 were expected"):
        KernelDensity(np.eye(3), 1.0).log_prob(np.eye(2))


@pytest.mark.parametrize("noise", [0.0, 0.1, 2.0])
def test_two_moons_moments_are_those_of_the_curves(noise):
    t = (np.arange(500_000) + 0.5) * np.pi / 500_000
    curves = np.concatenate([[np.cos(t), np.sin(t)], [1 - np.cos(t), 0.5 - np.sin(t)]], axis=1)
    np.testing.assert_allclose(TwoMoons(noise).mean, curves.mean(1), atol=1e-11)
    np.testing.assert_allclose(TwoMoons(noise).cov, np.cov(curves, ddof=0) + noise**2 * np.eye(2), atol=1e-11)


def test_two_moons_are_scikit_learns():
    ours, theirs = TwoMoons(0.1).sample(20_000, 3), make_moons(20_000, noise=0.1, random_state=1)[0]
    for direction in ([1, 0], [0, 1], [1, 1], [1, -2]):
        assert ks_2samp(ours @ direction, theirs @ direction).pvalue > 1e-3
    np.testing.assert_array_equal(ours, TwoMoons().sample(20_000, np.random.default_rng(3)))
    assert isinstance(TwoMoons(), Distribution)
    assert not hasattr(TwoMoons(), "log_prob")
    with pytest.raises(nm.InvalidInput, match="noise"):
        TwoMoons(-1)


def test_they_work_as_clients_and_generators():
    federation = nm.Federation([TwoMoons(0.1), nm.Gaussian([0, 0], 1.0)])
    made = {"moons": TwoMoons(0.1), "kde": KernelDensity(TwoMoons().sample(100, 0), 0.1)}
    table = nm.evaluate(federation, made, metrics=["fid", "kid"], samples=2_000, progress=False).table
    assert np.isfinite(table[["avg", "all"]]).all(axis=None)
    assert nm.metrics.FID().has_closed_form(TwoMoons())
