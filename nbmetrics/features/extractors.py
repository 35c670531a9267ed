"""What turns images into rows: by name, or any function of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidInput, shown
from .digits import DigitsCNN


class Extractor(Protocol):
    """A function from a batch of images to rows, and what identifies it.

    Attributes
    ----------
    name : how people call it
    fingerprint : name, hash of the weights, transform and type of numbers: rows of one fingerprint may be mixed
    convention : the line under a table
    """

    name: str
    fingerprint: str
    convention: str

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        """(b, d) float32 rows of b images, (H, W, 3) or (H, W) uint8 each, of any sizes."""


class Pixels:
    """The pixels themselves, in [0, 1]: images of one size."""

    name, fingerprint, convention = "pixels", "pixels/1", "pixels in [0, 1]"

    def __call__(self, batch: Sequence[np.ndarray]) -> np.ndarray:
        shapes = {image.shape for image in batch}
        if len(shapes) > 1:
            raise InvalidInput("source", f"has images of shapes {shown(sorted(shapes))}", "Give images of one size")
        return np.stack(batch).reshape(len(batch), -1).astype(np.float32) / np.float32(255)


def extractor_of(
    extractor: Any, *, weights: Any = None, download: bool = False, device: str = "auto", resize: str = "extractor"
) -> Extractor:
    """The extractor of this name, or around this module or function."""
    if extractor == "pixels":
        return Pixels()
    if isinstance(extractor, str) and extractor == DigitsCNN.name:
        return DigitsCNN(weights)
    raise InvalidInput("extractor", f"got {shown(extractor)}", "Use 'pixels' or 'digits-cnn'")
