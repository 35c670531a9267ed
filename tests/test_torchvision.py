"""Federations of torchvision's data sets as they lie on a disk: MNIST and CIFAR-10, of a few images of our own."""

import pickle

import numpy as np
import pytest

import nbmetrics as nm
from tests.benchmarks import peers
from tests.drawn_images import check_rows, drawn

LABELS = np.array([3, 3, 8, 8, 8, 3, 0, 0])


@pytest.fixture(scope="module")
def datasets():
    return peers.imported("torchvision.datasets") or pytest.skip("no torchvision here: pip install nbmetrics[images]")


def mnist(datasets, folder):
    """As its files are: a big-endian head (type, axes, lengths), then bytes."""
    images = drawn(len(LABELS), shape=(28, 28))
    (folder / "MNIST/raw").mkdir(parents=True)
    for part in ("train", "t10k"):
        for kind, array in (("images-idx3", images), ("labels-idx1", LABELS.astype(np.uint8))):
            head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes()
            (folder / f"MNIST/raw/{part}-{kind}-ubyte").write_bytes(head + array.tobytes())
    return datasets.MNIST(folder), images


def cifar(datasets, folder):
    """As its files are: pickled dicts of rows that hold red, then green, then blue."""
    images = drawn(len(LABELS), shape=(32, 32, 3))
    (folder / "cifar-10-batches-py").mkdir()
    batch = {"data": images.transpose(0, 3, 1, 2).reshape(len(images), -1), "labels": LABELS.tolist()}
    for name, content in (("test_batch", batch), ("batches.meta", {"label_names": [str(k) for k in range(10)]})):
        (folder / "cifar-10-batches-py" / name).write_bytes(pickle.dumps(content))
    return datasets.CIFAR10(folder, train=False), images


@pytest.mark.parametrize("kind", [mnist, cifar])
def test_a_data_set_of_torchvision_becomes_a_federation_by_its_labels(kind, datasets, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.CIFAR10, "_check_integrity", lambda self: True)
    monkeypatch.setattr(datasets.cifar, "check_integrity", lambda *given: True)
    data, images = kind(datasets, tmp_path)
    federation = nm.Federation.from_dataset(data, extractor="pixels", cache=False)
    assert federation.names == ("0", "3", "8")
    for client in federation:
        check_rows(client.rows, images[int(client.name) == LABELS])
    data.transform = lambda image: np.asarray(image, np.float32) / 255  # as ToTensor scales
    dealt = nm.Federation.pathological(data, None, 3, classes=1, extractor="pixels", cache=False)
    assert sorted(tuple({*client.labels}) for client in dealt) == [(0,), (3,), (8,)]
    for client in dealt:
        check_rows(client.rows, images[client.labels[0] == LABELS])


def test_fake_data_are_a_federation_that_scores_the_same_images_0(datasets):
    data = datasets.FakeData(12, image_size=(3, 8, 8), num_classes=2)
    federation = nm.Federation.from_dataset(data, extractor="pixels", cache=False)
    assert sum(len(client.rows) for client in federation) == 12
    scores = nm.evaluate(federation, {"same": nm.images(data)}, "fid", progress=False)
    assert scores.table["all"][0] == pytest.approx(0, abs=1e-6) and scores.table["avg"][0] > 1
