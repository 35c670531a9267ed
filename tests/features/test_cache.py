"""The cache of features: what is the same is found again, what is not or was damaged is computed."""

import hashlib
import io
import os
import pickle
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nbmetrics as nm
from nbmetrics.features import cache as module
from nbmetrics.features.cache import Cache, CacheWarning
from nbmetrics.features.extract import IMAGES_PER_CHUNK
from tests.fuzzing import examples

from .counting import IMAGES, chunks, counted, direct, drafts


def test_a_second_run_computes_nothing_and_gives_the_same_rows(folder):
    rows, seen = counted(IMAGES)
    again, seen_again = counted(IMAGES)
    assert (seen, seen_again) == (len(IMAGES), 0)
    assert rows.tobytes() == again.tobytes() == direct(IMAGES).tobytes()
    assert len(chunks(folder)) == 3 and not drafts(folder)


@pytest.mark.parametrize(
    ("changed", "computed"),
    [
        (lambda x: x[::-1], 0),
        (lambda x: x[40:60], 0),
        (lambda x: np.concatenate([255 - x[:1], x]), 1),
        (lambda x: np.delete(x, [0, 300], axis=0), 0),
        (lambda x: np.repeat(x, 2, axis=0), 0),
        (lambda x: x[np.random.default_rng(0).permutation(len(x))], 0),
    ],
    ids=["turned round", "a part", "one more in front", "two fewer", "twice each", "shuffled"],
)
def test_images_are_found_wherever_they_stand(folder, changed, computed):
    counted(IMAGES)
    rows, seen = counted(changed(IMAGES))
    assert seen == computed
    np.testing.assert_array_equal(rows, direct(changed(IMAGES)))


def test_one_changed_pixel_is_another_image(folder):
    counted(IMAGES)
    other = IMAGES.copy()
    other[300, 2, 2] ^= 1
    rows, seen = counted(other)
    assert seen == 1
    np.testing.assert_array_equal(rows, direct(other))


def test_another_weight_transform_or_rule_of_reading_is_another_key(folder, monkeypatch):
    counted(IMAGES)
    assert counted(IMAGES, fingerprint="counting/2")[1] == len(IMAGES)
    monkeypatch.setattr(module, "RULES", module.RULES + 1)
    assert counted(IMAGES)[1] == len(IMAGES)
    assert len({path.parent for path in chunks(folder)}) == 3


def test_the_batch_size_does_not_matter(folder):
    rows, _ = counted(IMAGES, batch_size=1)
    for batch_size in (7, 256, 1000):
        again, seen = counted(IMAGES, batch_size=batch_size)
        assert seen == 0 and again.tobytes() == rows.tobytes()


@pytest.mark.parametrize("setting", [{"cache": False}, {"fingerprint": None}])
def test_without_the_cache_nothing_is_read_or_written(folder, setting):
    counted(IMAGES)
    before = [path.stat().st_mtime_ns for path in chunks(folder)]
    assert counted(IMAGES, **setting)[1] == len(IMAGES)
    assert [path.stat().st_mtime_ns for path in chunks(folder)] == before


def test_what_another_process_kept_meanwhile_is_not_computed_again(folder):
    shelf = module.cache.shelf("counting", "counting/1")
    found = nm.images(IMAGES)
    digests = [found.digest(i) for i in range(IMAGES_PER_CHUNK)]
    assert shelf.get(digests) is None
    counted(IMAGES)
    np.testing.assert_array_equal(shelf.get(digests), direct(IMAGES[:IMAGES_PER_CHUNK]))


# --- a folder that somebody damaged


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


class Payload:
    def __reduce__(self):
        return Path.touch, (Path("ran"),)


def with_pickle(content):
    buffer = io.BytesIO()
    np.save(buffer, np.array([Payload()], dtype=object), allow_pickle=True)
    body = buffer.getvalue() * 2
    return body + hashlib.sha256(body).digest()


def header(shape):
    text = repr({"descr": "|u1", "fortran_order": False, "shape": shape}).ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


DAMAGE = {
    "empty": lambda c: b"",
    "cut short": lambda c: c[: len(c) // 2],
    "cut in the header": lambda c: c[:40],
    "one byte missing": lambda c: c[:-1],
    "one more byte": lambda c: c + b"x",
    "a bit of a row": lambda c: flipped(c, len(c) - 100),
    "a bit of a digest": lambda c: flipped(c, 140),
    "a bit of the header": lambda c: flipped(c, 70),
    "zeros": lambda c: bytes(len(c)),
    "text": lambda c: b"hello\n" * 1000,
    "a pickle": lambda c: pickle.dumps(Payload()),
    "a pickle in .npy, summed right": with_pickle,
    "a header of too much": lambda c: header((10**12, 32)) + c[128:],
    "a header below zero": lambda c: header((-5, 32)) + c[128:],
    "Python 2's header": lambda c: c.replace(b"(256, 32), ", b"(256L,32L),", 1),
    "an open bracket": lambda c: c.replace(b"(256, 32), }", b"(256, 32), (", 1),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.filterwarnings("error")
def test_a_damaged_file_is_computed_again_and_never_trusted(folder, monkeypatch, tmp_path, damage):
    monkeypatch.chdir(tmp_path)
    counted(IMAGES)
    path = next(path for path in chunks(folder) if path.stat().st_size > IMAGES_PER_CHUNK * 44)
    content = path.read_bytes()
    path.write_bytes(DAMAGE[damage](content))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Reading `.npy`", UserWarning)  # NumPy's own, of Python 2's header
        rows, seen = counted(IMAGES)
    np.testing.assert_array_equal(rows, direct(IMAGES))
    assert seen == IMAGES_PER_CHUNK and path.read_bytes() == content and not Path("ran").exists()
    assert counted(IMAGES)[1] == 0


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), length=st.integers(1, 64), seed=st.integers(0, 99))
def test_random_damage_never_changes_a_row(folder, place, length, seed):
    few = IMAGES[:40]
    counted(few)
    (path,) = chunks(folder)
    content = bytearray(path.read_bytes())
    start = place % len(content)
    content[start : start + length] = np.random.default_rng(seed).bytes(len(content[start : start + length]))
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, _ = counted(few)
    np.testing.assert_array_equal(rows, direct(few))


def test_a_file_of_another_extractor_or_name_is_not_trusted(folder):
    counted(IMAGES[:10])
    counted(255 - IMAGES[:10], fingerprint="counting/2")
    mine, other = chunks(folder)
    moved = mine.parent / other.name
    moved.write_bytes(other.read_bytes())
    renamed = mine.parent / f"{'0' * 64}.npy"
    renamed.write_bytes(mine.read_bytes())
    for path in (mine, other):
        path.unlink()
    rows, seen = counted(np.concatenate([IMAGES[:10], 255 - IMAGES[:10]]))
    assert seen == 20
    np.testing.assert_array_equal(rows, direct(np.concatenate([IMAGES[:10], 255 - IMAGES[:10]])))


def test_what_is_no_plain_file_is_left_alone(folder, tmp_path):
    counted(IMAGES[:10])
    (shelf,) = {path.parent for path in chunks(folder)}
    (outside := tmp_path / "outside.npy").write_bytes(chunks(folder)[0].read_bytes())
    (shelf / f"{'1' * 64}.npy").symlink_to(outside)
    (shelf / f"{'2' * 64}.npy").mkdir()
    os.mkfifo(shelf / f"{'3' * 64}.npy")
    (shelf / "notes.txt").write_text("mine", "utf-8")
    (folder / "notes.txt").write_text("mine", "utf-8")
    (folder / f"counting-{'4' * 64}").symlink_to(tmp_path)
    assert counted(IMAGES[:11])[1] == 1
    nm.cache.clear()
    assert nm.cache.info().files == 0 and outside.exists()
    assert {path.name[:5] for path in shelf.iterdir()} == {"11111", "22222", "33333", "notes"}
    assert (folder / "notes.txt").exists()


# --- a disk that takes no more, and the limit


def test_a_full_disk_is_told_once_and_the_rows_are_returned(folder, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(CacheWarning, match="No space left on device") as told:
        rows, seen = counted(IMAGES)
    assert len(told) == 1 and seen == len(IMAGES)
    np.testing.assert_array_equal(rows, direct(IMAGES))
    assert chunks(folder) == drafts(folder) == []


def test_a_file_in_the_place_of_the_folder_is_told_once(folder):
    folder.parent.write_text("a file", "utf-8")
    with pytest.warns(CacheWarning, match="features are returned") as told:
        rows, _ = counted(IMAGES)
    assert len(told) == 1
    np.testing.assert_array_equal(rows, direct(IMAGES))
    assert nm.cache.info().files == 0
    nm.cache.clear()


@pytest.fixture
def limited(folder, monkeypatch):
    """limited(bytes): the limit, taken back after the test; far below what a user may set."""

    def limit(count):
        monkeypatch.setattr(nm.cache, "_limit", count)

    return limit


def test_what_was_used_longest_ago_goes_first(folder, limited):
    parts = [IMAGES[k : k + 100] for k in (0, 100, 200)]
    for age, part in zip((30, 20, 10), parts, strict=True):
        counted(part)
        newest = max(chunks(folder), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (time.time() - age,) * 2)
    size = chunks(folder)[0].stat().st_size
    counted(parts[0])  # used again: the second is now the oldest
    limited(3 * size)
    counted(IMAGES[300:400])
    assert nm.cache.info().bytes == 3 * size
    assert [counted(part, cache=True)[1] for part in (parts[0], parts[2], IMAGES[300:400])] == [0, 0, 0]
    assert counted(parts[1])[1] == 100


def test_a_run_larger_than_the_limit_keeps_its_beginning(folder, limited):
    counted(IMAGES[:IMAGES_PER_CHUNK])
    size = chunks(folder)[0].stat().st_size
    nm.cache.clear()
    limited(size + 10)
    with pytest.warns(CacheWarning, match="nm.cache.limit") as told:
        rows, _ = counted(IMAGES)
    assert len(told) == 1 and nm.cache.info().bytes == size
    np.testing.assert_array_equal(rows, direct(IMAGES))
    with pytest.warns(CacheWarning, match="nm.cache.limit"):
        assert counted(IMAGES)[1] == len(IMAGES) - IMAGES_PER_CHUNK


# --- nm.cache


def test_info_tells_what_is_there(folder):
    assert nm.cache.info().files == 0 and "empty" in str(nm.cache.info()) and not folder.exists()
    counted(IMAGES)
    counted(IMAGES[:1], fingerprint="counting/2")
    info = nm.cache.info()
    assert (info.folder, info.files, info.images, info.extractors) == (folder, 4, len(IMAGES) + 1, 2)
    assert info.bytes == sum(path.stat().st_size for path in chunks(folder)) and info.oldest <= info.newest
    assert "601 rows of 2 extractors in 4 files" in repr(info) and str(folder) in repr(info)


def test_folder_and_limit_may_be_set(tmp_path, folder):
    cache = Cache()
    assert cache.folder == folder
    cache.folder, cache.limit = tmp_path / "elsewhere", "2 GB"
    assert (cache.folder, cache.limit) == (tmp_path / "elsewhere", 2 * 10**9)
    assert repr(cache).endswith("limit='2 GB')")
    cache.folder, cache.limit = None, 10**7
    assert (cache.folder, cache.limit) == (folder, 10**7)


@pytest.mark.parametrize(("text", "count"), [("1.5MB", 1_500_000), ("3 gb", 3 * 10**9), ("1 TB", 10**12)])
def test_limits_may_be_texts(text, count):
    assert Cache(limit=text).limit == count


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", v) for v in (0, -1, "2 parsecs", "", "GB", None, np.nan, 1e30, "9999999 TB", [1], "1e9")]
    + [("folder", v) for v in (3, b"\0", "a\0b", object(), __file__)],
)
def test_bad_settings_are_refused_and_change_nothing(name, value):
    cache = Cache()
    before = getattr(cache, name)
    with pytest.raises(nm.InvalidInput, match=name):
        setattr(cache, name, value)
    assert getattr(cache, name) == before


def test_home_follows_the_environment(monkeypatch, tmp_path):
    from nbmetrics.features.cache import cache_home

    monkeypatch.setenv("NBMETRICS_HOME", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_home() == tmp_path / "nbmetrics"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_home() == Path.home() / ".cache" / "nbmetrics"


def test_rows_that_are_no_numbers_are_computed_again(folder):
    rows, _ = counted(IMAGES[:256])
    path = chunks(folder)[0]
    digests, kept = module._unpack(path.read_bytes())
    path.write_bytes(module._pack(digests, np.where(np.arange(len(kept))[:, None] == 7, np.nan, kept)))
    again, seen = counted(IMAGES[:256])
    assert seen == 256 and again.tobytes() == rows.tobytes()
