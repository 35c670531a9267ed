"""What `Images.plot` shows: a row for each label, spread over its images, whatever their sizes."""

import numpy as np
import pytest
from PIL import Image

import nbmetrics as nm


def rows(figure):
    """The names of the rows, and the picture, (h, w, 3)."""
    (ax,) = figure.axes
    return [tick.get_text() for tick in ax.get_yticklabels()], np.asarray(ax.images[0].get_array())


def cells(page, count, side):
    """The thumbnails of a page as (rows, across, side, side)."""
    step = side + max(1, side // 8)
    return [[page[i : i + side, j : j + side] for j in range(0, count * step, step)] for i in range(0, len(page), step)]


def test_a_row_for_each_label_in_natural_order_with_its_number_of_images():
    labels = ["ward 10"] * 3 + ["ward 2"] * 1200
    names, _ = rows(nm.images(np.zeros((1203, 8, 8), np.uint8), labels=labels).plot())
    assert names == ["ward 2  (1,200)", "ward 10  (3)"]


def test_images_are_spread_evenly_over_a_label_and_keep_their_pixels():
    shades = np.arange(90, dtype=np.uint8)
    given = nm.images(np.tile(shades[:, None, None], (1, 8, 8)), labels=[0] * 10 + [1] * 80)
    _, page = rows(given.plot(across=4))
    found = [[int(cell[0, 0, 0]) for cell in row if (cell == cell[0, 0]).all()] for row in cells(page, 4, 8)]
    assert found == [[0, 3, 6, 9], [10, 36, 63, 89]]


def test_of_few_images_the_rest_of_the_row_is_white():
    _, page = rows(nm.images(np.zeros((2, 8, 8), np.uint8)).plot(across=3))
    assert [int(cell.mean()) for cell in cells(page, 3, 8)[0]] == [0, 0, 255]


def test_images_of_other_sizes_and_colour_are_fitted_into_one_frame():
    wide = Image.new("RGB", (200, 50), (200, 0, 0))
    names, page = rows(nm.images([wide, Image.new("L", (20, 20), 90)]).plot(across=2))
    first, second = cells(page, 2, 96)[0]
    assert names == ["2 images"] and (second == 90).all()
    assert (first[48] == [200, 0, 0]).all() and (first[0] == 255).all()


def test_labels_beyond_forty_are_counted_and_names_are_text():
    labels = [f"${k}" for k in range(50)]
    names, _ = rows(nm.images(np.zeros((50, 8, 8), np.uint8), labels=labels).plot(across=1))
    assert len(names) == 41 and names[-1] == "… 10 more" and names[0] == r"\$0  (1)"


@pytest.mark.parametrize("across", [0, 101, 2.5, "twelve", None])
def test_a_number_of_images_that_is_none_is_refused(across):
    with pytest.raises(nm.InvalidInput, match="across"):
        nm.images(np.zeros((2, 8, 8), np.uint8)).plot(across)


def test_sizes_are_height_and_width():
    given = nm.images([np.zeros((4, 6), np.uint8), np.zeros((5, 3, 3), np.uint8)])
    assert given.sizes.tolist() == [[4, 6], [5, 3]] and given[1:].sizes.tolist() == [[5, 3]]
