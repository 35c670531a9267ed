"""What is too large is measured before it is read or made: lazy sequences, files, and JSON of nothing but brackets."""

import json
import os
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics import files
from nbmetrics.cli import main
from nbmetrics.evaluation.saved_scores import MAX_FILE_BYTES
from nbmetrics.federated.privacy import PureEpsilon

X = np.random.default_rng(0).normal(size=(40, 3))
LABELS = np.arange(40) % 2
SPLIT = nm.Client(X, test=X[:20])


class Lazy(Sequence):
    """Says that it has very many items, and makes a row for each place that is asked for."""

    def __init__(self, count=10**12):
        self.count, self.asked = count, 0

    def __len__(self):
        return self.count

    def __getitem__(self, place):
        self.asked += 1
        if self.asked > 1000:
            raise MemoryError
        if place >= self.count:
            raise IndexError
        return [float(place % 7), 1.0, 2.0]


def scored(clients, generators, metrics="fid", **options):
    return nm.evaluate(clients, generators, metrics, progress=False, **options)


PAIRS = ("fid", "kid", "cmmd", "fid_infinity", "prdc", "realism", "auth_pct", "mifid", "rrke", "am_score", "two_sample")
TRIPLES = ("fld", "fld_gap", "c_t", "memorization_scores", "quality_scores", "cfid", "rfid", "mfid")
FEDERATIONS = {
    "iid": (2,),
    "from_labels": (LABELS,),
    "dirichlet": (LABELS, 2, 1.0, 0),
    "shards": (LABELS, 2, 1, 0),
    "by_id": (LABELS,),
}
ENTRIES = {
    **{f"{name}(x, ·)": lambda x, name=name: getattr(nm, name)(x, X) for name in PAIRS},
    **{f"{name}(·, x)": lambda x, name=name: getattr(nm, name)(X, x) for name in PAIRS},
    **{
        f"{name}, argument {k}": lambda x, name=name, k=k: getattr(nm, name)(*[X] * k, x, *[X] * (2 - k))
        for name in TRIPLES
        for k in range(3)
    },
    **{name: lambda x, name=name: getattr(nm, name)(x) for name in ("vendi", "rke", "inception_score", "Empirical")},
    "jfid": lambda x: nm.jfid(X, X, x, alpha=1.0),
    "Client": nm.Client,
    "test": lambda x: nm.Client(X, test=x),
    "condition": lambda x: nm.Client(X, condition=x),
    "labels": lambda x: nm.Client(X, labels=x),
    "a client": lambda x: scored({"a": x}, {"g": X}),
    "a generator": lambda x: scored({"a": X}, {"g": x}),
    "by client": lambda x: scored({"a": X}, {"g": nm.Generator.by_client({"a": x})}),
    "weights": lambda x: scored({"a": X, "b": X + 1.0}, {"g": X}).with_weights(x),
    "a sampler": lambda x: scored({"a": X}, {"g": lambda n, rng: x}, samples=50),
    "answers": lambda x: scored({"a": nm.Client(X, condition=X)}, {"g": lambda c, rng: x}, "cfid"),
    "a race": lambda x: nm.race({"a": X}, {"g": lambda n, rng: x, "h": lambda n, rng: X[:n]}, progress=False),
    "best_mixture": lambda x: nm.best_mixture({"a": X}, {"g": x, "h": X}, progress=False),
    "Gaussian, mean": nm.Gaussian,
    "Gaussian, cov": lambda x: nm.Gaussian([0.0, 0.0, 0.0], x),
    "Mixture, weights": lambda x: nm.Mixture([nm.Gaussian([0.0]), nm.Gaussian([1.0])], x),
    "KernelDensity": lambda x: nm.KernelDensity(x, 1.0),
    "log_prob": lambda x: nm.Gaussian([0.0, 0.0, 0.0]).log_prob(x),
    "Moments, mean": lambda x: nm.Moments(x, np.eye(3)),
    "Moments, cov": lambda x: nm.Moments([0.0, 0.0, 0.0], x),
    "collapse": lambda x: nm.theory.collapse({"a": X, "b": X + 1.0}, x),
    **{
        f"Federation.{name}": lambda x, name=name, more=more: getattr(nm.Federation, name)(x, *more)
        for name, more in FEDERATIONS.items()
    },
    "from_labels, y": lambda x: nm.Federation.from_labels(X, x),
    "by_id, ids": lambda x: nm.Federation.by_id(X, x),
    "client_summary": lambda x: nm.federated.client_summary(x, "fid"),
    "clip_from_public": nm.federated.clip_from_public,
    "sigma_from_public": nm.federated.sigma_from_public,
    "private_norm_quantile": lambda x: nm.federated.private_norm_quantile(x, epsilon=1.0, bounds=(0.1, 9.0)),
    "rank_survival": lambda x: nm.federated.rank_survival({"a": x}, {"g": X, "h": X}, clip=1.0),
    "aggregate": lambda x: nm.federated.aggregate([nm.federated.client_summary(X, "fid")], None, {"g": x}, "fid"),
    "as_images": nm.training.as_images,
    "images": nm.images,
    "images, labels": lambda x: nm.images(np.zeros((2, 8, 8), np.uint8), labels=x),
    "images, select": lambda x: nm.images(np.zeros((2, 8, 8), np.uint8)).select(x),
    "extract": lambda x: nm.extract(x, "pixels", progress=False),
    "experiments": nm.experiments.gaussian_toy,
    "Playground": lambda x: nm.Playground({"a": x}, {"g": X}),
    "Dashboard": lambda x: nm.Dashboard({"a": X}, {"g": x}),
    "MemorizationLab": lambda x: nm.MemorizationLab(x, X, X),
}
BOMBS = {
    "lazy": lambda: Lazy(),
    "a list of lazy rows": lambda: [Lazy()] * 3,
    "beyond any index": lambda: range(10**30),
    "a range of pandas": lambda: pd.RangeIndex(10**12),
}


def items_asked(bomb):
    return max(
        (part.asked for part in [bomb, *(bomb if isinstance(bomb, list) else [])] if hasattr(part, "asked")), default=0
    )


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_lazy_sequence_is_measured_before_it_becomes_an_array(entry):
    for make in BOMBS.values():
        bomb = make()
        with pytest.raises(nm.InvalidInput):
            ENTRIES[entry](bomb)
        assert items_asked(bomb) <= 3


def test_a_monitor_measures_a_sampler_and_rows():
    monitor = nm.Monitor({"a": X}, "fid", samples=50)
    bomb = Lazy()
    with pytest.raises(nm.InvalidInput, match="Give rows"):
        monitor.log(0, bomb)
    with pytest.warns(UserWarning, match="was not drawn: InvalidInput: source: makes 1,000,000,000,000 items"):
        monitor.log(1, lambda n, rng: bomb)
    monitor.close()
    assert bomb.asked <= 2


def test_lists_that_share_lists_are_not_written_out():
    nest = [0.0] * 100
    for _ in range(3):
        nest = [nest] * 100
    for opens in (nm.federated.Account.open, nm.Scores.open):
        with pytest.raises(nm.InvalidInput, match="a list of 100 items"):
            opens(nest)


def test_only_the_head_of_a_file_that_is_no_summary_is_read(tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("nbmetrics.cli.federation.read_plain", lambda path, limit: asked.append(limit) or bytes(8))
    (tmp_path / "x.nbs").write_bytes(b"")
    assert main(["inspect", str(tmp_path / "x.nbs")]) == 2
    assert asked == [1 << 10] and "not a client summary" in capsys.readouterr().err


def test_a_sparse_frame_is_measured_before_it_is_filled():
    zeros = pd.DataFrame({name: pd.arrays.SparseArray(np.zeros(1_500_000), fill_value=0.0) for name in "abc"})
    with pytest.raises(nm.InvalidInput, match="makes 1,500,000 items"):
        nm.fid(X, zeros)
    few = pd.DataFrame(X[:, :2]).astype("Sparse[float]")
    assert nm.fid(X[:, :2], few) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("rows", [range(40), [range(3)] * 5, [X[0], tuple(X[1])], Lazy(40)])
def test_a_short_one_is_taken_as_before(rows):
    rows = [[float(item)] for item in rows] if isinstance(rows, range) else rows
    assert nm.Empirical(rows).rows.shape == np.shape([list(row) for row in rows])


def test_a_buffer_of_any_length_is_no_lazy_sequence():
    from array import array

    assert nm.Gaussian(array("d", [0.0]) * 2).dim == 2
    labels = array("q", [0, 1]) * 600_000
    with pytest.raises(nm.InvalidInput, match="has shape"):
        nm.Client(X, labels=labels)


def summary_file(folder):
    (folder / "a.nbs").write_bytes(nm.federated.client_summary(X, "fid"))
    return lambda: main(["inspect", str(folder / "a.nbs")])


def store_folder(folder):
    def go():
        return scored({"a": X}, {"g": X + 1.0}, store=folder / "store")

    go()
    return go


def race_folder(folder):
    def go():
        samplers = {name: lambda n, rng, k=k: rng.normal(size=(n, 3)) + k for k, name in enumerate("pq")}
        return nm.race({"a": X, "b": X}, samplers, budget=4000, store=folder / "race", progress=False)

    go()
    return go


def scores_file(folder):
    scored({"a": X}, {"g": X + 1.0}).save(folder / "s.json")
    return lambda: nm.Scores.open(folder / "s.json")


def account_file(folder):
    nm.federated.Account(folder / "a", epsilon=1, delta=1e-6).spend(PureEpsilon(0.1))
    return lambda: nm.federated.Account.open(folder / "a").spent


KEPT = {made.__name__: made for made in (summary_file, store_folder, race_folder, scores_file, account_file)}


@pytest.mark.parametrize("kept", KEPT)
def test_a_file_is_asked_for_no_more_bytes_than_it_has(kept, tmp_path, monkeypatch):
    go = KEPT[kept](tmp_path)
    largest, opened = max(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()), open
    asked = []

    def watched(*arguments, **options):
        file = opened(*arguments, **options)
        read = file.read

        class Watched:
            def __enter__(self):
                return self

            def __exit__(self, *error):
                file.close()

            def __getattr__(self, name):
                return getattr(file, name)

            def read(self, size=-1):
                asked.append(size)
                return read(size)

        return Watched()

    monkeypatch.setattr(files, "open", watched, raising=False)
    go()
    assert asked and max(asked) <= largest and min(asked) >= 0


def test_a_file_without_room_in_memory_is_refused(tmp_path, monkeypatch):
    go = scores_file(tmp_path)

    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            os.close(self.descriptor)

        def fileno(self):
            return self.descriptor

        def read(self, size):
            raise MemoryError

    def full(descriptor, mode):
        file = Full()
        file.descriptor = descriptor
        return file

    monkeypatch.setattr(files, "open", full, raising=False)
    with pytest.raises(nm.InvalidInput, match="memory has no room for"):
        go()


PARTS = {"lists": b"[],", "dicts": b"{},", "ones": b"1,", "nested": b"[[[],", "floats": b"1.5,"}


@pytest.mark.parametrize("part", PARTS)
def test_json_of_too_many_parts_is_refused_before_it_is_read(part, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_JSON_PARTS", 1000)
    monkeypatch.setattr(json, "loads", lambda text: pytest.fail("it was read"))
    (tmp_path / "s.json").write_bytes(b'{"a":[' + PARTS[part] * 1000 + b"0]}")
    with pytest.raises(nm.InvalidInput, match="is not a file of scores"):
        nm.Scores.open(tmp_path / "s.json")


def test_the_largest_table_that_a_file_may_have_is_below_the_limit_of_its_parts():
    assert MAX_FILE_BYTES / len("0.12345678901234567,") < files.MAX_JSON_PARTS


SECRET = "hunter2"
URLS = [
    f"http://user:{SECRET}@127.0.0.1:1/x.npy",
    f"http://user:{SECRET}@127.0.0.1:1/x.parquet?token={SECRET}&a=1",
    f"http://us@er:{SECRET}@127.0.0.1:1/a/b.npy",
    f"http://user:a/{SECRET}@127.0.0.1:1/x.npy",
    f"http://{SECRET}@127.0.0.1:1/x.zarr",
    f"zip://x.npy::http://user:{SECRET}@127.0.0.1:1/z.zip",
    f"zip://x.parquet::http://127.0.0.1:1/z.zip?sig={SECRET}",
    f"zip://*.parquet::http://user:{SECRET}@127.0.0.1:1/z.zip",
    f"tar://x.npy::http://user:{SECRET}@127.0.0.1:1/z.tar?a::b={SECRET}",
    f"simplecache::http://user:{SECRET}@127.0.0.1:1/z.npy",
    f"ftp://user:{SECRET}@127.0.0.1:1/x.npy",
    f"sftp://user:{SECRET}@127.0.0.1:1/x.npy",
    f"nosuch://user:{SECRET}@127.0.0.1:1/x.npy?key={SECRET}",
    f"reference://x.npy?{SECRET}",
    f"jupyter://user:{SECRET}@127.0.0.1:1/x.npy",
    f"http://[user:{SECRET}@/x.npy",
    f"http://user:{SECRET}@127.0.0.1:1/{'y' * 90}.npy?{SECRET}",
    f"https:///user:{SECRET}@127.0.0.1:1/x.npy",
    f"https://user:my {SECRET}@127.0.0.1:1/x.npy",
    f"zip://x.npy::https:///user:{SECRET}@127.0.0.1:1/z.zip",
]
USES = {
    "a client": lambda url: scored({"a": url}, {"g": X}),
    "a generator": lambda url: scored({"a": X}, {"g": url}),
    "Client": nm.Client,
    "columns": lambda url: nm.Stream(url, columns=["a"]),
    "Stream": nm.Stream,
    "fid": lambda url: nm.fid(url, X),
    "a list": lambda url: nm.fid([url, url], X),
    "images": nm.images,
    "extract": lambda url: nm.extract(url, "pixels", progress=False),
    "Moments.load": nm.Moments.load,
    "Scores.open": nm.Scores.open,
    "Monitor.open": nm.Monitor.open,
    "Account.open": nm.federated.Account.open,
    "store": lambda url: nm.federated.Account(url, epsilon=1, delta=1e-6),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("url", URLS)
def test_no_message_shows_a_password(url, use, tmp_path, monkeypatch):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nm.InvalidInput) as refused:
        USES[use](url)
    assert SECRET not in str(refused.value) + repr(refused.value.args) and refused.value.__suppress_context__ | (
        refused.value.__context__ is None
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("https://host:8080/a@b.npy", "'https://host:8080/a@b.npy'"),
        ("see https://host/a and b@c", "'see https://host/a and b@c'"),
        ("zip://a.npy::https://u:p@host/b.zip?c", "'zip://a.npy::https://host/b.zip?…'"),
        ("is it a:b@c?", "'is it a:b@c?'"),
        (["s3://k:s@bucket/a?b", 1], "['s3://bucket/a?… 1]"),
    ],
)
def test_what_is_shown_of_a_url(text, said):
    from nbmetrics.errors import shown

    assert shown(text) == said
