"""Batches of images of any shapes: checked, in three channels, resized, and taken through a function shape by shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays import as_rows, to_numpy
from ..errors import InvalidInput, shown

CLEAN_CONVENTION = "by antialiased bicubic interpolation per channel, as clean-fid does"


def check_image(image: Any) -> np.ndarray:
    """Return `image`, if it is what extractors take: uint8, (H, W, 3) or (H, W), at least one pixel."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        seen = f"has an image of type {image.dtype}" if isinstance(image, np.ndarray) else f"contains {shown(image)}"
        raise InvalidInput("source", seen, "Give images as nm.images(source) has them: uint8 arrays")
    if image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)) or not image.size:
        raise InvalidInput("source", f"has an image of shape {image.shape}", "Give images (H, W, 3), or grey (H, W)")
    return image


def as_rgb(image: np.ndarray) -> np.ndarray:
    """Return (H, W, 3): grey becomes three equal channels."""
    return np.repeat(image[:, :, None], 3, axis=2) if image.ndim == 2 else image


def rows_by_shape(batch: Sequence[np.ndarray], rows_of: Callable[[np.ndarray], Any]) -> np.ndarray:
    """Return (b, d) float32 rows of a batch; `rows_of` takes all images of one shape at once, (k, H, W[, 3]).

    Raises InvalidInput where it gives something other than k finite rows, or rows of another width for another shape.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    for place, image in enumerate(batch):
        places.setdefault(check_image(image).shape, []).append(place)
    parts = {shape: _rows(rows_of(np.stack([batch[i] for i in where])), len(where)) for shape, where in places.items()}
    widths = {part.shape[1]: shape for shape, part in parts.items()}
    if len(widths) > 1:
        seen = ", ".join(f"{width} for images {shape}" for width, shape in widths.items())
        raise InvalidInput("extractor", f"gave rows of several widths: {seen}", "Resize the images to one shape first")
    rows = np.empty((len(batch), next(iter(widths), 0)), np.float32)
    for shape, where in places.items():
        rows[where] = parts[shape]
    return rows


def _rows(value: Any, count: int) -> np.ndarray:
    try:
        rows = to_numpy(as_rows(value, "extractor"))
    except InvalidInput as error:
        fix = "Let it return finite real numbers, a row of one width for each image"
        raise InvalidInput("extractor", f"what it gave for {count} images: {error.seen}", fix) from None
    if len(rows) != count:
        raise InvalidInput("extractor", f"gave {len(rows)} rows for {count} images", "Return one row for each image")
    return as_float32(rows)


def as_float32(rows: np.ndarray) -> np.ndarray:
    """Return rows of an extractor as float32, an array of their own; InvalidInput where any is then not finite."""
    with np.errstate(over="ignore"):
        own = rows.astype(np.float32)
    if not np.isfinite(own).all():
        raise InvalidInput("extractor", "gave numbers that are NaN, infinite or beyond float32", "Return finite ones")
    return own


def clean_resize(image: np.ndarray, size: int) -> np.ndarray:
    """Return (size, size[, 3]) float32 in [0, 255], not rounded, of a uint8 image (H, W, 3) or (H, W).

    Pillow's bicubic filter on floating-point numbers, channel by channel: antialiased where the image shrinks, without
    the rounding of 8-bit images, and so bit for bit what clean-fid 0.1.35 computes in its mode "clean" (Parmar, Zhang
    and Zhu, On Aliased Resizing and Surprising Subtleties in GAN Evaluation, CVPR 2022).
    """
    from PIL import Image

    def resized(channel: np.ndarray) -> np.ndarray:
        plane = Image.fromarray(np.ascontiguousarray(channel, dtype=np.float32))
        return np.asarray(plane.resize((size, size), Image.Resampling.BICUBIC))

    channels = [image] if image.ndim == 2 else [image[:, :, c] for c in range(image.shape[2])]
    planes = [resized(channel).clip(0, 255) for channel in channels]
    return planes[0] if image.ndim == 2 else np.stack(planes, axis=2)


def round_levels(image: np.ndarray) -> np.ndarray:
    """Return the nearest of the 256 levels, uint8: for networks that take nothing else."""
    return np.rint(image).astype(np.uint8)
