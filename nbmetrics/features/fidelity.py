"""Torch-fidelity's networks as extractors: the one way in to them. Importing this imports torch and torchvision.

Its own classes compute, from its own preparation of uint8 images on; only their weights come another way: checked, and
read as tensors alone, where theirs would fetch files, unpickle anything, and for DINOv2 run code from the network.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import InvalidInput, shown
from .devices import device_of
from .networks import LAYERS, NETWORKS
from .resize import CLEAN, clean, rounded
from .shapes import as_rgb, by_shape, check_image
from .weights import Weights, digest, read

_declared: list[Any] = []


def _import_torchvision() -> None:
    """A torchvision built for another torch lacks its operators, which no network here uses: they are declared."""
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        _declared.append(torch.library.Library("torchvision", "DEF"))
        for name in ("nms", "qnms"):
            _declared[0].define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        importlib.import_module("torchvision")


_import_torchvision()
import torch_fidelity  # noqa: E402
from torch_fidelity.feature_extractor_base import FeatureExtractorBase  # noqa: E402
from torch_fidelity.feature_extractor_clip import build_model  # noqa: E402
from torch_fidelity.registry import FEATURE_EXTRACTORS_REGISTRY  # noqa: E402


class FidelityExtractor:
    """A layer of one of torch-fidelity's networks, in float32.

    It takes uint8 images of any size, and brings them to its own as TensorFlow 1 did (bilinear, not antialiased), or
    as clean-fid does; grey becomes three equal channels. Images of one shape go through the network together (as all
    do with clean), so a batch split otherwise gives the same rows to rounding, and split alike the same bits.

    Parameters
    ----------
    name : "inception-v3-compat", "vgg16:fc2", …: one of `nm.extractors()`
    source : the file of the weights, or a state dict
    device : "auto" (a GPU where there is one), "cpu", "cuda", "cuda:1" or a torch.device
    is_clean : resized as clean-fid does
    """

    def __init__(self, name: str, source: Path | Mapping[str, Any], device: Any, is_clean: bool) -> None:
        base, layer = LAYERS[name]
        self.name, self.dim = name, NETWORKS[base].layers[layer]
        self._device, self._size, self._is_clean = device_of(device), NETWORKS[base].size, is_clean
        weights = read(base, source)
        self._network = _network(base, layer, weights).to(self._device)
        self._hash = digest(self._network.state_dict())
        self._weights = f"published weights {NETWORKS[base].sha256[:8]}"
        if not weights.is_published:
            self._weights = f"weights of your own, {self._hash[:8]}"

    @property
    def fingerprint(self) -> str:
        """Name, weights, program, resizing and type of numbers; a GPU rounds otherwise, so its rows are kept apart."""
        transform = "clean" if self._is_clean else "extractor"
        version = torch_fidelity.__version__
        return f"{self.name}/{self._hash}/torch-fidelity {version}/{transform}/float32/{self._device.type}"

    @property
    def convention(self) -> str:
        """What the rows are, for the line under a table."""
        resized = "by the extractor as TensorFlow 1 did"
        if self._is_clean:
            resized = f"to {self._size} × {self._size} {CLEAN}, and rounded to whole levels"
        program = f"torch-fidelity {torch_fidelity.__version__}, {self._weights}"
        return f"{self.name} ({program}), images resized {resized}, grey as three equal channels"

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        """(b, d) float32 rows of b uint8 images, (H, W, 3) or (H, W), of any sizes."""
        images = [as_rgb(check_image(image)) for image in batch]
        if self._is_clean:
            images = [rounded(clean(image, self._size)) for image in images]
        return by_shape(images, self._rows) if images else np.empty((0, self.dim), np.float32)

    def _rows(self, images: np.ndarray) -> Any:
        given = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2))).to(self._device)
        with torch.inference_mode():
            (rows,) = self._network(given)
        return rows.cpu()


def _network(name: str, layer: str, weights: Weights) -> Any:
    """Torch-fidelity's extractor of this name with these weights, keys and shapes exactly its own."""
    make = {"inception": _inception, "vgg16": _vgg16, "clip": _clip, "dinov2": _dinov2}[name.partition("-")[0]]
    with torch.random.fork_rng(devices=[]):  # modules begin with random weights; the user's stream stays where it is
        try:
            network = make(name, layer, weights.state)
        except (RuntimeError, KeyError, IndexError, AttributeError, ValueError, TypeError) as error:
            seen = f"{weights.where} does not hold the tensors of {name}: {shown(' '.join(str(error).split()), 300)}"
            fix = f"Give those of {NETWORKS[name].file}, or ones with its keys and shapes"
            raise InvalidInput("weights", seen, fix) from None
    return network.float().requires_grad_(False).eval()


def _inception(name: str, layer: str, state: dict[str, Any]) -> Any:
    """Its constructor unpickles a file: given one in memory, of the tensors that were checked and nothing else."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return FEATURE_EXTRACTORS_REGISTRY[name](name, [layer], feature_extractor_weights_path=file)


def _bare(name: str, layer: str) -> Any:
    """The extractor without its network: what its constructor does before it fetches weights."""
    kind = FEATURE_EXTRACTORS_REGISTRY[name]
    made = kind.__new__(kind)
    FeatureExtractorBase.__init__(made, name, [layer])
    made.feature_extractor_internal_dtype = torch.float32
    return made


def _vgg16(name: str, layer: str, state: dict[str, Any]) -> Any:
    from torchvision.models import vgg16

    made, model = _bare(name, layer), vgg16(init_weights=False)
    model.load_state_dict(state)
    del model.classifier[4:]  # torch-fidelity's layers are what is left
    made.model = model
    return made


def _dinov2(name: str, layer: str, state: dict[str, Any]) -> Any:
    from .dinov2 import dinov2

    made = _bare(name, layer)
    made.model = dinov2(name, state)
    return made


def _clip(name: str, layer: str, state: dict[str, Any]) -> Any:
    """Torch-fidelity reads the sizes of CLIP off the weights: those of another model would pass under this name."""
    made, network = _bare(name, layer), NETWORKS[name]
    made.model = build_model(dict(state), torch.float32)  # takes keys out, and rounds to float16, as OpenAI's files are
    visual = made.model.visual
    made.resolution = visual.input_resolution
    found = visual.output_dim, visual.input_resolution, visual.conv1.stride[0] if hasattr(visual, "transformer") else 0
    wanted = network.layers[layer], network.size, network.patch
    if found != wanted:
        text = "{0} features of {1} × {1} pixels, patches of {2}"
        raise ValueError(f"{text.format(*found)}, not {text.format(*wanted)}")
    return made
