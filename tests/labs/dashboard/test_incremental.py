"""IncrementalEvaluation: the numbers of evaluate(), in pieces, in any order, while others look."""

import re
import threading

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.labs.dashboard.incremental import NOT_YET, IncrementalEvaluation
from tests.evaluation.whole_noise import noise
from tests.slow import slow

METRICS = ("fid", "kid", "precision", nm.metrics.KID(nm.RBF(2.0), name="kid_rbf"))


def rows(seed, clients=4, d=5):
    rng = np.random.default_rng(seed)
    real = {f"c{i}": rng.normal(0.2 * i, 1, size=(30 + 5 * i, d)) for i in range(clients)}
    made = {f"g{j}": rng.normal(0.1 * j, 1 + 0.1 * j, size=(80 - j, d)) for j in range(3)}
    return real, made


def assert_same(scores, wanted):
    assert (scores.names, scores.generators, scores.metrics) == (wanted.names, wanted.generators, wanted.metrics)
    for metric in wanted.metrics:
        for found, known in zip(scores.values(metric), wanted.values(metric), strict=True):
            np.testing.assert_allclose(found, known, rtol=1e-12, atol=1e-13)


def distributions():
    real = {"c0": nm.Gaussian([0, 0]), "c1": nm.Mixture([nm.Gaussian([3, 1]), nm.TwoMoons()])}
    return real, {"g0": nm.Gaussian([1, 0]), "g1": lambda n, rng: rng.normal(size=(n, 2))}


@pytest.mark.parametrize(
    "sides", [lambda: rows(0), distributions, lambda: rows(1, clients=1)], ids=["rows", "distributions", "one"]
)
def test_pieces_in_any_order_are_what_evaluate_gives(sides):
    real, made = sides()
    wanted = nm.evaluate(real, made, METRICS[:2], samples=300, seed=3, progress=False)
    evaluation = IncrementalEvaluation(real, METRICS[:2], samples=300, seed=3)
    assert evaluation.add_all(made) == tuple(made)
    rng = np.random.default_rng(5)
    pieces = [(m, g, c) for m in evaluation.metrics for g in evaluation.generators for c in (None, *range(len(real)))]
    for metric, name, client in rng.permutation(np.array(pieces, dtype=object)).tolist():
        g, values = evaluation.generators.index(name), wanted.values(metric)
        found = (
            evaluation.compute_all(name, metric)
            if client is None
            else evaluation.compute_clients(name, metric, [client])[0]
        )
        known = values.all[g] if client is None else values.by_client[g, client]
        np.testing.assert_allclose(found, known, rtol=1e-12, atol=1e-13)
    assert_same(evaluation.scores, wanted)
    assert evaluation.scores.conventions == wanted.conventions
    assert not list(evaluation.steps())


def test_snapshots_grow_and_never_change():
    real, made = rows(2)
    evaluation = IncrementalEvaluation(real, METRICS)
    evaluation.add_all(made)
    before = evaluation.scores
    assert len(list(evaluation.steps())) == 1  # nobody ran it
    assert before.table[["avg", "all"]].isna().all().all() and not evaluation.computed_cells("fid").all.any()
    seen, words = [], []
    for step in evaluation.steps():
        known = {metric: evaluation.computed_cells(metric) for metric in evaluation.metrics}
        for metric, (clients, pooled) in known.items():
            values = evaluation.scores.values(metric)
            assert (np.isnan(values.by_client) == ~clients).all()
            assert (np.isnan(values.all) >= ~pooled).all()  # precision-all is refused: known, and NaN
        seen.append(sum(clients.sum() + pooled.sum() for clients, pooled in known.values()))
        words.append(step.words)
        step()
    assert seen == sorted(seen) and evaluation.computed_cells("precision").all.all()
    assert before.table[["avg", "all"]].isna().all().all()
    assert sum("all clients together" in line for line in words) == len(METRICS) * len(made)
    starts = [line for line in words if re.search(r", clients? 1\b", line)]
    pooled = [line for line in words if "together" in line or re.search("client", line)]
    assert all("together" in line for line in pooled if line.startswith("FID") and pooled.index(line) < len(made))
    leaders = evaluation.scores.ranks("fid").sort_values("all")["generator"][:2]
    assert [line.split(",")[0] for line in starts if line.startswith("FID")][:2] == [f"FID of {g}" for g in leaders]
    assert_same(evaluation.scores, nm.evaluate(real, made, METRICS, progress=False))


def test_a_generator_that_comes_later_leaves_the_others_alone():
    real, made = rows(3)
    evaluation = IncrementalEvaluation(real, "fid", uncertainty=nm.Influence())
    evaluation.add_all({name: made[name] for name in ("g0", "g1")})
    for step in evaluation.steps():
        step()
    noise = evaluation.noise("fid")
    assert evaluation.add(nm.Generator(made["g2"], name="g2")) == "g2"
    assert evaluation.computed_cells("fid").all.tolist() == [True, True, False]
    words = []
    for step in evaluation.steps():
        words.append(step.words)
        step()
    assert words and all("g2" in line for line in words)
    np.testing.assert_array_equal(evaluation.noise("fid").by_client[:, :2], noise.by_client)
    assert_same(evaluation.scores, nm.evaluate(real, made, "fid", progress=False))
    evaluation.remove("g0")
    assert_same(evaluation.scores, nm.evaluate(real, {k: made[k] for k in ("g1", "g2")}, "fid", progress=False))
    np.testing.assert_array_equal(evaluation.noise("fid").all[:, 0], noise.all[:, 1])


def test_other_weights_keep_the_clients_scores():
    real, made = rows(4)
    evaluation = IncrementalEvaluation(real, ("fid", "kid"))
    evaluation.add_all(made)
    for step in evaluation.steps():
        step()
    evaluation.weigh([1, 2, 0, 1])
    assert evaluation.computed_cells("kid").clients.all() and not evaluation.computed_cells("kid").all.any()
    words = [(step(), step.words)[1] for step in evaluation.steps()]
    assert all("together" in line for line in words)
    wanted = nm.evaluate(nm.Federation(real).with_weights([1, 2, 0, 1]), made, progress=False)
    assert_same(evaluation.scores, wanted)
    evaluation.weigh(dict.fromkeys(real, 1.0))
    assert evaluation.weights == (0.25,) * 4


def test_answers_to_a_condition_follow_the_weights():
    rng = np.random.default_rng(6)
    x = [rng.normal(size=(40, 2)) for _ in range(2)]
    clients = [nm.Client(part + 0.1 * rng.normal(size=part.shape), condition=part) for part in x]
    made = {"g": lambda given, rng: given + rng.normal(size=given.shape)}
    evaluation = IncrementalEvaluation(clients, ("fid", "mfid"))
    evaluation.add_all(made)
    for weights in ([1, 1], [3, 1]):
        evaluation.weigh(weights)
        for step in evaluation.steps():
            step()
        assert_same(
            evaluation.scores,
            nm.evaluate(clients, made, ("fid", "mfid"), progress=False).with_weights(weights),
        )


def test_refusals_come_before_the_work_and_leave_no_trace():
    real, made = rows(7)
    evaluation = IncrementalEvaluation(real, ("fid", "kid"))
    evaluation.add(made["g0"], name="g0")
    for bad in ({"g0": made["g1"]}, {"g1": made["g1"][:, :2]}, {"g1": made["g1"] * np.nan}, {}):
        with pytest.raises(nm.InvalidInput):
            evaluation.add_all({"new": made["g2"], **bad} if bad else bad)
        assert evaluation.generators == ("g0",)
    with pytest.raises(nm.InvalidInput):
        evaluation.compute_all("g9", "fid")
    with pytest.raises(nm.InvalidInput):
        evaluation.compute_clients("g0", "fid", [4])
    with pytest.raises(nm.InvalidInput):
        IncrementalEvaluation({"c": np.zeros((1, 2))}, "fid").summarize()
    linear, few = nm.metrics.KID(estimator="linear"), {"few": made["g0"][:5]}
    for clients, metric in ((real, linear), (few, "kid")):
        with pytest.raises(nm.InvalidInput, match="uncertainty"):
            IncrementalEvaluation(clients, metric, uncertainty=nm.Bootstrap(20)).add(made["g0"], name="g0")


def test_a_generator_that_a_metric_refuses_stops_nobody():
    real, made = rows(8)
    evaluation = IncrementalEvaluation(real, "fid")
    evaluation.add_all({"one row": made["g0"][:1], "g0": made["g0"]})
    for step in evaluation.steps():
        step()
    assert evaluation.computed_cells("fid").all.all()
    assert np.isnan(evaluation.scores.values("fid").all).tolist() == [True, False]
    assert any("has 1 row" in line for line in evaluation.scores.cautions)


@pytest.mark.filterwarnings("ignore::nbmetrics.BiasWarning")
@pytest.mark.parametrize("design", [None, nm.Influence(), nm.Jackknife(10)], ids=lambda d: type(d).__name__)
def test_parties_that_a_metric_refuses_leave_the_pieces_what_evaluate_gives(design):
    real, made = rows(10)
    real["c1"], made["g1"] = real["c1"][:3], made["g1"][:3]
    federation = nm.Federation(real).with_weights([1, 0, 1, 1])
    metrics = ("kid", "precision", "inception_score")
    wanted = nm.evaluate(federation, made, metrics, uncertainty=design, progress=False)
    evaluation = IncrementalEvaluation(federation, metrics, uncertainty=design)
    evaluation.add_all(made)
    for step in evaluation.steps():
        step()
    assert_same(evaluation.scores, wanted)
    assert evaluation.scores.conventions == wanted.conventions
    assert np.isfinite(wanted.values("precision").avg).tolist() == [True, False, True]
    for metric in metrics:
        found, known = evaluation.noise(metric), noise(wanted.result(metric))
        np.testing.assert_allclose(found.all, known.all, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.by_client, known.by_client, rtol=1e-9, atol=1e-12)
        assert (found.reasons, found.all_reasons) == (known.reasons, known.all_reasons)


@pytest.mark.filterwarnings("ignore::nbmetrics.BiasWarning")
def test_a_generator_of_few_rows_has_unknown_noise_beside_few_replicates():
    real, made = rows(10)
    made["g1"] = made["g1"][:5]
    evaluation = IncrementalEvaluation(real, "fid", uncertainty=nm.Bootstrap(20))
    evaluation.add_all(made)
    for step in evaluation.steps():
        step()
    drawn = evaluation.noise("fid")
    assert drawn.by_client.shape[0] == drawn.all.shape[0] == 20
    assert np.isnan(drawn.all).all(axis=0).tolist() == [False, True, False]


@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
@pytest.mark.filterwarnings("error")
def test_a_client_of_one_row_has_no_score_of_its_own_and_is_part_of_the_pool(weights):
    """By hand: weighted moments and the weighted mean of the kernel over pairs of different rows."""
    rng = np.random.default_rng(0)
    clients = [rng.normal(size=(n, 2)) for n in (6, 1, 9)]
    federation = nm.Federation(clients)
    federation = federation if weights is None else federation.with_weights(weights)
    made = rng.normal(1, 2, size=(12, 2))
    evaluation = IncrementalEvaluation(federation)
    evaluation.add_all({"g": made})
    assert [np.isnan(evaluation.compute_clients("g", metric)).tolist() for metric in evaluation.metrics] == [
        [False, True, False]
    ] * 2
    rows = np.concatenate(clients)
    w = np.repeat(np.array(federation.weights) / [6, 1, 9], [6, 1, 9])
    distribution = nm.Gaussian(w @ rows, np.cov(rows.T, aweights=w))
    fid = nm.fid(distribution, nm.Gaussian(made.mean(axis=0), np.cov(made.T)))

    def mean(x, y, a, b, apart):
        pairs = np.outer(a, b) * (1 - np.eye(len(a)) if apart else 1)
        return float((pairs * (x @ y.T / 2 + 1) ** 3).sum() / pairs.sum())

    even = np.full(12, 1 / 12)
    kid = mean(rows, rows, w, w, True) + mean(made, made, even, even, True) - 2 * mean(rows, made, w, even, False)
    assert [evaluation.compute_all("g", metric) for metric in evaluation.metrics] == pytest.approx([fid, kid], rel=1e-9)
    assert evaluation.scores.table["avg"].isna().all() and "has 1 row" in " ".join(evaluation.scores.cautions)


def test_slopes_are_there_beside_a_client_of_one_row():
    real, made = rows(11, clients=3)
    evaluation = IncrementalEvaluation({**real, "one row": made["g0"][:1]}, "fid")
    evaluation.add_all(made)
    slope, start, step, ends = (
        evaluation.slopes("g1", "fid", evaluation.weights)[3],
        np.array(evaluation.weights),
        1e-5,
        [],
    )
    for moved in (step, -step):
        evaluation.weigh((1 - moved) * start + moved * np.array([0, 0, 0, 1]))
        ends.append(evaluation.compute_all("g1", "fid"))
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4)
    evaluation.weigh([1, 1, 2, 0])
    alone = IncrementalEvaluation(real, "fid")
    alone.add_all(made)
    alone.weigh([1, 1, 2])
    found, wanted = (e.slopes("g1", "fid", e.weights)[:3] for e in (evaluation, alone))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.threads
def test_readers_see_whole_snapshots_while_one_thread_fills():
    real, made = rows(9)
    wanted = nm.evaluate(real, made, progress=False)
    evaluation, seen, errors = IncrementalEvaluation(real), [], []
    evaluation.add_all(made)

    def read():
        while not (seen and seen[-1]):
            try:
                scores = evaluation.scores
                for metric in scores.metrics:
                    for found, known in zip(scores.values(metric), wanted.values(metric), strict=True):
                        is_known = ~np.isnan(found)
                        np.testing.assert_allclose(found[is_known], known[is_known], rtol=1e-12, atol=1e-13)
                seen.append(not scores.table.isna().any().any())
            except Exception as error:
                errors.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for step in evaluation.steps():
        step()
    for reader in readers:
        reader.join()
    assert not errors


def test_replicates_come_in_pieces_that_can_be_stopped_between_and_are_the_same(monkeypatch):
    """Without a moment a step, each third that one of the three parties leaves out in one cut is a step of its own."""
    real, made = rows(12, clients=2)
    wanted = nm.evaluate(real, {"g0": made["g0"]}, "precision", uncertainty=nm.Influence(), progress=False)
    monkeypatch.setattr("nbmetrics.labs.dashboard.incremental.SECONDS_OF_STEP", -1.0)
    evaluation = IncrementalEvaluation(real, "precision", uncertainty=nm.Influence())
    evaluation.add_all({"g0": made["g0"]})
    words = [(step(), step.words)[1] for step in evaluation.steps()]
    assert words.count("the uncertainty of Precision of g0") == 3 * 3 * (nm.Influence().otherwise.groups // 3)
    known = noise(wanted.result("precision"))
    np.testing.assert_allclose(evaluation.noise("precision").by_client, known.by_client, rtol=1e-9, atol=1e-12)


def test_noise_comes_in_pieces_and_a_generator_that_comes_between_them_is_scored_first(monkeypatch):
    """Without a moment a step, each block of rows and each client is a step; the noise is that of the whole."""
    real, made = rows(13, clients=3)
    metrics = ("fid", nm.metrics.KID(nm.RBF(2.0)))
    wanted = nm.evaluate(real, made, metrics, uncertainty=nm.Influence(), progress=False)
    known = {metric: noise(wanted.with_weights((0.2, 0.3, 0.5)).result(metric)) for metric in wanted.metrics}
    monkeypatch.setattr("nbmetrics.labs.dashboard.incremental.SECONDS_OF_STEP", -1.0)
    monkeypatch.setattr("nbmetrics.metrics.kid.block_sums.BLOCK_ROWS", 16)
    evaluation = IncrementalEvaluation(real, metrics, uncertainty=nm.Influence())
    evaluation.add_all({name: made[name] for name in ("g0", "g1")})
    words = []
    for step in evaluation.steps():
        step()
        words.append(step.words)
        is_noise = "uncertainty" in step.words
        if is_noise and evaluation.generators == ("g0", "g1"):
            first = step.words
            evaluation.add_all({"g2": made["g2"]})
        if is_noise and words.count("the uncertainty of KID of g1") == 3 and evaluation.weights != (0.2, 0.3, 0.5):
            assert evaluation.noise("kid").all_reasons[1] == NOT_YET  # half done
            evaluation.weigh([0.2, 0.3, 0.5])
    new = [at for at, line in enumerate(words) if "g2" in line and "uncertainty" not in line]
    again = [at for at, line in enumerate(words) if line == first]
    scores = [at for at in new if "together" in words[at]]
    assert again[0] < new[0] and scores[1] < again[1]  # FID and KID of it before the noise goes on
    for metric in evaluation.metrics:
        assert sum(line == f"the uncertainty of {metric.upper()} of g1" for line in words) > 5
        found = evaluation.noise(metric)
        for part in ("by_client", "all", "generated", "centres", "all_centres"):
            expected = getattr(known[metric], part)
            np.testing.assert_allclose(
                getattr(found, part), expected, rtol=1e-11, atol=1e-12 * np.nanmax(np.abs(expected))
            )
        assert evaluation.states[metric]._influence is None


def test_what_was_begun_for_a_generators_noise_goes_with_it(monkeypatch):
    monkeypatch.setattr("nbmetrics.labs.dashboard.incremental.SECONDS_OF_STEP", -1.0)
    real, made = rows(14, clients=2)
    evaluation = IncrementalEvaluation(real, nm.metrics.KID(nm.RBF(2.0)), uncertainty=nm.Influence())
    evaluation.add_all(made)
    steps = evaluation.steps()
    while evaluation.states["kid"]._influence is None or not evaluation.states["kid"]._influence.values:
        next(steps)()
    begun = evaluation.states["kid"]._influence
    assert evaluation.noise("kid").all_reasons[begun.position] == NOT_YET
    evaluation.remove(evaluation.generators[begun.position])
    assert evaluation.states["kid"]._influence is None


@pytest.mark.parametrize("starts_unequal", slow(False, True))
def test_weights_that_a_metric_refuses_leave_the_dashboard_what_evaluate_says(starts_unequal):
    """Resampled scores of rows that cannot be weighted are refused: no interval, no error, and they come back."""
    real, made = ({name: x[:25] for name, x in side.items()} for side in rows(4))
    odd = dict(zip(real, (0.1, 0.2, 0.3, 0.4), strict=True))
    unequal = nm.Federation({name: nm.Client(x, weight=odd[name]) for name, x in real.items()})
    lab = nm.Dashboard(unequal if starts_unequal else real, made, "precision")
    if not starts_unequal:
        lab.weights = odd
    wanted = nm.evaluate(unequal, made, "precision", uncertainty=nm.Influence(), progress=False)
    pd.testing.assert_frame_equal(lab.table, wanted.table)
    assert lab.verdict[0] == "On Precision, no generator has a score by all."
    lab.weights = {name: len(x) for name, x in real.items()}
    wanted = nm.evaluate(real, made, "precision", uncertainty=nm.Influence(), progress=False)
    pd.testing.assert_frame_equal(lab.table, wanted.table)
    assert "one-sided p" in " ".join(lab.verdict)
    lab.close()
