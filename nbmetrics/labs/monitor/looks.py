"""What of a step's rows is kept to be looked at: points, or small grey pictures where the rows are made of images."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import to_numpy
from ...federation import Federation, Generator
from ...federation.image_sources import images_of

# Rows that are kept as points, of so many features at most.
POINTS, POINTS_DIM = 256, 3
# Pictures that are kept, and pixels a side.
PICTURES, LEAST_SIDE, MOST_SIDE = 12, 4, 32


class Looks:
    """Looks at the rows of every step in the one way that the clients allow.

    Features are never drawn as a picture: only images are, and rows that have as many columns as a square picture has
    pixels, where those of all clients lie in [0, 1] and reach both ends.
    """

    def __init__(self, federation: Federation) -> None:
        self._federation = federation
        self._are_pixels: bool | None = None

    def of(self, generator: Generator, rows: Any) -> dict[str, np.ndarray]:
        """{"rows": (n, d) float32} of the first ones, grey values for pictures; {} where nothing can be seen."""
        if generator.is_of_images:
            kept = _pictures(images_of(generator.source, "source", self._federation.extraction))
            return {} if kept is None else {"rows": kept}
        if rows is None or not (rows.shape[1] <= POINTS_DIM or self._is_of_pixels()):
            return {}
        few = POINTS if rows.shape[1] <= POINTS_DIM else PICTURES
        with np.errstate(over="ignore"):
            return {"rows": to_numpy(rows[:few, :]).astype(np.float32)}

    def _is_of_pixels(self) -> bool:
        if self._are_pixels is None:
            side = math.isqrt(self._federation.dim)
            is_square = side * side == self._federation.dim and LEAST_SIDE <= side <= MOST_SIDE
            has_rows = self._federation.extraction is None and all(c.rows is not None for c in self._federation)
            rows: list[Any] = [client.rows for client in self._federation] if is_square and has_rows else []
            ends = [(float(own.min()), float(own.max())) for own in rows]
            self._are_pixels = bool(ends) and min(ends)[0] == 0.0 and max(high for _, high in ends) == 1.0
        return self._are_pixels


def _pictures(images: Any) -> np.ndarray | None:
    """(n, side²) grey values of the first images, fitted into one square; None where one cannot be read."""
    from PIL import Image, ImageOps

    try:
        found = [Image.fromarray(np.asarray(images[k])).convert("L") for k in range(min(PICTURES, len(images)))]
    except (OSError, ValueError):
        return None
    side = min(MOST_SIDE, max(max(picture.size) for picture in found))
    squares = [ImageOps.pad(picture, (side, side)) for picture in found]
    return np.stack([np.asarray(square, dtype=np.float32).ravel() for square in squares])
