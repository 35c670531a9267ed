"""A large client is several tasks: the numbers of one, refusals that name it, and rows that are the same in a store."""

import sys
from functools import partial

import dask
import dask.array
import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.cluster import sources
from nbmetrics.cluster.first_look import federation_of
from nbmetrics.cluster.task_runner import TaskRunner
from nbmetrics.metrics import FID, KID, Sample
from tests.evaluation.test_store import counts, farthest

from . import made

SIZE, DIM = 700, 3


def large(dim=DIM, size=SIZE):
    return np.random.default_rng(5).normal(2.0, 3.0, (size, dim)) @ np.diag(np.arange(1.0, dim + 1.0))


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of 100 rows or so, as if a few rows were many."""
    monkeypatch.setattr(sources, "MIN_PART_BYTES", 8 * DIM * 100)
    monkeypatch.setattr(sources, "MIN_ROWS_PER_FEATURE", 1)


def as_table(rows):
    import pyarrow

    return pyarrow.table({f"x{k}": column for k, column in enumerate(rows.T)})


def as_given(kind, rows, folder, client):
    if kind == "npy":
        np.save(folder / "rows.npy", rows)
        return folder / "rows.npy"
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(folder / "rows.zarr", shape=rows.shape, dtype=rows.dtype, chunks=(60, rows.shape[1]))
        array[:] = rows
        return nm.Client(array)
    if kind == "parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        for part, some in enumerate(np.split(rows, [330])):
            pq.write_table(as_table(some), folder / f"{part}.parquet", row_group_size=60)
        return folder
    array = dask.array.from_array(rows, chunks=(60, rows.shape[1]))
    return client.persist(array) if kind == "persisted" else array


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("kind", "parts"), [("npy", 7), ("zarr", 6), ("parquet", 6), ("dask", 6), ("persisted", 12)])
def test_a_large_client_is_several_tasks_with_the_scores_of_one(dask_client, tmp_path, kind, parts):
    rows, small = large(), made.rows(3)
    clients = {"large": as_given(kind, rows, tmp_path, dask_client), "small": small}
    runner = TaskRunner(dask_client)
    federation, found = federation_of(clients, runner)
    assert len(found[0].parts) == parts
    assert federation.clients[0].rows.shape == rows.shape
    runner.release()
    metrics = ["fid", "kid", nm.metrics.MFID(condition_dim=1)]  # MFID cannot be split
    scores = nm.evaluate(clients, made.generators(), metrics, cluster=dask_client)
    local = nm.evaluate({"large": rows, "small": small}, made.generators(), metrics)
    assert farthest(scores, local) < 1e-12
    assert scores.ledger.equals(local.ledger)
    assert scores.conventions == local.conventions
    assert farthest(scores.with_weights([1, 9]), local.with_weights([1, 9])) < 1e-12


@pytest.mark.parametrize("dim", [1, 3, 70])
@pytest.mark.parametrize("metric", [FID(), KID()])
def test_merged_folds_are_the_fold_of_all_rows_and_stay_as_they_are(metric, dim):
    rows, generated = large(dim), metric.summarize(Sample(rows=large(dim, 300) + 0.1))
    expected = metric.distance(metric.summarize(Sample(rows=rows)), generated)

    def folded(part):
        fold = metric.fold(dim)
        fold.take(part)
        return fold

    folds = [folded(part) for part in np.split(rows, [1, 150, 151, 600])]
    for _ in range(2):  # a task that merges may run again
        merged = metric.fold(dim)
        for fold in folds:
            merged.merge(fold)
        assert metric.distance(merged.end(), generated) == pytest.approx(expected, rel=1e-10)


@pytest.mark.usefixtures("small_parts")
def test_what_is_wrong_in_a_part_names_the_client_and_the_rows(dask_client):
    def dask_rows(rows):
        return dask.array.from_array(rows, chunks=(60, DIM))

    rows = large()
    rows[433, 1] = np.nan
    with pytest.raises(nm.InvalidInput, match=r"client 'large', rows from 421: 1 value is NaN or infinite, in row"):
        nm.evaluate({"large": dask_rows(rows)}, made.generators(), cluster=dask_client)


@pytest.mark.usefixtures("small_parts")
def test_rows_that_change_after_the_first_look_are_refused(dask_client, tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", large())
    client = nm.Client(tmp_path / "rows.npy")

    def changed(*args):
        found = federation_of(*args)
        mapped = np.load(tmp_path / "rows.npy", mmap_mode="r+")
        mapped[650] += 1.0
        mapped.flush()
        return found

    monkeypatch.setattr(sys.modules["nbmetrics.cluster.evaluate"], "federation_of", changed)
    with pytest.raises(nm.InvalidInput, match="client 'large': gave 700 other rows than at the first look"):
        nm.evaluate({"large": client}, made.generators(), cluster=dask_client)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_parts_whose_workers_are_killed_are_read_again(dask_client, tmp_path):
    makers = [partial(made.rows, 17), partial(made.killing, 18, tmp_path, after=1), partial(made.rows, 19)]
    shapes = [made.rows(k).shape for k in (17, 18, 19)]
    blocks = [
        dask.array.from_delayed(dask.delayed(maker)(), shape, float)
        for maker, shape in zip(makers, shapes, strict=True)
    ]
    scores = nm.evaluate({"large": dask.array.concatenate(blocks)}, made.generators(), cluster=dask_client)
    assert len(list(tmp_path.iterdir())) == 4
    rows = np.concatenate([made.rows(k) for k in (17, 18, 19)])
    assert farthest(scores, nm.evaluate({"large": rows}, made.generators())) < 1e-12


def test_parts_of_a_file_have_the_hash_of_the_file(dask_client, tmp_path):
    size, dim = 600_000, 8  # three blocks of the hash, two parts
    rows = np.random.default_rng(1).standard_normal((size, dim), dtype=np.float32)
    np.save(tmp_path / "rows.npy", rows)
    generators = {"g": np.random.default_rng(2).normal(0.1, 1.0, (50, dim))}
    stored = {"cluster": dask_client, "store": tmp_path / "store"}
    client = nm.Client(tmp_path / "rows.npy")
    runner = TaskRunner(dask_client)
    assert len(federation_of({"c": client}, runner)[1][0].parts) == 2
    runner.release()
    first = nm.evaluate({"c": client}, generators, "fid", **stored)
    assert counts(first) == {"found": 0, "computed": 2}
    assert counts(nm.evaluate({"c": rows}, generators, "fid", store=tmp_path / "store")) == {"found": 2, "computed": 0}
    lazy = dask.array.from_array(rows, chunks=(150_000, dim))
    assert counts(nm.evaluate({"c": lazy}, generators, "fid", **stored)) == {"found": 2, "computed": 0}


@pytest.mark.slow
def test_a_task_that_reads_batches_lives_however_long_it_takes_and_the_bar_counts_its_rows(dask_client, capsys):
    clients = {"slow": partial(made.beating, 12, 0.75), "other": made.rows(1)}
    with dask.config.set({"nbmetrics.timeout": "5 s"}):
        scores = nm.evaluate(clients, made.generators(), cluster=dask_client, progress=True)
    assert "rows read" in capsys.readouterr().err
    rows = np.concatenate([made.rows(k) for k in range(13)])
    assert farthest(scores, nm.evaluate({"slow": rows, "other": made.rows(1)}, made.generators())) < 1e-12


@pytest.mark.slow
def test_a_task_that_hangs_within_a_batch_is_told_with_its_client(dask_client):
    clients = {"odd": partial(made.beating, 4, 0.75, last=8.0)}
    with (
        dask.config.set({"nbmetrics.timeout": "3 s"}),
        pytest.raises(nm.InvalidInput, match="client 'odd' has not finished in 3 seconds"),
    ):
        nm.evaluate(clients, made.generators(), cluster=dask_client)
