"""Clients are regrouped in a Dashboard: scores are evaluate's, and undo goes back to the former clients exactly."""

import json

import numpy as np
import pytest

import nbmetrics as nm
from tests.labs.inside import answer, scene_of

RNG = np.random.default_rng(15)
SIZES = {"north": 60, "south": 40, "isle": 20}


def federation(weight=lambda name: None):
    made = [
        nm.Client(RNG.normal(k, 1, (n, 2)), labels=np.arange(n) % 2, name=name, weight=weight(name))
        for k, (name, n) in enumerate(SIZES.items())
    ]
    return nm.Federation(made)


CLIENTS = federation()
GENERATORS = {"near": RNG.normal(0.5, 1.2, (80, 2)), "far": RNG.normal(3, 1, (80, 2))}


@pytest.fixture
def lab():
    made = nm.Dashboard(CLIENTS, GENERATORS)
    yield made
    made.close()


def known_of(lab):
    """All that the page shows, without the numbers of edits."""
    lab.wait()
    answer(lab, scene_of(lab))
    return json.dumps([lab.board, lab.draws, {**lab.result, "rev": 0}, {**lab.scene, "rev": 0}])


def test_scores_are_those_of_evaluate_on_the_same_federation(lab):
    lab.regroup(merge={"coast": ["isle", "south"]})
    wanted = nm.evaluate(CLIENTS.merge("coast", ["isle", "south"]), GENERATORS, uncertainty=nm.Influence())
    assert lab.scores.names == ("north", "coast")
    for found, own in ((lab.table, wanted.table), (lab.scores.clients, wanted.clients)):
        numbers = own.select_dtypes("number").columns
        np.testing.assert_allclose(found[numbers], own[numbers], rtol=1e-9, atol=1e-12)
    assert [client["name"] for client in lab.board["clients"]] == ["north", "coast"]
    assert lab.board["regroup"] == lab.scene["regroup"] and "2 clients" in lab._repr_mimebundle_()[0]["text/plain"]
