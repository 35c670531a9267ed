"""Small pictures of single rows, where rows were made of images: PNG as data URLs."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...federation.generator import Generator
from ...late import late

# Pixels a side.
LARGEST = 48


class Pictures:
    """The images behind the rows of clients and generators, opened when one is asked for."""

    def __init__(self, generators: Iterable[Generator]) -> None:
        self._sources: dict[str, Any] = {}
        self._opened: dict[str, Any] = {}
        for generator in generators:
            self.keep(generator)

    def keep(self, generator: Generator) -> None:
        """Remember what a generator's rows are made of."""
        name = generator.name or ""
        self._opened.pop(name, None)
        self._sources[name] = generator.source if generator.is_of_images else None

    def of_generator(self, name: str) -> Any:
        """Its images, or None."""
        if name not in self._opened:
            source = self._sources.get(name)
            self._opened[name] = None if source is None else late("features").images(source)
        return self._opened[name]


def with_pictures(carriers: list[dict[str, Any]], images: Any, rows: int) -> list[dict[str, Any]]:
    """Each {"row": place, …} with the picture of that row, where there is an image for each of so many rows."""
    if images is None or len(images) != rows:
        return carriers
    return [{**carrier, "picture": url} if (url := _url(images, carrier["row"])) else carrier for carrier in carriers]


def _url(images: Any, row: int) -> str:
    """ "" where the file went away, or is no picture any more."""
    from PIL import Image

    try:
        small = Image.fromarray(np.asarray(images[row]))
    except (InvalidInput, OSError, ValueError):
        return ""
    small.thumbnail((LARGEST, LARGEST))
    with io.BytesIO() as held:
        small.save(held, "PNG")
        return f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}"
