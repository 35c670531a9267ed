"""Figure of some of the images side by side, a row for each label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageOps

from ..errors import check_count
from ..figures.drawing import Drawing, plain
from ..partition import natural

MAX_COLUMNS, MAX_ROWS = 100, 40
# Pixels of the largest thumbnail; parts of a thumbnail between two; inches of the picture and of the room for names.
MAX_TILE_PIXELS, GAP_PIXELS = 96, 8
WIDTH_INCHES, NAME_INCHES = 9.0, 1.4


def plot_sheet(images: Sequence[np.ndarray], labels: np.ndarray | None, longest: int, across: int) -> Figure:
    """Draw up to `across` images of each label, spread evenly over its images; `longest` is the longest side of any."""
    across = check_count(across, "across", maximum=MAX_COLUMNS)
    rows = _rows(len(images), labels, across)
    side = min(MAX_TILE_PIXELS, longest)
    step = side + max(1, side // GAP_PIXELS)
    page = np.full((step * max(1, len(rows)), step * across, 3), 255, np.uint8)
    for i, places in enumerate(rows.values()):
        for j, place in enumerate(places):
            page[i * step : i * step + side, j * step : j * step + side] = _thumbnail(images[place], side)
    height = 0.3 + (WIDTH_INCHES - NAME_INCHES) * max(1, len(rows)) / across
    figure = Drawing(figsize=(WIDTH_INCHES, height), layout="constrained")
    ax = figure.subplots()
    ax.imshow(page, interpolation="nearest")
    ax.set_yticks([i * step + side / 2 for i in range(len(rows))], [plain(name) for name in rows], fontsize=9)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return figure


def _rows(count: int, labels: np.ndarray | None, across: int) -> dict[str, np.ndarray]:
    """Return the places to show, by the names of their rows."""
    if labels is None:
        return {f"{count:,} images": _spread(np.arange(count), across)}
    classes = sorted(np.unique(labels).tolist(), key=lambda label: natural(str(label)))
    parts = {str(label): np.flatnonzero(labels == label) for label in classes[:MAX_ROWS]}
    rows = {f"{name}  ({len(index):,})": _spread(index, across) for name, index in parts.items()}
    if more := len(classes) - len(parts):
        rows[f"… {more:,} more"] = np.zeros(0, np.intp)
    return rows


def _spread(index: np.ndarray, across: int) -> np.ndarray:
    count = min(across, len(index))
    return index[np.linspace(0, len(index) - 1, count).round().astype(int)] if count else index


def _thumbnail(image: np.ndarray, side: int) -> np.ndarray:
    """Return (side, side, 3), the image as large as fits, on white; small ones keep their pixels."""
    way = Image.Resampling.NEAREST if max(image.shape[:2]) < side else Image.Resampling.LANCZOS
    picture = Image.fromarray(image).convert("RGB")
    return np.asarray(ImageOps.pad(picture, (side, side), method=way, color="white"))
