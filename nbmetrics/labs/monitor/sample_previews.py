"""Previews of what the generator made: which rows of a step are kept, and those of some steps as a page gets them.

Kept are points, or small grey pictures where the rows are made of images. A page gets the previews of the first, last
and best steps, those of alarms, and others evenly spread:

{"side": of pictures, 0 of points, "low", "high", "steps": [0, 100, …],
 "rows": [base64 of float32 (n, 2), or of bytes (n, side²), …]}
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...arrays import to_numpy
from ...federation import Federation, Generator
from ...federation.image_sources import images_of
from .history import RunHistory
from .page_encoding import encode_numbers

# Rows that are kept as points, of so many features at most.
MAX_POINTS, MAX_POINT_DIM = 256, 3
# Pictures that are kept, and pixels a side.
MAX_PICTURES, MIN_PICTURE_SIDE, MAX_PICTURE_SIDE = 12, 4, 32
# Steps whose previews a page gets.
MAX_PREVIEW_STEPS = 40
# What a preview shows from its lowest to its highest value: these quantiles of all.
_RANGE_QUANTILES = 0.005, 0.995


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


def encode_previews(history: RunHistory, wanted: Iterable[int] = ()) -> dict[str, Any]:
    """Encode the previews of at most `MAX_PREVIEW_STEPS` steps, `wanted` before others; {} where there are none."""
    points = [point for point in history.points if "rows" in point.frames]
    if not points:
        return {}
    places = {point.step: place for place, point in enumerate(points)}
    named = [places[step] for step in wanted if step in places][: MAX_PREVIEW_STEPS // 2]
    even = np.linspace(0, len(points) - 1, max(2, MAX_PREVIEW_STEPS - len(set(named)))).astype(int).tolist()
    chosen = sorted({*named, *even})
    loaded = [(points[place].step, history.array(points[place].frames["rows"])) for place in chosen]
    previews = [
        (step, rows) for step, rows in loaded if rows is not None and rows.ndim == 2 and np.isfinite(rows).any()
    ]
    width = previews[0][1].shape[1] if previews else 0
    previews = [(step, rows) for step, rows in previews if rows.shape[1] == width]
    if not previews:
        return {}
    side = 0 if width <= 3 else math.isqrt(width)
    if not side:  # one feature lies on a line, of three the first two are shown
        previews = [(step, np.column_stack([rows, np.zeros(len(rows))])[:, :2]) for step, rows in previews]
    low, high = _value_range(np.concatenate([rows.ravel() for _, rows in previews]))
    steps = [step for step, _ in previews]
    texts = [encode_numbers(rows, "<f4") if not side else _encode_greys(rows, low, high) for _, rows in previews]
    return {"side": side, "low": low, "high": high, "steps": steps, "rows": texts}


def _value_range(values: np.ndarray) -> tuple[float, float]:
    """Return the range that almost all values lie in."""
    low, high = np.quantile(values[np.isfinite(values)], _RANGE_QUANTILES)
    return float(low), float(high) if high > low else float(low) + 1.0


def _encode_greys(rows: np.ndarray, low: float, high: float) -> str:
    scaled = np.nan_to_num((rows - low) / (high - low))
    return encode_numbers(np.rint(255 * np.clip(scaled, 0.0, 1.0)), "u1")
