"""Weights come from where the user says, are checked, and are read as tensors and nothing else."""

import hashlib
import pickle
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.features import weights as module
from nbmetrics.features.networks import NETWORKS
from nbmetrics.features.weights import digest, find_weights, folder, published_file, read

torch = pytest.importorskip("torch", reason="weights are torch tensors: pip install nbmetrics[images]")
NAME = "inception-v3-compat"
STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.count": torch.tensor(3)}


@pytest.fixture(autouse=True)
def _homes(tmp_path, monkeypatch):
    """Folders of the test's own, and no way to the network."""
    monkeypatch.setenv("NBMETRICS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))

    def fetch(*given):
        raise AssertionError(f"fetches {given}")

    monkeypatch.setattr(module, "_fetch", fetch)


@pytest.fixture
def published(monkeypatch):
    """published(bytes): a network of NAME whose published file has these bytes."""

    def set_bytes(content, name=NAME):
        network = NETWORKS[name]._replace(sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(NETWORKS, name, network)
        return network

    return set_bytes


def saved(path, state=STATE):
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path)
    return path


@pytest.mark.parametrize("name", ["w.pt", "w.pth", "W.PT"])
def test_a_file_of_tensors_is_read(tmp_path, name):
    path = saved(tmp_path / name)
    found = read(NAME, find_weights(NAME, str(path), False))
    assert found.state.keys() == STATE.keys() and not found.is_published
    assert all(torch.equal(found.state[key], STATE[key]) for key in STATE)
    assert digest(found.state) == digest(STATE)


def test_safetensors_are_read(tmp_path):
    peer = pytest.importorskip("safetensors.torch", reason="pip install nbmetrics[images]")
    peer.save_file(STATE, tmp_path / "w.safetensors")
    assert digest(read(NAME, tmp_path / "w.safetensors").state) == digest(STATE)


def test_safetensors_that_are_not_installed_are_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    (tmp_path / "w.safetensors").write_bytes(b"")
    with pytest.raises(nm.InvalidInput, match=r"needs safetensors.*nbmetrics\[images\]"):
        read(NAME, tmp_path / "w.safetensors")


class Hostile:
    """Touches a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("how", ["zip", "legacy", "pickle", "beside tensors"])
@pytest.mark.parametrize("suffix", [".pt", ".pth"])
def test_a_pickle_never_runs(tmp_path, how, suffix):
    mark, path = tmp_path / "touched", tmp_path / f"w{suffix}"
    given = Hostile(mark)
    if how == "pickle":
        path.write_bytes(pickle.dumps(given))
    else:
        content = {**STATE, "b": given} if how == "beside tensors" else given
        torch.save(content, path, _use_new_zipfile_serialization=how != "legacy")
    with pytest.raises(nm.InvalidInput, match=f"^weights: .*w{suffix}.*not run"):
        read(NAME, path)
    assert not mark.exists()
    with suppress(RuntimeError):  # the same bytes do run where they are trusted
        torch.load(path, weights_only=False)
    assert mark.exists()


@pytest.mark.parametrize("name", [NAME, "clip-vit-b-32"])
def test_a_program_of_torchscript_never_runs_unless_it_is_the_published_one(tmp_path, monkeypatch, published, name):
    ran = []

    class Program:
        def state_dict(self):
            return STATE

    def load(*given, **settings):
        ran.append(given)
        return Program()

    path = tmp_path / NETWORKS[name].file
    path.write_bytes(b"a program")
    monkeypatch.setattr(torch.jit, "load", load)
    with pytest.raises(nm.InvalidInput, match=r"SHA-256"):
        read(name, path)
    own = path.rename(tmp_path / "clip-of-my-own.pt")
    with pytest.raises(nm.InvalidInput, match="not run"):
        read(name, own)
    assert not ran
    published(b"a program", "clip-vit-b-32")
    own = own.rename(tmp_path / NETWORKS["clip-vit-b-32"].file)
    assert read("clip-vit-b-32", own).is_published and len(ran) == 1


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x02", b"not weights" * 50], ids=repr)
@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_a_file_of_something_else_is_refused(tmp_path, content, suffix):
    if suffix == ".safetensors":
        pytest.importorskip("safetensors", reason="pip install nbmetrics[images]")
    path = tmp_path / f"w{suffix}"
    path.write_bytes(content)
    with pytest.raises(nm.InvalidInput, match=f"^weights: .*w{suffix} contains something other than tensors"):
        read(NAME, path)


@pytest.mark.parametrize(
    ("state", "seen"),
    [
        ({}, "{}"),
        ([STATE], "a.weight"),
        ({"state_dict": STATE}, "state_dict"),
        ({1: torch.zeros(2)}, "1"),
        ({"a": torch.tensor([1.0, float("nan")])}, "NaN"),
        ({"a": torch.tensor([1.0, float("inf")])}, "infinite"),
        ({"a": torch.zeros(2, dtype=torch.complex64)}, "not a plain tensor"),
        ({"a": torch.zeros(2).to_sparse()}, "not a plain tensor"),
        ({"a": torch.zeros(2, device="meta")}, "not a plain tensor"),
    ],
    ids=["empty", "list", "nested", "keys", "NaN", "infinity", "complex", "sparse", "meta"],
)
def test_what_is_no_state_dict_is_refused(tmp_path, state, seen):
    if isinstance(state, dict) and "no plain" not in seen:
        with pytest.raises(nm.InvalidInput, match=f"^weights: .*{seen}"):
            read(NAME, state)
    if seen != "not a plain tensor":
        with pytest.raises(nm.InvalidInput, match=f"^weights: .*{seen}"):
            read(NAME, saved(tmp_path / "w.pt", state))
    else:
        with pytest.raises(nm.InvalidInput, match=f"^weights: .*{seen}"):
            read(NAME, state)


def test_what_was_fetched_is_kept_and_read_again_without_fetching(monkeypatch, published, tmp_path):
    content = saved(tmp_path / "theirs.pth").read_bytes()
    network, fetched = published(content), []

    def fetch(url, path, sha256):
        fetched.append((url, sha256))
        path.write_bytes(content)

    monkeypatch.setattr(module, "_fetch", fetch)
    for _ in range(2):
        path = find_weights(NAME, None, True)
    assert path == folder() / network.file and fetched == [(network.url, network.sha256)]
    assert read(NAME, path).is_published and find_weights(NAME, None, False) == path


def test_what_torch_hub_fetched_before_is_used(published, tmp_path):
    path = saved(tmp_path / "torch" / "hub" / "checkpoints" / NETWORKS[NAME].file)
    published(path.read_bytes())
    assert published_file(NETWORKS[NAME]) == path == find_weights(NAME, None, False)
    assert read(NAME, path).is_published


@pytest.mark.parametrize("cut", [lambda content: content[:-1], lambda content: content[:-1] + b"?"])
def test_a_file_with_another_checksum_is_refused(published, cut):
    path = saved(folder() / NETWORKS[NAME].file)
    content = path.read_bytes()
    published(content)
    path.write_bytes(cut(content))
    with pytest.raises(nm.InvalidInput, match=rf"{path.name} has SHA-256 {hashlib.sha256(cut(content)).hexdigest()}"):
        read(NAME, path)


def test_the_downloader_checks_every_digit(monkeypatch, tmp_path):
    """`_fetch` itself, on a file of this machine."""
    monkeypatch.undo()
    source, target = tmp_path / "source.pth", tmp_path / "target.pth"
    source.write_bytes(b"weights")
    right = hashlib.sha256(b"weights").hexdigest()
    wrong = right[:-1] + ("0" if right[-1] != "0" else "1")
    with pytest.raises(RuntimeError, match="hash"):
        module._fetch(source.as_uri(), target, wrong)
    assert not target.exists()
    module._fetch(source.as_uri(), target, right)
    assert target.read_bytes() == b"weights"


def test_a_digest_is_of_names_types_shapes_and_numbers():
    changed = [
        {"b.weight": STATE["a.weight"], "a.count": STATE["a.count"]},
        {**STATE, "a.weight": STATE["a.weight"].double()},
        {**STATE, "a.weight": STATE["a.weight"].reshape(3, 2)},
        {**STATE, "a.count": torch.tensor(4)},
    ]
    assert len({digest(state) for state in (STATE, *changed)}) == 5
    turned = {"a.count": STATE["a.count"], "a.weight": STATE["a.weight"].T.contiguous().T}
    assert digest(turned) == digest(STATE)
    assert digest({"h": torch.zeros(2, dtype=torch.bfloat16)}) != digest({"h": torch.zeros(2, dtype=torch.float16)})
    assert np.unique([len(digest(state)) for state in changed]).tolist() == [64]
