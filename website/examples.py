"""What labs show on the site beyond what they open with: digits, a training that collapsed, charts of copies."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

import nbmetrics as nm
from nbmetrics.labs.memorization import sweeps

# What the page calls the charts of the scene that MemorizationLab opens with.
CURVE, MAPS = 'copied ["moons",0,0,0,1,400,0]', "interactions moons 400 0"


def dashboard() -> Any:
    """Ten clients with the images of one digit each, and four generators whose faults are known."""
    pictures, digit = nm.datasets.digit_images()
    rng = np.random.default_rng(0)
    order = rng.permutation(len(pictures))
    ours, kept = order[:1300], order[1300:]
    fresh = pictures[kept]
    noisy = np.clip(fresh + rng.normal(0, 55, fresh.shape), 0, 255).astype(np.uint8)
    generators = {
        "fresh": fresh,
        "no eights": fresh[digit[kept] != 8],
        "noisy": noisy,
        "blurred": np.stack([gaussian_filter(image, 0.7) for image in fresh]),
    }
    rows = nm.extract(pictures[ours], "digits-cnn", progress=False)
    federation = nm.Federation.from_labels(rows, [f"client {d}" for d in digit[ours]])
    return nm.Dashboard(
        federation, {name: nm.extract(images, "digits-cnn", progress=False) for name, images in generators.items()}
    )


def monitor() -> Any:
    """A WGAN-GP on ten clients whose data become a single class after step 1,200."""
    pictures, digit = nm.datasets.digit_images()
    federation = nm.Federation.from_labels(pictures, digit, extractor="digits-cnn")
    run = nm.datasets.trained_samples("collapse")
    mine = np.flatnonzero((run.seed == 0) & np.isin(run.target, ["", "class 8"]))
    images = np.round(255 * run.rows[mine]).astype(np.uint8).reshape(len(mine), -1, 8, 8)
    watched = nm.Monitor(federation, keep_all=True)
    for step, rows in zip(run.step[mine], images, strict=True):
        watched.log(int(step), rows)
    watched.wait()
    return watched


def memorization() -> Any:
    """As it opens, with what its tabs Curve and Interactions ask Python for."""
    lab = nm.MemorizationLab()
    scene = lab._scene
    *_, whole = sweeps.curve(lab._study(scene), scene)
    lab.curve, lab.interactions = {"key": CURVE, **whole}, {"key": MAPS, **sweeps.heat_maps(lab._study(scene))}
    return lab


# Of the other labs the page shows what they open with.
EXAMPLES: dict[str, Callable[[], Any]] = {"Dashboard": dashboard, "Monitor": monitor}
WITH_CHARTS: dict[str, Callable[[], Any]] = {"MemorizationLab": memorization}
EXAMPLE_TEXTS = {
    "Dashboard": "This example shows ten clients with one handwritten digit each, and four generators.",
    "Monitor": "This example shows a WGAN-GP on ten clients. After step 1,200 its training data become a single class.",
}
