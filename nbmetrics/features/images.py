"""Images from wherever they are, as one lazy sequence: decoded when asked for, listed with what was not read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, shown

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")


class Images(Sequence[np.ndarray]):
    """A lazy sequence of images: `[i]` is (H, W, 3) or, where grey, (H, W), uint8."""

    def __init__(self, items: Sequence[Any], labels: np.ndarray | None = None) -> None:
        self.items, self.labels = items, labels

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        item = self.items[index]
        return item if isinstance(item, np.ndarray) else _decoded(item)

    def select(self, indices: Any) -> Images:
        """Those at these places, in this order, still undecoded."""
        labels = None if self.labels is None else self.labels[indices]
        return Images([self.items[int(i)] for i in indices], labels)

    def digest(self, index: int) -> bytes:
        """What the image at this place is, for the cache: files by their bytes, arrays by shape, type and numbers."""
        item = self.items[index]
        if isinstance(item, np.ndarray):
            return hashlib.sha256(f"{item.shape}{item.dtype}".encode() + item.tobytes()).digest()
        return hashlib.sha256(Path(item).read_bytes()).digest()

    def batches(self, size: int) -> Iterator[list[np.ndarray]]:
        """The images in their order, `size` at a time."""
        for start in range(0, len(self), size):
            yield [self[i] for i in range(start, min(start + size, len(self)))]


def images(source: Any, *, labels: Any = None, strict: bool = False) -> Images:
    """One lazy sequence of images out of a folder, a list of paths, or an array (n, H, W[, 3]) of uint8."""
    if isinstance(source, Images):
        return source
    if isinstance(source, (str, Path)):
        return Images(sorted(p for p in Path(source).rglob("*") if p.suffix.lower() in SUFFIXES))
    if isinstance(source, np.ndarray) and source.ndim in (3, 4):
        return Images(list(source))
    raise InvalidInput("source", f"got {shown(source)}", "Give a folder, or an array of images (n, H, W, 3)")


def _decoded(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("L" if image.mode == "L" else "RGB"))
