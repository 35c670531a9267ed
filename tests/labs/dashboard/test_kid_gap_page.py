"""KID-all under any weights is the same number in the page as evaluate's."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.evaluation.heterogeneity import client_kernel_means
from nbmetrics.labs.dashboard.metric_view import encode_kid_gap
from tests.labs.dashboard.page import said
from tests.node import needs_node

RNG = np.random.default_rng(0)
ROWS = {name: RNG.normal(k, 1 + k, (n, 3)) for k, (name, n) in enumerate([("a", 20), ("b", 7), ("c", 40)])}
DISTRIBUTIONS = {"a": nm.Gaussian([0.0, 0.0]), "b": nm.Gaussian([2.0, 1.0], 2.0)}


@needs_node
@pytest.mark.parametrize(
    ("clients", "estimator"),
    [(ROWS, "stratified"), (ROWS, "biased"), (DISTRIBUTIONS, "unbiased")],
    ids=["rows", "biased", "distributions"],
)
def test_the_page_has_the_gap_of_evaluate(clients, estimator):
    made = {"g": RNG.normal(1, 1, (30, 3 if clients is ROWS else 2))}
    scores = nm.evaluate(clients, made, nm.metrics.KID(estimator=estimator))
    packed = encode_kid_gap(client_kernel_means(scores.result("kid")))
    weights = [list(w) for w in RNG.dirichlet(np.ones(len(clients)), 4)] + [[1.0] + [0.0] * (len(clients) - 1)]
    wanted = [float(scores.with_weights(w).table["gap"][0]) for w in weights]
    line = "say(given.weights.map((shares) => kidGap(given.packed, shares)));"
    found = said("../../toolkit/view/kid_gap.js", "kidGap", line, {"packed": packed, "weights": weights})
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
