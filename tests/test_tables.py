"""Tables of every kind at every entry: the value of the same rows as arrays, or a refusal that names the column."""

import json

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.arrays import as_rows
from nbmetrics.federated import serialization
from nbmetrics.tables import check_same_order, column_names

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
dd = pytest.importorskip("dask.dataframe")

NAMES, TURNED = ["a", "b", "c"], ["a", "c", "b"]
RNG = np.random.default_rng(25)
X, Y = (RNG.normal(size=(n, 3)) @ np.diag([1.0, 2.0, 3.0]) + [0.0, 5.0, 10.0] for n in (60, 50))


class Interchanged:
    """A frame of some other library, such as polars: names, types and Arrow's interchange."""

    def __init__(self, frame):
        self.columns, self.dtypes, self._table = list(frame.columns), ["Float64"] * 3, pa.table(frame)

    def __len__(self):
        return len(self._table)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


TABLES = {
    "pandas": lambda f: f,
    "nullable": lambda f: f.astype("Float64"),
    "mixed nullable": lambda f: f.astype({f.columns[1]: "Float64"}),
    "arrow dtype": lambda f: f.astype("double[pyarrow]"),
    "pa.Table": lambda f: pa.Table.from_pandas(f),
    "RecordBatch": lambda f: pa.RecordBatch.from_pandas(f),
    "chunks": lambda f: pa.concat_tables([pa.Table.from_pandas(f[:20]), pa.Table.from_pandas(f[20:])]),
    "other index": lambda f: pa.Table.from_pandas(f.set_axis(np.arange(len(f))[::-1] * 7)),
    "dask": lambda f: dd.from_pandas(f, npartitions=2),
    "structured": lambda f: f.to_records(index=False),
    "interchange": Interchanged,
}


def score_of(real, generated, metric="fid"):
    torch_room = pytest.importorskip("nbmetrics.torch")
    score = torch_room.Score(metric)
    score.update(real, real=True)
    score.update(generated, real=False)
    return float(score.compute()["all"])


def aggregated(first, second, generated=None):
    sent = [nm.federated.client_summary(rows, "fid") for rows in (first, second)]
    return nm.federated.aggregate(sent, None, {"g": first if generated is None else generated}, "fid").table["all"][0]


def stored(a, b, path):
    moments = nm.Moments.load(nm.Moments.of(a).save(path / "a.npz"))
    return nm.fid(moments, nm.Moments.of(b))


ENTRIES = {
    "fid": lambda a, b: nm.fid(a, b),
    "kid": lambda a, b: nm.kid(a, b),
    "prdc": lambda a, b: nm.prdc(a, b),
    "two_sample": lambda a, b: nm.two_sample(a, b).p,
    "clients": lambda a, b: nm.evaluate({"x": a, "y": b}, {"g": X}, "fid").table["avg"][0],
    "generator": lambda a, b: nm.evaluate({"x": a}, {"g": b}, "fid").table["avg"][0],
    "alone": lambda a, b: nm.evaluate([a], b, "fid").table["avg"][0],
    "function": lambda a, b: nm.evaluate([a], {"g": lambda n, rng: b}, "fid").table["avg"][0],
    "stream": lambda a, b: nm.evaluate([a], {"g": lambda: iter([b])}, "fid").table["avg"][0],
    "second batch": lambda a, b: nm.Stream(lambda: iter([a, b])).collect().sum(),
    "batches": lambda a, b: nm.Client([a, b]).rows.sum(),
    "test": lambda a, b: nm.evaluate([nm.Client(a, test=b)], {"g": X}, "fld").table["avg"][0],
    "conditions": lambda a, b: nm.evaluate(
        [nm.Client(X, condition=a), nm.Client(Y, condition=b)], {"g": lambda x, rng: x}, "cfid"
    ).table["all"][0],
    "from_labels": lambda a, b: nm.evaluate(nm.Federation.from_labels(a, [0, 1] * 30), {"g": b}, "fid").table["all"][0],
    "pooled": lambda a, b: nm.evaluate([nm.Federation([a, X]).pooled()], {"g": b}, "fid").table["all"][0],
    "summaries": aggregated,
    "summary and generator": lambda a, b: aggregated(a, X, b),
    "Score": score_of,
    "Moments": lambda a, b: nm.fid(nm.Moments.of(a), b),
    "KernelDensity": lambda a, b: nm.KernelDensity(a, 1.0).log_prob(b).sum(),
    "KernelDensity as client": lambda a, b: nm.fid(nm.KernelDensity(a, 1.0), b),
    "Gaussian.fit": lambda a, b: nm.Gaussian.fit(a).log_prob(b).sum(),
    "Mixture": lambda a, b: nm.Mixture([nm.Empirical(a), nm.Empirical(b)]).mean.sum(),
    "list of batches": lambda a, b: nm.evaluate([nm.Client([a, a])], nm.Generator([b, b]), "fid").table["all"][0],
    "theory": lambda a, b: nm.theory.fid_avg_bound([a], b).avg,
    "conditional_order": lambda a, b: nm.theory.conditional_order(a, b).rfid,
    "collapse": lambda a, b: nm.theory.collapse([a], b).ratio,
    "best_mixture": lambda a, b: nm.best_mixture([X], {"g": a, "h": b}, "kid").score,
}


def frame(rows, order=NAMES):
    return pd.DataFrame(rows, columns=NAMES)[order]


@pytest.mark.parametrize("kind", TABLES)
def test_each_kind_of_table_is_its_rows_and_names(kind):
    table = TABLES[kind](frame(X, TURNED))
    np.testing.assert_array_equal(as_rows(table, "x"), X[:, [0, 2, 1]])
    assert column_names(table) == tuple(TURNED)


# Every entry with one kind, and every kind at one entry: the reader and the check are the same for all.
PAIRS = (
    [(entry, "pa.Table") for entry in ENTRIES] + [("generator", kind) for kind in TABLES] + [("collapse", "structured")]
)


@pytest.mark.filterwarnings("ignore::nbmetrics.metrics.conditional.FewPairsWarning")
@pytest.mark.parametrize(("entry", "kind"), PAIRS)
def test_an_entry_takes_a_table_as_its_rows_and_refuses_another_order(entry, kind):
    call, make = ENTRIES[entry], TABLES[kind]
    expected = call(X, Y)
    np.testing.assert_allclose(call(make(frame(X)), make(frame(Y))), expected, rtol=1e-12)
    np.testing.assert_allclose(call(make(frame(X)), Y), expected, rtol=1e-12)  # of no names any order may be meant
    with pytest.raises(nm.InvalidInput, match=r"(column \d of|columns).*Give the same columns in the same order"):
        call(make(frame(X)), make(frame(Y, TURNED)))


@pytest.mark.parametrize("kind", ["pandas", "pa.Table", "dask", "structured"])
@pytest.mark.parametrize("is_drawn", [False, True])
def test_a_monitor_reads_tables_and_says_that_columns_have_another_order(kind, is_drawn):
    rows = X[:3]  # a square: its transpose has the right shape, too
    monitor = nm.Monitor([frame(Y)], ["fid"], keep_all=True, samples=3)
    source = TABLES[kind](frame(rows, NAMES))
    turned = TABLES[kind](frame(rows, TURNED))
    monitor.log(0, (lambda n, rng: source) if is_drawn else source)
    with pytest.warns(UserWarning, match="column 2 of"):
        monitor.log(1, (lambda n, rng: turned) if is_drawn else turned)
    monitor.wait()
    scores = monitor.table.set_index("step")["all"]
    assert scores[0] == pytest.approx(nm.fid(Y, rows), rel=1e-9)
    assert 1 not in scores or np.isnan(scores[1])
    assert "column 2 of" in monitor.troubles[0]


def test_labels_of_means_and_covariances_travel(tmp_path):
    a, b = frame(X), frame(Y, TURNED)
    for made in (nm.Moments(a.mean(), a.cov(), 60), nm.Gaussian(a.mean(), a.cov())):
        assert column_names(made) == tuple(NAMES)
        with pytest.raises(nm.InvalidInput, match="column 2 of"):
            nm.fid(made, b)
        with pytest.raises(nm.InvalidInput, match="column 2 of"):
            type(made)(a.mean(), b.cov())
    assert column_names(nm.Gaussian(pd.Series([1.0, 2.0]), np.eye(2))) is None
    assert nm.Gaussian(a.mean(), a.var()).columns == tuple(NAMES)


def test_names_are_kept_in_files_of_moments_and_in_summaries(tmp_path):
    assert stored(frame(X), frame(Y), tmp_path) == pytest.approx(nm.fid(X, Y), rel=1e-9)
    with pytest.raises(nm.InvalidInput, match=r"column 2 of"):
        stored(frame(X), frame(Y, TURNED), tmp_path)
    nm.Moments.of(X).save(tmp_path / "b.npz")
    assert nm.Moments.load(tmp_path / "b.npz").columns is None
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    for names in (["a", 1, "c"], [], ["a"] * 4, "abc"):
        arrays["nbmetrics_columns"] = np.frombuffer(json.dumps(names).encode(), np.uint8)
        np.savez(tmp_path / "c.npz", **arrays)
        with pytest.raises(nm.InvalidInput, match="columns"):
            nm.Moments.load(tmp_path / "c.npz")

    sent = nm.federated.client_summary(frame(X), "fid")
    dim, sections = serialization.read(sent, "summary")
    assert dim == 3 and sections["fid"].columns == tuple(NAMES)
    assert any("['a', 'b', 'c']" in line for line in nm.federated.inspect(sent))
    assert b"columns" not in nm.federated.client_summary(X, "fid")
    many = nm.federated.client_summary(pd.DataFrame(X, columns=[letter * 10**6 for letter in "abc"]), "fid")
    assert serialization.read(many, "summary")[1]["fid"].columns is None


@pytest.mark.parametrize(
    ("first", "second", "seen"),
    [
        ("abc", "abc", None),
        ("abc", "abx", None),
        ("abc", "xyz", None),
        ("aab", "aab", None),
        ("abc", "acb", "column 2 of 'g' is 'c', of 'x' 'b'"),
        ("abc", "bcd", "column 1 of 'g' is 'b', of 'x' 'a'"),
        ("abc", "abcl", "'x' has no column 'l', but 'g' has"),
        ("abcl", "abc", "'g' has no column 'l', but 'x' has"),
    ],
)
def test_a_column_has_one_place(first, second, seen):
    named = [("x", tuple(first)), ("u", None), ("g", tuple(second))]
    if seen is None:
        check_same_order(named)
        return
    with pytest.raises(nm.InvalidInput) as error:
        check_same_order(named)
    assert error.value.seen == seen and error.value.argument == "g"


F4 = X.astype("f4")
EMBEDDINGS = {
    "list": lambda: pa.array(list(F4), type=pa.list_(pa.float32())),
    "large_list": lambda: pa.array(list(F4), type=pa.large_list(pa.float32())),
    "fixed_size_list": lambda: pa.FixedSizeListArray.from_arrays(pa.array(F4.ravel()), 3),
    "tensor": lambda: pa.FixedShapeTensorArray.from_numpy_ndarray(F4),
    "sliced": lambda: pa.array([[9.0] * 3, *F4.tolist(), [9.0] * 3]).slice(1, len(F4)),
}


@pytest.mark.parametrize("kind", EMBEDDINGS)
def test_a_column_of_lists_is_features_and_beside_numbers_must_be_chosen(kind, tmp_path):
    emb, path = EMBEDDINGS[kind](), tmp_path / "x.parquet"
    texts = pa.array([f"u{k}" for k in range(60)])
    pq.write_table(pa.table({"uid": texts, "emb": emb}), path, row_group_size=25)
    np.testing.assert_array_equal(nm.Client(path).rows, F4)
    np.testing.assert_array_equal(as_rows(pa.table({"emb": emb}), "x"), F4)
    both = pa.table({"id": np.arange(60), "emb": emb})
    pq.write_table(both, path)
    for read in (nm.Client, nm.Stream, nm.Generator, lambda p: nm.Client(pa.dataset.dataset(p))):
        with pytest.raises(nm.InvalidInput, match=r"lists in \['emb'\], numbers in \['id'\].*columns=\['emb'\]"):
            read(path)
    np.testing.assert_array_equal(nm.Stream(path, columns="emb").collect(), F4)
    chosen = nm.Stream(path, columns=["emb", "id"]).collect()
    np.testing.assert_array_equal(chosen, np.column_stack([F4, np.arange(60)]))
    with pytest.raises(nm.InvalidInput, match=r"lists in \['emb'\].*table\.select\(\['emb'\]\)"):
        nm.fid(both, X)
    frames = pd.DataFrame({"id": np.arange(60), "emb": list(F4)})
    with pytest.raises(nm.InvalidInput, match=r"lists in \['emb'\].*frame\[\['emb'\]\]"):
        nm.fid(frames, X)
    assert nm.fid(frames[["emb"]], Y) == nm.fid(frames["emb"], Y) == nm.fid(F4, Y)


def parquet_of(columns, path):
    pq.write_table(pa.table(columns), path)
    return path


ONES = pa.array(np.ones(3))
BAD = {
    "binary": ({"id": ONES, "v": pa.array([b"1"] * 3)}, None, r"binary values in \['v'\], numbers in \['id'\]"),
    "struct": ({"v": pa.array([{"x": 1.0}] * 3)}, None, r"nested or binary values in \['v'\]"),
    "two lists": ({"v": pa.array([[1.0]] * 3), "w": pa.array([[1.0]] * 3)}, None, r"lists in \['v', 'w'\]"),
    "lengths": ({"v": pa.array([[1.0], [1.0, 2.0], [3.0]])}, None, r"column 'v' of .* lists of 1 to 2 numbers"),
    "gap": ({"v": pa.array([1.0, None, 2.0])}, None, r"1 value is missing in column 'v'"),
    "list gap": ({"v": pa.array([[1.0], None, [2.0]])}, None, r"1 value is missing in column 'v'"),
    "gap in a list": ({"v": pa.array([[1.0], [None], [2.0]])}, None, r"1 value is missing in column 'v'"),
    "text": ({"v": pa.array(["1"] * 3)}, None, r"no columns of numbers"),
    "chosen text": ({"id": ONES, "v": pa.array(["1"] * 3)}, ["v"], r"columns: \['v'\] of .* are not numbers"),
    "chosen none": ({"id": ONES}, ["v"], r"columns: \['v'\] are not in"),
}


@pytest.mark.parametrize("kind", BAD)
def test_columns_of_parquet_that_are_no_features_are_named(kind, tmp_path):
    columns, chosen, seen = BAD[kind]
    with pytest.raises(nm.InvalidInput, match=seen):
        nm.Stream(parquet_of(columns, tmp_path / "x.parquet"), columns=chosen)


def test_numbers_of_other_types_are_read_from_parquet(tmp_path):
    whole = np.arange(6.0).reshape(3, 2)
    columns = {
        "half": pa.array(whole[:, 0].astype("f2")),
        "decimal": pa.array(whole[:, 1]).cast(pa.decimal128(20, 2)),
        "bool": pa.array([True, False, True]),
        "category": pa.array(whole[:, 0]).dictionary_encode(),
    }
    rows = nm.Stream(parquet_of(columns, tmp_path / "x.parquet")).collect()
    expected = np.column_stack([whole, [1, 0, 1], whole[:, 0]])
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(as_rows(pa.table(columns), "x"), expected)
    pd.DataFrame({"a": [1.5, 2.5]}, index=pd.Index([7, 3], name="id")).to_parquet(tmp_path / "y.parquet")
    np.testing.assert_array_equal(nm.Client(tmp_path / "y.parquet").rows, [[1.5], [2.5]])  # an index is no feature
    twice = pa.Table.from_arrays([ONES, ONES], names=["f", "f"])
    with pytest.raises(nm.InvalidInput, match=r"2 columns called 'f'"):
        nm.Client(parquet_of(twice, tmp_path / "z.parquet"))


GOOD_FRAMES = {
    "integers": lambda f: f.round().astype("Int64"),
    "bools": lambda f: f > 5,
    "nullable bools": lambda f: (f > 5).convert_dtypes(),
    "bool and float": lambda f: f.assign(b=f["b"] > 5),
    "convert_dtypes": lambda f: f.convert_dtypes(),
    "float32": lambda f: f.astype("Float32"),
    "category": lambda f: f.round().astype({"b": "category"}),
}


@pytest.mark.parametrize("kind", GOOD_FRAMES)
def test_columns_of_a_frame_without_gaps_are_numbers(kind):
    table = GOOD_FRAMES[kind](frame(X))
    rows = as_rows(table, "x")
    np.testing.assert_array_equal(rows, np.column_stack([table[name].to_numpy(dtype=float) for name in NAMES]))
    assert rows.dtype == (np.float32 if kind == "float32" else np.float64)


BAD_ROWS = {
    "NA": (lambda f: f.astype("Float64").mask(f > 12), r"values are missing in column 'c'"),
    "arrow NA": (lambda f: f.astype("double[pyarrow]").mask(f > 12), r"values are missing in column 'c'"),
    "NaN": (lambda f: f.mask(f > 12), r"NaN or infinite"),
    "text": (lambda f: f.assign(b="x"), r"columns that are not numbers: \['b'\].*frame\[\['a', 'c'\]\]"),
    "date": (lambda f: f.assign(b=pd.Timestamp("2020")), r"columns that are not numbers: \['b'\]"),
    "objects": (lambda f: f.astype(object), r"not numbers: \['a', 'b', 'c'\]\. .*astype\(float\)"),
    "object array": (lambda f: f.to_numpy(object), r"dtype object.*x\.astype\(float\)"),
    "ragged": (lambda f: pd.Series([[1.0], [1.0, 2.0]]), r"lists of 1 to 2 numbers"),
    "no list": (lambda f: pd.Series([[1.0], None]), r"1 value is missing"),
    "texts": (lambda f: pd.Series([["x"], ["y"]]), r"dtype object"),
    "structured text": (lambda f: f.assign(b="x").to_records(index=False), r"not numbers: \['b'\]"),
    "table text": (lambda f: pa.table(f.assign(b="x")), r"not numbers: \['b'\].*table\.select\(\['a', 'c'\]\)"),
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_columns_that_are_no_numbers_are_named_with_the_fix(kind):
    make, seen = BAD_ROWS[kind]
    with pytest.raises(nm.InvalidInput, match=seen):
        nm.fid(make(frame(X)), Y)


def test_arrays_of_a_list_are_batches_of_a_client_and_runs_of_a_model():
    parts = np.split(Y, 5)
    whole = nm.fid(X, Y)
    assert nm.evaluate([nm.Client(parts)], [X], "fid").table["avg"][0] == pytest.approx(nm.fid(Y, X), rel=1e-9)
    assert nm.evaluate([X], nm.Generator(parts), "fid").table["avg"][0] == pytest.approx(whole, rel=1e-9)
    runs = nm.evaluate([X], {"g": parts}, "fid")
    assert runs.generators == ("g 1", "g 2", "g 3", "g 4", "g 5")
    said = "the 5 arrays of 'g' are 5 runs (join batches of one run by np.concatenate)"
    assert sum(said in line for line in runs.conventions) == 1
    tables = [pa.Table.from_pandas(frame(part)) for part in parts]
    assert nm.evaluate([X], {"g": tables}, "fid").generators == runs.generators
    named = [nm.Generator(part, name=f"seed {k}") for k, part in enumerate(parts)]
    assert "runs (" not in str(nm.evaluate([X], {"g": named}, "fid"))


WHOLE = RNG.integers(0, 10, size=(2, 60))
CAUTIONED = {
    "label": (lambda f, y: f.assign(label=y), "Column 'label' holds whole numbers"),
    "user_id": (lambda f, y: f.assign(user_id=y), "Column 'user_id' holds whole numbers"),
    "row number": (lambda f, y: f.assign(k=np.arange(len(f))), "Column 'k' holds whole numbers"),
    "no names": (lambda f, y: f.assign(label=y).to_numpy(), r"Column 3 (from 0) holds whole numbers"),
    "tables": (lambda f, y: pa.table(f.assign(label=y)), "Column 'label' holds whole numbers"),
    "stream": (lambda f, y: lambda: iter([f.assign(label=y)]), "Column 'label' holds whole numbers"),
    "bfloat16": (lambda f, y: (f.to_numpy("f4").view("u4") >> 16).astype("u2"), "client 'x', generator 'g' look like"),
    "float16": (lambda f, y: f.to_numpy("f2").view("u2"), "client 'x', generator 'g' look like the bits"),
    "age": (lambda f, y: f.assign(age=y), None),
    "counts": (lambda f, y: f.round(), None),
    "pixels": (lambda f, y: np.abs(f).round().to_numpy("u1"), None),
    "16 bits": (lambda f, y: np.abs(f * 5000).round().to_numpy(), None),
    "floats": (lambda f, y: f, None),
    "constant": (lambda f, y: f.assign(label=1), None),
}


@pytest.mark.parametrize("kind", CAUTIONED)
def test_labels_ids_and_bits_are_cautioned(kind):
    make, said = CAUTIONED[kind]
    cautions = nm.evaluate({"x": make(frame(X), WHOLE[0])}, {"g": make(frame(Y), WHOLE[1][:50])}, "fid").cautions
    found = [line for line in cautions if line.startswith(("Column", "The values of"))]
    assert len(found) == (said is not None) and (said is None or said in found[0])
