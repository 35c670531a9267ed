"""The file of a trained model: read back whole, refused in words where it is none, and readable by others."""

import json
import sys

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import training
from nbmetrics.training.trained import read_arrays, write_arrays

ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([7], np.uint8), "c": np.zeros(0)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    model = training.train("wgan-gp", [np.eye(2)], rounds=1, local_steps=1)
    return model.save(tmp_path_factory.mktemp("models") / "model.safetensors")


def test_arrays_and_texts_come_back(tmp_path):
    pytest.importorskip("safetensors", reason="pip install nbmetrics[images]")
    write_arrays(tmp_path / "a.safetensors", ARRAYS, {"kind": "é"})
    found, about = read_arrays(tmp_path / "a.safetensors")
    assert about == {"kind": "é"} and found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def with_header(change):
    def make(data):
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        change(header)
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + data[8 + length :]

    return make


BROKEN = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "a huge header": lambda data: (2**60).to_bytes(8, "little") + data[8:],
    "no JSON": lambda data: data[:8] + b"x" * (len(data) - 8),
    "a list": lambda data: (2).to_bytes(8, "little") + b"[]",
    "deep": lambda data: (90_000).to_bytes(8, "little") + b"[" * 90_000,
    "a place beyond": with_header(lambda h: h["generator"].update(data_offsets=[0, 10**12])),
    "a negative place": with_header(lambda h: h["generator"].update(data_offsets=[-4, 0])),
    "a shape of another size": with_header(lambda h: h["generator"].update(shape=[2**40])),
    "another type": with_header(lambda h: h["rng"].update(dtype="BF16")),
    "a layer lost": with_header(lambda h: h.pop("critic")),
    "another kind": with_header(lambda h: h["__metadata__"].update(kind="ddpm")),
    "a kind of its own": with_header(lambda h: h["__metadata__"].update(kind="gan")),
    "negative steps": with_header(lambda h: h["__metadata__"].update(steps="-1")),
    "texts that are none": with_header(lambda h: h["__metadata__"].update(steps=1)),
    "a random stream of zeros": lambda data: data[:-5056] + bytes(5056),
    "infinity": lambda data: data[:-20_000] + np.full(5_000, np.inf, "<f4").tobytes(),
    "NaN": lambda data: data[:-20_000] + b"\xff" * 20_000,
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_holds_no_model_is_refused(case, saved, tmp_path):
    path = tmp_path / "broken.safetensors"
    path.write_bytes(BROKEN[case](saved.read_bytes()))
    with pytest.raises(nm.InvalidInput, match=r"^path: .*Give a file that Trained.save wrote"):
        training.load(path)


@pytest.mark.filterwarnings("error")
def test_a_model_of_huge_weights_gives_no_rows_that_are_not_finite(saved, tmp_path):
    arrays, about = read_arrays(saved)
    arrays["generator"] = np.full_like(arrays["generator"], 3e38)
    write_arrays(tmp_path / "huge.safetensors", arrays, about)
    with pytest.raises(nm.InvalidInput, match="NaN or infinite"):
        training.load(tmp_path / "huge.safetensors").sample(20, 0)


@pytest.mark.parametrize("path", ["model.pt", None, "nowhere.safetensors"])
def test_a_path_of_no_such_file_is_refused(path):
    with pytest.raises(nm.InvalidInput, match=r"^path: "):
        training.load(path)


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for act in (lambda: training.train("ddpm", [np.eye(2)], rounds=1, local_steps=1), lambda: training.load("a")):
        with pytest.raises(nm.InvalidInput, match=r"needs torch.*nbmetrics\[images\]"):
            act()
