"""Runs of a Monitor as folders: finished, resumed, with alarms, long, and of a process that was killed."""

import math
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import nbmetrics as nm
from nbmetrics.labs.monitor import page_encoding as packing
from tests import ROOT
from tests.golden.data import rows
from tests.labs.inside import history_of

NAMES, WEIGHTS = ("north", "south", "Ünïcode 😀"), [3.0, 1.0, 0.5]
OTHERS = [0.2, 0.8, 0.0]
# The process that is killed: its scores of step 400 never come, and what it logs meanwhile waits to be written.
KILLED = """
import sys, threading
from tests.golden.runs import Endless, generator, monitor

run = monitor(sys.argv[1], ["fid", "kid", Endless()])
for step in range(0, 400, 100):
    run.log(step, generator(1 + step / 1000), loss=1 / (1 + step))
run.wait()
Endless.ends = False
run.log(400, generator(2.0), loss=0.1)
Endless.begun.wait()
for step in range(410, 440, 10):
    run.log(step, loss=1 / step)
print("logged", flush=True)
threading.Event().wait()
"""


class Endless(nm.metrics.FID):
    """A user's own metric, which may never come to an end."""

    name, label = "endless", "Endless"
    ends, begun = True, threading.Event()

    def terms(self, real, generated):
        """As of FID, once it may end."""
        while not Endless.ends:
            Endless.begun.set()
            time.sleep(0.01)
        return super().terms(real, generated)


def generator(width):
    """A function that draws rows, so far from their centre."""
    return lambda n, rng: rng.normal([0.5, 1.0], width, (n, 2))


def monitor(path, metrics=("fid", "kid"), samples=9):
    """A Monitor of three clients with few rows, which keeps its run in a folder."""
    rng = np.random.default_rng(5)
    parts = [
        nm.Client(rows(rng, 8, 2, centre), name=name, weight=weight)
        for name, weight, centre in zip(NAMES, WEIGHTS, (0, 2, -1))
    ]
    return nm.Monitor(nm.Federation(parts), metrics, path=path, keep_all=True, samples=samples)


def finished(path):
    """Eight steps, one of them without scores and one of more rows."""
    run = monitor(path)
    for step in range(0, 700, 100):
        source = None if step == 200 else generator(1 + (step - 300) ** 2 / 1e5)
        run.log(step, source, loss=1 / (1 + step), critic=-step)
    run.log(700, rows(np.random.default_rng(2), 10, 2), **{'naïve "g"': 1e-300})
    return run


def resumed(path):
    """A run that a second Monitor takes up at step 300, which so replaces what the first logged from there on."""
    first = monitor(path)
    for step in range(0, 500, 100):
        first.log(step, generator(3 - step / 500), loss=1.0 + step)
    first.wait()
    first.close()
    run = monitor(path)
    for step in range(300, 700, 100):
        run.log(step, generator(1 + step / 1000), loss=0.5)
    return run


def alarms(path):
    """Calm steps, then a collapse, and losses that are no numbers."""
    run = monitor(path)
    for step in range(12):
        run.log(step, generator(1 + step % 2 / 50), loss=1.0)
    for step in range(12, 15):
        run.log(step, generator(0.01), loss=1.0)
    for step, loss in ((15, float("nan")), (16, float("inf")), (17, -float("inf"))):
        run.log(step, loss=loss)
    return run


def long(path):
    """More steps than a page is told of one by one."""
    run = monitor(path)
    for step in range(260):
        run.log(step, generator(1 + step / 100) if step % 50 == 0 else None, loss=1 / (1 + step))
    run.wait()
    for step in range(260, 265):
        run.log(step, loss=0.0)
    return run


MAKERS = {"finished": finished, "resumed": resumed, "alarms": alarms, "long": long}


def make_runs(release):
    """Write each run, and what it says."""
    said = {}
    for name, make in MAKERS.items():
        with tempfile.TemporaryDirectory() as folder:
            run = make(folder)
            run.wait()
            sent = {"past": run.past, "recent": run.recent}
            run.close()
            release.pack(f"runs/{name}.zip", folder)
            said[name] = {**contents(nm.Monitor.open(folder)), "sent": sent if name == "long" else {}}
            if name == "long":
                said[name]["thinned"] = thinned(nm.Monitor.open(folder))
    said["killed"] = killed(release)
    release.write("runs.json", said)


def killed(release):
    """Write the run of a process that was killed while lines were pending, and whose last line is torn then."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", KILLED, folder]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "logged\n"
            process.send_signal(signal.SIGKILL)
        steps = Path(folder) / "steps.jsonl"
        steps.write_bytes(steps.read_bytes()[:-25])
        release.pack("runs/killed.zip", folder)
        return contents(nm.Monitor.open(folder))


def contents(run):
    """What a run says, but for sentences, as plain JSON; and the run under other weights."""
    return {
        "table": records(run.table),
        "scores": records(run.scores),
        "losses": records(run.losses),
        "alarms": [list(alarm) for alarm in run.alarms[["step", "alarm"]].to_numpy().tolist()],
        "best": {name: run.best(name) for name in run.table["metric"].unique()},
        "others": OTHERS,
        "reweighted": records(run.with_weights(OTHERS).table),
        "arrays": arrays(history_of(run)),
        "is_whole": not run.troubles,
    }


def arrays(history):
    """The shape and the exact sum of each array that the log names: those of the clients first, then step by step."""
    named = [
        (f"{'step' if hasattr(event, 'step') else 'segment'} {name}", history.array(frame))
        for event in (*history.segments, *history.logged)
        for name, frame in sorted(event.frames.items())
    ]
    return [[name, list(array.shape), math.fsum(array.ravel())] for name, array in named if array is not None]


def records(table):
    """The rows of a table as dicts."""
    return table.to_dict("records")


def thinned(run):
    """A run as a page gets it where it is too long for one message, here by a far lower limit."""
    most = packing.MAX_MESSAGE_BYTES
    packing.MAX_MESSAGE_BYTES = 1_500
    try:
        return packing.encode_history(history_of(run))
    finally:
        packing.MAX_MESSAGE_BYTES = most
