"""Each scored step reaches a tracker once, in order, and a tracker that fails does not reach the training."""

import threading

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.monitor.live_run import MonitorWarning

RNG = np.random.default_rng(0)
CLIENTS = {"north": RNG.normal(-1, 1, (50, 2)), "south": RNG.normal(1, 1, (40, 2))}


class Tracker:
    """As a run of W&B or trackio."""

    def __init__(self):
        self.logged = []

    def log(self, values, step=None):
        self.logged.append((step, values))


@pytest.fixture
def monitor(opened):
    return opened(lambda **settings: nm.Monitor(CLIENTS, keep_all=True, samples=30, **settings))


def rows(step):
    return np.random.default_rng(step).normal(step / 10, 1, (30, 2))


def run(monitor, steps):
    for step in steps:
        monitor.log(step, rows(step), loss=1.0)
    assert monitor.wait(60)


def as_table(logged):
    return {(step, name, part): value for step, values in logged for (name, part), value in
            ((key.split("/"), value) for key, value in values.items())}  # fmt: skip


def expected(monitor):
    table = monitor.table.set_index(["step", "metric"])
    return {
        (step, metric, part): row[part] for (step, metric), row in table.iterrows() for part in ("avg", "all", "gap")
    }


def test_each_scored_step_comes_once_and_in_order(monitor):
    tracker, function = Tracker(), []
    assert monitor.to(tracker) is monitor
    run(monitor, range(4))
    monitor.log(9, loss=2.0)
    monitor.to(lambda values, step: function.append((step, values)))  # what is scored comes first
    late = Tracker()
    monitor.to(late, past=False)
    run(monitor, range(4, 8))
    assert [step for step, _ in tracker.logged] == [step for step, _ in function] == [*range(8)]
    assert [step for step, _ in late.logged] == [4, 5, 6, 7]
    assert as_table(tracker.logged) == as_table(function) == pytest.approx(expected(monitor), rel=1e-12)
    assert all(type(value) is float for _, values in tracker.logged for value in values.values())
    assert monitor.troubles == []


def test_a_run_that_is_opened_goes_to_a_tracker_too(opened, tmp_path):
    live = opened(nm.Monitor, CLIENTS, keep_all=True, samples=30, path=tmp_path / "run")
    run(live, range(3))
    live.close()
    tracker = Tracker()
    opened(nm.Monitor.open, tmp_path / "run").to(tracker)
    assert as_table(tracker.logged) == pytest.approx(expected(live), rel=1e-12)


def test_a_tracker_that_fails_is_told_once_and_the_training_goes_on(monitor):
    class Failing(Tracker):
        def log(self, values, step=None):
            super().log(values, step)
            if step != 2:
                raise ConnectionError(f"no network at {step}")

    failing, tracker = Failing(), Tracker()
    monitor.to(failing)
    monitor.to(tracker)
    with pytest.warns(MonitorWarning) as warned:
        run(monitor, range(4))
    assert len([one for one in warned if "Failing" in str(one.message)]) == 1
    assert monitor.troubles == ["step 0 was not logged to Failing: ConnectionError: no network at 0 (3 times)"]
    assert [step for step, _ in failing.logged] == [step for step, _ in tracker.logged] == [0, 1, 2, 3]
    assert len(monitor.table) == 8


@pytest.mark.filterwarnings("ignore::nbmetrics.labs.monitor.live_run.MonitorWarning")
def test_a_tracker_that_exits_ends_neither_the_scores_nor_the_program(monitor):
    def exits(values, step):
        raise SystemExit(3)

    monitor.to(exits)
    run(monitor, range(3))
    assert monitor.wait(20) and len(monitor.table) == 6
    assert monitor.troubles == ["step 0 was not logged to exits: SystemExit: 3 (3 times)"]


def test_scores_without_a_value_are_left_out(monitor):
    tracker = Tracker()
    monitor.to(tracker)
    monitor.log(0, lambda n, rng: np.full((n, 2), np.nan))
    monitor.log(1, rows(1))
    assert monitor.wait(60)
    assert [step for step, _ in tracker.logged] == [1] and np.isnan(monitor.table["avg"]).sum() == 2


def test_a_step_that_comes_twice_is_logged_anew(monitor):
    tracker = Tracker()
    run(monitor, [0, 1])
    monitor.log(1, rows(5))
    assert monitor.wait(60)
    monitor.to(tracker)
    assert [step for step, _ in tracker.logged] == [0, 1]
    assert as_table(tracker.logged) == pytest.approx(expected(monitor), rel=1e-12)
    monitor.log(1, rows(6))
    assert monitor.wait(60)
    assert [step for step, _ in tracker.logged] == [0, 1, 1]
    assert as_table(tracker.logged[2:]) == {key: expected(monitor)[key] for key in as_table(tracker.logged[2:])}


def test_what_cannot_log_is_refused(monitor):
    for wrong in (None, 3, Tracker, "run"):
        with pytest.raises(nm.InvalidInput, match="run: got"):
            monitor.to(wrong)
    with pytest.raises(nm.InvalidInput, match="past: got"):
        monitor.to(Tracker(), past="yes")


@pytest.mark.threads
def test_many_threads_log_and_none_is_lost_or_twice(monitor):
    tracker = Tracker()
    monitor.to(tracker)
    threads = [
        threading.Thread(target=lambda k=k: [monitor.log(10 * k + i, rows(i)) for i in range(4)]) for k in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert monitor.wait(60)
    assert sorted(step for step, _ in tracker.logged) == sorted(10 * k + i for k in range(3) for i in range(4))


def test_the_local_store_of_mlflow(monitor, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    with mlflow.start_run() as active:
        # the scoring thread has no active run of its own
        monitor.to(lambda values, step: mlflow.log_metrics(values, step=step, run_id=active.info.run_id))
        run(monitor, range(3))
    assert monitor.troubles == []
    history = mlflow.MlflowClient().get_metric_history(active.info.run_id, "fid/all")
    table = expected(monitor)
    assert {one.step: one.value for one in history} == pytest.approx({k: table[k, "fid", "all"] for k in range(3)})
