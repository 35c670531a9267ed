"""evaluate(): the papers' toy exactly and from samples, avg and all, seeds, and a user's own metric."""

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from tests import golden

RNG = np.random.default_rng(20261125)
TOY = nm.Federation([nm.Gaussian([1.0, 0.0]), nm.Gaussian([-1.0, 0.0])])
V = np.array([0.0, 0.25, 1.0, 1.7, 2.0, 2.5, 4.0])
METRICS = ["fid", "kid", nm.metrics.KID(nm.RBF(np.sqrt(2)), name="kid_rbf")]


def toy_generators():
    return {f"v={v}": nm.Gaussian([0.0, 0.0], [v, 1.0]) for v in V}


def column(scores, metric, name):
    return scores.table.loc[scores.table["metric"] == metric, name].to_numpy()


def test_papers_toy_is_exact():
    scores = nm.evaluate(TOY, toy_generators(), METRICS, progress=False)
    np.testing.assert_allclose(column(scores, "fid", "avg"), 1 + (1 - np.sqrt(V)) ** 2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(column(scores, "fid", "all"), (np.sqrt(2) - np.sqrt(V)) ** 2, rtol=0, atol=1e-12)
    for kid in ("kid", "kid_rbf"):
        assert np.ptp(column(scores, kid, "gap")) <= 1e-12
        assert column(scores, kid, "gap").min() > 0


def test_papers_toy_has_its_minima_where_the_papers_say():
    scores = nm.evaluate(TOY, {str(v): nm.Gaussian([0, 0], [v, 1]) for v in np.arange(0, 4.005, 0.01)}, METRICS)
    best = {
        (m, a): float(scores.generators[column(scores, m, a).argmin()]) for m in scores.metrics for a in ("avg", "all")
    }
    assert best["fid", "avg"] == pytest.approx(1.0, abs=0.011)
    assert best["fid", "all"] == pytest.approx(2.0, abs=0.011)
    assert best["kid", "avg"] == best["kid", "all"] == pytest.approx(2.0, abs=0.011)
    assert best["kid_rbf", "avg"] == best["kid_rbf", "all"] == pytest.approx(2.19, abs=0.011)


def test_papers_toy_from_samples_is_within_sampling_error():
    generators = {f"v={v}": nm.Gaussian([0.0, 0.0], [v, 1.0]) for v in (0.5, 1.0, 2.0)}
    exact = nm.evaluate(TOY, generators, progress=False).table[["avg", "all"]].to_numpy()
    runs = [nm.evaluate(TOY, generators, samples=50_000, seed=s, progress=False).table for s in range(12)]
    drawn = np.stack([run[["avg", "all"]].to_numpy() for run in runs])
    error = drawn.std(axis=0, ddof=1)
    assert (error > 0).all()
    assert (error < 0.02 + 0.02 * exact).all()
    # FID is biased upwards by some d/n
    assert (abs(drawn.mean(axis=0) - exact) < 4 * error / np.sqrt(12) + 3e-4).all()
    for run in runs:
        assert np.ptp(run.loc[run["metric"] == "kid", "gap"]) <= 1e-12


def test_avg_and_all_are_what_fid_and_kid_say_pair_by_pair():
    clients, generators = golden.load("overlap8")
    scores = golden.scores("overlap8")
    shares = np.array([len(c) for c in clients]) / sum(map(len, clients))
    for name, score in (("fid", nm.fid), ("kid", nm.kid)):
        values = np.array([[score(c, g) for c in clients] for g in generators])
        np.testing.assert_allclose(column(scores, name, "avg"), values @ shares, rtol=1e-12)
        whole = [score(np.concatenate(clients), g) for g in generators]
        np.testing.assert_allclose(column(scores, name, "all"), whole, rtol=1e-10)
        listed = scores.clients.query("metric == @name")["value"].to_numpy().reshape(values.shape)
        np.testing.assert_allclose(listed, values, rtol=1e-12)


def test_one_client_has_no_gap():
    table = nm.evaluate([RNG.normal(size=(40, 3))], [RNG.normal(size=(30, 3))], METRICS, progress=False).table
    np.testing.assert_allclose(table["gap"], 0.0, atol=1e-14)


def test_a_client_of_weight_zero_does_not_count():
    x, y, far, g = (
        RNG.normal(size=(20, 3)),
        RNG.normal(size=(30, 3)),
        1e6 * RNG.normal(size=(9, 3)),
        RNG.normal(size=(25, 3)),
    )
    three = nm.evaluate(nm.Federation([x, far, y]).with_weights([0.4, 0.0, 0.6]), [g], METRICS, progress=False).table
    two = nm.evaluate(nm.Federation([x, y]).with_weights([0.4, 0.6]), [g], METRICS, progress=False).table
    np.testing.assert_allclose(three[["avg", "all"]], two[["avg", "all"]], rtol=1e-10)


def test_samples_draws_that_many_rows_in_proportion_to_the_weights():
    asked = {}

    class Distribution:
        dim = 2

        def __init__(self, name):
            self.name = name

        def sample(self, n, rng=None):
            asked[self.name] = [*asked.get(self.name, []), n]
            return np.random.default_rng(rng).normal(size=(n, 2))

    federation = nm.Federation([Distribution("a"), Distribution("b"), Distribution("c")]).with_weights([1, 2, 7])
    nm.evaluate(federation, {"g": Distribution("g")}, samples=1001, progress=False)
    assert asked == {"a": [100], "b": [200], "c": [701], "g": [1001]}  # once for both metrics


def test_the_seed_settles_everything_drawn_and_the_order_of_metrics_nothing():
    federation, generators = TOY, toy_generators()
    one, again = (nm.evaluate(federation, generators, samples=300, seed=5, progress=False).table for _ in range(2))
    pd.testing.assert_frame_equal(one, again)
    other = nm.evaluate(federation, generators, samples=300, seed=6, progress=False).table
    assert (one["avg"] != other["avg"]).all()
    alone = nm.evaluate(federation, generators, "kid", samples=300, seed=5, progress=False).table
    np.testing.assert_array_equal(alone["avg"], one.loc[one["metric"] == "kid", "avg"])


def test_clients_and_generators_never_share_their_noise():
    distribution = nm.Gaussian([0.0, 0.0])
    table = nm.evaluate(
        [distribution], {"a": distribution, "b": distribution}, "fid", samples=100, progress=False
    ).table
    assert (table["avg"] > 1e-4).all()
    assert table["avg"].nunique() == 2


def test_rows_given_as_data_are_never_drawn_from():
    x, y = RNG.normal(size=(40, 3)), RNG.normal(size=(30, 3))
    assert nm.evaluate([x], [y], "fid", samples=10, progress=False).table["avg"][0] == nm.fid(x, y)


class MeanGap:
    """A user's metric: no base class, no label, summaries without nbytes."""

    name = "mean_gap"
    higher_is_better = True

    def summarize(self, sample):
        return sample.rows.mean(0)

    def pool(self, summaries, weights):
        return np.average(summaries, axis=0, weights=weights)

    def terms(self, real, generated):
        return {f"feature {i}": -abs(float(a - b)) for i, (a, b) in enumerate(zip(real, generated, strict=True))}


@pytest.mark.parametrize("metric", [MeanGap(), MeanGap], ids=["object", "class"])
def test_a_users_metric_of_three_functions_works_everywhere(metric):
    clients, generators = golden.load("overlap8")
    scores = nm.evaluate(clients, dict(zip("abc", generators, strict=True)), ["fid", metric], progress=False)
    pooled = np.concatenate(clients).mean(0)
    expected = np.array([-np.abs(pooled - g.mean(0)).sum() for g in generators])
    np.testing.assert_allclose(column(scores, "mean_gap", "all"), expected, rtol=1e-4)
    assert scores.ranks("mean_gap")["all"].tolist() == (np.argsort(np.argsort(-expected)) + 1).tolist()
    assert -1 <= scores.agreement("mean_gap") <= 1
    assert (scores.ledger["bytes"] > 0).all()
    assert len(scores.clients) == 2 * 3 * 3
    assert scores.with_weights([1, 0, 0]).table.query("metric == 'mean_gap'")["gap"].abs().max() < 1e-6
    assert "mean_gap" in scores._repr_html_()
    assert "mean_gap" in repr(scores)
    for kind in ("scatter", "ranks", "clients"):
        assert len(scores.plot(kind).axes) == 2
    assert nm.evaluate(TOY, [TOY.clients[0].distribution], metric, progress=False).table["avg"].notna().all()


class Cosine(nm.metrics.Metric):
    """A user's metric on the base class, as the documentation shows it."""

    name, label = "cosine", "Cosine"

    def summarize(self, sample):
        return sample.rows.mean(0)

    def pool(self, summaries, weights):
        return sum(w * s for w, s in zip(weights, summaries, strict=True))

    def terms(self, real, generated):
        return {"cosine": 1 - float(real @ generated / np.linalg.norm(real) / np.linalg.norm(generated))}


def test_a_subclass_of_metric_gets_distance_for_free():
    metric = Cosine()
    assert metric.distance(np.array([1.0, 0.0]), np.array([0.0, 2.0])) == 1.0
    scores = nm.evaluate([np.eye(2)], [np.eye(2) * [1.0, 0.0]], metric, progress=False)
    assert scores.table["avg"][0] == pytest.approx(1 - np.sqrt(0.5))
    assert scores.label("cosine") == "Cosine"


def test_two_kernels_stand_side_by_side_under_their_names():
    metrics = [nm.metrics.KID(nm.RBF(s), name=f"kid_{s}") for s in (1, 2)]
    scores = nm.evaluate(TOY, toy_generators(), metrics, progress=False)
    assert scores.metrics == ("kid_1", "kid_2")
    assert (column(scores, "kid_1", "avg") != column(scores, "kid_2", "avg")).all()


def test_progress_shows_a_bar_only_when_asked(capsys):
    nm.evaluate(TOY, toy_generators())
    nm.evaluate(TOY, toy_generators(), progress=False)
    assert capsys.readouterr() == ("", "")
    nm.evaluate(TOY, toy_generators(), progress=True)
    assert "%" in capsys.readouterr().err
