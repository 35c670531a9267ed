"""evaluate on a cluster: the numbers, lines and columns of one machine, whatever the clients are."""

import pickle
from functools import partial

import dask
import dask.array
import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import nbmetrics as nm
from tests.slow import by_default

from . import made

ROWS = {name: made.rows(k) for k, name in enumerate(made.NAMES)}
DISTRIBUTION = nm.Gaussian(np.ones(made.DIM))


@pytest.fixture(scope="module")
def local():
    return nm.evaluate(ROWS, {**made.generators(), "distribution": DISTRIBUTION})


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


KINDS = ["rows", "functions", "batches", "futures", "delayed", "arrays"]
KERNELS = [nm.RBF(2.0), nm.Polynomial(2), nm.RandomFeatures(nm.RBF(2.0), 64)]


@pytest.mark.parametrize("kind", by_default(KINDS, "rows", "batches", "futures"))
def test_every_kind_of_client_gives_the_local_scores(kind, dask_client, local):
    generators = {**made.generators(), "distribution": DISTRIBUTION}
    assert_same(nm.evaluate(as_given(kind, dask_client), generators, cluster=dask_client), local)


def test_rows_that_stayed_on_the_cluster_are_asked_for_in_vain(dask_client):
    scores = nm.evaluate(made.functions(), {"distribution": DISTRIBUTION}, "fid", cluster=dask_client)
    with pytest.raises(nm.InvalidInput, match=f"needs the rows of client {made.NAMES[0]!r}, which are on the cluster"):
        scores.heterogeneity("fid")


def test_what_sees_all_rows_at_once_is_scored_there_too(dask_client):
    clients = nm.Federation({name: made.rows(k) for k, name in enumerate(made.NAMES[:5])}).split(test=0.5)
    metrics = [nm.metrics.KID(nm.RBF("median"), name="rbf"), "precision", "fld", nm.metrics.MFID(condition_dim=1)]
    scores, local = (nm.evaluate(clients, made.generators(), metrics, cluster=c) for c in (dask_client, None))
    assert_same(scores, local)


@pytest.mark.parametrize("kernel", by_default(KERNELS, KERNELS[0]))
def test_kid_of_any_kernel_is_that_of_pairs_of_clients(kernel, dask_client):
    clients = ROWS
    given = made.functions()
    strata = {"strata": kernel, "cubic strata": None}
    metrics = [nm.metrics.KID(kernel, name="k"), nm.metrics.CMMD()]
    metrics += [nm.metrics.KID(k, "stratified", name=name) for name, k in strata.items()]
    scores, local = (
        nm.evaluate(c, made.generators(), metrics, cluster=d) for c, d in ((given, dask_client), (clients, None))
    )
    assert_same(scores, local)
    tables = (s.table.query("metric == 'cubic strata'")[["avg", "all", "gap"]] for s in (scores, local))
    np.testing.assert_allclose(*tables, rtol=1e-10, atol=1e-12)
    assert scores.cautions == local.cautions


def test_pairs_of_clients_do_not_need_all_rows_in_one_worker(dask_client, monkeypatch):
    monkeypatch.setattr("nbmetrics.cluster.client_tasks.WORKER_MEMORY_SHARE", 1e-7)
    monkeypatch.setattr("nbmetrics.cluster.pairs.STACK_MEMORY_SHARE", 1e-6)
    kid = nm.metrics.KID(nm.RBF(2.0))
    scores = nm.evaluate(made.functions(), made.generators(), kid, cluster=dask_client)
    assert_same(scores, nm.evaluate(ROWS, made.generators(), kid))
    with pytest.raises(nm.InvalidInput, match="needs all rows in one worker"):
        nm.evaluate(made.functions(), made.generators(), "precision", cluster=dask_client)


def test_few_rows_distributions_and_weights_of_zero_mean_what_they_mean_locally(dask_client):
    clients = [
        nm.Client(made.rows(0), name="a", weight=2),
        nm.Client(made.rows(1)[:1], name="one row", weight=0),
        nm.Client(nm.Gaussian(np.zeros(made.DIM)), name="distribution", weight=0.5),
        nm.Client(made.rows(3), name="unused", weight=0),
    ]
    metrics = ["fid", "kid", nm.metrics.KID(nm.RBF(2.0), name="rbf"), "fid_infinity"]
    generators = {**made.generators(), "one row": made.rows(5)[:1]}
    scores, local = (nm.evaluate(clients, generators, metrics, cluster=c) for c in (dask_client, None))
    assert_same(scores, local)
    told = [line for line in local.cautions if "generator 'one row', fid, rows: has 1 row" in line]
    assert told and all(line.count("one row") == 1 for line in told)


def test_summaries_too_large_to_send_stay_and_say_so(dask_client, local, monkeypatch):
    monkeypatch.setattr("nbmetrics.arrays.memory.block_bytes", 100.0)
    scores = nm.evaluate(made.functions(), {**made.generators(), "distribution": DISTRIBUTION}, cluster=dask_client)
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


@pytest.mark.slow  # quick: the kind "batches" above, which holds the numbers, not the memory
def test_batches_go_by_in_a_worker_and_are_not_put_together(dask_client):
    count, generated = 14, {"g": np.random.default_rng(5).normal(1.0, 1.0, (50, 8))}
    few = nm.evaluate({"c": partial(made.frugal, count, 70e6)}, generated, "fid", cluster=dask_client)
    whole = np.concatenate(list(made.frugal(count, np.inf)))
    assert whole.nbytes > 100e6
    assert few.table["avg"][0] == pytest.approx(nm.fid(whole, generated["g"]), rel=1e-10)
    with pytest.raises(nm.InvalidInput, match=r"client 'c'.* bytes were held"):
        nm.evaluate({"c": partial(made.frugal, count, 5e6)}, generated, "fid", cluster=dask_client)


def test_a_file_is_opened_where_it_is_scored(dask_client, tmp_path):
    for name, rows in ROWS.items():
        np.save(tmp_path / f"{name}.npy", rows)
    paths = {name: nm.Client(tmp_path / f"{name}.npy") for name in ROWS}
    np.save(tmp_path / "large.npy", np.zeros((20_000, made.DIM)))
    assert len(pickle.dumps(nm.Client(tmp_path / "large.npy").stream)) < 20_000
    assert_same(nm.evaluate(paths, made.generators(), cluster=dask_client), nm.evaluate(ROWS, made.generators()))


def test_an_iterator_is_refused_on_a_cluster(dask_client):
    clients = {"a": nm.Client(iter([made.rows(1)])), "b": made.rows(2)}
    with pytest.raises(nm.InvalidInput, match="client 'a': is an iterator"):
        nm.evaluate(clients, made.generators(), cluster=dask_client)


@pytest.mark.parametrize("kind", ["rows", "functions"])
def test_what_generators_made_for_each_client_gives_the_local_scores(kind, dask_client, tmp_path):
    rng = np.random.default_rng(3)
    made_for = {
        name: {client: rng.normal(k, 1.0 + 0.1 * shift, (30 + k, made.DIM)) for k, client in enumerate(made.NAMES)}
        for shift, name in enumerate(("g", "h"))
    }
    generators = {**made_for, "distribution": DISTRIBUTION}
    local = nm.evaluate(ROWS, generators)
    assert "intra" in local.table
    assert_same(nm.evaluate(as_given(kind, dask_client), generators, cluster=dask_client), local)
    for _ in range(2):
        kept = nm.evaluate(as_given(kind, dask_client), generators, cluster=dask_client, store=tmp_path)
        np.testing.assert_allclose(kept.table["intra"], local.table["intra"], rtol=1e-10)
    assert kind != "rows" or kept.provenance["store"]["computed"] == 0
