"""Folders, zip files and lists of paths: what is found in which order, under which labels, and what changes later."""

import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.features import files
from nbmetrics.features.files import natural_path
from tests.features.pictures import pixels, saved

PICTURE = saved(pixels())
NAMES = ["a/img1.png", "a/img2.png", "a/img10.png", "b/deeper/x.png", "top.png"]
LEFT_OUT = {
    "notes.txt": "not an image by its name",
    ".DS_Store": "hidden or system",
    "a/Thumbs.db": "hidden or system",
    "b/._x.png": "hidden or system",
    "b/photo.HEIC": "format that is not read",
}


def filled(folder):
    for name in (*NAMES, *LEFT_OUT):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PICTURE)
    return folder


def packed(folder, path, below=""):
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*"), reverse=True):
            if file.is_file():
                archive.write(file, below + file.relative_to(folder).as_posix())
    return path


@pytest.fixture
def folder(tmp_path):
    return filled(tmp_path / "pictures")


@pytest.fixture(params=["folder", "zip", "zip of a folder"])
def source(request, folder, tmp_path):
    if request.param == "folder":
        return folder
    (folder / "top.png").unlink()
    (folder / "notes.txt").unlink()
    (folder / ".DS_Store").unlink()
    return packed(folder, tmp_path / "pictures.zip", "pictures/" if request.param == "zip of a folder" else "")


def test_natural_order_labels_and_every_file(source):
    read, whole = nm.images(source), os.path.isdir(source)
    wanted = NAMES if whole else NAMES[:-1]
    assert read.names == wanted
    assert list(read.labels) == ["a", "a", "a", "b", *["."] * whole]
    listed = dict(zip(read.report["file"], read.report["reason"], strict=True))
    assert set(listed) == set(wanted) | (set(LEFT_OUT) if whole else {n for n in LEFT_OUT if "/" in n})
    assert all(LEFT_OUT.get(name, "") in reason for name, reason in listed.items())
    assert "1 not read" in repr(read)  # the HEIC; a text was never an image
    for image in read:
        np.testing.assert_array_equal(image, pixels())
    assert len({read.digest(k) for k in range(len(read))}) == 1


def test_strict_minds_images_only(folder):
    with pytest.raises(nm.InvalidInput, match=r"1 of 10 found.*b/photo\.HEIC"):
        nm.images(folder, strict=True)
    (folder / "b" / "photo.HEIC").unlink()
    assert len(nm.images(folder, strict=True)) == 5


def test_natural_order_of_names():
    names = ["img1", "img2", "img10", "img10b", "IMG11", "img" + "9" * 5000, "x", "x/1", "x/02", "x/2", "x/10", "y"]
    shuffled = np.random.default_rng(0).permutation(names).tolist()
    assert sorted(shuffled, key=lambda name: natural_path(tuple(name.split("/")))) == names


def test_one_folder_of_images_has_no_labels(tmp_path):
    (tmp_path / "a.png").write_bytes(PICTURE)
    assert nm.images(tmp_path).labels is None
    assert nm.images(str(tmp_path / "a.png")).names == [str(tmp_path / "a.png")]


def test_labels_given_for_files_read_or_for_lines_of_the_report(folder):
    (folder / "a" / "img2.png").write_bytes(b"")
    read = nm.images(folder)
    assert list(nm.images(folder, labels=[1, 2, 3, 4]).labels) == [1, 2, 3, 4]
    of_lines = nm.images(folder, labels=read.report["file"])
    assert list(of_lines.labels) == read.names
    with pytest.raises(nm.InvalidInput, match="got 5 labels for 4 images"):
        nm.images(folder, labels=[0] * 5)


@pytest.mark.parametrize("as_paths", [True, False])
def test_a_list_of_paths_is_opened_whatever_the_names(folder, as_paths):
    (folder / "text.png").write_text("hello")
    paths = [folder / name for name in ("b/photo.HEIC", "text.png", "no.png", "top.png", "a")]
    read = nm.images(paths if as_paths else map(str, paths), labels=list("abcde"))
    assert read.names == [str(paths[0]), str(paths[3])] and list(read.labels) == ["a", "d"]
    reasons = list(read.report["reason"])
    assert "no image of a known format" in reasons[1] and "No such file" in reasons[2] and reasons[4] == "a folder"


def test_loops_of_links_end(folder):
    (folder / "a" / "up").symlink_to(folder)
    (folder / "a" / "self").symlink_to(folder / "a" / "self")
    (folder / "a" / "gone.png").symlink_to(folder / "no.png")
    (folder / "a" / "b").symlink_to(folder / "b")
    (folder / "b" / "a").symlink_to(folder / "a")
    read = nm.images(folder)
    assert read.names == [
        *("a/b/deeper/x.png", "a/img1.png", "a/img2.png", "a/img10.png"),
        *("b/a/img1.png", "b/a/img2.png", "b/a/img10.png", "b/deeper/x.png", "top.png"),
    ]
    reasons = read.report.set_index("file")["reason"]
    assert reasons["a/self"] == reasons["a/gone.png"] == "a link that leads nowhere"
    assert {reasons[name] for name in ("a/up", "a/b/a", "b/a/b")} == {"a link back to a folder that contains it"}


def test_links_that_lead_on_in_many_ways_are_refused(folder, monkeypatch):
    monkeypatch.setattr(files, "MAX_FOLDERS", 100)
    maze = folder.parent / "maze"
    for k in range(8):
        (maze / str(k)).mkdir(parents=True)
        for way in "lr" if k else "":
            (maze / str(k) / way).symlink_to(maze / str(k - 1))
    (folder / "in").symlink_to(maze / "7")
    with pytest.raises(nm.InvalidInput, match=r"more than .* 100 folders"):
        nm.images(folder)


def test_hidden_folders_are_one_line(folder):
    (folder / ".git").mkdir()
    (folder / ".git" / "x.png").write_bytes(PICTURE)
    reasons = nm.images(folder).report.set_index("file")["reason"]
    assert "not entered" in reasons[".git/"] and not any("x.png" in name and "git" in name for name in reasons.index)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a\nb.png", r"a\nb.png"),
        (b"\xff.png", r"\udcff.png"),
        (b"\x1b[31m.png", r"\x1b[31m.png"),
        (b"\xe2\x80\xa8.png", r"\u2028.png"),
    ],
)
def test_names_that_cannot_be_shown(tmp_path, name, shown):
    with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
        file.write(PICTURE)
    read = nm.images(tmp_path)
    assert read.names == [shown] and len(read.report.to_csv().encode().splitlines()) == 2
    np.testing.assert_array_equal(read[0], pixels())


def test_a_folder_without_images_shows_what_was_found(tmp_path):
    with pytest.raises(nm.InvalidInput, match="no image that can be read: nothing found"):
        nm.images(tmp_path)
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "b.png").write_text("hello")
    with pytest.raises(nm.InvalidInput, match=r"2 found; b\.png \(no image of a known format"):
        nm.images(tmp_path)
    (tmp_path / "b.png").unlink()
    with pytest.raises(nm.InvalidInput, match=r"1 found; a\.txt \(not an image by its name\)"):
        nm.images(tmp_path)


@pytest.mark.parametrize("what", ["gone", "longer", "another", "a folder"])
def test_a_file_that_is_not_what_was_checked_is_named(folder, what):
    read, file = nm.images(folder), folder / "a" / "img2.png"
    file.unlink()
    if what == "longer":
        file.write_bytes(PICTURE + b"more")
    elif what == "another":
        file.write_bytes(PICTURE)
        os.utime(file, ns=(1, 1))
    elif what == "a folder":
        file.mkdir()
    for use in (lambda: read[1], lambda: read.digest(1), lambda: list(read.batches(2))):
        with pytest.raises(nm.InvalidInput, match=r"'a/img2.png' was read before, and now.*nm.images again"):
            use()
    np.testing.assert_array_equal(read[2], pixels())


def test_of_the_same_bytes_the_same_digest(folder, tmp_path):
    zipped = nm.images(packed(folder, tmp_path / "x.zip"))
    assert zipped.digest(0) == nm.images(folder).digest(0)
    (folder / "a" / "img1.png").write_bytes(saved(pixels(seed=1)))
    assert zipped.digest(0) != nm.images(folder).digest(0)


@pytest.mark.threads
def test_a_zip_file_goes_to_other_processes(folder, tmp_path):
    read = nm.images(packed(folder, tmp_path / "x.zip"))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(read))[3], pixels())
    if "fork" in get_all_start_methods():
        for name in NAMES:
            (folder / name).write_bytes(saved(LARGE))  # larger than a file's buffer
        SHARED["images"] = nm.images(packed(folder, tmp_path / "y.zip"))  # forked off with its open file
        with ProcessPoolExecutor(3, mp_context=get_context("fork")) as pool:
            assert all(pool.map(shared_is_whole, range(30), chunksize=10))


SHARED, LARGE = {}, pixels(200, 200)


def shared_is_whole(_):
    return all(np.array_equal(image, LARGE) for image in SHARED["images"])


def with_flags(path, place, value):
    """A zip file with two bytes changed in its first entry of the directory at its end."""
    data = bytearray(path.read_bytes())
    start = data.index(b"PK\1\2") + place
    data[start : start + 2] = struct.pack("<H", value)
    path.write_bytes(data)


def test_members_that_cannot_be_read_are_listed(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 2 * 2**20)
    path = packed(folder, tmp_path / "x.zip")
    link = zipfile.ZipInfo("link.png")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "top.png")
        for name in ("../out.png", "a/../b/out.png"):  # of which folder?
            archive.writestr(name, PICTURE)
        archive.writestr("large.bmp", bytes(3 * 2**20), zipfile.ZIP_DEFLATED)
    with_flags(path, 8, 1)  # says that the first member, top.png, is encrypted
    data = path.read_bytes()
    place = data.index(b"a/img10.png") + len("a/img10.png") + 20
    path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    read = nm.images(path)
    reasons = read.report.set_index("file")["reason"]
    assert reasons["top.png"] == "encrypted" and reasons["link.png"] == "a link"
    assert "cannot be unpacked: Bad CRC" in reasons["a/img10.png"] and "3 MB unpacked" in reasons["large.bmp"]
    assert all("leads upwards" in reasons[name] for name in ("../out.png", "a/../b/out.png"))
    assert not any("out.png" in name for name in read.names) and not (tmp_path.parent / "out.png").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_was_replaced_counts_once(folder, tmp_path):
    path, other = packed(folder, tmp_path / "x.zip"), 255 - pixels()
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a/img2.png", saved(other))
    read = nm.images(path)
    assert read.names == NAMES
    np.testing.assert_array_equal(read[1], other)
    assert sum("replaced by a later file" in reason for reason in read.report["reason"]) == 1


def test_bombs_are_refused_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MIN_UNPACK_BYTES", 2**20)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for k in range(12):
            archive.writestr(f"{k}.png", bytes(2**20))
    with pytest.raises(nm.InvalidInput, match="holds 12 files of 12,582,912 bytes"):
        nm.images(path)


@pytest.mark.parametrize("cut", [10, 200])
def test_a_zip_file_cut_short_is_refused(folder, tmp_path, cut):
    path = packed(folder, tmp_path / "x.zip")
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(nm.InvalidInput, match="source"):
        nm.images(path)


def test_no_pixels_are_held(tmp_path):
    for k in range(300):
        (tmp_path / f"{k}.bmp").write_bytes(saved(np.zeros((64, 64, 3), np.uint8), "BMP"))
    nm.images(tmp_path)
    tracemalloc.start()
    try:
        read = nm.images(tmp_path)
        for image in read:
            assert image.nbytes == 64 * 64 * 3
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 300 * 1500 and most < 300 * 64 * 64 * 3 / 3


def test_reading_brings_in_no_torch(folder):
    code = "import sys, nbmetrics as nm; nm.images(sys.argv[1]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True).stdout
    assert not {"torch", "matplotlib", "pandas"} & set(loaded.split())
