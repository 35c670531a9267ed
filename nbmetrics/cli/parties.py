"""CLIENTS and GENERATED: paths made clients and generators of rows, with a list of the files that could not be read.

A folder's sub-folders are clients, or its .npy and .npz files; a path is generated images, a .npy file of features, or
a .npz file of a mean and a covariance, or of images.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, shown
from ..features import Extraction, images
from ..features.files import files_in_zip, refusal_by_name
from ..federation import Client, Federation, Generator
from ..federation.by_client import check_entries, sources_in
from ..federation.image_sources import warn_unread
from ..partition import natural
from ..summaries.reference import SUFFIX as STATISTICS
from ..summaries.reference import read_statistics

FEATURES, ZIP = ".npy", ".zip"
FIX_ROWS = "Give a .npy file of numbers, (n, d)"
FIX_MISSING = "Give a folder, or a .npy file"
ARRAYS = (FEATURES, STATISTICS)


@dataclass(frozen=True)
class Party:
    """A client or generator before it is read: its name, where it lies, and whether these are features.

    Attributes
    ----------
    is_arrays : whether it is one file of arrays
    moments : a mean and a covariance, of a file of these
    is_rows : whether it is no images
    group : the model of which it is a run
    """

    option: str
    name: str
    path: Path
    group: str | None = None

    @property
    def is_arrays(self) -> bool:
        return self.path.suffix.lower() in ARRAYS

    @cached_property
    def moments(self) -> Any:
        if self.path.suffix.lower() != STATISTICS:
            return None
        try:
            return read_statistics(self.path)
        except InvalidInput as error:
            raise InvalidInput(f"{self.option} {shown(str(self.path))}", error.seen, error.fix) from None

    @property
    def is_rows(self) -> bool:
        return self.path.suffix.lower() == FEATURES or self.moments is not None


@dataclass
class PartyReader:
    """Reads parties into what `evaluate` takes; the extractor is only made where there are images."""

    make: Callable[[], Extraction]
    reports: list[tuple[str, Any]] = field(default_factory=list)

    @cached_property
    def extraction(self) -> Extraction:
        return self.make()

    def federation(self, root: Path, parties: Sequence[Party], has_images: bool) -> Federation:
        """Return the clients, weighted by their numbers of rows."""
        extraction = self.extraction if has_images else None
        try:
            if parties[0].path != root and not parties[0].is_arrays:
                federation = Federation.from_folder(root, extractor=extraction)
                self.reports += [(str(name), rows) for name, rows in federation.report.groupby("client")]
                return federation
            clients = [Client(self.data(p), name=p.name, extractor=extraction) for p in parties]
        except InvalidInput as error:
            where = "" if error.argument == "path" else f"{error.argument}: "
            raise InvalidInput("CLIENTS", f"{where}{error.seen}", error.fix) from None
        return Federation(clients)

    def generators(self, parties: Sequence[Party], by_class: bool = False) -> list[Generator]:
        """Return the generators; their images are put through the extractor by `evaluate`."""
        return [self._generator(party, by_class) for party in parties]

    def _generator(self, party: Party, by_class: bool) -> Generator:
        data = {own.name: self.data(own) for own in parties_within(party)} if by_class else self.data(party)
        try:
            return Generator(data, name=party.name, group=party.group)
        except InvalidInput as error:
            raise error.of(f"{party.option} {shown(str(party.path))}") from None

    def data(self, party: Party) -> Any:
        """Return rows, or images with a warning of files that were not read."""
        try:
            if party.moments is not None:
                return party.moments
            if party.is_rows:
                return np.asarray(_load_rows(party.path))
            sources = images(party.path)
        except InvalidInput as error:
            raise error.of(f"{party.option} {shown(str(party.path))}") from None
        warn_unread(sources, party.name)
        self.reports.append((party.name, sources.report))
        return sources

    @property
    def unread(self) -> list[dict[str, str]]:
        """Return every file that was found and not read: of whom, file, reason."""
        return [
            {"of": name, "file": str(row["file"]), "reason": str(row["reason"])}
            for name, report in self.reports
            for row in report[~report["read"].astype(bool)].to_dict("records")
        ]


def client_parties(path: str) -> tuple[list[Party], list[str]]:
    """Return the clients of CLIENTS, and notes on how they were found."""
    root = existing_path("CLIENTS", path)
    if root.suffix.lower() == ZIP and (parties := _in_zip(root)):
        return parties, []
    if not checked_kind("CLIENTS", root).is_dir():
        return [Party("CLIENTS", root.stem, root)], [f"{root.name} is one client, so avg and all are the same."]
    try:
        entries = sorted((e for e in root.iterdir() if not e.name.startswith(".")), key=lambda e: natural(e.name))
    except OSError as error:
        raise InvalidInput(
            "CLIENTS", f"{shown(path)} cannot be read: {error.strerror}", "Name another folder"
        ) from None
    check_entries(entries, "CLIENTS")
    folders = [entry for entry in entries if entry.is_dir()]
    rows = [entry for entry in entries if entry.is_file() and entry.suffix.lower() in ARRAYS]
    kinds = " and ".join(sorted({entry.suffix.lower() for entry in rows}))
    if folders and rows:
        seen = f"{shown(str(root))} has {len(folders)} sub-folders and {len(rows)} {kinds} files"
        raise InvalidInput("CLIENTS", seen, "Give a folder of sub-folders of images, or of .npy files of features")
    loose = [entry.name for entry in entries if entry.is_file() and not refusal_by_name((entry.name,))]
    if rows and loose:
        seen = f"{shown(str(root))} has {len(rows)} {kinds} files and {len(loose)} images, such as {shown(loose[0])}"
        raise InvalidInput("CLIENTS", seen, "Give a folder of .npy files, or of sub-folders of images")
    if folders or rows:
        return [Party("CLIENTS", e.name if e.is_dir() else e.stem, e) for e in folders or rows], []
    name = root.resolve().name or str(root)
    return [Party("CLIENTS", name, root)], [
        f"{name} has no sub-folders: it is one client, so avg and all are the same."
    ]


def _in_zip(root: Path) -> list[Party]:
    """The clients of a zip: its folders that hold images."""
    try:
        members = files_in_zip(str(root))
    except InvalidInput as error:
        raise InvalidInput("CLIENTS", error.seen, error.fix) from None
    names = {member.parts[0] for member in members if len(member.parts) > 1 and not member.reason}
    return [Party("CLIENTS", name, root / name) for name in sorted(names, key=natural)]


def runs_within(party: Party) -> list[Party]:
    """The runs of a model: the sub-folders of its folder, or its .npy files."""
    runs = parties_within(party, "--runs", "run")
    return [replace(run, name=f"{party.name}/{run.name}", group=party.name) for run in runs]


def parties_within(party: Party, given: str = "--by-class", unit: str = "client") -> list[Party]:
    """What a generator made for each client: the sub-folders of its folder, or its .npy files."""
    if not party.path.is_dir():
        seen = f"{shown(str(party.path))} is no folder, and {given} is given"
        fix = f"Give a folder with one sub-folder of images, or one .npy file, for each {unit}"
        raise InvalidInput(party.option, seen, fix)
    try:
        return [Party(party.option, name, path) for name, path in sources_in(party.path)]
    except InvalidInput as error:
        raise InvalidInput(party.option, error.seen, error.fix) from None


def generated_parties(paths: Sequence[str], option: str = "GENERATED", has_parts: bool = False) -> list[Party]:
    """A generator for each path of the option, with as much of the path for a name as tells them apart."""
    paths_checked = [checked_kind(option, existing_path(option, path)) for path in paths]
    for path in paths_checked if not has_parts else ():
        _check_not_many(option, path)
    parts = [[*path.resolve().parts[:-1], _title(path)] for path in paths_checked]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return [Party(option, name, path) for name, path in zip(names, paths_checked, strict=True)]
    twice = next(path for path, name in zip(paths, names, strict=True) if names.count(name) > 1)
    raise InvalidInput(option, f"{shown(twice)} is given twice", "Give each path once")


def containment_notes(clients: Sequence[Party], generated: Sequence[Party]) -> list[str]:
    """Return notes on generated files that lie in a client, as where CLIENTS holds real and generated ones."""
    return [
        f"{party.name} lies in client {client.name}, so it is also compared with itself. Is it really a client?"
        for party in generated
        for client in clients
        if client.path.resolve() in (party.path.resolve(), *party.path.resolve().parents)
    ]


def _title(path: Path) -> str:
    path = path.resolve()
    return path.name if path.is_dir() else path.stem


def existing_path(option: str, path: str, fix: str = FIX_MISSING) -> Path:
    """Return the path, if something lies there; InvalidInput otherwise."""
    try:
        place = Path(path).expanduser()
        is_there = bool(path) and place.exists()  # an empty path, as of a variable not set, would be the folder here
    except (OSError, ValueError, RuntimeError):
        is_there = False
    if not is_there:
        raise InvalidInput(option, f"there is no {shown(path)}", fix)
    return place


def checked_kind(option: str, path: Path) -> Path:
    """Return the path, if by its name it can be read: an extractor is not asked for in vain."""
    if not path.is_dir() and not path.is_file():
        raise InvalidInput(option, f"{shown(str(path))} is neither a file nor a folder", FIX_MISSING)
    if path.is_file() and path.suffix.lower() not in (*ARRAYS, ZIP) and refusal_by_name((path.name,)):
        fix = "Give a folder or zip of images, a .npy file of features, or a .npz file of mu and sigma"
        if path.suffix.lower() == ".csv":
            fix = f"Write its numbers as .npy: numpy.save('{path.stem}.npy', pandas.read_csv('{path.name}').to_numpy())"
        raise InvalidInput(option, f"{shown(str(path))} has the name of neither images nor features", fix)
    return path


def _check_not_many(option: str, path: Path) -> None:
    """Raise InvalidInput where a generator is a folder of files of features, each of which is one."""
    if not path.is_dir() or not os.access(path, os.R_OK):
        return
    rows = sorted(path.glob(f"*{FEATURES}"))
    if rows and not any(entry.is_dir() or not refusal_by_name((entry.name,)) for entry in path.iterdir()):
        seen = f"{shown(str(path))} contains {len(rows)} .npy {'file' if len(rows) == 1 else 'files'} and no images"
        raise InvalidInput(option, seen, f"Name the files, one per generator: {path}/*{FEATURES}")


def _load_rows(path: Path) -> np.ndarray:
    try:
        rows: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise InvalidInput("file", f"cannot be read: {error.strerror or error}", FIX_ROWS) from None
    except Exception:  # garbage fails in many ways, and NumPy's words advise to unpickle what is no .npy file
        raise InvalidInput("file", "contains no array of numbers in the .npy format", FIX_ROWS) from None
    if rows.ndim != 2:
        raise InvalidInput("file", f"has the shape {rows.shape}", "Give features, (n, d), or a folder of images")
    return rows
