"""What if the clients were others: merged, dropped, cut by class."""

import numpy as np
import pytest

import nbmetrics as nm

RNG = np.random.default_rng(0)
ROWS = {name: RNG.normal(k, 1, (20 + 10 * k, 2)) for k, name in enumerate("abc")}


def labelled():
    return nm.Federation([nm.Client(rows, labels=np.arange(len(rows)) % 2, name=name) for name, rows in ROWS.items()])


def test_merged_clients_hold_their_rows_together():
    federation = nm.Federation(ROWS).merge("a and c", ["a", "c"])
    assert federation.names == ("a and c", "b")
    np.testing.assert_array_equal(federation["a and c"].rows, np.concatenate([ROWS["a"], ROWS["c"]]))
    assert federation.weights == pytest.approx([60 / 90, 30 / 90])


def test_merging_and_dropping_leave_all_and_weights_as_they_must():
    generated = RNG.normal(1, 1, (200, 2))
    whole = nm.evaluate(ROWS, {"g": generated}).values("fid").all
    merged = nm.evaluate(nm.Federation(ROWS).merge("m", ["a", "b"]), {"g": generated}).values("fid").all
    assert merged == pytest.approx(whole, rel=1e-9), "the pooled rows are the same"
    weighted = nm.Federation(ROWS).with_weights([5, 3, 2])
    assert weighted.drop("a").weights == pytest.approx([0.6, 0.4])
    assert weighted.merge("m", ["a", "c"]).weights == pytest.approx([0.7, 0.3])


def test_distributions_merge_to_their_mixture():
    distributions = {"a": nm.Gaussian([-1.0]), "b": nm.Gaussian([1.0]), "c": nm.Gaussian([0.0])}
    one = nm.Federation(distributions).merge("m", ["a", "b"])["m"].distribution
    assert one.mean == pytest.approx([0.0]) and np.ravel(one.cov) == pytest.approx([2.0])


def test_a_client_is_cut_into_its_classes():
    federation = labelled().split_classes("b")
    assert federation.names == ("a", "b: 0", "b: 1", "c")
    np.testing.assert_array_equal(federation["b: 1"].rows, ROWS["b"][1::2])
    assert sum(federation.weights) == pytest.approx(1) and federation["b: 0"].labels.tolist() == [0] * 15


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f.merge("m", ["a"]),
        lambda f: f.merge("m", ["a", "a"]),
        lambda f: f.merge("m", ["a", "nobody"]),
        lambda f: f.merge("c", ["a", "b"]),
        lambda f: f.drop(["a", "b", "c"]),
        lambda f: f.drop("nobody"),
        lambda f: f.split_classes("nobody"),
        lambda f: nm.Federation(ROWS).split_classes("a"),
    ],
)
def test_what_cannot_be_regrouped_is_refused(call):
    with pytest.raises(nm.InvalidInput):
        call(labelled())


def test_a_dashboard_of_other_clients():
    dashboard = nm.Dashboard(labelled(), {"g": RNG.normal(1, 1, (90, 2)), "h": RNG.normal(0, 2, (90, 2))}, "fid")
    other = dashboard.what_if(merge={"m": ["a", "c"]}, split="b")
    assert other.scores.names == ("m", "b: 0", "b: 1") and other.scores.generators == ("g", "h")
    assert dashboard.scores.names == ("a", "b", "c"), "which stays as it is"
    with pytest.raises(nm.InvalidInput, match="merge"):
        dashboard.what_if(merge=["a"])
    dashboard.close(), other.close()
