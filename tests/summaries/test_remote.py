"""Rows behind addresses are those of the file, and what cannot be read is refused in words, without passwords."""

import functools
import pickle
import threading
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.errors import shown

fsspec = pytest.importorskip("fsspec", reason='fsspec is not installed: pip install "nbmetrics[cluster]"')
pa = pytest.importorskip("pyarrow", reason='pyarrow is not installed: pip install "nbmetrics[cluster]"')
zarr = pytest.importorskip("zarr", reason='zarr is not installed: pip install "nbmetrics[cluster]"')
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")

ROWS = np.random.default_rng(0).normal(size=(700, 3))
GENERATOR = {"g": nm.Gaussian(np.zeros(3))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """a.npy, 1.parquet and 2.parquet in p, a.zarr: the same rows."""
    folder = tmp_path_factory.mktemp("rows")
    np.save(folder / "a.npy", ROWS)
    table = pa.table({f"x{i}": ROWS[:, i] for i in range(3)} | {"name": ["n"] * 700})
    (folder / "p").mkdir()
    pq.write_table(table.slice(0, 300), folder / "p" / "1.parquet")
    pq.write_table(table.slice(300), folder / "p" / "2.parquet")
    array = zarr.create_array(folder / "a.zarr", shape=ROWS.shape, chunks=(200, 3), dtype="f8")
    array[:] = ROWS
    return folder


def collected(source):
    return nm.Stream(source).collect()


@pytest.mark.parametrize(
    "address",
    ["file://{}/a.npy", "file://{}/p", "file://{}/p/*.parquet", "{}/p/*.parquet", "{}/a.zarr", "file://{}/a.zarr"],
)
def test_an_address_gives_the_rows_again_and_in_another_process(folder, address):
    url = address.format(folder)
    np.testing.assert_array_equal(collected(url), ROWS)
    client = nm.Client(url)
    for _ in range(2):
        np.testing.assert_array_equal(np.concatenate(list(client.stream.batches(64))), ROWS)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(client.stream)).collect(), ROWS)
    scores = nm.evaluate({"a": client}, GENERATOR)
    np.testing.assert_allclose(scores.table["all"], nm.evaluate({"a": ROWS}, GENERATOR).table["all"], rtol=1e-12)


def test_a_data_set_of_pyarrow_and_chosen_columns(folder):
    data = ds.dataset(folder / "p")
    np.testing.assert_array_equal(collected(data), ROWS)
    np.testing.assert_array_equal(nm.Stream(data, columns=["x2", "x0"]).collect(), ROWS[:, [2, 0]])
    np.testing.assert_array_equal(nm.Stream(f"file://{folder}/p", columns="x1").collect(), ROWS[:, [1]])
    with pytest.raises(nm.InvalidInput, match=r"'y'.* are not in"):
        nm.Stream(data, columns=["y"])
    with pytest.raises(nm.InvalidInput, match="They select from parquet"):
        nm.Stream(f"file://{folder}/a.npy", columns=["x0"])


def test_a_generator_may_be_an_address_too(folder):
    scores = nm.evaluate({"a": ROWS + 1.0}, {"g": f"file://{folder}/a.npy"}, "fid")
    expected = nm.evaluate({"a": ROWS + 1.0}, {"g": ROWS}, "fid")
    np.testing.assert_allclose(scores.table["all"], expected.table["all"], rtol=1e-12)


class Plain(BaseHTTPRequestHandler):
    """A server without ranges, whose files may end early, be missing or be forbidden."""

    def __init__(self, *args, content=b""):
        self.content = content
        super().__init__(*args)

    def do_HEAD(self):
        self.do_GET(is_head=True)

    def do_GET(self, is_head=False):
        code = {"/missing.npy": 404, "/secret.npy": 403}.get(self.path.partition("?")[0], 200)
        self.send_response(code)
        self.send_header("Content-Length", str(len(self.content) if code == 200 else 0))
        self.end_headers()
        if code == 200 and not is_head:
            self.wfile.write(self.content[: 3_000 if "cut" in self.path else None])

    def log_message(self, *_):
        pass


@pytest.fixture
def served(folder):
    """served(handler): the address of a local server."""
    pytest.importorskip("aiohttp", reason="aiohttp is not installed: pip install aiohttp")
    servers = []

    def serve(handler):
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_a_web_server_gives_rows_with_ranges_or_without(folder, served):
    files = served(functools.partial(Quiet, directory=str(folder)))
    np.testing.assert_array_equal(collected(f"{files}/a.npy"), ROWS)
    np.testing.assert_array_equal(collected(f"{files}/p/1.parquet"), ROWS[:300])
    plain = served(functools.partial(Plain, content=(folder / "a.npy").read_bytes()))
    np.testing.assert_array_equal(collected(f"{plain}/a.npy"), ROWS)


def test_what_a_web_server_refuses_or_cuts_is_told_without_the_password(folder, served):
    plain = served(functools.partial(Plain, content=(folder / "a.npy").read_bytes()))
    host = plain.removeprefix("http://")
    for name, why in (
        ("missing.npy", "cannot be read"),
        ("secret.npy", "not found, or not allowed"),
        ("cut.npy", "ends after|cannot be read"),
    ):
        with pytest.raises(nm.InvalidInput, match=why) as refused:
            collected(f"http://user:pass@{host}/{name}?token=abc")
        text = str(refused.value)
        assert "pass" not in text and "abc" not in text and name in text
    with pytest.raises(nm.InvalidInput, match="cannot be read"):
        collected("http://127.0.0.1:1/a.npy")


def test_a_signed_url_of_parquet_is_read_and_its_signature_never_shown(folder, served):
    whole = (folder / "p" / "1.parquet").read_bytes()
    files = served(functools.partial(Plain, content=whole))
    np.testing.assert_array_equal(collected(f"{files}/1.parquet?signature=abc"), ROWS[:300])
    damaged = bytearray(whole)
    damaged[8:2_000] = bytes(1_992)
    for content, name in ((whole, "cut.parquet"), (bytes(damaged), "1.parquet"), (b"x" * 900, "1.parquet")):
        other = served(functools.partial(Plain, content=content))
        with pytest.raises(nm.InvalidInput, match=rf"{name}\?….*cannot be read") as refused:
            collected(f"{other}/{name}?signature=abc")
        assert "abc" not in str(refused.value)


def test_memory_of_this_process_is_no_place_for_a_cluster(folder):
    with fsspec.open("memory://bucket/a.npy", "wb") as file:
        np.save(file, ROWS)
    np.testing.assert_array_equal(collected("memory://bucket/a.npy"), ROWS)
    with pytest.raises(nm.InvalidInput, match="in the memory of this process"):
        nm.Client("memory://bucket/a.npy").stream.check_shared()


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("nope://x/a.npy", "fsspec knows no 'nope'"),
        ("memory://bucket/none.npy", "cannot be read"),
        ("memory://bucket/none/", "has no file that ends in .parquet"),
        ("{}/q/*.parquet", "matches no file"),
        ("file://{}/none.npy", "cannot be read"),
        ("file://{}/p/1.parquet/none.npy", "cannot be read"),
        ("file://" + "a" * 5_000 + ".npy", "a text of 5,011 letters"),
    ],
)
def test_an_address_that_leads_nowhere_is_told(folder, address, says):
    with pytest.raises(nm.InvalidInput, match=says):
        nm.Client(address.format(folder))


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros((2, 2, 2)), np.array([["a"]]), np.asfortranarray(np.ones((4, 3))), np.ones((2, 2), complex)],
)
def test_a_file_of_something_else_is_refused(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(nm.InvalidInput, match="Give rows"):
        nm.Client(f"file://{tmp_path}/a.npy")


def test_a_file_that_is_pickled_damaged_or_changed_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    for content in (None, b"", b"\x93NUMPY\x01\x00", b"x" * 1_000):
        if content is not None:
            (tmp_path / "a.npy").write_bytes(content)
        with pytest.raises(nm.InvalidInput):
            nm.Client(f"file://{tmp_path}/a.npy")
    np.save(tmp_path / "a.npy", ROWS)
    stream = nm.Stream(f"file://{tmp_path}/a.npy")
    whole = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(whole[:-100])
    with pytest.raises(nm.InvalidInput, match="ends after"):
        stream.collect()
    np.save(tmp_path / "a.npy", ROWS[:10])
    with pytest.raises(nm.InvalidInput, match="another shape than before"):
        stream.collect()


def test_a_group_of_zarr_is_no_array(tmp_path):
    zarr.create_group(tmp_path / "g.zarr")
    with pytest.raises(nm.InvalidInput, match="cannot be opened as a zarr array"):
        nm.Client(str(tmp_path / "g.zarr"))


def test_a_damaged_chunk_of_zarr_is_told_by_the_kind_of_error_alone(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", shape=ROWS.shape, chunks=(200, 3), dtype="f8")[:] = ROWS
    stream = nm.Stream(f"file://{tmp_path}/a.zarr")
    for chunk in (tmp_path / "a.zarr" / "c").rglob("0"):
        if chunk.is_file():
            chunk.write_bytes(b"x" * 50)
    with pytest.raises(nm.InvalidInput, match=r"cannot be read \(\w+\)"):
        stream.collect()


def test_what_is_shown_of_a_url():
    assert shown("https://user:pw@host:8/a/b.npy?token=1#x") == "'https://host:8/a/b.npy?…'"
    assert "pw" not in repr(shown("s3://key:pw@bucket/a.parquet"))
