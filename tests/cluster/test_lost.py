"""Processes that stop, die or go away in the middle: right numbers, or an error within its time; nothing is left."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import dask
import numpy as np
import psutil
import pytest

import nbmetrics as nm

from . import made

# Of whatever a test waits for, on a machine that may be busy.
PATIENCE = 120
ROWS = {name: made.rows(k) for k, name in enumerate(made.NAMES)}


def scored(client, **others):
    return nm.evaluate({**made.functions(), **others}, made.generators(), cluster=client, progress=False)


def until(condition):
    """Wait until it holds, or PATIENCE is over; whether it holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def warm(client, count):
    """Wait for so many workers, and for what they import: a timeout of a test is for its own work."""
    assert until(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) >= count)
    for address in client.scheduler_info(n_workers=-1)["workers"]:
        client.submit(made.imported, workers=[address], pure=False).result(timeout=PATIENCE)


def is_idle(client):
    return not client.who_has() and not any(client.processing().values())


@pytest.mark.slow
def test_a_worker_that_stops_for_longer_than_the_timeout_is_told_with_its_client(dask_client, tmp_path):
    file = tmp_path / "stopped"
    warm(dask_client, 2)
    try:
        with (
            dask.config.set({"nbmetrics.timeout": "2 s"}),
            pytest.raises(nm.InvalidInput, match="client 'odd' has not finished in 2 seconds"),
        ):
            nm.evaluate({"odd": partial(made.stopping, 3, file)}, made.generators(), cluster=dask_client)
    finally:
        os.kill(int(file.read_text("utf-8")), signal.SIGCONT)
    assert until(lambda: is_idle(dask_client))
    table = scored(dask_client).table
    local = nm.evaluate(ROWS, made.generators()).table
    np.testing.assert_allclose(table[["avg", "all"]], local[["avg", "all"]], rtol=0, atol=1e-9)


@pytest.fixture
def interruptible():
    """Who runs the tests in the background may have them deaf to Ctrl+C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_drops_the_tasks(dask_client):
    odd = partial(made.signalling, 3, os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        scored(dask_client, odd=odd)
    assert until(lambda: is_idle(dask_client))


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_cluster_of_this_call_leaves_no_process_and_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(KeyboardInterrupt):
        scored("local", odd=partial(made.signalling, 3, os.getpid(), signal.SIGINT))

    def left():
        now = {child.pid for child in psutil.Process().children(recursive=True) if "tracker" not in _line(child)}
        return now - before

    assert until(lambda: not left())
    assert not list(tmp_path.iterdir())


def _line(process):
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.mark.slow  # quick: test_failures.py kills a worker three times where it computes
def test_workers_killed_at_any_moment_change_no_number(dask_client):
    rng, over = random.Random(0), threading.Event()

    def kill():
        for _ in range(3):
            over.wait(rng.uniform(0.2, 1.5))
            pids = [nanny.process.pid for nanny in dask_client.cluster.workers.values() if nanny.process.pid]
            if pids:
                os.kill(rng.choice(pids), signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    slow = {name: partial(made.slowly, k, 0.1) for k, name in enumerate(made.NAMES)}
    table = scored(dask_client, **slow).table
    over.set()
    killer.join(PATIENCE)
    local = nm.evaluate(ROWS, made.generators()).table
    np.testing.assert_allclose(table[["avg", "all"]], local[["avg", "all"]], rtol=0, atol=1e-9)


@pytest.fixture
def apart(tmp_path):
    """A client of a scheduler and one worker that are processes of their own, and the number of the first."""
    from distributed import Client

    file = tmp_path / "scheduler.json"
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (Path(nm.__file__).parents[1], *sys.path)))}
    settings = {"env": here, "cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60"]
    started = [
        subprocess.Popen([sys.executable, "-m", *command, "--scheduler-file", str(file)], **settings)
        for command in (scheduler, worker)
    ]
    try:
        assert until(file.exists)
        client = Client(scheduler_file=str(file), timeout=PATIENCE, set_as_default=False)
        warm(client, 1)
        yield client, started[0].pid
        client.close(timeout=1)
    finally:
        for process in started:
            process.kill()
            process.wait(PATIENCE)


def test_a_scheduler_that_goes_away_is_told_with_its_address(apart):
    client, process = apart
    odd = partial(made.signalling, 3, process, signal.SIGKILL)
    start = time.monotonic()
    with dask.config.set({"nbmetrics.timeout": "4 s"}), pytest.raises(nm.InvalidInput) as refusal:
        nm.evaluate({"odd": odd}, made.generators(), cluster=client)
    assert "tcp://127.0.0.1" in refusal.value.seen
    assert time.monotonic() - start < PATIENCE
