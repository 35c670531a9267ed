"""Snapshot: the picture of a lab as PNG and SVG with alt text, made in Python, without a browser."""

from __future__ import annotations

import base64
import io
import re
import warnings
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...files import checked_path, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 110


@dataclass(frozen=True)
class Snapshot:
    """A picture that a notebook shows and `save` writes.

    Attributes
    ----------
    title : str, the lab it is of
    alt : str, the picture in words
    png : bytes
    svg : str, with <title> and <desc>
    """

    title: str
    alt: str
    png: bytes = field(repr=False)
    svg: str = field(repr=False)

    @classmethod
    def of(cls, figure: Figure, title: str, alt: str) -> Snapshot:
        """The snapshot of a figure."""
        return cls(title, alt, _save(figure, "png"), _with_alt_text(_save(figure, "svg").decode(), title, alt))

    def save(self, path: Any) -> Path:
        """Write a .png or .svg file, as the name says; returns its path."""
        target = checked_path(path, ".png", ".svg")
        data = self.png if target.suffix.lower() == ".png" else self.svg.encode()
        return write(target, data)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return picture(self.png, self.alt)


def png_of(figure: Figure) -> bytes:
    """Return the figure as PNG."""
    return _save(figure, "png")


def picture(png: bytes, alt: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a PNG for a notebook: its data, and its metadata with the alt text."""
    data = {"text/plain": alt, "image/png": base64.b64encode(png).decode()}
    return data, {"image/png": {"alt": alt}}


def _save(figure: Figure, kind: str) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the font lacks becomes a box, which says enough
        figure.savefig(stream, format=kind, dpi=DPI)
    return stream.getvalue()


def _with_alt_text(svg: str, title: str, alt: str) -> str:
    words = "".join(f"<{tag}>{escape(text, quote=False)}</{tag}>" for tag, text in (("title", title), ("desc", alt)))
    return re.sub(r"<svg\b([^>]*)>", lambda match: f'<svg role="img"{match[1]}>{words}', svg, count=1)
