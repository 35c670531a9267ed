"""Clients and generators of nine features for tests of the Playground, and what its numbers are compared with."""

import json

import numpy as np

import nbmetrics as nm

D = 9
RNG = np.random.default_rng(5)
SITES = {"north": RNG.normal(0, 1, (70, D)), "south": RNG.normal(1, 2, (50, D)), "east": RNG.normal(-1, 1, (40, D))}
MODELS = {"near": RNG.normal(0, 1.5, (90, D)), "far": RNG.normal(2, 1, (60, D))}


def drawn(n, rng):
    return rng.normal(0.5, 1, (n, D))


def lab_of(clients=None, generators=None, **settings):
    return nm.Playground(nm.Federation(clients or SITES), generators or MODELS, **settings)


def table(scores):
    return scores.table[["avg", "all"]].to_numpy()


def wanted(clients, generators, metrics=("fid", "kid"), weights=None):
    federation = nm.Federation(clients)
    return nm.evaluate(federation if weights is None else federation.with_weights(weights), generators, metrics)


def assert_result_is(lab, scores):
    """The lab's own numbers, those of its page, and the lines under them."""
    np.testing.assert_allclose(table(lab.scores()), table(scores), rtol=1e-9)
    for metric in scores.metrics:
        avg, pooled, by_client = scores.values(metric)
        found = lab.result["scores"][metric]
        np.testing.assert_allclose(found["avg"], avg, rtol=1e-9)
        np.testing.assert_allclose(found["all"], pooled, rtol=1e-9)
        np.testing.assert_allclose(found["byClient"], by_client, rtol=1e-9)
    assert lab.result["cautions"] == scores.cautions
    json.dumps(lab.result, allow_nan=False)
