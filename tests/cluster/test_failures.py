"""What goes wrong on a cluster ends in words that name the client, or in right numbers; nothing hangs or stays."""

import re
import time
from functools import partial

import dask
import numpy as np
import pytest

import nbmetrics as nm

from . import made


def scored(client, **others):
    return nm.evaluate({**made.functions(), **others}, made.generators(), cluster=client)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (made.raising, "client 'odd': its data raised OSError: no such disk"),
        (partial(made.with_nan, 3), "client 'odd', data: 1 value is NaN or infinite, in row"),
        (partial(made.bad_batches, 3), "client 'odd', batch 2: 1 value is NaN or infinite, in row"),
        (partial(made.raising_batches, 3), "client 'odd', batch 2: raised OSError: no such disk"),
        (partial(made.rows, 3, 5), "'odd' has 5 features"),
        (lambda: nm.Gaussian([0.0]), "client 'odd', data: its data gave"),
        (lambda rows: rows, "client 'odd' is a function that needs arguments"),
    ],
)
def test_a_client_that_is_wrong_is_named(dask_client, data, words):
    with pytest.raises(nm.InvalidInput, match=re.escape(words)):
        scored(dask_client, odd=data)


@pytest.mark.parametrize("made_by", [made.other, made.other_batches])
@pytest.mark.parametrize("shape", [(27, 3), (20, 4), (20, 3)])
@pytest.mark.parametrize("metric", ["fid", "precision"])
def test_rows_unlike_those_of_the_first_look_are_refused(dask_client, tmp_path, made_by, shape, metric):
    words = f"rows of shape {shape}, and of shape (20, 3) at" if shape != (20, 3) else "20 other rows than at"
    clients = {"odd": partial(made_by, tmp_path / "seen", shape)}
    with pytest.raises(nm.InvalidInput, match=re.escape(f"client 'odd': gave {words} the first look")):
        nm.evaluate(clients, made.generators(), metric, cluster=dask_client)


def test_a_future_that_failed_is_named(dask_client):
    with pytest.raises(nm.InvalidInput, match="of client 'odd' raised OSError"):
        scored(dask_client, odd=dask_client.submit(made.raising))


@pytest.mark.slow
def test_a_task_whose_worker_is_killed_three_times_is_done_again(dask_client, tmp_path):
    scores = scored(dask_client, odd=partial(made.killing, 3, tmp_path))
    assert len(list(tmp_path.iterdir())) == 3
    local = nm.evaluate({**{n: made.rows(k) for k, n in enumerate(made.NAMES)}, "odd": made.rows(3)}, made.generators())
    np.testing.assert_allclose(scores.table[["avg", "all"]], local.table[["avg", "all"]], rtol=0, atol=1e-9)


def test_what_takes_too_long_ends_with_its_name(dask_client):
    with dask.config.set({"nbmetrics.timeout": "1 s"}), pytest.raises(nm.InvalidInput, match="client 'odd' has not"):
        nm.evaluate({"odd": partial(time.sleep, 8)}, made.generators(), cluster=dask_client)


@pytest.mark.slow
def test_nothing_is_left_on_the_workers(dask_client):
    with pytest.raises(nm.InvalidInput):
        scored(dask_client, odd=made.raising)
    deadline = time.monotonic() + 20
    while (held := dask_client.who_has()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not held


def test_clients_with_a_condition_are_refused_before_the_work(dask_client):
    clients = [nm.Client(made.rows(1), condition=made.rows(1))]
    with pytest.raises(nm.InvalidInput, match="does not yet score clients with a condition"):
        nm.evaluate(clients, made.generators(), cluster=dask_client)


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"cluster": 3}, "cluster"),
        ({"cluster": "lokal"}, "cluster"),
        ({"metrics": "fidd"}, "metrics"),
        ({"uncertainty": nm.Influence()}, "uncertainty"),
        ({"progress": "no"}, "progress"),
    ],
)
def test_bad_settings_are_refused_before_the_work(dask_client, settings, argument):
    with pytest.raises(nm.InvalidInput) as refusal:
        nm.evaluate({"a": made.raising}, made.generators(), **{"cluster": dask_client, **settings})
    assert refusal.value.argument == argument
