"""KID beside the naive double sum, the peers' numbers, Monte Carlo and numerical integrals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

import nbmetrics as nm
from nbmetrics.metrics.kid import embedding, kernels
from tests import golden
from tests.slow import slow

RNG = np.random.default_rng(20261121)
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25, deadline=None, derandomize=True)


def cubic(x, y):
    return (x.astype(float) @ y.astype(float).T / x.shape[1] + 1) ** 3


def rbf(sigma):
    return lambda x, y: np.exp(-cdist(x, y, "sqeuclidean") / (2 * sigma**2))


def naive_kid(k, x, y, unbiased=True):
    """The double sums as the definition writes them, and the mean kernel for scale."""
    kxx, kyy, kxy = k(x, x), k(y, y), k(x, y)
    if unbiased:
        n, m = len(x), len(y)
        real = (kxx.sum() - np.trace(kxx)) / (n * (n - 1))
        generated = (kyy.sum() - np.trace(kyy)) / (m * (m - 1))
    else:
        real, generated = kxx.mean(), kyy.mean()
    return real + generated - 2 * kxy.mean(), max(np.abs(k).mean() for k in (kxx, kyy, kxy))


def near(expected, mean_kernel, rel=1e-10):
    return pytest.approx(expected, rel=rel, abs=1e-13 * mean_kernel)


KERNELS = {
    "cubic": (nm.Polynomial(), cubic),
    "quadratic": (nm.Polynomial(2), lambda x, y: (x @ y.T / x.shape[1] + 1) ** 2),
    "quintic": (nm.Polynomial(5, gamma=0.1, coef0=0.5), lambda x, y: (0.1 * x @ y.T + 0.5) ** 5),
    "cubic without constant": (nm.Polynomial(3, coef0=0.0), lambda x, y: (x @ y.T / x.shape[1]) ** 3),
    "cubic, gamma 0.7": (nm.Polynomial(gamma=0.7), lambda x, y: (0.7 * x @ y.T + 1) ** 3),
    "rbf": (nm.RBF(), lambda x, y: rbf(np.sqrt(x.shape[1]))(x, y)),
    "rbf 0.8": (nm.RBF(0.8), rbf(0.8)),
    "user's": (
        lambda x, y: np.minimum(np.abs(x) @ np.abs(y).T, 3.0),
        lambda x, y: np.minimum(abs(x) @ abs(y).T, 3.0),
    ),
}


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("n", "m", "d"), [(2, 2, 1), (7, 40, 3), (200, 90, 4), (30, 20, 50)])
def test_kid_is_the_naive_double_sum(kernel, estimator, n, m, d):
    ours, oracle = KERNELS[kernel]
    x, y = RNG.normal(size=(n, d)), 0.5 + RNG.normal(size=(m, d))
    expected, scale = naive_kid(oracle, x, y, estimator == "unbiased")
    assert nm.kid(x, y, ours, estimator) == pytest.approx(expected, rel=1e-10, abs=1e-12 * scale)


def test_blocks_cover_every_pair_once():
    x, y = RNG.normal(size=(1500, 40)), 0.1 + RNG.normal(size=(2100, 40))
    expected, scale = naive_kid(cubic, x, y)
    ours = nm.kid(x, y, nm.Polynomial(degree=3, coef0=1.0 + 1e-15))  # not the embedding
    assert ours == pytest.approx(expected, rel=1e-10, abs=1e-12 * scale)
    expected, _ = naive_kid(rbf(3.0), x, y)
    assert nm.kid(x, y, nm.RBF(3.0)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", golden.NAMES)
def test_golden_kid_equals_torch_fidelitys_on_equal_cuts(name):
    clients, generators = golden.load(name)
    for g, generator in enumerate(generators):
        for c, client in enumerate(clients):
            n = min(len(client), len(generator))
            x, y = client[:n], generator[:n]
            expected = golden.PEERS[name]["kid_by_client_equal_n"][g][c]
            naive, scale = naive_kid(cubic, x, y)
            assert nm.kid(x, y) == pytest.approx(expected, rel=1e-6, abs=1e-8 * scale)
            assert nm.kid(x, y) == near(naive, scale)


@pytest.mark.parametrize("kernel", [nm.Polynomial(), nm.RBF(), nm.RBF("median"), nm.Polynomial(2)], ids=str)
@pytest.mark.parametrize("name", ["blobs64", "digits", "wide512"])
def test_golden_kid_gap_is_the_same_for_every_generator_and_any_weights(name, kernel):
    count = len(golden.load(name)[0])
    scores = golden.scores(name, nm.metrics.KID(kernel))
    for weights in (scores.weights, RNG.uniform(size=count), np.eye(count)[0]):
        table = scores.with_weights(weights).table
        assert np.ptp(table["gap"]) <= 1e-12 * max(1.0, table["avg"].abs().max())
    assert np.ptp(scores.table["avg"]) > 1e-3


def test_kid_gap_is_the_clients_own_affair():
    clients, _ = golden.load("blobs64")
    sizes = np.array([len(c) for c in clients])
    own = [naive_kid(cubic, c, c)[0] + 2 * cubic(c, c).mean() for c in clients]  # twice the real term
    rows = np.concatenate(clients)
    pooled = naive_kid(cubic, rows, rows)[0] + 2 * cubic(rows, rows).mean()
    expected = (sizes / sizes.sum() @ own - pooled) / 2
    assert golden.scores("blobs64", "kid").table["gap"].to_numpy() == pytest.approx(expected, rel=1e-9)


@quick
@given(seeds)
def test_biased_kid_is_a_squared_norm(seed):
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(2, 50), rng.integers(2, 50), rng.integers(1, 12)
    x, y = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3), rng.normal(size=(m, d))
    for kernel, oracle in (KERNELS["cubic"], KERNELS["rbf"]):
        assert nm.kid(x, y, kernel, "biased") >= -1e-13 * oracle(np.r_[x, y], np.r_[x, y]).max()
        assert nm.kid(x, x[::-1], kernel, "biased") == pytest.approx(0.0, abs=1e-11 * oracle(x, x).max())


@quick
@given(seeds)
def test_embedding_and_direct_path_are_one_number(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    x, y = rng.normal(size=(rng.integers(90, 120), d)), 1 + rng.normal(size=(rng.integers(2, 6), d))
    content, *_ = nm.Polynomial().content(nm.metrics.Sample(rows=x))
    assert isinstance(content, embedding.Embedding)
    assert content.nbytes < x.nbytes
    for a, b in ((x, x), (x, y), (y, x)):
        expected = cubic(a, b).mean()
        assert nm.Polynomial().mean(nm.Polynomial().embed(a), b) == near(expected, np.abs(cubic(a, b)).mean(), 1e-12)


def distribution(seed, d=3):
    rng = np.random.default_rng(seed)
    parts = [nm.Gaussian(rng.normal(size=d), (lambda a: a @ a.T / d)(rng.normal(size=(d, 2)))) for _ in range(2)]
    return nm.Mixture(parts, rng.uniform(0.1, 1, size=2))


@pytest.mark.parametrize("kernel", [nm.Polynomial(), nm.RBF(), *slow(nm.Polynomial(gamma=0.2), nm.RBF(0.7))], ids=str)
def test_closed_forms_agree_with_monte_carlo(kernel):
    first, second, draws = distribution(1), distribution(2), 40
    exact = nm.kid(first, second, kernel)
    drawn = [nm.kid(first.sample(600, i), second.sample(500, 9000 + i), kernel) for i in range(draws)]
    error = np.std(drawn, ddof=1) / np.sqrt(draws)
    assert abs(np.mean(drawn) - exact) < 4 * error
    assert error < 0.05 * exact
    half = nm.kid(first, second.sample(2000, 0), kernel)  # a distribution against rows
    assert half == pytest.approx(exact, abs=4 * np.std(drawn))


def test_cubic_closed_form_is_the_product_of_exact_embeddings():
    kernel = nm.Polynomial()
    a, b = distribution(3).components[0], distribution(4).components[0]
    third = kernel.embed(a).vector @ kernel.embed(b).vector
    assert kernel.gaussian_mean(a, b) == pytest.approx(third, rel=1e-13)


@pytest.mark.parametrize("kernel", [nm.Polynomial(), nm.RBF(0.9)], ids=str)
def test_closed_forms_agree_with_gauss_hermite_quadrature(kernel):
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    grid = np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2)
    mass = np.outer(weights, weights).ravel() / weights.sum() ** 2
    a = nm.Gaussian([0.3, -0.5], [[0.5, 0.2], [0.2, 0.4]])
    b = nm.Gaussian([-0.1, 0.6], [[0.3, -0.1], [-0.1, 0.6]])
    x, y = (g.mean + grid @ g.root for g in (a, b))
    assert kernel.gaussian_mean(a, b) == pytest.approx(mass @ kernel.block(x, y) @ mass, rel=1e-10)
    assert kernel.point_means(x[:5], b) == pytest.approx(kernel.block(x[:5], y) @ mass, rel=1e-10)


def test_singular_gaussians_have_closed_forms_too():
    point = nm.Gaussian([1.0, 2.0], 0.0)
    row = np.array([[1.0, 2.0]])
    other = nm.Gaussian([0.0, 0.5], [[1.0, 1.0], [1.0, 1.0]])
    for kernel in (nm.Polynomial(), nm.RBF()):
        assert kernel.gaussian_mean(point, point) == pytest.approx(kernel.block(row, row)[0, 0], rel=1e-14)
        assert kernel.gaussian_mean(point, other) == pytest.approx(kernel.point_means(row, other)[0], rel=1e-14)


@pytest.mark.parametrize("kernel", ["cubic", "quadratic", "rbf", "user's"])
def test_an_empirical_distribution_is_the_v_statistic(kernel):
    ours, oracle = KERNELS[kernel]
    x, y = RNG.normal(size=(40, 3)), RNG.normal(size=(25, 3))
    expected, scale = naive_kid(oracle, x, y, unbiased=False)
    assert nm.kid(nm.Empirical(x), nm.Empirical(y), ours) == near(expected, scale)


def test_median_sigma_is_one_number_for_the_whole_federation():
    parts = [RNG.normal(size=(60, 4)), 5 + RNG.normal(size=(80, 4))]
    sigma = np.median(pdist(np.concatenate(parts)))
    generators = [RNG.normal(size=(70, 4)), 100 * RNG.normal(size=(70, 4))]
    median, fixed = (
        nm.evaluate(parts, generators, nm.metrics.KID(nm.RBF(s)), progress=False).table for s in ("median", sigma)
    )
    np.testing.assert_allclose(median[["avg", "all"]], fixed[["avg", "all"]], rtol=1e-12)


@pytest.mark.parametrize(("kernel", "oracle"), [KERNELS["cubic"], (nm.RBF(12.0), rbf(12.0))], ids=["cubic", "rbf"])
def test_float32_blocks_stay_near_float64(kernel, oracle, monkeypatch):
    x = (0.3 + RNG.normal(size=(300, 200))).astype(np.float32)
    y = (0.35 + RNG.normal(size=(250, 200))).astype(np.float32)
    exact, scale = naive_kid(oracle, x, y)
    assert nm.kid(x, y, kernel) == pytest.approx(exact, rel=1e-9, abs=1e-12 * scale)
    monkeypatch.setattr(kernels, "FLOAT64_WORK", 0.0)
    rough = nm.kid(x, y, kernel)
    assert rough == pytest.approx(exact, abs=2e-6 * scale)
    assert rough != nm.kid(x.astype(float), y.astype(float), kernel)  # the float32 path was taken


@pytest.mark.parametrize("place", ["first", "last"])
def test_an_outlier_does_not_blur_the_distances_of_other_rows(place):
    x, y, far = RNG.normal(size=(30, 3)), RNG.normal(size=(25, 3)), np.full((2, 3), 1e8)
    x = np.r_[far, x] if place == "first" else np.r_[x, far]
    expected, _ = naive_kid(rbf(1.0), x, y)
    assert nm.kid(x, y, nm.RBF(1.0)) == pytest.approx(expected, rel=1e-6)


def test_a_common_offset_does_not_blur_rbf_distances():
    x, y = RNG.normal(size=(30, 3)), RNG.normal(size=(25, 3))
    expected, _ = naive_kid(rbf(1.0), x, y)
    assert nm.kid(x + 1e6, y + 1e6, nm.RBF(1.0)) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("kernel", ["cubic", "quadratic", "rbf"])
@pytest.mark.parametrize("shape", [(60, 3), (30, 70)])
def test_torch_and_numpy_agree_on_kid(kernel, shape):
    torch = pytest.importorskip("torch")
    x, y = RNG.normal(size=shape), 0.4 + RNG.normal(size=shape)
    tensors = torch.from_numpy(x), torch.from_numpy(y)
    for estimator in ("unbiased", "biased"):
        expected = nm.kid(x, y, KERNELS[kernel][0], estimator)
        assert nm.kid(*tensors, KERNELS[kernel][0], estimator) == pytest.approx(expected, rel=1e-10, abs=1e-13)
    assert nm.kid(tensors[0], y, KERNELS[kernel][0]) == pytest.approx(nm.kid(x, y, KERNELS[kernel][0]), rel=1e-10)
