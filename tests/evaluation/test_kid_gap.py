"""The gap of KID from the clients' kernel means is that of evaluate, under any weights."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.evaluation.heterogeneity import client_kernel_means, kid_gap


def rows(d=3, offset=0.0):
    rng = np.random.default_rng(0)
    return [offset + rng.normal(0.4 * i, 1, size=(6 + 5 * i, d)) for i in range(4)]


CLIENTS = {
    "rows": rows(),
    "wide": rows(200),
    "far from 0": rows(offset=50.0),
    "distributions": [nm.Gaussian([0, 0, 0]), nm.Mixture([nm.Gaussian([1, 0, 0]), nm.Gaussian([0, 2, 0])]), rows()[3]],
}
METRICS = [
    nm.metrics.KID(estimator="stratified"),
    nm.metrics.KID(estimator="biased"),
    nm.metrics.KID(nm.RBF(2.0), "stratified"),
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.convention)
@pytest.mark.parametrize("clients", CLIENTS)
def test_the_gap_is_that_of_evaluate_under_any_weights(clients, metric):
    real = [nm.Client(x, weight=1) for x in CLIENTS[clients]]
    made = {"g": np.random.default_rng(1).normal(size=(20, real[0].dim)) + (50.0 if "far" in clients else 0.0)}
    scores = nm.evaluate(real, made, metric, progress=False)
    means, rng = client_kernel_means(scores._results[0]), np.random.default_rng(2)
    for weights in [np.eye(len(real))[0], *rng.dirichlet(np.ones(len(real)), size=4)]:
        avg, pooled, _ = scores.with_weights(weights).values("kid")
        assert kid_gap(means, np.asarray(weights)) == pytest.approx((avg - pooled)[0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS[::2], ids=lambda m: m.convention)
def test_clients_are_as_far_apart_as_their_kid(metric):
    real = rows()
    scores = nm.evaluate(real, {"g": real[0]}, metric, progress=False)
    means = client_kernel_means(scores._results[0])
    own = np.diag(means)
    wanted = [[nm.kid(a, b, kernel=metric.kernel) if a is not b else 0.0 for b in real] for a in real]
    np.testing.assert_allclose(own[:, None] + own - 2.0 * means, wanted, rtol=1e-9, atol=1e-9)


def test_other_estimators_have_no_such_matrix():
    for metric in ("fid", nm.metrics.KID(estimator="linear")):
        scores = nm.evaluate(rows(), {"g": rows()[0]}, metric, progress=False)
        assert client_kernel_means(scores._results[0]) is None
