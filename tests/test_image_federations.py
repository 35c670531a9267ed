"""Federations of images: out of folders and data sets, dealt as rows are, each image through one extractor."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import nbmetrics as nm
from tests.drawn_images import check_rows, counting, drawn, evaluated, means, rows, save


@pytest.fixture
def federation():
    return nm.Federation({"a": drawn(9, 1), "b": drawn(12, 2)}, extractor=counting())


def test_the_extraction_stays_with_the_clients(federation):
    kept = federation.extraction
    assert kept is not None
    for other in (
        federation.with_weights([1, 2]),
        federation.split(),
        federation.replace("a", drawn(4, 8)),
        federation.replace("a", np.zeros((4, 3))),
        nm.Federation([federation["b"]]),
        nm.Federation([federation.pooled()]),
        nm.Federation([federation.with_weights([1, 5]).pooled()]),
    ):
        assert other.extraction is kept
    check = federation.replace("a", drawn(4, 8))["a"].rows
    np.testing.assert_allclose(check, means(drawn(4, 8)), rtol=1e-6)


def test_clients_of_two_extractors_are_refused():
    with pytest.raises(nm.InvalidInput, match="'b' has features by means/1, 'a' by pixels"):
        nm.Federation([nm.Client(drawn(3), name=n, extractor=e) for n, e in (("a", "pixels"), ("b", counting()))])


def test_a_client_of_images_has_their_labels_and_test_images():
    given = nm.images(drawn(6), labels=list("aabbcc"))
    client = nm.Client(given, test=drawn(3, 1), extractor="pixels")
    assert client.labels.tolist() == list("aabbcc")
    check_rows(client.test, drawn(3, 1))
    check_rows(client.rows, drawn(6))
    split = nm.Federation([client]).split(0.5, seed=3).clients[0]
    places = [np.flatnonzero((client.rows == row).all(axis=1))[0] for row in split.rows]
    assert split.labels.tolist() == client.labels[places].tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: nm.Client(drawn(3)),
        lambda: nm.Client(drawn(3)[..., 0]),
        lambda: nm.Client(nm.images(drawn(3))),
        lambda: nm.Client(rows(drawn(3)), test=drawn(3)),
        lambda: nm.Federation({"a": drawn(3)}),
        lambda: nm.Federation.from_labels(drawn(4), [0, 0, 1, 1]),
        lambda: nm.Federation.iid(nm.images(drawn(4)), 2),
    ],
)
def test_images_without_an_extractor_are_refused(make):
    with pytest.raises(nm.InvalidInput, match=r"no extractor is given. Give extractor="):
        make()


LABELS = np.array(list("aababbabcccc"))

DEALT = {
    "from_labels": lambda x, y, **e: nm.Federation.from_labels(x, y, **e),
    "by_id": lambda x, y, **e: nm.Federation.by_id(x, LABELS, y=y, **e),
    "iid": lambda x, y, **e: nm.Federation.iid(x, 3, seed=2, y=y, **e),
    "power_law": lambda x, y, **e: nm.Federation.power_law(x, 3, 1.0, seed=2, y=y, **e),
    "dirichlet": lambda x, y, **e: nm.Federation.dirichlet(x, y, 3, 1.0, seed=2, **e),
    "shards": lambda x, y, **e: nm.Federation.shards(x, y, 3, 2, seed=2, **e),
    "pathological": lambda x, y, **e: nm.Federation.pathological(x, y, 3, 2, seed=2, **e),
    "variance_limited": lambda x, y, **e: nm.Federation.variance_limited(x, y, 2, seed=2, **e),
    "from_dataset": lambda x, y, **e: nm.Federation.from_dataset((x, y) if y is not None else x, **e),
    "from_dataset by": lambda x, y, **e: nm.Federation.from_dataset(x, labels=y, by=LABELS, **e),
}


@pytest.mark.parametrize("scheme", DEALT)
def test_images_are_dealt_as_their_rows_are(scheme):
    images = drawn(12)
    plain = DEALT[scheme](rows(images).astype(np.float32), LABELS)
    given = DEALT[scheme](images, LABELS, extractor="pixels")
    lazy = DEALT[scheme](nm.images(images, labels=LABELS), None, extractor="pixels", batch_size=5, cache=False)
    assert plain.extraction is None
    for federation in (given, lazy):
        assert federation.names == plain.names
        assert federation.extraction.extractor.name == "pixels"
        for client, other in zip(federation, plain, strict=True):
            np.testing.assert_allclose(client.rows, other.rows, atol=1e-6)
            assert client.labels.tolist() == other.labels.tolist()
    assert lazy.extraction.batch_size == 5
    known = {tuple(row): label for row, label in zip(rows(images).astype(np.float32), LABELS, strict=True)}
    assert all(known[tuple(row)] == label for c in plain for row, label in zip(c.rows, c.labels, strict=True))


def test_what_can_be_refused_is_refused_before_images_are_extracted():
    def never(batch):
        raise AssertionError("extracted")

    images, extraction = drawn(12), counting(never)
    for refused in (
        lambda: nm.Federation.iid(images, 99, extractor=extraction),
        lambda: nm.Federation.from_labels(images, LABELS[:3], extractor=extraction),
        lambda: nm.Federation.shards(images, LABELS, 3, 9, extractor=extraction),
        lambda: nm.Federation.from_dataset(images, extractor=extraction),
        lambda: nm.Federation.from_dataset(images, by=[1], labels=LABELS, extractor=extraction),
        lambda: nm.Client(images, labels=LABELS[:3], extractor=extraction),
        lambda: nm.Client(images, condition=[[1.0]], extractor=extraction),
        lambda: evaluated(nm.Federation({"a": np.zeros((4, 3))}, extractor=extraction), {"g": images}, "kidd"),
    ):
        with pytest.raises(nm.InvalidInput):
            refused()


def test_what_an_extractor_of_ones_own_raises_is_seen(tmp_path):
    def broken(batch):
        raise TypeError("of my own")

    save(tmp_path / "a", drawn(2))
    for make in (
        lambda e: nm.Federation.from_folder(tmp_path, extractor=e),
        lambda e: nm.Federation.iid(drawn(4), 2, extractor=e),
        lambda e: nm.Federation({"a": drawn(4)}, extractor=e),
        lambda e: nm.Federation([drawn(4)], extractor=e),
    ):
        with pytest.raises(TypeError, match="of my own"):
            make(counting(broken))


def test_settings_belong_to_an_extractor():
    with pytest.raises(nm.InvalidInput, match=r"^batch_size: is a setting of an extractor, and none is given"):
        nm.Federation.iid(np.zeros((4, 2)), 2, batch_size=3)
    with pytest.raises(nm.InvalidInput, match=r"^batch_size: is given together with an extraction"):
        nm.Federation.iid(drawn(4), 2, extractor=counting(), batch_size=3)


def test_a_torch_data_set_is_dealt_by_its_labels():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    images, labels = drawn(12), np.arange(12) % 3
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
    federation = nm.Federation.from_dataset(dataset, extractor="pixels")
    assert federation.names == ("0", "1", "2")
    check_rows(federation["1"].rows, images[1::3])
    by = nm.Federation.from_dataset(dataset, by=["user"] * 5 + ["other"] * 7, extractor="pixels")
    assert [(c.name, c.labels.tolist()) for c in by] == [("other", [2, *[0, 1, 2] * 2]), ("user", [0, 1, 2, 0, 1])]


def test_learned_features_tell_digits_from_noise():
    digits = load_digits()
    images = np.rint(digits.images / 16 * 255).astype(np.uint8)
    held, labels = images[1200:], digits.target[:1200]
    federation = nm.Federation.dirichlet(images[:1200], labels, 4, 0.5, seed=1, extractor="digits-cnn")
    sources = {"digits": held, "noise": lambda n, rng: rng.integers(0, 256, (n, 8, 8), dtype=np.uint8)}
    scores = evaluated(federation, {**sources, "blurred": nm.images(held // 2 + held[:, ::-1] // 2)}, samples=500)
    assert scores.ranks("kid").set_index("generator")["all"]["digits"] == 1
    table = scores.table.set_index("generator")
    assert abs(table.loc["digits", "all"]) < 0.1 * table.loc[["noise", "blurred"], "all"].min()
    assert any(line.startswith("features: digits-cnn") for line in scores.conventions)
    assert federation.describe().filter(like="share of ").shape == (4, 10)


def test_a_module_that_was_trained_since_makes_no_rows_beside_its_old_ones():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(90, 2))
    images = {name: drawn(4, k) for k, name in enumerate("ab")}
    federation, old = nm.Federation(images, extractor=net), nm.Client(drawn(4), name="old", extractor=net)
    evaluated(federation, drawn(5))
    with torch.no_grad():
        net[1].weight.mul_(3)
    for generator in (drawn(5), lambda n, rng: drawn(n)):
        with pytest.raises(nm.InvalidInput, match=r"extractor: made rows as .* before, and is .* now"):
            evaluated(federation, generator)
    with pytest.raises(nm.InvalidInput, match="'new' has features by Sequential"):
        nm.Federation([old, nm.Client(drawn(4), name="new", extractor=net)])
    assert federation.with_weights([1, 3]).weights == (0.25, 0.75)
    evaluated(nm.Federation(images, extractor=net), drawn(5))
