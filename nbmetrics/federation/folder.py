"""Clients out of a folder of images: one for each sub-folder, or for each class.

Everything is checked before the first image is put through an extractor, which may take hours.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, check_names, shown
from ..late import late
from ..partition import natural
from .client import Client
from .pictures import report_of, warn_unread

FEWEST = 2
MOST_NAMED = 3


def by_folder(path: Any, extraction: Callable[[], Any]) -> list[Client]:
    """One client for each sub-folder, with all images below it."""
    return _clients({folder.name: folder for folder in _folders(path)}, extraction())


def by_class(path: Any, extraction: Callable[[], Any]) -> list[Client]:
    """One client for each class, which is the folder that an image lies in."""
    files: dict[str, list[Path]] = {}
    for folder in _folders(path):
        for place, inner, names in os.walk(folder):
            inner[:] = sorted((name for name in inner if not name.startswith(".")), key=natural)
            if names:
                found = sorted((name for name in names if not name.startswith(".")), key=natural)
                files.setdefault(Path(place).name, []).extend(Path(place) / name for name in found)
    clients = _clients({name: files[name] for name in sorted(files, key=natural)}, extraction())
    return [client._with(labels=[client.name] * client.size) for client in clients]


def _folders(path: Any) -> list[Path]:
    """The sub-folders, in natural order; refuses images that lie beside them."""
    if not isinstance(path, (str, os.PathLike)) or not os.path.isdir(path):
        raise InvalidInput("path", f"got {shown(path)}, which is no folder", "Give a folder of folders of images")
    entries = [entry for entry in Path(path).iterdir() if not entry.name.startswith(".")]
    folders = sorted((entry for entry in entries if entry.is_dir()), key=lambda entry: natural(entry.name))
    loose = [entry.name for entry in entries if _is_image(entry)]
    if not folders:
        held = f"holds {len(loose)} images" if loose else "holds no images"
        fix = "Give a folder with one sub-folder of images for each client"
        raise InvalidInput("path", f"{shown(str(path))} {held} and no sub-folder", fix)
    if loose:
        seen = f"{shown(str(path))} has {_some(loose, 'image')} beside its sub-folders, which belong to no client"
        raise InvalidInput("path", seen, "Move them into a client's folder, or away")
    check_names([folder.name for folder in folders], "path")
    return folders


def _is_image(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")


def _clients(sources: dict[str, Any], extraction: Any) -> list[Client]:
    images = {name: late("features").images(source) for name, source in sources.items()}
    few = [name for name, found in images.items() if len(found) < FEWEST]
    if few:
        seen = f"{_some(few, 'sub-folder')} with fewer than {FEWEST} images that can be read"
        raise InvalidInput("path", seen, "Move them away, or give each at least 2: no metric scores fewer")
    warn_unread([report_of(found) for found in images.values()], "path")
    return [Client(found, name=name, extractor=extraction) for name, found in images.items()]


def _some(names: list[str], kind: str) -> str:
    """How many, and the first of them."""
    first = ", ".join(shown(name) for name in names[:MOST_NAMED]) + ", …" * (len(names) > MOST_NAMED)
    return f"{len(names)} {kind}{'s' * (len(names) > 1)} ({first})"
