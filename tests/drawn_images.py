"""Small images for tests, on disk too, and extractors whose rows are known."""

import numpy as np
from PIL import Image

import nbmetrics as nm
from nbmetrics.features import Extraction

SHAPE = (6, 5, 3)


def drawn(count, seed=0, shape=SHAPE):
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8)


def save(folder, images):
    folder.mkdir(parents=True, exist_ok=True)
    for k, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{k}.png")
    return folder


def rows(images):
    """What the extractor "pixels" makes of them, written again."""
    return images.reshape(len(images), -1) / 255


def check_rows(found, images):
    np.testing.assert_allclose(found, rows(images), rtol=0, atol=1e-6)


class Counting:
    """An extractor that notes the sizes of the batches it is given, and makes means of them."""

    name, fingerprint, convention = "means", "means/1", "mean colours"

    def __init__(self, make=None):
        self.seen, self.make = [], make

    def __call__(self, batch):
        self.seen.append(len(batch))
        return (self.make or means)(batch)


def means(batch):
    return np.array([image.reshape(-1, image.shape[-1]).mean(axis=0) for image in batch], np.float32)


def counting(make=None):
    """An `Extraction` around such an extractor."""
    return Extraction(Counting(make), batch_size=4, cache=False, progress=False)


def evaluated(federation, generators, metrics="kid", **options):
    return nm.evaluate(federation, generators, metrics, progress=False, **options)
