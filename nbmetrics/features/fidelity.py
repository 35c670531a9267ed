"""Torch-fidelity's networks: the one way in to them. Importing this imports torch and torchvision.

Its own classes compute, from its own preparation of uint8 images on; only their weights come another way: checked, and
read as tensors alone, where theirs would fetch files, unpickle anything, and for DINOv2 run code from the network.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from ..arrays import float32_by_default, plain_torch
from ..errors import InvalidInput, shown
from .networks import LAYERS, NETWORKS
from .torch_environment import torchvision_failure, torchvision_fix
from .weights import Weights, digest, read

_declared: list[Any] = []


def _import_torchvision() -> None:
    """Import torchvision. One built for another torch lacks its operators, which no network here uses: declare them."""
    try:
        try:
            importlib.import_module("torchvision")
        except RuntimeError as error:
            if "torchvision::nms" not in str(error) or _declared:
                raise
            _declare_operators()
            importlib.import_module("torchvision")
    except Exception as error:  # whatever a broken build raises: ImportError, OSError, AttributeError, RuntimeError
        raise InvalidInput("extractor", torchvision_failure(error), torchvision_fix()) from None


def _declare_operators() -> None:
    _declared.append(torch.library.Library("torchvision", "DEF"))
    for name in ("nms", "qnms"):
        _declared[0].define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


_import_torchvision()
from torch_fidelity.feature_extractor_base import FeatureExtractorBase  # noqa: E402
from torch_fidelity.feature_extractor_clip import build_model  # noqa: E402
from torch_fidelity.registry import FEATURE_EXTRACTORS_REGISTRY  # noqa: E402


class LoadedNetwork(NamedTuple):
    """One of torch-fidelity's networks on its device, with what says which weights it has.

    digest : of its state dict
    weights : what was read, less the tensors
    """

    network: Any
    digest: str
    weights: Weights

    def rows(self, images: np.ndarray) -> Any:
        """Return (k, d) of (k, H, W, 3) uint8 images."""
        pixels = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
        with plain_torch(), float32_by_default, torch.inference_mode():
            (rows,) = self.network(pixels.to(next(self.network.parameters()).device))
        return rows.cpu()


def load(name: str, source: Path | Mapping[str, Any], device: str) -> LoadedNetwork:
    """Return the network of this extractor's name with these weights, or InvalidInput where they are not its own."""
    base, layer = LAYERS[name]
    weights = read(base, source)
    network = _network(base, layer, weights).to(device)
    return LoadedNetwork(network, digest(network.state_dict()), weights._replace(state={}))


def _network(name: str, layer: str, weights: Weights) -> Any:
    """Return torch-fidelity's extractor of this name with these weights, keys and shapes exactly its own."""
    make = {"inception": _inception, "vgg16": _vgg16, "clip": _clip, "dinov2": _dinov2}[name.partition("-")[0]]
    # modules begin with random weights; the user's stream stays where it is
    with torch.random.fork_rng(devices=[]), plain_torch(), float32_by_default:
        try:
            network = make(name, layer, weights.state)
        except (RuntimeError, KeyError, IndexError, AttributeError, ValueError, TypeError) as error:
            seen = f"{weights.where} does not contain the tensors of {name}: {shown(' '.join(str(error).split()), 300)}"
            fix = f"Give those of {NETWORKS[name].file}, or ones with its keys and shapes"
            raise InvalidInput("weights", seen, fix) from None
    return network.float().requires_grad_(False).eval()


def _inception(name: str, layer: str, state: dict[str, Any]) -> Any:
    """Its constructor unpickles a file: given one in memory, of the tensors that were checked and nothing else."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return FEATURE_EXTRACTORS_REGISTRY[name](name, [layer], feature_extractor_weights_path=file)


def _without_network(name: str, layer: str) -> Any:
    """Return the extractor without its network: what its constructor does before it fetches weights."""
    kind = FEATURE_EXTRACTORS_REGISTRY[name]
    extractor = kind.__new__(kind)
    FeatureExtractorBase.__init__(extractor, name, [layer])
    extractor.feature_extractor_internal_dtype = torch.float32
    return extractor


def _vgg16(name: str, layer: str, state: dict[str, Any]) -> Any:
    from torchvision.models import vgg16

    extractor, model = _without_network(name, layer), vgg16(init_weights=False)
    model.load_state_dict(state)
    del model.classifier[4:]  # torch-fidelity's layers are what is left
    extractor.model = model
    return extractor


def _dinov2(name: str, layer: str, state: dict[str, Any]) -> Any:
    from .dinov2 import dinov2

    extractor = _without_network(name, layer)
    extractor.model = dinov2(name, state)
    return extractor


def _clip(name: str, layer: str, state: dict[str, Any]) -> Any:
    """Torch-fidelity reads the sizes of CLIP off the weights: those of another model would pass under this name."""
    extractor, network = _without_network(name, layer), NETWORKS[name]
    extractor.model = build_model(
        dict(state), torch.float32
    )  # takes keys out, and rounds to float16, as OpenAI's files are
    visual = extractor.model.visual
    extractor.resolution = visual.input_resolution
    sizes = visual.output_dim, visual.input_resolution, visual.conv1.stride[0] if hasattr(visual, "transformer") else 0
    wanted = network.layers[layer], network.size, network.patch
    if sizes != wanted:
        text = "{0} features of {1} × {1} pixels, patches of {2}"
        raise ValueError(f"{text.format(*sizes)}, not {text.format(*wanted)}")
    return extractor
