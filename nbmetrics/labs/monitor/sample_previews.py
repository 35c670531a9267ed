"""Previews of what the generator made: which rows of a step are kept: points, or small grey pictures where the rows are
made of images.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import count_each, to_numpy
from ...federation import Federation, Generator
from ...federation.image_sources import images_of

# Rows that are kept as points, of so many features at most.
MAX_POINTS, MAX_POINT_DIM = 256, 3
# Pictures that are kept, and pixels a side.
MAX_PICTURES, MIN_PICTURE_SIDE, MAX_PICTURE_SIDE = 12, 4, 32


class SamplePreviews:
    """Takes previews of the rows of every step, all in the one way that the clients allow.

    Features are never drawn as a picture: only images are, and rows that have as many columns as a square picture has
    pixels, where those of all clients lie in [0, 1] and reach both ends.
    """

    def __init__(self, federation: Federation) -> None:
        self._federation = federation
        self._are_pixels: bool | None = None

    def take(self, generator: Generator, rows: Any) -> dict[str, np.ndarray]:
        """Return {"rows": (n, d) float32}, the first rows, or grey values; {} where nothing can be shown."""
        if generator.is_of_images:
            pictures = _grey_pictures(images_of(generator.source, "source", self._federation.extraction))
            return {} if pictures is None else {"rows": pictures}
        if rows is None or not (rows.shape[1] <= MAX_POINT_DIM or self._has_pixel_rows()):
            return {}
        count = MAX_POINTS if rows.shape[1] <= MAX_POINT_DIM else MAX_PICTURES
        with np.errstate(over="ignore"):
            return {"rows": to_numpy(rows[:count, :]).astype(np.float32)}

    def take_by_client(
        self, sources: Sequence[Any], rows: Sequence[Any], weights: Sequence[float]
    ) -> dict[str, np.ndarray]:
        """Return the same of what was made for each client, in proportion to the weights."""
        each = [self.take(Generator(source), own) for source, own in zip(sources, rows, strict=True)]
        if not all(each) or len({part["rows"].shape[1] for part in each}) > 1:
            return {}
        count = MAX_POINTS if each[0]["rows"].shape[1] <= MAX_POINT_DIM else MAX_PICTURES
        middles = (np.arange(count) + 0.5) / count
        places = np.searchsorted(np.cumsum(weights), middles).clip(max=len(weights) - 1)
        counts = count_each(places, len(weights))
        return {"rows": np.concatenate([part["rows"][:n] for part, n in zip(each, counts, strict=True)])}

    def _has_pixel_rows(self) -> bool:
        if self._are_pixels is None:
            side = math.isqrt(self._federation.dim)
            is_square = side * side == self._federation.dim and MIN_PICTURE_SIDE <= side <= MAX_PICTURE_SIDE
            has_rows = self._federation.extraction is None and all(c.rows is not None for c in self._federation)
            rows: list[Any] = [client.rows for client in self._federation] if is_square and has_rows else []
            ends = [(float(own.min()), float(own.max())) for own in rows]
            self._are_pixels = bool(ends) and min(ends)[0] == 0.0 and max(high for _, high in ends) == 1.0
        return self._are_pixels


def _grey_pictures(images: Any) -> np.ndarray | None:
    """Return (n, side²) grey values of the first images, fitted into squares; None where one cannot be read."""
    from PIL import Image, ImageOps

    try:
        pictures = [Image.fromarray(np.asarray(images[k])).convert("L") for k in range(min(MAX_PICTURES, len(images)))]
    except (OSError, ValueError):
        return None
    side = min(MAX_PICTURE_SIDE, max(max(picture.size) for picture in pictures))
    squares = [ImageOps.pad(picture, (side, side)) for picture in pictures]
    return np.stack([np.asarray(square, dtype=np.float32).ravel() for square in squares])
