"""Alarms sound where a run goes wrong, at that step, and seldom where it does not."""

import math
from functools import partial

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import InvalidInput
from nbmetrics.labs.monitor import alarm_rules, alarms
from nbmetrics.labs.monitor.history import RunHistory
from nbmetrics.labs.monitor.live_run import LiveRun
from nbmetrics.labs.monitor.log_events import Point, Segment
from tests.slow import slow

FID = {"name": "fid", "label": "FID", "higher_is_better": False, "best": None, "kind": "fid", "mixes": False}
KID = {**FID, "name": "kid", "label": "KID", "kind": "kid", "mixes": True}
SEEDS, STEPS, SWITCH = 20, 100, 20
# By default rules together, of all logged steps of a healthy run.
OFTEN = 1 / 500


@pytest.fixture
def monitored(opened):
    return partial(opened, LiveRun, keep_all=True)


def history(avg, of_all, *, metric=FID, variance=None, losses=None, terms=None):
    """A run of two clients that score alike."""
    segment = Segment.of(["a", "b"], [0.5, 0.5], [metric], 0, {"centres": np.array([[1.0, 0.0], [1.0, 0.0]])})
    count = len(avg)
    given = zip(range(count), avg, of_all, variance or [1.0] * count, losses or [{}] * count, strict=True)
    points = [
        Point(segment, t, 0.0, loss, 100, np.array([[a, a]]), np.array([b]), (terms or {"real": 1.0},), v)
        for t, a, b, v, loss in given
    ]
    return RunHistory([segment], points, None)


def sounded(run, rules=alarm_rules.DEFAULT_RULES):
    return [(alarm.step, alarm.alarm) for alarm in alarms.find_alarms(run, rules)]


def ring(rng, clients=10, rows=100):
    angles = 2 * np.pi * np.arange(clients) / clients
    return {f"c{i}": np.c_[np.cos(t), np.sin(t)] + 0.1 * rng.normal(size=(rows, 2)) for i, t in enumerate(angles)}


@pytest.mark.parametrize("pace", [*slow(0.0, 0.6), 0.9], ids=lambda pace: f"to {pace} a step")
def test_a_collapse_that_the_average_sleeps_through_is_caught_by_all_by_the_gap_and_by_the_variance(monitored, pace):
    """Ten clients on a ring: r is .14, and the point nearest the pooled mean has q < 1 − 2r, so FID-avg falls."""
    rng = np.random.default_rng(0)
    clients = ring(rng)
    pooled = np.concatenate(list(clients.values()))
    mean, root = pooled.mean(axis=0), np.linalg.cholesky(np.cov(pooled.T))
    nearest = pooled[np.argmin(((pooled - mean) ** 2).sum(axis=1))]
    monitor, latents = monitored(clients), rng.normal(size=(200, 2))
    for step in range(2 * SWITCH):
        share = pace ** max(0, step - SWITCH + 1)
        centre, wiggle = mean + 0.02 * rng.normal(size=2), 1.0 + 0.02 * rng.normal(size=(2, 2))
        monitor.log(step, nearest + share * (centre - nearest) + share * latents @ (root * wiggle).T)
    assert monitor.wait(60)
    table = monitor.table[monitor.table["metric"] == "fid"].set_index("step")
    assert table["avg"].iloc[-1] < table["avg"][SWITCH - 1] and table["all"].iloc[-1] > 100 * table["all"][SWITCH - 1]
    delay = {0.0: 1, 0.6: 3, 0.9: 9}[pace]  # the rules wait for two steps; a slow collapse takes its time
    for rule in (alarm_rules.SilentAverage(), alarm_rules.GapCloses(), alarm_rules.CollapseAlarm()):
        assert SWITCH < next(rule.find_alarms(monitor.history)).step <= SWITCH + delay, rule.name
    first = monitor.alarms.iloc[0]
    assert SWITCH < first["step"] <= SWITCH + delay and first["alarm"] in (
        "collapse",
        "avg silent",
        "gap closes",
        "far from best",
    )
    if pace == 0.0:
        assert len(monitor.alarms) == 1 and first["alarm"] == "collapse", "one event is one alarm"
    assert monitor.best("fid")["avg"] >= SWITCH > monitor.best("fid")["all"]
    told = alarm_rules.SilentAverage().find_alarms(monitor.history)
    assert all(alarm.words.startswith("FID-all") for alarm in told)  # KID-avg speaks up


@pytest.mark.parametrize(("share", "is_silent"), [(0.0, True), (0.05, True), (0.2, False), (1.0, False)])
def test_an_average_that_rises_with_all_is_not_silent(share, is_silent):
    calm = 1.0 + 0.001 * np.random.default_rng(0).normal(size=20)
    rise = np.r_[np.zeros(10), np.full(10, 3.0)]
    found = sounded(history(5.0 + calm + share * rise, calm + rise))
    assert ("avg silent" in [alarm for _, alarm in found]) == is_silent


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_a_healthy_run_sounds_no_alarm_in_most_of_500_steps(memory):
    """Noise that remembers: of all, which is near 0, skewed as scores are."""
    found = 0
    for seed in range(SEEDS):
        noise = np.random.default_rng(seed).normal(size=(STEPS, 3))
        for t in range(1, STEPS):
            noise[t] = memory * noise[t - 1] + math.sqrt(1 - memory**2) * noise[t]
        falls = 1.0 + np.exp(-np.arange(STEPS) / 10.0)  # as in training
        avg, of_all = falls * (1.7 + 0.03 * noise[:, 0]), falls * 0.02 * np.exp(0.5 * noise[:, 1])
        run = history(avg, of_all, variance=list(falls * (1 + 0.05 * noise[:, 2])))
        # what remembers its noise for ten steps is truly far from its best at times
        rules = [rule for rule in alarm_rules.DEFAULT_RULES if memory < 0.9 or rule.name != "far from best"]
        found += len(sounded(run, rules))
    assert found <= OFTEN * SEEDS * STEPS


def test_values_that_are_not_finite_sound_once_each_time():
    avg = [1.0, math.nan, math.nan, 1.0, math.inf, 1.0]
    run = history(avg, [1.0] * 6, losses=[{}, {}, {}, {}, {}, {"d": -math.inf}])
    assert sounded(run) == [(1, "not finite"), (4, "not finite")]
    (found,) = alarms.find_alarms(history([1.0], [1.0], losses=[{"d": -math.inf}]), alarm_rules.DEFAULT_RULES)
    assert found.words == "The loss 'd' is -inf."


def test_a_variance_that_was_too_large_at_first_is_no_collapse():
    scores = [1.0 + 0.01 * (step % 2) for step in range(9)]
    assert sounded(history(scores, scores, variance=[9.0, 3.0] + [1.0] * 7)) == []
    assert sounded(history(scores, scores, variance=[9.0, 3.0, 1.0, 0.4, 0.4] + [0.3] * 4)) == [(4, "collapse")]


def test_the_kid_gap_moves_by_more_than_rounding_only_where_the_instrument_is_broken(monitored):
    rng = np.random.default_rng(0)
    clients = {"a": rng.normal(size=(50, 3)), "b": rng.normal(1, 1, (60, 3))}
    monitor = monitored(clients, "kid")
    for step in range(5):
        monitor.log(step, rng.normal(step, 1 + step, (40 + step, 3)))
    assert monitor.wait(60) and len(monitor.alarms) == 0
    assert np.ptp(monitor.table["gap"]) <= 1e-12 * np.abs(monitor.table["all"]).max()
    gaps = [1.0, 1.0 + 5e-11, 1.0 + 2e-10, 1.0]
    run = history(np.array(gaps) + 3.0, [3.0] * 4, metric=KID, terms={"real": 1.0, "cross": -0.5})
    assert sounded(run) == [(2, "instrument")]


def test_another_order_of_the_clients_rows_is_seen_by_the_instrument(monitored, tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(50, 3)), rng.normal(1, 1, (50, 3))
    shuffled = np.concatenate([a, b])[rng.permutation(100)]
    for step, clients in enumerate(({"a": a, "b": b}, {"a": shuffled[:50], "b": shuffled[50:]})):
        monitor = monitored(clients, "kid", path=tmp_path)
        monitor.log(step, rng.normal(size=(40, 3)))
        assert monitor.wait(60)
        monitor.close()
    found = LiveRun.open(tmp_path).alarms
    assert found["step"].tolist() == [1] and found["alarm"].tolist() == ["instrument"]


def test_the_worst_client_is_named_when_it_worsens_while_avg_improves():
    noise = 0.01 * np.random.default_rng(0).normal(size=(30, 3))
    clients = np.array([5.0, 4.0, 1.0]) + noise
    clients[20:] += [-2.0, 1.5, -0.5]  # b becomes the worst, avg falls
    segment = Segment.of(["a", "b", "c"], [1 / 3] * 3, [FID], 0)
    points = [Point(segment, t, 0.0, {}, 9, row[None], np.array([1.0]), ({},)) for t, row in enumerate(clients)]
    (found,) = alarms.find_alarms(RunHistory([segment], points, None), alarm_rules.DEFAULT_RULES)
    assert found.step == 21 and found.alarm == "worst client" and "b got worse" in found.words.replace(",", "")


@pytest.mark.parametrize("healthy", [5, 6, 7, 8, 10])
@pytest.mark.parametrize("first", ["frozen", "worst client", "avg silent", "collapse"])
def test_no_alarm_of_a_collapse_is_dated_before_it(first, healthy):
    """Another rule rings in the healthy steps shortly before; a sentence has the numbers of its alarm's step."""
    noise = 0.01 * np.random.default_rng(0).normal(size=(12 + healthy, 2))
    scores, variance, start = 2.0 + noise, np.ones(12 + healthy), 12
    if first == "frozen":
        scores[start:] = 2.0
    if first == "worst client":
        scores[start : start + 2] += [0.5, -0.9]
    of_all = scores.mean(axis=1) - 1.0
    of_all[start : start + 2] += 0.5 * (first == "avg silent")
    variance[start : start + 2] -= 0.8 * (first == "collapse")
    event = len(scores)
    scores, of_all = np.vstack([scores, np.full((6, 2), 30.0) + noise[:6]]), np.r_[of_all, np.full(6, 29.0)]
    segment = Segment.of(["a", "b"], [0.5, 0.5], [FID], 0, {"centres": np.array([[1.0, 0.0], [1.0, 0.0]])})
    points = [
        Point(segment, t, 0.0, {}, 100, row[None], np.array([of_all[t]]), ({},), float(np.r_[variance, np.ones(6)][t]))
        for t, row in enumerate(scores)
    ]
    found = alarms.find_alarms(RunHistory([segment], points, None), alarm_rules.DEFAULT_RULES)
    assert first in [alarm.alarm for alarm in found if alarm.step < event], found
    (far,) = [alarm for alarm in found if "times its best" in alarm.words]
    assert far.step > event, found


def test_thresholds_of_ones_own_sound_live_and_on_old_runs_and_call(monitored, tmp_path):
    rng, called = np.random.default_rng(0), []
    monitor = monitored({"a": rng.normal(size=(90, 1)), "b": rng.normal(size=(90, 1))}, path=tmp_path)
    monitor.alarm("kid_avg", rises=0.5, for_=3, call=called.append)
    monitor.alarm("d", falls=0.9, call=lambda alarm: 1 / 0)
    for step, shift in enumerate((1.0, 0.5, 2.0, 2.0, 0.5, 2.0, 2.0, 2.0, 2.0)):
        monitor.log(step, nm.Gaussian([shift]), d=10.0 if step < 8 else 0.1)
    assert monitor.wait(60)
    own = ["kid_avg rises", "d falls"]
    for seen in (monitor, LiveRun.open(tmp_path)):
        if seen is not monitor:
            seen.alarm("kid_avg", rises=0.5, for_=3)
            seen.alarm("d", falls=0.9)
        told = seen.alarms
        assert told[told["alarm"].isin(own)][["step", "alarm"]].to_numpy().tolist() == [[7, own[0]], [8, own[1]]]
    assert called[0].step == 7 and "kid_avg rose to" in called[0].words
    assert any("ZeroDivisionError" in line for line in monitor.troubles)
    monitor.alarm("d", falls=0.5, call=called.append)  # what was is no news
    monitor.log(9, nm.Gaussian([0.0]), d=9.0)
    assert monitor.wait(60) and len(called) == 1


def test_a_late_step_is_told_live_and_on_old_runs_and_a_rule_can_be_removed(monitored, tmp_path):
    monitor = monitored({"a": np.eye(3), "b": np.eye(3)}, path=tmp_path)
    waits = iter((0.0, 90.0, 0.0))
    monitor.clock.tick = lambda step, now: next(waits)
    monitor.alarm("d", rises=0.5, call=lambda alarm: 1 / 0)
    monitor.remove_alarm("d rises")
    for step in range(3):
        monitor.log(step, d=1.0 + step)
    assert monitor.wait(60) and not monitor.troubles
    seen = LiveRun.open(tmp_path)
    for run in (monitor, seen, seen.with_weights([1, 2])):
        (found,) = run.alarms.to_numpy().tolist()
        assert found == [1, "stalled", "No step came for 90 s before this one, far longer than ever before."]
    seen.remove_alarm("stalled")
    assert len(seen.alarms) == 0 and "stalled" not in seen.rules and "stalled" in monitor.rules
    with pytest.raises(InvalidInput, match="Did you mean 'collapse'"):
        monitor.remove_alarm("colapse")


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("column", {"column": "fid_al", "rises": 0.5}),
        ("column", {"column": 3, "rises": 0.5}),
        ("column", {"column": "kid_all", "rises": 0.5}),
        ("rises", {"column": "fid_all"}),
        ("rises", {"column": "fid_all", "rises": 0.5, "falls": 0.5}),
        ("rises", {"column": "fid_all", "rises": -1}),
        ("falls", {"column": "fid_all", "falls": math.nan}),
        ("for_", {"column": "fid_all", "rises": 0.5, "for_": 0}),
        ("call", {"column": "fid_all", "rises": 0.5, "call": 3}),
    ],
)
def test_bad_rules_are_refused(monitored, argument, given):
    with pytest.raises(InvalidInput, match=argument):
        monitored({"a": np.eye(3), "b": np.eye(3)}, "fid").alarm(**given)
