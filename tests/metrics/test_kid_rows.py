"""E k(x_a, Y) at single rows beside the plain double sum, for every kind of part and every way to compute it."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics import KID, Sample
from nbmetrics.metrics.kid.embedding import Embedding

RNG = np.random.default_rng(20261123)


def cubic(x, y):
    return (x.astype(float) @ y.astype(float).T / x.shape[1] + 1) ** 3


@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize(("n", "m"), [(1, 2), (7, 300), (900, 40), (700, 900)])
def test_row_means_of_rows_are_row_sums_of_the_kernel(d, n, m):
    x, y = 0.2 + RNG.normal(size=(n, d)), RNG.normal(size=(m, d))
    kernel = nm.Polynomial()
    expected = cubic(x, y).mean(axis=1)
    scale = np.abs(cubic(x, y)).mean()
    for content in (y, kernel.embed(y)):
        found = kernel.row_means(x, content)
        assert found.shape == (n,) and found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13 * scale)
    quadratic = nm.Polynomial(2).row_means(x.astype("f"), y.astype("f"))
    np.testing.assert_allclose(quadratic, ((x @ y.T / d + 1) ** 2).mean(axis=1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kernel", [nm.Polynomial(), nm.RBF(1.3)], ids=str)
def test_row_means_of_a_gaussian_average_to_the_mean_of_two_distributions(kernel):
    a, b = nm.Gaussian([0.3, -0.5], [[0.5, 0.2], [0.2, 0.4]]), nm.Gaussian([-0.1, 0.6], 0.3)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    grid = np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2)
    mass = np.outer(weights, weights).ravel() / weights.sum() ** 2
    assert mass @ kernel.row_means(a.mean + grid @ a.root, b) == pytest.approx(kernel.gaussian_mean(a, b), rel=1e-10)


@pytest.mark.parametrize("kernel", [nm.Polynomial(), nm.RBF(2.0)], ids=str)
@pytest.mark.parametrize("d", [2, 5, 150])
@pytest.mark.parametrize("large", [False, True])
def test_row_means_of_a_pool_are_weighted_means_over_its_parts(kernel, d, large):
    distribution, metric = nm.Gaussian(np.full(d, 0.4), 0.5), KID(kernel)
    parts = [RNG.normal(size=(n, d)) for n in ((300, 50, 400) if large else (3, 20, 5))]
    summaries = [metric.summarize(Sample(rows=p)) for p in parts] + [
        metric.summarize(Sample(distribution=distribution))
    ]
    weights, x = (0.1, 0.0, 0.6, 0.3), RNG.normal(size=(30, d))
    mean = metric.pool(summaries, weights)
    expected = sum(w * kernel.block(x, p).mean(axis=1) for w, p in zip(weights, parts, strict=False))
    expected = expected + 0.3 * kernel.point_means(x, distribution)
    np.testing.assert_allclose(mean.row_means(x), expected, rtol=1e-11)
    if d < 150 and large and isinstance(kernel, nm.Polynomial):
        assert isinstance(summaries[0].parts[0].content, Embedding)  # both ways are there


def test_row_means_take_torch_rows():
    torch = pytest.importorskip("torch")
    x, y = RNG.normal(size=(50, 3)), RNG.normal(size=(400, 3))
    for kernel in (nm.Polynomial(), nm.RBF()):
        for content in (y, torch.from_numpy(y), kernel.content(Sample(rows=torch.from_numpy(y)))[0]):
            found = kernel.row_means(torch.from_numpy(x), content)
            assert isinstance(found, np.ndarray)
            np.testing.assert_allclose(found, kernel.row_means(x, y), rtol=1e-11)


@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("sizes", [(3, 40, 7, 700, 600), (5, 4)])
def test_pulls_of_pooled_rows_are_weighted_sums_of_the_kernel_without_the_row_itself(sizes, dtype, offset):
    """Small clients are taken together, large ones alone; under any weights, one of them 0.

    The mean over a row's own client is that over its other rows. Of the full kernel, also where KID is computed with
    another about the clients' mean: but for a constant, the pulls are the same.
    """
    d = 90
    spread = np.arange(1, d + 1) ** -0.7
    parts = [(offset + (i % 3) * 0.1 + spread * RNG.normal(size=(n, d))).astype(dtype) for i, n in enumerate(sizes)]
    made = (offset + 0.2 + spread * RNG.normal(size=(60, d))).astype(dtype)
    weights = np.arange(1.0, len(sizes) + 1)
    weights[1:-1] *= np.arange(len(sizes) - 2) != 0
    weights /= weights.sum()
    kid = KID().resolve([Sample(rows=part) for part in parts])
    assert offset == 0 or "about the clients' mean" in str(kid.kernel)
    one = [kid.strata(kid.summarize(Sample(rows=part)), part) for part in parts]
    found = kid.influence_values(kid.pool_strata(one, weights), kid.strata(kid.summarize(Sample(rows=made)), made))

    kept = [(part.astype("f8"), w) for part, w in zip(parts, weights, strict=True) if w]
    expected, y = [], made.astype("f8")
    for part, _ in kept:
        mean = -cubic(part, y).mean(axis=1)
        for other, w in kept:
            pairs = cubic(part, other)
            is_own = other is part
            mean += w * (pairs.sum(axis=1) - (np.diag(pairs) if is_own else 0.0)) / (len(other) - is_own)
        expected.append(2.0 * mean)
    expected, values = np.concatenate(expected), np.concatenate(found.real)
    tolerance = (1e-9 if dtype == "f8" else 1e-4) * np.abs(expected - expected.mean()).max()
    np.testing.assert_allclose(values - values.mean(), expected - expected.mean(), rtol=0, atol=tolerance)
