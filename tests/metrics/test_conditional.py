"""MFID, RFID, JFID, CFID beside mpmath, the authors' numbers, closed forms, and their own invariances."""

import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.metrics.base import Sample, score_pair
from nbmetrics.metrics.conditional import CFID, JFID, MFID, RFID, cfid, jfid, mfid, rfid
from nbmetrics.summaries.joint import JointMoments
from tests import golden
from tests.slow import some_of

RNG = np.random.default_rng(20261127)
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25, deadline=None, derandomize=True)
FAMILY = {"mfid": mfid, "rfid": rfid, "cfid": cfid}
pytestmark = pytest.mark.filterwarnings("ignore::nbmetrics.metrics.conditional.FewPairsWarning")


def stored(name):
    with np.load(golden.FOLDER / f"{name}.npz") as data:
        return dict(data)


def triple(rng, n=40, dx=2, dy=3):
    """Paired rows x, y, ŷ."""
    x = rng.normal(size=(n, dx))
    y = x @ rng.normal(size=(dx, dy)) + rng.normal(size=(n, dy)) * rng.uniform(0.1, 2, dy)
    y_hat = x @ rng.normal(size=(dx, dy)) + rng.normal(size=(n, dy)) + rng.normal(size=dy)
    return x, y, y_hat


# ---- oracles


def exact_bures(a, b):
    values, vectors = mpmath.eigsy(a)
    root = vectors * mpmath.diag([mpmath.sqrt(max(v, 0)) for v in values]) * vectors.T
    middle = root * b * root
    cross = mpmath.fsum(mpmath.sqrt(max(v, 0)) for v in mpmath.eigsy((middle + middle.T) / 2, eigvals_only=True))
    return sum(a[i, i] + b[i, i] for i in range(a.rows)) - 2 * cross


def exact_inverse(c):
    values, vectors = mpmath.eigsy(c)
    floor = mpmath.mpf(10) ** -30 * max(values)
    return vectors * mpmath.diag([1 / v if v > floor else 0 for v in values]) * vectors.T


def exact_cov(a, b):
    n = a.rows
    first, second = (
        mpmath.matrix([[m[i, j] - mpmath.fsum(m[:, j]) / n for j in range(m.cols)] for i in range(n)]) for m in (a, b)
    )
    return first.T * second / (n - 1)


def exact(x, y, y_hat):
    """The three by their definitions in 50 digits, and the trace that rounding is relative to."""
    with mpmath.workdps(50):
        x, y, g = (mpmath.matrix(rows.astype(float).tolist()) for rows in (x, y, y_hat))
        shift = mpmath.fsum((mpmath.fsum(y[:, j] - g[:, j]) / y.rows) ** 2 for j in range(y.cols))
        joint = [mpmath.matrix([list(x[i, :]) + list(m[i, :]) for i in range(x.rows)]) for m in (y, g)]
        cyy, cgg = exact_cov(y, y), exact_cov(g, g)
        cxy, cxg, inverse = exact_cov(x, y), exact_cov(x, g), exact_inverse(exact_cov(x, x))
        gap = cxy - cxg
        regression = gap.T * inverse * gap
        residuals = [cyy - cxy.T * inverse * cxy, cgg - cxg.T * inverse * cxg]
        covs = [exact_cov(z, z) for z in joint]
        values = {
            "mfid": shift + exact_bures(cyy, cgg),
            "rfid": shift + exact_bures(*covs),
            "cfid": shift + sum(regression[i, i] for i in range(gap.cols)) + exact_bures(*residuals),
        }
        return {k: float(v) for k, v in values.items()}, float(sum(c[i, i] for c in covs for i in range(c.rows)))


def grid(n, d):
    """Small whole numbers, so that sums of columns are exact."""
    return RNG.integers(-9, 10, size=(n, d)).astype(float)


def with_x(x, dy=2):
    y = x @ RNG.normal(size=(x.shape[1], dy)) + RNG.normal(size=(len(x), dy))
    return x, y, RNG.normal(size=(len(x), dy)) + x[:, :1]


G = grid(20, 2)
CASES = {
    "plain": triple(RNG),
    "one feature each": triple(RNG, 15, 1, 1),
    "wide x": triple(RNG, 30, 5, 1),
    "wide y": triple(RNG, 30, 1, 5),
    "n < dx + dy": triple(RNG, 5, 3, 4),
    "n = dx + 1": triple(RNG, 4, 3, 2),
    "n < dx": triple(RNG, 4, 6, 2),
    "two pairs": triple(RNG, 2, 2, 2),
    "x constant": with_x(np.full((15, 2), 0.1)),
    "one x column constant": with_x(np.column_stack([G, np.full(20, 0.3)])),
    "x twice": with_x(np.column_stack([G, G])),
    "x with a sum": with_x(np.column_stack([G, G.sum(1), 1e-3 * np.ones(20)])),
    "units of x far apart": with_x(RNG.normal(size=(25, 3)) * [1e-9, 1.0, 1e6]),
    "y a function of x": (G, G @ [[1.0, 2.0], [0.0, 1.0]], G @ [[2.0, 2.0], [1.0, 1.0]]),
    "y a function of x, ŷ not": (G, G @ [[1.0, 2.0], [0.0, 1.0]], RNG.normal(size=(20, 2))),
    "y constant": (G, np.full((20, 2), 0.7), RNG.normal(size=(20, 2))),
    "far from 0": tuple(1e3 + m for m in triple(RNG)),
}


# Far from 0, float32 has no digits left to regress on.
@pytest.mark.parametrize(
    ("case", "dtype"),
    [*((case, np.float64) for case in CASES), *some_of((case, np.float32) for case in CASES if case != "far from 0")],
)
def test_the_three_are_their_definitions_in_fifty_digits(case, dtype):
    x, y, y_hat = (m.astype(dtype) for m in CASES[case])
    expected, trace = exact(x, y, y_hat)
    for name, score in FAMILY.items():
        scale = trace if name == "rfid" else float(np.var(y, axis=0).sum() + np.var(y_hat, axis=0).sum())
        assert score(x, y, y_hat) == pytest.approx(expected[name], rel=1e-10, abs=1e-11 * scale), name


def naive_cfid(x, y, y_hat):
    """Equation 17 as it stands, by scipy-free float64 matrices."""
    c = np.cov(np.hstack([x, y, y_hat]).T)
    dx, dy = x.shape[1], y.shape[1]
    xx, xy, xg = c[:dx, :dx], c[:dx, dx : dx + dy], c[:dx, dx + dy :]
    yy, gg = c[dx : dx + dy, dx : dx + dy], c[dx + dy :, dx + dy :]
    a, b = yy - xy.T @ np.linalg.solve(xx, xy), gg - xg.T @ np.linalg.solve(xx, xg)
    cross = np.sqrt(np.clip(np.linalg.eigvals(a @ b).real, 0, None)).sum()
    regression = np.trace((xy - xg).T @ np.linalg.solve(xx, xy - xg))
    return ((y.mean(0) - y_hat.mean(0)) ** 2).sum() + regression + np.trace(a) + np.trace(b) - 2 * cross


@pytest.mark.parametrize(("dx", "dy"), [(3, 5), (10, 70), (70, 10), (80, 80)])
def test_wide_features_are_equation_17(dx, dy):
    rows = triple(np.random.default_rng(dx), 10 * (dx + dy), dx, dy)
    assert cfid(*rows) == pytest.approx(naive_cfid(*rows), rel=1e-9)


def test_wide_singular_x_is_x_without_its_dead_and_doubled_columns():
    x, y, y_hat = triple(np.random.default_rng(8), 900, 50, 30)
    filled = np.column_stack([x * 1e-6, np.full((900, 3), 0.1), x[:, :5] * 2])
    assert cfid(filled, y, y_hat) == pytest.approx(cfid(x, y, y_hat), rel=1e-9)


@pytest.mark.parametrize("dims", [(2, 3), (70, 30)])
def test_a_constant_of_all_clients_explains_nothing(dims):
    """0.3 and 0.1 × 3 differ by rounding, which is no variance to regress on."""
    rng = np.random.default_rng(4)
    summaries, without = [], []
    for shift, constant in ((0.0, 0.3), (5.0, 0.1 * 3), (9.0, 0.3)):
        x, y, y_hat = triple(rng, 12 * sum(dims), *dims)
        y, dead = y + shift, np.column_stack([x, np.full((len(x), 2), constant)])
        for kept, condition in ((summaries, dead), (without, x)):
            kept.append([CFID().summarize(Sample(rows=rows, condition=condition)) for rows in (y, y_hat)])
    values = [
        CFID().distance(*(CFID().pool(side, [0.3, 0.6, 0.1]) for side in zip(*kept, strict=True)))
        for kept in (summaries, without)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


# ---- the authors' and other independent numbers


@pytest.mark.parametrize("name", ["cond8", "cond3x16"])
@pytest.mark.parametrize("which", ["paired", "shuffled"])
@pytest.mark.parametrize("metric", FAMILY)
def test_golden(name, which, metric):
    data = stored(name)
    expected = golden.PEERS[name][which][f"{metric}_formula"]
    value = FAMILY[metric](data["x"], data["y"], data[which])
    assert value >= 0
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("which", ["paired", "shuffled"])
def test_the_authors_code_has_ddof_0(which):
    x, y, y_hat = (stored("cond8")[k] for k in ("x", "y", which))
    terms = CFID().terms(*(CFID().summarize(Sample(rows=rows, condition=x)) for rows in (y, y_hat)))
    n = len(x)
    ours = terms["mean"] + (terms["regression"] + terms["residual"]) * (n - 1) / n
    assert ours == pytest.approx(golden.PEERS["cond8"][which]["cfid_reference_ddof0"], rel=1e-10)


# ---- closed forms


def pair(rho, mean=(0.0, 0.0)):
    return nm.Gaussian(mean, [[1.0, rho], [rho, 1.0]])


@pytest.mark.parametrize("rho", [-1.0, -0.8, 0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("rho_hat", [-1.0, -0.8, 0.0, 0.3, 0.8, 1.0])
def test_unit_variance_pairs(rho, rho_hat):
    expected = {
        MFID: 0.0,
        RFID: (math.sqrt(1 + rho) - math.sqrt(1 + rho_hat)) ** 2 + (math.sqrt(1 - rho) - math.sqrt(1 - rho_hat)) ** 2,
        CFID: 4 * math.sin((math.acos(rho) - math.acos(rho_hat)) / 2) ** 2,
    }
    for metric, value in expected.items():
        assert score_pair(metric(condition_dim=1), pair(rho), pair(rho_hat)) == pytest.approx(value, abs=1e-12)
    other = (rho - rho_hat) ** 2 + (math.sqrt(1 - rho**2) - math.sqrt(1 - rho_hat**2)) ** 2
    assert expected[CFID] == pytest.approx(other, abs=1e-12)


def test_the_papers_pair():
    values = [score_pair(m(condition_dim=1), pair(0.8), pair(-0.8)) for m in (MFID, RFID, CFID)]
    assert values == pytest.approx([0.0, 1.6, 2.56], abs=1e-12)


def test_samples_of_a_joint_gaussian_come_to_its_exact_score():
    rng = np.random.default_rng(3)
    real, made = pair(0.6), nm.Gaussian([0.0, 0.5], [[1.0, -0.2], [-0.2, 1.5]])
    x, noise = rng.normal(size=(2, 200_000, 1))
    y = 0.6 * x + math.sqrt(1 - 0.36) * noise
    y_hat = 0.5 - 0.2 * x + math.sqrt(1.5 - 0.04) * rng.normal(size=x.shape)
    for metric, score in ((MFID, mfid), (RFID, rfid), (CFID, cfid)):
        assert score(x, y, y_hat) == pytest.approx(score_pair(metric(condition_dim=1), real, made), abs=0.015)


def test_a_generated_distribution_is_read_as_y_given_x_whatever_its_own_x():
    """ŷ = 2x + 1 + noise is one conditional distribution, seen at another x or not."""
    conditional = nm.Gaussian([3.0, 7.0], [[4.0, 8.0], [8.0, 16.5]])  # x ~ N(3, 4)
    real = nm.Gaussian([-1.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    same_x = nm.Gaussian([-1.0, -1.0], [[1.0, 2.0], [2.0, 4.5]])
    for metric in (MFID, RFID, CFID):
        metric = metric(condition_dim=1)
        assert score_pair(metric, real, conditional) == pytest.approx(score_pair(metric, real, same_x), rel=1e-12)
    perfect = nm.Gaussian([2.0, 1.5], [[9.0, 4.5], [4.5, 3.0]])
    assert score_pair(CFID(condition_dim=1), real, perfect) == pytest.approx(0.0, abs=1e-12)


def test_moments_of_a_joint_mixture_and_of_rows_are_read_alike():
    x, y, _ = triple(np.random.default_rng(2), 60, 2, 3)
    both = np.hstack([x, y])
    given = CFID().summarize(Sample(rows=y, condition=x))
    read = CFID(condition_dim=2).summarize(Sample(rows=both))
    distribution = CFID(condition_dim=2).summarize(Sample(distribution=nm.Empirical(both)))
    assert CFID().distance(given, read) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(distribution.moments.cov, given.moments.cov * 59 / 60, rtol=1e-12)
    assert distribution.count == math.inf


# ---- properties


@quick
@given(seeds, st.integers(2, 60), st.integers(1, 4), st.integers(1, 4))
def test_cfid_is_at_least_rfid_is_at_least_mfid(seed, n, dx, dy):
    rows = triple(np.random.default_rng(seed), n, dx, dy)
    low, middle, high = (FAMILY[name](*rows) for name in ("mfid", "rfid", "cfid"))
    slack = 1e-10 * sum(m.var(0).sum() for m in rows)
    assert 0 <= low <= middle + slack <= high + 2 * slack


@quick
@given(seeds, st.floats(1e-9, 1e9))
def test_cfid_is_invariant_to_the_unit_of_x(seed, alpha):
    x, y, y_hat = triple(np.random.default_rng(seed))
    assert cfid(alpha * x, y, y_hat) == pytest.approx(cfid(x, y, y_hat), rel=1e-9)


@quick
@given(seeds)
def test_cfid_is_invariant_to_invertible_maps_of_x(seed):
    rng = np.random.default_rng(seed)
    x, y, y_hat = triple(rng, dx=3)
    u, _, vt = np.linalg.svd(rng.normal(size=(3, 3)))
    skewed = x @ (u * [1e3, 1.0, 1e-3]) @ vt + rng.normal(size=3)
    assert cfid(skewed, y, y_hat) == pytest.approx(cfid(x, y, y_hat), rel=1e-7)


@quick
@given(seeds)
def test_moves_that_change_nothing(seed):
    rng = np.random.default_rng(seed)
    x, y, y_hat = triple(rng)
    order = rng.permutation(len(x))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    shift = 10 * rng.normal(size=3)
    for score in FAMILY.values():
        value = score(x, y, y_hat)
        assert score(x[order], y[order], y_hat[order]) == pytest.approx(value, rel=1e-9)
        assert score(x + 5.0, y + shift, y_hat + shift) == pytest.approx(value, rel=1e-8)
        assert score(x, y @ turn, y_hat @ turn) == pytest.approx(value, rel=1e-9)
        assert score(x, y_hat, y) == pytest.approx(value, rel=1e-9)
        assert score(x, y, y) == pytest.approx(0.0, abs=1e-10)
        assert score(x, 3 * y, 3 * y_hat) == pytest.approx(9 * value, rel=1e-9) or score is rfid


@quick
@given(seeds, st.floats(1e-3, 30))
def test_jfid_goes_from_mfid_through_rfid_and_grows(seed, alpha):
    rows = triple(np.random.default_rng(seed))
    x, y, y_hat = rows
    assert jfid(*rows, 0) == mfid(*rows)
    assert jfid(*rows, 1) == pytest.approx(rfid(*rows), rel=1e-12)
    assert jfid(*rows, alpha) == pytest.approx(rfid(alpha * x, y, y_hat), rel=1e-9)
    assert jfid(*rows, alpha) <= jfid(*rows, 1.5 * alpha) + 1e-9
    assert jfid(*rows, 1e-6) == pytest.approx(mfid(*rows), rel=1e-4)


@quick
@given(seeds, st.integers(2, 4), st.integers(1, 3))
def test_no_more_pairs_than_features_leave_no_residual(seed, dx, dy):
    x, y, y_hat = triple(np.random.default_rng(seed), dx + 1, dx, dy)
    metric = CFID()
    terms = metric.terms(*(metric.summarize(Sample(rows=rows, condition=x)) for rows in (y, y_hat)))
    assert terms["residual"] == 0.0
    assert list(terms) == ["mean", "regression", "residual"]


def test_terms_and_conventions():
    x, y, y_hat = triple(RNG)
    for metric in (MFID(), RFID(), JFID(2.0)):
        real, made = (metric.summarize(Sample(rows=rows, condition=x)) for rows in (y, y_hat))
        assert list(metric.terms(real, made)) == ["mean", "covariance"]
        assert metric.terms(real, made)["mean"] == pytest.approx(((y - y_hat).mean(0) ** 2).sum())
        assert "ddof 1" in metric.convention
    assert "first 2" in CFID(condition_dim=2).convention


# ---- libraries, pooling


@pytest.mark.parametrize("shape", [(40, 2, 3), (5, 4, 3), (400, 40, 40)])
def test_numpy_and_torch_agree(shape):
    torch = pytest.importorskip("torch")
    rows = triple(np.random.default_rng(5), *shape)
    tensors = [torch.from_numpy(m) for m in rows]
    for score in FAMILY.values():
        value = score(*rows)
        assert score(*tensors) == pytest.approx(value, rel=1e-10)
        assert score(rows[0], tensors[1], rows[2]) == pytest.approx(value, rel=1e-10)
        assert isinstance(score(*tensors), float)
    distribution = JointMoments.of_distribution(nm.Gaussian(np.zeros(shape[1] + shape[2])), shape[1])
    summary = CFID().summarize(Sample(rows=tensors[1], condition=tensors[0]))
    assert CFID().distance(summary, distribution) == pytest.approx(
        CFID().distance(CFID().summarize(Sample(rows=rows[1], condition=rows[0])), distribution), rel=1e-9
    )


@pytest.mark.parametrize("dims", [(2, 3), (40, 40)])
def test_pooled_summaries_are_those_of_the_pooled_pairs(dims):
    rng = np.random.default_rng(6)
    sizes = [30 * sum(dims), 2, 7 * sum(dims)]
    parts = [triple(rng, n, *dims) for n in sizes]
    whole = [np.concatenate(m) for m in zip(*parts, strict=True)]
    shares = np.array(sizes) / sum(sizes)
    for metric, name in ((MFID(), "mfid"), (RFID(), "rfid"), (CFID(), "cfid")):
        real, made = (
            metric.pool([metric.summarize(Sample(rows=p[k], condition=p[0])) for p in parts], shares) for k in (1, 2)
        )
        assert metric.distance(real, made) == pytest.approx(FAMILY[name](*whole), rel=1e-12)
        assert real.nbytes == 8 * (sum(dims) + sum(dims) * (sum(dims) + 1) // 2 + 1)
        again = pickle.loads(pickle.dumps(real))
        assert metric.distance(again, made) == metric.distance(real, made)
