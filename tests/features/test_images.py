"""Arrays, Pillow's images and lists of them as one sequence: the same images in any layout, and what is refused."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

import nbmetrics as nm
from tests.features.pictures import pixels

STACK = np.stack([pixels(seed=k) for k in range(5)])
FIX = "Give a folder, a zip file"


def with_opacity(images, opacity=255):
    return np.concatenate([images, np.full((*images.shape[:3], 1), opacity, np.uint8)], axis=3)


# what a user may hold the same images in
LAYOUTS = {
    "uint8": lambda x: x,
    "channels first": lambda x: x.transpose(0, 3, 1, 2),
    "channels first, in memory too": lambda x: np.ascontiguousarray(x.transpose(0, 3, 1, 2)),
    "Fortran order": np.asfortranarray,
    "reversed twice": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda x: np.broadcast_to(x, x.shape),
    "float64": lambda x: x / 255,
    "float32": lambda x: (x / 255).astype(np.float32),
    "float16": lambda x: (x / 255).astype(np.float16),
    "big-endian floats": lambda x: (x / 255).astype(">f4"),
    "floats, channels first": lambda x: (x / 255).transpose(0, 3, 1, 2),
    "opaque": with_opacity,
    "list": list,
    "list of floats, channels first": lambda x: [(image / 255).transpose(2, 0, 1) for image in x],
    "Pillow's": lambda x: [Image.fromarray(image) for image in x],
    "tuple of both": lambda x: tuple(Image.fromarray(image) if k % 2 else image for k, image in enumerate(x)),
    "Images": nm.images,
    "part of Images": lambda x: nm.images(np.concatenate([x[:1], x]))[1:],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@given(
    stack=arrays.arrays(
        np.uint8, st.tuples(st.integers(1, 3), st.integers(5, 9), st.integers(5, 9), st.sampled_from([3]))
    )
)
@settings(max_examples=15, deadline=None)
def test_the_same_images_in_any_layout(layout, stack):
    made = nm.images(LAYOUTS[layout](stack))
    assert len(made) == len(stack)
    for k, image in enumerate(made):
        np.testing.assert_array_equal(image, stack[k])
        assert image.dtype == np.uint8 and image.flags.c_contiguous and image.flags.writeable
        assert made.digest(k) == nm.images(stack).digest(k)


@pytest.mark.parametrize(
    "layout",
    [
        lambda x: x,
        lambda x: x[..., None],
        lambda x: x[:, None],
        lambda x: (x / 255).astype(np.float32)[:, None],
        lambda x: list(x),
        lambda x: [Image.fromarray(image) for image in x],
    ],
)
def test_grey_ones_have_two_axes(layout):
    grey = STACK[..., 0]
    np.testing.assert_array_equal(np.stack(list(nm.images(layout(grey)))), grey)


@pytest.mark.parametrize(
    ("shape", "image"),
    [
        ((2, 4, 4, 3), (4, 4, 3)),
        ((2, 3, 4, 4), (4, 4, 3)),
        ((2, 1, 3, 3), (3, 3)),
        ((2, 1, 1, 3), (1, 1, 3)),
        ((2, 4, 4), (4, 4)),
    ],
)
def test_small_ones_are_square(shape, image):
    assert nm.images(np.zeros(shape))[0].shape == nm.images(list(np.zeros(shape)))[0].shape == image


@pytest.mark.parametrize("shape", [(2, 3, 9, 3), (2, 3, 3, 3), (2, 1, 9, 1), (2, 4, 5, 3), (2, 4, 4, 4)])
def test_neither_or_both_square_is_refused(shape):
    for value in (np.zeros(shape), list(np.zeros(shape))):
        with pytest.raises(nm.InvalidInput, match=r"may come first or last. Give Pillow's images"):
            nm.images(value)


def test_floats_are_rounded_to_the_nearest():
    values = np.linspace(0, 1, 10_001).reshape(1, 73, 137)
    assert nm.images(values)[0].ravel().tolist() == [round(255 * value) for value in values.ravel().tolist()]


@pytest.mark.parametrize("opacity", [0, 1, 128, 254])
def test_opacity_is_laid_on_white_as_that_of_files(opacity, tmp_path):
    given = with_opacity(STACK, opacity)
    Image.fromarray(given[2]).save(tmp_path / "a.png")
    expected = nm.images(tmp_path)[0]
    for layout in (given, given.transpose(0, 3, 1, 2), given / 255, [Image.fromarray(image) for image in given]):
        np.testing.assert_array_equal(nm.images(layout)[2], expected)


def changed(value):
    images = STACK / 255
    images[3, 2, 1, 0] = value
    return images


REFUSED = {
    "0 to 255 as floats": (STACK * 1.0, r"floats from 0 to 255. Give x.astype\(np.uint8\)"),
    "0 to 255 as uneven floats": (STACK * 0.9, "value that stands for white: x / 255"),
    "0 to 16": (STACK // 16 + 1.0, "value that stands for white: x / 255, or x / 16"),
    "-1 to 1": (STACK / 127.5 - 1, r"floats from -1 to 1. Give \(x \+ 1\) / 2"),
    "normalized": (STACK / 64 - 2, "undo a normalization"),
    "an overshoot": (changed(1.001), r"floats from 0 to 1.001. Scale to 0 to 1.*np.clip"),
    "NaN": (changed(np.nan), "NaN or infinite"),
    "infinity": (changed(np.inf), "NaN or infinite"),
    "int64": (STACK.astype(int), r"has dtype int64. Give x.astype\(np.uint8\)"),
    "uint16": (STACK.astype(np.uint16), "has dtype uint16"),
    "bool": (STACK > 9, r"has dtype bool. Give x.astype\(np.uint8\) \* 255"),
    "complex": (STACK * 1j, "has dtype complex128"),
    "objects": (STACK.astype(object), "has dtype object"),
    "masked": (np.ma.masked_greater(STACK, 9), "has masked values"),
    "channels first or last": (STACK[:, :3], r"\(5, 3, 13, 3\), where the channels may come first or last"),
    "one image": (STACK[0], r"\(9, 13, 3\), which may be one image.* Give x\[None\]"),
    "one grey image": (STACK[0, ..., 0], r"has shape \(9, 13\).*x\[None\] for one image"),
    "two channels": (STACK[..., :2], "Give 1, 3 or 4 channels"),
    "one vector": (STACK.ravel(), "has shape"),
    "five axes": (STACK[None], "has shape"),
    "one number": (np.array(0.5), "has shape"),
    "no rows": (STACK[:0], "no pixels"),
    "no pixels": (STACK[:, :0], "no pixels"),
    "an image in a list": ([STACK[0], STACK[0] * 1.0], "image 1, source: is of floats from 0 to 255"),
    "batches in a list": ([STACK, STACK], r"image 0, source: has shape \(5, 9, 13, 3\)"),
    "numbers in a list": ([[0.1, 0.2]], r"item 0 is \[0.1, 0.2\]. Give a list of paths"),
    "an empty list": ([], "the list has no image that can be read: nothing found"),
    "one of Pillow's": (Image.fromarray(STACK[0]), r"Give \[image\]"),
    "nothing": (None, FIX),
    "a number": (3, FIX),
    "a set": ({1, 2}, FIX),
    "a dict": ({"a": STACK}, FIX),
    "bytes": (b"abc", FIX),
    "no such folder": ("nowhere/at all", "'nowhere/at all' is not a folder or file"),
    "no path": ("a\0b", "is not a folder or file"),
    "an iterator of arrays": (iter(STACK), "the iterator gives .* Give paths, or a list of images"),
    "endless": (itertools.repeat("a.png"), "more than 1,000,000 items"),
    "an iterator of bytes": (iter([b"a.png"]), "the iterator gives"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_fix(case):
    value, said = REFUSED[case]
    with pytest.raises(nm.InvalidInput, match=f"(?s){said}"):
        nm.images(value)


def test_places_slices_and_selections():
    made = nm.images(STACK, labels=list("abcde"))
    np.testing.assert_array_equal(made[-1], STACK[4])
    np.testing.assert_array_equal(made[np.int64(1)], STACK[1])
    assert list(made[1:4].labels) == ["b", "c", "d"] and made[::-2].names == ["image 4", "image 2", "image 0"]
    chosen = made.select([3, 3, 0])
    np.testing.assert_array_equal(np.stack(list(chosen)), STACK[[3, 3, 0]])
    assert list(chosen.report["file"]) == ["image 3", "image 3", "image 0"] and list(chosen.labels) == ["d", "d", "a"]
    np.testing.assert_array_equal(chosen[1:].select([1])[0], STACK[0])
    assert list(made.select(np.array(made.labels) == "c").names) == ["image 2"]
    assert len(made[5:]) == len(made.select([])) == 0 and list(made[5:].report.columns) == ["file", "read", "reason"]
    for beyond in (5, -6, 10**30):
        with pytest.raises(IndexError):
            made[beyond]
    for wrong in ("a", 1.0, None):
        with pytest.raises(TypeError):
            made[wrong]
    for wrong in ([5], [-1], [0.5], "a", [[1]], [True, False], None, 3):
        with pytest.raises(nm.InvalidInput, match="indices"):
            made.select(wrong)


@pytest.mark.parametrize(("size", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (5, [5]), (10**12, [5])])
def test_batches(size, sizes):
    batches = list(nm.images(STACK).batches(size))
    assert [len(batch) for batch in batches] == sizes
    np.testing.assert_array_equal(np.stack([image for batch in batches for image in batch]), STACK)


@pytest.mark.parametrize("size", [0, -1, 1.5, None, "two"])
def test_batches_of_no_size(size):
    with pytest.raises(nm.InvalidInput, match="size"):
        nm.images(STACK).batches(size)


@pytest.mark.parametrize(
    "labels",
    [list("abcde"), np.arange(5), (True, False, True, True, False), np.array(list("abcde"), object), [0.5] * 5],
)
def test_labels_as_they_are_given(labels):
    made = nm.images(STACK, labels=labels).labels
    assert made.shape == (5,) and list(made) == list(labels)
    assert list(nm.images(nm.images(STACK), labels=labels).labels) == list(labels)


@pytest.mark.parametrize(
    "labels", [[1, 2], [1] * 6, np.zeros((5, 2)), [None] * 5, [np.nan] * 5, 3, "abcde", [[1], [1, 2]], [1j] * 5, {1: 2}]
)
def test_labels_that_do_not_fit(labels):
    with pytest.raises(nm.InvalidInput, match="labels"):
        nm.images(STACK, labels=labels)


def test_what_is_given_is_not_changed_and_what_is_got_is_ones_own():
    given = STACK.copy()
    made = nm.images(given)
    made[0][:] = 0
    np.testing.assert_array_equal(given, STACK)
    np.testing.assert_array_equal(made[0], STACK[0])


def test_another_picture_or_shape_is_another_digest():
    grey = np.zeros((1, 6, 8), np.uint8)
    names = {nm.images(x).digest(0) for x in (grey, grey + 1, grey.reshape(1, 8, 6), np.zeros((1, 6, 8, 3), np.uint8))}
    assert len(names) == 4 and all(len(name) == 32 for name in names)


def test_pixels_written_later_are_checked_again():
    given = STACK / 255
    made = nm.images(given)
    given[1, 0, 0, 0] = 7.0
    with pytest.raises(nm.InvalidInput, match="floats from"):
        made[1]


def test_said_in_one_line():
    assert repr(nm.images(STACK)) == "Images: 5 of 13 × 9 pixels"
    assert repr(nm.images([STACK[0], np.zeros((400, 3), np.uint8)], labels=[1, 2])) == (
        "Images: 2 of 13 × 9 to 3 × 400 pixels, 2 labels"
    )
    assert repr(nm.images(STACK)[:0]) == "Images: 0"


def test_goes_to_another_process():
    made = pickle.loads(pickle.dumps(nm.images(STACK, labels=range(5))[1:]))
    np.testing.assert_array_equal(np.stack(list(made)), STACK[1:])
    assert list(made.labels) == [1, 2, 3, 4]


def test_a_mask_or_a_list_of_places_chooses_as_select_does():
    given = nm.images(
        np.arange(4, dtype=np.uint8)[:, None, None].repeat(8, 1).repeat(8, 2), labels=["a", "b", "a", "b"]
    )
    is_a = given.labels == "a"
    for index in (is_a, is_a.tolist(), [0, 2], np.array([0, 2])):
        assert [int(image[0, 0]) for image in given[index]] == [0, 2] == [int(i[0, 0]) for i in given.select(index)]
    assert repr(given[is_a]) == "Images: 2 of 8 × 8 pixels, 1 label"
    with pytest.raises(nm.InvalidInput, match="indices"):
        given[[4]]
