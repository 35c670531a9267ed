"""The images behind the rows of MemorizationLab, small enough for a page."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import is_array, to_numpy
from ...errors import InvalidInput
from ...experiments.image_transforms import as_images

# Pixels a side that a page is sent: thumbnails are not drawn larger.
MAX_THUMBNAIL_PIXELS = 32
SIDES = ("train", "generated")


@dataclass(frozen=True, eq=False)
class Items:
    """Images of the train and the generated rows, uint8 (n, h, w, channels) with 1 or 3 channels.

    `full` has them as they were given, train first, before they were made small.
    """

    train: np.ndarray
    generated: np.ndarray
    full: tuple[np.ndarray, np.ndarray] | None = None
    _differences: dict[str, list[float]] = field(default_factory=dict, repr=False)

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
        train_images, made_images = parts["train"], parts["generated"]
        return cls(_small(train_images), _small(made_images), (train_images, made_images))

    @classmethod
    def of_rows(cls, train: np.ndarray, generated: np.ndarray, shape: tuple[int, ...]) -> Items:
        """Of rows of pixels, 0 to 1 where they can be seen."""
        seen = [_small(np.clip(rows, 0, 1).reshape(-1, *shape)) for rows in (train, generated)]
        return cls(seen[0], seen[1])

    def apart(self, nearest: list[int]) -> list[float]:
        """The largest difference of a pixel between each generated image and the train image that is nearest, of 255.

        Of the user's images as they were given; their rows, and so `nearest`, never change.
        """
        if "apart" not in self._differences and self.full is not None:
            pairs = ((generated, self.full[0][k]) for generated, k in zip(self.full[1], nearest, strict=True))
            self._differences["apart"] = [float(np.abs(_of_255(a) - _of_255(b)).max()) for a, b in pairs]
        return self._differences["apart"]

    def to_json(self) -> dict[str, Any]:
        """Width, height, channels, and the pixels of each side, image after image, row after row, in base64."""
        _, height, width, channels = self.train.shape
        pixels = {name: base64.b64encode(getattr(self, name).tobytes()).decode() for name in SIDES}
        return {"width": width, "height": height, "channels": channels, **pixels}


def _images(value: Any, argument: str) -> np.ndarray:
    """(n, h, w) or (n, h, w, 3), uint8 or float64 in [0, 1]; channels may come first, and an alpha is left out."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = _stack(value, argument)
    images = to_numpy(value.detach() if hasattr(value, "detach") else value) if is_array(value) else np.asarray(value)
    if images.dtype.kind in "USO":
        fix = "Give images as one array of numbers; for text, lab.most_memorized() gives the row numbers"
        raise InvalidInput(argument, "contains no images: strings or objects", fix)
    if images.ndim == 4 and images.shape[3] not in (1, 3, 4) and images.shape[1] in (1, 3, 4):
        images = np.moveaxis(images, 1, 3)
    if images.ndim == 4 and images.shape[3] in (1, 4):
        images = images[..., 0] if images.shape[3] == 1 else images[..., :3]
    if images.dtype == np.uint8:
        as_images(images[:1] / 255.0, argument)
        return images
    return as_images(images, argument)


def _stack(images: Sequence[Any], argument: str) -> Any:
    """Return the images of a list, which may be Pillow's, as one array."""
    if any(hasattr(image, "convert") for image in images):
        mode = "L" if all(getattr(image, "mode", "") == "L" for image in images) else "RGB"
        images = [image.convert(mode) if hasattr(image, "convert") else image for image in images]
    try:
        arrays = [to_numpy(image.detach()) if hasattr(image, "detach") else np.asarray(image) for image in images]
    except ValueError:
        raise InvalidInput(argument, "has an image whose rows differ in length", "Give images of one shape") from None
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        seen = f"has images of {len(shapes)} shapes, such as {' and '.join(map(str, sorted(shapes)[:2]))}"
        raise InvalidInput(argument, seen, "Resize them to one shape")
    return np.array(arrays)


def _of_255(images: np.ndarray) -> np.ndarray:
    return images.astype(np.float64) * (1 if images.dtype == np.uint8 else 255)


def _small(images: np.ndarray) -> np.ndarray:
    """Return uint8 images with a channel axis, large ones reduced to every k-th pixel of a local average."""
    scale = 1 if images.dtype == np.uint8 else 255
    images = images if images.ndim == 4 else images[..., None]
    k = math.ceil(max(images.shape[1:3]) / MAX_THUMBNAIL_PIXELS)
    if k > 1:
        n, height, width, channels = images.shape
        images = np.pad(images, ((0, 0), (0, -height % k), (0, -width % k), (0, 0)), mode="edge")
        images = images.reshape(n, images.shape[1] // k, k, images.shape[2] // k, k, channels).mean(axis=(2, 4))
    return np.round(scale * images).astype(np.uint8)
