"""The widget around a run: what the page is told, when, and that nothing is told twice or lost."""

import base64
import threading

import numpy as np
import pytest

import nbmetrics as nm
from tests.waiting import until

RNG = np.random.default_rng(0)
CLIENTS = {"north": RNG.normal(-1, 1, (50, 2)), "south": RNG.normal(1, 1, (40, 2))}


def numbers(text, kind="<f8"):
    return np.frombuffer(base64.b64decode(text), kind)


def told(lab, name, part):
    """A line as the page has it: what is past, then what came since."""
    parts = [lab.past, lab.recent if lab.recent.get("of") == lab.past["id"] else {}]
    return np.concatenate([numbers(p["lines"][name][part]) for p in parts if name in p.get("lines", {})] or [[]])


@pytest.fixture
def lab(opened):
    return opened(lambda: nm.Monitor(CLIENTS, keep_all=True, samples=30))


def log(lab, steps, **losses):
    for step in steps:
        lab.log(step, lambda n, rng, step=step: rng.normal(step / 10, 1, (n, 2)), **losses)


def test_the_page_is_told_every_step_once_in_order(lab, monkeypatch):
    monkeypatch.setattr("nbmetrics.labs.monitor.lab.MIN_NEW_STEPS", 3)
    log(lab, range(0, 20, 2), loss=1.0)
    assert lab.wait(60)
    for step in (20, 21, 22):  # where the last ones before fill what is recent, one of these makes all of them past
        log(lab, [step], loss=2.0)
        assert lab.wait(60)
        if lab.recent:
            break
    assert lab.recent["of"] == lab.past["id"], "what is new goes on where the past ends"
    log(lab, [7], loss=3.0)  # between those that are past: all of it is told anew
    assert lab.wait(60)
    for name in ("fid", "kid"):
        table = lab.table.query("metric == @name")
        np.testing.assert_array_equal(told(lab, name, "steps"), table.step)
        for part in ("avg", "all", "gap"):
            np.testing.assert_array_equal(told(lab, name, part), table[part])
    kept = lab.past["lines"].get("fid") or lab.recent["lines"]["fid"]
    wanted = lab.scores.query("metric == 'fid'").value.to_numpy()
    np.testing.assert_allclose(numbers(kept["clients"], "<f4"), wanted[: len(numbers(kept["steps"])) * 2], rtol=1e-6)


@pytest.mark.threads
def test_answers_follow_the_weights_on_show_and_scrubbing_asks_nothing_new(lab):
    log(lab, range(12))
    assert lab.wait(60)
    given = lab.result
    lab.scene = {**lab.scene, "shown": 4}
    until(lambda: lab.result["rev"] == lab.scene["rev"])
    assert lab.result["lines"] == given["lines"]
    lab.scene = {**lab.scene, "weights": [1, 3]}
    until(lambda: lab.result.get("weights") == [0.25, 0.75])
    other = lab.with_weights([0.25, 0.75]).history.lines["fid"]
    np.testing.assert_allclose(numbers(lab.result["lines"]["fid"]["all"]), other.all, rtol=1e-12)
    until(lambda: "words" in lab.result["lines"]["fid"])  # what takes longer comes by itself


def test_an_alarm_of_ones_own_is_told_with_the_others(lab):
    log(lab, range(8), loss=1.0)
    log(lab, [8, 9], loss=9.0)
    lab.alarm("loss", rises=0.5, for_=2)
    assert lab.wait(60)
    assert {"step": 9, "alarm": "loss rises"}.items() <= lab.result["alarms"][-1].items()


def test_a_run_in_a_folder_is_opened_as_it_was(tmp_path, opened):
    with_folder = opened(lambda: nm.Monitor(CLIENTS, "fid", path=tmp_path / "run", keep_all=True, samples=20))
    log(with_folder, range(5), loss=0.5)
    with_folder.wait(60)
    with_folder.close()
    read = opened(lambda: nm.Monitor.open(tmp_path / "run"))
    np.testing.assert_array_equal(told(read, "fid", "all"), with_folder.table["all"])
    assert read.samples["steps"] == [0, 1, 2, 3, 4], "what was made is kept, too"
    assert "nm.Monitor.open(path)" in read.to_code() and str(tmp_path) not in read.to_code() + str(read.get_state())
    with pytest.raises(nm.InvalidInput, match="opened for reading only"):
        read.log(5)
    with pytest.raises(nm.InvalidInput, match="contains a Monitor's settings, not its run"):
        nm.Monitor.from_share(read.share())
    read.from_share(with_folder.share())
    picture = read.snapshot()
    assert "Monitor of 5 steps and 2 clients: Keep step" in picture.alt


@pytest.mark.threads
def test_close_ends_its_threads(opened):
    """Its own: a Monitor that a test of another file left open keeps its threads, as the notebook's would."""
    others = set(threading.enumerate())
    lab = opened(lambda: nm.Monitor(CLIENTS, keep_all=True, samples=30))
    log(lab, range(3))
    lab.wait(60)
    mine = {thread for thread in threading.enumerate() if thread.name.startswith("nbmetrics Monitor")} - others
    assert len(mine) >= 2
    lab.close()
    until(lambda: not any(thread.is_alive() for thread in mine))


NOTEBOOK = (
    "import numpy as np, nbmetrics as nm\nrng = np.random.default_rng(0)\n"
    "monitor = nm.Monitor({'a': rng.normal(size=(60, 2)), 'b': rng.normal(1, 1, (60, 2))}, keep_all=True, samples=50)\n"
    "monitor",
    "for step in range(5): monitor.log(step, lambda n, rng: rng.normal(step, 1, (n, 2)), loss=1.0)",
    "'done'",
)


@pytest.mark.slow
@pytest.mark.threads
def test_an_executed_notebook_shows_the_run_at_its_end():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in NOTEBOOK])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    (output,) = book.cells[0].outputs
    words = output.metadata["image/png"]["alt"] if "image/png" in output.get("metadata", {}) else str(output.metadata)
    assert "Monitor of 5 steps" in words and "image/png" in output.data
