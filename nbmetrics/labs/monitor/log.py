"""A run as a folder that outlives what writes it: `steps.jsonl`, `rows.bin`, `meta.json` and `pending.bin`.

    steps.jsonl   one event a line: crc32 of the rest in 8 hexadecimal digits, a space, JSON, the end of the line
    rows.bin      arrays in frames (see frames.py), written before the line that names their places
    meta.json     what this folder is, written once
    pending.bin   lines that are not yet in the log (see pending.py)

The first two are only ever appended to, each line by one `write`: what kills the process takes at most the line under
way. NaN and infinities, which JSON has not, are the strings "nan", "inf" and "-inf". A reader leaves out what is
damaged, and says so; a writer puts the torn end of a line aside (`steps.jsonl.torn`) before it goes on. Nothing in a
folder is trusted.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidInput, shown
from ...files import open_plain, write
from . import frames
from .frames import Place
from .pending import PENDING, Pending, pending_lines

STEPS, ROWS, META, TORN = "steps.jsonl", "rows.bin", "meta.json", "steps.jsonl.torn"
FORMAT, VERSION = "nbmetrics run", 1
# A reader's limits: letters of a line, lines, and bytes of the small file.
LONGEST_LINE, MOST_LINES, LARGEST_META = 2**20, 1_000_000, 2**16
# Reasons that are kept of what was left out.
MOST_TOLD = 20
# Seconds between two times that the disk itself is waited for.
SYNC = 5.0
_CHUNK = 2**20
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_CRC = re.compile(rb"[0-9a-f]{8} ")


def line_of(event: Mapping[str, Any]) -> bytes:
    """One line of `steps.jsonl`."""
    text = json.dumps(_speakable(event), allow_nan=False, separators=(",", ":")).encode()
    if len(text) > LONGEST_LINE - 16:
        raise ValueError(f"an event of {len(text):,} letters has no line")
    return b"%08x %s\n" % (zlib.crc32(text), text)


@lru_cache(maxsize=1_024)
def _quoted(name: str) -> str:
    return json.dumps(name)


def losses_line(step: int, time: float, losses: Mapping[str, Any], late: float = 0.0) -> bytes:
    """The line of a step without scores, as quickly as a loop can have it; what a tensor holds is not in it."""
    plain = ((name, float(value)) for name, value in losses.items() if isinstance(value, (int, float)))
    try:
        said = ((_quoted(name), value, repr(value)) for name, value in plain)
        inner = ",".join(f"{name}:{text if math.isfinite(v) else _quoted(text)}" for name, v, text in said)
    except OverflowError:  # an integer beyond float64, which the worker tells
        inner = ""
    more = f',"late":{late!r}' if late else ""
    text = f'{{"event":"step","step":{step},"time":{time!r},"losses":{{{inner}}}{more}}}'.encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def event_of(line: bytes) -> dict[str, Any]:
    """The event of a line without its end; ValueError, with the reason, where it is none."""
    if not _CRC.match(line):
        raise ValueError("has no checksum")
    if int(line[:8], 16) != zlib.crc32(line[9:]):
        raise ValueError("has another checksum than it says")
    try:
        event = json.loads(line[9:])
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(event, dict):
        raise ValueError("is no event")
    return event


def _speakable(value: Any) -> Any:
    """The same with words for what JSON has not."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {key: _speakable(item) for key, item in value.items()}
    return [_speakable(item) for item in value] if isinstance(value, (list, tuple)) else value


def number_of(value: Any) -> float:
    """A number of an event, which may be a word; ValueError where it is none."""
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"has {shown(value)} in the place of a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class Reader:
    """The events of a folder, and the arrays that they name.

    Attributes
    ----------
    skipped : how many lines were left out; `told` : why, the first of them

    Raises
    ------
    InvalidInput
        Where there is no folder of a run.
    """

    def __init__(self, path: Any) -> None:
        self.folder = folder_of(path)
        if not (self.folder / STEPS).is_file():
            fix = "Give the folder that nm.Monitor(…, path=…) wrote"
            raise InvalidInput("path", f"{shown(str(self.folder))} holds no {STEPS}", fix)
        self.skipped, self.told = 0, []  # type: int, list[str]
        self._check_meta()
        self._rows: int | None = None
        self._reading = threading.Lock()

    def _check_meta(self) -> None:
        try:
            with open(open_plain(self.folder / META, os.O_RDONLY), "rb") as file:
                meta = json.loads(file.read(LARGEST_META + 1)[:LARGEST_META])
            version = meta.get("version") if isinstance(meta, dict) else None
        except (OSError, ValueError, RecursionError):
            return self.tell(f"{META} is missing or damaged")
        if isinstance(version, int) and version > VERSION:
            seen = f"{shown(str(self.folder))} was written by a newer nbmetrics (format {version:.6g})"
            raise InvalidInput("path", seen, "Update nbmetrics")

    def tell(self, why: str) -> None:
        """Keep a reason, unless there are many already."""
        if len(self.told) < MOST_TOLD:
            self.told.append(why)

    def skip(self, number: int, why: object) -> None:
        """Count a line that is left out."""
        self.skipped += 1
        self.tell(f"line {number}: {why}")

    def events(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and event of each good line, those that were pending last."""
        number = 0
        with open(open_plain(self.folder / STEPS, os.O_RDONLY), "rb") as file:
            for number, (line, is_whole) in enumerate(_lines(file), 1):
                if number > MOST_LINES:
                    return self.tell(f"only the first {MOST_LINES:,} lines are read")
                try:
                    if not is_whole:
                        raise ValueError("is torn" if len(line) <= LONGEST_LINE else "is too long")
                    yield number, event_of(line)
                except ValueError as error:
                    if line:  # an empty one ends what was torn before
                        self.skip(number, error)
        yield from ((number + place, event) for place, event in enumerate(_pending(self.folder), 1))

    def array(self, place: Place) -> np.ndarray:
        """What lies at a place of `rows.bin`; ValueError, with the reason, where it is damaged."""
        if self._rows is None:
            try:
                self._rows = open_plain(self.folder / ROWS, os.O_RDONLY)
            except OSError as error:
                raise ValueError(f"{ROWS} cannot be read ({error.strerror})") from None
        with self._reading:  # the place in the file is one for all threads
            return frames.read(self._rows, place)

    def __del__(self) -> None:
        if getattr(self, "_rows", None) is not None:
            os.close(self._rows)  # type: ignore[arg-type]


def _pending(folder: Path) -> Iterator[dict[str, Any]]:
    """The events that may not have come into the log."""
    for line in pending_lines(folder):
        try:
            yield event_of(line)
        except ValueError:  # partly written over
            continue


def _lines(file: Any) -> Iterator[tuple[bytes, bool]]:
    """Each line without its end, and whether it is whole; of longer ones than the limit only the beginning."""
    rest, is_long = b"", False
    while chunk := file.read(_CHUNK):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            line, rest = rest + line, b""
            yield line, not is_long and len(line) <= LONGEST_LINE
            is_long = False
        rest += last
        if len(rest) > LONGEST_LINE:
            rest, is_long = rest[: LONGEST_LINE + 1], True
    if rest:
        yield rest, False


def folder_of(path: Any) -> Path:
    """`path` as that of a folder, which need not be there."""
    try:
        folder = Path(path).expanduser().resolve()
        is_taken = folder.exists() and not folder.is_dir()
    except (TypeError, ValueError, OSError, RuntimeError):
        raise InvalidInput("path", f"got {shown(path)}", "Give the path of a folder") from None
    if is_taken:
        raise InvalidInput("path", f"{shown(str(folder))} exists and is no folder", "Give the path of a folder")
    return folder


def _check_plain(folder: Path) -> None:
    """Refuse to write where a file of a run is a link, has a second name, or is no file: it may be another's."""
    for name in (STEPS, ROWS, META, TORN, PENDING):
        try:
            found = (folder / name).lstat()
        except FileNotFoundError:
            continue
        what = "" if stat.S_ISREG(found.st_mode) else "is no plain file"
        what = "is a link" if stat.S_ISLNK(found.st_mode) else what or "is a link, too" * (found.st_nlink > 1)
        if what:
            seen = f"{name} in {shown(str(folder))} {what}: to write there could change another file"
            raise InvalidInput("path", seen, "Choose another folder, or copy the run's files into one")


class Writer:
    """Appends events and arrays to a folder, which is made where it is not there.

    Parameters
    ----------
    path : of the folder

    Raises
    ------
    InvalidInput
        Where the folder cannot be written, another process writes it, or a file in it is a link.
    """

    def __init__(self, path: Any) -> None:
        self._steps = self._rows = -1
        self.pending: Pending | None = None
        self.folder = folder_of(path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _check_plain(self.folder)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            self._steps = open_plain(self.folder / STEPS, flags, follow=False)
            self._lock()
            self.torn = self._put_torn_end_aside()
            if lost := list(_pending(self.folder)):
                _write_whole(self._steps, b"".join(map(line_of, lost)))
            self.pending = Pending(self.folder)
            self._rows = open_plain(self.folder / ROWS, flags, follow=False)
            if not (self.folder / META).exists():
                made = {"format": FORMAT, "version": VERSION, "made": time.strftime("%Y-%m-%d %H:%M:%S")}
                write(self.folder / META, (json.dumps(made, indent=1) + "\n").encode())
        except OSError as error:
            self.close()
            seen = f"{shown(str(self.folder))} cannot be written ({error.strerror})"
            raise InvalidInput("path", seen, "Choose another folder") from None
        except InvalidInput:
            self.close()
            raise
        self._is_clean, self._synced = True, time.monotonic()

    def _lock(self) -> None:
        """Refuse a folder that another process writes, where the file system can tell."""
        try:
            import fcntl
        except ImportError:  # Windows
            return
        try:
            fcntl.flock(self._steps, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            seen = f"{shown(str(self.folder))} is being written by another process"
            raise InvalidInput("path", seen, "Choose another folder, or stop the other one") from None
        except OSError:  # a file system without locks
            return

    def _put_torn_end_aside(self) -> int:
        """Move what follows the last end of a line to its own file; how many bytes those were."""
        size = start = os.fstat(self._steps).st_size
        tail = b""
        while start and b"\n" not in tail:
            start = max(0, start - _CHUNK)
            os.lseek(self._steps, start, os.SEEK_SET)
            tail = os.read(self._steps, min(_CHUNK, size - start))
        torn = size - (start + tail.rfind(b"\n") + 1 if b"\n" in tail else 0)
        if torn:
            os.lseek(self._steps, size - torn, os.SEEK_SET)
            aside = open_plain(self.folder / TORN, os.O_WRONLY | os.O_APPEND | os.O_CREAT, follow=False)
            try:
                os.write(aside, os.read(self._steps, min(torn, 2 * LONGEST_LINE)) + b"\n")
            finally:
                os.close(aside)
            os.ftruncate(self._steps, size - torn)
        return torn

    def append_array(self, array: np.ndarray) -> Place:
        """Write a frame, and say where it lies; OSError where it could not be written whole."""
        frame, offset = frames.packed(array), os.lseek(self._rows, 0, os.SEEK_END)
        _write_whole(self._rows, frame)
        return Place(offset, len(frame))

    def append(self, *events: Mapping[str, Any]) -> None:
        """Write a line each, at once; OSError where not all could be written, and then the next one starts anew."""
        line = b"".join(map(line_of, events))
        is_clean, self._is_clean = self._is_clean, False
        _write_whole(self._steps, line if is_clean else b"\n" + line)
        self._is_clean = True
        if time.monotonic() - self._synced > SYNC:
            self.sync()

    def sync(self) -> None:
        """Wait for the disk itself."""
        os.fsync(self._rows)
        os.fsync(self._steps)
        self._synced = time.monotonic()

    def close(self) -> None:
        """End the writing; what was written stays, and another may go on."""
        for descriptor in (self._steps, self._rows):
            if descriptor >= 0:
                os.close(descriptor)
        self._steps = self._rows = -1
        if self.pending is not None:
            self.pending.close()

    __del__ = close


def _write_whole(descriptor: int, data: bytes) -> None:
    """One write; OSError where it was cut short, as on a full disk."""
    written = os.write(descriptor, data)
    if written < len(data):
        raise OSError(28, f"No space left: {written} of {len(data)} bytes were written")
