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

FEWEST = 2
MOST_NAMED = 3


class Found(NamedTuple):
    """Images, the places of each client's, the classes if known, and each client's lines of the report.

    Files that belong to no client, such as a text beside the sub-folders, are those of "".
    """

    images: Any
    parts: dict[str, np.ndarray]
    classes: np.ndarray | None
    reports: dict[str, Any]


def check_folder(path: Any) -> None:
    """Raise where this is no folder and no zip, before an extractor is made for it."""
    if not isinstance(path, (str, os.PathLike)) or not are_images(path):
        raise InvalidInput("path", f"got {shown(path)}, which is no folder", "Give a folder of folders of images")


def found(path: Any, labels: str) -> Found:
    """Who holds which image below a folder, or in a zip; warns of files that were not read."""
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
    classes = [file[place] for file in read] if labels == "class" else _classes(read)
    return Found(images, parts, None if classes is None else _labels(classes), reports)


def _classes(read: list[tuple[str, ...]]) -> list[str] | None:
    """The folders within the clients', where all images lie in one."""
    return [file[1] for file in read] if all(len(file) > 2 for file in read) else None


def _labels(classes: list[str]) -> np.ndarray:
    titles = _titles(classes)
    return np.array([titles[name] for name in classes])


def _titles(names: Iterable[str]) -> dict[str, str]:
    """What folders are called in one line that can be shown; no two may be called alike."""
    files = import_room("features").files
    titles = {name: files.one_line(name, files.LONGEST_SHOWN) for name in names}
    shared = [title for title, count in Counter(titles.values()).items() if count > 1]
    if shared:
        raise InvalidInput("path", f"has two folders whose names show as {shown(shared[0])}", "Rename one of them")
    return titles


def _folders(path: Any) -> list[str]:
    """The sub-folders, those too in which no file was found, but no links, which may lead back here."""
    if not os.path.isdir(path):  # a zip
        return []
    return [entry.name for entry in Path(path).iterdir() if entry.is_dir() and not entry.is_symlink()]


def _check_loose(path: Any, loose: list[str]) -> None:
    if loose:
        seen = f"{shown(str(path))} has {_some(loose, 'image')} that lie in no sub-folder, and so belong to no client"
        raise InvalidInput("path", seen, "Give a folder with one sub-folder of images for each client")


def _check_few(parts: dict[str, np.ndarray]) -> None:
    check_names(list(parts), "path")
    few = [name for name, index in parts.items() if len(index) < FEWEST]
    if few:
        seen = f"has {_some(few, 'sub-folder')} with fewer than {FEWEST} images that can be read"
        raise InvalidInput("path", seen, f"Move them away, or give each at least {FEWEST}")


def _some(names: list[str], kind: str) -> str:
    """How many, and the first of them."""
    first = ", ".join(shown(name) for name in names[:MOST_NAMED]) + ", …" * (len(names) > MOST_NAMED)
    return f"{len(names)} {kind}{'s' * (len(names) > 1)} ({first})"
