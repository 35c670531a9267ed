"""Streams as clients and generators: scored as their rows are, within the memory limit, or refused in words."""

import itertools
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.metrics import KID, Sample, streaming
from nbmetrics.summaries import stream as streams
from tests.batches import as_loader, as_npy, as_parquet_folder, need
from tests.slow import slow

RNG = np.random.default_rng(20261123)
ROWS = 3.0 + RNG.normal(size=(60, 4)) @ RNG.normal(size=(4, 4))


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 8 rows, as if a few rows were many."""
    monkeypatch.setattr(streaming, "block_rows", lambda dim: 8)


@pytest.mark.parametrize("kernel", [nm.RBF(2.0), nm.RBF("median"), nm.Polynomial(2), lambda x, y: (x @ y.T) ** 2])
@pytest.mark.parametrize("offset", [1e3, *slow(0.0)])
def test_pairs_of_streams_are_pairs_of_rows(kernel, offset, tmp_path, monkeypatch):
    rows, other = offset + RNG.normal(size=(90, 3)), offset + 0.3 + RNG.normal(size=(70, 3))
    monkeypatch.setattr(streams.memory, "block_bytes", 300.0)  # held: 25 rows; passing: 3
    shuffles = np.random.default_rng(0)
    parties = {
        "function": (lambda: np.array_split(rows, 4), lambda: np.array_split(other, 9)),
        "another order at each pass": (lambda: np.array_split(shuffles.permutation(rows), 4), other),
        "map": (as_npy(rows, tmp_path), nm.Generator(lambda: [other])),
        "distribution": (lambda: np.array_split(rows, 4), nm.Gaussian(offset + np.ones(3))),
    }
    metric = KID(kernel)
    for real, generated in parties.values():
        if isinstance(generated, nm.Gaussian) and not metric.has_closed_form(generated):
            continue
        clients = {"a": real, "b": other[:40]}
        scores = nm.evaluate(clients, {"g": generated}, metric, progress=False).table
        distribution = generated if isinstance(generated, nm.Gaussian) else other
        expected = nm.evaluate({"a": rows, "b": other[:40]}, {"g": distribution}, metric, progress=False).table
        scale = 1.0 if isinstance(kernel, nm.RBF) else float(np.mean((rows @ rows.T) ** 2))
        np.testing.assert_allclose(scores[["avg", "all"]], expected[["avg", "all"]], rtol=1e-9, atol=1e-12 * scale)


BAD = {
    "NaN": (lambda: [ROWS, np.full((2, 4), np.nan)], r"batch 2: 8 values are NaN"),
    "another width": (lambda: [ROWS, ROWS[:, :2]], r"batch 2: has 2 features where 4"),
    "nothing": (lambda: [], r"gave no rows"),
    "empty batches": (lambda: [ROWS[:0]], r"gave no rows"),
    "scalars": (lambda: [1.0, 2.0], r"batch 1: .*shape \(\)"),
    "texts": (lambda: ["a"], r"batch 1"),
    "images": (lambda: [np.zeros((2, 8, 8))], r"batch 1: .*nm\.extract"),
    "no iterable": (lambda: 3, r"returned 3"),
    "an error": (lambda: (ROWS[: 1 // (2 - k)] for k in range(9)), r"batch 3: raised ZeroDivisionError"),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("is_client", [True, False])
def test_bad_batches_are_told_by_whose_they_are_and_their_number(what, is_client):
    make, told = BAD[what]
    parties = ({"x": make}, {"g": ROWS}) if is_client else ({"c": ROWS}, {"x": make})
    with pytest.raises(nm.InvalidInput, match=rf"(client|generator) 'x'.*{told}"):
        nm.evaluate(*parties, "fid", progress=False)


def test_a_pass_with_other_rows_is_told():
    lengths = itertools.chain([9, 9, 8], itertools.repeat(9))
    client = nm.Client(lambda: [np.ones((next(lengths), 2))], name="x")
    with pytest.raises(nm.InvalidInput, match=r"client 'x': .*gave 8 rows, and 9 before"):
        nm.evaluate([client, RNG.normal(size=(9, 2))], [RNG.normal(size=(9, 2))], nm.metrics.KID(nm.RBF()))
    spent = iter([ROWS])
    with pytest.raises(nm.InvalidInput, match=r"same iterator as before.*new one"):
        nm.evaluate({"x": lambda: spent}, [ROWS], "fid")
    monkey = nm.Stream(iter([ROWS] * 5))
    streams.MOST_BATCHES, most = 3, streams.MOST_BATCHES
    try:
        with pytest.raises(nm.InvalidInput, match=r"more than 3 batches"):
            list(monkey.batches())
    finally:
        streams.MOST_BATCHES = most


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.longdouble])
def test_other_values_in_as_many_rows_are_seen_and_another_order_is_not(kind):
    rows = (3 * np.random.default_rng(1).normal(size=(40, 4))).astype(kind)
    flipped, changed = rows.copy(), rows.copy()
    row = np.flatnonzero((rows != rows[:, ::-1]).any(axis=1))[0]
    flipped[row] = rows[row, ::-1]
    changed[row, 2] += 1
    for other in (flipped, changed, rows[::-1], np.asfortranarray(rows)):
        passes = iter([(rows, 3), (rows, 4), (other, 5)])  # the first is only begun
        stream = nm.Stream(partial(lambda passes: np.array_split(*next(passes)), passes))
        assert sum(map(len, stream.batches())) == 40
        if other is flipped or other is changed:
            with pytest.raises(
                nm.InvalidInput, match=r"gave other rows than before, of the same number.* at every pass"
            ):
                list(stream.batches())
        else:
            assert len(list(stream.batches())) == 5


def test_scores_are_not_made_of_passes_that_differ(monkeypatch):
    """Of the clients and of the generators; a pass that only counts, where another gives the score, may differ."""
    monkeypatch.setattr("nbmetrics.arrays.memory.block_bytes", 100.0)
    rng, rows, pair = np.random.default_rng(0), RNG.normal(size=(40, 4)), nm.metrics.KID(nm.RBF(2.0))

    def augmented():
        yield from np.array_split(rng.normal(size=(40, 4)), 3)

    for parties, who in ((({"x": augmented}, {"g": rows}), "client 'x'"), (({"c": rows}, {"x": augmented}), "'x'")):
        with pytest.raises(nm.InvalidInput, match=rf"{who}.* other rows than before"):
            nm.evaluate(*parties, pair, progress=False)
        assert nm.evaluate(*parties, "fid", progress=False).table["all"].notna().all()

    def shuffled():
        yield from np.array_split(rng.permutation(rows), 3)

    table, here = (nm.evaluate({"x": c}, {"g": rows[:9]}, pair, progress=False).table for c in (shuffled, rows))
    np.testing.assert_allclose(table[["avg", "all"]], here[["avg", "all"]], rtol=1e-9)


def test_what_a_metric_needs_is_said_before_anything_is_read(monkeypatch):
    read = []

    def batches():
        for part in np.array_split(ROWS, 6):
            read.append(len(part))
            yield part

    for metric, needs in {"precision": "all rows together", "cmmd": "several times"}.items():
        read.clear()
        client = nm.Client(batches(), name="x")
        with pytest.raises(nm.InvalidInput, match=rf"client 'x': is an iterator.*needs.*{needs}.*function"):
            nm.evaluate([client], [ROWS], ["fid", metric], progress=False)
        assert len(read) == 1  # the first batch says how wide the rows are
        scores = nm.evaluate({"x": batches}, [ROWS + 0.1], ["fid", metric], progress=False).table
        expected = nm.evaluate({"x": ROWS}, [ROWS + 0.1], ["fid", metric], progress=False).table
        pd.testing.assert_frame_equal(scores, expected, rtol=1e-12)
    with pytest.raises(nm.InvalidInput, match=r"uncertainty needs all rows"):
        nm.evaluate([nm.Client(batches())], [ROWS], "fid", uncertainty=nm.Influence())
    monkeypatch.setattr(streams.memory, "block_bytes", 100.0)
    array = need("dask.array").from_array(ROWS, chunks=(10, 4))
    with pytest.raises(nm.InvalidInput, match=r"client 'x': .*1,920 bytes.*800.*set_memory_limit"):
        nm.evaluate({"x": array}, [ROWS], ["fid", "recall"], progress=False)
    with pytest.raises(nm.InvalidInput, match=r"1,920 bytes"):
        nm.Client(array).rows  # noqa: B018


def test_a_federation_of_iterators_is_weighed_by_the_rows_they_had():
    clients = {"a": iter(np.array_split(ROWS, 7)), "b": iter([ROWS[:20]])}
    federation = nm.Federation(clients)
    with pytest.raises(nm.InvalidInput, match=r"client 'a': .*number of rows"):
        federation.weights  # noqa: B018
    scores = nm.evaluate(federation, {"g": iter([ROWS])}, progress=False)
    assert scores.weights == (0.75, 0.25) == federation.weights
    expected = nm.evaluate({"a": ROWS, "b": ROWS[:20]}, {"g": ROWS}, progress=False)
    pd.testing.assert_frame_equal(scores.table, expected.table, rtol=1e-12)
    pd.testing.assert_frame_equal(scores.ledger, expected.ledger)
    with pytest.raises(nm.InvalidInput, match=r"client 'a': was read already"):
        nm.evaluate(federation, [ROWS], progress=False)


PARTIES = {
    "a parquet folder": (as_parquet_folder, lambda rows, folder: rows),
    "a .npy path and dask": (
        lambda rows, folder: as_npy(rows, folder) is not None and folder / "rows.npy",
        lambda rows, folder: need("dask.array").from_array(rows, chunks=(11, 2)),
    ),
    "zarr and a loader": (lambda rows, folder: need("zarr").array(rows, chunks=(13, 4)), as_loader),
}


@pytest.mark.parametrize("which", PARTIES)
def test_evaluate_takes_what_rows_lie_in(which, tmp_path):
    real, made = (make(rows, tmp_path) for make, rows in zip(PARTIES[which], (ROWS, 0.3 + ROWS), strict=True))
    names = tuple("dcba") if which == "a parquet folder" else None
    made = pd.DataFrame(made, columns=names) if names else made
    scores = nm.evaluate({"x": real}, {"g": made}, ["fid", "kid", "recall"], progress=False)
    expected = nm.evaluate({"x": ROWS}, {"g": 0.3 + ROWS}, ["fid", "kid", "recall"], progress=False)
    pd.testing.assert_frame_equal(scores.table, expected.table, rtol=1e-12)
    assert scores.conventions == expected.conventions


def test_rows_beyond_the_limit_are_scored_within_it(monkeypatch):
    da = need("dask.array")
    monkeypatch.setattr(streams.memory, "block_bytes", 2**17)  # as by a limit of 1 MB

    def lazy(seed):
        return da.random.default_rng(seed).standard_normal((24_000, 16), chunks=(1_000, 16))

    with need("dask").config.set(scheduler="synchronous"):  # and not a cluster that another test has started
        scored_within(lazy)


def scored_within(lazy):
    nm.evaluate({"x": lazy(2)[:300]}, {"g": lazy(3)[:300]}, progress=False)  # imports what is entered late
    tracemalloc.start()
    try:
        table = nm.evaluate({"x": lazy(0)}, {"g": lazy(1)}, progress=False).table
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * 2**20 < lazy(0).nbytes  # chunks of 128 kB are the user's own
    rows = np.asarray(lazy(0)), np.asarray(lazy(1))
    np.testing.assert_allclose(table["all"], [nm.fid(*rows), nm.kid(*rows)], rtol=1e-10, atol=1e-13)


@pytest.mark.slow
def test_pairs_of_rows_in_files_are_scored_within_the_limit(tmp_path, monkeypatch):
    rows = [RNG.normal(size=(n, 200)).astype(np.float32) + k for k, n in enumerate((2_400, 300))]
    for name, part in zip("ab", rows, strict=True):
        np.save(tmp_path / f"{name}.npy", part)
    expected = nm.kid(*rows)
    monkeypatch.setattr(streams.memory, "block_bytes", 2**17)  # as by a limit of 1 MB
    tracemalloc.start()
    try:
        clients = {"x": tmp_path / "a.npy"}
        table = nm.evaluate(clients, {"g": nm.Generator(tmp_path / "b.npy")}, "kid", progress=False).table
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * 2**20 < rows[0].nbytes
    assert table["all"][0] == pytest.approx(expected, rel=1e-9)


def test_several_streams_share_the_limit(monkeypatch):
    monkeypatch.setattr(streams.memory, "block_bytes", 500.0)  # 4,000 bytes: two streams of 1,920
    clients = {name: (lambda: np.array_split(ROWS, 3)) for name in "abc"}
    with pytest.raises(
        nm.InvalidInput, match=r"client 'c': Recall needs .*1,920 bytes.*4,000, of which others have 3,840"
    ):
        nm.evaluate(clients, [ROWS], "recall", progress=False)
    table = nm.evaluate(clients, [ROWS + 1.0], "cmmd", progress=False).table
    assert table["all"][0] == pytest.approx(nm.cmmd(ROWS, ROWS + 1.0), rel=1e-9)  # one by pairs, two as rows


def test_what_looks_at_rows_puts_a_stream_together():
    federation = nm.Federation({"a": lambda: np.array_split(ROWS, 3), "b": iter([ROWS[:20], ROWS[20:30]])})
    assert federation["b"].rows.shape == (30, 4)
    assert federation.weights == (2 / 3, 1 / 3)
    assert federation.split(test=0.5)["a"].test.shape == (30, 4)
    assert federation.merge("both", ["a", "b"])["both"].size == 90
    assert nm.fid(nm.Stream(lambda: [ROWS]), ROWS) == pytest.approx(0.0, abs=1e-12)
    client = nm.Client(lambda: np.array_split(ROWS, 3), condition=ROWS[:, :1], labels=["a", "b"] * 30)
    assert client.condition.shape == (60, 1) and client.size == 60


class Bag:
    """An iterable of the user's own, which is no list."""

    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


def test_an_iterable_of_rows_is_rows_and_one_of_batches_a_stream():
    assert nm.Client(Bag(*ROWS)).stream is None
    assert nm.Client(Bag(ROWS[:20], ROWS[20:])).stream.is_repeatable
    np.testing.assert_array_equal(nm.Client(Bag(*ROWS)).rows, nm.Client(Bag(ROWS[:20], ROWS[20:])).rows)
    client = nm.Client(iter([ROWS]))
    assert len(client.rows) == 60  # and so it is no stream any more
    assert nm.evaluate([client], [ROWS], "recall", progress=False).table["all"][0] == 1.0
    with pytest.raises(nm.InvalidInput, match=r"iterator.*several times"):
        KID(nm.RBF()).summarize(Sample(stream=nm.Stream(iter([ROWS]))))


def test_frames_with_other_columns_are_told():
    frames = [pd.DataFrame(ROWS, columns=list("abcd")), pd.DataFrame(ROWS, columns=list("abdc"))]
    with pytest.raises(nm.InvalidInput, match=r"client 'x', batch 2: has columns .*same order"):
        nm.evaluate({"x": lambda: frames}, [ROWS], "fid", progress=False)


def test_the_gap_by_chance_is_asked_of_rows_that_fit(monkeypatch):
    clients = {"a": lambda: np.array_split(ROWS, 3), "b": lambda: [ROWS[:30] + 1.0]}
    scores = nm.evaluate(clients, {"g": lambda: [ROWS]}, "fid", progress=False)
    rows = nm.evaluate({"a": ROWS, "b": ROWS[:30] + 1.0}, {"g": ROWS}, "fid", progress=False)
    pd.testing.assert_frame_equal(scores.heterogeneity("fid"), rows.heterogeneity("fid"), rtol=1e-9)
    again = nm.evaluate(clients, {"g": lambda: [ROWS]}, "fid", progress=False)
    monkeypatch.setattr(streams.memory, "block_bytes", 100.0)
    with pytest.raises(nm.InvalidInput, match=r"client 'a': all its rows take 1,920 bytes"):
        again.heterogeneity("fid")


class Largest:
    """The largest value, by blocks."""

    name = "largest"

    def streaming_mode(self, dim):
        return "once"

    def fold(self, dim):
        return self

    def __init__(self):
        self.sizes, self.found = [], -np.inf

    def take(self, rows):
        self.sizes.append(len(rows))
        self.found = max(self.found, rows.max())

    def end(self):
        return self.found

    def summarize(self, sample):
        return sample.rows.max()

    def pool(self, summaries, weights):
        return max(summaries)

    def terms(self, real, generated):
        return {"difference": float(real - generated)}


@pytest.mark.usefixtures("small_blocks")
def test_a_metric_of_the_users_own_takes_blocks():
    metric = Largest()
    scores = nm.evaluate({"x": iter(np.array_split(ROWS, 9))}, {"g": ROWS - 1.0}, ["fid", metric], progress=False)
    assert metric.sizes == [8] * 7 + [4]
    assert scores.clients["value"].tolist()[1] == pytest.approx(1.0)


def test_one_pass_serves_all_metrics_that_one_pass_serves():
    calls = {"client": 0, "generator": 0}

    def batches(who):
        calls[who] += 1
        return np.array_split(ROWS, 5)

    clients, generators = {"x": lambda: batches("client")}, {"g": lambda: batches("generator")}
    nm.evaluate(clients, generators, ["fid", "kid"], progress=False)
    assert calls == {"client": 2, "generator": 2}  # how wide they are, and the pass


@pytest.mark.parametrize(("progress", "is_told"), [(True, True), (False, False)])
def test_a_bar_counts_the_rows_that_are_read(progress, is_told, capsys):
    nm.evaluate(
        {"far": lambda: iter(np.array_split(ROWS, 3))}, {"near": lambda: iter([ROWS])}, "fid", progress=progress
    )
    said = capsys.readouterr().err
    assert ("reading client 'far'" in said and "reading generator 'near'" in said and " rows/s" in said) is is_told
