"""What of a step is kept to be looked at: never features as a picture."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.monitor.sample_previews import SamplePreviews

PIXELS, LABELS = nm.datasets.digits()
PICTURES, _ = nm.datasets.digit_images()


def seen(clients, source, rows=None):
    federation = clients if isinstance(clients, nm.Federation) else nm.Federation(clients)
    return SamplePreviews(federation).take(nm.Generator(source, name="g"), source if rows is None else rows)


def test_images_are_kept_as_they_were_given():
    federation = nm.Federation.from_labels(PICTURES, LABELS, extractor="digits-cnn")
    kept = seen(federation, PICTURES[:20], PIXELS[:20])["rows"]
    np.testing.assert_array_equal(kept, PICTURES[:12].reshape(12, 64))


def test_pixels_are_told_from_features_by_their_range():
    assert seen(nm.Federation.from_labels(PIXELS, LABELS), PIXELS[:20])["rows"].shape == (12, 64)
    normal = np.random.default_rng(0).normal(size=(40, 64))
    assert seen([0.5 + 0.5 * PIXELS[:9], 0.5 + 0.5 * PIXELS[9:19]], PIXELS[:20]) == {}
    assert seen([normal, normal], normal) == {} and seen([0.5 * PIXELS[:9], 0.5 * PIXELS[9:19]], PIXELS[:20]) == {}


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_points_are_kept_of_few_features(dim):
    rows = np.random.default_rng(0).normal(size=(300, dim))
    assert seen([rows, rows], rows).get("rows", np.zeros(0)).shape == ((256, dim) if dim <= 3 else (0,))
