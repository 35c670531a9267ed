"""Federations and generators of images: out of folders and data sets, and through one extractor into scores."""

import warnings

import numpy as np
import pytest
from PIL import Image

import nbmetrics as nm

SHAPE = (6, 5, 3)


def drawn(count, seed=0, shape=SHAPE):
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8)


def save(folder, images):
    folder.mkdir(parents=True, exist_ok=True)
    for k, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{k}.png")
    return folder


def rows(images):
    """What the extractor "pixels" makes of them, written again."""
    return images.reshape(len(images), -1) / 255


def check_rows(found, images):
    np.testing.assert_allclose(found, rows(images), rtol=0, atol=1e-6)


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
    import shutil

    path = shutil.make_archive(str(tmp_path / "wards"), "zip", wards)
    zipped, plain = of_folder(path), of_folder(wards)
    assert zipped.names == plain.names
    np.testing.assert_array_equal(zipped["ward 2"].rows, plain["ward 2"].rows)


def test_files_that_are_not_read_are_counted_and_listed(wards):
    (wards / "ward 2" / "broken.png").write_bytes(b"no image")
    (wards / "ward 2" / "notes.txt").write_text("x")
    (wards / "README.md").write_text("x")
    with pytest.warns(nm.UnreadWarning, match=r"1 of 19 files were not read: ward 2/broken.png \(.+\)") as told:
        federation = of_folder(wards)
    assert len(told) == 1 and told[0].filename == __file__
    report = federation.split().with_weights([1, 1, 1]).replace("ward 1", drawn(3)).report
    lost = report[~report["read"]]
    files = [("ward 2", "ward 2/broken.png"), ("ward 2", "ward 2/notes.txt"), ("", "README.md")]
    assert list(zip(lost["client"], lost["file"], strict=True)) == files
    assert lost["reason"].str.len().min() > 0
    assert list(report) == ["client", "file", "read", "reason"]


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


def test_a_folder_of_images_alone_is_no_federation(tmp_path):
    with pytest.raises(nm.InvalidInput, match="lie in no sub-folder"):
        of_folder(save(tmp_path, drawn(3)))


@pytest.mark.parametrize("options", [{"labels": "classes"}, {"labels": None}])
def test_labels_are_client_or_class(wards, options):
    with pytest.raises(nm.InvalidInput, match="Choose one of: client, class"):
        of_folder(wards, **options)


class Counting:
    """An extractor that notes the sizes of the batches it is given, and makes means of them."""

    name, fingerprint, convention = "means", "means/1", "mean colours"

    def __init__(self, make=None):
        self.seen, self.make = [], make

    def __call__(self, batch):
        self.seen.append(len(batch))
        return (self.make or means)(batch)


def means(batch):
    return np.array([image.reshape(-1, image.shape[-1]).mean(axis=0) for image in batch], np.float32)


def counting(make=None):
    """An `Extraction` around such an extractor."""
    from nbmetrics.features import Extraction

    return Extraction(Counting(make), batch_size=4, cache=False, progress=False)


@pytest.fixture
def federation():
    return nm.Federation({"a": drawn(9, 1), "b": drawn(12, 2)}, extractor=counting())


def evaluated(federation, generators, metrics="kid", **options):
    return nm.evaluate(federation, generators, metrics, progress=False, **options)


def test_generators_of_images_are_scored_as_their_rows(federation, tmp_path):
    import shutil

    made = drawn(10, 5)
    save(tmp_path / "samples", made)
    np.save(tmp_path / "samples.npy", made)
    sources = {
        "folder": tmp_path / "samples",
        "text": str(tmp_path / "samples"),
        "zip": shutil.make_archive(str(tmp_path / "samples"), "zip", tmp_path / "samples"),
        "array": made,
        "floats": made / 255,
        "channels first": np.moveaxis(made, 3, 1),
        "npy": tmp_path / "samples.npy",
        "images": nm.images(made),
        "rows": means(made),
    }
    scores = evaluated(federation, sources, ("fid", "kid"))
    for _, table in scores.table.groupby("metric"):
        for part in ("avg", "all"):
            np.testing.assert_allclose(table[part], table[part].iloc[-1], rtol=1e-5)
    line = "features: mean colours; features of generator 'rows' as given; laws exact"
    assert any(said.startswith(line) for said in scores.conventions)


def test_generators_are_called_as_their_folders_are(federation, tmp_path):
    folders = [save(tmp_path / name, drawn(4, k)) for k, name in enumerate(["gan.v1", "gan.v2"])]
    assert evaluated(federation, folders).generators == ("gan.v1", "gan.v2")
    assert evaluated(federation, str(folders[0])).generators == ("gan.v1",)
    assert evaluated(federation, {"mine": nm.Generator(folders[0])}).generators == ("mine",)


def function(n, rng):
    return rng.integers(0, 256, (n, *SHAPE), dtype=np.uint8)


def drawn_rows(federation, source, n, seed=0):
    made = nm.Generator(source, name="g").through(federation.extraction)
    return made.draw(n, seed, dim=federation.dim).rows


def test_a_function_of_images_is_asked_for_few_at_a_time(federation):
    asked = []

    def source(n, rng):
        asked.append(n)
        return function(n, rng)

    federation.extraction.extractor.seen.clear()
    evaluated(federation, {"g": source}, samples=150)
    assert asked == [64, 64, 22] == federation.extraction.extractor.seen


def test_a_seed_means_the_same_images_however_many_and_whatever_the_batches(federation):
    rows = drawn_rows(federation, function, 150)
    assert len(np.unique(rows, axis=0)) == 150
    np.testing.assert_array_equal(rows[:128], drawn_rows(federation, function, 128))
    other = nm.Federation({"a": drawn(9)}, extractor=counting())
    object.__setattr__(other.extraction, "batch_size", 3)
    np.testing.assert_array_equal(rows, drawn_rows(other, function, 150))
    assert not np.array_equal(rows, drawn_rows(federation, function, 150, seed=1))


def test_no_more_than_a_batch_of_drawn_images_is_in_memory(federation):
    import tracemalloc

    side = 100

    def source(n, rng):
        return np.broadcast_to(rng.integers(0, 256, (n, 1, 1, 3), dtype=np.uint8), (n, side, side, 3)).copy()

    drawn_rows(federation, source, 64)
    tracemalloc.start()
    drawn_rows(federation, source, 1280)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * 64 * side * side * 3  # 1,280 images are 20 batches


@pytest.mark.parametrize("as_list", [list, tuple])
def test_a_function_may_give_lists_of_images(federation, as_list):
    pillows = drawn_rows(federation, lambda n, rng: as_list(map(Image.fromarray, function(n, rng))), 70)
    np.testing.assert_array_equal(pillows, drawn_rows(federation, function, 70))
    arrays = drawn_rows(federation, lambda n, rng: as_list(function(n, rng)), 70)
    np.testing.assert_array_equal(arrays, pillows)


def test_a_function_of_rows_is_asked_once_as_without_an_extractor(federation):
    def source(n, rng):
        return rng.normal(size=(n, 3))

    expected = source(150, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn_rows(federation, source, 150), expected)


def test_a_conditional_function_of_images_answers_in_batches():
    x = np.random.default_rng(4).random((100, 2))
    asked = []

    def source(given, rng):
        asked.append(given)
        return (np.ones((len(given), 6, 5, 3)) * given.mean(axis=1)[:, None, None, None]).astype(np.float32)

    clients = [nm.Client(drawn(100, 3), condition=x, extractor=counting(), name="a")]
    federation = nm.Federation(clients)
    answered = nm.Generator(source).through(federation.extraction).answer(x, 0, dim=3).rows
    np.testing.assert_allclose(answered[:, 0], np.rint(x.mean(axis=1) * 255), rtol=1e-6)
    np.testing.assert_array_equal(np.concatenate(asked), x)
    assert [len(part) for part in asked] == [64, 36]
    assert evaluated(federation, {"g": source}, ["mfid", "kid"]).table.notna().all(axis=None)
    with pytest.raises(nm.InvalidInput, match="are 63 where 64"):
        evaluated(federation, {"g": lambda given, rng: source(given, rng)[1:]}, "mfid")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (lambda n, rng: drawn(7), r"images from generator 'g': are 7 where 64 were asked for.*batches of up to 64"),
        (lambda n, rng: drawn(n)[..., None], "generator 'g'"),
        (lambda n, rng: np.full((n, *SHAPE), np.nan), "NaN"),
        (lambda n, rng: np.full((n, *SHAPE), 1e3), r"floats from 1000"),
        (lambda n, rng: drawn(n).astype(int), "dtype"),
        (lambda n, rng: rng.normal(size=(n, 5)), "has 5 features where 3"),
        (lambda n, rng: None, "rows from generator 'g'"),
        (lambda n, rng: [], "rows from generator 'g'"),
        (lambda n, rng: function(n, rng)[:, :0], "generator 'g'"),
        (drawn(7)[:0], "generator 'g'"),
        (np.full((3, *SHAPE), -1.0), "generator 'g'"),
        (np.zeros((9, 4)), "has 4 features where 3"),
        ("absent.zip", "generator 'g'"),
    ],
)
def test_bad_images_of_a_generator_are_told_by_its_name(federation, source, said):
    with pytest.raises(nm.InvalidInput, match=said):
        evaluated(federation, {"g": source}, samples=70)


@pytest.mark.parametrize("source", [drawn(5), drawn(5)[..., 0], nm.images(drawn(5)), function])
def test_images_without_an_extractor_say_what_to_do(source):
    federation = nm.Federation({"a": np.zeros((4, 3)), "b": np.ones((5, 3))})
    fix = r"generator 'g'.*clients have no extractor.*nm\.Federation\.from_folder"
    with pytest.raises(nm.InvalidInput, match=fix):
        evaluated(federation, {"g": source})
    if not callable(source):
        with pytest.raises(nm.InvalidInput, match=fix.replace("'g'", "None")):
            nm.theory.fid_avg_bound(federation, nm.Generator(source))


def test_features_that_an_extractor_made_wrong_are_told():
    for make in (lambda batch: means(batch) * np.nan, lambda batch: means(batch)[1:]):
        with pytest.raises(nm.InvalidInput):
            nm.Federation({"a": drawn(9)}, extractor=counting(make))


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


def test_settings_belong_to_an_extractor():
    with pytest.raises(nm.InvalidInput, match=r"^batch_size: is a setting of an extractor, and none is given"):
        nm.Federation.iid(np.zeros((4, 2)), 2, batch_size=3)
    with pytest.raises(nm.InvalidInput, match=r"^batch_size: is given beside an extraction"):
        nm.Federation.iid(drawn(4), 2, extractor=counting(), batch_size=3)


def test_a_playground_shows_generators_of_images_beside_clients_of_images(federation, tmp_path):
    made = drawn(10, 5)
    lab = nm.Playground(federation, {"folder": save(tmp_path / "samples", made), "rows": means(made)})
    try:
        scores = lab.scores().table.set_index("generator")
        np.testing.assert_allclose(scores.loc["folder", "avg"], scores.loc["rows", "avg"], rtol=1e-6)
        for attach in (lab.attach, lab.attach_client):
            for source in (made, tmp_path / "samples", nm.images(made)):
                with pytest.raises(nm.InvalidInput, match=r"^source: is images.*nm\.extract.*\(n, 3\)"):
                    attach("new", source)
        lab.attach("new", means(made))
    finally:
        lab.close()


def test_a_theorem_takes_a_generator_of_images(federation):
    made = drawn(10, 5)
    given, rows_of_it = (nm.theory.fid_avg_bound(federation, nm.Generator(g)) for g in (made, means(made)))
    assert given == pytest.approx(rows_of_it)


def test_what_a_generator_of_images_is_called_and_copied(tmp_path):
    generator = nm.Generator(save(tmp_path / "samples", drawn(2)))
    assert generator.name == "samples" and "samples" in repr(generator)
    import copy
    import pickle

    for again in (copy.copy(generator), copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))):
        assert (again.name, again.source) == (generator.name, generator.source)


def test_progress_of_drawn_images_is_shown_when_asked_for(federation, capsys):
    object.__setattr__(federation.extraction, "progress", True)
    nm.evaluate(federation, {"g": function}, "kid", samples=130, progress=True)
    assert "generator 'g'" in capsys.readouterr().err
    nm.evaluate(federation, {"g": function}, "kid", samples=130, progress=False)
    assert capsys.readouterr().err == ""


def test_a_module_of_images_is_drawn_in_batches():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Net(torch.nn.Module):
        latent_dim = 2

        def __init__(self):
            super().__init__()
            self.asked, self.scale = [], torch.nn.Parameter(torch.ones(1))

        def forward(self, z):
            self.asked.append(len(z))
            return torch.sigmoid(self.scale * z.sum(axis=1))[:, None, None, None].expand(-1, 3, 6, 5)

    net = Net()
    federation = nm.Federation({"a": drawn(9), "b": drawn(12)}, extractor=counting())
    found = drawn_rows(federation, net, 100)
    assert net.asked == [64, 36] and found.shape == (100, 3)
    assert np.isfinite(found).all() and len(np.unique(found[:, 0])) > 50
    np.testing.assert_array_equal(found, drawn_rows(federation, net, 100))


def test_a_torch_data_set_is_dealt_by_its_labels():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    images, labels = drawn(12), np.arange(12) % 3
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
    federation = nm.Federation.from_dataset(dataset, extractor="pixels")
    assert federation.names == ("0", "1", "2")
    check_rows(federation["1"].rows, images[1::3])
    by = nm.Federation.from_dataset(dataset, by=["user"] * 5 + ["other"] * 7, extractor="pixels")
    assert [(c.name, c.labels.tolist()) for c in by] == [("other", [2, *[0, 1, 2] * 2]), ("user", [0, 1, 2, 0, 1])]
