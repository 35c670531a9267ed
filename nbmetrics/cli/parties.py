"""CLIENTS and GENERATED: paths as clients and generators of rows, and what could not be read on the way.

A folder's sub-folders are clients, or its .npy files; a path is generated images, or a .npy file of features.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, printable, shown
from ..features import Extraction, images
from ..federation import Client, Federation, Generator

FEATURES = ".npy"
FIRST = 3
LONGEST_REASON = 200


@dataclass(frozen=True)
class Party:
    """A client or generator before it is read: its name, where it lies, and whether these are features."""

    option: str
    name: str
    path: Path

    @property
    def is_rows(self) -> bool:
        return self.path.suffix.lower() == FEATURES


@dataclass
class Reader:
    """Parties to rows; images through the extractor, which is only made where there are images."""

    make: Callable[[], Extraction]
    unread: list[dict[str, str]] = field(default_factory=list)
    has_images: bool = False

    @cached_property
    def extraction(self) -> Extraction:
        return self.make()

    def federation(self, parties: Sequence[Party]) -> Federation:
        """The clients with their rows, weighted by their numbers."""
        return Federation([Client(self.rows(party), name=party.name) for party in parties])

    def generators(self, parties: Sequence[Party]) -> list[Generator]:
        """The generators with theirs."""
        return [Generator(self.rows(party), name=party.name) for party in parties]

    def rows(self, party: Party) -> np.ndarray:
        """(n, d) of one party."""
        try:
            return np.asarray(_loaded(party.path)) if party.is_rows else self._extracted(party)
        except InvalidInput as error:
            raise error.of(f"{party.option} {shown(str(party.path))}") from None

    def _extracted(self, party: Party) -> np.ndarray:
        self.has_images = True
        extraction, found = self.extraction, images(party.path)
        self.tell(party.name, found)
        return extraction.rows(found)

    def tell(self, name: str, found: Any) -> None:
        """Say which files were not read, and remember them."""
        report = getattr(found, "report", None)
        if report is None:
            return
        lost = report.loc[~report["read"].astype(bool)]
        if lost.empty:
            return
        rows = [{"of": name, "file": str(row["file"]), "reason": str(row["reason"])} for _, row in lost.iterrows()]
        self.unread += rows
        print(f"{name}: {len(rows)} of {len(report)} files not read", file=sys.stderr)
        for row in rows[:FIRST]:
            print(printable(f"  {row['file']}: {row['reason']}", LONGEST_REASON), file=sys.stderr)
        if len(rows) > FIRST:
            print(f"  … and {len(rows) - FIRST} more", file=sys.stderr)


def clients_in(path: str) -> tuple[list[Party], list[str]]:
    """The clients of CLIENTS, and what is to be said of how they were found."""
    root = existing("CLIENTS", path)
    if not root.is_dir():
        return [Party("CLIENTS", root.stem, root)], [f"{root.name} is one client, so avg and all are the same."]
    try:
        entries = sorted((e for e in root.iterdir() if not e.name.startswith(".")), key=lambda e: _natural(e.name))
    except OSError as error:
        raise InvalidInput(
            "CLIENTS", f"{shown(path)} cannot be read: {error.strerror}", "Name another folder"
        ) from None
    folders = [entry for entry in entries if entry.is_dir()]
    rows = [entry for entry in entries if entry.is_file() and entry.suffix.lower() == FEATURES]
    if folders and rows:
        seen = f"{shown(str(root))} has {len(folders)} sub-folders and {len(rows)} .npy files"
        raise InvalidInput("CLIENTS", seen, "Give a folder of sub-folders of images, or of .npy files of features")
    if folders or rows:
        return [Party("CLIENTS", e.name if e.is_dir() else e.stem, e) for e in folders or rows], []
    name = root.resolve().name or str(root)
    return [Party("CLIENTS", name, root)], [
        f"{name} has no sub-folders: it is one client, so avg and all are the same."
    ]


def generated_at(paths: Sequence[str]) -> list[Party]:
    """A generator for each path of GENERATED, with as much of the path for a name as tells them apart."""
    found = [existing("GENERATED", path) for path in paths]
    parts = [[*path.resolve().parts[:-1], _title(path)] for path in found]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return [Party("GENERATED", name, path) for name, path in zip(names, found, strict=True)]
    twice = next(path for path, name in zip(paths, names, strict=True) if names.count(name) > 1)
    raise InvalidInput("GENERATED", f"{shown(twice)} is given twice", "Give each path once")


def _title(path: Path) -> str:
    path = path.resolve()
    return path.name if path.is_dir() else path.stem


def existing(option: str, path: str) -> Path:
    """The path, if something lies there."""
    try:
        found = Path(path).expanduser()
        is_there = found.exists()
    except (OSError, ValueError, RuntimeError):
        is_there = False
    if not is_there:
        raise InvalidInput(option, f"there is no {shown(path)}", "Give a folder, or a .npy file")
    return found


def _loaded(path: Path) -> np.ndarray:
    try:
        rows: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # garbage makes NumPy's reading of the header fail in many ways
        raise InvalidInput("file", f"cannot be read: {error}", "Give a .npy file of numbers, (n, d)") from None
    if rows.ndim != 2:
        raise InvalidInput("file", f"has the shape {rows.shape}", "Give features, (n, d), or a folder of images")
    return rows


def _natural(name: str) -> list[Any]:
    """Numbers in a name by their size: a2 before a10."""
    return [int(part) if part.isdecimal() else part.lower() for part in re.split(r"([0-9]+)", name)]
