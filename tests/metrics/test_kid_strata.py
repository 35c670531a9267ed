"""KID-all with each client a stratum: no bias, under any weights, wherever the rows are."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.evaluation.influence import _further
from nbmetrics.labs.monitor.history import _first_format
from nbmetrics.metrics import KID, Sample
from nbmetrics.metrics.kid.cmmd import CMMD
from nbmetrics.theory.best_mixture import Halved
from tests.calibration.kid_all import seen_settings

RNG = np.random.default_rng(20261124)


def cubic(x, y):
    return (x.astype(float) @ y.astype(float).T / x.shape[1] + 1.0) ** 3


def stratified(clients, weights, made, kernel=cubic):
    """Σ λᵢ² Uᵢᵢ + Σ_{i≠j} λᵢλⱼ K̄ᵢⱼ + U_G − 2 Σ λᵢ K̄ᵢ_G, pair by pair."""

    def own(x):
        pairs = kernel(x, x)
        return (pairs.sum() - np.trace(pairs)) / (len(x) * (len(x) - 1))

    pooled = sum(
        v * w * (own(a) if a is b else kernel(a, b).mean())
        for a, v in zip(clients, weights, strict=True)
        for b, w in zip(clients, weights, strict=True)
    )
    cross = sum(w * kernel(x, made).mean() for x, w in zip(clients, weights, strict=True))
    return pooled + own(made) - 2.0 * cross


def clients_of(sizes, d, offset=0.0, dtype="f8"):
    return [(offset + 0.6 * i + RNG.normal(size=(n, d))).astype(dtype) for i, n in enumerate(sizes)]


@pytest.mark.parametrize("weights", [None, (1, 1, 1, 1), (5, 0, 1, 2)], ids=["by rows", "equal", "odd"])
@pytest.mark.parametrize(
    ("d", "offset", "dtype"), [(3, 0.0, "f8"), (3, 40.0, "f8"), (200, 0.0, "f8"), (200, 0.0, "f4")]
)
def test_it_is_the_sum_over_strata(d, offset, dtype, weights):
    rows, made = clients_of((6, 11, 16, 90), d, offset, dtype), (offset + RNG.normal(size=(25, d))).astype(dtype)
    federation = nm.Federation(rows)
    federation = federation if weights is None else federation.with_weights(weights)
    scores = nm.evaluate(federation, {"g": made}, KID(estimator="stratified"), progress=False)
    wanted = stratified(rows, federation.weights, made)
    scale = 1.0 + abs(cubic(rows[0], made).mean() * (1e-6 if dtype == "f4" else 1e-12) / 1e-9)
    assert scores.table["all"][0] == pytest.approx(wanted, rel=1e-9, abs=1e-9 * scale)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 6), d=st.integers(1, 40), made=st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_the_gap_is_one_number_and_by_rows_a_share_of_that_of_the_pooled_rows(seed, k, d, made):
    rng = np.random.default_rng(seed)
    rows = [rng.normal(rng.normal(), rng.uniform(0.5, 2), size=(rng.integers(2, 30), d)) for _ in range(k)]
    generators = {f"g{j}": rng.normal(rng.normal(), 1, size=(rng.integers(2, 30), d)) for j in range(made)}
    plain, strata = (
        nm.evaluate(rows, generators, KID(estimator=e), progress=False).table for e in ("unbiased", "stratified")
    )
    scale = np.abs(plain[["avg", "all"]].to_numpy()).max()
    n = sum(map(len, rows))
    assert np.ptp(strata["gap"]) <= 1e-12 * scale
    np.testing.assert_allclose(strata["avg"], plain["avg"], rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(strata["gap"] * n / (n - 1), plain["gap"], rtol=0, atol=1e-11 * scale)


def test_distributions_are_strata_of_infinitely_many_rows():
    distributions = [nm.Gaussian([0, 0, 0]), nm.Mixture([nm.Gaussian([1, 0, 0]), nm.Gaussian([0, 2, 0])])]
    made, weights = {"g": nm.Gaussian([0.3, 0, 0])}, (0.3, 0.7)
    exact = nm.evaluate(nm.Federation(distributions).with_weights(weights), made, ["kid"]).table
    again = nm.evaluate(nm.Federation(distributions).with_weights(weights), made, KID(estimator="stratified")).table
    assert again["all"][0] == pytest.approx(exact["all"][0], rel=1e-12)


@pytest.mark.parametrize("d", [4, 150])
def test_streams_summaries_and_halves_give_the_same_number(d):
    rows, made = clients_of((12, 40, 25), d), {"g": RNG.normal(size=(60, d))}
    metric = KID(estimator="stratified")
    wanted = stratified(rows, np.array([12, 40, 25]) / 77, made["g"])
    streamed = [lambda x=x: iter([x[:7], x[7:]]) for x in rows]
    assert nm.evaluate(streamed, made, metric, progress=False).table["all"][0] == pytest.approx(wanted, rel=1e-10)
    sent = [nm.federated.client_summary(x, metric, reveal_rows=d > 128) for x in rows]
    assert nm.federated.aggregate(sent, None, made, metric).table["all"][0] == pytest.approx(wanted, rel=1e-10)
    halved = nm.evaluate(rows, made, Halved(metric, 0), progress=False).table["all"][0]
    assert halved == pytest.approx(wanted, rel=1e-10)
    corrected = nm.evaluate(rows, made, "kid", uncertainty=nm.Influence(), progress=False).table
    assert corrected["all_corrected"][0] == pytest.approx(wanted, rel=1e-10)
    assert corrected["gap_corrected"][0] == pytest.approx(corrected["avg"][0] - wanted, rel=1e-9)


def test_a_client_of_one_row_has_no_such_score_and_is_told_why():
    rows = [RNG.normal(size=(n, 3)) for n in (1, 20, 30)]
    scores = nm.evaluate(
        rows, {"g": rows[1]}, ["vendi", "kid", KID(estimator="stratified", name="strata")], progress=False
    )
    table = scores.table.set_index("metric")
    assert math.isfinite(table.loc["kid", "all"]) and math.isnan(table.loc["strata", "all"])
    assert any("are one row of a client, but a pair needs 2" in line for line in scores.cautions)


def test_other_estimators_have_no_stratified_score():
    summaries = [KID().summarize(Sample(rows=x)) for x in clients_of((5, 9), 3)]
    for metric in (KID(estimator="biased"), KID(estimator="stratified"), CMMD()):
        assert metric.without_bias(*summaries) is None and metric.stratified is metric
    unbiased = CMMD("unbiased")
    assert unbiased.stratified.label == "CMMD" and "strata" in unbiased.stratified.convention


def test_runs_of_the_first_format_give_the_same_kernel_means():
    rows, weights = clients_of((4, 9, 30), 5), np.array([0.5, 0.2, 0.3])
    cross = np.array([[cubic(a, b).mean() for b in rows] for a in rows])
    first = np.column_stack([cross, [np.diag(cubic(x, x)).mean() for x in rows], [4, 9, 30]])
    found = _first_format(first)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_array_equal(found[off], cross[off])
    own = [(cubic(x, x).sum() - np.trace(cubic(x, x))) / (len(x) * (len(x) - 1)) for x in rows]
    np.testing.assert_allclose(np.diag(found), own, rtol=1e-12)
    made = RNG.normal(size=(10, 5))
    scores = nm.evaluate(nm.Federation(rows).with_weights(weights), {"g": made}, KID(estimator="stratified"))
    assert weights @ np.diag(found) - weights @ found @ weights == pytest.approx(scores.table["gap"][0], rel=1e-10)


def test_the_interval_of_a_squared_distance_reaches_further_up_and_no_more_than_twice():
    centre, reach = np.array([4.0, 1.0, 0.1, 0.0, -1.0]), np.array([1.0, 1.0, 1.0, 1.0, 1.0])
    further = _further(centre, reach)
    assert (np.sqrt(4.0) + 1.0 / (2 * np.sqrt(4.0))) ** 2 == pytest.approx(centre[0] + reach[0] + further[0])
    assert further[2] == 1.0 and further[3] == further[4] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "runs"), [("20 + 40", 120), ("ten digit clients x 10,", 60)])
def test_intervals_of_all_hold_in_small_federations(name, runs):
    """A fixed draw; tests/calibration/kid_all.py has 1,000 runs of each and of 26 more."""
    (setting,) = [s for s in seen_settings() if name in s.name]
    truth, held, values = setting.truth(), 0, []
    for run in range(runs):
        row, _ = setting.evaluated(run)
        values.append((row["all_corrected"], row["all"]))
        held += row["all_low"] <= truth <= row["all_high"]
    corrected, plain = np.array(values).T
    error = corrected.std(ddof=1) / math.sqrt(runs)
    assert held / runs >= 0.865 - 2 * math.sqrt(0.9 * 0.1 / runs)
    assert abs(corrected.mean() - truth) < 3.3 * error
    assert plain.mean() < corrected.mean()
