"""Every lab answers where no thread can start: at once in a script, in turns of the event loop in a kernel."""

import asyncio
import threading
from unittest.mock import patch

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.toolkit.worker import Worker
from nbmetrics.threads import NOTE, Timer, can_start, start_thread
from nbmetrics.threads import _warn as warn
from tests.labs.inside import send
from tests.threadless import without_threads

RNG = np.random.default_rng(0)
CLIENTS = {"north": RNG.normal(size=(80, 3)), "south": RNG.normal(1, 1, (90, 3))}
GENERATORS = {"near": RNG.normal(0.4, 1, (100, 3)), "far": RNG.normal(2, 1, (100, 3))}


@pytest.fixture(autouse=True)
def no_threads():
    """A script: a browser test that shares the process leaves a loop of Playwright's behind."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    with without_threads():
        yield
    asyncio._set_running_loop(loop)


def moved(lab):
    """The lab after an edit of its scene, as of a drag."""
    lab.scene = {**lab.scene, "rev": lab.scene["rev"] + 1}
    return lab


@pytest.mark.parametrize("name", ["Playground", "CorrelationLab", "TwinsLab", "PrivacyLab", "MemorizationLab"])
def test_a_lab_opens_and_answers(name):
    lab = moved(getattr(nm, name)())
    assert lab.result["rev"] == lab.scene["rev"] == 1
    lab.close()


@pytest.mark.slow
def test_a_dashboard_computes_all_before_its_cell_ends_and_takes_more():
    dashboard = nm.Dashboard(CLIENTS, GENERATORS, uncertainty=nm.Influence())
    expected = nm.evaluate(CLIENTS, GENERATORS, uncertainty=nm.Influence()).table
    np.testing.assert_allclose(dashboard.scores.table["avg"], expected["avg"])
    assert "near wins" in dashboard.verdict[0]
    dashboard.attach("exact", CLIENTS["north"])
    assert list(dashboard.scores.generators) == ["near", "far", "exact"]
    assert np.isfinite(dashboard.scores.table["all"]).all()
    dashboard.close()


def test_a_monitor_scores_while_the_loop_logs(tmp_path):
    monitor = nm.Monitor(CLIENTS, path=tmp_path / "run", keep_all=True)
    for step in range(5):
        monitor.log(step, RNG.normal(1 - step / 5, 1, (60, 3)), loss=1.0)
    assert monitor.wait(1.0)
    assert sorted(set(monitor.table["step"])) == [0, 1, 2, 3, 4] and np.isfinite(monitor.table["all"]).all()
    monitor.close()
    assert len(nm.Monitor.open(tmp_path / "run").table) == 10


def test_images_become_rows():
    images = RNG.integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)
    rows = nm.extract(images, "pixels", cache=False, progress=True)
    assert rows.shape == (5, 192)


def test_in_a_kernel_a_worker_answers_between_messages_and_leaves_out_what_is_old():
    class Item(int):
        rev = property(int)

    answers = []

    async def cell():
        worker = Worker(answers.append, "test")
        for i in range(3):
            worker.put(Item(i))
        assert answers == []
        for _ in range(3):
            await asyncio.sleep(0)
        assert answers == [2]
        worker.put(Item(3))
        worker.finish()
        assert answers == [2, 3]
        worker.close()
        worker.put(Item(4))
        await asyncio.sleep(0)

    asyncio.run(cell())
    assert answers == [2, 3]


def test_a_dashboard_in_a_kernel_takes_one_step_a_turn():
    async def cell():
        dashboard = nm.Dashboard(CLIENTS, GENERATORS, "fid")
        turns = 0
        while not np.isfinite(dashboard.scores.table["all"]).all():
            turns += 1
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        dashboard.close()
        return turns

    assert asyncio.run(cell()) < 100


def test_a_race_in_a_kernel_goes_on_between_messages_and_stop_ends_it():
    draw = lambda n, rng: rng.normal(0.5, 1, (n, 3))  # noqa: E731

    async def cell():
        dashboard = nm.Dashboard(CLIENTS, {"one": draw, "other": lambda n, rng: draw(n, rng)}, "fid")
        dashboard.wait()
        send(dashboard, {"kind": "race", "scene": dashboard.scene, "budget": 10**6})
        while not dashboard.race.get("looks"):
            await asyncio.sleep(0)
        send(dashboard, {"kind": "stop race"})
        while dashboard.race["doing"]:
            await asyncio.sleep(0)
        dashboard.close()
        return dashboard.race

    race = asyncio.run(cell())
    assert race["reason"].startswith("The race was interrupted") and 0 < race["spent"] < 10**5


def test_a_canceled_timer_does_nothing_and_another_fires_in_a_turn_of_the_loop():
    fired = []

    async def cell():
        for name in "ab":
            timer = Timer(0.0, lambda name=name: fired.append(name), "test")
            timer.start()
            if name == "a":
                timer.cancel()
        assert fired == []
        await asyncio.sleep(0.01)

    asyncio.run(cell())
    assert fired == ["b"]


def test_it_says_so():
    assert not can_start()
    with patch("nbmetrics.threads._warn", warn), pytest.warns(RuntimeWarning, match=NOTE):
        assert start_thread(int, "test") is None


def test_the_fixture_refuses_what_a_platform_without_threads_refuses():
    with pytest.raises(RuntimeError, match="can't start new thread"):
        threading.Thread(target=int).start()
