"""Torch-fidelity's networks as extractors. Torch comes in, and a network is built, when there are images for it.

What must be refused before the work needs the network: so it is built at once where its file of weights is new, and
where the same bytes passed before their digest is remembered, and names the rows in the cache.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput, shown
from .batches import CLEAN_CONVENTION, as_rgb, check_image, clean_resize, round_levels, rows_by_shape
from .networks import LAYERS, NETWORKS, PROBABILITIES
from .torch_environment import FIX_INSTALL, PACKAGES, arithmetic_of, needs_text
from .weights import program, remember_digest, remembered_digest

if TYPE_CHECKING:
    from .fidelity import LoadedNetwork

# How the files begin by which Linux has a GPU, bare, in Windows' WSL or on a Jetson board.
GPUS = ("nvidia", "kfd", "dxg", "nvhost", "nvmap")


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
        self._source, self._is_clean, self._size = source, is_clean, NETWORKS[base].size
        self._device = _device_name(device)
        self._loaded: LoadedNetwork | None = None
        remembered = None if isinstance(source, Mapping) else remembered_digest(base, source)
        if remembered is None:
            self._loaded = loaded = self._load()
            remembered = loaded.digest, loaded.weights.is_published
        self._hash, is_published = remembered
        self._weights = f"published weights {NETWORKS[base].sha256[:8]}"
        if not is_published:
            self._weights = f"weights of your own, {self._hash[:8]}"

    @property
    def fingerprint(self) -> str:
        """Name, weights, program, resizing and type of numbers."""
        transform, kind = "clean" if self._is_clean else "extractor", self._device.partition(":")[0]
        return f"{self.name}/{self._hash}/{program()}/{transform}/{arithmetic_of(kind)}"

    @property
    def convention(self) -> str:
        """What the rows are, for the line under a table."""
        resized = "by the extractor as TensorFlow 1 did"
        if self._is_clean:
            resized = f"to {self._size} × {self._size} {CLEAN_CONVENTION}, and rounded to whole levels"
        text = f"{self.name} ({program()}, {self._weights})"
        text += ", softmax of logits_unbiased" * (self.name == PROBABILITIES)
        return f"{text}, images resized {resized}, grey as three equal channels"

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        """(b, d) float32 rows of b uint8 images, (H, W, 3) or (H, W), of any sizes."""
        images = [as_rgb(check_image(image)) for image in batch]
        if not images:
            return np.empty((0, self.dim), np.float32)
        if self._is_clean:
            images = [round_levels(clean_resize(image, self._size)) for image in images]
        if self._loaded is None:
            self._loaded = self._load()
            if self._loaded.digest != self._hash:
                seen = f"{self._loaded.weights.where} has changed since it was checked"
                self._loaded = None
                raise InvalidInput("weights", seen, "Make the extractor again")
        rows = rows_by_shape(images, self._loaded.rows)
        return _softmax(rows) if self.name == PROBABILITIES else rows

    def _load(self) -> LoadedNetwork:
        try:
            from .fidelity import load
        except ImportError as error:  # installed, but not whole
            seen = f"{needs_text(self.name, [*PACKAGES.values()])}, which do not load: {shown(str(error), 200)}"
            raise InvalidInput("extractor", seen, FIX_INSTALL) from None
        loaded = load(self.name, self._source, self._device)
        remember_digest(LAYERS[self.name][0], loaded.weights, loaded.digest)
        return loaded


def _softmax(logits: np.ndarray) -> np.ndarray:
    from scipy.special import softmax

    return np.asarray(softmax(logits.astype(np.float64), axis=1), np.float32)


def _device_name(device: Any) -> str:
    """Return the device as torch writes it; without torch where no GPU can be there, or none is asked for."""
    if isinstance(device, str) and (device == "cpu" or (device == "auto" and _has_no_gpu())):
        return "cpu"
    from .torch_environment import device_of

    return str(device_of(device))


def _has_no_gpu() -> bool:
    """Return whether surely no GPU is there: on Linux, where a GPU is a file; elsewhere torch is asked."""
    if sys.platform != "linux" or "torch" in sys.modules:
        return False
    try:
        return not any(name.startswith(GPUS) for name in os.listdir("/dev"))
    except OSError:
        return False
