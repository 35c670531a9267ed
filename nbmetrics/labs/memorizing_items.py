"""The images behind the rows of MemorizationLab, small enough for a page."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInput, shown
from ..experiments.image_transforms import as_images

# Pixels a side that a page is sent: thumbnails are not drawn larger.
LARGEST = 32
SIDES = ("train", "generated")


@dataclass(frozen=True, eq=False)
class Items:
    """Images of the train and the generated rows, uint8 (n, h, w, channels) with 1 or 3 channels."""

    train: np.ndarray
    generated: np.ndarray

    @classmethod
    def of(cls, items: Any, train: int, generated: int) -> Items:
        """The user's: a dict of both sides, or one array, the generated first; raises InvalidInput naming items."""
        if isinstance(items, Mapping):
            if set(items) != set(SIDES):
                raise InvalidInput("items", f"has {sorted(map(str, items))}", "Give images for train and generated")
            parts = {name: _images(items[name], f"items[{name!r}]") for name in SIDES}
        else:
            both = _images(items, "items")
            parts = {"train": both[generated:], "generated": both[:generated]}
        for name, count in (("train", train), ("generated", generated)):
            if len(parts[name]) != count:
                seen = f"has {len(parts[name])} images for {count} {name} rows"
                fix = "Give one for each row: a dict of train and generated, or all generated and then all train"
                raise InvalidInput("items", seen, fix)
        if parts["train"].shape[1:] != parts["generated"].shape[1:]:
            seen = f"train has images of shape {parts['train'].shape[1:]}, generated {parts['generated'].shape[1:]}"
            raise InvalidInput("items", seen, "Use one shape")
        return cls(*(_small(parts[name]) for name in SIDES))

    @classmethod
    def of_rows(cls, train: np.ndarray, generated: np.ndarray, shape: tuple[int, ...]) -> Items:
        """Of rows of pixels, 0 to 1 where they can be seen."""
        return cls(*(_small(np.clip(rows, 0, 1).reshape(-1, *shape)) for rows in (train, generated)))

    def to_json(self) -> dict[str, Any]:
        """Width, height, channels, and the pixels of each side, image after image, row after row, in base64."""
        _, height, width, channels = self.train.shape
        pixels = {name: base64.b64encode(getattr(self, name).tobytes()).decode() for name in SIDES}
        return {"width": width, "height": height, "channels": channels, **pixels}


def _images(value: Any, argument: str) -> np.ndarray:
    if getattr(value, "dtype", None) == np.uint8:
        value = np.asarray(value) / 255.0
    if isinstance(value, str):
        raise InvalidInput(argument, f"got {shown(value)}", "Give images as one array of numbers")
    return as_images(value, argument)


def _small(images: np.ndarray) -> np.ndarray:
    """uint8 with a channel axis; of large images every k-th pixel each way averaged with its neighbours."""
    images = images if images.ndim == 4 else images[..., None]
    k = math.ceil(max(images.shape[1:3]) / LARGEST)
    if k > 1:
        n, height, width, channels = images.shape
        images = np.pad(images, ((0, 0), (0, -height % k), (0, -width % k), (0, 0)), mode="edge")
        images = images.reshape(n, images.shape[1] // k, k, images.shape[2] // k, k, channels).mean(axis=(2, 4))
    return np.round(255 * images).astype(np.uint8)
