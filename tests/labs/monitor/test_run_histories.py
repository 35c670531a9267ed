"""Whatever happened to a run, its table, best steps and files are those of its present branch, and agree."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import InvalidInput
from nbmetrics.labs.monitor.live_run import LiveRun
from tests.slow import slow

pytest.importorskip("safetensors", reason="what is kept is a safetensors file")
from tests.labs.monitor.run_histories import play

CLIENTS = {"a": np.random.default_rng(0).normal(-1, 1, (60, 1)), "b": np.random.default_rng(1).normal(1, 1, (60, 1))}
ROWS = np.random.default_rng(2).normal(0, 1.4, (300, 1))


@pytest.mark.threads
@pytest.mark.parametrize(("first", "count"), [(0, 40), *slow((40, 400))])
def test_random_histories_leave_what_the_model_says(tmp_path, first, count):
    wrong = {seed: what for seed in range(first, first + count) if (what := play(seed, tmp_path / str(seed))[0])}
    assert not wrong


def logged(run, shifts, **losses):
    for step, shift in shifts.items():
        run.log(step, ROWS + shift, **losses)
        assert run.wait(60)


@pytest.mark.parametrize("is_resumed", [False, True])
def test_the_branch_from_a_step_that_is_taken_anew_replaces_the_old_one(opened, tmp_path, is_resumed):
    """As practitioners saw it: 3 was the best, the run goes back to 2, and 5 is the best of the new branch."""
    run, called, dropped = opened(LiveRun, CLIENTS, path=tmp_path, keep_all=True), [], []
    logged(run, {0: 3.0, 1: 0.5, 2: 0.4, 3: 0.1, 4: 2.0, 5: 2.0}, loss=1.0)
    if is_resumed:
        run.close()
        run = opened(LiveRun, CLIENTS, path=tmp_path, keep_all=True)
    run.on_best(("fid", "all"), lambda step: None, dropped.append)
    run.alarm("fid_all", rises=5.0, call=lambda alarm: called.append(alarm.step))
    logged(run, {2: 0.45}, loss=2.0)
    assert run.best("fid") == {"avg": 2, "all": 2}
    logged(run, {3: 0.35, 4: 2.5, 5: 0.25}, loss=3.0)
    for seen in (run, LiveRun.open(tmp_path)):
        assert seen.table.query("metric == 'fid'")["step"].tolist() == [0, 1, 2, 3, 4, 5]
        assert seen.best("fid") == {"avg": 5, "all": 5} and seen.best_set("kid")["all"][-1] == 5
        assert seen.losses["loss"].tolist() == [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]
        expected = nm.fid(np.concatenate(list(CLIENTS.values())), ROWS + 0.35)
        assert seen.history.lines["fid"].all[3] == pytest.approx(expected)
    assert called == [4]  # the old alarm at 4 was no news, that of the new branch is
    assert set(dropped) >= {2, 3, 4} and 5 not in dropped


def test_what_does_not_go_back_replaces_nothing_else(opened):
    """Losses of an earlier step that come late, checkpoints that are scored backwards, and a step that comes twice."""
    run = opened(LiveRun, CLIENTS, "fid", keep_all=True)
    logged(run, dict.fromkeys(range(4), 0.5))
    run.log(1, validation=2.0)
    logged(run, {3: 0.1})
    assert run.table["step"].tolist() == [0, 1, 2, 3] and run.best("fid")["all"] == 3
    backwards = opened(LiveRun, CLIENTS, "fid", keep_all=True)
    logged(backwards, {30: 0.5, 20: 0.5, 10: 0.5})
    logged(backwards, {10: 0.2})
    assert backwards.table["step"].tolist() == [10, 20, 30] and backwards.best("fid")["all"] == 10


@pytest.mark.parametrize("name", ["fid", "kid"])
def test_a_score_that_cannot_be_saved_never_costs_the_best_that_is(opened, tmp_path, name):
    run = opened(LiveRun, CLIENTS, keep_all=True, checkpoints=tmp_path, keep=[(name, "all")], state=lambda: state)
    state = {"w": np.zeros(1)}
    logged(run, {0: 2.0, 1: 1.0})
    state = None
    with pytest.warns(UserWarning, match="step 2 was not saved"):
        logged(run, {2: 0.0})
    assert run.best(name)["all"] == 2 and not run.checkpoints
    assert [path.name for path in tmp_path.iterdir()] == ["step-1.safetensors"]
    assert f"step 2, the best by {name} all, has no file; of the steps with a file, 1 is the best" in run.troubles


def test_losses_alone_in_a_new_process_replace_no_step_and_cost_no_file(opened, tmp_path):
    settings = {"keep_all": True, "path": tmp_path / "run", "checkpoints": tmp_path / "files", "keep": [("fid", "all")]}
    state = lambda: {"w": np.zeros(1)}  # noqa: E731
    run = opened(LiveRun, CLIENTS, "fid", state=state, **settings)
    logged(run, {0: 2.0, 1: 1.0, 2: 0.1, 3: 1.0}, loss=1.0)
    run.close()
    again = opened(LiveRun, CLIENTS, "fid", state=state, **settings)
    again.log(1, loss=0.5)
    logged(again, {9: 3.0})
    for seen in (again, LiveRun.open(tmp_path / "run")):
        assert seen.table["step"].tolist() == [0, 1, 2, 3, 9] and seen.best("fid")["all"] == 2
        assert seen.losses["loss"].tolist()[:4] == [1.0, 0.5, 1.0, 1.0]
    assert not again.troubles and again.checkpoints == {("fid", "all"): tmp_path / "files" / "step-2.safetensors"}
    logged(again, {1: 0.3})  # with a generator it goes back
    assert again.table["step"].tolist() == [0, 1] and again.best("fid")["all"] == 1


def test_a_best_step_is_told_where_no_step_has_a_file(opened, tmp_path):
    settings = {"keep_all": True, "path": tmp_path / "run", "checkpoints": tmp_path / "files", "keep": [("fid", "all")]}
    state = lambda: {"w": np.zeros(1)}  # noqa: E731
    run = opened(LiveRun, CLIENTS, "fid", state=state, **settings)
    logged(run, {0: 0.5})
    assert run.checkpoints and not run.troubles
    run.close()
    for file in (tmp_path / "files").iterdir():
        file.unlink()
    again = opened(LiveRun, CLIENTS, "fid", state=state, **settings)
    assert not again.checkpoints and again.troubles == ["step 0, the best by fid all, has no file"]


def test_files_of_another_run_in_the_folder_are_left_alone(opened, tmp_path):
    settings = {"keep_all": True, "checkpoints": tmp_path, "keep": [("fid", "all")], "state": lambda: {"w": np.ones(1)}}
    other = opened(LiveRun, CLIENTS, **settings)
    logged(other, {7: 0.0})
    (tmp_path / "step-9.safetensors").write_bytes(b"no tensors")
    run = opened(LiveRun, CLIENTS, **settings)
    logged(run, {0: 1.0, 1: 0.5})
    assert {path.name for path in tmp_path.iterdir()} == {f"step-{step}.safetensors" for step in (1, 7, 9)}


@pytest.mark.parametrize("made", [None, 3.0])
def test_a_generator_that_returns_no_rows_is_told(opened, made):
    run = opened(LiveRun, CLIENTS, keep_all=True)
    with pytest.warns(UserWarning, match=rf"returned {made}\. Return rows"):
        assert run.log(0, lambda n, rng: made) is False
    assert "Return rows" in run.troubles[0]


def test_rules_that_are_none_are_refused(opened, tmp_path):
    with pytest.raises(InvalidInput, match="keep: got None"):
        opened(LiveRun, CLIENTS, checkpoints=tmp_path, keep=None)
