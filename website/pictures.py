"""Pictures as small files: a drawing needs few colours."""

import io
from pathlib import Path

from PIL import Image

COLOURS = 192


def save_png(path: Path, png: bytes) -> tuple[int, int]:
    """Write a PNG with few colours; returns its width and height, so that a page keeps room for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(io.BytesIO(png)) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    return small.size
