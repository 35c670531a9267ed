"""A run of a generator with one distribution for each client: what `nm.evaluate` says of the very same rows."""

import base64
import math
from functools import partial

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.labs.monitor.alarm_rules import _reason
from nbmetrics.labs.monitor.callbacks import LightningCallback
from nbmetrics.labs.monitor.history import EXACT, STORED, UNKNOWN
from nbmetrics.labs.monitor.live_run import LiveRun, MonitorWarning
from nbmetrics.labs.monitor.run_comparison import RunComparison
from nbmetrics.labs.monitor.run_folder import decode_event, encode_event
from nbmetrics.labs.monitor.tensorboard_export import _scalars
from tests.calibration import monitor_runs
from tests.calibration.monitor_alarms import SWAP, alarms_by_client, is_heard
from tests.slow import slow
from tests.waiting import until

NAMES, WEIGHTS, OTHERS = tuple("abc"), (0.5, 0.2, 0.3), [(0.1, 0.0, 0.9), (1, 1, 1), (0, 1, 0)]
KID = nm.metrics.KID(estimator="stratified")


def federation(dim=2):
    rng = np.random.default_rng(0)
    rows = [rng.normal(i - 1, 0.5 + i / 2, (20 + 10 * i, dim)) for i in range(3)]
    return nm.Federation([nm.Client(r, name=n, weight=w) for r, n, w in zip(rows, NAMES, WEIGHTS, strict=True)])


def made(step, dim=2):
    """Rows for each client, of other numbers, which leave the clients as the steps go on."""
    rng = np.random.default_rng([1, step])
    return {name: rng.normal(i - 1 + 0.2 * step, 1.0, (30 + 5 * i, dim)) for i, name in enumerate(NAMES)}


@pytest.fixture
def monitored(opened):
    return partial(opened, LiveRun)


def logged(run, sources):
    for step, source in enumerate(sources):
        assert run.log(step, source)
    assert run.wait(60) and not run.troubles
    return run


def numbers(run, metric):
    """(S, 3) avg, all and gap, whatever the numbers of rows."""
    lines = [name for name in run.history.lines if name.split(",")[0] == metric]
    return run.table[run.table["metric"].isin(lines)][["avg", "all", "gap"]].to_numpy()


def evaluated(clients, sources, metric):
    """(S, 4) intra, avg, all and gap of `nm.evaluate`."""
    generators = {str(step): source for step, source in enumerate(sources)}
    table = nm.evaluate(clients, generators, KID if metric == "kid" else metric, progress=False).table
    return table[["intra", "avg", "all", "gap"]].to_numpy()


def shared(dim=2):
    """One sample of two clients, and one of the third."""
    rows = made(0, dim)
    return {"a": rows["a"], "b": rows["a"], "c": rows["c"]}


@pytest.mark.parametrize("dim", [2, 70])
def test_the_numbers_are_those_of_evaluate_under_any_weights_live_and_opened(monitored, tmp_path, dim):
    clients, sources = federation(dim), [made(0, dim), made(1, dim), shared(dim)]
    live = logged(monitored(clients, path=tmp_path, keep_all=True), sources)
    kinds = {"fid": EXACT if dim == 2 else UNKNOWN, "kid": EXACT}
    for metric in ("fid", "kid"):
        for run in (live, LiveRun.open(tmp_path)):
            expected = evaluated(clients, sources, metric)
            np.testing.assert_allclose(numbers(run, f"{metric}_intra")[:, 0], expected[:, 0], rtol=1e-10)
            np.testing.assert_allclose(numbers(run, metric), expected[:, 1:], rtol=1e-9, atol=1e-9)
            for weights in OTHERS:
                moved, again = run.with_weights(weights), evaluated(clients.with_weights(weights), sources, metric)
                np.testing.assert_allclose(numbers(moved, f"{metric}_intra")[:, 0], again[:, 0], rtol=1e-10)
                found = numbers(moved, metric)
                line = moved.history.lines[metric]
                assert set(line.kinds) == {kinds[metric]} and set(run.history.lines[metric].kinds) == {STORED}
                if kinds[metric] == UNKNOWN:  # never those of the old mixture
                    assert np.isnan(found).all() and np.isnan(line.clients).all()
                    assert f"{metric.upper()} is not known for these weights." in moved.words
                else:
                    np.testing.assert_allclose(found, again[:, 1:], rtol=1e-8, atol=1e-9)


def test_each_clients_scores_are_those_of_evaluate(monitored):
    clients, sources = federation(), [made(0), made(1)]
    run = logged(monitored(clients, ("fid", KID), keep_all=True), sources)
    found = run.history.scores.set_index(["step", "metric", "client"])["value"]
    for weights in (WEIGHTS, OTHERS[0]):
        scores = run.with_weights(weights).history.scores.set_index(["step", "metric", "client"])["value"]
        expected = nm.evaluate(
            clients.with_weights(weights), dict(zip("01", sources, strict=True)), ["fid", KID]
        ).clients
        for row in expected.itertuples():
            assert scores[int(row.generator), row.metric, row.client] == pytest.approx(row.value, rel=1e-8)
            own = scores[int(row.generator), f"{row.metric}_intra", row.client]
            assert (
                own == pytest.approx(row.own, rel=1e-9) == found[int(row.generator), f"{row.metric}_intra", row.client]
            )


def test_a_function_is_asked_for_its_share_of_the_rows_with_latents_of_its_own_and_the_same_at_each_step(monitored):
    calls = []

    def source(client, n, rng):
        rows = rng.normal("abc".index(client), 1, (n, 2))
        calls.append((client, n, rows[0, 0], np.random.rand()))  # noqa: NPY002
        return rows

    clients = federation()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    run = logged(monitored(clients, keep_all=True, samples=100), [nm.Generator.by_client(source)] * 2)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert [call[:2] for call in calls] == [("a", 50), ("b", 20), ("c", 30)] * 2
    assert calls[:3] == calls[3:] and len({latent for *_, latent in calls}) == 3
    assert all(point.count == 100 and point.is_paired for point in run.history.points)
    assert run.table.groupby("metric")["avg"].nunique().eq(1).all()


def test_a_source_of_several_clients_is_asked_once_for_all_of_them(monitored):
    counts = []

    def both(n, rng):
        counts.append(n)
        return rng.normal(0, 1, (n, 2))

    run = logged(
        monitored(federation(), "fid", keep_all=True, samples=100), [{"a": both, "b": both, "c": nm.Gaussian([1, 1])}]
    )
    assert counts == [70] and run.history.points[0].count == 70 and not run.history.points[0].is_paired


def test_distributions_are_exact(monitored):
    clients = {"a": nm.Gaussian([0.0]), "b": nm.Gaussian([2.0])}
    swapped = {"a": nm.Gaussian([2.0]), "b": nm.Gaussian([0.0])}
    run = logged(monitored(clients, "fid", keep_all=True), [clients, swapped])
    np.testing.assert_allclose(numbers(run, "fid_intra")[:, 0], [0.0, 4.0], atol=1e-12)
    np.testing.assert_allclose(numbers(run, "fid")[:, 1], 0.0, atol=1e-12)
    assert run.best("fid_intra") == {"avg": 0, "all": None} and run.best_set("fid_intra") == {"avg": [0], "all": []}
    assert run.words[1] == "Keep step 0, best by FID intra."


def test_a_mixed_run_has_intra_where_it_was_and_a_metric_of_rows_has_intra_alone(monitored):
    rng = np.random.default_rng(2)
    sources = [rng.normal(size=(105, 2)), made(1), rng.normal(size=(105, 2)), made(3)]
    run = monitored(federation(), ("fid", "precision"), keep_all=True)
    assert run.best("fid_intra") == {"avg": None, "all": None}
    assert "fid_intra" not in run.history.metrics
    run.alarm("fid_intra_avg", rises=0.1)
    logged(run, sources)
    steps = run.table.groupby("metric")["step"].apply(list).to_dict()
    assert steps == {"fid": [0, 1, 2, 3], "fid_intra": [1, 3], "precision": [0, 2], "precision_intra": [1, 3]}
    told = run.alarms
    assert told["words"].str.contains("fid_intra_avg rose").any()
    assert not told.query("step == 1")["words"].str.contains("Precision").any()
    assert run.table.query("metric == 'fid_intra'")[["all", "gap"]].isna().all().all()
    assert not any("nan" in word.lower() for word in run.words)
    assert run.plot()._repr_png_()
    with pytest.raises(nm.InvalidInput, match="column"):
        run.alarm("fid_intra_all", rises=0.1)


def test_a_step_that_cannot_be_scored_has_no_value_on_both_lines(monitored):
    run = monitored(federation(), "fid", keep_all=True)
    run.log(0, made(0))
    run.log(1, made(1) | {"b": np.full((35, 2), np.nan)})
    assert run.wait(60)
    assert np.isnan(numbers(run, "fid")[1, 0]) and np.isnan(numbers(run, "fid_intra")[1, 0])
    assert "client 'b'" in run.history.points[1].why[0]
    assert run.alarms["step"].tolist() == [1]


def test_the_best_by_intra_is_kept_and_other_steps_let_go(monitored):
    saved, gone = [], []
    run = monitored(federation(), "fid", keep_all=True)
    run.on_best(("fid", "intra"), saved.append, gone.append)
    logged(run, [made(2), made(0), made(3), np.random.default_rng(0).normal(size=(105, 2))])
    assert saved == [0, 1, 2, 3] and gone == [0, 2, 3] and run.best("fid_intra")["avg"] == 1
    with pytest.raises(nm.InvalidInput, match="aggregate"):
        run.on_best(("fid", "own"), saved.append)
    with pytest.raises(nm.InvalidInput, match="metric"):
        run.on_best(("fid_intra", "avg"), saved.append)


def test_trackers_and_tensorboard_get_intra_and_nothing_that_is_not_there(monitored):
    seen = []
    run = monitored(federation(), "fid", keep_all=True)
    run.to(lambda values, step: seen.append(sorted(values)))
    logged(run, [made(0)])
    assert seen == [["fid/all", "fid/avg", "fid/gap", "fid_intra/avg"]]
    tags = {tag for tag, *_ in _scalars(run.history)}
    assert tags == {f"fid/{part}" for part in ("avg", "all", "gap")} | {"fid_intra/avg"} | {
        f"{metric} of clients/{name}" for metric in ("fid", "fid_intra") for name in NAMES
    }


def test_a_line_has_its_name_wherever_its_steps_are_read_a_few_at_a_time(monitored):
    """The first number of rows that intra was scored with names its lines, and a plain step was before it."""
    seen, rng = [], np.random.default_rng(0)
    run = monitored(federation(), ("fid", "precision"), keep_all=True)
    run.to(lambda values, step: seen.append({name.split("/")[0] for name in values}))
    for step, source in enumerate([rng.normal(size=(80, 2)), made(0), shared(), made(1), rng.normal(size=(50, 2))]):
        run.log(step, source)
        assert run.wait(60)
    finite = run.table.dropna(subset="avg").groupby("step")["metric"].apply(set)
    assert seen == [{name.replace(", ", " ") for name in names} for names in finite]


@pytest.mark.threads
def test_the_page_gets_what_python_says_as_the_run_goes_on_and_under_other_weights(opened):
    lab = opened(nm.Monitor, federation(), ("fid", "kid"), keep_all=True)
    run, rng = lab._live_run, np.random.default_rng(0)
    assert [facts["name"] for facts in lab.run["metrics"]] == ["fid", "kid"]
    for step, source in enumerate([rng.normal(size=(105, 2)), made(0), made(1)]):
        lab.log(step, source)
        assert lab.wait(60)
    assert [facts["of"] for facts in lab.run["metrics"]] == ["", "", "fid", "kid"]
    assert 'nm.Monitor(federation, ["fid", "kid"])' in lab.run["code"]
    sent = {**lab.past["lines"], **lab.recent.get("lines", {})}
    assert {name for name, line in sent.items() if line.get("moves")} == {"fid", "kid"}
    lab.scene = {**lab.scene, "weights": [0.25, 0.0, 0.75], "metric": "fid_intra"}
    until(lambda: lab.result["weights"] == [0.25, 0.0, 0.75] and "words" in lab.result["lines"]["fid"])
    moved = run.with_weights([0.25, 0.0, 0.75]).history
    for name, line in moved.lines.items():
        told = lab.result["lines"][name]
        assert ("avg" in told) == line.moves == (not line.facts.of)
        if line.moves:
            np.testing.assert_allclose(np.frombuffer(base64.b64decode(told["avg"])), line.avg, rtol=1e-12)
            clients = np.frombuffer(base64.b64decode(told["clients"]), "<f4").reshape(-1, 3)
            np.testing.assert_allclose(clients, line.clients, rtol=1e-6)


def test_two_runs_are_compared_by_intra(monitored):
    lab, other = (logged(monitored(federation(), "fid", keep_all=True), [made(2), made(k)]) for k in (0, 3))
    comparison = RunComparison.of(other, lab, "")
    said = comparison.sentences(lab.history)["fid_intra"]
    start = "Best of both runs by FID intra: step 1 of this run, not 0 of the other"
    assert said == f"{start} (more than chance)."
    plain = logged(monitored(federation(), "fid", keep_all=True), [np.random.default_rng(0).normal(size=(105, 2))])
    assert RunComparison.of(plain, lab, "").sentences(lab.history)["fid_intra"] == "The other run has no FID intra."


def test_a_callback_takes_a_dict_and_refuses_one_that_misses_clients(monitored):
    run = monitored(federation(), "fid", keep_all=True)
    rows = made(0)
    LightningCallback(run, rows, 1)
    with pytest.raises(nm.InvalidInput, match="no source for client 'c'"):
        LightningCallback(run, {"a": rows["a"], "b": rows["b"]}, 1)


def test_frames_of_other_columns_are_told_and_not_scored(monitored):
    rng = np.random.default_rng(0)
    frame = lambda: pd.DataFrame(rng.normal([0, 5], 1, (40, 2)), columns=["x", "y"])  # noqa: E731
    run, made_of = monitored({"a": frame(), "b": frame()}, "fid", keep_all=True), frame()
    turned = made_of[["y", "x"]]
    assert run.log(0, made_of)
    for step, source in enumerate([turned, {"a": made_of, "b": turned}, lambda n, rng: turned[:n]], 1):
        with pytest.warns(MonitorWarning, match="column 1 of 'source' is 'y'"):
            assert not run.log(step, source)
    assert run.wait(60)
    assert run.table["step"].unique().tolist() == [0] and np.isfinite(run.history.points[0].clients).all()
    assert sum("column 1" in trouble for trouble in run.troubles) == 3


@pytest.mark.parametrize("seed", [0, *slow(6)])
def test_that_each_client_is_given_what_another_should_have_is_heard_by_intra_alone(seed):
    """A run that is well by avg and all to its end; digits with seed 0, rings with seed 6."""
    history, alarms = alarms_by_client(monitor_runs.healthy(seed), is_swapped=True)
    assert alarms["step"].min() in (SWAP, SWAP + 1, SWAP + 2)
    assert alarms["words"].str.contains("intra").all() and is_heard(history, alarms, SWAP)
    for metric in ("fid", "kid"):
        line, own = history.lines[metric], history.lines[f"{metric}_intra"]
        before, after = (slice(SWAP - 10, SWAP), slice(SWAP, None))
        assert max(line.avg[after]) < 1.1 * max(line.avg[before])
        assert min(own.avg[after]) > 5 * max(own.avg[before])


def test_the_variance_is_that_of_the_mixture_under_the_weights(monitored):
    run = logged(monitored(federation(), "fid", keep_all=True), [made(0)])
    for weights in (WEIGHTS, OTHERS[0]):
        rows, shares = made(0), dict(zip(NAMES, weights, strict=True))
        mean = sum(share * rows[name].mean(axis=0) for name, share in shares.items())
        parts = [
            w * (rows[n].var(axis=0, ddof=1) + (rows[n].mean(axis=0) - mean) ** 2).sum() for n, w in shares.items()
        ]
        history = run.with_weights(weights).history
        assert history.variance(history.points[0]) == pytest.approx(math.fsum(parts))


def test_damaged_own_scores_are_left_out_and_said(monitored, tmp_path):
    logged(monitored(federation(), "fid", path=tmp_path, keep_all=True), [made(0), made(1)]).close()
    log = next(tmp_path.glob("*.jsonl"))
    lines = [decode_event(line) for line in log.read_bytes().splitlines()]
    steps = [line for line in lines if line.get("event") == "step"]
    steps[0]["frames"]["own"] = steps[0]["frames"]["own moments"]
    log.write_bytes(b"".join(map(encode_event, lines)))
    run = LiveRun.open(tmp_path)
    assert run.table["step"].unique().tolist() == [1] and "shape" in " ".join(run.troubles)


def test_the_reason_of_one_metric_is_not_told_of_another(monitored):
    """A client's sample of one row has no covariance, of which KID needs none."""
    rng = np.random.default_rng(0)
    run = monitored({name: rng.normal(size=(40, 2)) for name in "ab"}, ("fid", "kid"))
    run.log(0, {"a": rng.normal(size=(40, 2)), "b": rng.normal(size=(1, 2))})
    assert run.wait(60)
    for words in run.alarms["words"]:
        assert not words.startswith("KID") or "fid" not in words, words
    reasons = run.history.points[0].why
    assert any(", fid, " in why for why in reasons)
    facts = run.history.points[0].segment.metrics
    assert [", fid, " in _reason(run.history.points[0], metric) for metric in facts] == [True, False]
