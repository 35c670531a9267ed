"""Influence values are what leaving a row out does; the intervals made of them hold the truth, with few rows too."""

import math

import numpy as np
import pytest
from scipy.stats import kstest

import nbmetrics as nm
from nbmetrics.evaluation.influence import Variance
from nbmetrics.metrics import FID, KID, FIDInfinity, Sample
from nbmetrics.metrics.stratified import Strata
from tests.populations import fid, fid_avg_and_all, normal, rectified
from tests.slow import by_default

RBF = KID(nm.RBF(2.0))


def strata(metric, rows):
    return metric.strata(metric.summarize(Sample(rows=rows)), rows)


def score(metric, x, y):
    return metric.influence_values(strata(metric, x), strata(metric, y)).value


@pytest.mark.parametrize(
    "metric", [FID(), FIDInfinity(), KID(), RBF, KID(estimator="biased")], ids=lambda m: m.convention
)
@pytest.mark.parametrize("side", ["real", "generated"])
def test_a_pull_is_what_leaving_the_row_out_takes_away(metric, side):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 4)), 1.3 * rng.normal(size=(90, 4)) + 0.5
    influence_values = getattr(metric.influence_values(strata(metric, x), strata(metric, y)), side)[0]
    whole = score(metric, x, y)
    n = len(influence_values)
    left = []
    for k in range(n):
        without = (np.delete(x, k, 0), y) if side == "real" else (x, np.delete(y, k, 0))
        left.append((n - 1) * (whole - score(metric, *without)))
    influence_values, left = influence_values - influence_values.mean(), np.array(left) - np.mean(left)
    assert np.corrcoef(influence_values, left)[0, 1] > 0.99
    assert influence_values.std() == pytest.approx(left.std(), rel=0.06)


def test_kid_of_one_side_known_has_the_textbook_variance():
    """With a linear kernel and a known generator KID is a mean squared: the delta method by hand."""
    rng = np.random.default_rng(1)
    x, distribution = rng.normal(size=(400, 2)) + 1.0, nm.Gaussian([0, 0])
    metric = KID(nm.Polynomial(1, gamma=1.0, coef0=0.0), estimator="biased")
    summary = metric.summarize(Sample(rows=x))
    made = Strata.of(metric.summarize(Sample(rows=np.zeros((2, 2)))), None)
    influence_values = metric.influence_values(Strata.of(summary, x), made).real[0]
    np.testing.assert_allclose(influence_values, 2.0 * x @ x.mean(axis=0), rtol=1e-10)
    assert distribution.dim == 2


def test_variances_of_independent_parts_add_up():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 50)), 3 * rng.normal(size=(2, 20))
    variance = Variance.none(2)
    variance.add(a, 0.25)
    variance.add(b, 0.75)
    parts = np.array([0.25**2 * a.var(1, ddof=1) / 50, 0.75**2 * b.var(1, ddof=1) / 20])
    np.testing.assert_allclose(variance.root**2, parts.sum(0), rtol=1e-12)
    from scipy.stats import t

    freedom = parts.sum(0) ** 2 / (parts[0] ** 2 / 49 + parts[1] ** 2 / 19)
    np.testing.assert_allclose(variance.reach(0.8), t.ppf(0.9, freedom) * np.sqrt(parts.sum(0)), rtol=1e-9)


def simulated(distributions, sizes, generators, m, metric, runs, weights=None, seed=0):
    """Tables and flips of repeated evaluations."""
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        federation = nm.Federation(
            [distribution.sample(n, rng) for distribution, n in zip(distributions, sizes, strict=True)]
        )
        if weights is not None:
            federation = federation.with_weights(weights)
        made = {name: distribution.sample(m, rng) for name, distribution in generators.items()}
        yield nm.evaluate(federation, made, metric, uncertainty=nm.Influence(), progress=False)


def covered(scores, metric, truths):
    """Which of avg, all and gap hold the true values, for the first generator."""
    row = scores.table[scores.table["metric"] == metric].iloc[0]
    return [row[f"{part}_low"] <= truth <= row[f"{part}_high"] for part, truth in zip(("avg", "all", "gap"), truths)]


FID_CASES = {
    "64 features, 100 rows a side": ([normal(64)], [100], normal(64, scale=1.2), 100, 30),
    "rectified, 1.5 rows a feature": ([rectified(32, 0)], [48], rectified(32, 1), 640, 30),
    "clients": ([normal(16, 0.2 * k) for k in range(3)], [32, 40, 60], normal(16), 320, 40),
}


@pytest.mark.parametrize("case", by_default(FID_CASES, "rectified, 1.5 rows a feature"))
def test_intervals_of_fid_hold_where_resampling_fails(case):
    distributions, sizes, generator, m, runs = FID_CASES[case]
    weights = np.array(sizes) / sum(sizes)
    avg, whole = fid_avg_and_all(distributions, weights, generator)
    hits = [
        covered(scores, "fid", (avg, whole, avg - whole))
        if len(distributions) > 1
        else covered(scores, "fid", (avg, whole, 0.0))
        for scores in simulated(distributions, sizes, {"g": generator}, m, "fid", runs)
    ]
    share = np.mean(hits, axis=0)
    assert np.all(share >= 0.9 - 2.6 * math.sqrt(0.09 / runs)), share


@pytest.mark.slow
@pytest.mark.parametrize("metric", [KID(), pytest.param(RBF, marks=pytest.mark.slow)], ids=["cubic", "rbf"])
def test_intervals_of_kid_hold(metric):
    distributions, generator = (
        [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0.5], [2, 1])],
        nm.Gaussian([0.3, 0.8], [1.5, 0.7]),
    )
    truth = nm.evaluate(distributions, {"g": generator}, metric, progress=False).table.iloc[0]
    hits = [
        covered(scores, "kid", (truth["avg"], truth["all"], truth["gap"]))
        for scores in simulated(distributions, [200, 200], {"g": generator}, 400, metric, 150)
    ]
    share = np.mean(hits, axis=0)
    assert np.all((share > 0.84) & (share < 0.96)), share


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "ratio"), [(0.0, 2.0**0.5), (1.0, 1.0)])
def test_standard_errors_of_kid_are_root_two_too_large_at_a_perfect_generator(shift, ratio):
    """docs/intervals.md says so: the noise of a pair of rows, all that is left there, is counted for both rows."""
    rng, values, squares = np.random.default_rng(5), [], []
    for _ in range(200):
        clients = [rng.normal(size=(30, 8)) for _ in range(2)]
        scores = nm.evaluate(clients, {"g": rng.normal(shift, 1.0, size=(60, 8))}, "kid", uncertainty=nm.Influence())
        spread = scores.result("kid").noise.source.spread(scores.weights)
        values.append(spread.all[0]), squares.append(spread.variance["all"].root[0] ** 2)
    assert np.sqrt(np.mean(squares)) / np.std(values, ddof=1) == pytest.approx(ratio, rel=0.15)


@pytest.mark.slow
def test_p_values_of_alike_generators_are_uniform():
    """In the side given beforehand; `flips` takes the side of the data, so its p-values are up to ½."""
    distributions, distribution = [normal(8, 0.1 * k) for k in range(2)], normal(8, 0.6)
    said = []
    for scores in simulated(distributions, [60, 60], {"first": distribution, "second": distribution}, 240, "fid", 100):
        row = scores.flips("fid").iloc[0]
        assert row["avg_prefers"] in ("first", "second") and 0 <= row["avg_p"] <= 0.5
        said.append(row["avg_p"] if row["avg_prefers"] == "first" else 1 - row["avg_p"])
    assert kstest(said, "uniform").pvalue > 0.01
    both = np.concatenate([said, 1 - np.array(said)])
    assert np.mean(both <= 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / len(both))


def test_clients_share_of_two_generators_is_not_counted_twice():
    """Two generators with the same rows differ by nothing but their own noise."""
    rng = np.random.default_rng(3)
    clients = [rng.normal(size=(40, 3)) for _ in range(2)]
    distribution = nm.Gaussian(np.full(3, 0.5))
    scores = nm.evaluate(
        clients, {"a": distribution, "b": nm.Gaussian(np.full(3, 0.5), 1 + 1e-9)}, uncertainty=nm.Influence()
    )
    width = scores.table["avg_high"][0] - scores.table["avg_low"][0]
    spread = scores._results[0].noise.source.spread(scores.weights)
    assert width > 0.01
    assert spread.apart["avg"].root[0, 1] ** 2 < 1e-12


def test_few_rows_have_no_interval_and_others_keep_theirs():
    rng = np.random.default_rng(4)
    clients = {"few": rng.normal(size=(30, 32)), "some": rng.normal(size=(42, 32)), "many": rng.normal(size=(200, 32))}
    scores = nm.evaluate(clients, {"g": rng.normal(size=(400, 32))}, ["fid", "kid"], uncertainty=nm.Influence())
    by_client = scores.clients[scores.clients["metric"] == "fid"].set_index("client")
    assert np.isfinite(by_client["value"]).all()  # the plain score stands
    assert by_client["corrected"].isna().tolist() == [True, False, False]
    assert by_client["low"].isna().tolist() == [True, True, False]
    table = scores.table.set_index("metric")
    assert np.isnan(table.loc["fid", ["avg_low", "gap_low", "gap_corrected"]].astype(float)).all()
    assert np.isfinite(table.loc["fid", ["all_low", "all_high"]].astype(float)).all()
    assert np.isfinite(table.loc["kid"].drop("generator").astype(float)).all()
    said = "\n".join(scores.conventions)
    assert "has 30 rows for 32 features that vary: a value needs 36" in said and "fewer than 1.5 rows" in said


def test_a_client_without_weight_has_its_own_interval_and_no_say():
    rng = np.random.default_rng(5)
    clients = [rng.normal(size=(50, 2)), rng.normal(size=(12, 2)) + 9.0]
    made = {"g": rng.normal(size=(80, 2))}
    federation = nm.Federation(clients).with_weights([1, 0])
    both = nm.evaluate(federation, made, uncertainty=nm.Influence(), progress=False)
    alone = nm.evaluate(clients[:1], made, uncertainty=nm.Influence(), progress=False)
    ends = ["avg_low", "avg_high", "all_low", "all_high"]
    np.testing.assert_allclose(both.table[ends], alone.table[ends], rtol=1e-9)
    assert both.table["gap_high"].abs().max() < 1e-9


def test_other_weights_need_nothing_sampled_again():
    rng = np.random.default_rng(6)
    clients, made = [rng.normal(size=(40, 2)) + k for k in range(2)], {"g": rng.normal(size=(60, 2))}
    scores = nm.evaluate(clients, made, uncertainty=nm.Influence(), progress=False).with_weights([3, 1])
    again = nm.evaluate(nm.Federation(clients).with_weights([3, 1]), made, uncertainty=nm.Influence(), progress=False)
    numbers = scores.table.columns.drop(["generator", "metric"])
    np.testing.assert_allclose(scores.table[numbers], again.table[numbers], rtol=1e-9, atol=1e-12)


def test_metrics_without_influence_values_get_the_jackknife_and_say_so():
    rng = np.random.default_rng(7)
    rows = [rng.normal(size=(30, 2)) for _ in range(2)]
    scores = nm.evaluate(rows, {"g": rng.normal(size=(40, 2))}, ["fid", "precision"], uncertainty=nm.Influence(0.8))
    lines = "\n".join(scores.conventions)
    assert "Intervals of FID: 80%, influence values" in lines and "Intervals of Precision: 80%, jackknife" in lines


def test_the_interval_of_fid_lies_about_fid_infinity():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(100, 16)), rng.normal(size=(300, 16))
    row = nm.evaluate([x], {"g": y}, "fid", uncertainty=nm.Influence(), progress=False).table.iloc[0]
    assert row["avg"] == pytest.approx(nm.fid(x, y), rel=1e-9)
    assert row["avg_corrected"] == pytest.approx(nm.fid_infinity(x, y), rel=1e-9)
    assert row["avg_low"] <= row["avg_corrected"] <= row["avg_high"] < row["avg"]


@pytest.mark.parametrize("design", [nm.Bootstrap(20), nm.Jackknife(10)])
def test_resampling_fid_of_few_rows_is_refused_before_the_work(design):
    rng = np.random.default_rng(9)
    few, made = rng.normal(size=(100, 64)), {"g": rng.normal(size=(5000, 64))}
    with pytest.raises(
        nm.InvalidInput, match=r"uncertainty: .* FID of 100 rows with 64 features for bias: it needs 512"
    ):
        nm.evaluate([few], made, "fid", uncertainty=design)
    assert fid(normal(2), normal(2)) == pytest.approx(0.0, abs=1e-12)
    nm.evaluate([few[:, :4]], {"g": made["g"][:, :4]}, "fid", uncertainty=design, progress=False)


@pytest.mark.parametrize("level", [0.2, 1.0, "high", None, math.nan])
def test_a_level_out_of_range_is_refused(level):
    with pytest.raises(nm.InvalidInput, match="level"):
        nm.Influence(level)
