"""Models of several runs: means, spreads, comparisons beside NumPy and SciPy; refusals; files, exports, sentences."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import nbmetrics as nm
from nbmetrics.evaluation.run_statistics import ErrorPart, holm, p_of_labels, p_value, reach, smallest_p
from nbmetrics.federation import as_generators
from tests.calibration.models import BEYOND, EFFECTS, limit, shares_of_effects
from tests.slow import by_default, slow

DESIGNS = {"influence": nm.Influence(), "jackknife": nm.Jackknife(groups=20), "bootstrap": nm.Bootstrap(40)}


def rows(shift, rng, n=150, d=3):
    return rng.normal(size=(n, d)) + shift


def runs_of(rng, counts=(("near", 3, 0.3), ("far", 3, 1.5)), n=150):
    return {name: [rows(shift + 0.1 * rng.normal(), rng, n) for _ in range(r)] for name, r, shift in counts}


def scores_of(uncertainty=None, metrics=("fid", "kid"), seed=0, **more):
    rng = np.random.default_rng(seed)
    clients = {"north": nm.Client(rows(0.0, rng), weight=2), "south": nm.Client(rows(0.5, rng), weight=1)}
    return nm.evaluate(clients, runs_of(rng, **more), metrics, uncertainty=uncertainty)


# Statistics


def test_equal_numbers_of_runs_are_hsus_test():
    rng = np.random.default_rng(0)
    for r in (2, 3, 5):
        first, second = rng.normal(size=(2, r)) * [[1.0], [4.0]] + [[0.0], [5.0]]
        welch = stats.ttest_ind(first, second, equal_var=False)
        parts = [ErrorPart(np.var(side, ddof=1) / r, r - 1) for side in (first, second)]
        expected = 2.0 * stats.t.sf(abs(welch.statistic), r - 1)
        assert p_value(first.mean() - second.mean(), parts) == pytest.approx(expected, rel=1e-6)


def test_p_is_where_the_interval_ends_at_zero():
    parts, difference = [ErrorPart(0.7, 1), ErrorPart(0.2, 4), ErrorPart(0.1, math.inf)], 1.8

    def excess(level):
        quantiles = [
            stats.t(f).ppf((1 + level) / 2) if math.isfinite(f) else stats.norm.ppf((1 + level) / 2) for _, f in parts
        ]
        return sum(q * q * variance for q, (variance, _) in zip(quantiles, parts, strict=True)) - difference**2

    level = optimize.brentq(excess, 0.01, 0.999)
    assert p_value(difference, parts) == pytest.approx(1.0 - level, rel=1e-6)
    assert reach(parts, level) == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("counts", [(2, 2), (3, 3), (2, 5), (4, 3)])
def test_deals_of_labels_are_a_permutation_test(counts):
    rng = np.random.default_rng(counts)
    for shift in (0.0, 1.0, -50.0):
        first, second = rng.normal(size=counts[0]) + shift, rng.normal(size=counts[1])
        side = "less" if first.mean() < second.mean() else "greater"
        found = stats.permutation_test(
            (first, second),
            lambda x, y: x.mean() - y.mean(),
            permutation_type="independent",
            alternative=side,
            n_resamples=np.inf,
        )
        assert p_of_labels(first.tolist(), second.tolist()) == pytest.approx(found.pvalue)
    assert p_of_labels(first.tolist(), second.tolist()) == pytest.approx(smallest_p(*counts))


def test_equal_runs_are_alike_and_many_runs_are_left_to_t():
    assert p_of_labels([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]) > 0.5
    assert p_of_labels(list(range(20)), list(range(20))) == smallest_p(20, 20)


def test_holm_beside_its_definition():
    p = np.random.default_rng(0).random(7) ** 3
    expected = np.empty(7)
    for k, i in enumerate(np.argsort(p)):
        at = np.argsort(p)[: k + 1]
        expected[i] = min(1.0, max((7 - j) * p[a] for j, a in enumerate(at)))
    np.testing.assert_allclose(holm(p), expected)
    assert holm([]).shape == (0,) and np.isnan(holm([math.nan])).all()


@pytest.mark.parametrize("effect", ["half far worse", *slow("normal", "normal, spreads 10 : 1", "lognormal")])
def test_the_level_holds(effect):
    """A quick draw of `tests.calibration.models`."""
    for counts in ((2, 2), (3, 3), (2, 5)):
        assert shares_of_effects(EFFECTS[effect], counts, 400, seed=1) <= limit(400)


def test_what_the_guide_says_is_beyond_any_test_is_seen():
    counts = (4, 4)
    assert shares_of_effects(BEYOND["half far worse in one model, never in the other"], counts, 400, seed=1) > limit(
        400
    )


def test_a_difference_of_models_is_found():
    assert shares_of_effects(EFFECTS["normal"], (3, 3), 200, seed=2, difference=12.0) > 0.9
    assert shares_of_effects(EFFECTS["normal"], (2, 2), 200, seed=2, difference=12.0) == 0.0  # p is 1/6 at least


# Scores


def test_models_are_means_and_standard_deviations_of_their_runs():
    scores = scores_of()
    frame, table = scores.models("fid"), scores.table[scores.table["metric"] == "fid"]
    assert list(frame["model"]) == ["near", "far"] and list(frame["runs"]) == [3, 3]
    for part in ("avg", "all"):
        own = table[part].to_numpy().reshape(2, 3)
        np.testing.assert_allclose(frame[part], own.mean(axis=1))
        np.testing.assert_allclose(frame[f"{part}_sd"], own.std(axis=1, ddof=1))
        half = stats.t(2).ppf(0.95) * own.std(axis=1, ddof=1) / math.sqrt(3)
        np.testing.assert_allclose(frame[f"{part}_high"] - frame[part], half)
        assert list(frame[f"{part}_rank"]) == [1, 2]
    assert set(frame["note"]) == {""}


def test_a_comparison_is_of_the_means_and_the_spreads():
    scores = scores_of()
    own = scores.values("kid").all.reshape(2, 3)
    (row,) = scores.compare_models("kid").to_dict("records")
    assert (row["model"], row["other"], row["note"]) == ("near", "far", "on these real rows")
    assert row["difference"] == pytest.approx(own[0].mean() - own[1].mean())
    t = stats.ttest_ind(own[0], own[1], equal_var=False).statistic
    assert row["p"] == pytest.approx(max(0.05, 2 * stats.t.sf(abs(t), 2)))
    assert row["p_holm"] == row["p"] and row["smallest_p"] == pytest.approx(0.05)


@pytest.mark.parametrize("design", by_default(DESIGNS, "influence"))
def test_what_real_rows_add_is_that_of_scores_on_other_real_rows(design):
    """Two models of fixed runs: the error that real rows make of their difference, beside new draws of these rows."""
    rng = np.random.default_rng(0)
    runs = runs_of(rng, (("a", 2, np.array([0.6, 0, 0])), ("b", 2, np.array([0, 0.6, 0]))), n=100)
    sums, shares = [], []
    for k in range(60):
        real = rows(0.0, np.random.default_rng([1, k]), 200)
        scores = nm.evaluate([real], runs, "fid", uncertainty=DESIGNS[design] if k < 3 else None, progress=False)
        sums.append(scores.compare_models("fid")["difference"][0])
        if k < 3:
            contrasts = np.array([[0.5, 0.5, -0.5, -0.5]])
            shares.append(scores.result("fid").noise.real_part(scores.weights, "all", contrasts)[0][0])
    ratio = math.sqrt(np.mean(shares)) / np.std(sums, ddof=1)
    assert 0.75 < ratio < (2.6 if design == "bootstrap" else 1.35)  # a bootstrap has the generated rows' part, too


def test_what_does_not_cancel_widens_a_comparison():
    """Beside leaving out each real row in turn, of two clients of unequal weights."""
    rng = np.random.default_rng(0)
    clients, weights = [rows(0.0, rng, 40), rows(0.7, rng, 30)], (0.75, 0.25)
    runs = runs_of(rng, (("a", 4, np.array([0.8, 0, 0])), ("b", 5, np.array([0, 0.8, 0]))), n=200)
    parties = [nm.Client(x, weight=w) for x, w in zip(clients, weights, strict=True)]
    scores = nm.evaluate(nm.Federation(parties), runs, nm.metrics.KID(), uncertainty=nm.Influence())
    (row,) = scores.compare_models("kid", by="avg").to_dict("records")

    def difference(i, client):
        means = {name: np.mean([nm.kid(client, run) for run in own]) for name, own in runs.items()}
        return weights[i] * (means["a"] - means["b"])

    variance = 0.0
    for i, client in enumerate(clients):
        left = np.array([difference(i, np.delete(client, k, axis=0)) for k in range(len(client))])
        variance += (len(client) - 1) / len(client) * ((left - left.mean()) ** 2).sum()
    own = [scores.values("kid").avg[:4], scores.values("kid").avg[4:]]
    parts = [ErrorPart(side.var(ddof=1) / len(side), len(side) - 1) for side in own] + [ErrorPart(variance, 29)]
    assert row["note"] == "" and (row["high"] - row["low"]) / 2 == pytest.approx(reach(parts, 0.9), rel=0.03)
    assert reach(parts, 0.9) > 1.05 * reach(parts[:2], 0.9)  # so that it would be seen


def test_a_jackknife_counts_the_groups_of_the_clients_alone():
    resamples = nm.Jackknife(groups=10).resample([40, 30, 50])
    scores = np.random.default_rng(0).normal(size=(30, 2))
    alone = [resamples.variance(scores, [k == party for k in range(3)])[0] for party in range(3)]
    for k, own in enumerate(alone):
        part = scores[10 * k : 10 * k + 10]
        np.testing.assert_allclose(own, 9.0 * part.var(axis=0))  # (g − 1)/g Σ away², of g groups
    np.testing.assert_allclose(resamples.variance(scores, [True, False, True])[0], alone[0] + alone[2])


@pytest.mark.parametrize("weight", [0.0, 1e-9])
def test_a_client_without_weight_takes_no_degrees_of_freedom(weight):
    """Two rows that count for nothing left one degree of freedom, and so an interval of several times the width."""
    rng = np.random.default_rng(5)
    counted = {name: nm.Client(rows(0.2, rng), weight=1.0) for name in ("a", "b")}
    few, generators = {"c": nm.Client(rows(0.0, rng, n=2), weight=weight)}, runs_of(rng)
    columns = ["difference", "low", "high", "p"]
    tables = [
        nm.evaluate(nm.Federation(clients), generators, "kid", uncertainty=nm.Influence(), progress=False)
        .compare_models("kid", by=by)[columns]
        .to_numpy()
        for clients in (counted, counted | few)
        for by in ("avg", "all")
    ]
    np.testing.assert_allclose(tables[2:], tables[:2], rtol=1e-6)


def test_exact_clients_add_no_error():
    runs = {name: [nm.Gaussian([shift + k / 10]) for k in range(3)] for name, shift in (("a", 0.0), ("b", 3.0))}
    scores = nm.evaluate([nm.Gaussian([0.0])], runs, "fid")
    (row,) = scores.compare_models("fid").to_dict("records")
    assert row["note"] == "" and row["p"] == pytest.approx(0.05)


def test_the_order_of_runs_and_the_way_they_are_given_change_nothing():
    rng = np.random.default_rng(3)
    real, runs = rows(0.0, rng), runs_of(rng, (("a", 4, 0.1), ("b", 3, 0.9)))
    listed = [nm.Generator(r, name=f"{m}{k}", group=m) for m, own in runs.items() for k, r in enumerate(own)]
    shuffled = [listed[i] for i in (3, 0, 1, 2, 6, 4, 5)]
    frames = [
        (scores.models("kid"), scores.compare_models("kid"))
        for scores in (nm.evaluate([real], given, "kid") for given in (runs, listed, shuffled))
    ]
    for frame, comparison in frames[1:]:
        pd.testing.assert_frame_equal(frame, frames[0][0], rtol=1e-12)
        pd.testing.assert_frame_equal(comparison, frames[0][1], rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda own: {"a": own["a"], "b": own["b"][:1]}, "b has one run, which does not say how far its runs differ"),
        (lambda own: {"a": own["a"], "b": own["b"] + own["b"]}, "have the same scores: is it one run given twice?"),
        (lambda own: {"a": own["a"], "b": [r[:60] for r in own["b"]]}, "give all as many, or uncertainty=nm.Infl"),
    ],
)  # fmt: skip
def test_runs_that_say_nothing_have_no_p_value_but_a_reason(change, note):
    rng = np.random.default_rng(0)
    scores = nm.evaluate([rows(0.0, rng)], change(runs_of(rng, (("a", 3, 0.1), ("b", 3, 0.9)))), "fid")
    (row,) = scores.compare_models("fid").to_dict("records")
    assert math.isnan(row["p"]) and math.isnan(row["low"]) and note in row["note"]
    assert any("no test of the models" in line and note in line for line in scores.summary())
    assert not any("?." in line for line in scores.summary())


def test_other_numbers_of_rows_are_no_matter_where_they_do_not_bias():
    rng = np.random.default_rng(0)
    runs = runs_of(rng, (("a", 3, 0.1), ("b", 3, 0.9)))
    runs["b"] = [r[:60] for r in runs["b"]]
    real = rows(0.0, rng)
    assert not math.isnan(nm.evaluate([real], runs, "kid").compare_models("kid")["p"][0])
    assert not math.isnan(nm.evaluate([real], runs, "fid", uncertainty=nm.Influence()).compare_models("fid")["p"][0])


def test_a_run_without_score_is_named():
    rng = np.random.default_rng(0)
    runs = runs_of(rng, (("a", 3, 0.1), ("b", 3, 0.9)))
    runs["b"][1] = runs["b"][1][:1]
    scores = nm.evaluate([rows(0.0, rng)], runs, "fid")
    (row,) = scores.compare_models("fid").to_dict("records")
    assert math.isnan(row["p"]) and math.isnan(row["difference"]) and row["note"].startswith("b 2 has no")
    assert math.isnan(scores.models("fid")["all"][1])


def test_higher_scores_are_better_where_the_metric_says_so():
    scores = scores_of(metrics=("precision",), counts=(("near", 3, 0.3), ("far", 3, 3.0)))
    assert list(scores.models("precision")["avg_rank"]) == [1, 2]
    assert any("near is better than far" in line for line in scores.summary())


def test_intra_is_compared_where_runs_are_by_client():
    rng = np.random.default_rng(0)
    clients = {"x": rows(0.0, rng), "y": rows(2.0, rng)}
    runs = {m: [{"x": rows(s, rng), "y": rows(2 + s, rng)} for _ in range(3)] for m, s in (("a", 0.1), ("b", 1.0))}
    scores = nm.evaluate(clients, runs, "fid", uncertainty=nm.Influence())
    (row,) = scores.compare_models("fid", by="intra").to_dict("records")
    expected = scores.table["intra_corrected"].to_numpy().reshape(2, 3).mean(axis=1)
    assert row["difference"] == pytest.approx(expected[0] - expected[1])
    assert {"intra", "intra_sd", "intra_low"} <= set(scores.models("fid"))


def test_runs_with_intra_alone_are_not_taken_for_one_run_given_twice(tmp_path):
    rng = np.random.default_rng(0)
    clients = {"x": rows(0.0, rng, 40), "y": rows(2.0, rng, 40)}
    runs = {m: [{"x": rows(s, rng, 40), "y": rows(2 + s, rng, 40)} for _ in range(3)] for m, s in (("a", 0), ("b", 1))}
    scores = nm.evaluate(clients, runs, "precision", progress=False)
    for own in (scores, nm.Scores.open(scores.save(tmp_path / "scores.json"))):
        (row,) = own.compare_models("precision", by="intra").to_dict("records")
        assert 0 < row["p"] <= 1 and row["note"] == "on these real rows"


def test_words_are_about_models_and_count_the_comparisons():
    scores = scores_of(nm.Influence())
    text = repr(scores)
    assert "FID-all, means over runs: near" in text and "(3 runs, sd " in text
    assert "FID-all: near is better than far (p ≤ 0.05): by more than their runs differ." in text
    assert "4 comparisons of models are made here" in text and "best single run by avg" in text
    assert "0.2 on average" in text  # 1/(4 + 1)
    assert scores.compare_models("fid").attrs["conventions"][1].startswith("1 comparison here (p_holm is for these), 4")
    assert "means over runs" in scores.to_markdown() and "means over runs" in scores.to_latex()
    two = scores_of(counts=(("near", 2, 0.3), ("far", 2, 1.5)))
    assert any("so few runs cannot show it, 3 of each model could" in line for line in two.summary())


def test_only_comparisons_with_a_p_value_are_counted():
    scores = scores_of(metrics=("fid",), counts=(("near", 3, 0.3), ("far", 3, 1.5), ("alone", 1, 0.4)))
    text = " ".join(scores.summary())
    assert "2 comparisons of models are made here" in text and "2 pairs not tested" in text
    assert "2 in the whole table" in scores.compare_models("fid").attrs["conventions"][1]


def test_a_model_is_best_by_the_mean_and_not_by_its_luckiest_run():
    real = [nm.Gaussian([0.0])]
    runs = {
        "steady": [nm.Gaussian([1.0 + k / 100]) for k in range(3)],
        "lucky": [nm.Gaussian([x]) for x in (0.5, 2, 3)],
    }
    scores = nm.evaluate(real, runs, "fid")
    assert list(scores.models("fid")["all_rank"]) == [1, 2]
    assert not any("lucky is better" in line for line in scores.summary())


def test_flips_say_how_many_they_are():
    lines = scores_of(nm.Influence()).flips("fid").attrs["conventions"]
    assert lines[0].startswith("30 one-sided p-values here, 60 in the whole table")


@pytest.mark.parametrize("design", [None, *DESIGNS])
def test_files_keep_models(design, tmp_path):
    scores = scores_of(DESIGNS.get(design), metrics=("fid",))
    opened = nm.Scores.open(scores.save(tmp_path / "s.json"))
    assert opened.groups == scores.groups == ("near",) * 3 + ("far",) * 3
    assert repr(opened) == repr(scores) and opened.to_json() == scores.to_json()
    for part in ("avg", "all"):
        pd.testing.assert_frame_equal(opened.compare_models("fid", part), scores.compare_models("fid", part))
    pd.testing.assert_frame_equal(opened.models("fid"), scores.models("fid"))
    assert list(opened.table["group"]) == list(scores.groups) and "group" in opened.clients
    assert [record["group"] for record in opened.to_records()] == list(scores.groups)


def test_other_weights_and_a_file_without_models(tmp_path):
    scores = scores_of(nm.Influence())
    moved = scores.with_weights([0, 1])
    assert moved.groups == scores.groups
    by_client = scores.clients[(scores.clients["metric"] == "kid") & (scores.clients["client"] == "south")]
    expected = by_client["corrected"].to_numpy().reshape(2, 3).mean(axis=1)
    np.testing.assert_allclose(moved.models("kid")["avg"], expected)
    alone = nm.evaluate([nm.Gaussian([0.0])], {"g": nm.Gaussian([1.0])}, "fid")
    assert "groups" not in alone.to_json() and "group" not in alone.table
    assert nm.Scores.open(alone.save(tmp_path / "s.json")).groups == (None,)


# What is given


def test_lists_of_sources_are_runs_and_lists_of_rows_are_rows():
    given = {
        "rows": [[0.0, 1.0], [2.0, 3.0]],
        "arrays": [np.eye(2), np.eye(2) + 1],
        "lists": [[[0.0, 1.0], [1.0, 2.0]], [[5.0, 1.0], [1.0, 2.0]]],
        "named": [nm.Generator(np.eye(2), name="seed 1"), nm.Generator(np.eye(2), name="seed 2")],
    }
    made = as_generators(given)
    assert [g.group for g in made] == [None, "arrays", "arrays", "lists", "lists", "named", "named"]
    assert [g.name for g in made][1:] == ["arrays 1", "arrays 2", "lists 1", "lists 2", "seed 1", "seed 2"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"a": [nm.Generator(np.eye(2), group="b"), np.eye(2)]}, "run 1 has group='b'"),
        ([nm.Generator(np.eye(2), group="a"), nm.Generator(np.eye(2), name="a")], "without group"),
        ({"a": [np.eye(2), np.eye(2)], "a 1": np.eye(2)}, "a 1"),
    ],
)
def test_contradictions_are_refused(given, said):
    with pytest.raises(nm.InvalidInput, match="generators") as error:
        as_generators(given)
    assert said in str(error.value)


def test_a_group_is_a_name_and_a_part_of_models_is_one_that_is_there():
    with pytest.raises(nm.InvalidInput, match="group"):
        nm.Generator(np.eye(2), group="")
    with pytest.raises(nm.InvalidInput, match="by"):
        scores_of().compare_models("fid", by="intra")
    with pytest.raises(nm.InvalidInput, match="metric"):
        scores_of().models("fld")


def test_one_source_is_asked_for_where_one_is_added():
    dashboard = nm.Dashboard([np.random.default_rng(0).normal(size=(30, 2))], {"g": np.eye(2)}, "kid")
    with pytest.raises(nm.InvalidInput, match="list of 2 sources"):
        dashboard.attach("runs", [np.eye(2), np.eye(2)])


def test_generators_without_group_are_models_of_one_run():
    rng = np.random.default_rng(0)
    runs = runs_of(rng) | {"alone": rows(0.7, rng)}
    scores = nm.evaluate([rows(0.0, rng)], runs, "kid")
    frame = scores.compare_models("kid")
    assert list(zip(frame["model"], frame["other"], strict=True)) == list(
        itertools.combinations(["near", "far", "alone"], 2)
    )
    assert list(frame["p"].isna()) == [False, True, True]
    assert frame["p_holm"][0] == frame["p"][0]
