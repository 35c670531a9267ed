"""Colour images that need no network: the bitmaps of Noto Color Emoji (SIL Open Font License), by what they show.

Debian and Ubuntu have the font as `fonts-noto-color-emoji`; the groups are ranges of Unicode.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, check_count, shown

FONT = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"
# First and last letter of each range.
GROUPS = {
    "animals": [(0x1F400, 0x1F43F), (0x1F980, 0x1F9AE)],
    "buildings": [(0x1F3D8, 0x1F3DB), (0x1F3DF, 0x1F3ED), (0x1F3EF, 0x1F3F0)],
    "faces": [(0x1F600, 0x1F644), (0x1F910, 0x1F917), (0x1F920, 0x1F92F), (0x1F970, 0x1F97A)],
    "food": [(0x1F32D, 0x1F32F), (0x1F345, 0x1F37F), (0x1F950, 0x1F96F)],
    "objects": [(0x1F4B0, 0x1F4C0), (0x1F4D0, 0x1F4DA), (0x1F4DE, 0x1F4FF)],
    "plants": [(0x1F330, 0x1F344)],
    "transport": [(0x1F680, 0x1F6A4), (0x1F6B2, 0x1F6B2), (0x1F6F4, 0x1F6FC)],
}
MAX_SIDE_PIXELS = 512


def emoji(size: int = 32, *, font: Any = FONT) -> tuple[np.ndarray, np.ndarray]:
    """About 500 small colour pictures and the group of each, from a font of colour bitmaps on this machine.

    Parameters
    ----------
    size : pixels of a side, 1 to 512; the bitmaps, 136 × 128, are fitted in by Lanczos, on white
    font : path of NotoColorEmoji.ttf in its bitmap form (CBDT)

    Returns
    -------
    images : (n, size, size, 3) uint8
    groups : (n,) of "animals", "buildings", "faces", "food", "objects", "plants", "transport", in this order

    Raises
    ------
    InvalidInput
        Where there is no such font: it says what to install.
    """
    side = check_count(size, "size")
    if side > MAX_SIDE_PIXELS:
        raise InvalidInput("size", f"is {side}", f"Give at most {MAX_SIDE_PIXELS}")
    bitmaps, names = _bitmaps(font)
    pictures = [
        (group, _fit_in_square(bitmaps[names[letter]].imageData, side))
        for group, ranges in GROUPS.items()
        for first, last in ranges
        for letter in range(first, last + 1)
        if names.get(letter) in bitmaps
    ]
    if not pictures:
        raise InvalidInput("font", f"{shown(str(font))} has none of the letters wanted", f"Give {Path(FONT).name}")
    return np.stack([image for _, image in pictures]), np.array([group for group, _ in pictures])


def _bitmaps(font: Any) -> tuple[Any, dict[int, str]]:
    """The bitmaps by the names of their glyphs, and these names by letter."""
    from fontTools.ttLib import TTFont, TTLibError

    fix = "Install it (Debian, Ubuntu: apt install fonts-noto-color-emoji), or give the path of NotoColorEmoji.ttf"
    try:
        opened = TTFont(os.fspath(font))
        return opened["CBDT"].strikeData[0], opened.getBestCmap()
    except (TTLibError, OSError, TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise InvalidInput("font", f"{shown(font)} cannot be read ({type(error).__name__})", fix) from None


def _fit_in_square(data: bytes, side: int) -> np.ndarray:
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
        picture = image.convert("RGBA")
    scale = side / max(picture.size)
    width, height = (max(1, round(length * scale)) for length in picture.size)
    small = picture.resize((width, height), Image.Resampling.LANCZOS)
    whole = Image.new("RGBA", (side, side), "white")
    whole.alpha_composite(small, ((side - width) // 2, (side - height) // 2))
    return np.asarray(whole.convert("RGB"))
