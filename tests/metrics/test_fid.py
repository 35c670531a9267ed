"""FID beside mpmath, scipy's matrix root, the peers' numbers, closed forms and its own invariances."""

import mpmath
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.metrics import FID
from nbmetrics.summaries import roots
from nbmetrics.summaries.moments import Moments
from nbmetrics.summaries.roots import GradedRoot
from tests import golden
from tests.slow import by_default

RNG = np.random.default_rng(20261120)
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25, deadline=None, derandomize=True)


def exact_moments(rows):
    """Mean and covariance (ddof 1) of the stored numbers, in 50 digits."""
    n, d = rows.shape
    x = mpmath.matrix([[mpmath.mpf(float(v)) for v in row] for row in rows])
    mean = mpmath.matrix([mpmath.fsum(x[i, j] for i in range(n)) / n for j in range(d)])
    centred = mpmath.matrix(n, d)
    for i in range(n):
        for j in range(d):
            centred[i, j] = x[i, j] - mean[j]
    return mean, centred.T * centred / (n - 1)


def exact_root(cov):
    values, vectors = mpmath.eigsy(cov)
    return vectors * mpmath.diag([mpmath.sqrt(max(v, 0)) for v in values]) * vectors.T


def exact_fid(real, generated):
    """FID by its definition in 50 digits, and the sum of both traces."""
    with mpmath.workdps(50):
        (m1, c1), (m2, c2) = exact_moments(real), exact_moments(generated)
        root = exact_root(c1)
        cross = mpmath.fsum(mpmath.sqrt(max(v, 0)) for v in mpmath.eigsy(root * c2 * root, eigvals_only=True))
        traces = sum(c1[i, i] + c2[i, i] for i in range(c1.rows))
        shift = m1 - m2
        return float((shift.T * shift)[0] + traces - 2 * cross), float(traces)


def dead(rows):
    rows = rows.copy()
    rows[:, ::2] = 0.25
    return rows


def flat(n):
    return RNG.normal(size=(n, 2)) @ RNG.normal(size=(2, 5))


CASES = {
    "full rank": (RNG.normal(size=(30, 5)), RNG.normal(size=(40, 5)) * 1.7 + 0.3),
    "one feature": (RNG.normal(size=(9, 1)), RNG.normal(size=(11, 1))),
    "rank deficient, both": (flat(30), flat(25)),
    "rank deficient, one": (flat(30), RNG.normal(size=(25, 5))),
    "dead features, both": (dead(RNG.normal(size=(30, 5))), dead(RNG.normal(size=(20, 5)))),
    "dead features, one": (dead(RNG.normal(size=(30, 5))), RNG.normal(size=(20, 5))),
    "n < d": (RNG.normal(size=(4, 6)), RNG.normal(size=(3, 6))),
    "n < d on one side": (RNG.normal(size=(4, 6)), RNG.normal(size=(40, 6))),
    "two rows": (RNG.normal(size=(2, 4)), RNG.normal(size=(2, 4))),
    "scales from 1e-6 to 1e3": (RNG.normal(size=(30, 4)) * [1e-6, 1e-2, 1, 1e3], RNG.normal(size=(30, 4))),
    "far from 0": (1e3 + RNG.normal(size=(40, 4)) / 2, 1e3 + RNG.normal(size=(50, 4)) / 2),
    "all rows equal": (np.full((5, 3), 0.1), RNG.normal(size=(6, 3))),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_fid_is_the_definition_in_fifty_digits(case, dtype):
    real, generated = (rows.astype(dtype) for rows in CASES[case])
    expected, traces = exact_fid(real, generated)
    assert nm.fid(real, generated) == pytest.approx(expected, rel=1e-12, abs=2e-12 * traces)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_offset_does_not_cost_digits_in_high_dimension(dtype):
    base = [RNG.normal(size=(300, 80)) / 2, RNG.normal(size=(250, 80)) / 2]
    real, generated = ((1e3 + rows).astype(dtype) for rows in base)
    shifted = [rows.astype(np.float64) - 1e3 for rows in (real, generated)]
    assert nm.fid(real, generated) == pytest.approx(nm.fid(*shifted), rel=1e-10)


@pytest.mark.parametrize(("n", "m", "d"), [(500, 400, 100), (400, 300, 30)])
def test_fid_agrees_with_scipys_matrix_root(n, m, d):
    mix = RNG.normal(size=(d, d))
    real, generated = RNG.normal(size=(n, d)) @ mix, 0.2 + RNG.normal(size=(m, d)) @ mix.T
    c, g = np.cov(real, rowvar=False), np.cov(generated, rowvar=False)
    shift = real.mean(0) - generated.mean(0)
    expected = shift @ shift + np.trace(c + g - 2 * scipy.linalg.sqrtm(c @ g).real)
    assert nm.fid(real, generated) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "m", "d"), [(60, 300, 100), (60, 50, 100), (3, 2000, 100)])
def test_fewer_rows_than_features_need_only_the_nonzero_eigenvalues(n, m, d):
    real, generated = RNG.normal(size=(n, d)) * 3, 0.2 + RNG.normal(size=(m, d))
    c, g = np.cov(real, rowvar=False), np.cov(generated, rowvar=False)
    shift = real.mean(0) - generated.mean(0)
    found = np.sort(np.linalg.eigvals(c @ g).real)[::-1][: min(n, m) - 1]
    expected = shift @ shift + np.trace(c + g) - 2 * np.sqrt(found).sum()
    assert nm.fid(real, generated) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("d", [8, 100])
def test_rank_deficient_rows_against_white_noise_have_a_closed_form(d):
    basis = np.linalg.qr(RNG.normal(size=(d, 6)))[0].T
    rows = RNG.normal(size=(400, 6)) @ basis
    centred = rows - rows.mean(0)
    roots = np.linalg.svd(centred @ basis.T, compute_uv=False) / np.sqrt(399)
    expected = np.sum(rows.mean(0) ** 2) + np.sum((roots - 1) ** 2) + d - 6
    assert nm.fid(rows, nm.Gaussian(np.zeros(d))) == pytest.approx(expected, rel=1e-12)


def test_commuting_gaussians_have_a_closed_form():
    basis = np.linalg.qr(RNG.normal(size=(7, 7)))[0]
    a, b = RNG.uniform(0, 3, size=(2, 7))
    a[:2] = 0.0
    mean = RNG.normal(size=7)
    first = nm.Gaussian(mean, basis @ np.diag(a) @ basis.T)
    second = nm.Gaussian(np.zeros(7), basis @ np.diag(b) @ basis.T)
    expected = mean @ mean + np.sum((np.sqrt(a) - np.sqrt(b)) ** 2)
    # a zero variance is known to eps of the largest one, its root to √eps
    assert nm.fid(first, second) == pytest.approx(expected, abs=1e-7)
    assert nm.fid(nm.Gaussian(mean, a), nm.Gaussian(0 * mean, b)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("n", "d"), [(30, 10), (80, 200), (300, 90)])
def test_doubled_rows_differ_by_the_trace_however_steep_the_spectrum(n, d):
    turn = np.linalg.qr(RNG.normal(size=(d, d)))[0]
    x = (0.1 + RNG.normal(size=(n, d)) * np.geomspace(1, 1e-7, d)) @ turn
    expected = np.sum(x.mean(0) ** 2) + np.trace(np.cov(x, rowvar=False))
    # beyond 64 features and n > d the covariance itself holds small variances to eps of the largest
    assert nm.fid(x, 2 * x) == pytest.approx(expected, rel=1e-9 if (n, d) == (300, 90) else 1e-11)


@pytest.mark.parametrize("width", [1.0, 1e-3, 1e-9, 0.0])
def test_ellipse_gaussians_follow_the_two_dimensional_formula(width):
    first = nm.Gaussian.ellipse([0.5, -1.0], width, 1.3, 25.0)
    second = nm.Gaussian.ellipse([0.0, 0.4], 0.8, width, -70.0)
    s1, s2 = first.cov, second.cov
    cross = np.sqrt(np.trace(s1 @ s2) + 2 * width * 1.3 * 0.8 * width)
    expected = 0.25 + 1.96 + np.trace(s1) + np.trace(s2) - 2 * cross
    assert nm.fid(first, second) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", golden.NAMES)
def test_golden_fid_equals_torch_fidelitys(name):
    scores = golden.scores(name, "fid")
    by_client = scores.clients["value"].to_numpy().reshape(len(scores.generators), -1)
    peer = golden.PEERS[name]
    np.testing.assert_allclose(by_client, peer["fid_by_client_torch_fidelity"], rtol=1e-6)
    np.testing.assert_allclose(scores.table["all"], peer["fid_all_torch_fidelity"], rtol=1e-6)


@pytest.mark.parametrize("shape", [(50, 3), (20, 40), (300, 90)])
@pytest.mark.parametrize("rows", ["normal", "dead", "offset", "steep"])
def test_fid_of_a_sample_with_itself_is_zero(shape, rows):
    x = RNG.normal(size=shape)
    steep = x * np.geomspace(1, 1e-7, x.shape[1])
    x = {"normal": x, "dead": dead(x), "offset": x + 1e3, "steep": steep}[rows]
    assert 0.0 <= nm.fid(x, x.copy()) <= 1e-10 * np.trace(np.cov(x, rowvar=False))


def pair(seed):
    """Two samples of hypothesis' choice: any n, m, d, scale and rank."""
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(2, 60), rng.integers(2, 60), rng.integers(1, 80)
    mix = rng.normal(size=(rng.integers(1, d + 1), d)) * 10.0 ** rng.integers(-3, 4)
    make = lambda count: rng.normal(size=(count, len(mix))) @ mix + rng.normal(size=d)  # noqa: E731
    return make(n), make(m), rng


def scale_of(*samples):
    return sum(np.var(rows, axis=0).sum() + np.mean(rows, axis=0) @ np.mean(rows, axis=0) for rows in samples)


@quick
@given(seeds)
def test_fid_is_a_finite_symmetric_number(seed):
    x, y, _ = pair(seed)
    value = nm.fid(x, y)
    assert np.isfinite(value)
    assert value >= 0
    assert value == pytest.approx(nm.fid(y, x), rel=1e-10, abs=1e-11 * scale_of(x, y))


@quick
@given(seeds)
def test_fid_ignores_the_order_of_rows_and_of_features(seed):
    x, y, rng = pair(seed)
    columns = rng.permutation(x.shape[1])
    moved = nm.fid(rng.permutation(x)[:, columns], rng.permutation(y)[:, columns])
    assert moved == pytest.approx(nm.fid(x, y), rel=1e-10, abs=1e-11 * scale_of(x, y))


@quick
@given(seeds)
def test_fid_ignores_translation_and_rotation(seed):
    x, y, rng = pair(seed)
    turn = np.linalg.qr(rng.normal(size=(x.shape[1],) * 2))[0]
    moved = nm.fid(x @ turn + 3.0, y @ turn + 3.0)
    assert moved == pytest.approx(nm.fid(x, y), rel=1e-9, abs=1e-11 * scale_of(x, y))


@quick
@given(seeds, st.sampled_from([1e-20, 1e-3, 7.0, 1e20]))
def test_fid_grows_with_the_square_of_the_unit(seed, unit):
    x, y, _ = pair(seed)
    expected = nm.fid(x, y) * unit**2
    assert nm.fid(unit * x, unit * y) == pytest.approx(expected, rel=1e-9, abs=1e-11 * scale_of(x, y) * unit**2)


@pytest.mark.parametrize(("n", "m", "d"), [(50, 60, 5), (20, 30, 70), (150, 140, 80)])
def test_torch_and_numpy_agree_on_fid(n, m, d):
    torch = pytest.importorskip("torch")
    x, y = RNG.normal(size=(n, d)), 0.3 + RNG.normal(size=(m, d))
    value = nm.fid(torch.from_numpy(x), torch.from_numpy(y))
    assert isinstance(value, float)
    assert value == pytest.approx(nm.fid(x, y), rel=1e-10)
    assert nm.fid(torch.from_numpy(x), y) == pytest.approx(value, rel=1e-12)


def singular_values(a):
    """Each right relative to itself: one-sided Jacobi rotations in extended precision."""
    a = a.astype(np.longdouble)
    a = np.concatenate([a, np.zeros((len(a), a.shape[1] % 2))], axis=1)
    turn = np.arange(a.shape[1])
    for _ in range(30):
        largest = 0.0
        for _ in turn[1:]:
            p, q = turn[: len(turn) // 2], turn[len(turn) // 2 :][::-1]
            x, y = a[:, p], a[:, q]
            xx, yy, xy = (x * x).sum(0), (y * y).sum(0), (x * y).sum(0)
            angle = np.abs(xy) / np.maximum(np.sqrt(xx * yy), np.longdouble(1e-4000))
            largest, turned = max(largest, angle.max()), angle > 1e-18
            z = (yy - xx) / np.where(turned, 2 * xy, 1)
            t = np.where(turned, np.where(z >= 0, 1, -1) / (np.abs(z) + np.sqrt(1 + z * z)), 0)
            c = 1 / np.sqrt(1 + t * t)
            a[:, p], a[:, q] = c * x - c * t * y, c * t * x + c * y
            turn = np.concatenate([turn[:1], np.roll(turn[1:], 1)])
        if largest < 1e-17:
            break
    return np.sqrt((a * a).sum(0))


def exact_cross(c, g):
    """Tr (C G)^{1/2} of two positive definite matrices, from Cholesky factors in extended precision."""

    def factor(matrix):
        left, done = matrix.astype(np.longdouble), np.zeros(matrix.shape, np.longdouble)
        for k in range(len(left)):
            done[k:, k] = left[k:, k] / np.sqrt(left[k, k])
            left[k + 1 :, k + 1 :] -= np.outer(done[k + 1 :, k], done[k + 1 :, k])
        return done

    return float(singular_values(factor(c).T @ factor(g)).sum())


def decaying(power, seed, d=80, n=400, rectified=False):
    """Rows whose features have standard deviations i^-power before they are mixed."""
    rng = np.random.default_rng(seed)
    mix = np.random.default_rng(3).normal(size=(d, d)) if rectified else np.linalg.qr(RNG_MIX.normal(size=(d, d)))[0]
    rows = rng.normal(size=(n, d)) * (1.0 + np.arange(d)) ** -power
    return np.maximum(0, rows @ mix.T) if rectified else rows @ mix


RNG_MIX = np.random.default_rng(11)
FIXED = RNG_MIX.normal(size=(80, 80))
SPECTRA = {
    "benign": (decaying(0.25, 1), decaying(0.25, 2)),
    "rectified": (decaying(0.7, 1, rectified=True), 1.02 * decaying(0.7, 2, rectified=True)),
    "rectified, steep": (decaying(1.2, 1, rectified=True), 1.02 * decaying(1.2, 2, rectified=True)),
    "steep, one basis": (decaying(2, 1) @ FIXED, 1.02 * decaying(2, 2) @ FIXED),
    "steep, two bases": (decaying(2, 1), decaying(2, 2)),
    "steep against white": (decaying(2, 1), RNG_MIX.normal(size=(400, 80))),
    "white against steep": (RNG_MIX.normal(size=(400, 80)), decaying(2, 1)),
    "steep against decaying": (decaying(2, 1), decaying(0.7, 2)),
    "heavy tails": tuple(RNG_MIX.standard_t(2.1, size=(400, 80)) @ FIXED for _ in range(2)),
    "units from 1e-6 to 1e3": (decaying(0, 1) * np.geomspace(1e-6, 1e3, 80), decaying(0, 2)),
    "far from 0": (1e6 + decaying(0.7, 1, rectified=True), 1e6 + decaying(0.7, 2, rectified=True)),
}
HARDEST = ("steep, two bases", "white against steep", "units from 1e-6 to 1e3", "far from 0")


@pytest.mark.parametrize("case", by_default(SPECTRA, *HARDEST))
def test_trace_term_on_decaying_spectra(case):
    real, generated = map(Moments.of_rows, SPECTRA[case])
    shift = real.mean - generated.mean
    traces = real.trace + generated.trace
    expected = shift @ shift + traces - 2 * exact_cross(real.cov, generated.cov)
    for a, b in ((real, generated), (generated, real)):
        assert FID().distance(a, b) == pytest.approx(expected, rel=1e-12, abs=2e-11 * traces)
    fast = roots.congruent_values(real.cov, generated.graded, 1e-11 * traces)
    assert fast is None or shift @ shift + traces - 2 * fast.sum() == pytest.approx(expected, abs=1e-12 * traces)


@pytest.mark.parametrize("seed", range(20))
def test_a_variance_that_is_only_rounding_is_left_to_singular_values(seed):
    rng = np.random.default_rng(seed)
    lower = np.tril(rng.normal(size=(6, 6))) * np.geomspace(1, 0.1, 6)
    flat = lower[:, rng.integers(1, 5)]  # a row of R along which the real rows do not vary
    rows = rng.normal(size=(9, 6))
    rows -= np.outer(rows @ flat / (flat @ flat), flat)
    real, generated = rows.T @ rows, lower @ lower.T
    tolerance = 2e-11 * (np.trace(real) + np.trace(generated))
    fast = roots.congruent_values(real, roots.GradedRoot(lower, None), tolerance)
    assert fast is None or fast.sum() == pytest.approx(singular_values(rows @ lower).sum(), abs=tolerance)


@pytest.mark.parametrize(
    "case", ["rectified", "rectified, steep", "far from 0", "heavy tails", "steep against decaying"]
)
def test_decaying_spectra_need_no_singular_values(case, monkeypatch):
    def refuse(a):
        raise AssertionError("singular values")

    monkeypatch.setattr(roots, "svdvals", refuse)
    nm.fid(*SPECTRA[case])


def test_the_lower_triangle_of_a_descending_matrix_keeps_the_digits():
    real, generated = map(Moments.of_rows, SPECTRA["steep, one basis"])
    product = generated.times_root(real.root)
    expected = float(singular_values(product).sum())
    gram = product.T @ product
    found, others = (np.sqrt(np.clip(np.linalg.eigvalsh(gram, which), 0, None)).sum() for which in "LU")
    traces = real.trace + generated.trace
    assert abs(others - expected) > 1e-11 * traces
    assert abs(found - expected) < 1e-13 * traces
    # and so does a matrix of which only that triangle is right
    noisy = gram + np.triu(np.ones_like(gram), 1)
    assert roots._roots_of_values(noisy, 1e-9 * traces).sum() == pytest.approx(expected, abs=1e-13 * traces)


def singular_covariances():
    rng = np.random.default_rng(5)
    flat = rng.normal(size=(300, 30)) @ rng.normal(size=(30, 90))
    twins = np.repeat(rng.normal(size=(300, 45)), 2, axis=1)
    return {
        "full": np.cov(rng.normal(size=(300, 90)), rowvar=False),
        "rank 30": np.cov(flat, rowvar=False),
        "dead features": np.cov(dead(rng.normal(size=(300, 90))), rowvar=False),
        "twin features": np.cov(twins, rowvar=False),
        "a small feature": np.diag(np.append(np.ones(89), 1e-30)),
        "nothing": np.zeros((90, 90)),
    }


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("case", singular_covariances())
def test_graded_roots(case, library):
    cov = singular_covariances()[case]
    given = pytest.importorskip("torch").from_numpy(cov) if library == "torch" else cov
    root = GradedRoot.of(given)
    rows = np.asarray(root.rows)
    ranks = {"full": 90, "rank 30": 30, "dead features": 45, "twin features": 45, "a small feature": 90, "nothing": 0}
    kept = 89 if (case, library) == ("a small feature", "torch") else ranks[case]
    assert rows.shape == (kept, 90)
    np.testing.assert_allclose(rows.T @ rows, cov, rtol=0, atol=1e-12 * max(cov.max(), 1.0))
    lengths = np.linalg.norm(rows, axis=1)
    # pivots descend; what is left of other features may lengthen a row
    assert (lengths[1:] <= 10 * np.minimum.accumulate(lengths)[:-1]).all()
    other = np.cov(np.random.default_rng(6).normal(size=(200, 90)), rowvar=False)
    a = other[:7]
    if library == "torch":
        a, other = given.new_tensor(a), given.new_tensor(other)
    np.testing.assert_allclose(np.asarray(root.times(a)), np.asarray(a) @ rows.T, rtol=0, atol=1e-12)
    lower = np.tril(np.asarray(root.congruent(other)))
    np.testing.assert_allclose(lower, np.tril(rows @ np.asarray(other) @ rows.T), rtol=0, atol=1e-11)


@pytest.mark.parametrize("case", singular_covariances())
def test_singular_covariances_score_as_their_definition(case):
    covs = singular_covariances()
    other, cov = nm.Gaussian(np.zeros(90), covs["full"]), covs[case]
    # Tr (C_G^{1/2} C C_G^{1/2})^{1/2} with the root of the regular one; no noise may come of C's null directions
    values, vectors = np.linalg.eigh(covs["full"])
    half = vectors * np.sqrt(values)
    found = np.linalg.eigvalsh(half.T @ cov @ half)
    cross = np.sqrt(found[found > 1e-12 * max(found[-1], 1e-300)]).sum()
    expected = np.trace(cov) + np.trace(covs["full"]) - 2 * cross
    distribution = nm.Gaussian(np.zeros(90), cov)
    assert nm.fid(distribution, other) == pytest.approx(expected, rel=1e-10)
    assert nm.fid(other, distribution) == pytest.approx(expected, rel=1e-10)
    assert nm.fid(distribution, distribution) <= 1e-10 * np.trace(cov)
