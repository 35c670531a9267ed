"""One image, from the bytes of a file or from Pillow, to uint8: (H, W, 3), or (H, W) where it is grey. The rules:

=============================  ==================================================================================
16-bit grey                    its high byte (Pillow would clip to white)
16-bit colour                  its high byte, as Pillow opens it
32-bit integers, floats        refused: what is black and what is white is not known
transparency                   laid on white, whether by channel, palette or one transparent colour
black and white                0 and 255
palette                        colour, even where all its colours are grey
CMYK                           converted by Pillow's formula; colour profiles are not applied, here or elsewhere
EXIF orientation               turned as it says; unreadable EXIF is ignored, and said
animation, several pages       refused; of a JPEG with further pictures (MPO) the first
truncated or broken            refused, whatever PIL.ImageFile.LOAD_TRUNCATED_IMAGES says
formats                        PNG, JPEG, GIF, BMP, WebP, TIFF, known by content; nothing that starts another program
sizes                          up to 50 million pixels and 256 MB a file, of any proportions
=============================  ==================================================================================

What is refused is `Unread`, with the reason; what a rule changed is remarked. torch-fidelity and pytorch-fid open files
with convert("RGB") alone: theirs are the same pixels wherever nothing is remarked or refused, grey ones three times.
"""

from __future__ import annotations

import io
import logging
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import printable

SUFFIXES = (".png", ".jpg", ".jpeg", ".jfif", ".gif", ".bmp", ".webp", ".tif", ".tiff")
MAX_PIXELS = 50_000_000
MAX_FILE_BYTES = 256 * 2**20

# A part of what names a file's image in a cache: another number where a rule becomes another.
RULES = b"1"

_MAX_REASON_LETTERS = 200
PILLOW = r"PIL\."


class Unread(Exception):
    """Why a file, or an item of a data set, is no image here."""


def decode_image(data: bytes) -> tuple[np.ndarray, str]:
    """Return the image in these bytes, and what a rule changed; raises `Unread`."""
    if not data:
        raise Unread("an empty file")
    from PIL import Image

    with _pillow_errors(), _whole_files_only(), Image.open(io.BytesIO(data), formats=_formats()) as image:
        return _decode(image)


def decode_pillow(image: Any) -> tuple[np.ndarray, str]:
    """Return the same of one of Pillow's images, which may still be in its file."""
    with _pillow_errors(), _whole_files_only():
        return _decode(image)


def _decode(image: Any) -> tuple[np.ndarray, str]:
    if not 0 < image.width * image.height <= MAX_PIXELS:
        raise Unread(f"{image.width:,} × {image.height:,} pixels; from 1 to {MAX_PIXELS:,} are read")
    several = getattr(image, "is_animated", False)
    if several and image.format != "MPO":
        raise Unread("more than one frame or page")
    image.load()
    turned, remark = _turn_upright(image)
    pixels, changed = _uint8(turned, image.format)
    return pixels, "; ".join(filter(None, ["the first of several pictures" * several, remark, changed]))


def on_white(pixels: np.ndarray) -> np.ndarray:
    """Return (…, channels) of uint8 pixels with a last channel of opacity, on white, rounded to the nearest."""
    opacity = pixels[..., -1:].astype(np.uint16)
    colour = pixels[..., :-1].astype(np.uint16)
    # colour·opacity + 255·(255 − opacity) is at most 65,025, and the 127 that rounds it still fits
    return ((colour * opacity + 255 * (255 - opacity) + 127) // 255).astype(np.uint8)


def reason_of(error: BaseException) -> str:
    """Return one line on what an error says."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return one_line(said or type(error).__name__, _MAX_REASON_LETTERS)


def one_line(text: str, limit: int) -> str:
    """Return a text without ends of lines, or anything else that cannot be shown."""
    for letter, written in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(letter, written)
    return printable(text, limit)


def _turn_upright(image: Any) -> tuple[Any, str]:
    from PIL import ImageOps

    try:
        if image.getexif().get(0x0112) not in range(2, 9):
            return image, ""
        return ImageOps.exif_transpose(image), "turned as its EXIF says"
    except Exception:  # the picture is whole, only what is said about it is not
        return image, "its EXIF cannot be read"


def _uint8(image: Any, format: str | None) -> tuple[np.ndarray, str]:
    mode = image.mode
    if mode.startswith("I;16") or (mode == "I" and format == "PNG"):  # older versions of Pillow open a PNG as I
        values = np.asarray(image).astype(np.uint32)
        pixels = (values >> 8).astype(np.uint8)
        pixels[values == image.info.get("transparency", -1)] = 255
        return pixels, "16-bit grey: its high byte"
    if mode[0] in "IF":
        raise Unread(f"{'floating-point' if mode[0] == 'F' else '32-bit'} pixels, with unknown black and white levels")
    is_grey = mode in ("1", "L", "LA", "La")
    if _has_transparency(image):
        pixels = np.asarray(image.convert("RGBA"))  # Pillow goes there from every mode, and not to LA
        remark = "transparency on white" if (pixels[..., 3] < 255).any() else ""
        return (np.ascontiguousarray(on_white(pixels[..., 2:])[..., 0]) if is_grey else on_white(pixels)), remark
    remark = "CMYK, its colour profile not applied" if mode == "CMYK" else ""
    return np.array(image.convert("L" if is_grey else "RGB")), remark


def _has_transparency(image: Any) -> bool:
    """Return whether there is a channel of opacity, a palette with one, or a transparent colour."""
    has_channel = image.mode in ("LA", "La", "PA", "RGBA", "RGBa")
    return has_channel or "transparency" in image.info or (image.mode == "P" and image.palette.mode.endswith("A"))


@lru_cache(maxsize=1)
def _formats() -> tuple[str, ...]:
    """Return the image formats of ours that this Pillow was built with."""
    from PIL import Image

    Image.init()
    return tuple(name for name in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF") if name in Image.OPEN)


@contextmanager
def _pillow_errors() -> Iterator[None]:
    """Turn whatever Pillow raises into `Unread`: its parsers, given broken data, may raise anything."""
    from PIL import UnidentifiedImageError

    try:
        yield
    except Unread:
        raise
    except UnidentifiedImageError:
        raise Unread("no image of a known format, by its content") from None
    except Exception as error:
        raise Unread(reason_of(error)) from None


class _Permission:
    """Who is decoding now, and what Pillow's process-wide permission to show half a file was before.

    Meanwhile Pillow's own warnings, of metadata that nothing here reads, are not shown, nor what it logs of a TIFF.
    """

    lock, users, before = threading.Lock(), 0, False
    log, is_log_off = logging.getLogger("PIL.TiffImagePlugin"), False


@contextmanager
def _whole_files_only() -> Iterator[None]:
    """Pillow without its permission to fill the rest of a truncated file with grey, which others may have given."""
    from PIL import ImageFile

    with _Permission.lock:
        if _Permission.users == 0:
            _Permission.before = ImageFile.LOAD_TRUNCATED_IMAGES
            ImageFile.LOAD_TRUNCATED_IMAGES = False
            warnings.filterwarnings("ignore", module=PILLOW)
            _Permission.is_log_off, _Permission.log.disabled = _Permission.log.disabled, True
        _Permission.users += 1
    try:
        yield
    finally:
        with _Permission.lock:
            _Permission.users -= 1
            if _Permission.users == 0:
                ImageFile.LOAD_TRUNCATED_IMAGES = _Permission.before
                _Permission.log.disabled = _Permission.is_log_off
                with suppress(ValueError):  # others may have put their filters back
                    warnings.filters.remove(("ignore", None, Warning, re.compile(PILLOW), 0))  # type: ignore[attr-defined]
