"""A run's folder, or a loop, of somebody else's: nothing outside changes, nothing hangs, nothing is lost unsaid."""

import math
import os
import threading
import warnings

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import InvalidInput
from nbmetrics.labs.monitor import run_folder, scoring_thread
from nbmetrics.labs.monitor.live_run import MonitorWarning
from nbmetrics.labs.monitor.page_encoding import encode_numbers
from nbmetrics.labs.monitor.run_folder import PENDING, pending_lines
from tests.waiting import until

CLIENTS = {"north": nm.Gaussian([-1.0, 0.0]), "south": nm.Gaussian([1.0, 0.0])}
FILES = (run_folder.STEPS, run_folder.ROWS, run_folder.META, run_folder.TORN, PENDING)


@pytest.fixture
def folder(tmp_path, opened):
    """Of a run of three steps that has ended."""
    lab = opened(lambda: nm.Monitor(CLIENTS, path=tmp_path / "run", keep_all=True, samples=20))
    for step in range(3):
        lab.log(step, nm.Gaussian([0.1 * step, 0.0]), loss=float(step))
    lab.close()
    return tmp_path / "run"


@pytest.mark.parametrize("damage", ["flipped", "empty", "gone", "no metrics"])
def test_a_run_without_its_first_line_is_refused_in_words(folder, opened, damage):
    steps = folder / run_folder.STEPS
    lines = steps.read_bytes().splitlines(keepends=True)
    first = {"flipped": lines[0][:20] + bytes([lines[0][20] ^ 1]) + lines[0][21:], "gone": b""}
    given = {"event": "segment", "names": ["a"], "weights": [1], "metrics": []}
    whole = {"empty": b"", "no metrics": run_folder.encode_event(given)}
    steps.write_bytes(whole.get(damage, first.get(damage, b"") + b"".join(lines[1:])))
    with pytest.raises(InvalidInput, match="no line of its log names clients and metrics"):
        nm.Monitor.open(folder)
    lab = opened(lambda: nm.Monitor(CLIENTS, samples=20))
    with pytest.raises(InvalidInput, match="no line of its log names"):
        lab.compare(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["link", "dangling link", "hard link", "FIFO", "folder"])
def test_a_folder_of_links_is_not_written(folder, name, kind):
    thesis, target = folder.parent / "thesis.txt", folder / name
    thesis.write_bytes(b"a year of work, without an end of line")
    target.unlink(missing_ok=True)
    if kind == "hard link":
        os.link(thesis, target)
    elif kind == "FIFO":
        os.mkfifo(target)
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to("nowhere" if kind == "dangling link" else thesis)
    before = {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}
    with pytest.raises(InvalidInput, match=name):
        nm.Monitor(CLIENTS, path=folder, samples=20)
    assert thesis.read_bytes() == b"a year of work, without an end of line"
    assert {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()} == before
    assert not (folder / "nowhere").exists()


@pytest.mark.parametrize("name", [run_folder.STEPS, run_folder.ROWS, run_folder.META, PENDING])
def test_a_reader_waits_for_no_fifo(folder, opened, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    if name == run_folder.STEPS:
        with pytest.raises(InvalidInput, match="contains no"):
            nm.Monitor.open(folder)
        return
    run = opened(lambda: nm.Monitor.open(folder))
    assert len(run.losses) == (0 if name == run_folder.ROWS else 3) or run.troubles


@pytest.mark.threads
def test_what_waits_for_room_in_the_queue_is_not_wiped_from_the_pending_lines(tmp_path, opened, monkeypatch):
    """Every step that `log` has returned from is in the log or among the pending lines, whatever kills the process."""
    monkeypatch.setattr(scoring_thread, "MAX_QUEUE_STEPS", 2)
    lab = opened(lambda: nm.Monitor(CLIENTS, "fid", path=tmp_path / "run", keep_all=True, samples=20))
    held, go = threading.Event(), threading.Semaphore(0)
    score = scoring_thread.Scoring.score

    def slow(*given, **more):
        held.set()
        go.acquire()
        return score(*given, **more)

    monkeypatch.setattr(scoring_thread.Scoring, "score", slow)
    returned = []

    def train():
        for step in range(8):
            lab.log(step, nm.Gaussian([0.0, 0.0]))
            returned.append(step)

    loop = threading.Thread(target=train)
    loop.start()
    for done in range(1, 6):
        held.wait(60)
        until(lambda done=done: len(returned) >= done + 2)
        known = {event["step"] for event in steps_of(tmp_path / "run")}
        assert set(returned) - {max(returned)} <= known or set(returned) <= known
        assert set(returned[: done + 2]) <= known
        held.clear()
        go.release()
    for _ in range(8):
        go.release()
    loop.join(60)
    assert lab.wait(60)


def steps_of(folder):
    written = [run_folder.decode_event(line) for line in (folder / run_folder.STEPS).read_bytes().splitlines()]
    pending = []
    for line in pending_lines(folder):
        try:
            pending.append(run_folder.decode_event(line))
        except ValueError:
            continue
    return [event for event in [*written, *pending] if event["event"] == "step"]


@pytest.mark.parametrize("loss", ["x", "3", None, b"3", np.zeros(3), 1j, np.array([1j]), [1, 2], object()])
def test_a_loss_that_is_no_number_is_left_out_and_told(opened, loss):
    lab = opened(lambda: nm.Monitor(CLIENTS, keep_all=True, samples=20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lab.log(0, nm.Gaussian([0.0, 0.0]), loss=loss, other=1.5)
        assert lab.wait(60)
    assert list(lab.losses.columns) == ["step", "other"] and len(lab.losses) == 1
    assert any("loss loss is left out where it is not a number" in line for line in lab.troubles)
    assert lab.alarms.empty


def test_a_loss_beyond_all_floats_is_infinite(opened):
    lab = opened(lambda: nm.Monitor(CLIENTS, keep_all=True, samples=20))
    lab.log(0, nm.Gaussian([0.0, 0.0]), high=10**400, low=-(10**400), flag=True, single=np.array([2.0]))
    assert lab.wait(60)
    assert lab.losses.iloc[0].to_dict() == {"step": 0, "high": math.inf, "low": -math.inf, "flag": 1, "single": 2}


def test_a_function_that_gives_more_rows_than_asked_for_is_told(opened):
    rows = np.random.default_rng(0).normal(size=(50, 2))
    lab = opened(lambda: nm.Monitor({"a": rows, "b": rows + 1}, keep_all=True, samples=20))
    with pytest.warns(MonitorWarning, match="gave more than the 20 rows"):
        assert not lab.log(0, lambda n, rng: rng.normal(size=(n + 5, 2)))
    assert lab.log(1, lambda n, rng: rng.normal(size=(n, 2)))
    assert lab.wait(60) and lab.table["step"].unique().tolist() == [1]


def test_huge_scores_are_told_without_a_warning_of_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode_numbers([1e308, 1.0], "<f4")
