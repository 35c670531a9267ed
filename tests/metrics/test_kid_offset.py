"""KID of features far from 0, at any scale and of any type: beside 80-digit arithmetic, and about any centre."""

import warnings

import mpmath
import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics import KID, Sample
from nbmetrics.metrics.kid import kernels
from nbmetrics.metrics.kid.polynomial import CentredPolynomial, about_mean

RNG = np.random.default_rng(20261124)


def exact_kid(x, y, weights=None, degree=3):
    """U-statistic of rows x of the given weights and of rows y, by its definition, in 80 digits."""
    with mpmath.workdps(80):
        d = x.shape[1]
        real, made = ([[mpmath.mpf(float(v)) for v in row] for row in side] for side in (x, y))

        def k(p, q):
            return (mpmath.fdot(p, q) / d + 1) ** degree

        def own(rows, w):
            pairs = ((a, b) for a in range(len(rows)) for b in range(a))
            total = mpmath.fsum(2 * w[a] * w[b] * k(rows[a], rows[b]) for a, b in pairs)
            return total / (1 - mpmath.fsum(v * v for v in w))

        even = [mpmath.mpf(1) / len(y)] * len(y)
        w = [mpmath.mpf(1) / len(x)] * len(x) if weights is None else [mpmath.mpf(float(v)) for v in weights]
        cross = mpmath.fsum(v * u * k(p, q) for p, v in zip(real, w) for q, u in zip(made, even))
        return float(own(real, w) + own(made, even) - 2 * cross)


def rows(offset, n, d, shift=0.3, dtype=np.float64):
    return (offset + shift + RNG.normal(size=(n, d))).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 10.0, 1e3, 1e6])
@pytest.mark.parametrize(("n", "m", "d"), [(20, 24, 2), (9, 12, 20)])  # with an embedding and without
def test_kid_at_an_offset_has_the_digits_of_its_rows(offset, dtype, n, m, d):
    x, y = rows(offset, n, d, 0.0, dtype), rows(offset, m, d, 0.3, dtype)
    expected = pytest.approx(exact_kid(x, y), rel=1e-12)
    assert nm.kid(x, y) == expected
    table = nm.evaluate([x], {"g": y}, "kid", progress=False).table
    assert table["avg"][0] == expected and table["all"][0] == expected
    if n == 20:
        assert nm.kid(x[:, :1], y[:, :1], nm.Polynomial(2)) == pytest.approx(
            exact_kid(x[:, :1], y[:, :1], degree=2), rel=1e-11
        )


@pytest.mark.parametrize("offset", [100.0, 1e6])
def test_subsets_and_linear_time_at_an_offset(offset):
    x, y = rows(offset, 16, 3, 0.0, np.float32), rows(offset, 16, 3, 0.3, np.float32)
    assert nm.kid(x, y, estimator=nm.Subsets(3, 16)) == pytest.approx(exact_kid(x, y), rel=1e-12)
    two = nm.kid(x[:2], y[:2], estimator="linear")  # one pair of rows a side: the whole U-statistic
    plain = nm.kid(x[:2].astype(float) - offset, y[:2].astype(float) - offset, estimator="linear")
    assert np.isfinite(plain) and two == pytest.approx(exact_linear(x[:2], y[:2]), rel=1e-12)


def exact_linear(x, y):
    """k(x, x′) + k(y, y′) − k(x, y′) − k(x′, y), the seeded order tried both ways, by its definition in 80 digits."""
    rng = np.random.default_rng(0)
    (a, b), (c, d) = x[rng.permutation(2)], y[rng.permutation(2)]
    with mpmath.workdps(80):

        def k(p, q):
            p, q = ([mpmath.mpf(float(v)) for v in side] for side in (p, q))
            return (mpmath.fdot(p, q) / len(p) + 1) ** 3

        return float(k(a, b) + k(c, d) - k(a, d) - k(b, c))


@pytest.mark.parametrize("offset", [0.0, 20.0])
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e-3, 1e6, 1e40])
def test_kid_of_small_and_large_features(scale, offset):
    x, y = scale * rows(offset, 15, 3, 0.0), scale * rows(offset, 12, 3)
    assert nm.kid(x, y) == pytest.approx(exact_kid(x, y), rel=1e-12, abs=0)


def test_many_rows_of_float32_at_an_offset_keep_float32s_digits(monkeypatch):
    monkeypatch.setattr(kernels, "FLOAT64_WORK", 0.0)
    for offset in (0.4, 5.0, 10.0, 100.0, 1000.0):
        x, y = rows(offset, 300, 150, 0.0, np.float32), rows(offset, 250, 150, 0.3, np.float32)
        expected = nm.kid(x.astype(float), y.astype(float))
        assert nm.kid(x, y) == pytest.approx(expected, rel=3e-6)
        assert nm.kid(x, y, estimator=nm.Subsets(1, 250)) == pytest.approx(
            nm.kid(x.astype(float), y.astype(float), estimator=nm.Subsets(1, 250)), rel=3e-6
        )
        assert nm.kid(x, y, nm.RBF()) == pytest.approx(nm.kid(x.astype(float), y.astype(float), nm.RBF()), rel=3e-6)


def test_clients_far_from_one_another_are_not_blurred_by_float32(monkeypatch):
    monkeypatch.setattr(kernels, "FLOAT64_WORK", 0.0)
    clients = [rows(offset, 60, 150, 0.0, np.float32) for offset in (-1000.0, 1000.0)]
    generator = rows(1000.0, 60, 150, 0.3, np.float32)
    found, expected = (
        nm.evaluate([c.astype(t) for c in clients], {"g": generator.astype(t)}, "kid", progress=False).clients["value"]
        for t in (np.float32, np.float64)
    )
    assert found[1] == pytest.approx(expected[1], rel=1e-6)


@pytest.mark.parametrize("weights", [[1, 1, 1], [0.2, 0.7, 0.1], [0.0, 0.5, 0.5]])
def test_weighted_pools_at_an_offset_are_the_weighted_u_statistic(weights):
    clients, made = [rows(1e4, n, 2, s) for n, s in ((8, 0.0), (5, 2.0), (12, -1.0))], rows(1e4, 10, 2)
    scores = nm.evaluate(clients, {"g": made}, "kid", progress=False).with_weights(weights)
    shares = np.repeat(np.array(weights) / sum(weights) / [8, 5, 12], [8, 5, 12])
    expected = exact_kid(np.concatenate(clients), made, shares)
    assert scores.table["all"][0] == pytest.approx(expected, rel=1e-10)


DISTRIBUTION = nm.Mixture(
    [nm.Gaussian([2.0, 3.5, 2.5], 0.7 * np.eye(3) + 0.1), nm.Gaussian([2.5, 3.0, 2.0], [0.1, 1.0, 0.0])], [0.3, 0.7]
)
KINDS = {
    "rows": lambda: Sample(rows=2.0 + RNG.normal(size=(6, 3))),
    "rows with an embedding": lambda: Sample(rows=3.0 + RNG.normal(size=(40, 3))),
    "float32": lambda: Sample(rows=(2.0 + RNG.normal(size=(7, 3))).astype(np.float32)),
    "distribution": lambda: Sample(distribution=DISTRIBUTION),
    "empirical": lambda: Sample(distribution=nm.Empirical(2.5 + RNG.normal(size=(5, 3)))),
}
ABOUT = CentredPolynomial(3, None, 1.0, np.array([1.5, 3.0, -2.0]))


OF_ROWS = [kind for kind in KINDS if kind not in ("distribution", "empirical")]
CASES = [
    *((estimator, a, b) for estimator in ("unbiased", "biased") for a in KINDS for b in KINDS),
    *((estimator, a, b) for estimator in ("linear", nm.Subsets(3, 4)) for a in OF_ROWS for b in OF_ROWS),
]


@pytest.mark.parametrize(("estimator", "first", "second"), CASES, ids=str)
def test_the_kernel_about_any_point_has_the_same_mmd(estimator, first, second):
    real, made = [KINDS[first](), KINDS["rows"](), KINDS[second]()], KINDS[second]()
    if estimator not in ("unbiased", "biased"):
        real = real[:1]
    weights = np.array([0.5, 0.2, 0.3])[: len(real)]
    plain, about = (KID(kernel, estimator) for kernel in (nm.Polynomial(), ABOUT))
    scores = [
        [m.distance(m.pool([m.summarize(s) for s in real], weights / weights.sum()), m.summarize(made))]
        + [m.distance(m.summarize(s), m.summarize(made)) for s in real]
        for m in (plain, about)
    ]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("d", [3, 30])  # with embeddings, and row by row
def test_resampled_rows_about_any_point_have_the_same_mmd(d):
    about = CentredPolynomial(3, None, 1.0, RNG.normal(size=d))
    real = [Sample(rows=2.0 + RNG.normal(size=(n, d))) for n in (12, 7)]
    made = [Sample(rows=2.3 + RNG.normal(size=(15, d))), Sample(distribution=nm.Gaussian(np.full(d, 2.0), 1.5))]
    counts = [RNG.multinomial(n, np.full(n, 1 / n), size=6) for n in (12, 7, 15)] + [np.ones((6, 0))]
    (by_client, pooled), (expected_by_client, expected_pooled) = (
        KID(kernel).replicates(real, made, (0.8, 0.2), counts[:2], counts[2:]) for kernel in (about, nm.Polynomial())
    )
    np.testing.assert_allclose(by_client, expected_by_client, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pooled, expected_pooled, rtol=1e-9, atol=1e-9)
    for estimator in ("biased", "stratified"):  # rows counted once are the score without bias
        metric, once = KID(about, estimator), [np.ones((1, n), int) for n in (12, 7, 15)] + [np.ones((1, 0))]
        whole = metric.pool([metric.summarize(s) for s in real], (0.8, 0.2))
        found = metric.replicates(real, made, (0.8, 0.2), once[:2], once[2:])[1][0]
        np.testing.assert_allclose(found, [metric.distance(whole, metric.summarize(g)) for g in made], rtol=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 6])
def test_the_centred_kernel_is_the_kernel_without_its_ends(degree):
    c, x, y = RNG.normal(size=4), RNG.normal(size=(6, 4)), RNG.normal(size=(5, 4))
    plain, about = nm.Polynomial(degree, 0.4, 0.7), CentredPolynomial(degree, 0.4, 0.7, c)
    ends = plain.block(x, c[None]), plain.block(c[None], y), plain.block(c[None], c[None])
    np.testing.assert_allclose(about.block(x, y), plain.block(x, y) - ends[0] - ends[1] + ends[2], rtol=1e-11)
    np.testing.assert_allclose(about.elementwise(x[:5], y), np.diag(about.block(x[:5], y)), rtol=1e-12)
    np.testing.assert_allclose(about.omission(x), (ends[0] - ends[2])[:, 0], rtol=1e-12)
    assert about.mean_omission(x) == pytest.approx((ends[0] - ends[2]).mean(), rel=1e-12)


def test_the_centred_embedding_is_a_feature_map_of_the_centred_kernel():
    about, x, y = CentredPolynomial(3, None, 1.0, np.full(3, 40.0)), rows(40, 50, 3), rows(40, 8, 3)
    block = about.block(x, y)
    size = np.abs(block).mean()
    np.testing.assert_allclose(about.features(x) @ about.features(y).T, block, rtol=1e-10, atol=1e-13 * size)
    for content in (y, about.embed(y)):
        np.testing.assert_allclose(about.row_means(x, content), block.mean(axis=1), rtol=1e-10, atol=1e-13 * size)
    assert about.mean_omission(about.embed(x)) == pytest.approx(about.mean_omission(x), rel=1e-11)
    distribution = nm.Gaussian([40.0, 41.0, 39.0], [1.0, 0.5, 0.2])
    assert about.mean_omission(about.embed(distribution)) == pytest.approx(about.mean_omission(distribution), rel=1e-12)
    assert about.mean(distribution, distribution) == pytest.approx(
        about.mean(about.embed(distribution), distribution), rel=1e-12
    )
    assert about.mean(x, distribution) == pytest.approx(about.mean(about.embed(x), distribution), rel=1e-12)


def test_features_near_0_keep_the_kernel_as_it_is():
    near, far = ([Sample(rows=rows(offset, 40, 3))] for offset in (1.0, 50.0))
    for kernel in (nm.Polynomial(), nm.RBF()):
        assert about_mean(kernel, near) is kernel
    about = about_mean(nm.Polynomial(), far)
    assert isinstance(about, CentredPolynomial) and about_mean(about, near) is about
    assert "about the clients' mean" in KID().resolve(far).convention
    assert about_mean(nm.RBF(), far) == nm.RBF()


def test_exact_distributions_far_from_0_have_their_digits():
    def pair(offset):
        return nm.Mixture([nm.Gaussian([offset, 0.0], 1.0), nm.Empirical([[offset, 1.0]])]), nm.Gaussian([offset, 0.3])

    assert isinstance(about_mean(nm.Polynomial(), [Sample(distribution=pair(1e4)[0])]), CentredPolynomial)
    first, second = pair(1e6)
    shifted = CentredPolynomial(3, None, 1.0, np.array([1e6 - 3.0, 5.0]))  # another centre, the same MMD²
    assert nm.kid(first, second) == pytest.approx(nm.kid(first, second, shifted), rel=1e-11)
    first, second = pair(50.0)
    about = nm.evaluate([first], {"g": second}, "kid", progress=False).table["all"][0]
    assert about == pytest.approx(nm.kid(first, second, CentredPolynomial(3, None, 1.0, np.zeros(2))), rel=1e-9)


def test_kid_gap_at_an_offset_is_the_same_for_every_generator():
    clients = [rows(1e5, 30, 3, s) for s in (0.0, 1.0)]
    generators = [rows(1e5, 20, 3, s) for s in (0.0, 2.0, 4.0)]
    table = nm.evaluate(clients, generators, "kid", progress=False).table
    assert np.ptp(table["gap"]) <= 1e-12 * table["avg"].abs().max()
    assert nm.theory.kid_gap(clients) == pytest.approx(table["gap"][0], rel=1e-11)
    sides = nm.theory.kid_gap_identity(clients, generators[1])
    assert sides.left == pytest.approx(sides.right, rel=1e-11)


@pytest.mark.parametrize("estimator", ["unbiased", "biased", "linear", nm.Subsets(3, 5)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_features_are_right_or_refused(estimator, dtype):
    x = RNG.normal(size=(30, 2)).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e14, 1e30, 1e36):
            y = (1.0 + abs(x)) * dtype(scale)  # all products are positive, and nothing else is large
            low, high = np.min(y.astype(float)) ** 6, np.max(y.astype(float)) ** 6
            assert 0.9 * low <= nm.kid(x, y, estimator=estimator) <= high
        with pytest.raises(nm.InvalidInput, match="kernel"):
            nm.kid(x.astype(float), x.astype(float) * 1e44, nm.Polynomial(9), estimator)


@pytest.mark.parametrize("estimator", ["unbiased", "biased", "linear", nm.Subsets(3, 5)], ids=str)
@pytest.mark.parametrize(
    "kernel",
    [nm.Polynomial(), nm.Polynomial(2), nm.RBF(), lambda x, y: x @ y.T],
    ids=["cubic", "quadratic", "rbf", "user's"],
)
def test_libraries_and_types_mix(estimator, kernel):
    torch = pytest.importorskip("torch")
    x, y = RNG.normal(size=(20, 3)).astype(np.float32), RNG.normal(size=(25, 3))
    expected = nm.kid(x.astype(float), y, kernel, estimator)
    for a, b in (
        (torch.from_numpy(x), y),
        (x, torch.from_numpy(y)),
        (torch.from_numpy(x), torch.from_numpy(y)),
        (x, y),
    ):
        assert nm.kid(a, b, kernel, estimator) == pytest.approx(expected, rel=1e-10)
    far = nm.kid(torch.from_numpy(x + 1000), y + 1000, kernel, estimator)
    assert far == pytest.approx(nm.kid((x + 1000).astype(float), y + 1000, kernel, estimator), rel=1e-7)
