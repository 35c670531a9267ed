"""Very small, very large and far features: the numbers are those of ordinary ones, without a warning."""

import warnings

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.evaluation.heterogeneity import Parties, kernel_gaps, p_kid, p_value
from nbmetrics.metrics.kid.metric import CUBIC

X = np.random.default_rng(0).normal(size=(100, 2))


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def evaluate(federation, generators, metrics, **more):
    return nm.evaluate(federation, generators, metrics, progress=False, **more)


@pytest.mark.parametrize("unit", [1e-130, 1e-100, 1e-75, 1e-30, 1e44])
def test_the_gap_of_size_is_in_squared_units(unit):
    def scores(unit):
        return evaluate([X * unit, X[:50] * unit], [X * unit], "fid")

    wanted = scores(1.0)
    np.testing.assert_allclose(scores(unit).size_gap() / unit**2, wanted.size_gap(), rtol=1e-9)
    np.testing.assert_allclose(scores(unit).table["gap"] / unit**2, wanted.table["gap"], rtol=1e-9)


@pytest.mark.parametrize("shift", [0.1, 1.0])
@pytest.mark.parametrize("move", [1e3, 1e7, 1e11])
def test_p_of_kid_far_from_0_is_that_of_its_limit(move, shift):
    parties = Parties(np.concatenate([X, X[:50] + shift]), (100, 50), (2 / 3, 1 / 3))
    far = Parties(parties.rows + move, parties.sizes, parties.weights)
    # far from 0 the kernel is 3β²(γ u·v + 2γ²(c·u)(c·v)/β): linear, with three times the variance along c
    along = parties.rows.mean(axis=1, keepdims=True)
    stretched = Parties(parties.rows + (np.sqrt(3.0) - 1.0) * along, parties.sizes, parties.weights)
    linear = kernel_gaps(nm.Polynomial(1), stretched, parties.deals(499, [0, 1]))
    assert p_kid(far, 0) == pytest.approx(p_value(*linear), abs=0.01)


@pytest.mark.parametrize("unit", [1e-3, 1e-6, 1e-10, 1e-130])
@pytest.mark.parametrize("weights", [(2 / 3, 1 / 3), (0.5, 0.5)])
def test_p_of_kid_of_small_features_is_that_of_their_means(unit, weights):
    rows = np.concatenate([X, X[:50] + 0.2])
    rows -= rows.mean(axis=0)
    deals = (own := Parties(rows, (100, 50), weights)).deals(499, [0, 1])
    p = p_value(*kernel_gaps(nm.Polynomial(1), own, deals))
    assert 0.002 < p < 0.5
    assert p_kid(Parties(unit * rows, (100, 50), weights), 0) == pytest.approx(p, abs=0.01)


def test_p_of_kid_is_that_of_the_kernel_about_0_where_weights_follow_the_rows():
    parties = Parties(np.concatenate([X, X[:50] + 0.3]), (100, 50), (2 / 3, 1 / 3))
    wanted = p_value(*kernel_gaps(CUBIC, parties, parties.deals(499, [0, 1])))
    assert p_kid(parties, 0) == wanted and 0.002 < wanted < 0.9


@pytest.mark.parametrize("rows", [np.full((30, 3), 0.1), np.full((30, 3), 1e9 / 3)])
def test_equal_rows_are_no_evidence_whatever_their_last_digit(rows):
    assert p_kid(Parties(rows, (20, 10), (0.3, 0.7)), 0) == 1.0


@pytest.mark.parametrize(
    ("metric", "degree", "units"),
    [
        (nm.metrics.FID(), 2, (1e-120, 1e-60, 1e40, 1e44)),
        (nm.metrics.FIDInfinity(), 2, (1e-60, 1e40, 1e44)),
        (nm.metrics.KID(nm.Polynomial(3, coef0=0.0)), 6, (1e-40, 1e14, 1e40)),
    ],
    ids=["fid", "fid_infinity", "kid"],
)
def test_intervals_and_flips_are_there_at_every_scale(metric, degree, units):
    def scores(unit):
        clients, made = [X * unit, (X[:60] + 0.5) * unit], [X[::-1] * 1.1 * unit, X * 1.15 * unit]
        return evaluate(clients, made, metric, uncertainty=nm.Influence())

    wanted = scores(1.0)
    numbers = [f"{part}_{end}" for part in ("avg", "all", "gap") for end in ("low", "corrected", "high")]
    assert wanted.table[numbers].notna().all(axis=None)
    for unit in units:
        found = scores(unit)
        np.testing.assert_allclose(found.table[numbers] / unit**degree, wanted.table[numbers], rtol=1e-6)
        flips = found.flips(metric.name).iloc[0], wanted.flips(metric.name).iloc[0]
        assert list(flips[0][["avg_prefers", "all_prefers"]]) == list(flips[1][["avg_prefers", "all_prefers"]])
        assert flips[0]["avg_p"] == pytest.approx(flips[1]["avg_p"], rel=1e-6)


def test_nobody_is_preferred_where_no_score_is_known():
    made = {"few": X, "fewer": X[:15] + 1, "ample": X * 1.2}
    scores = evaluate({"a": X, "b": X[:5]}, made, "fid_infinity", uncertainty=nm.Influence())
    flips = scores.flips("fid_infinity")  # client b has too few rows for any avg
    assert flips["avg_prefers"].tolist() == ["–"] * 3 and flips["avg_p"].isna().all()
    assert flips["over"].tolist() == ["few, fewer", "few, ample", "fewer, ample"]
    assert flips["all_prefers"].tolist() == ["few", "few", "ample"]
    # the plain FID stands where the corrected one does not
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.BiasWarning)
        plain = evaluate([X, X[:5]], made, "fid", uncertainty=nm.Influence())
    row = plain.flips("fid").iloc[0]
    assert np.isnan(row["avg_p"]) and (row["avg_prefers"], row["over"]) == ("few", "fewer")


@pytest.mark.parametrize("weight", [5e-324, 1e-160, 1e-101])
@pytest.mark.parametrize("metric", ["fid", "fid_infinity", "kid"])
def test_a_weight_too_small_to_be_squared_is_none(weight, metric):
    def scores(weights):
        federation = nm.Federation([X, X + 1]).with_weights(weights)
        return evaluate(federation, [X + 0.1], metric, uncertainty=nm.Influence())

    assert nm.Federation([X, X + 1]).with_weights([1, weight]).weights == (1.0, 0.0)
    assert scores([1, weight]).table.equals(scores([1, 0]).table)
    assert nm.Federation([X, X]).with_weights([1, 1e-99]).weights[1] > 0
    assert nm.Federation([X, X]).with_weights([5e-324, 5e-324]).weights == (0.5, 0.5)


def test_c_t_of_equal_train_rows_is_that_of_the_distances_from_them():
    rng = np.random.default_rng(1)
    test, made = rng.normal(size=(2, 60, 70))
    train = np.full((50, 70), 0.3)
    by_distance = [np.sum((rows - 0.3) ** 2, axis=1) for rows in (test, made)]
    u = np.sum(by_distance[1][:, None] > by_distance[0][None, :])
    wanted = (u - (60 * 60 / 2 - 0.5)) / np.sqrt(60 * 60 * 121 / 12)
    assert nm.c_t(train, test, made) == pytest.approx(wanted)


@pytest.mark.parametrize("name", [3, "", None, "two\nlines"])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(nm.InvalidInput) as caught:
        nm.metrics.KID(name=name)
    assert caught.value.argument == "name"
