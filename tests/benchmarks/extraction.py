"""Images through Inception beside a plain loop over torch-fidelity's module, and the same again from the cache."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np

from nbmetrics.features import extraction
from tests.features.inception import random_weights

from . import peers


def lines(n: int = 64, size: int = 96, batch: int = 32):
    """Two rows of the table: without the cache, and first against second with it; random weights, random images."""
    from .__main__ import Line, same, timed

    if peers.imported("torch_fidelity.registry") is None:
        return
    images = np.random.default_rng(0).integers(0, 256, (n, size, size, 3), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, NBMETRICS_HOME=folder):
        weights = random_weights(Path(folder) / "inception.pt")
        plain, settings = looped(weights, images, batch), {"weights": weights, "batch_size": batch, "progress": False}
        ours = extraction("inception-v3-compat", cache=False, **settings)
        first, second, theirs, own = timed(plain, lambda: ours.rows(images))
        same(float(np.linalg.norm(theirs)), float(np.linalg.norm(own)), 1e-5)
        what = f"{n} images of {size} × {size}"
        yield Line(f"Inception, {what}", "a loop over torch-fidelity's", first, second, rows="images")
        cached, seconds = extraction("inception-v3-compat", **settings), []
        for _ in range(2):
            start = time.perf_counter()
            cached.rows(images)
            seconds.append(time.perf_counter() - start)
        yield Line(f"Inception, {what}, again", "ours, the first time", *seconds, rows="images")


def looped(weights, images, batch):
    """() -> rows, by the module alone."""
    import torch
    from torch_fidelity.utils import create_feature_extractor

    path = str(weights)
    module = create_feature_extractor(
        "inception-v3-compat", ["2048"], cuda=False, verbose=False, feature_extractor_weights_path=path
    )

    def rows():
        given = torch.from_numpy(images).permute(0, 3, 1, 2)
        with torch.inference_mode():
            return torch.cat([module(part.contiguous())[0] for part in given.split(batch)]).numpy()

    return rows
