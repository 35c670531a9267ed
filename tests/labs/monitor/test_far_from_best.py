"""A fixed draw of the populations in tests/calibration: healthy runs are silent, collapses are heard, and named."""

import math

import numpy as np
import pytest

from nbmetrics.labs.monitor import alarm_rules
from nbmetrics.labs.monitor.live_run import LiveRun
from tests.calibration import monitor_alarms, monitor_runs
from tests.slow import by_default


@pytest.mark.slow
@pytest.mark.parametrize("seed", by_default(range(6), 1, 4))  # first to ring for too low a limit, too sure intervals
def test_healthy_runs_of_each_family_sound_no_alarm(seed):
    _, alarms = monitor_alarms.alarms_of(monitor_runs.healthy(seed))
    assert alarms.to_numpy().tolist() == []


@pytest.mark.parametrize("kind", by_default(monitor_runs.COLLAPSES, *monitor_runs.COLLAPSES[-2:]))  # the faintest
def test_collapses_are_heard_and_their_words_say_from_where(kind):
    script = monitor_runs.collapse(kind, 2)
    history, alarms = monitor_alarms.alarms_of(script)
    assert monitor_alarms.is_heard(history, alarms, script.switch)
    assert "clients lose" in alarms["words"].iloc[0] or "Every client loses" in alarms["words"].iloc[0]


def test_one_metric_alone_hears_a_collapse():
    script = monitor_runs.collapse("1 of 10 digits", 0)
    for metric in ("fid", "kid"):
        history, alarms = monitor_alarms.alarms_of(script, metric)
        assert monitor_alarms.is_heard(history, alarms, script.switch), metric


def test_nan_rows_and_a_generator_that_stands_still_are_heard(opened):
    rng = np.random.default_rng(0)
    clients = {"a": rng.normal(size=(60, 2)), "b": rng.normal(1, 1, (60, 2))}
    run = opened(LiveRun, clients, keep_all=True)
    for step in range(6):
        run.log(step, rng.normal(0.5, 1, (50, 2)))
    run.log(6, np.full((50, 2), math.nan))
    still = rng.normal(0.5, 1, (50, 2))
    for step in range(7, 12):
        run.log(step, still)
    assert run.wait(60)
    found = run.alarms[["step", "alarm"]].to_numpy().tolist()
    assert [6, "not finite"] in found and [11, "frozen"] in found


def test_a_run_that_is_one_point_from_the_start_is_a_status_and_then_an_alarm(opened):
    rng = np.random.default_rng(0)
    clients = {"a": rng.normal(-3, 1, (90, 2)), "b": rng.normal(3, 1, (90, 2))}
    run = opened(LiveRun, clients, keep_all=True)
    for step in range(alarm_rules.MAX_STEPS_AT_POINT):
        if step == 8:
            assert run.wait(60)
            line = run.history.lines["fid"]
            assert "still as bad as for one point" in alarm_rules.one_point_sentence(run.history, line)
            assert "one point" not in run.alarms["alarm"].tolist()
        run.log(step, 1.0 + 0.01 * rng.normal(size=(60, 2)))
    assert run.wait(60)
    (alarm,) = run.alarms[run.alarms["alarm"] == "one point"].to_numpy().tolist()
    assert alarm[0] == alarm_rules.MAX_STEPS_AT_POINT - 1


def test_levels_of_real_rows_and_of_a_point_are_what_own_formulas_say(opened):
    rng = np.random.default_rng(0)
    clients = {"a": rng.normal(-3, 1, (400, 2)), "b": rng.normal(3, 2, (400, 2))}
    run = opened(LiveRun, clients, samples=200)
    real, point = run.history.levels("fid")
    rows = np.concatenate(list(clients.values()))
    assert point[-1] == pytest.approx(np.trace(np.cov(rows.T)), rel=0.1)  # T (1 + q), q = 0
    assert 0 < real[-1] < 0.05 * point[-1] and len(real) == 3


def test_ones_own_alarm_rings_again_when_it_is_far_worse():
    met = [False, True, True, True, True, False, True]
    beyond = [0.0, 0.4, 0.5, 1.7, 1.8, 0.0, 0.1]
    from nbmetrics.labs.monitor.alarms import onsets

    assert list(onsets(met, 1, beyond)) == [1, 3, 6]
    assert list(onsets(met, 1)) == [1, 6]


@pytest.mark.parametrize("runs", [2_000])
def test_intervals_of_one_column_hold_at_all_steps_together(runs):
    """Normal scores about 1 whose standard errors are known; the level of all 60 intervals together."""
    rng, steps, level = np.random.default_rng(0), 60, 0.05
    levels = 6.0 * level / (np.pi * np.arange(1, steps + 1)) ** 2
    missed = 0
    for scores in 1.0 + 0.1 * rng.normal(size=(runs, steps)):
        half = alarm_rules.half_widths(scores, np.full(steps, 0.1), levels)
        missed += bool((np.abs(scores - 1.0) > half).any())
    assert missed <= level * runs


def test_medians_of_short_rows_are_numpys():
    rng = np.random.default_rng(0)
    for _ in range(100):
        rows = rng.normal(size=rng.integers(1, 30, 2))
        rows[rng.random(rows.shape) < 0.3] = np.nan
        rows[:, 0] = 1.0
        np.testing.assert_allclose(alarm_rules._row_medians(rows), np.nanmedian(rows, axis=1), rtol=1e-15)


def test_a_best_that_is_below_0_by_chance_counts_as_0():
    """Few rows, of which KID-all is −107 at the first step, and about −26 later: no distance has risen."""
    _, alarms = monitor_alarms.alarms_of(monitor_runs.healthy(12022))
    assert alarms.to_numpy().tolist() == []
