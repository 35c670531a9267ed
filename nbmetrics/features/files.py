"""Files of images: those of a folder, of a zip file or of a list, found without opening any, read one at a time.

Folders and zip files are gone through in natural order (img2 before img10). Links are followed, but not back to a
folder that holds them; hidden files and folders (.DS_Store, __MACOSX, Thumbs.db, …), names without an ending of
images, pipes, sockets and devices are listed and never opened. Nothing of a zip file is written to disk.
"""

from __future__ import annotations

import os
import stat
import threading
import zipfile
from typing import Any

from ..errors import MAX_ITEMS, InvalidInput, shown
from ..partition import natural
from .decode import MAX_FILE_BYTES, SUFFIXES, Unread, one_line, reason_of

MAX_PATH_LETTERS = 500
MAX_FOLDERS = 200_000
# Of all members together, over the size of the zip file: images hardly shrink, bombs do by thousands.
MAX_UNPACK_RATIO, MIN_UNPACK_BYTES = 100, 2**30

_SYSTEM = {"thumbs.db", "desktop.ini", "__macosx"}
_OTHERS = (".avif", ".heic", ".heif", ".jp2", ".jxl", ".pbm", ".pgm", ".ppm", ".tga", ".psd", ".svg", ".eps", ".ico")
_NOT_BY_NAME = "not an image by its name"
_HIDDEN, _HIDDEN_FOLDER = "a hidden or system file", "a hidden or system folder, not entered"
_LOOP = "a link back to a folder that contains it"
_REPLACED = "replaced by a later file of its name in the zip file"
# What is left out without a loss: no image, or one that is read at another place.
HARMLESS = {_NOT_BY_NAME, _HIDDEN, _HIDDEN_FOLDER, _LOOP, _REPLACED}


class File:
    """A file on disk: its bytes, as long as they are those that were checked."""

    __slots__ = ("name", "parts", "path", "reason", "stamp")

    def __init__(self, path: str, parts: tuple[str, ...], reason: str = "") -> None:
        self.path, self.parts, self.reason = path, parts, reason
        self.name = one_line("/".join(parts), MAX_PATH_LETTERS)
        self.stamp: tuple[int, ...] | None = None

    def data(self) -> bytes:
        """Return the bytes; `Unread` where it cannot be opened, is no plain file, or changed since the first time."""
        try:
            status = os.stat(self.path)
            if not stat.S_ISREG(status.st_mode):
                raise Unread("a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, socket or device")
            if status.st_size > MAX_FILE_BYTES:
                raise Unread(f"{status.st_size / 2**20:,.0f} MB; up to {MAX_FILE_BYTES // 2**20} are read")
            with open(self.path, "rb") as opened:
                status = os.fstat(opened.fileno())
                data = opened.read(status.st_size + 1)
        except OSError as error:
            raise Unread(f"cannot be opened: {reason_of(error)}") from None
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self.stamp is None:
            self.stamp = stamp
        if stamp != self.stamp or len(data) != status.st_size:
            raise Unread("has changed since it was checked")
        return data


class Archive:
    """A zip file, opened once in each process."""

    def __init__(self, path: str) -> None:
        self.path, self._lock = path, threading.Lock()
        self._opened: tuple[int, zipfile.ZipFile] | None = None

    def __getstate__(self) -> str:
        return self.path

    def __setstate__(self, path: str) -> None:
        Archive.__init__(self, path)

    def open_zip(self) -> zipfile.ZipFile:
        """Return the open zip file; a forked process opens its own, or two would move one place in the file."""
        with self._lock:
            if self._opened is None or self._opened[0] != os.getpid():
                self._opened = os.getpid(), zipfile.ZipFile(self.path)
            return self._opened[1]


class Member:
    """A file in a zip file."""

    __slots__ = ("archive", "info", "name", "parts", "reason")

    def __init__(self, archive: Archive, info: zipfile.ZipInfo, parts: tuple[str, ...], reason: str = "") -> None:
        self.archive, self.info, self.parts, self.reason = archive, info, parts, reason
        self.name = one_line("/".join(parts), MAX_PATH_LETTERS)

    def data(self) -> bytes:
        """Return the bytes, unpacked in memory; `Unread` where it is too large, encrypted or broken."""
        if self.info.file_size > MAX_FILE_BYTES:
            raise Unread(f"{self.info.file_size / 2**20:,.0f} MB unpacked; up to {MAX_FILE_BYTES // 2**20} are read")
        if self.info.flag_bits & 1:
            raise Unread("encrypted")
        try:
            with self.archive.open_zip().open(self.info) as opened:
                return opened.read()
        except Exception as error:  # a broken zip file may raise anything
            raise Unread(f"cannot be unpacked: {reason_of(error)}") from None


def natural_path(parts: tuple[str, ...]) -> list[Any]:
    """Return the key that sorts paths as people do: by folder, numbers by size, small letters as large ones."""
    return [[natural(part) for part in parts], parts]


def refusal_by_name(parts: tuple[str, ...]) -> str:
    """Return why a file of this name is not opened; empty where it is."""
    if is_hidden(parts):
        return _HIDDEN
    name = parts[-1].lower()
    return "" if name.endswith(SUFFIXES) else "of a format that is not read" if name.endswith(_OTHERS) else _NOT_BY_NAME


def is_hidden(parts: tuple[str, ...]) -> bool:
    """Return whether one of these names starts with a dot, or is one that a system left there."""
    return any(part.startswith(".") or part.lower() in _SYSTEM for part in parts)


def files_in_folder(root: str) -> list[File]:
    """Return all files below a folder, in natural order; a folder that is not entered is one line."""
    files: list[File] = []
    waiting: list[tuple[str, tuple[str, ...], frozenset[tuple[int, int]]]] = [(root, (), frozenset())]
    entered = 0  # links to links, two in each folder, make 2^n ways to the n-th
    while waiting:
        folder, parts, above = waiting.pop()
        entered += 1
        try:
            here = os.stat(folder)
            names = os.listdir(folder)
        except OSError as error:
            files.append(File(folder, (*parts, ""), f"cannot be opened: {reason_of(error)}"))
            continue
        inside = above | {(here.st_dev, here.st_ino)}
        for name in names:
            path, of_it = os.path.join(folder, name), (*parts, name)
            kind, reason = _entry_kind(path, inside)
            if kind == "folder" and is_hidden((name,)):
                files.append(File(path, (*of_it, ""), _HIDDEN_FOLDER))
            elif kind == "folder" and not reason:
                waiting.append((path, of_it, inside))
            else:
                files.append(File(path, of_it, reason or refusal_by_name((name,))))
        if len(files) + len(waiting) > MAX_ITEMS or entered > MAX_FOLDERS:
            most = f"{MAX_ITEMS:,} files or {MAX_FOLDERS:,} folders"
            raise InvalidInput("source", f"{shown(root)} has more than {most}", "Give a smaller folder")
    return sorted(files, key=lambda file: natural_path(file.parts))


def _entry_kind(path: str, above: frozenset[tuple[int, int]]) -> tuple[str, str]:
    """Return ("folder" or "file", why it is not opened)."""
    try:
        status = os.stat(path)
    except OSError as error:
        leads = "a link that leads nowhere" if os.path.islink(path) else f"cannot be opened: {reason_of(error)}"
        return "file", leads
    if stat.S_ISDIR(status.st_mode):
        back = (status.st_dev, status.st_ino) in above
        return "folder", _LOOP if back else ""
    return "file", "" if stat.S_ISREG(status.st_mode) else "a pipe, socket or device"


def files_in_zip(path: str) -> list[Member]:
    """All files of a zip file, in natural order; one folder around everything, of folders only, is passed over."""
    archive = Archive(path)
    try:
        infos = [info for info in archive.open_zip().infolist() if not info.is_dir()]
        size = os.path.getsize(path)
    except Exception as error:  # a broken zip file may raise anything
        raise InvalidInput("source", f"{shown(path)} cannot be unpacked: {reason_of(error)}", "Pack it again") from None
    unpacked = sum(info.file_size for info in infos)
    if len(infos) > MAX_ITEMS or unpacked > max(MAX_UNPACK_RATIO * size, MIN_UNPACK_BYTES):
        seen = f"{shown(path)} has {size:,} bytes and holds {len(infos):,} files of {unpacked:,} bytes"
        raise InvalidInput("source", seen, "That is not a zip file of images; unpack it yourself if it is harmless")
    split = [tuple(part for part in info.filename.split("/") if part not in ("", ".")) or ("?",) for info in infos]
    seen_parts = [parts for parts in split if not is_hidden(parts)]
    if seen_parts and all(len(parts) > 2 and parts[0] == seen_parts[0][0] for parts in seen_parts):
        split = [parts[1:] if len(parts) > 1 and parts[0] == seen_parts[0][0] else parts for parts in split]
    last = {info.filename: info for info in infos}  # a zip file that was added to keeps what was replaced
    members = [
        Member(archive, info, parts, _why_not(info, last[info.filename]) or refusal_by_name(parts))
        for info, parts in zip(infos, split, strict=True)
    ]
    return sorted(members, key=lambda member: natural_path(member.parts))


def _why_not(info: zipfile.ZipInfo, last: zipfile.ZipInfo) -> str:
    """Return why a member is not opened, whatever it is called; `last` has its name too."""
    if info is not last:
        return _REPLACED
    if ".." in info.filename.split("/"):
        return "its path leads upwards (..), so its folder is unclear"
    return "a link" if stat.S_ISLNK(info.external_attr >> 16) else ""


def file_of_path(path: Any) -> File:
    """Return a file that was named itself, whatever its name."""
    text = os.fspath(path)
    return File(text, (text,))


def is_path(value: Any) -> bool:
    """Return whether `value` names a file."""
    return isinstance(value, str | os.PathLike)
