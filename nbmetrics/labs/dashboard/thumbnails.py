"""Thumbnails of images that rows were made of: PNG as data URLs, of single rows and of some side by side."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...federation import Federation
from ...federation.generator import Generator

# Pixels a side.
MAX_PIXELS_A_SIDE = 48
# Of a strip: pictures, pixels a side of one until it fits, letters of it, and of all strips together.
MAX_TILES, SIDES, MAX_LETTERS_A_STRIP, MAX_LETTERS_OF_ALL = 5, (48, 40, 32, 24, 16, 8), 16_000, 400_000
SEED = 0


class Strips:
    """Some pictures of each generator and of all clients together, drawn at random, and the same places of all.

        {"generators": {name: strip}, "clients": strip},  strip = {"picture": data URL, "count", "of", "side"}

    Parameters
    ----------
    federation : a strip of its clients is there where all of them are images
    """

    def __init__(self, federation: Federation) -> None:
        self._federation = federation
        self._strips: dict[str | None, dict[str, Any] | None] = {}

    def next(self, generators: Iterable[Generator]) -> Callable[[], None] | None:
        """Return the function that makes the next strip; None where all are made."""
        members = {generator.name: generator.for_clients(self._federation.names) for generator in generators}
        shown = {name: own for name, own in members.items() if all(member.is_of_images for member in own)}
        room, weights = min(MAX_LETTERS_A_STRIP, MAX_LETTERS_OF_ALL // (len(shown) + 1)), self._federation.weights
        for name, own in shown.items():
            if name not in self._strips:
                images, shares = [member.source for member in own], weights if len(own) > 1 else (1.0,)
                return partial(self._make_strip, name, images, shares, room)
        if shown and None not in self._strips:
            images = [client.images for client in self._federation]
            parties = (images, weights) if all(own is not None for own in images) else ([], [])
            return partial(self._make_strip, None, *parties, room)
        return None

    def _make_strip(self, name: str | None, images: Sequence[Any], weights: Sequence[float], room: int) -> None:
        self._strips = {**self._strips, name: strip(images, weights, room)}

    def forget(self, name: str) -> None:
        """Drop the strip of a generator: another may come by its name."""
        self._strips = {own: strip for own, strip in self._strips.items() if own != name}

    def to_json(self) -> dict[str, Any]:
        strips = {name: strip for name, strip in self._strips.items() if strip}
        clients = strips.pop(None, None)
        return {"generators": strips, **({"clients": clients} if clients else {})} if strips else {}


def strip(images: Sequence[Any], weights: Sequence[float], room: int) -> dict[str, Any] | None:
    """Return some of the images side by side as one PNG, in at most `room` letters; None where there is none to show.

    `images` : of each party; one is taken by the weight of its party and at a random place there.
    """
    tiles = [tile for tile in map(_image, *_places(images, weights)) if tile is not None] if images else []
    for side in SIDES:
        if tiles and len(url := _data_url(_beside(tiles, side))) <= room:
            high = min(side, max(max(tile.size) for tile in tiles))
            return {"picture": url, "count": len(tiles), "of": sum(map(len, images)), "side": high}
    return None


def _places(images: Sequence[Any], weights: Sequence[float]) -> tuple[list[Any], list[int]]:
    """Return whose image, and which: the same for parties alike; of a party with a few each comes once."""
    ends, drawn = np.cumsum(weights) / np.sum(weights), np.random.default_rng(SEED).random((MAX_TILES, 2))
    whose = [min(int(np.searchsorted(ends, u, side="right")), len(images) - 1) for u in drawn[:, 0]]
    places = dict.fromkeys((i, int(v * len(images[i]))) for i, v in zip(whose, drawn[:, 1], strict=True))
    return [images[i] for i, _ in places], [place for _, place in places]


def _beside(tiles: Sequence[Any], side: int) -> Any:
    """Return tiles from left to right, each at most so many pixels a side, centred, with a pixel between them."""
    from PIL import Image

    small = [tile.copy() for tile in tiles]
    for tile in small:
        tile.thumbnail((side, side))
    high, mode = max(max(tile.size) for tile in small), "LA" if all(tile.mode == "L" for tile in small) else "RGBA"
    sheet = Image.new(mode, ((high + 1) * len(small) - 1, high))
    for k, tile in enumerate(small):
        sheet.paste(tile.convert(mode), (k * (high + 1) + (high - tile.width) // 2, (high - tile.height) // 2))
    return sheet


def with_pictures(carriers: list[dict[str, Any]], images: Any, rows: int) -> list[dict[str, Any]]:
    """Return each {"row": place, …} with the picture of that row, where there is an image for each of so many rows."""
    if images is None or len(images) != rows:
        return carriers
    return [{**carrier, "picture": url} if (url := _url(images, carrier["row"])) else carrier for carrier in carriers]


def _url(images: Any, row: int) -> str:
    """ "" where the file went away, or is no picture any more."""
    small = _image(images, row)
    if small is None:
        return ""
    small.thumbnail((MAX_PIXELS_A_SIDE, MAX_PIXELS_A_SIDE))
    return _data_url(small)


def _image(images: Any, place: int) -> Any:
    """Pillow's, None where the file went away, or is no picture any more."""
    from PIL import Image

    try:
        return Image.fromarray(np.asarray(images[place]))
    except (InvalidInput, OSError, ValueError):
        return None


def _data_url(image: Any) -> str:
    with io.BytesIO() as held:
        image.save(held, "PNG")
        return f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}"
