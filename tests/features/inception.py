"""Random weights of torch-fidelity's Inception, and images of odd sizes: what the tests of networks run on."""

from unittest.mock import patch

import numpy as np
import pytest

from tests.benchmarks import peers

NEEDED = "torch-fidelity and torchvision do not import here: pip install nbmetrics[images]"


def torch_or_skip():
    """torch, where torch-fidelity imports beside it; else the whole module of tests is skipped."""
    torch = pytest.importorskip("torch", reason=NEEDED)
    if peers.imported("torch_fidelity.registry") is None:
        pytest.skip(NEEDED, allow_module_level=True)
    return torch


def random_weights(path, seed=0):
    """A state dict of Inception by kaiming_normal: under PyTorch's default its features are about 1e-8."""
    import torch
    import torch_fidelity.feature_extractor_inceptionv3 as inception

    class Blank(inception.FeatureExtractorInceptionV3):
        def load_state_dict(self, *args, **kwargs):
            return None

    with patch.object(inception, "load_state_dict_from_url", return_value={}):
        network = Blank("inception-v3-compat", ["2048"])
    generator = torch.Generator().manual_seed(seed)
    for part in network.modules():
        if isinstance(part, (torch.nn.Conv2d, torch.nn.Linear)):
            torch.nn.init.kaiming_normal_(part.weight, nonlinearity="relu", generator=generator)
    torch.save(network.state_dict(), path)
    return path


def odd_images(count, seed, most=90):
    """Smooth colour pictures of `count` random sizes, (H, W, 3) uint8."""
    rng, found = np.random.default_rng(seed), []
    for height, width in rng.integers(17, most, (count, 2)):
        y, x = np.mgrid[:height, :width] / 20
        waves = [np.sin(a * x + b * y + c) for a, b, c in rng.uniform(0, 3, (3, 3))]
        found.append(np.clip(127 + 90 * np.stack(waves, 2) + rng.normal(0, 12, (height, width, 3)), 0, 255))
    return [image.astype(np.uint8) for image in found]
