"""Extractors by name, and functions of the user's own, without torch."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nbmetrics as nm
from nbmetrics.features.batches import rows_by_shape
from nbmetrics.features.extractors import Extractor, Pixels, extractor_of
from nbmetrics.features.networks import LAYERS, NETWORKS
from nbmetrics.features.torch_environment import NUMPY_EXTRACTORS

RNG = np.random.default_rng(0)


def images(*shapes):
    return [RNG.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]


@pytest.fixture(autouse=True)
def _homes(tmp_path, monkeypatch):
    monkeypatch.setenv("NBMETRICS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))


def test_the_table_has_every_name_once_and_says_what_is_ready(tmp_path):
    table = nm.extractors()
    assert list(table) == ["name", "dim", "needs", "ready"]
    assert table["name"].tolist() == [*NUMPY_EXTRACTORS, *LAYERS] and table["name"].is_unique
    named = table.set_index("name")
    assert named.loc["pixels", "dim"] is pd.NA and named.loc["inception-v3-compat", "dim"] == 2048
    assert named.loc[list(NUMPY_EXTRACTORS), "ready"].all() and (named.loc[list(NUMPY_EXTRACTORS), "needs"] == "").all()
    assert not named.loc[list(LAYERS), "ready"].any()
    assert (named.loc[list(LAYERS), "needs"].str.contains(r"nbmetrics\[images\], \S+\.ptp?h?$")).all()


def test_a_network_is_ready_when_packages_and_file_are_there(monkeypatch):
    from nbmetrics.features import extractors, weights

    path = weights.folder() / NETWORKS["vgg16"].file
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    monkeypatch.setattr(extractors, "missing_packages", lambda: [])
    ready = nm.extractors().set_index("name")["ready"]
    assert ready[ready].index.tolist() == [*NUMPY_EXTRACTORS, "vgg16", "vgg16:fc2"]
    monkeypatch.setattr(extractors, "missing_packages", lambda: ["torch"])
    assert nm.extractors().set_index("name")["ready"].sum() == len(NUMPY_EXTRACTORS)


def test_listing_and_refusing_bring_in_no_torch():
    code = """
import sys, numpy as np, nbmetrics as nm, nbmetrics.features.extractors
assert not {"torch", "PIL", "pandas", "matplotlib"} & set(sys.modules)
nm.extractors()
for name in ("inception-v3-compat", "no such"):
    try:
        nm.extract(np.zeros((1, 8, 8, 3), np.uint8), name)
    except nm.InvalidInput:
        pass
nm.extract(np.zeros((1, 8, 8, 3), np.uint8), "pixels", cache=False)
nm.extract(np.zeros((1, 8, 8, 3), np.uint8), lambda batch: batch[:, 0, 0] / 255, cache=False)
print(*sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "nbmetrics.features.custom_extractors" in found and not {"torch", "torchvision", "matplotlib"} & set(found)


@pytest.mark.parametrize("package", ["torch", "torchvision", "torch_fidelity"])
def test_a_package_that_is_not_installed_is_named_with_the_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        nm.InvalidInput, match=r"^extractor: 'vgg16' needs .*not installed.*nbmetrics\[images\]"
    ) as caught:
        nm.extract(np.zeros((1, 8, 8, 3), np.uint8), "vgg16")
    assert package.replace("_", "-") in str(caught.value)


def test_without_torch_a_federation_of_images_says_which_extractors_need_none(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    images, labels = np.zeros((4, 8, 8), np.uint8), ["a", "a", "b", "b"]
    for make in (lambda: nm.Federation.from_dataset((images, labels)), lambda: nm.Federation.from_folder(tmp_path)):
        with pytest.raises(nm.InvalidInput, match=r"the default, needs torch, .*extractor='pixels' or .*'digits-cnn'"):
            make()
    for make in (lambda: nm.Client(images), lambda: nm.Federation.from_labels(images, labels)):
        with pytest.raises(nm.InvalidInput, match='"pixels" or "digits-cnn", which need no torch'):
            make()


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("pixel", "pixels"),
        ("inception", "inception-v3-compat"),
        ("VGG16", "vgg16"),
        ("dinov2-vit-b14", "dinov2-vit-b-14"),
    ],
)
def test_a_typo_gets_the_nearest_name(given, wanted):
    with pytest.raises(nm.InvalidInput, match=f"^extractor: .*Did you mean '{wanted}"):
        extractor_of(given)


@pytest.mark.parametrize("given", [None, 3, b"pixels", ["pixels"], np.zeros(3), Pixels, "", "\0"])
def test_what_is_no_extractor_is_refused(given):
    with pytest.raises(nm.InvalidInput, match=r"^extractor: "):
        extractor_of(given)


@pytest.mark.parametrize("given", ["net.pt", "a/NET.ONNX", Path("net.pt"), Path("net")], ids=str)
def test_a_file_of_a_network_is_refused_with_what_to_do(given):
    with pytest.raises(nm.InvalidInput, match=r"^extractor: got the file .*not run here\. Load a program yourself"):
        extractor_of(given)


def mean_colour(batch):
    return batch.reshape(len(batch), -1).mean(axis=1, keepdims=True)


@pytest.mark.parametrize("extractor", ["pixels", mean_colour, Pixels()], ids=["name", "function", "object"])
@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"resize": "clean"}, "resize"),
        ({"resize": "cleen"}, "resize"),
        ({"resize": None}, "resize"),
        ({"weights": "a.pt"}, "weights"),
        ({"device": "cuda"}, "device"),
        ({"download": "yes"}, "download"),
    ],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(extractor, settings, argument):
    with pytest.raises(nm.InvalidInput, match=f"^{argument}: "):
        extractor_of(extractor, **settings)
    assert isinstance(extractor_of(extractor, device="cpu", download=True), Extractor)


@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 3)])
def test_pixels_are_levels_over_255(shape):
    batch = images(shape, shape)
    rows = extractor_of("pixels")(batch)
    assert rows.dtype == np.float32 and rows.shape == (2, np.prod(shape))
    assert np.array_equal(rows, np.stack(batch).reshape(2, -1).astype(np.float32) / np.float32(255))
    assert extractor_of("pixels")([np.full(shape, 255, np.uint8)]).tolist() == [[1.0] * np.prod(shape)]


@pytest.mark.parametrize("other", [(4, 5, 3), (10, 2, 3), (5, 4), (5, 12)])
def test_pixels_of_two_shapes_are_refused_in_one_batch_and_in_two(other):
    first, second = images((5, 4, 3), other)
    seen = rf"^source: has images of shapes \(5, 4, 3\) and \({str(other)[1:-1]}\)"
    with pytest.raises(nm.InvalidInput, match=seen):
        extractor_of("pixels")([first, second])
    extractor = extractor_of("pixels")
    extractor([first])
    with pytest.raises(nm.InvalidInput, match=seen):
        extractor([second])
    assert extractor([first]).shape == (1, 60) and extractor([]).shape == (0, 60)
    assert extractor.fingerprint != extractor_of("pixels").fingerprint


def test_a_function_gets_the_images_of_one_shape_together_and_rows_keep_their_order():
    batch, seen = images((3, 4, 3), (2, 2), (3, 4, 3), (2, 2, 3), (2, 2)), []

    def function(given):
        seen.append((given.shape, given.dtype))
        return mean_colour(given)

    rows = extractor_of(function)(batch)
    assert seen == [((2, 3, 4, 3), np.uint8), ((2, 2, 2), np.uint8), ((1, 2, 2, 3), np.uint8)]
    assert rows[:, 0].tolist() == pytest.approx([image.mean() for image in batch], rel=1e-6)


def test_a_function_is_kept_in_the_cache_only_by_a_fingerprint_of_its_own():
    def function(batch):
        return mean_colour(batch)

    found = extractor_of(function)
    assert found.fingerprint is None and found.name == "function" and "function of your own" in found.convention
    function.fingerprint = "1"
    first = extractor_of(function).fingerprint
    function.fingerprint = "2"
    assert first != extractor_of(function).fingerprint and "2" in extractor_of(function).fingerprint
    function.fingerprint = 3
    with pytest.raises(nm.InvalidInput, match="fingerprint"):
        extractor_of(function).fingerprint  # noqa: B018


@pytest.mark.parametrize(
    ("function", "seen"),
    [
        (lambda batch: batch, "shape"),
        (lambda batch: batch[:, 0, 0, 0], "shape"),
        (lambda batch: None, "None"),
        (lambda batch: np.full((len(batch), 2), np.nan), "NaN"),
        (lambda batch: np.full((len(batch), 2), 1e40), "float32"),
        (lambda batch: np.zeros((len(batch) + 1, 2)), "3 rows for 2 images"),
        (lambda batch: np.zeros((len(batch), 0)), "no features"),
        (lambda batch: batch[:, 0, 0] * 1j, "complex"),
    ],
)
def test_what_a_function_gives_is_checked(function, seen):
    with pytest.raises(nm.InvalidInput, match=f"^extractor: .*{seen}"):
        extractor_of(function)(images((4, 4, 3), (4, 4, 3)))


def test_rows_of_two_widths_are_refused():
    with pytest.raises(nm.InvalidInput, match=r"several widths: 48 for images \(4, 4, 3\), 75 for images \(5, 5, 3\)"):
        rows_by_shape(images((4, 4, 3), (5, 5, 3)), lambda batch: batch.reshape(len(batch), -1))


def test_an_extractor_of_ones_own_is_taken_as_it_is():
    class Halves:
        name, fingerprint, convention = "halves", "halves/1", "the upper half's mean"

        def __call__(self, batch):
            return np.array([[image[: len(image) // 2].mean()] for image in batch])

    given = Halves()
    assert extractor_of(given) is given


def test_the_digits_cnn_has_the_width_that_the_table_says():
    from nbmetrics.features import digits

    assert digits.DigitsCNN is type(extractor_of("digits-cnn"))
    rows = extractor_of("digits-cnn")(images((8, 8), (8, 8)))
    assert rows.shape == (2, NUMPY_EXTRACTORS["digits-cnn"][2])


def test_packages_that_do_not_load_are_told_of_as_those_that_are_absent(monkeypatch, tmp_path):
    monkeypatch.setattr("nbmetrics.features.torch_environment.missing_packages", list)  # found, and yet
    monkeypatch.setitem(sys.modules, "nbmetrics.features.fidelity", None)  # no import of it succeeds
    with pytest.raises(nm.InvalidInput, match=r"^extractor: .*do not load.*pip install .*nbmetrics\[images\]"):
        nm.extract(np.zeros((2, 8, 8), np.uint8), "inception-v3-compat", weights={"any": 0})
