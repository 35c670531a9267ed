"""Colour pictures from a font of this machine: what they are, and that the phenomenon is there in them too."""

from pathlib import Path

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.datasets import emoji
from nbmetrics.datasets.noto import FONT, GROUPS

needs_font = pytest.mark.skipif(not Path(FONT).is_file(), reason="apt install fonts-noto-color-emoji")


@needs_font
def test_pictures_are_of_their_size_in_colour_on_white_and_unlike():
    images, groups = emoji(24)
    assert images.shape == (len(groups), 24, 24, 3) and images.dtype == np.uint8
    assert list(dict.fromkeys(groups)) == list(GROUPS)
    assert min(np.unique(groups, return_counts=True)[1]) >= 15
    assert (images[:, 0, 0] == 255).all() or (images.reshape(len(images), -1).max(1) == 255).all()
    assert len(np.unique(images.reshape(len(images), -1), axis=0)) > 0.98 * len(images)
    assert (np.ptp(images.astype(int), axis=3).max(axis=(1, 2)) > 60).mean() > 0.8  # colours, not greys


@needs_font
def test_fid_avg_prefers_one_group_to_noise_over_all_and_fid_all_the_noise():
    """The single-class generator of the digits, in colour: and KID's gap is one number."""
    images, groups = emoji(16)
    wanted = np.isin(groups, ["animals", "faces", "food", "objects"])
    images, groups = images[wanted], groups[wanted]
    rng = np.random.default_rng(0)
    real, rest = np.array_split(rng.permutation(len(images)), 2)
    noisy = np.clip(images[rest] + rng.normal(0, 60, images[rest].shape), 0, 255).astype(np.uint8)
    generators = {"faces": images[rest][groups[rest] == "faces"], "noisy": noisy, "held out": images[rest]}
    federation = nm.Federation.from_labels(images[real], groups[real], extractor="pixels", cache=False)
    scores = nm.evaluate(federation, generators, ("fid", "kid"), progress=False)
    assert [list(pair) for pair in scores.inversions("fid")[["avg_prefers", "all_prefers"]].to_numpy()] == [
        ["faces", "noisy"]
    ]
    gaps = scores.table.set_index("metric").loc["kid", "gap"]
    assert np.ptp(gaps) < 1e-9 * gaps.max() and scores.inversions("kid").empty


@pytest.mark.parametrize("size", [0, 513, 2.5, "x", None])
def test_sizes_that_make_no_sense_are_refused(size):
    with pytest.raises(nm.InvalidInput, match=r"^size"):
        emoji(size)


@pytest.mark.parametrize("font", ["absent.ttf", 7, None, __file__, "", "a\0b"])
def test_without_the_font_it_says_what_to_install(font):
    with pytest.raises(nm.InvalidInput, match=r"^font.*fonts-noto-color-emoji"):
        emoji(font=font)
