"""Federations of images: out of folders and data sets, dealt as rows are, each image through one extractor."""

import shutil
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

import nbmetrics as nm
from tests.drawn_images import check_rows, counting, drawn, evaluated, means, rows, save

SIZES = {"ward 10": 4, "ward 2": 7, "ward 1": 5}


@pytest.fixture
def wards(tmp_path):
    for k, (name, count) in enumerate(SIZES.items()):
        save(tmp_path / "wards" / name, drawn(count, k))
    return tmp_path / "wards"


def of_folder(path, **options):
    return nm.Federation.from_folder(path, extractor="pixels", **options)


def test_sub_folders_are_clients_in_natural_order(wards):
    federation = of_folder(wards)
    assert federation.names == ("ward 1", "ward 2", "ward 10")
    for k, (name, count) in enumerate(SIZES.items()):
        check_rows(federation[name].rows, drawn(count, k))
        assert federation[name].labels is None
    assert federation.weights == pytest.approx((5 / 16, 7 / 16, 4 / 16))
    assert federation.extraction.extractor.name == "pixels"
    assert federation.report["read"].all() and len(federation.report) == 16


def test_folders_within_a_client_are_its_classes(tmp_path):
    for k, (hospital, kind, count) in enumerate([("a", "ill", 3), ("a", "well", 2), ("b", "well", 4)]):
        save(tmp_path / hospital / kind, drawn(count, k))
    federation = of_folder(tmp_path)
    assert federation["a"].labels.tolist() == ["ill"] * 3 + ["well"] * 2
    table = federation.describe()
    assert table["share of ill"].tolist() == pytest.approx([0.6, 0])
    assert table["share of well"].tolist() == pytest.approx([0.4, 1])
    by_class = of_folder(tmp_path, labels="class")
    assert by_class.names == ("ill", "well")
    check_rows(by_class["well"].rows, np.concatenate([drawn(2, 1), drawn(4, 2)]))
    assert set(by_class["ill"].labels) == {"ill"}


def test_by_class_a_flat_folder_is_one_client_a_class(wards):
    federation = of_folder(wards, labels="class")
    assert federation.names == ("ward 1", "ward 2", "ward 10")
    check_rows(federation["ward 2"].rows, drawn(7, 1))
    assert set(federation["ward 2"].labels) == {"ward 2"}


def test_a_zip_of_folders_is_read_as_the_folder(wards, tmp_path):
    path = shutil.make_archive(str(tmp_path / "wards"), "zip", wards)
    zipped, plain = of_folder(path), of_folder(wards)
    assert zipped.names == plain.names
    np.testing.assert_array_equal(zipped["ward 2"].rows, plain["ward 2"].rows)


def test_files_that_are_not_read_are_counted_and_listed(wards):
    (wards / "ward 2" / "broken.png").write_bytes(b"no image")
    (wards / "ward 2" / "notes.txt").write_text("x")
    (wards / "README.md").write_text("x")
    with pytest.warns(nm.UnreadWarning, match=r"1 of 19 files was not read: ward 2/broken.png \(.+\)") as told:
        federation = of_folder(wards)
    assert len(told) == 1 and told[0].filename == __file__
    report = federation.split().with_weights([1, 1, 1]).replace("ward 1", drawn(3)).report
    lost = report[~report["read"]]
    files = [("ward 2", "ward 2/broken.png"), ("ward 2", "ward 2/notes.txt"), ("", "README.md")]
    assert list(zip(lost["client"], lost["file"], strict=True)) == files
    assert lost["reason"].str.len().min() > 0
    assert list(report) == ["client", "file", "read", "reason"]


def test_by_class_files_are_listed_with_the_class_they_lie_beside(tmp_path):
    save(tmp_path / "a" / "ill", drawn(3))
    save(tmp_path / "b" / "ill", drawn(2))
    for place in ("a/ill", "a", "."):
        (tmp_path / place / "notes.txt").write_text("x")
    report = of_folder(tmp_path, labels="class").report
    assert report["client"].tolist() == ["ill"] * 6 + [""] * 2
    assert report[~report["read"]]["file"].tolist() == ["a/ill/notes.txt", "a/notes.txt", "notes.txt"]


def test_what_is_no_image_is_no_warning(wards):
    (wards / "ward 2" / "notes.txt").write_text("x")
    save(wards / ".hidden", drawn(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert of_folder(wards).names == ("ward 1", "ward 2", "ward 10")


def test_links_are_followed_but_not_in_a_circle(wards, tmp_path):
    (wards / "here").symlink_to(wards)
    (wards / "ward 1" / "above").symlink_to(wards)
    (wards / "ward 3").symlink_to(save(tmp_path / "elsewhere", drawn(3, 9)))
    federation = of_folder(wards)
    assert federation.names == ("ward 1", "ward 2", "ward 3", "ward 10")
    assert [len(client.rows) for client in federation] == [5, 7, 3, 4]


def test_a_folder_whose_name_has_a_line_break_is_a_client_of_one_line(wards):
    save(wards / "ward\n3", drawn(3, 9))
    assert of_folder(wards).names[-1] == r"ward\n3"


def beside(path):
    save(path, drawn(2))


def empty(path):
    (path / "ward 3").mkdir()


def lonely(path):
    save(path / "ward 3", drawn(1))


def unread(path):
    save(path / "ward 3", drawn(1))
    (path / "ward 3" / "1.png").write_bytes(b"no image")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (beside, r"2 images \('0.png', '1.png'\) that lie in no sub-folder"),
        (empty, r"1 sub-folder \('ward 3'\) with fewer than 2 images"),
        (lonely, r"1 sub-folder \('ward 3'\) with fewer than 2 images"),
        (unread, r"1 sub-folder \('ward 3'\) with fewer than 2 images"),
        (lambda path: (path / "a\nb").mkdir(), "fewer than 2 images"),
        (lambda path: save(path / ("a" * 140 + "/" + "b" * 180), drawn(1)), "fewer than 2 images"),
    ],
)
def test_a_folder_that_is_no_federation_is_refused_before_anything_is_extracted(wards, spoil, said):
    spoil(wards)

    def never(batch):
        raise AssertionError("extracted")

    with pytest.raises(nm.InvalidInput, match=said) as error:
        nm.Federation.from_folder(wards, extractor=counting(never))
    assert error.value.argument == "path"


@pytest.mark.parametrize("make", [lambda p: p / "absent", lambda p: p, lambda p: 3, lambda p: None])
def test_a_folder_without_images_is_refused(tmp_path, make):
    with pytest.raises(nm.InvalidInput, match=r"^path"):
        of_folder(make(tmp_path))


def test_no_extractor_is_the_one_that_stands_there(wards, tmp_path, monkeypatch):
    for home in ("NBMETRICS_HOME", "TORCH_HOME"):
        monkeypatch.setenv(home, str(tmp_path / "home"))
    with pytest.raises(nm.InvalidInput, match="inception-v3-compat"):
        nm.Federation.from_folder(wards, extractor=None)


def test_a_folder_of_images_alone_is_no_federation(tmp_path):
    with pytest.raises(nm.InvalidInput, match="lie in no sub-folder"):
        of_folder(save(tmp_path, drawn(3)))


@pytest.mark.parametrize("options", [{"labels": "classes"}, {"labels": None}])
def test_labels_are_client_or_class(wards, options):
    with pytest.raises(nm.InvalidInput, match="Choose one of: client, class"):
        of_folder(wards, **options)


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
    with pytest.raises(nm.InvalidInput, match=r"^batch_size: is given beside an extraction"):
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


@pytest.mark.parametrize("names", [("a\nb", r"a\nb"), ("a\x1b", r"a\x1b")], ids=["line break", "escape"])
@pytest.mark.parametrize("labels", ["client", "class"])
def test_two_folders_whose_names_show_alike_are_not_one(tmp_path, names, labels):
    for k, name in enumerate((*names, "c")):
        save(tmp_path / name, drawn(3, k))
    with pytest.raises(nm.InvalidInput, match="path: has two folders whose names show as"):
        of_folder(tmp_path, labels=labels)


def test_classes_far_below_are_told_apart(tmp_path):
    far = tmp_path.joinpath(*["x" * 100] * 6)
    for k, name in enumerate(("cat", "dog")):
        save(far / name, drawn(3 + k, k))
    federation = of_folder(tmp_path, labels="class")
    assert federation.names == ("cat", "dog")
    check_rows(federation["dog"].rows, drawn(4, 1))


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
