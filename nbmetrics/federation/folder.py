"""Clients out of a folder of images, by the folders that they lie in: everything is checked before features are made.

hospital/healthy/3.png: by client, `hospital` holds it, and its class is `healthy`; by class, `healthy` holds it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, check_names, shown
from ..lazy_imports import import_room
from ..partition import natural
from .image_sources import are_images, warn_unread

MIN_IMAGES_PER_CLIENT = 2
MAX_NAMES_SHOWN = 3


class FolderImages(NamedTuple):
    """Images, the places of each client's, the classes if known, and each client's lines of the report.

    Files that belong to no client, such as a text beside the sub-folders, are those of "".
    """

    images: Any
    parts: dict[str, np.ndarray]
    classes: np.ndarray | None
    reports: dict[str, Any]


def check_folder(path: Any) -> None:
    """Raise InvalidInput where this is no folder and no zip, before an extractor is made for it."""
    if not isinstance(path, (str, os.PathLike)) or not are_images(path):
        raise InvalidInput("path", f"got {shown(path)}, which is not a folder", "Give a folder of folders of images")


def read_folder(path: Any, labels: str) -> FolderImages:
    """Return who holds which image below a folder, or in a zip; warn of files that were not read."""
    check_folder(path)
    try:
        images = import_room("features").images(path)
    except InvalidInput as error:
        raise error.of("path") from None
    report, files = images.report, images.parts
    read = [file for file, is_read in zip(files, report["read"], strict=True) if is_read]
    _check_loose(path, [file[0] for file in read if len(file) == 1])
    place = 0 if labels == "client" else -2
    owners = [file[place] if len(file) > 1 else "" for file in files]
    holders = np.array([file[place] for file in read], dtype=object)
    names = {file[place] for file in read}
    if labels == "client":  # one without images is missed; among classes, folders of folders have none
        names |= {*owners, *_folders(path)} - {""}
    titles = _titles(name for name in names if not import_room("features").files.is_hidden((name,)))
    parts = {
        titles[name]: np.flatnonzero(holders == name) for name in sorted(titles, key=lambda name: natural(titles[name]))
    }
    _check_few(parts)
    warn_unread(images, str(path))
    reports = dict(iter(report.groupby([titles.get(name, "") for name in owners], sort=False)))
    classes = [file[place] for file in read] if labels == "class" else _class_folders(read)
    return FolderImages(images, parts, None if classes is None else _labels(classes), reports)


def _class_folders(read: list[tuple[str, ...]]) -> list[str] | None:
    """Return the folder within the client's of each image, where all images lie in one; None otherwise."""
    return [file[1] for file in read] if all(len(file) > 2 for file in read) else None


def _labels(classes: list[str]) -> np.ndarray:
    titles = _titles(classes)
    return np.array([titles[name] for name in classes])


def _titles(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each folder as one line that can be shown; InvalidInput where two would be alike."""
    files = import_room("features").files
    titles = {name: files.one_line(name, files.MAX_PATH_LETTERS) for name in names}
    shared = [title for title, count in Counter(titles.values()).items() if count > 1]
    if shared:
        raise InvalidInput("path", f"has two folders with the visible name {shown(shared[0])}", "Rename one of them")
    return titles


def _folders(path: Any) -> list[str]:
    """Return the sub-folders, also those without files, but no links, which may lead back here."""
    if not os.path.isdir(path):  # a zip
        return []
    return [entry.name for entry in Path(path).iterdir() if entry.is_dir() and not entry.is_symlink()]


def _check_loose(path: Any, loose: list[str]) -> None:
    if loose:
        images = _names_text(loose, "image")
        seen = f"{shown(str(path))} has {images} that lie in no sub-folder, and so belong to no client"
        raise InvalidInput("path", seen, "Give a folder with one sub-folder of images for each client")


def _check_few(parts: dict[str, np.ndarray]) -> None:
    check_names(list(parts), "path")
    few = [name for name, index in parts.items() if len(index) < MIN_IMAGES_PER_CLIENT]
    if few:
        seen = f"has {_names_text(few, 'sub-folder')} with fewer than {MIN_IMAGES_PER_CLIENT} images that can be read"
        raise InvalidInput("path", seen, f"Move them away, or give each at least {MIN_IMAGES_PER_CLIENT}")


def _names_text(names: list[str], kind: str) -> str:
    """Return how many there are, and the names of the first."""
    first = ", ".join(shown(name) for name in names[:MAX_NAMES_SHOWN]) + ", …" * (len(names) > MAX_NAMES_SHOWN)
    return f"{len(names)} {kind}{'s' * (len(names) > 1)} ({first})"
