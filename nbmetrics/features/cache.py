"""The cache of rows of features, in files that no crash and no other process can make lie.

    folder / <extractor>-<key of its fingerprint> / <key of a chunk>.npy

A chunk is some images' digests, (k, 32) bytes, their rows, (k, d) float32, both as .npy, and the SHA-256 of all that.
Its name is the SHA-256 of the fingerprint and the digests, so two processes that compute the same images write one
file. It is written beside its place and renamed once it is on the disk: there is no half a chunk. An image is found by
its own digest, so one that is added, moved or taken away costs the others nothing. A file's time tells its last use.
The checksum finds damage, not forgery: whoever may write in the folder can put other rows there.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, check_number, shown
from ..files import open_plain, read_plain, replace_file

# Of the reading of images and of the files here: another number where either makes other rows of the same input.
RULES = 1
DIGEST_BYTES = 32
DEFAULT_LIMIT_BYTES, MIN_LIMIT_BYTES, MAX_LIMIT_BYTES = 5 * 10**9, 10**6, 10**15
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
# Seconds after which a draft that nobody goes on writing is one of a process that died.
STALE_DRAFT_SECONDS = 600
_SHELF = re.compile(r"[\w.-]{1,40}-[0-9a-f]{64}", re.ASCII)
_CHUNK = re.compile(r"[0-9a-f]{64}\.npy", re.ASCII)
_DRAFT = re.compile(r"[0-9a-f]{64}\.[0-9a-f]{16}\.part", re.ASCII)
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([KMGT]?B?)", re.ASCII | re.IGNORECASE)


def cache_home() -> Path:
    """Return $NBMETRICS_HOME, else $XDG_CACHE_HOME/nbmetrics, else ~/.cache/nbmetrics; it need not exist."""
    return Path(
        os.environ.get("NBMETRICS_HOME")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nbmetrics"
    )


class CacheWarning(UserWarning):
    """Rows were computed and are returned, but could not be kept."""


class CacheFile(NamedTuple):
    """One chunk on the disk."""

    used: int  # nanoseconds since 1970
    size: int
    path: Path


@dataclass(frozen=True)
class Info:
    """What is kept: files and bytes, of how many images and extractors, and when the files were last used."""

    folder: Path
    limit: int
    files: int
    bytes: int
    images: int
    extractors: int
    oldest: datetime | None
    newest: datetime | None

    def __str__(self) -> str:
        held = f"{bytes_text(self.bytes)} of at most {bytes_text(self.limit)} in {self.folder}"
        if self.oldest is None or self.newest is None:
            return f"Cache of features: empty, {held}"
        files = f"{self.files:,} file{'s' * (self.files != 1)}"
        rows = f"{self.images:,} row{'s' * (self.images != 1)} of {self.extractors} extractor"
        uses = f"last used {self.newest:%Y-%m-%d %H:%M}, its oldest file {self.oldest:%Y-%m-%d %H:%M}"
        return f"Cache of features: {rows}{'s' * (self.extractors != 1)} in {files}, {held}; {uses}"

    __repr__ = __str__


class Cache:
    """The rows of features that `nm.extract` keeps: `nm.cache` is the one in use.

    Attributes
    ----------
    folder : where they lie, by default in $NBMETRICS_HOME or ~/.cache/nbmetrics; may be set, for this session
    limit : bytes, or a text such as "2 GB", from 1 MB to 1,000 TB; may be set, for this session. When rows are written
        beyond it, those used longest ago go, but none that the run that writes has used.

    Examples
    --------
    >>> nm.cache.limit = "2 GB"
    >>> nm.cache.limit
    2000000000
    """

    def __init__(self, folder: Any = None, limit: Any = DEFAULT_LIMIT_BYTES) -> None:
        self.folder, self.limit = folder, limit

    @property
    def folder(self) -> Path:
        return self._folder or cache_home() / "features"

    @folder.setter
    def folder(self, folder: Any) -> None:
        self._folder = None if folder is None else _check_folder(folder)

    @property
    def limit(self) -> int:
        return self._limit

    @limit.setter
    def limit(self, limit: Any) -> None:
        self._limit = _check_limit(limit)

    def info(self) -> Info:
        """How much is kept, where, and since when."""
        files = self.files()
        times = [datetime.fromtimestamp(file.used / 1e9) for file in files]
        return Info(
            self.folder,
            self.limit,
            len(files),
            sum(file.size for file in files),
            sum(len(_digests(file.path, file.size)) for file in files),
            len({file.path.parent for file in files}),
            min(times, default=None),
            max(times, default=None),
        )

    def clear(self) -> None:
        """Remove every row that is kept, and nothing else that may lie in the folder."""
        for shelf in self._shelves():
            for path in [file.path for file in _files(shelf, _CHUNK)] + [file.path for file in _files(shelf, _DRAFT)]:
                _remove(path)
            try:
                shelf.rmdir()
            except OSError:  # another process is writing here, or a stranger's file is in it
                continue

    def shelf(self, name: str, fingerprint: str) -> Shelf:
        """Where the rows of one extractor are."""
        return Shelf(self, name, fingerprint)

    def files(self) -> list[CacheFile]:
        """The chunks, that of the oldest use first."""
        return sorted(file for shelf in self._shelves() for file in _files(shelf, _CHUNK))

    def has_room(self, size: int, since: int) -> bool:
        """Whether so many bytes more may be kept, after what was last used before `since` made room for them."""
        files = self.files()
        held = sum(file.size for file in files)
        for file in files:
            if held + size <= self.limit or file.used >= since:
                break
            _remove(file.path)
            held -= file.size
        return held + size <= self.limit

    def _shelves(self) -> list[Path]:
        return [Path(entry.path) for entry in _entries(self.folder, _SHELF) if entry.is_dir(follow_symlinks=False)]

    def __repr__(self) -> str:
        return f"Cache(folder={str(self.folder)!r}, limit={bytes_text(self.limit)!r})"


class Shelf:
    """The chunks of one extractor, during one run."""

    def __init__(self, cache: Cache, name: str, fingerprint: str) -> None:
        self.cache, self.since, self.is_open = cache, time.time_ns(), True
        self.held: int | None = None
        self.key = hashlib.sha256(f"{RULES}\n{fingerprint}".encode()).hexdigest()
        title = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:40] or "_"
        self.folder = cache.folder / f"{title}-{self.key}"

    def find(self, digests: Sequence[bytes]) -> tuple[np.ndarray | None, np.ndarray]:
        """Return rows of the images of these digests, and which of them are cached; no rows where none is."""
        places: dict[bytes, list[int]] = {}
        for place, digest in enumerate(digests):
            places.setdefault(digest, []).append(place)
        rows, is_known = None, np.zeros(len(digests), dtype=bool)
        for file in _files(self.folder, _CHUNK):
            if is_known.all():
                break
            if places.keys().isdisjoint(_digests(file.path, file.size)):
                continue
            chunk = self._read(file.path)
            if chunk is None or (rows is not None and rows.shape[1] != chunk[1].shape[1]):
                continue
            rows = np.empty((len(digests), chunk[1].shape[1]), np.float32) if rows is None else rows
            for digest, row in zip(*chunk, strict=True):
                for place in places.get(digest, ()):
                    rows[place], is_known[place] = row, True
        return rows, is_known

    def get(self, digests: Sequence[bytes]) -> np.ndarray | None:
        """Return the rows of exactly these images, where a run beside this one has kept them meanwhile."""
        chunk = self._read(self._path(digests))
        return None if chunk is None else chunk[1]

    def keep(self, digests: Sequence[bytes], rows: np.ndarray) -> None:
        """Write these rows; where that fails they are only not kept, said once a run."""
        content = _pack(digests, rows)
        try:
            if self.is_open and self._has_room(len(content)):
                self._write(self._path(digests), content)
        except OSError as error:
            self._close(f"cannot be written ({error.strerror or error})")

    def _has_room(self, size: int) -> bool:
        """Return whether a chunk fits; counted along, so that the disk is only looked through near the limit."""
        if self.held is None:
            self._remove_stale_drafts()
        if self.held is None or self.held + size > self.cache.limit:
            if not self.cache.has_room(size, self.since):
                self._close(f"is full: nm.cache.limit is {bytes_text(self.cache.limit)}, all of it used by this run")
                return False
            self.held = sum(file.size for file in self.cache.files())
        self.held += size
        return True

    def _close(self, why: str) -> None:
        self.is_open = False
        told = f"{self.cache.folder} {why}; the features are returned, but those missing there will be computed again"
        warnings.warn(told, CacheWarning, stacklevel=2)

    def _write(self, path: Path, content: bytes) -> None:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.stem}.{secrets.token_hex(8)}.part")
        try:
            with open(draft, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            replace_file(draft, path)
        finally:
            draft.unlink(missing_ok=True)
        _touch(path)

    def _remove_stale_drafts(self) -> None:
        """Remove drafts of processes that died."""
        for file in _files(self.folder, _DRAFT):
            if time.time_ns() - file.used > STALE_DRAFT_SECONDS * 10**9:
                _remove(file.path)

    def _path(self, digests: Sequence[bytes]) -> Path:
        return self.folder / f"{hashlib.sha256(self.key.encode() + b''.join(digests)).hexdigest()}.npy"

    def _read(self, path: Path) -> tuple[list[bytes], np.ndarray] | None:
        """Return digests and rows of a chunk; None, and the file removed, where it is not what was written."""
        try:
            content = read_plain(path)
        except OSError:
            return None
        chunk = _unpack(content)
        if chunk is None or self._path(chunk[0]) != path:
            _remove(path)
            return None
        _touch(path)
        return chunk


def bytes_text(count: int) -> str:
    """Return bytes as people write them."""
    unit = next((unit for unit in ("TB", "GB", "MB", "kB") if count >= UNITS[unit.upper()]), "B")
    return f"{count / UNITS[unit.upper()]:.3g} {unit}" if unit != "B" else f"{count} B"


def _pack(digests: Sequence[bytes], rows: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    for part in (np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_BYTES), rows.astype("<f4", copy=False)):
        np.save(buffer, np.ascontiguousarray(part), allow_pickle=False)
    return buffer.getvalue() + hashlib.sha256(buffer.getbuffer()).digest()


def _unpack(content: bytes) -> tuple[list[bytes], np.ndarray] | None:
    """Return the digests and rows of `_pack`; None for other bytes."""
    body = memoryview(content)[:-DIGEST_BYTES]
    if hashlib.sha256(body).digest() != content[-DIGEST_BYTES:]:
        return None
    try:
        file = io.BytesIO(body)
        digests, rows = (np.load(file, allow_pickle=False) for _ in range(2))
    except Exception:  # a stranger's file: see _digests
        return None
    is_right = digests.dtype == np.uint8 and digests.shape[1:] == (DIGEST_BYTES,) and rows.dtype == np.dtype("<f4")
    if not is_right or rows.ndim != 2 or len(rows) != len(digests) or not len(rows) or not np.isfinite(rows).all():
        return None
    return [digest.tobytes() for digest in digests], rows.astype(np.float32, copy=False)


@lru_cache(maxsize=4096)
def _digests(path: Path, size: int) -> tuple[bytes, ...]:
    """Return the digests that a chunk says to hold, without its rows and so unchecked; none where it is no chunk.

    Kept, as a chunk is named after them.
    """
    try:
        with open(open_plain(path, os.O_RDONLY), "rb") as file:
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            if dtype != np.uint8 or shape[1:] != (DIGEST_BYTES,) or not 0 < shape[0] * DIGEST_BYTES <= size:
                return ()
            content = file.read(shape[0] * DIGEST_BYTES)
    except Exception:  # NumPy reads the header as Python, and garbage makes that fail in many ways
        return ()
    return tuple(content[start : start + DIGEST_BYTES] for start in range(0, len(content), DIGEST_BYTES))


def _entries(folder: Path, pattern: re.Pattern[str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((e for e in entries if pattern.fullmatch(e.name)), key=lambda e: e.name)
    except OSError:
        return []


def _files(folder: Path, pattern: re.Pattern[str]) -> Iterator[CacheFile]:
    for entry in _entries(folder, pattern):
        try:
            if entry.is_file(follow_symlinks=False):
                stat = entry.stat(follow_symlinks=False)
                yield CacheFile(stat.st_mtime_ns, stat.st_size, Path(entry.path))
        except OSError:  # gone since
            continue


def _touch(path: Path) -> None:
    now = time.time_ns()
    try:
        os.utime(path, ns=(now, now))
    except OSError:
        return


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        return


def _check_folder(folder: Any) -> Path:
    try:
        path = Path(os.path.abspath(os.fsdecode(os.path.expanduser(folder))))
        if "\0" in str(path):
            raise ValueError
        is_taken = path.exists() and not path.is_dir()
    except (TypeError, ValueError, OSError, RuntimeError):
        raise InvalidInput("folder", f"got {shown(folder)}", "Give the path of a folder, or None") from None
    if is_taken:
        raise InvalidInput("folder", f"{shown(str(folder))} is a file", "Give the path of a folder")
    return path


def _check_limit(limit: Any) -> int:
    if isinstance(limit, str):
        match = _SIZE.fullmatch(limit.strip())
        if not match or match[2].upper() not in UNITS:
            raise InvalidInput("limit", f"got {shown(limit)}", "Give bytes, or a text such as '2 GB'")
        limit = float(match[1]) * UNITS[match[2].upper()]
    return int(check_number(limit, "limit", minimum=MIN_LIMIT_BYTES, maximum=MAX_LIMIT_BYTES))


cache = Cache()
