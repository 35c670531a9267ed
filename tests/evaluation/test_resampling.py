"""Intervals cover what they say, replicates are what naive resampling gives, and FID at infinite N has no bias."""

import tracemalloc

import numpy as np
import pytest
import scipy.stats

import nbmetrics as nm
from nbmetrics.evaluation.resampling import JackknifeResamples, ResampledScores
from nbmetrics.metrics.base import Sample, replicate

CUBIC, RBF = nm.metrics.KID(), nm.metrics.KID(nm.RBF(1.5))


def samples(rng, sizes, d=3):
    return [Sample(rows=rng.normal(size=(n, d)) + 0.3 * k) for k, n in enumerate(sizes)]


@pytest.mark.parametrize("metric", [CUBIC, RBF, nm.metrics.KID(estimator="biased"), nm.metrics.FID()])
@pytest.mark.parametrize("design", [nm.Bootstrap(25), nm.Jackknife(10)])
def test_fast_replicates_are_those_of_naive_resampling(metric, design):
    rng = np.random.default_rng(0)
    real, made, weights = samples(rng, (20, 30)), samples(rng, (25, 15)), (0.3, 0.7)
    replicas = ResampledScores(metric, real, made, design)
    by_client, pooled = replicas.scores(weights)
    counts = replicas.resamples.counts
    for b in (0, len(counts[0]) // 2, len(counts[0]) - 1):
        drawn = [np.repeat(s.rows, c[b], axis=0) for s, c in zip([*real, *made], counts, strict=True)]
        for g in range(2):
            for i in range(2):
                expected = naive(metric, drawn[i], drawn[2 + g], [real[i], made[g]], [counts[i][b], counts[2 + g][b]])
                assert by_client[b, g, i] == pytest.approx(expected, rel=1e-9, abs=1e-10)
    assert pooled.shape == (len(counts[0]), 2)


def naive(metric, x, y, samples_, counts):
    if metric.name == "fid":
        return nm.fid(x, y)
    kernel, unbiased = metric.kernel, metric.estimator_option == "unbiased"
    terms = []
    for s, c in zip(samples_, counts, strict=True):
        w, k = c / c.sum(), kernel.block(s.rows, s.rows)
        full, diagonal = w @ k @ w, np.sum(w * w * np.diag(k))
        terms.append((full - diagonal) / (1 - np.sum(w * w)) if unbiased else full)
    return sum(terms) - 2 * kernel.block(x, y).mean()


def test_pooled_replicates_are_the_metric_on_pooled_resamples():
    rng = np.random.default_rng(1)
    real, made, weights = samples(rng, (20, 40)), samples(rng, (25,)), (1 / 3, 2 / 3)
    for metric in (nm.metrics.FID(), nm.metrics.KID(estimator="biased")):
        replicas = ResampledScores(metric, real, made, nm.Bootstrap(20))
        counts = replicas.resamples.counts
        x = np.concatenate([np.repeat(s.rows, c[3], axis=0) for s, c in zip(real, counts[:2], strict=True)])
        y = np.repeat(made[0].rows, counts[2][3], axis=0)
        assert replicas.scores(weights)[1][3, 0] == pytest.approx(metric_of(metric, x, y), rel=1e-9)


def metric_of(metric, x, y):
    return nm.fid(x, y) if metric.name == "fid" else nm.kid(x, y, estimator="biased")


def test_exact_distributions_take_part_and_do_not_vary():
    rng = np.random.default_rng(2)
    distribution = nm.Mixture([nm.Gaussian(np.zeros(3)), nm.Gaussian(np.ones(3), 2.0)])
    real, made = samples(rng, (30, 20)), [Sample(distribution=distribution)]
    for metric in (CUBIC, RBF):
        fast = ResampledScores(metric, real, made, nm.Jackknife(10)).scores((0.5, 0.5))
        counts = nm.Jackknife(10).resample([30, 20, 0]).counts
        slow = replicate(metric, real, made, (0.5, 0.5), counts[:2], counts[2:])
        np.testing.assert_allclose(fast[0], slow[0], rtol=1e-9)
        np.testing.assert_allclose(fast[1], slow[1], rtol=1e-9)


def coverage(metric, distributions, distribution, n, design, runs):
    """Shares of the runs in which the intervals for the first client and for all hold the true values."""
    clients = [nm.Client(p) for p in distributions]
    truth = nm.evaluate(clients, {"g": distribution}, metric, progress=False)
    true_client, true_all = truth.clients["value"][0], truth.table["all"][0]
    rng, weights = np.random.default_rng(5), [1 / len(distributions)] * len(distributions)
    hits = np.zeros(2)
    for _ in range(runs):
        real = [Sample(rows=p.sample(n, rng)) for p in distributions]
        made = [Sample(rows=distribution.sample(n, rng))]
        replicas = ResampledScores(metric, real, made, design)
        by_client, pooled = replicas.scores(weights)
        summaries = [metric.summarize(s) for s in (*real, *made)]
        point = metric.distance(summaries[0], summaries[-1])
        whole = metric.pool(summaries[:-1], weights)
        corrected = metric.without_bias(whole, summaries[-1])
        together = metric.distance(whole, summaries[-1]) if corrected is None else corrected
        for k, (estimate, drawn, true) in enumerate(
            [(point, by_client[:, 0, 0], true_client), (together, pooled[:, 0], true_all)]
        ):
            low, high = replicas.resamples.interval(np.array(estimate), drawn)
            hits[k] += low <= true <= high
    return hits / runs


DISTRIBUTIONS = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0.5], [2, 1])]
OTHER = nm.Gaussian([0.3, 0.8], [[1.5, 0.4], [0.4, 0.7]])


FID = nm.metrics.FID()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "n", "design", "runs"),
    [
        pytest.param(CUBIC, 50, nm.Bootstrap(200), 120, id="cubic50"),
        pytest.param(RBF, 50, nm.Bootstrap(200), 120, id="rbf50", marks=pytest.mark.slow),
        pytest.param(CUBIC, 50, nm.Jackknife(50), 120, id="cubic50jack"),
        pytest.param(FID, 20, nm.Bootstrap(200), 30, id="fid20"),
        pytest.param(CUBIC, 50, nm.Bootstrap(200), 500, id="cubic50long", marks=pytest.mark.slow),
        pytest.param(RBF, 50, nm.Bootstrap(200), 500, id="rbf50long", marks=pytest.mark.slow),
        pytest.param(CUBIC, 50, nm.Jackknife(50), 500, id="cubic50jacklong", marks=pytest.mark.slow),
        pytest.param(RBF, 200, nm.Jackknife(50), 500, id="rbf200jack", marks=pytest.mark.slow),
        pytest.param(FID, 20, nm.Bootstrap(200), 150, id="fid20long", marks=pytest.mark.slow),
        pytest.param(FID, 100, nm.Bootstrap(200), 150, id="fid100", marks=pytest.mark.slow),
    ],
)
def test_ninety_percent_intervals_cover(metric, n, design, runs):
    covered = coverage(metric, DISTRIBUTIONS, OTHER, n, design, runs)
    slack = 1.5 * np.sqrt(0.9 * 0.1 / runs)  # the simulation's own error; 85 to 95 % is the claim
    assert np.all((covered >= 0.85 - slack) & (covered <= 0.95 + slack)), covered


def test_a_plain_percentile_interval_of_fid_would_not_cover():
    rng, distribution, hits = np.random.default_rng(6), nm.Gaussian(np.zeros(8)), 0
    near = nm.Gaussian(np.full(8, 0.2))
    for _ in range(40):
        real, made = [Sample(rows=distribution.sample(80, rng))], [Sample(rows=near.sample(80, rng))]
        drawn = ResampledScores(nm.metrics.FID(), real, made, nm.Bootstrap(50)).scores((1.0,))[0][:, 0, 0]
        hits += np.quantile(drawn, 0.05) <= nm.fid(distribution, near) <= np.quantile(drawn, 0.95)
    assert hits < 4


@pytest.mark.parametrize("bad", [5, "bootstrap", nm.Bootstrap])
def test_an_unknown_design_is_refused(bad):
    with pytest.raises(nm.InvalidInput, match="uncertainty"):
        nm.evaluate([np.eye(4)], {"g": np.eye(4)}, uncertainty=bad)


# --- the jackknife: what it leaves out, what it holds, and how wide its intervals are


class Mean(nm.metrics.base.RowsMetric):
    """The difference of the means, whose variance is known."""

    name, label, copies_matter = "mean", "Mean", True
    scored = 0

    def terms(self, real, generated):
        type(self).scored += 1
        return {"mean": float(real.rows.mean() - generated.rows.mean())}


def error_of(replicas, estimate, level=0.9):
    low, high = replicas.resamples.interval(np.array([estimate]), replicas.scores((1.0,))[0][:, 0, :])
    return (high - low)[0] / 2


def test_single_rows_left_out_give_the_textbook_variance():
    x, y = samples(np.random.default_rng(0), (30, 20), d=1)
    counts = nm.Jackknife(30).resample([30, 20]).counts
    assert [c[0].shape for c in counts] == [(30,), (20,)] and [len(c) for c in counts] == [50, 50]
    whole = np.array(counts[0][:])
    assert (whole[:30].sum(axis=1) == 29).all() and (whole[30:] == 1).all() and (whole[:30].sum(axis=0) == 29).all()
    drawn = np.array([np.mean(x.rows[a[b] == 1]) - np.mean(y.rows[c[b] == 1]) for a, c in [counts] for b in range(50)])
    resamples = nm.Jackknife(30).resample([30, 20])
    low, high = resamples.interval(np.array(drawn.mean()), drawn)
    expected = scipy.stats.t.ppf(0.95, 19) * np.sqrt(x.rows.var(ddof=1) / 30 + y.rows.var(ddof=1) / 20)
    assert (high - low) / 2 == pytest.approx(expected, rel=1e-9)


def test_thirds_left_out_give_the_textbook_variance():
    x, y = samples(np.random.default_rng(0), (30, 21), d=1)
    replicas = ResampledScores(Mean(), [x], [y], nm.Jackknife(1500))
    for c in replicas.resamples.counts:
        assert set(np.asarray(c[:]).sum(axis=1)) == {len(c[0]) * 2 // 3, len(c[0])}
    expected = 1.645 * np.sqrt(x.rows.var(ddof=1) / 30 + y.rows.var(ddof=1) / 21)
    assert error_of(replicas, x.rows.mean() - y.rows.mean()) == pytest.approx(expected, rel=0.06)


def test_the_line_under_a_table_says_what_was_measured():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40, 2))
    scores = nm.evaluate([x], {"g": y}, ["precision", "kid"], uncertainty=nm.Bootstrap(20), progress=False)
    assert any("thirds of the rows" in s and "covered 88 to 98 % of simulations" in s for s in scores.conventions)
    assert any("covered 84 to 87 % of the gaps in simulations" in s for s in scores.conventions)


def test_what_a_replicate_leaves_whole_is_scored_once():
    real, made = samples(np.random.default_rng(0), (12, 15)), samples(np.random.default_rng(1), (10, 14, 11))
    Mean.scored, replicas = 0, ResampledScores(Mean(), real, made, nm.Bootstrap(20))
    by_client, pooled = replicas.scores((4 / 9, 5 / 9))
    each = 21  # replicates a party: seven cuts into thirds
    by_clients = 2 * each * 3 + 3 * each * 2 + 2 * 3
    assert by_client.shape == (5 * each, 3, 2) and Mean.scored == by_clients + 2 * each * 3 + 3 * each + 3
    counts = replicas.resamples.counts
    for b in (0, 40, 41, 70, 104):
        rows = [s.rows[c[b] == 1] for s, c in zip((*real, *made), counts, strict=True)]
        expected = [[x.mean() - y.mean() for x in rows[:2]] for y in rows[2:]]
        np.testing.assert_allclose(by_client[b], expected, rtol=1e-12)
        expected = [np.concatenate(rows[:2]).mean() - y.mean() for y in rows[2:]]
        np.testing.assert_allclose(pooled[b], expected, rtol=1e-12)


def test_the_jackknife_stays_within_the_memory_allowed():
    rng = np.random.default_rng(0)
    real, made = [Sample(rows=rng.normal(size=(100, 2))) for _ in range(20)], samples(rng, (4000, 4000), d=2)
    dense = 8 * (22 * 50) * (20 * 100 + 2 * 4000)  # bytes of all counts at once: 88 MB
    before = nm.arrays.memory.block_bytes
    nm.set_memory_limit(16)
    try:
        tracemalloc.start()
        scores = ResampledScores(CUBIC, real, made, nm.Jackknife(50)).scores([1 / 20] * 20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        nm.arrays.memory.block_bytes = before
    assert peak < dense / 3
    expected = ResampledScores(CUBIC, real, made, nm.Jackknife(50)).scores([1 / 20] * 20)
    for part, all_at_once in zip(scores, expected, strict=True):
        np.testing.assert_allclose(part, all_at_once, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_intervals_of_nearest_row_metrics_are_narrower_than_with_twentieths_left_out():
    rng, metric, estimates, errors = np.random.default_rng(3), nm.metrics.Recall(), [], []
    for _ in range(12):
        real, made = Sample(rows=rng.normal(size=(100, 8))), Sample(rows=0.8 * rng.normal(size=(80, 8)) + 0.1)
        estimates.append(metric.distance(metric.summarize(real), metric.summarize(made)))
        thirds = ResampledScores(metric, [real], [made], nm.Bootstrap())
        twentieths = JackknifeResamples.of((100, 80), 20, seed=0, level=0.9, is_smooth=False)
        drawn, _ = replicate(metric, [real], [made], (1.0,), twentieths.counts[:1], twentieths.counts[1:])
        low, high = twentieths.interval(np.array([estimates[-1]]), drawn[:, 0, :])
        errors.append((error_of(thirds, estimates[-1]), (high - low)[0] / 2))
    narrow, wide = np.sqrt(np.mean(np.square(errors), axis=0)) / 1.645
    assert 0.8 * np.std(estimates, ddof=1) < narrow < 0.85 * wide


def test_a_jackknife_has_intervals_of_scores_whose_squares_are_beyond_all_numbers():
    """The cubic KID grows with the sixth power of large features, and the ends of its intervals with it."""
    rows = np.random.default_rng(0).normal(size=(3, 40, 2))
    ends = [
        nm.evaluate(list(x[:2]), [x[2]], "kid", uncertainty=nm.Jackknife(10), progress=False).table[
            ["avg_low", "avg_high"]
        ]
        for x in (1e10 * rows, 1e40 * rows)
    ]
    np.testing.assert_allclose(ends[0] / 1e60, ends[1] / 1e240, rtol=1e-6)
