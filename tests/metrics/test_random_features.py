"""Random features: unbiased kernels whose error falls like 1/√count, and KID with them a KID of its own."""

import numpy as np
import pytest

import nbmetrics as nm

RNG = np.random.default_rng(21)
X, Y = RNG.normal(size=(30, 5)), 1.5 * RNG.normal(size=(40, 5)) + 0.3
KERNELS = {"rbf": nm.RBF(1.7), "scaled": nm.RBF(2.0, scale=3.0), "cubic": nm.Polynomial(), "square": nm.Polynomial(2)}


def errors(kernel, count, seeds=150):
    """k̂ − k at every pair, (seeds, n, m)."""
    exact = kernel.block(X, Y)
    return np.array([nm.RandomFeatures(kernel, count, seed).block(X, Y) - exact for seed in range(seeds)])


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_values_are_unbiased_and_their_error_falls_with_the_root_of_the_count(name):
    found = {count: errors(KERNELS[name], count) for count in (64, 512)}
    few, many = (np.sqrt((e**2).mean()) for e in found.values())
    assert few / many == pytest.approx(np.sqrt(8), rel=0.2)
    mean = found[64].mean(axis=0)
    assert np.mean(np.abs(mean) < 3 * found[64].std(axis=0) / np.sqrt(150)) > 0.98
    if name == "rbf":
        assert many <= 1.0 / np.sqrt(512)  # the bound of the docstring
    if name == "scaled":
        assert many <= 3.0 / np.sqrt(512)
    if name == "cubic":
        z = [1 + np.sum(rows**2, axis=1) / 5 for rows in (X, Y)]
        bound = np.sqrt(26 / 512) * np.sqrt(np.outer(*(v**3 for v in z)))
        assert (np.sqrt((found[512] ** 2).mean(axis=0)) < 1.4 * bound).all()


def test_kid_of_features_nears_that_of_the_kernel():
    for kernel in (nm.RBF(), nm.Polynomial()):
        exact = nm.kid(X, Y, kernel)
        off = {}
        for count in (32, 2048):
            found = np.array([nm.kid(X, Y, nm.RandomFeatures(kernel, count, seed)) for seed in range(40)])
            off[count] = np.sqrt(np.mean((found - exact) ** 2))
        assert off[32] / off[2048] == pytest.approx(8.0, rel=0.45)
        assert off[2048] < 0.1 * exact


def test_means_are_those_of_the_pairs():
    """The embedding gives what all pairs of rows give under the same kernel, and the gap is constant."""
    kernel = nm.RandomFeatures(nm.RBF(1.0), 40, seed=3)
    pairwise_pool = nm.kid(X, Y, lambda a, b: kernel.block(a, b))
    assert nm.kid(X, Y, kernel) == pytest.approx(pairwise_pool, rel=1e-10)
    scores = nm.evaluate([X, Y[:20]], {"a": Y, "b": X[::2]}, nm.metrics.KID(kernel), uncertainty=nm.Influence())
    assert np.ptp(scores.table["gap"]) < 1e-13
    plain = nm.evaluate([X, Y[:20]], {"a": Y, "b": X[::2]}, nm.metrics.KID(lambda a, b: kernel.block(a, b)))
    np.testing.assert_allclose(scores.table[["avg", "all"]], plain.table[["avg", "all"]], rtol=1e-10)
    assert (scores.table["avg_low"] < scores.table["avg_high"]).all()


def test_seeds_and_settings_make_the_kernel():
    assert nm.kid(X, Y, nm.RandomFeatures(seed=1)) == nm.kid(X, Y, nm.RandomFeatures(seed=1))
    assert nm.kid(X, Y, nm.RandomFeatures(seed=1)) != nm.kid(X, Y, nm.RandomFeatures(seed=2))
    said = str(nm.RandomFeatures(nm.Polynomial(), 99, 4))
    assert said == "99 TensorSketch of (γ x·y + 1)^3, γ = 1/d, seed 4"
    distributions = nm.evaluate(
        [nm.Empirical(X)], {"g": nm.Empirical(Y)}, nm.metrics.KID(nm.RandomFeatures()), progress=False
    )
    assert distributions.table["all"][0] == pytest.approx(nm.kid(X, Y, nm.RandomFeatures(), "biased"), rel=1e-12)
    resolved = nm.kid(X, Y, nm.RandomFeatures(nm.RBF("median"), 4096))
    assert resolved == pytest.approx(nm.kid(X, Y, nm.RBF("median")), rel=0.3)
