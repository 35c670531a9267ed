"""Small pictures as files, made from pixels that are known, and broken in known ways."""

import io
import struct
import zlib

import numpy as np
from PIL import Image


def pixels(height=9, width=13, channels=3, seed=0):
    shape = (height, width, channels) if channels > 1 else (height, width)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def saved(image, kind="PNG", **options):
    """The bytes of a picture of Pillow's, or of an array, in a format."""
    image = image if isinstance(image, Image.Image) else Image.fromarray(image)
    held = io.BytesIO()
    image.save(held, kind, **options)
    return held.getvalue()


def png(width, height, bits, colour, rows=b"", extra=()):
    """A PNG written by hand from its specification: colour 0 grey, 2 RGB; `rows` are whole lines without filters."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)), *extra]
    step = len(rows) // height if height else 0
    lines = b"".join(b"\0" + rows[k * step : (k + 1) * step] for k in range(height)) if rows else b""
    chunks += [(b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    packed = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def broken(data, rng):
    """The bytes with a few of them changed, or cut short."""
    if rng.random() < 0.4:
        return data[: rng.integers(len(data))]
    changed = bytearray(data)
    for place in rng.integers(len(data), size=rng.integers(1, 6)):
        changed[place] = rng.integers(256)
    return bytes(changed)
