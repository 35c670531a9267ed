"""Streams: what they come from, how they are cut and counted; their summaries are those of the rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.metrics import FID, KID, Sample, streaming
from tests.batches import SOURCES, as_npy, as_parquet, need

RNG = np.random.default_rng(20261123)
ROWS = 3.0 + RNG.normal(size=(60, 4)) @ RNG.normal(size=(4, 4))


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_its_rows(kind, tmp_path):
    stream = nm.Stream(SOURCES[kind](ROWS, tmp_path))
    expected = np.roll(ROWS, -30, axis=0) if kind.startswith("part of") else ROWS
    assert stream.dim == 4
    blocks = list(stream.batches(rows=8))
    assert [len(block) for block in blocks] == [8] * 7 + [4]
    np.testing.assert_array_equal(np.concatenate(blocks), expected)
    assert stream.size == 60
    if stream.is_repeatable:
        np.testing.assert_array_equal(stream.collect(), expected)
        np.testing.assert_array_equal(stream.take(np.array([41, 3, 59, 0])), expected[[41, 3, 59, 0]])
    else:
        with pytest.raises(nm.InvalidInput, match=r"read already.*function"):
            next(stream.batches())


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 8 rows, as if a few rows were many."""
    monkeypatch.setattr(streaming, "block_rows", lambda dim: 8)


@pytest.mark.usefixtures("small_blocks")
@settings(max_examples=25, deadline=None, database=None)
@given(
    d=st.sampled_from([1, 3, 70]),
    cuts=st.lists(st.integers(0, 97), max_size=30),
    seed=st.integers(0, 99),
    offset=st.sampled_from([0.0, 1e3]),
    is_sorted=st.booleans(),
)
def test_batches_of_any_size_in_any_order_give_the_summary_of_the_rows(d, cuts, seed, offset, is_sorted):
    rng = np.random.default_rng(seed)
    rows = offset + np.repeat([[0.0], [5.0]], [40, 57], axis=0) + rng.standard_normal((97, d))
    shuffled = rows if is_sorted else rng.permutation(rows)
    stream = nm.Stream(iter(np.split(shuffled, sorted(cuts))))
    moments, whole = FID().summarize(Sample(stream=stream)), FID().summarize(Sample(rows=rows))
    scale = whole.trace
    np.testing.assert_allclose(moments.cov, whole.cov, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(moments.mean, whole.mean, rtol=1e-14, atol=1e-12)
    assert moments.count == 97


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_the_embedding_of_a_stream_is_that_of_its_rows(offset):
    rows, other = offset + RNG.normal(size=(2, 300, 3))
    sides = Sample(rows=rows), Sample(rows=other)
    kid = KID().resolve(sides)
    summaries = [kid.summarize(Sample(stream=nm.Stream(iter(np.array_split(s.rows, 23))))) for s in sides]
    expected = [kid.summarize(s) for s in sides]
    for made, whole in zip(summaries, expected, strict=True):
        np.testing.assert_allclose(made.parts[0].content.vector, whole.parts[0].content.vector, rtol=1e-12, atol=1e-12)
        assert made.parts[0].diagonal == pytest.approx(whole.parts[0].diagonal, rel=1e-12)
    assert kid.distance(*summaries) == pytest.approx(kid.distance(*expected), rel=1e-12, abs=1e-12)


def test_a_stream_crosses_to_another_process_unless_it_comes_once(tmp_path):
    pickle = need("cloudpickle")
    for stream in (nm.Stream(lambda: [ROWS]), nm.Stream(as_npy(ROWS, tmp_path))):
        there = pickle.loads(pickle.dumps(FID())).summarize(Sample(stream=pickle.loads(pickle.dumps(stream))))
        assert there.trace == FID().summarize(Sample(rows=ROWS)).trace
    with pytest.raises(nm.InvalidInput, match=r"another process"):
        pickle.dumps(nm.Stream(iter([ROWS])))


def test_columns_of_parquet_are_chosen_and_missing_values_told(tmp_path):
    path = as_parquet(ROWS, tmp_path)
    np.testing.assert_array_equal(nm.Stream(path, columns=["a", "d"]).collect(), ROWS[:, [3, 0]])
    assert nm.Client(path).columns == ("d", "c", "b", "a")
    with pytest.raises(nm.InvalidInput, match=r"columns: \['e'\] are not in"):
        nm.Stream(path, columns=["a", "e"])
    with pytest.raises(nm.InvalidInput, match=r"columns: .*parquet"):
        nm.Stream(lambda: [ROWS], columns=["a"])
    with pytest.raises(nm.InvalidInput, match=r"same columns in the same order"):
        nm.evaluate({"a": path}, [pd.DataFrame(ROWS, columns=list("abcd"))], "fid")
    frame = pd.DataFrame(ROWS, columns=list("dcba")).astype({"c": "Float64"})
    frame.loc[3, "c"] = pd.NA
    frame.to_parquet(path)
    with pytest.raises(nm.InvalidInput, match=r"data: 1 value is missing in column 'c'"):
        nm.Client(path)


def one_array_filled_again(rows):
    array = np.empty((6, 4))
    for part in np.split(rows, 10):
        array[:] = part
        yield array


def test_batches_may_be_one_array_that_is_filled_again():
    for stream in (nm.Stream(one_array_filled_again(ROWS)), nm.Stream(lambda: one_array_filled_again(ROWS))):
        np.testing.assert_array_equal(np.concatenate(list(stream.batches(rows=7))), ROWS)
    np.testing.assert_array_equal(nm.Client(one_array_filled_again(ROWS)).rows, ROWS)
