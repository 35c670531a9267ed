"""Batches of images of any shapes: checked, brought to three channels, and taken through a function shape by shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays import as_rows, to_numpy
from ..errors import InvalidInput, shown


def check_image(image: Any) -> np.ndarray:
    """`image`, if it is what extractors take: uint8, (H, W, 3) or (H, W), at least one pixel."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        seen = f"has an image of type {image.dtype}" if isinstance(image, np.ndarray) else f"holds {shown(image)}"
        raise InvalidInput("source", seen, "Give images as nm.images(source) has them: uint8 arrays")
    if image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)) or not image.size:
        raise InvalidInput("source", f"has an image of shape {image.shape}", "Give images (H, W, 3), or grey (H, W)")
    return image


def as_rgb(image: np.ndarray) -> np.ndarray:
    """(H, W, 3): grey becomes three equal channels."""
    return np.repeat(image[:, :, None], 3, axis=2) if image.ndim == 2 else image


def by_shape(batch: Sequence[np.ndarray], rows_of: Callable[[np.ndarray], Any]) -> np.ndarray:
    """(b, d) float32 rows in the order of the batch; `rows_of` takes all images of one shape at once, (k, H, W[, 3]).

    Raises InvalidInput where it gives something other than k finite rows, or rows of another width for another shape.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    for place, image in enumerate(batch):
        places.setdefault(check_image(image).shape, []).append(place)
    parts = {shape: _rows(rows_of(np.stack([batch[i] for i in where])), len(where)) for shape, where in places.items()}
    widths = {part.shape[1]: shape for shape, part in parts.items()}
    if len(widths) > 1:
        seen = ", ".join(f"{width} for images {shape}" for width, shape in widths.items())
        raise InvalidInput("extractor", f"gave rows of several widths: {seen}", "Bring the images to one shape first")
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
    return in_float32(rows)


def in_float32(rows: np.ndarray) -> np.ndarray:
    """Rows of an extractor as float32, an array of their own; InvalidInput where any is then not finite."""
    with np.errstate(over="ignore"):
        own = rows.astype(np.float32)
    if not np.isfinite(own).all():
        raise InvalidInput("extractor", "gave numbers that are NaN, infinite or beyond float32", "Return finite ones")
    return own
