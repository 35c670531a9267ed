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
