"""FID without the bias of few rows: its integrals against dense ones, its values against distributions with known
moments."""

import numpy as np
import pytest
from scipy.integrate import quad

import nbmetrics as nm
from nbmetrics.metrics import Sample
from nbmetrics.metrics.fid.debiased import Debiased
from nbmetrics.metrics.fid.spectral import Pair
from nbmetrics.metrics.stratified import Strata
from nbmetrics.summaries.moments import Moments
from tests.populations import elliptical, fid, fid_avg_and_all, mixture, normal, rectified
from tests.slow import by_default

METRIC = nm.metrics.FIDInfinity()


def strata(rows):
    return METRIC.summarize(Sample(rows=rows))


def pooled(parts, weights):
    return METRIC.pool([strata(rows) for rows in parts], weights)


def root(c):
    values, vectors = np.linalg.eigh(c)
    return (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T


def dense_trace(x, y):
    """T̂ of `spectral` for one client by inverses of matrices and adaptive quadrature, row by row."""
    n, m = len(x) - 1, len(y) - 1
    c, g = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    r, a = root(g), root(c)
    sides = ((x - x.mean(0)) @ r, n, len(x), r @ c @ r), ((y - y.mean(0)) @ a, m, len(y), a @ g @ a)
    matrix = sides[0][3]

    def s(t):
        return np.trace(matrix @ np.linalg.inv(matrix + t * np.eye(len(matrix))))

    def slope(t):
        inverse = np.linalg.inv(matrix + t * np.eye(len(matrix)))
        return np.trace(matrix @ inverse @ inverse)

    def over_all(f):
        low, high = np.log(np.linalg.eigvalsh(matrix)[[0, -1]])
        return quad(lambda u: f(np.exp(u)) * np.exp(u), low - 40, high + 30, limit=400, epsabs=0, epsrel=1e-9)[0]

    def moved(t):
        return t / ((1 - s(t) / n) * (1 - s(t) / m))

    value = np.trace(root(matrix)) + 2 / np.pi * over_all(lambda t: (np.sqrt(moved(t)) - np.sqrt(t)) * slope(t))
    for rows, degrees, count, own in sides:

        def kappa(t, rows=rows, degrees=degrees, count=count, own=own):
            inverse = np.linalg.inv(own + t * np.eye(len(own)))
            h = count / degrees**2 * np.einsum("ki,ij,kj->k", rows, inverse, rows)
            q, w = 1 - s(t) / degrees, t / (1 - s(t) / degrees)
            stretch = (q - t * slope(t) / degrees) / q**2
            outer = np.var(degrees * h / (1 - h) * q) - (s(t) - w * slope(t) / stretch)
            inner = np.var(degrees * h) - np.trace(own @ inverse @ own @ inverse)
            return (outer * stretch / np.sqrt(w) + inner / np.sqrt(t)) / (8 * np.pi * degrees)

        value += over_all(kappa)
    return value


@pytest.mark.parametrize("seed", range(3))
def test_the_trace_is_that_of_dense_integrals(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1, 1, size=(40, 5)) * [3, 2, 2, 1, 1], rng.normal(size=(60, 5)) + 0.3
    found = Pair(strata(x), strata(y)).estimate()
    assert found.norm_spread < 0.5
    assert found.value == pytest.approx(dense_trace(x, y), rel=1e-5)


def test_distributions_have_no_bias_to_take_off():
    a, b = nm.Gaussian([0, 1], [[2, 0.5], [0.5, 1]]), nm.Gaussian([1, 1], 2.0)
    assert nm.fid_infinity(a, b) == pytest.approx(nm.fid(a, b), rel=1e-12)


def test_it_does_not_depend_on_units_offset_rotation_or_idle_features():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 8)), 1.2 * rng.normal(size=(90, 8)) + 0.2
    value = nm.fid_infinity(x, y)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    assert nm.fid_infinity(x @ turn, y @ turn) == pytest.approx(value, rel=1e-9)
    assert nm.fid_infinity(x + 1e5, y + 1e5) == pytest.approx(value, rel=1e-6)
    for scale in (1e-60, 1e40):
        assert nm.fid_infinity(x * scale, y * scale) / scale**2 == pytest.approx(value, rel=1e-9)
    idle = [np.concatenate([rows, np.zeros((len(rows), 200)), rows[:, :1]], axis=1) for rows in (x, y)]
    copied = np.diag([2.0] + [1.0] * 7) ** 0.5
    assert nm.fid_infinity(*idle) == pytest.approx(nm.fid_infinity(x @ copied, y @ copied), rel=1e-9)


def test_torch_and_float32_give_the_same():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(60, 8)), rng.normal(size=(90, 8))
    value = nm.fid_infinity(x, y)
    for a, b in ((torch.tensor(x), y), (x, torch.tensor(y)), (torch.tensor(x), torch.tensor(y))):
        assert nm.fid_infinity(a, b) == pytest.approx(value, rel=1e-9)
    assert nm.fid_infinity(x.astype("f"), y.astype("f")) == pytest.approx(value, rel=1e-4)


def estimates(client, generator, n, m, runs, seed=0):
    rng = np.random.default_rng(seed)
    draws = [(client.sample(n, rng), generator.sample(m, rng)) for _ in range(runs)]
    return np.array([(nm.fid(x, y), nm.fid_infinity(x, y)) for x, y in draws]).T


CASES = {
    "the headline": (normal(64), normal(64, scale=1.2), 100, 100, 40),
    "perfect": (normal(64), normal(64), 128, 1000, 30),
    "rectified": (rectified(32, 0), rectified(32, 1), 48, 640, 60),
    "rows of different lengths": (elliptical(32, 0.1), normal(32), 64, 640, 60),
    "one feature": (normal(1), normal(1, 0.3, 1.2), 30, 60, 400),
}


@pytest.mark.parametrize("case", by_default(CASES, "the headline", "perfect", "rectified"))
def test_the_bias_is_taken_off(case):
    client, generator, n, m, runs = CASES[case]
    true = fid(client, generator)
    plain, debiased = estimates(client, generator, n, m, runs)
    error = debiased.std() / np.sqrt(runs)
    assert plain.mean() - true > 8 * error or case == "one feature"
    # the last term is the correction's own error: a few percent of what it takes off
    assert abs(debiased.mean() - true) < 3.5 * error + 0.02 * (plain.mean() - true)


FEDERATION_RUNS = 25
FAR = np.random.default_rng(11).normal(scale=5.0, size=(4, 8))
FEDERATIONS = {
    "alike": ([normal(32)] * 4, [64] * 4, None),
    "other means": ([normal(32, 0.3 * k) for k in range(4)], [64, 80, 100, 160], None),
    "far apart, 8 features": ([normal(8, m) for m in FAR], [30] * 4, (3, 2, 1, 1)),
    "other scales, weights not the sizes": ([normal(32, scale=s) for s in (0.7, 0.9, 1.1, 1.3)], [48, 90, 150, 300], 1),
    "rectified, one weighs most": ([rectified(32, k) for k in range(4)], [64] * 4, (5, 1, 1, 1)),
}


@pytest.mark.parametrize("case", by_default(FEDERATIONS, "far apart, 8 features"))
def test_avg_all_and_gap_of_clients_have_no_bias(case):
    distributions, sizes, weights = FEDERATIONS[case]
    shares = np.array(sizes if weights is None else np.broadcast_to(weights, 4), dtype=float)
    shares /= shares.sum()
    d = len(distributions[0].mean)
    generator = rectified(32, 9) if "rect" in case else mixture(distributions, shares) if d == 8 else normal(32)
    rng, found, plain = np.random.default_rng(3), [], []
    true_avg, true_all = fid_avg_and_all(distributions, shares, generator)
    for _ in range(FEDERATION_RUNS):
        parts = [distribution.sample(n, rng) for distribution, n in zip(distributions, sizes, strict=True)]
        federation = nm.Federation(parts).with_weights(shares)
        made = {"g": generator.sample(640, rng)}
        table = nm.evaluate(federation, made, ["fid", "fid_infinity"], progress=False).table
        plain.append(table.loc[0, ["avg", "all"]].to_numpy(dtype=float))
        found.append(table.loc[1, ["avg", "all"]].to_numpy(dtype=float))
    truth = np.array([true_avg, true_all])
    bias, error = np.mean(found, axis=0) - truth, np.std(found, axis=0) / np.sqrt(FEDERATION_RUNS)
    before = np.mean(plain, axis=0) - truth
    assert before[1] > 3.5 * error[1]
    assert np.all(np.abs(bias) < 3.5 * error + 0.03 * before), (bias, error, before)


def test_too_few_rows_have_no_value_and_say_so():
    rng = np.random.default_rng(4)
    few, some, many = (rng.normal(size=(n, 64)) for n in (66, 90, 400))
    with pytest.raises(nm.InvalidInput, match=r"real: has 66 rows for 64 features that vary: a value needs 71"):
        nm.fid_infinity(few, many)
    with pytest.raises(nm.InvalidInput, match="generated: has 66 rows"):
        nm.fid_infinity(many, few)
    with pytest.raises(nm.InvalidInput, match="a value needs 10"):
        nm.fid_infinity(many[:8, :2], many[:, :2])
    scores = nm.evaluate([few, some, many], {"g": rng.normal(size=(500, 64))}, "fid_infinity", progress=False)
    values = scores.clients["value"].to_numpy()
    assert np.isnan(values[0]) and np.isfinite(values[1:]).all()
    row = scores.table.iloc[0]
    assert np.isnan(row["avg"]) and np.isnan(row["gap"]) and np.isfinite(row["all"])
    said = "\n".join(scores.conventions)
    assert "no value for 1 of 3 pairs" in said and "a value needs 71" in said
    assert "1 of 4 scores (each client and all, by generator): fewer than 1.5 rows per feature" in said
    assert "client 'Client 1' with generator 'g', real: has 66 rows" in said


def test_rows_whose_lengths_vary_much_in_many_directions_have_no_interval():
    rng = np.random.default_rng(0)
    made = normal(128, scale=1.1).sample(1024, rng)
    uneven, even = (distribution.sample(256, rng) for distribution in (elliptical(128, 0.5), normal(128)))
    for rows, has in ((uneven, False), (even, True)):
        scores = nm.evaluate([rows], {"g": made}, "fid_infinity", uncertainty=nm.Influence(), progress=False)
        assert np.isfinite(scores.table["avg"].item())
        assert bool(np.isfinite(scores.table["avg_low"].item())) is has
        assert any("lengths of rows vary too much" in line for line in scores.cautions) is not has


def test_distributions_and_rows_pooled_have_no_value_together():
    rows = np.random.default_rng(5).normal(size=(60, 2))
    federation = nm.Federation([nm.Client(rows, weight=1), nm.Client(nm.Gaussian([0, 0]), weight=1)])
    scores = nm.evaluate(federation, {"g": nm.Gaussian([0, 0])}, "fid_infinity", progress=False)
    assert np.isfinite(scores.table["avg"][0]) and np.isnan(scores.table["all"][0])
    assert any("distributions and rows are pooled" in line for line in scores.conventions)


def test_rows_of_very_different_lengths_are_cautioned():
    rng = np.random.default_rng(6)
    tails, made = elliptical(16, 1.0).sample(60, rng), normal(16).sample(400, rng)
    scores = nm.evaluate([tails], {"g": made}, "fid_infinity", progress=False)
    assert any("lengths of rows vary" in line for line in scores.conventions)
    calm = nm.evaluate([normal(16).sample(60, rng)], {"g": made}, "fid_infinity", progress=False)
    assert not any("lengths" in line for line in calm.conventions)


def test_one_row_alone_in_its_direction_does_not_decide():
    """Where a leverage is almost 1, its own correction is bounded: the value stays beside the plain one."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        x = np.maximum(0.0, rng.normal(size=(20, 4)) - 1.5)
        pair = Debiased(strata(x), strata(rng.normal(size=(200, 4))))
        assert abs(sum(pair.terms.values())) < 10 * nm.fid(x, np.zeros((5, 4))) + 50


def test_pooled_summaries_keep_their_rows_apart():
    rng = np.random.default_rng(8)
    parts = [rng.normal(size=(30, 3)), rng.normal(size=(50, 3))]
    both = pooled(parts, [0.375, 0.625])
    assert isinstance(both, Strata) and both.shares == (0.375, 0.625)
    exact = Moments.mixture([Moments.of_rows(x) for x in parts], both.shares).cov
    np.testing.assert_allclose(both.summary.cov, exact, rtol=1e-12)
    assert both.effective == pytest.approx(80.0)


def test_all_stands_alone_where_only_the_pool_suffices():
    rng = np.random.default_rng(9)
    clients = [rng.normal(size=(30, 32)) for _ in range(12)]
    scores = nm.evaluate(clients, {"g": rng.normal(size=(640, 32))}, "fid_infinity", progress=False)
    row = scores.table.iloc[0]
    assert np.isnan(row["avg"]) and abs(row["all"]) < 0.5


@pytest.mark.parametrize("n", [10, 11, 40])
def test_rows_that_cannot_show_the_directions_do_not_pass_for_few_directions(n):
    rng = np.random.default_rng(10)
    made = rng.normal(size=(2000, 100))
    with pytest.raises(nm.InvalidInput, match="100 features that vary: a value needs 110"):
        nm.fid_infinity(rng.normal(size=(n, 100)), made)
    with pytest.raises(nm.InvalidInput, match="a value needs 110"):
        nm.fid_infinity(np.repeat(rng.normal(size=(n, 100)), 2, axis=0), made)


def test_sparse_rows_have_no_interval():
    rng = np.random.default_rng(12)
    sparse = [(rng.random((n, 24)) < 0.05) * rng.exponential(size=(n, 24)) for n in (72, 2000)]
    scores = nm.evaluate([sparse[0]], {"g": sparse[1]}, "fid", uncertainty=nm.Influence(), progress=False)
    assert np.isnan(scores.table["avg_low"][0]) and any("sparse features" in line for line in scores.conventions)


def test_each_kind_of_reason_has_its_line_also_under_weights_given_later():
    rows = np.random.default_rng(0).normal(size=(2, 2))
    federation = nm.Federation([nm.Client(rows, weight=0), nm.Client(nm.Gaussian([0, 0]), weight=1)])
    scores = nm.evaluate(federation, [nm.Gaussian([1, 0])], "fid", uncertainty=nm.Influence(), progress=False)
    said = [line for line in scores.with_weights([1, 1]).conventions if " of 3 scores" in line]
    assert (
        len(said) == 2 and "no value where distributions and rows" in said[0] and "has 2 rows for 2 features" in said[1]
    )


def test_a_generator_that_never_varies_has_no_spectrum_and_no_interval():
    rows, still = np.random.default_rng(0).normal(size=(40, 2)), nm.Gaussian([0.0, 0.0], np.zeros((2, 2)))
    for clients, generator in (([rows], still), ([still, still], rows)):
        table = nm.evaluate(clients, [generator], "fid", uncertainty=nm.Influence(), progress=False).table
        assert np.isfinite(table[["avg", "all", "avg_corrected"]].to_numpy()).all()
