"""A recording says what `nm.evaluate` says, step by step, whatever happens to the loop, the rows and the disk."""

import math
import random
import resource
import threading
from functools import partial

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import InvalidInput
from nbmetrics.labs.monitor import alarms as rules
from nbmetrics.labs.monitor import run_folder
from nbmetrics.labs.monitor.alarm_rules import DEFAULT_RULES
from nbmetrics.labs.monitor.best_checkpoints import best_set
from nbmetrics.labs.monitor.live_run import LiveRun, MonitorWarning
from nbmetrics.labs.monitor.scoring_thread import MAX_UNSAFE_STEPS

WEIGHTS = (0.7, 0.0, 0.3)


def clients(dim=2, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(i - 1, 0.5 + i / 2, (20 + 10 * i, dim)) for i, name in enumerate("abc")}


def rows_of(step, dim=2, n=40):
    return np.random.default_rng([1, step]).normal(0.1 * step, 1.0, (n, dim))


@pytest.fixture
def monitored(opened):
    return partial(opened, LiveRun)


def logged(monitor, steps, **settings):
    for step in steps:
        monitor.log(step, rows_of(step, **settings))
    assert monitor.wait(60)
    return monitor


def evaluated(federation, steps, **settings):
    metrics = ["fid", nm.metrics.KID(estimator="stratified")]
    scores = nm.evaluate(federation, {str(step): rows_of(step, **settings) for step in steps}, metrics, progress=False)
    table = scores.table.assign(step=scores.table["generator"].astype(int))
    return table.sort_values(["step", "metric"])[["avg", "all", "gap"]].to_numpy()


def numbers(table):
    return table.sort_values(["step", "metric"])[["avg", "all", "gap"]].to_numpy()


@pytest.mark.parametrize("dim", [2, 70])
def test_the_table_is_that_of_evaluate_under_any_weights_live_and_opened(monitored, tmp_path, dim):
    federation, steps = nm.Federation(clients(dim)), range(4)
    monitor = logged(monitored(federation, path=tmp_path, keep_all=True), steps, dim=dim)
    assert list(monitor.table.columns) == ["step", "metric", "avg", "all", "gap"]
    expected = evaluated(federation, steps, dim=dim)
    np.testing.assert_allclose(numbers(monitor.table), expected, rtol=1e-10)
    other = evaluated(federation.with_weights(WEIGHTS), steps, dim=dim)
    for seen in (monitor, LiveRun.open(tmp_path)):
        np.testing.assert_allclose(numbers(seen.table), expected, rtol=1e-10)
        history = seen.with_weights(dict(zip("abc", WEIGHTS, strict=True))).history
        found = numbers(history.table)
        kinds = {line.name: set(line.kinds) for line in history.lines.values()}
        # avg and KID are exact; FID-all too where moments are kept, and else its tangent
        assert kinds == {"fid": {"exact" if dim == 2 else "first order"}, "kid": {"exact"}}
        is_exact = slice(None) if dim == 2 else slice(1, None, 2)
        np.testing.assert_allclose(found[is_exact], other[is_exact], rtol=1e-8)
        np.testing.assert_allclose(found[:, 0], other[:, 0], rtol=1e-10)
        assert set(monitor.history.lines["kid"].kinds) == {"as logged"}


def test_a_small_change_of_weights_moves_the_tangent_of_fid_all_as_fid_all_itself(monitored):
    federation = nm.Federation(clients(70))
    monitor = logged(monitored(federation, "fid", keep_all=True), [0], dim=70)
    start = np.array(federation.weights)
    moved = start + 1e-4 * (np.array(WEIGHTS) - start)
    scores = nm.evaluate(federation.with_weights(moved), {"g": rows_of(0, 70)}, "fid", progress=False)
    change = scores.table["all"][0] - monitor.table["all"][0]
    assert monitor.with_weights(moved).table["all"][0] - monitor.table["all"][0] == pytest.approx(change, rel=1e-3)


def test_functions_see_the_same_latents_and_leave_every_random_stream_alone(monitored):
    seen = []

    def source(n, rng):
        seen.append((rng.random(), random.random(), np.random.rand()))  # noqa: NPY002
        return rng.normal(size=(n, 2))

    monitor = monitored(clients(), "kid", keep_all=True, samples=25)
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    for step in range(3):
        assert monitor.log(step, source)
    after = random.getstate(), np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0] and all(np.array_equal(a, b) for a, b in zip(before[1], after[1], strict=True))
    assert len(set(seen)) == 1
    assert monitor.wait(60) and monitor.table["all"].nunique() == 1
    assert all(point.count == 25 for point in monitor.history.points)


def test_rows_are_copied_before_the_loop_goes_on(monitored):
    monitor, rows = monitored(clients(), "fid", keep_all=True), rows_of(0)
    expected = evaluated(nm.Federation(clients()), [0])[0]
    for step in range(5):
        monitor.log(step, rows)
    rows[:] = 1e6
    assert monitor.wait(60)
    assert numbers(monitor.table) == pytest.approx(np.tile(expected, (5, 1)))


@pytest.mark.threads
def test_steps_come_in_any_order_twice_and_from_several_threads(monitored):
    monitor = logged(monitored(clients(), "fid", keep_all=True), [4, 0, 2])
    monitor.log(2, rows_of(7), loss=1.0)
    monitor.log(2, loss=2.0)
    threads = [threading.Thread(target=monitor.log, args=(step, rows_of(step))) for step in (1, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert monitor.wait(60)
    assert monitor.table["step"].tolist() == list(range(6))
    expected = evaluated(nm.Federation(clients()), [0, 1, 7, 3, 4, 5])
    by_step = dict(zip([0, 1, 3, 4, 5, 7], expected[::2], strict=True))  # FID of each
    for row in monitor.table.itertuples():
        assert row.all == pytest.approx(by_step[7 if row.step == 2 else row.step][1])
    assert monitor.losses.to_dict("list") == {"step": [2], "loss": [2.0]}


def test_a_run_that_goes_on_is_a_new_segment_that_shadows_later_steps(monitored, tmp_path):
    first = logged(monitored(clients(), "fid", path=tmp_path, keep_all=True), range(6))
    second = monitored(clients(), "fid", path=tmp_path, keep_all=True)  # as a cell that is run again
    with pytest.warns(MonitorWarning, match="closed"):
        assert first.log(9, rows_of(9)) is False
    second.log(3, rows_of(30))
    logged(second, [8])
    for monitor in (second, LiveRun.open(tmp_path)):
        assert monitor.table["step"].tolist() == [0, 1, 2, 3, 8]
        assert monitor.table["all"][3] == pytest.approx(nm.fid(np.concatenate(list(clients().values())), rows_of(30)))
    with pytest.raises(InvalidInput, match="other clients"):
        LiveRun({"x": rows_of(0), "y": rows_of(1)}, path=tmp_path)
    with pytest.raises(InvalidInput, match="opened for reading only"):
        LiveRun.open(tmp_path).log(0, rows_of(0))


def test_a_segment_under_other_weights_takes_the_steps_before_it_along(monitored, tmp_path):
    federation = nm.Federation(clients())
    logged(monitored(federation, path=tmp_path, keep_all=True), [0, 1]).close()
    other = federation.with_weights(WEIGHTS)
    monitor = logged(monitored(other, path=tmp_path, keep_all=True), [2])
    np.testing.assert_allclose(numbers(monitor.table), evaluated(other, range(3)), rtol=1e-8)
    assert len(monitor.alarms) == 0  # the KID gap is another one under other weights, and the same at every step


def test_other_numbers_of_rows_have_a_line_of_their_own_where_the_metric_is_biased(monitored):
    monitor = logged(monitored(clients(), keep_all=True), [0, 1])
    logged(monitor, [2], n=400)
    monitor.log(3, nm.Gaussian([0.0, 0.0]))
    assert monitor.wait(60)
    lines = {name: line.steps.tolist() for name, line in monitor.history.lines.items()}
    assert lines == {"fid": [0, 1], "fid, 400 rows": [2], "fid, exact": [3], "kid": [0, 1, 2, 3]}
    assert set(monitor.best("fid").values()) <= {0, 1}
    assert monitor.best("fid, exact") == {"avg": 3, "all": 3}
    exact = nm.evaluate(clients(), {"g": nm.Gaussian([0.0, 0.0])}, "fid").table
    assert monitor.history.lines["fid, exact"].all[0] == pytest.approx(exact["all"][0])


def test_what_goes_wrong_is_told_and_the_loop_goes_on(monitored):
    monitor = monitored(clients(), keep_all=True, samples=30)
    monitor.log(0, rows_of(0), loss=math.inf)
    monitor.log(1, np.full((30, 2), np.nan))
    with pytest.warns(MonitorWarning, match="ZeroDivisionError"):
        assert monitor.log(2, lambda n, rng: 1 / 0, loss=3.0) is False
    with pytest.warns(MonitorWarning, match=r"shape \(30, 5\). Give rows \(n, 2\)"):
        monitor.log(3, lambda n, rng: np.zeros((n, 5)))
    assert "shape (30, 5)" in monitor.troubles[-1]  # at once
    monitor.log(4, rows_of(4)[:1])
    monitor.log(5, rows_of(5))
    assert monitor.wait(60)
    table = monitor.table[monitor.table["metric"] == "kid"].set_index("step")["all"]
    assert table.index[~np.isnan(table)].tolist() == [0, 5] and table.index.tolist() == [0, 1, 3, 4, 5]
    whys = {point.step: " ".join(point.why) for point in monitor.history.points}
    assert "NaN" in whys[1] and "5 features" in whys[3] and "1 row" in whys[4]
    told = monitor.alarms
    assert told["step"][told["alarm"] == "not finite"].tolist() == [0, 3]
    assert monitor.losses["loss"].tolist()[0] == math.inf and len(monitor.troubles) == 2
    assert "ZeroDivisionError" in monitor.troubles[0] and monitor.plot()._repr_png_()


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("step", (-1, None)),
        ("step", (0.5, None)),
        ("step", ("one", None)),
        ("source", (0, np.zeros((5, 3)))),
        ("source", (0, np.zeros(5))),
        ("source", (0, 3)),
        ("source", (0, "folder")),
        ("source", (0, lambda: 0)),
        ("source: has no source for clients 'b', 'c'", (0, nm.Generator.by_client({"a": np.zeros((5, 2))}))),
        ("source: has a source for unknown client 'd'", (0, dict.fromkeys("abcd", np.zeros((5, 2))))),
        ("source, client 'b': has shape", (0, dict.fromkeys("abc", np.zeros((5, 2))) | {"b": np.zeros((5, 3))})),
        ("source, client 'c': got", (0, dict.fromkeys("ab", np.zeros((5, 2))) | {"c": {}})),
        ("losses", (0, None)),
    ],
)
def test_what_cannot_be_a_step_or_a_generator_is_refused_at_once(monitored, argument, given):
    with pytest.raises(InvalidInput, match=argument):
        monitored(clients()).log(*given, **{"\x00": 1.0} if argument == "losses" else {})


def test_a_monitor_takes_a_twentieth_of_the_time_and_says_what_it_took(monitored):
    monitor = monitored(clients(), samples=200)
    first = monitor.log(0, lambda n, rng: rng.normal(size=(n, 2)), loss=0.0)
    assert first and monitor.wait(60)
    taken = [monitor.log(step, lambda n, rng: rng.normal(size=(n, 2)), loss=float(step)) for step in range(1, 50)]
    assert monitor.wait(60)
    cost = monitor.cost
    assert not all(taken) and cost.skipped == 49 - sum(taken) and cost.scoring > 0 and cost.loop > 0
    assert len(monitor.losses) == 50  # of every step
    assert cost.share == pytest.approx((cost.loop + cost.scoring + cost.telling) / cost.elapsed)
    monitor.budget.draw, monitor.budget.score = 1.0, 1e6  # seconds that the last step took
    assert monitor.cost.every == 20 * (1e6 + 1.0) and not monitor.log(99, rows_of(0))
    assert monitor.keep(100, rows_of(0)) and monitor.wait(60)  # the last one is scored all the same
    assert monitor.table["step"].max() == 100


@pytest.mark.threads
def test_the_newest_waits_and_older_ones_give_way_unless_all_are_kept(monitored):
    for keep_all, expected in ((False, [0, 5]), (True, [0, 1, 2, 3, 4, 5])):
        monitor, go, busy = monitored(clients(), "fid", keep_all=keep_all), threading.Event(), threading.Event()
        scoring = monitor._scoring_thread._scoring
        score = scoring.score

        def slow(*given, score=score, go=go, busy=busy, **more):
            busy.set()
            assert go.wait(60)
            return score(*given, **more)

        scoring.score = slow
        monitor._is_due = lambda now: True
        monitor.log(0, rows_of(0))
        assert busy.wait(60)
        for step in range(1, 6):
            monitor.log(step, rows_of(step), loss=1.0)
        assert not monitor.wait(0.0)
        go.set()
        assert monitor.wait(60)
        assert monitor.table["step"].tolist() == expected and len(monitor.losses) == 5
        assert monitor.cost.dropped == 6 - len(expected)


def test_a_batch_of_losses_is_kept_before_the_worker_writes_them_while_it_scores(monitored, tmp_path):
    monitor, go, busy = monitored(clients(), "fid", path=tmp_path), threading.Event(), threading.Event()
    score = monitor._scoring_thread._scoring.score

    def slow(*given, **more):
        busy.set()
        assert go.wait(60)
        return score(*given, **more)

    monitor._scoring_thread._scoring.score = slow
    monitor.log(0, rows_of(0), loss=0.5)
    assert busy.wait(60)
    steps = list(range(MAX_UNSAFE_STEPS + 1))
    for step in steps[1:]:
        monitor.log(step, loss=float(step), other=math.nan)
    killed = LiveRun.open(tmp_path)  # what a process that is killed now leaves
    assert killed.losses["step"].tolist() == steps and killed.losses["loss"].tolist() == [0.5, *map(float, steps[1:])]
    go.set()
    assert monitor.wait(60)
    monitor.close()
    opened_again = LiveRun.open(tmp_path)
    assert opened_again.losses["step"].tolist() == steps and opened_again.table["step"].tolist() == [0]
    assert len(opened_again.history.logged) == len(steps) and not opened_again.troubles


def test_a_full_disk_is_told_and_nothing_is_lost(monitored, tmp_path):
    monitor = logged(monitored(clients(), "fid", path=tmp_path, keep_all=True), range(2))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / run_folder.ROWS).stat().st_size + 100, limits[1]))
        logged(monitor, range(2, 4))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert monitor.table["step"].tolist() == [0, 1, 2, 3] and "cannot be written" in monitor.troubles[0]
    assert LiveRun.open(tmp_path).table["step"].tolist() == [0, 1]
    assert monitor.best_set("fid") == logged(monitor, []).best_set("fid")
    logged(monitor, [4])
    assert LiveRun.open(tmp_path).table["all"].tolist() == monitor.table["all"].tolist()


def test_a_reader_holds_so_much_and_no_more(monitored, tmp_path, monkeypatch):
    logged(monitored(clients(), path=tmp_path, keep_all=True), range(5))
    monkeypatch.setattr("nbmetrics.labs.monitor.history.MAX_SCORE_BYTES", 300)
    run = LiveRun.open(tmp_path)
    assert 0 < len(run.history.points) < 5 and "more than a reader can hold" in " ".join(run.troubles)


def test_images_go_through_the_clients_extractor(monitored):
    rng = np.random.default_rng(0)
    pictures = {name: rng.integers(0, 256, (12, 8, 8), dtype=np.uint8) // (1 + i) for i, name in enumerate("ab")}
    federation = nm.Federation(pictures, extractor="pixels")
    monitor = monitored(federation, "kid", keep_all=True, samples=70)
    made = rng.integers(0, 256, (70, 8, 8), dtype=np.uint8)
    asked = []

    def source(n, rng):
        asked.append(n)
        return made[sum(asked) - n : sum(asked)]

    for step, given in enumerate((made, source)):
        monitor.log(step, given)
    assert monitor.wait(60) and asked == [64, 6]
    kid = nm.metrics.KID(estimator="stratified")
    expected = nm.evaluate(federation, {"g": made}, kid, progress=False).table["all"][0]
    assert monitor.table["all"].tolist() == pytest.approx([expected, expected])


@pytest.mark.parametrize("name", ["gap 1", "moments", "centres", "noise fid"])
def test_arrays_of_other_shapes_are_no_reason_to_fail(monitored, name):
    monitor = logged(monitored(clients(), keep_all=True), range(3))
    history = monitor.history
    for odd in (np.zeros(0), np.zeros((2, 2)), np.full((3, 6), np.nan), np.zeros((3, 6)), np.array(1.0)):
        holder = history.logged[0] if name == "noise fid" else history.segments[-1]
        holder.frames[name] = odd
        again = history.with_weights(WEIGHTS)
        assert len(again.table) == 6 and rules.find_alarms(again, DEFAULT_RULES) is not None
        assert set(again.lines["fid"].kinds) <= {"exact", "unknown"}
        best_set(again, again.lines["kid"], "avg")


def test_an_opened_run_remembers_its_cost_and_what_was_skipped(opened, tmp_path):
    run = opened(LiveRun, clients(), path=tmp_path)
    for step in range(2_000):
        run.log(step, lambda n, rng: rng.normal(size=(n, 2)), loss=1.0)
    assert run.wait(60)
    cost = run.cost
    run.close()
    again = LiveRun.open(tmp_path).cost
    assert again.skipped == cost.skipped > 1_000 and again.dropped == cost.dropped
    assert 0 < again.loop <= cost.loop and again.elapsed == pytest.approx(cost.elapsed, rel=0.2)


def test_a_run_does_not_go_on_with_other_settings_under_one_name(tmp_path):
    rng = np.random.default_rng(0)
    federation, made = {"a": rng.normal(size=(30, 2)), "b": rng.normal(1, 1, (30, 2))}, rng.normal(size=(20, 2))

    def scores(step, metrics):
        monitor = nm.Monitor(federation, metrics, path=tmp_path / "run")
        monitor.log(step, made)
        monitor.wait()
        monitor.close()
        return monitor.table.set_index(["step", "metric"])["all"]

    before = scores(0, ["kid"])
    with pytest.raises(nm.InvalidInput, match=r"contains 'kid' by 'KID: .* not 'KID: .*RBF"):
        scores(1, [nm.metrics.KID(nm.RBF(2.0))])
    table = scores(1, ["fid", "kid", nm.metrics.KID(nm.RBF(2.0), name="kid_rbf")])
    assert table[0, "kid"] == before[0, "kid"] == table[1, "kid"] != table[1, "kid_rbf"]
