"""A store on a cluster: the scores that one machine keeps and finds, and none of them twice."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from itertools import product

import numpy as np
import pytest

import nbmetrics as nm
from tests import ROOT
from tests.evaluation.test_store import counts, farthest, lines
from tests.slow import by_default

from . import made

ROWS = {name: made.rows(k) for k, name in enumerate(made.NAMES)}
RBF = nm.metrics.KID(nm.RBF(2.0), name="rbf")
KINDS = ("here", "functions", "batches", "futures")
QUICK = [("tree", "functions"), ("pairs", "batches")]
WAYS = {"tree": ["fid", "kid"], "pairs": [RBF, nm.metrics.CMMD()], "whole": ["precision"]}


def given(kind, client):
    """The clients, in the ways they may be on a cluster."""
    if kind == "here":
        return ROWS
    if kind == "functions":
        return made.functions()
    if kind == "batches":
        return {name: partial(made.batches, k) for k, name in enumerate(made.NAMES)}
    return {name: client.submit(made.rows, k) for k, name in enumerate(made.NAMES)}


@pytest.mark.parametrize(("way", "kind"), by_default(product(WAYS, KINDS), *QUICK))
def test_what_the_cluster_kept_one_machine_finds_and_the_other_way_round(dask_client, tmp_path, way, kind):
    args = made.generators(), WAYS[way]
    number = len(WAYS[way]) * 2 * (len(made.NAMES) + 1)
    there = nm.evaluate(given(kind, dask_client), *args, cluster=dask_client, store=tmp_path / "there")
    assert counts(there) == {"found": 0, "computed": number}
    assert counts(nm.evaluate(ROWS, *args, store=tmp_path / "there")) == {"found": number, "computed": 0}
    here = nm.evaluate(ROWS, *args, store=tmp_path / "here")
    again = nm.evaluate(given(kind, dask_client), *args, cluster=dask_client, store=tmp_path / "here")
    assert counts(again) == {"found": number, "computed": 0}
    assert farthest(again, here) == 0.0
    plain = nm.evaluate(given(kind, dask_client), *args, cluster=dask_client)
    assert farthest(there, plain) < 1e-12
    assert again.conventions == plain.conventions
    weights = range(1, 21)
    if way != "whole":  # which has no pool under other weights
        assert farthest(again.with_weights(weights), plain.with_weights(weights)) < 1e-12


def test_one_more_party_costs_its_own_scores_and_refusals_are_counted_as_on_one_machine(dask_client, tmp_path):
    few = {name: nm.Client(rows, weight=len(rows)) for name, rows in list(ROWS.items())[:4]}
    more = {**few, "one row": nm.Client(made.rows(1)[:1], weight=0), "new": nm.Client(made.rows(7), weight=41)}
    generators = made.generators()
    metrics = ["fid", RBF, "precision"]
    nm.evaluate(few, {"narrow": generators["narrow"]}, metrics, store=tmp_path / "here")
    nm.evaluate(few, {"narrow": generators["narrow"]}, metrics, cluster=dask_client, store=tmp_path / "there")
    here = nm.evaluate(more, generators, metrics, store=tmp_path / "here")
    there = nm.evaluate(more, generators, metrics, cluster=dask_client, store=tmp_path / "there")
    assert counts(here) == counts(there) == {"found": 3 * 4, "computed": 3 * (2 * 7 - 4)}
    assert farthest(here, there) < 1e-12


BROKEN = """
import sys; sys.path.insert(0, {root!r})
from functools import partial
from dask.distributed import Client
import nbmetrics as nm
from tests.cluster import made
odd = partial(made.waiting, 3, {folder!r})
clients = {{**made.functions(), "odd": odd}}
with Client({address!r}) as client:
    nm.evaluate(clients, made.generators(), {metrics!r}, store={folder!r} + "/store", cluster=client, progress=False)
"""


@pytest.mark.parametrize("metrics", by_default([["fid", "kid"], ["cmmd"], ["precision"]], ["fid", "kid"]))
def test_a_coordinator_that_is_killed_while_a_client_is_slow_has_kept_the_others(dask_client, tmp_path, metrics):
    store = tmp_path / "store"
    settings = {"root": str(ROOT), "folder": str(tmp_path), "address": dask_client.scheduler.address}
    process = subprocess.Popen([sys.executable, "-c", BROKEN.format(**settings, metrics=metrics)])
    number, deadline = len(metrics) * 2 * 10, time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline and (not store.is_dir() or len(lines(store)) < number):
        time.sleep(0.01)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    (tmp_path / "go").touch()  # a worker waits for it
    before = len(lines(store))
    assert before >= number
    clients = {**made.functions(), "odd": partial(made.rows, 3)}
    scores = nm.evaluate(clients, made.generators(), metrics, store=store, cluster=dask_client)
    assert counts(scores)["found"] >= before - 1
    keys = Counter(json.loads(line[33:])["key"] for line in lines(store) if line.endswith(b"}"))
    assert set(keys.values()) == {1}
    same_rows = len(metrics) * 2  # of "odd" and "site 3", whose scores are of the same rows
    assert len(keys) == len(metrics) * 2 * 22 - same_rows
    assert farthest(scores, nm.evaluate({**ROWS, "odd": made.rows(3)}, made.generators(), metrics)) < 1e-12


def test_a_file_is_hashed_where_it_is_read(dask_client, tmp_path):
    for name, rows in ROWS.items():
        np.save(tmp_path / f"{name}.npy", rows)
    paths = {name: tmp_path / f"{name}.npy" for name in ROWS}
    nm.evaluate(ROWS, made.generators(), "fid", store=tmp_path / "store")
    again = nm.evaluate(paths, made.generators(), "fid", cluster=dask_client, store=tmp_path / "store")
    assert counts(again) == {"found": 2 * 21, "computed": 0}
