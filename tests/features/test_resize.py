"""resize="clean" beside clean-fid itself."""

import numpy as np
import pytest

from nbmetrics.features.batches import clean_resize, round_levels
from tests.benchmarks import peers

SHAPES = [tuple(shape) for shape in np.random.default_rng(20261122).integers(1, 700, (18, 2))] + [(1, 1), (299, 299)]


def picture(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (*shape, 3), dtype=np.uint8)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_is_clean_fids_to_the_last_bit(shape):
    module = peers.imported("cleanfid.resize")
    if module is None:
        pytest.skip("clean-fid does not import here: pip install nbmetrics[bench]")
    image = picture(shape)
    found = clean_resize(image, 299)
    assert found.shape == (299, 299, 3) and found.dtype == np.float32
    assert np.array_equal(found, module.build_resizer("clean")(image))


def test_a_constant_stays_and_grey_is_resized_as_a_channel_is():
    assert np.abs(clean_resize(np.full((77, 31, 3), 200, np.uint8), 50) - 200).max() < 1e-3
    image = picture((40, 60))
    assert np.array_equal(clean_resize(image[:, :, 1], 33), clean_resize(image, 33)[:, :, 1])


def test_shrinking_averages_what_it_drops():
    """Stripes one pixel wide become their mean: without antialiasing they would become black, white or a moiré."""
    stripes = np.zeros((256, 256, 3), np.uint8)
    stripes[:, ::2] = 255
    inner = clean_resize(stripes, 32)[4:-4, 4:-4]
    assert np.abs(inner - 127.5).max() < 2


def test_rounding_is_to_the_nearest_level():
    assert round_levels(np.array([0.0, 0.49, 0.51, 127.9, 255.0], np.float32)).tolist() == [0, 0, 1, 128, 255]
