"""Intervals cover what they say, replicates are what naive resampling gives, and FID at infinite N has no bias."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics.base import Sample, replicate
from nbmetrics.uncertainty import Replicas

CUBIC, RBF = nm.metrics.KID(), nm.metrics.KID(nm.RBF(1.5))


def samples(rng, sizes, d=3):
    return [Sample(rows=rng.normal(size=(n, d)) + 0.3 * k) for k, n in enumerate(sizes)]


@pytest.mark.parametrize("metric", [CUBIC, RBF, nm.metrics.KID(estimator="biased"), nm.metrics.FID()])
@pytest.mark.parametrize("design", [nm.Bootstrap(25), nm.Jackknife(10)])
def test_fast_replicates_are_those_of_naive_resampling(metric, design):
    rng = np.random.default_rng(0)
    real, made, weights = samples(rng, (20, 30)), samples(rng, (25, 15)), (0.3, 0.7)
    replicas = Replicas(metric, real, made, design)
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
    kernel, unbiased = metric.kernel, metric.given == "unbiased"
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
        replicas = Replicas(metric, real, made, nm.Bootstrap(20))
        counts = replicas.resamples.counts
        x = np.concatenate([np.repeat(s.rows, c[3], axis=0) for s, c in zip(real, counts[:2], strict=True)])
        y = np.repeat(made[0].rows, counts[2][3], axis=0)
        assert replicas.scores(weights)[1][3, 0] == pytest.approx(metric_of(metric, x, y), rel=1e-9)


def metric_of(metric, x, y):
    return nm.fid(x, y) if metric.name == "fid" else nm.kid(x, y, estimator="biased")


def test_exact_laws_take_part_and_do_not_vary():
    rng = np.random.default_rng(2)
    law = nm.Mixture([nm.Gaussian(np.zeros(3)), nm.Gaussian(np.ones(3), 2.0)])
    real, made = samples(rng, (30, 20)), [Sample(distribution=law)]
    for metric in (CUBIC, RBF):
        fast = Replicas(metric, real, made, nm.Jackknife(10)).scores((0.5, 0.5))
        counts = nm.Jackknife(10).resample([30, 20, 0]).counts
        slow = replicate(metric, real, made, (0.5, 0.5), counts[:2], counts[2:])
        np.testing.assert_allclose(fast[0], slow[0], rtol=1e-9)
        np.testing.assert_allclose(fast[1], slow[1], rtol=1e-9)


def coverage(metric, laws, law, n, design, runs):
    """Shares of the runs in which the intervals for the first client and for all hold the true values."""
    clients = [nm.Client(p) for p in laws]
    truth = nm.evaluate(clients, {"g": law}, metric, progress=False)
    true_client, true_all = truth.clients["value"][0], truth.table["all"][0]
    rng, weights = np.random.default_rng(5), [1 / len(laws)] * len(laws)
    hits = np.zeros(2)
    for _ in range(runs):
        real = [Sample(rows=p.sample(n, rng)) for p in laws]
        made = [Sample(rows=law.sample(n, rng))]
        replicas = Replicas(metric, real, made, design)
        by_client, pooled = replicas.scores(weights)
        summaries = [metric.summarize(s) for s in (*real, *made)]
        point = metric.distance(summaries[0], summaries[-1])
        together = metric.distance(metric.pool(summaries[:-1], weights), summaries[-1])
        for k, (estimate, drawn, true) in enumerate(
            [(point, by_client[:, 0, 0], true_client), (together, pooled[:, 0], true_all)]
        ):
            low, high = replicas.resamples.interval(np.array(estimate), drawn)
            hits[k] += low <= true <= high
    return hits / runs


LAWS = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0.5], [2, 1])]
OTHER = nm.Gaussian([0.3, 0.8], [[1.5, 0.4], [0.4, 0.7]])


@pytest.mark.parametrize(
    ("metric", "n", "design"),
    [
        (CUBIC, 50, nm.Bootstrap(200)),
        (RBF, 50, nm.Bootstrap(200)),
        (CUBIC, 50, nm.Jackknife(50)),
        (RBF, 200, nm.Jackknife(50)),
        (nm.metrics.FID(), 20, nm.Bootstrap(200)),
        (nm.metrics.FID(), 100, nm.Bootstrap(200)),
    ],
    ids=["cubic50", "rbf50", "cubic50jack", "rbf200jack", "fid20", "fid100"],
)
def test_ninety_percent_intervals_cover(metric, n, design):
    runs = 150 if metric.name == "fid" else 500
    covered = coverage(metric, LAWS, OTHER, n, design, runs)
    slack = 1.5 * np.sqrt(0.9 * 0.1 / runs)  # the simulation's own error; 85 to 95 % is the claim
    assert np.all((covered >= 0.85 - slack) & (covered <= 0.95 + slack)), covered


def test_a_plain_percentile_interval_of_fid_would_not_cover():
    rng, law, hits = np.random.default_rng(6), nm.Gaussian(np.zeros(8)), 0
    near = nm.Gaussian(np.full(8, 0.2))
    for _ in range(40):
        real, made = [Sample(rows=law.sample(80, rng))], [Sample(rows=near.sample(80, rng))]
        drawn = Replicas(nm.metrics.FID(), real, made, nm.Bootstrap(50)).scores((1.0,))[0][:, 0, 0]
        hits += np.quantile(drawn, 0.05) <= nm.fid(law, near) <= np.quantile(drawn, 0.95)
    assert hits < 4


def test_fid_infinity_removes_the_bias():
    law, rng = nm.Gaussian(np.zeros(16)), np.random.default_rng(3)
    near = nm.Gaussian(np.full(16, 0.3))
    plain, infinite = [], []
    for seed in range(20):
        x, y = law.sample(200, rng), near.sample(200, rng)
        plain.append(nm.fid(x, y) - nm.fid(law, near))
        infinite.append(nm.fid_infinity(x, y, seed=seed) - nm.fid(law, near))
    error = np.std(infinite) / np.sqrt(20)
    assert np.mean(plain) > 0.5
    assert abs(np.mean(infinite)) < max(4 * error, 0.05)


@pytest.mark.parametrize("bad", [5, "bootstrap", nm.Bootstrap])
def test_an_unknown_design_is_refused(bad):
    with pytest.raises(nm.InvalidInput, match="uncertainty"):
        nm.evaluate([np.eye(4)], {"g": np.eye(4)}, uncertainty=bad)
