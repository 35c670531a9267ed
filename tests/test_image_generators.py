"""Generators of images: folders, arrays and functions through the clients' extractor into scores."""

import copy
import pickle
import shutil
import tracemalloc

import numpy as np
import pytest
from PIL import Image

import nbmetrics as nm
from tests.drawn_images import SHAPE, counting, drawn, evaluated, means, save


@pytest.fixture
def federation():
    return nm.Federation({"a": drawn(9, 1), "b": drawn(12, 2)}, extractor=counting())


def test_generators_of_images_are_scored_as_their_rows(federation, tmp_path):
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
    line = "features: mean colours; features of generator 'rows' as given; seed 0"
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
    assert asked == [64, 64, 22]
    seen = federation.extraction.extractor.seen
    assert sum(seen) == 150 and max(seen) == federation.extraction.batch_size


def test_a_seed_means_the_same_images_however_many_and_whatever_the_batches(federation):
    rows = drawn_rows(federation, function, 150)
    assert len(np.unique(rows, axis=0)) == 150
    np.testing.assert_array_equal(rows[:128], drawn_rows(federation, function, 128))
    other = nm.Federation({"a": drawn(9)}, extractor=counting())
    object.__setattr__(other.extraction, "batch_size", 3)
    np.testing.assert_array_equal(rows, drawn_rows(other, function, 150))
    assert not np.array_equal(rows, drawn_rows(federation, function, 150, seed=1))


def test_no_more_than_a_batch_of_drawn_images_is_in_memory(federation):
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


def test_a_theorem_takes_a_generator_of_images(federation):
    made = drawn(10, 5)
    given, rows_of_it = (nm.theory.fid_avg_bound(federation, nm.Generator(g)) for g in (made, means(made)))
    assert given == pytest.approx(rows_of_it)


def test_what_a_generator_of_images_is_called_and_copied(tmp_path):
    generator = nm.Generator(save(tmp_path / "samples", drawn(2)))
    assert generator.name == "samples" and "samples" in repr(generator)
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


def test_the_line_tells_of_drawing_only_where_something_is_drawn(federation):
    made = drawn(10, 5)
    for source, is_drawn in ((made, False), (nm.Gaussian([0, 0, 0]), True), (lambda n, rng: rng.random((n, 3)), True)):
        line = evaluated(federation, {"g": source}).conventions[-1]
        assert ("10,000 rows drawn" in line) == is_drawn and line.endswith("seed 0")


@pytest.mark.parametrize("function", [lambda n: np.zeros((n, 3)), lambda n, rng, more: 0])
def test_a_function_of_other_than_two_arguments_is_refused_before_it_is_called(function):
    with pytest.raises(nm.InvalidInput, match=r"^generator 'g', source: is a function of .*\(n, rng\)"):
        nm.evaluate({"c": np.zeros((30, 3))}, {"g": function})
