"""Federations out of folders and zip files: sub-folders are clients, files that are not read are told."""

import shutil
import warnings

import numpy as np
import pytest

import nbmetrics as nm
from tests.drawn_images import check_rows, counting, drawn, save

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


@pytest.mark.parametrize("names", [("a\nb", r"a\nb"), ("a\x1b", r"a\x1b")], ids=["line break", "escape"])
@pytest.mark.parametrize("labels", ["client", "class"])
def test_two_folders_whose_names_show_alike_are_not_one(tmp_path, names, labels):
    for k, name in enumerate((*names, "c")):
        save(tmp_path / name, drawn(3, k))
    with pytest.raises(nm.InvalidInput, match="path: has two folders with the visible name"):
        of_folder(tmp_path, labels=labels)


def test_classes_far_below_are_told_apart(tmp_path):
    far = tmp_path.joinpath(*["x" * 100] * 6)
    for k, name in enumerate(("cat", "dog")):
        save(far / name, drawn(3 + k, k))
    federation = of_folder(tmp_path, labels="class")
    assert federation.names == ("cat", "dog")
    check_rows(federation["dog"].rows, drawn(4, 1))


def test_a_warning_reaches_code_that_is_in_no_module(wards):
    (wards / "ward 1" / "broken.png").write_bytes(b"no image")
    with pytest.warns(nm.UnreadWarning, match=r"broken\.png"):
        exec("nm.Federation.from_folder(path, extractor='pixels')", {"nm": nm, "path": wards})
