"""Hostile input that does not belong to one room: memory, random states, closed outputs, FIFOs, foreign warnings."""

import json
import os
import random
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics import InvalidInput
from nbmetrics.federated import serialization
from nbmetrics.labs.dashboard.clustering import squared_score_distances
from tests import ROOT

X = np.random.default_rng(0).normal(size=(50, 3))


def peak(run):
    """What it returns, and the bytes that it held at most."""
    tracemalloc.start()
    try:
        return run(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_distances_of_clients_take_no_table_of_pairs_and_generators():
    scores = np.random.default_rng(0).normal(size=(60, 1_000))
    found, held = peak(lambda: squared_score_distances(scores))
    unit = (scores - scores.min(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    a, b = 3, 700
    assert found[a, b] == pytest.approx(np.sum((unit[:, a] - unit[:, b]) ** 2))
    assert held < 4 * 8 * 1_000**2


@pytest.mark.parametrize("size", [1e308, 5e-324, 1e-200])
def test_a_table_of_extreme_scores_warns_of_nothing(size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            lab = nm.Dashboard.from_table(pd.DataFrame({"a": [size, 0.0, size], "b": [0.0, size, size]}))
        except InvalidInput:
            return
        lab.close()


@pytest.mark.parametrize("table", [{"a": [1, 2], "b": [1]}, {"a": 1}, {"a": [1 + 9j, 2], "b": [1, 2]}])
def test_a_dict_that_makes_no_table_is_refused(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidInput, match="table"):
            nm.Dashboard.from_table(table)


def test_clients_that_send_no_covariance_cost_none():
    rng, dim = np.random.default_rng(0), 1_000
    metric = nm.metrics.KID(nm.RandomFeatures(nm.RBF(10.0), 64))
    sent = [nm.federated.client_summary(rng.normal(size=(1_100, dim)), metric) for _ in range(6)]
    made = rng.normal(size=(50, dim))
    _, held = peak(lambda: nm.federated.aggregate(sent, None, {"g": made}, metric))
    assert held < 8 * dim**2


@pytest.mark.parametrize(
    ("metric", "kind"), [("fid", "noisy moments"), ("fid", "moments"), ("vendi", "nothing"), ("kid", "thirds")]
)
@pytest.mark.parametrize("dim", [20_000, 1_000_000, 10**9])
def test_a_short_summary_of_a_huge_dimension_is_refused_before_memory_is_taken(metric, kind, dim):
    sent = nm.federated.client_summary(X, metric)
    size = int.from_bytes(sent[8:12], "little")
    head = json.loads(sent[12 : 12 + size])
    head["dim"] = dim
    head["sections"][0] |= {"kind": kind, "arrays": []}
    raw = json.dumps(head).encode()
    forged = serialization.with_checksum(sent[:8] + len(raw).to_bytes(4, "little") + raw)

    def ask():
        with pytest.raises(InvalidInput):
            nm.federated.aggregate([forged], None, {"g": X}, metric)

    assert peak(ask)[1] < 10**8


@pytest.mark.parametrize("name", ["w1", "cmmd", "auth_pct", "precision", "rrke"])
@pytest.mark.parametrize("rows", [X[:, ::-1][:, :1], X[::-1], X[:, :1][::-1]])
def test_a_tensor_beside_rows_that_run_backwards(name, rows):
    torch = pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    given = np.ascontiguousarray(rows[::-1]) + 0.1
    one = nm.evaluate([torch.tensor(given)], {"g": rows}, name, progress=False).table
    other = nm.evaluate([given], {"g": rows.copy()}, name, progress=False).table
    assert one["avg"][0] == pytest.approx(other["avg"][0])
    if name == "w1":
        assert nm.w1(torch.tensor(given[:1]), rows[:1][::-1]) >= 0


@pytest.mark.slow
def test_the_first_w1_of_a_process_moves_no_random_state():
    pytest.importorskip("ot", reason="pip install POT")
    code = (
        "import random, numpy as np, nbmetrics as nm; random.seed(0); np.random.seed(0)\n"
        "before = random.getstate(), np.random.get_state()[1].tolist()\n"
        "nm.w1([[0.0], [1.0]], [[1.0], [2.0]])\n"
        "assert before == (random.getstate(), np.random.get_state()[1].tolist())"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_loader_moves_no_random_state():
    torch = pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    data = torch.utils.data.TensorDataset(torch.tensor(X))
    loader = torch.utils.data.DataLoader(data, batch_size=7, shuffle=True)
    torch.manual_seed(3)
    before, python = torch.get_rng_state(), random.getstate()
    nm.evaluate([loader], {"g": X + 1}, ["fid", "kid"], progress=False)
    nm.evaluate([X], loader, "fid", progress=False)
    with pytest.raises(nm.InvalidInput, match="clients: is one loader"):
        nm.evaluate(loader, {"g": X + 1}, progress=False)
    assert torch.equal(before, torch.get_rng_state()) and python == random.getstate()


def test_authenticity_depends_on_no_order_of_the_train_rows():
    assert nm.auth_pct([[0.0], [0], [-2], [5]], [[-1.0]]) == nm.auth_pct([[-2.0], [0], [0], [5]], [[-1.0]]) == 0
    rng = np.random.default_rng(0)
    train, made = rng.integers(0, 4, (40, 2)).astype(float), rng.integers(0, 4, (30, 2)).astype(float)
    found = {nm.auth_pct(train[rng.permutation(40)], made[rng.permutation(30)]) for _ in range(20)}
    assert len(found) == 1


def test_a_function_that_gives_more_rows_than_asked_for_is_refused():
    with pytest.raises(InvalidInput, match=r"has 10,005 where 10,000 were asked for"):
        nm.evaluate([X], {"g": lambda n, rng: rng.normal(size=(n + 5, 3))}, progress=False)


@pytest.mark.slow
def test_without_docstrings_experiments_run():
    code = "import nbmetrics as nm; print(len(nm.experiments.gaussian_toy(samples=100)), nm.figures.gaussian_toy)"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True, cwd=ROOT, capture_output=True)


@pytest.fixture
def features(tmp_path):
    (tmp_path / "feat").mkdir()
    np.save(tmp_path / "feat/a.npy", X)
    np.save(tmp_path / "feat/b.npy", X + 1)
    np.save(tmp_path / "g.npy", X + 2)
    os.mkfifo(tmp_path / "fifo.npy")
    return tmp_path


def command(folder, *words, **more):
    call = [sys.executable, "-m", "nbmetrics", "score", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(call, cwd=folder, timeout=120, env=environment, stderr=subprocess.PIPE, text=True, **more)


@pytest.mark.parametrize("make", [nm.Client, nm.Generator, nm.Moments.load])
@pytest.mark.parametrize("name", ["pipe.npy", "pipe.npz"])
def test_rows_are_read_from_no_fifo(make, name, tmp_path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidInput, match="not a regular file"):
        make(tmp_path / name)


@pytest.mark.parametrize("words", [("feat", "fifo.npy"), ("fifo.npy", "g.npy")])
def test_the_command_waits_for_no_fifo(features, words):
    done = command(features, *words, stdout=subprocess.PIPE)
    assert done.returncode == 2 and "is neither a file nor a folder" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a system without /dev/full")
def test_an_output_that_cannot_be_written_is_one_line(features):
    with open("/dev/full", "w") as full:
        done = command(features, "feat", "g.npy", stdout=full)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: the output cannot be written: No space left")


def test_a_closed_output_is_one_line(features):
    call = f"{sys.executable} -m nbmetrics score feat g.npy >&-"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", call], cwd=features, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr and "stdout is closed" in done.stderr


def test_a_fifo_in_the_cache_is_passed_over(tmp_path):
    from nbmetrics.features.cache import Cache

    cache, image = Cache(tmp_path), b"0" * 32
    shelf = cache.shelf("pixels", "a")
    shelf.keep([image], np.ones((1, 3), np.float32))
    [chunk] = [file.path for file in cache.files()]
    chunk.unlink()
    os.mkfifo(chunk)
    again = cache.shelf("pixels", "a")
    assert cache.info().files == 0 and again.get([image]) is None and not again.find([image])[1].any()


def test_what_pillow_logs_of_a_damaged_tiff_is_not_shown(caplog):
    image = pytest.importorskip("PIL.Image", reason="pip install nbmetrics[images]")
    import io

    from nbmetrics.features.decode import Unread, decode_image

    held = io.BytesIO()
    image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(held, "TIFF")
    tag = (277).to_bytes(2, "little") + (3).to_bytes(2, "little") + (1).to_bytes(4, "little")
    data = held.getvalue().replace(tag + b"\3\0", tag + b"\0\x08")
    assert data != held.getvalue()
    with pytest.raises(Unread):
        decode_image(data)
    assert not caplog.records


def test_metadata_that_pillow_warns_of_is_passed_over_in_silence():
    image = pytest.importorskip("PIL.Image", reason="pip install nbmetrics[images]")
    import io

    from nbmetrics.features.decode import decode_image

    held = io.BytesIO()
    image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(held, "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\xff\xff\x12\x01")
    filters = list(warnings.filters)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pixels, _ = decode_image(held.getvalue())
    assert pixels.shape == (8, 8, 3) and not told
    assert warnings.filters == filters
