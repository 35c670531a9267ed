"""Trained generators as files, with rows that they draw, and a cache of features with its images."""

import itertools
import math
import tempfile

import numpy as np

import nbmetrics as nm
from nbmetrics.features.cache import RULES
from nbmetrics.features.extractors import extractor_of

KINDS = ("wgan-gp", "ddpm")
# The mean and the scale of these are exact, so that the fingerprint of a run is one on every machine.
ROWS = [[x, y] for x, y in itertools.product((-3.0, -1.0, 1.0, 3.0), repeat=2)]
TRAINING = {"rounds": 2, "local_steps": 2, "seed": 3, "device": "cpu"}
EXTRACTORS = ("digits-cnn", "pixels")


def make_models(release):
    """Write a tiny trained model of each kind, and rows that it draws."""
    said = {}
    for kind in KINDS:
        model = nm.training.train(kind, [ROWS], **TRAINING)
        release.folder.joinpath("models").mkdir(exist_ok=True)
        model.save(release.path(f"models/{kind}.safetensors"))
        about = {name: getattr(model, name) for name in ("kind", "dim", "rounds", "steps", "run")}
        longer = nm.training.train(kind, [ROWS], **{**TRAINING, "rounds": 3})
        said[kind] = {"about": about, "sums": sums(model), "drawn": drawn(model), "after 3 rounds": drawn(longer)}
    release.write("models.json", {**said, "rows": ROWS, "training": TRAINING})


def sums(model):
    """The exact sum of the numbers of each tensor."""
    return {name: math.fsum(tensor.double().flatten().tolist()) for name, tensor in model.state.items()}


def drawn(model):
    """Rows of a model for a stream that is always the same, as they come and truncated."""
    rng = np.random.default_rng
    return {"rows": model.sample(4, rng(0)).tolist(), "typical": model.sample(4, rng(1), psi=0.25).tolist()}


def make_features(release):
    """Write a cache of features of a few images, and the rows."""
    images = nm.datasets.digit_images()[0][:6]
    said = {"images": images.tolist(), "rules": RULES, "rows": {}, "fingerprints": {}}
    with tempfile.TemporaryDirectory() as folder:
        before, nm.cache.folder = nm.cache.folder, folder
        try:
            for name in EXTRACTORS:
                said["rows"][name] = nm.extract(images, name, progress=False).tolist()
                said["fingerprints"][name] = fingerprint(name, images)
        finally:
            nm.cache.folder = before
        release.pack("features.zip", folder)
    release.write("features.json", said)


def fingerprint(name, images):
    """What an extractor is called in the cache, for images of that size."""
    extractor = extractor_of(name)
    if hasattr(extractor, "admit"):
        extractor.admit(images[0])
    return extractor.fingerprint
