"""extract(): rows in the order of the images, settings refused before the work, what is done kept when it stops."""

import tracemalloc

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.features import Extraction, extraction
from nbmetrics.features.images import Images

from .counting import IMAGES, Counting, chunks, counted, direct

FEW = IMAGES[:10]


def test_rows_are_those_of_the_extractor_in_the_order_of_the_images():
    rows = nm.extract(IMAGES, "pixels", progress=False)
    assert rows.dtype == np.float32 and rows.flags.c_contiguous
    np.testing.assert_allclose(rows, IMAGES.reshape(len(IMAGES), -1) / 255, rtol=1e-6)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("batch_size", [1, 7, 300, 100_000])
def test_any_batch_size_gives_the_same(folder, batch_size, cache):
    np.testing.assert_array_equal(counted(IMAGES, cache=cache, batch_size=batch_size)[0], direct(IMAGES))


def test_the_settings_of_a_federation_make_the_same_rows():
    settings = extraction("pixels", batch_size=3, progress=False)
    assert settings.convention == "pixels in [0, 1]"
    assert settings.rows(FEW).tobytes() == nm.extract(FEW, "pixels").tobytes()


class Untouched(Images):
    """Images that nobody may look at yet."""

    def __init__(self):
        self.labels = None

    def __len__(self):
        pytest.fail("the source was looked at before the settings were checked")


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("batch_size", v) for v in (0, -1, 1.5, "a", None, np.nan, 10**9)),
        *(("resize", v) for v in ("cleen", None, 299)),
        *(("progress", v) for v in ("yes", None, 2)),
        *(("cache", v) for v in (None, "yes", 1)),
        *(("download", v) for v in (None, "inception", 1)),
        *(("extractor", v) for v in ("pixel", 3.5)),
    ],
)
def test_bad_settings_are_refused_before_any_work(argument, value):
    settings = {"extractor": "pixels", argument: value}
    with pytest.raises(nm.InvalidInput, match=argument):
        nm.extract(Untouched(), **settings)


def test_images_of_another_size_are_refused_from_the_cache_too(folder):
    class OneSize(Counting):
        """Says of which size its rows are, once it has seen an image."""

        shape = None

        def admit(self, image):
            self.shape = self.shape or image.shape
            self.fingerprint = f"one/{self.shape}"
            if image.shape != self.shape:
                raise nm.InvalidInput("source", "has two sizes", "Give one")

    wide = FEW.reshape(10, 3, 12)
    for images in (FEW, wide):
        Extraction(OneSize(), 64, True, False).rows(images)
    settings = Extraction(OneSize(), 64, True, False)
    settings.rows(FEW)
    assert settings.extractor.seen == 0
    with pytest.raises(nm.InvalidInput, match="two sizes"):
        settings.rows(wide)


def test_a_source_without_an_image_is_refused(tmp_path):
    for nothing in (tmp_path, nm.images(FEW).select([])):
        with pytest.raises(nm.InvalidInput):
            nm.extract(nothing, "pixels")


class Odd(Counting):
    def __init__(self, made):
        super().__init__()
        self.made = made

    def __call__(self, batch):
        self.seen += len(batch)
        return self.made(len(batch), self.seen)


@pytest.mark.parametrize(
    "made",
    [
        lambda count, seen: np.zeros(count),
        lambda count, seen: np.zeros((count + 1, 3)),
        lambda count, seen: np.zeros((count, 0)),
        lambda count, seen: np.zeros((count, 3 + (seen > 64))),
        lambda count, seen: np.zeros((count, 3 + (seen > 256))),
        lambda count, seen: 1.0,
    ],
    ids=["one axis", "too many", "no features", "another width in a chunk", "another width later", "a number"],
)
@pytest.mark.parametrize("cache", [True, False])
def test_an_extractor_that_gives_no_rows_is_refused(folder, made, cache):
    with pytest.raises(nm.InvalidInput, match=r"extractor: gave an array of shape"):
        Extraction(Odd(made), 64, cache, False).rows(IMAGES)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300, 1j, "1"], ids=str)
@pytest.mark.parametrize("cache", [True, False])
def test_rows_that_are_no_finite_numbers_are_refused_and_not_kept(folder, value, cache):
    with pytest.raises(nm.InvalidInput, match=r"extractor: gave (rows of type|numbers that are NaN)"):
        Extraction(Odd(lambda count, seen: np.full((count, 3), value)), 64, cache, False).rows(IMAGES)
    assert not chunks(folder)


@pytest.mark.parametrize("cache", [True, False])
def test_an_extractor_may_fill_one_array_again_and_again(folder, cache):
    class Filling(Counting):
        def __call__(self, batch):
            self.rows[: len(batch)] = direct(batch)
            return self.rows[: len(batch)]

        rows = np.empty((64, 3), np.float32)

    assert Extraction(Filling(), 64, cache, False).rows(IMAGES).tobytes() == direct(IMAGES).tobytes()


@pytest.mark.parametrize(("at", "kept"), [(0, 0), (130, 128), (256, 256), (590, 576)])
@pytest.mark.parametrize("stop", [KeyboardInterrupt(), RuntimeError("out of memory")], ids=["Ctrl-C", "an error"])
def test_what_was_done_before_a_stop_is_kept(folder, at, kept, stop):
    with pytest.raises(type(stop)):
        counted(IMAGES, kill_at=at, stop=stop)
    rows, seen = counted(IMAGES)
    assert seen == len(IMAGES) - kept
    np.testing.assert_array_equal(rows, direct(IMAGES))


def test_an_interrupt_says_how_to_go_on(folder):
    with pytest.raises(KeyboardInterrupt) as stopped:
        counted(IMAGES, kill_at=130, stop=KeyboardInterrupt())
    (note,) = stopped.value.__notes__
    assert note.startswith("128 of 600 images are in the cache: run the same again")
    with pytest.raises(KeyboardInterrupt) as stopped:
        counted(IMAGES, kill_at=130, stop=KeyboardInterrupt(), cache=False)
    assert "Nothing of this run is kept" in stopped.value.__notes__[0]


def test_an_interrupt_before_the_cache_was_looked_through_counts_nothing(folder):
    class Stopped(Lazy):
        def digest(self, index):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        Extraction(Counting(), progress=False).rows(Stopped(range(3)))
    assert stopped.value.__notes__[0].startswith("What was computed before is in the cache")


class Lazy(Images):
    """6,000 grey images of 64 × 64, made when they are asked for: 25 MB together."""

    def __init__(self, places=range(6_000)):
        self.labels, self.places = None, places

    def __len__(self):
        return len(self.places)

    def __getitem__(self, index):
        return np.full((64, 64), int(self.places[index]) % 251, np.uint8)

    def digest(self, index):
        return int(self.places[index]).to_bytes(32, "big")

    def select(self, indices):
        return Lazy([self.places[i] for i in indices])

    def batches(self, size):
        for start in range(0, len(self), size):
            yield [self[i] for i in range(start, min(start + size, len(self)))]


@pytest.mark.slow
def test_memory_is_flat_over_6_000_images(folder):
    tracemalloc.start()
    try:
        for seen in (6_000, 0):
            tracemalloc.reset_peak()
            extractor = Counting()
            rows = Extraction(extractor, 64, True, False).rows(Lazy())
            assert extractor.seen == seen and len(rows) == 6_000
            assert tracemalloc.get_traced_memory()[1] < 6e6
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(rows[:, 2], np.arange(6_000) % 251)


def test_a_bar_is_shown_where_it_is_asked_for(capsys):
    nm.extract(FEW, "pixels", cache=False, progress=True)
    shown = capsys.readouterr().err
    assert "pixels" in shown and "0/10" in shown and "images/s" in shown
    nm.extract(FEW, "pixels", cache=False)
    assert capsys.readouterr().err == ""
