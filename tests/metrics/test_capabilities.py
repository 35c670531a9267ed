"""What each metric can do beyond its three functions is a question of types."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics import metric_of
from nbmetrics.metrics.base import _REGISTRY, Metric, capabilities_of
from nbmetrics.metrics.capabilities import (
    CAPABILITIES,
    Additive,
    BatchedTerms,
    BiasCorrected,
    Cautious,
    ClosedForm,
    HasInfluence,
    MergeablePool,
    OnePass,
    PairwisePool,
    Resampled,
    SingleRowPool,
)

FRECHET = {
    OnePass,
    Additive,
    MergeablePool,
    SingleRowPool,
    BatchedTerms,
    HasInfluence,
    Resampled,
    ClosedForm,
    Cautious,
    BiasCorrected,
}
JOINT = {MergeablePool, ClosedForm, Cautious}
EXPECTED = {
    "fid": FRECHET,
    "fid_infinity": {HasInfluence, ClosedForm, Cautious},
    "kid": FRECHET - {Cautious} | {PairwisePool},
    "cmmd": FRECHET | {PairwisePool},
    "mfid": JOINT,
    "rfid": JOINT,
    "cfid": JOINT,
    "fld": {Cautious},
    "mifid": {Resampled, Cautious},
    "log_likelihood": {ClosedForm},
    "vendi": {Cautious},
    "rke": {ClosedForm, Cautious},
    "inception_score": {Cautious},
    **{key: {Cautious} for key in ("precision", "recall", "density", "coverage")},
}


@pytest.mark.parametrize("name", _REGISTRY)
def test_a_metric_lists_among_its_bases_what_it_can_do(name):
    metric = metric_of(name)
    assert set(capabilities_of(metric)) == EXPECTED.get(name, set())
    assert set(CAPABILITIES) & set(type(metric).__mro__) == EXPECTED.get(name, set())


def test_which_metrics_stream():
    assert [name for name in _REGISTRY if OnePass in capabilities_of(metric_of(name))] == ["fid", "kid", "cmmd"]


class Shift:
    """The squared distance of the means, as an object of a user's."""

    name = "shift"

    def summarize(self, sample):
        return sample.rows.mean(axis=0)

    def pool(self, summaries, weights):
        return np.average(summaries, axis=0, weights=weights)

    def terms(self, real, generated):
        return {"shift": float(((real - generated) ** 2).sum())}


class CarefulShift(Shift):
    def caution(self, real, generated):
        return "far apart" if self.terms(real, generated)["shift"] > 1.0 else ""


def test_an_object_with_three_functions_can_do_no_more_and_is_still_answered_for():
    metric = metric_of(Shift())
    assert capabilities_of(metric) == capabilities_of(Shift()) == ()
    assert metric.streaming_mode(3) == "rows" and metric.pool_operator(3) is None and metric.pairwise_pool(3) is None
    assert not metric.has_influence_values and not metric.has_closed_form(nm.Gaussian([0.0]))


@pytest.mark.parametrize("own", [CarefulShift(), type("Declared", (CarefulShift, Metric), {})()])
def test_what_a_users_object_can_do_more_is_seen(own):
    assert capabilities_of(metric_of(own)) == (Cautious,)
    assert metric_of(own).caution(np.zeros(2), np.ones(2)) == "far apart"
    assert list(metric_of(own).cautions([], [])) == []
