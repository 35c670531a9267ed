"""evaluate on a cluster: the numbers, lines and columns of one machine, whatever the clients are."""

import dask
import dask.array
import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import nbmetrics as nm

from . import made

ROWS = {name: made.rows(k) for k, name in enumerate(made.NAMES)}
LAW = nm.Gaussian(np.ones(made.DIM))


@pytest.fixture(scope="module")
def local():
    return nm.evaluate(ROWS, {**made.generators(), "law": LAW})


def assert_same(scores, local):
    """Every table, line and way to ask again gives the same, to 1e-10 of each score's terms."""
    close = {"rtol": 1e-10, "atol": 1e-10 * local.table[["avg", "all"]].abs().to_numpy().max()}
    assert_frame_equal(scores.table, local.table, **close)
    assert_frame_equal(scores.clients, local.clients, **close)
    assert_frame_equal(scores.ledger, local.ledger)
    assert scores.conventions == local.conventions
    weights = range(1, len(local.names) + 1)
    assert_frame_equal(scores.with_weights(weights).table, local.with_weights(weights).table, **close)


def as_given(kind, client):
    if kind == "rows":
        return ROWS
    if kind == "functions":
        return made.functions()
    if kind == "batches":
        return {name: (lambda k=k: made.batches(k)) for k, name in enumerate(made.NAMES)}
    if kind == "futures":
        return {name: client.submit(made.rows, k) for k, name in enumerate(made.NAMES)}
    if kind == "delayed":
        return {name: dask.delayed(made.rows)(k) for k, name in enumerate(made.NAMES)}
    return {name: dask.array.from_array(rows, chunks=(11, made.DIM)) for name, rows in ROWS.items()}


@pytest.mark.parametrize("kind", ["rows", "functions", "batches", "futures", "delayed", "arrays"])
def test_every_kind_of_client_gives_the_local_scores(kind, dask_client, local):
    generators = {**made.generators(), "law": LAW}
    assert_same(nm.evaluate(as_given(kind, dask_client), generators, cluster=dask_client), local)


def test_what_sees_all_rows_at_once_is_scored_there_too(dask_client):
    clients = nm.Federation({name: made.rows(k) for k, name in enumerate(made.NAMES[:5])}).split(test=0.5)
    metrics = [nm.metrics.KID(nm.RBF("median"), name="rbf"), "precision", "fld", nm.metrics.MFID(condition_dim=1)]
    scores, local = (nm.evaluate(clients, made.generators(), metrics, cluster=c) for c in (dask_client, None))
    assert_same(scores, local)


def test_few_rows_laws_and_weights_of_zero_mean_what_they_mean_locally(dask_client):
    clients = [
        nm.Client(made.rows(0), name="a", weight=2),
        nm.Client(made.rows(1)[:1], name="one row", weight=0),
        nm.Client(nm.Gaussian(np.zeros(made.DIM)), name="law", weight=0.5),
        nm.Client(made.rows(3), name="unused", weight=0),
    ]
    scores, local = (nm.evaluate(clients, made.generators(), cluster=c) for c in (dask_client, None))
    assert_same(scores, local)


def test_summaries_too_large_to_send_stay_and_say_so(dask_client, local, monkeypatch):
    monkeypatch.setattr("nbmetrics.arrays.memory.block_bytes", 100.0)
    scores = nm.evaluate(made.functions(), {**made.generators(), "law": LAW}, cluster=dask_client)
    np.testing.assert_allclose(scores.table[["avg", "all"]], local.table[["avg", "all"]], rtol=0, atol=1e-9)
    assert_frame_equal(scores.ledger, local.ledger)
    assert scores.size_gap("fid") == pytest.approx(local.size_gap("fid"), rel=1e-9)
    other = scores.with_weights(range(1, 21))
    assert other.table["avg"].notna().all() and other.table["all"].isna().all()
    assert any("too large to send" in line for line in other.cautions)


def test_far_features_are_centred_as_locally(dask_client):
    far = {name: rows + 1e6 for name, rows in ROWS.items()}
    given = {name: (lambda k=k: made.rows(k) + 1e6) for k, name in enumerate(made.NAMES)}
    generators = {name: rows + 1e6 for name, rows in made.generators().items()}
    assert_same(nm.evaluate(given, generators, "kid", cluster=dask_client), nm.evaluate(far, generators, "kid"))
