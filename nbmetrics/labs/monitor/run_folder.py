"""A run as a folder that outlives the process that writes it.

    steps.jsonl   one event a line: crc32 of the rest in 8 hexadecimal digits, a space, JSON, the end of the line
    rows.bin      arrays in frames `len|crc|dtype|shape|bytes`, written before the line that names their places
    meta.json     what this folder is, written once
    pending.bin   lines that are not yet in steps.jsonl, one after the other, then zeros

The first two are only ever appended to, each line by one `write`: what kills the process takes at most the line under
way. NaN and infinities, which JSON has not, are the strings "nan", "inf" and "-inf". A reader leaves out what is
damaged, and says so; a writer puts the torn end of a line aside (`steps.jsonl.torn`) before it goes on. Nothing in a
folder is trusted: sizes are checked against the file and the limits before anything is held in memory.

A frame is found by its place and length, so whatever lies between two frames, such as one that a full disk left half
written, is never looked at. The pending file is mapped into memory: the training's thread only copies a line there,
without a call to the system. What the log has by then is written over, so a reader takes every whole line of it and
leaves out the rest without a word.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import stat
import struct
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidInput, shown
from ...files import lock_file, open_plain, read_plain, write

STEPS, ROWS, META, PENDING, TORN = "steps.jsonl", "rows.bin", "meta.json", "pending.bin", "steps.jsonl.torn"
FORMAT, VERSION = "nbmetrics run", 1
# A reader's limits.
MAX_LINE_BYTES, MAX_LINES, MAX_META_BYTES = 2**20, 1_000_000, 2**16
# Reasons that are kept of what was left out.
MAX_MESSAGES = 20
# Seconds between two times that the disk itself is waited for.
SYNC_SECONDS = 5.0
PENDING_BYTES = 2**18
_CHUNK_BYTES = 2**20
_NUMBERS_BY_WORD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_CRC = re.compile(rb"[0-9a-f]{8} ")

FRAME_MAGIC = b"nbm1"
# Magic, bytes of the array, crc32 of all that follows the crc, dtype, number of dimensions.
_FRAME_HEAD = struct.Struct("<4sII2sH")
_CRC_START, _CRC_END = 8, 12
# Little-endian, as the letters of the header.
DTYPES = {b"f4": "<f4", b"f8": "<f8", b"i4": "<i4", b"u1": "|u1"}
MAX_DIMENSIONS = 4
MAX_FRAME_BYTES = 64 * 2**20


def encode_event(event: Mapping[str, Any]) -> bytes:
    """Encode an event as one line of `steps.jsonl`; ValueError where it is too long."""
    text = json.dumps(_json_value(event), allow_nan=False, separators=(",", ":")).encode()
    if len(text) > MAX_LINE_BYTES - 16:
        raise ValueError(f"an event of {len(text):,} letters has no line")
    return b"%08x %s\n" % (zlib.crc32(text), text)


@lru_cache(maxsize=1_024)
def _json_text(name: str) -> str:
    return json.dumps(name)


def encode_losses(
    step: int,
    time: float,
    losses: Mapping[str, Any],
    late: float = 0.0,
    is_anew: bool = False,
    only_losses: bool = False,
) -> bytes:
    """Encode a step without scores as its line, quickly, as the loop waits for it; tensors are left out."""
    plain = ((name, float(value)) for name, value in losses.items() if isinstance(value, (int, float)))
    try:
        texts = ((_json_text(name), value, repr(value)) for name, value in plain)
        inner = ",".join(f"{name}:{text if math.isfinite(v) else _json_text(text)}" for name, v, text in texts)
    except OverflowError:  # an integer beyond float64, which the scoring thread reports
        inner = ""
    more = (f',"late":{late!r}' if late else "") + (',"anew":true' if is_anew else "")
    more += ',"only losses":true' if only_losses else ""
    text = f'{{"event":"step","step":{step},"time":{time!r},"losses":{{{inner}}}{more}}}'.encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def decode_event(line: bytes) -> dict[str, Any]:
    """Decode a line without its end as an event; ValueError, with the reason, where it is none."""
    if not _CRC.match(line):
        raise ValueError("has no checksum")
    if int(line[:8], 16) != zlib.crc32(line[9:]):
        raise ValueError("does not match its checksum")
    try:
        event = json.loads(line[9:])
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(event, dict):
        raise ValueError("is not an event")
    return event


def _json_value(value: Any) -> Any:
    """Return the value with strings in the place of NaN and infinities, which JSON has not."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {key: _json_value(item) for key, item in value.items()}
    return [_json_value(item) for item in value] if isinstance(value, (list, tuple)) else value


def decode_number(value: Any) -> float:
    """Decode a number of an event, which may be a string such as "nan"; ValueError where it is none."""
    if isinstance(value, str) and value in _NUMBERS_BY_WORD:
        return _NUMBERS_BY_WORD[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"has {shown(value)} in the place of a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class Place(NamedTuple):
    """Offset and length of a frame in its file, in bytes."""

    offset: int
    length: int


def pack_array(array: np.ndarray) -> bytes:
    """Encode an array of one of `DTYPES` as a frame."""
    kind = next(code for code, name in DTYPES.items() if np.dtype(name) == array.dtype)
    if array.ndim > MAX_DIMENSIONS or array.nbytes > MAX_FRAME_BYTES // 2:
        raise ValueError(f"an array of shape {array.shape} has no frame")
    shape = struct.pack(f"<{array.ndim}q", *array.shape)
    body = np.ascontiguousarray(array, dtype=DTYPES[kind]).tobytes()
    head = _FRAME_HEAD.pack(FRAME_MAGIC, len(body), 0, kind, array.ndim)
    crc = zlib.crc32(body, zlib.crc32(shape, zlib.crc32(head[_CRC_END:])))
    return head[:_CRC_START] + struct.pack("<I", crc) + head[_CRC_END:] + shape + body


def unpack_array(frame: bytes) -> np.ndarray:
    """Decode a frame as its array; ValueError, with the reason, where it is none."""
    if len(frame) < _FRAME_HEAD.size:
        raise ValueError("is shorter than a frame's head")
    magic, size, crc, kind, dimensions = _FRAME_HEAD.unpack_from(frame)
    if magic != FRAME_MAGIC or kind not in DTYPES or dimensions > MAX_DIMENSIONS:
        raise ValueError("is not a frame")
    if len(frame) != _FRAME_HEAD.size + 8 * dimensions + size:
        raise ValueError("does not match its length")
    if zlib.crc32(frame[_CRC_END:]) != crc:
        raise ValueError("does not match its checksum")
    shape = struct.unpack_from(f"<{dimensions}q", frame, _FRAME_HEAD.size)
    dtype = np.dtype(DTYPES[kind])
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size:
        raise ValueError("has a shape that its bytes do not fill")
    return np.frombuffer(frame, dtype, offset=_FRAME_HEAD.size + 8 * dimensions).reshape(shape)


def read_array(descriptor: int, place: Place) -> np.ndarray:
    """Read the array at a place of an open file; ValueError, with the reason, where there is none."""
    offset, length = place
    if not 0 < length <= MAX_FRAME_BYTES or not 0 <= offset <= os.fstat(descriptor).st_size - length:
        raise ValueError("is outside the file")
    os.lseek(descriptor, offset, os.SEEK_SET)
    return unpack_array(_read_bytes(descriptor, length))


def _read_bytes(descriptor: int, length: int) -> bytes:
    parts = []
    while length and (part := os.read(descriptor, length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


class PendingLines:
    """The file of lines that are handed over and not yet written; a folder that cannot hold it has none."""

    def __init__(self, folder: Path) -> None:
        self._lock, self._end, self._path = threading.Lock(), 0, folder / PENDING
        self._map: mmap.mmap | None = None
        try:
            descriptor = open_plain(self._path, os.O_RDWR | os.O_CREAT, follow=False)
            with open(descriptor, "r+b", buffering=0) as file:
                file.truncate()
                if (
                    file.write(bytes(PENDING_BYTES)) == PENDING_BYTES
                ):  # a page without a place on the disk would kill the process
                    self._map = mmap.mmap(file.fileno(), PENDING_BYTES)
        except (OSError, ValueError):
            return

    def add(self, line: bytes) -> None:
        """Add one line, where there is room."""
        with self._lock:
            if self._map is not None and self._end + len(line) <= PENDING_BYTES:
                self._map[self._end : self._end + len(line)] = line
                self._end += len(line)

    def keep_only(self, lines: Iterable[bytes]) -> None:
        """Keep only these lines: the others are in the log by now."""
        with self._lock:
            if self._map is None:
                return
            text = b"".join(lines)[:PENDING_BYTES]
            end, self._end = max(self._end, len(text)), len(text)
            self._map[:end] = text + bytes(end - len(text))

    def close(self) -> None:
        """Close the file, and remove it where nothing waits in it."""
        with self._lock:
            if self._map is None:
                return
            self._map.close()
            self._map = None
            if not self._end:
                with suppress(OSError):
                    self._path.unlink()


def pending_lines(folder: Path) -> list[bytes]:
    """Return what may be pending lines of a folder, without their ends."""
    try:
        content = read_plain(folder / PENDING, PENDING_BYTES)
    except OSError:
        return []
    return [line for line in content.rstrip(b"\0").replace(b"\0", b"\n").split(b"\n") if line]


def _pending_events(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the events that may not have come into the log."""
    for line in pending_lines(folder):
        try:
            yield decode_event(line)
        except ValueError:  # partly written over
            continue


class LogReader:
    """Reads the events of a folder, and the arrays that they name.

    Attributes
    ----------
    skipped : how many lines were left out
    messages : why, the first of them

    Raises
    ------
    InvalidInput
        Where there is no folder of a run.
    """

    def __init__(self, path: Any) -> None:
        self.folder = resolve_folder(path)
        if not (self.folder / STEPS).is_file():
            fix = "Give the folder that nm.Monitor(…, path=…) wrote"
            raise InvalidInput("path", f"{shown(str(self.folder))} contains no {STEPS}", fix)
        self.skipped, self.messages = 0, []  # type: int, list[str]
        self._check_meta()
        self._rows: int | None = None
        self._reading = threading.Lock()

    def _check_meta(self) -> None:
        try:
            meta = json.loads(read_plain(self.folder / META, MAX_META_BYTES))
            version = meta.get("version") if isinstance(meta, dict) else None
        except (OSError, ValueError, RecursionError):
            return self.add_message(f"{META} is missing or damaged")
        if isinstance(version, int) and version > VERSION:
            seen = f"{shown(str(self.folder))} was written by a newer nbmetrics (format {version:.6g})"
            raise InvalidInput("path", seen, "Update nbmetrics")

    def add_message(self, why: str) -> None:
        """Add a reason, unless there are many already."""
        if len(self.messages) < MAX_MESSAGES:
            self.messages.append(why)

    def skip_line(self, number: int, why: object) -> None:
        """Count a line that is left out, and add the reason."""
        self.skipped += 1
        self.add_message(f"line {number}: {why}")

    def events(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield number and event of each good line, those that were pending last."""
        number = 0
        with open(open_plain(self.folder / STEPS, os.O_RDONLY), "rb") as file:
            for number, (line, is_whole) in enumerate(_split_lines(file), 1):
                if number > MAX_LINES:
                    return self.add_message(f"only the first {MAX_LINES:,} lines are read")
                try:
                    if not is_whole:
                        raise ValueError("is torn" if len(line) <= MAX_LINE_BYTES else "is too long")
                    yield number, decode_event(line)
                except ValueError as error:
                    if line:  # an empty one ends what was torn before
                        self.skip_line(number, error)
        yield from ((number + place, event) for place, event in enumerate(_pending_events(self.folder), 1))

    def array(self, place: Place) -> np.ndarray:
        """Return the array at a place of `rows.bin`; ValueError, with the reason, where it is damaged."""
        if self._rows is None:
            try:
                self._rows = open_plain(self.folder / ROWS, os.O_RDONLY)
            except OSError as error:
                raise ValueError(f"{ROWS} cannot be read ({error.strerror})") from None
        with self._reading:  # the place in the file is one for all threads
            return read_array(self._rows, place)

    def __del__(self) -> None:
        if getattr(self, "_rows", None) is not None:
            os.close(self._rows)  # type: ignore[arg-type]


def _split_lines(file: Any) -> Iterator[tuple[bytes, bool]]:
    """Yield each line without its end, and whether it is whole; of too long ones only the beginning."""
    rest, is_long = b"", False
    while chunk := file.read(_CHUNK_BYTES):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            line, rest = rest + line, b""
            yield line, not is_long and len(line) <= MAX_LINE_BYTES
            is_long = False
        rest += last
        if len(rest) > MAX_LINE_BYTES:
            rest, is_long = rest[: MAX_LINE_BYTES + 1], True
    if rest:
        yield rest, False


def resolve_folder(path: Any) -> Path:
    """Return the path of a folder, which need not exist; InvalidInput where it is none or that of a file."""
    try:
        folder = Path(path).expanduser().resolve()
        is_taken = folder.exists() and not folder.is_dir()
    except (TypeError, ValueError, OSError, RuntimeError):
        raise InvalidInput("path", f"got {shown(path)}", "Give the path of a folder") from None
    if is_taken:
        raise InvalidInput("path", f"{shown(str(folder))} exists and is not a folder", "Give the path of a folder")
    return folder


def _refuse_links(folder: Path) -> None:
    """Refuse a folder where a file of a run is a link or no plain file: to write there could change another's."""
    for name in (STEPS, ROWS, META, TORN, PENDING):
        try:
            status = (folder / name).lstat()
        except FileNotFoundError:
            continue
        what = "" if stat.S_ISREG(status.st_mode) else "is not a regular file"
        what = "is a link" if stat.S_ISLNK(status.st_mode) else what or "has another hard link" * (status.st_nlink > 1)
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
        self.pending: PendingLines | None = None
        self.folder = resolve_folder(path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _refuse_links(self.folder)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            self._steps = open_plain(self.folder / STEPS, flags, follow=False)
            self._lock()
            self.torn = self._put_torn_end_aside()
            if lost := list(_pending_events(self.folder)):
                _write_all(self._steps, b"".join(map(encode_event, lost)))
            self.pending = PendingLines(self.folder)
            self._rows = open_plain(self.folder / ROWS, flags, follow=False)
            if not (self.folder / META).exists():
                meta = {"format": FORMAT, "version": VERSION, "made": time.strftime("%Y-%m-%d %H:%M:%S")}
                write(self.folder / META, (json.dumps(meta, indent=1) + "\n").encode())
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
            lock_file(self._steps, wait=False)
        except BlockingIOError:
            seen = f"{shown(str(self.folder))} is being written by another process"
            raise InvalidInput("path", seen, "Choose another folder, or stop the other one") from None
        except OSError:  # a file system without locks
            return

    def _put_torn_end_aside(self) -> int:
        """Move what follows the last end of a line to its own file, and return how many bytes those were."""
        size = start = os.fstat(self._steps).st_size
        tail = b""
        while start and b"\n" not in tail:
            start = max(0, start - _CHUNK_BYTES)
            os.lseek(self._steps, start, os.SEEK_SET)
            tail = os.read(self._steps, min(_CHUNK_BYTES, size - start))
        torn = size - (start + tail.rfind(b"\n") + 1 if b"\n" in tail else 0)
        if torn:
            os.lseek(self._steps, size - torn, os.SEEK_SET)
            aside = open_plain(self.folder / TORN, os.O_WRONLY | os.O_APPEND | os.O_CREAT, follow=False)
            try:
                os.write(aside, os.read(self._steps, min(torn, 2 * MAX_LINE_BYTES)) + b"\n")
            finally:
                os.close(aside)
            os.ftruncate(self._steps, size - torn)
        return torn

    def append_array(self, array: np.ndarray) -> Place:
        """Write an array, and return its place; OSError where it could not be written whole."""
        frame, offset = pack_array(array), os.lseek(self._rows, 0, os.SEEK_END)
        _write_all(self._rows, frame)
        return Place(offset, len(frame))

    def append(self, *events: Mapping[str, Any]) -> None:
        """Write events, a line each, at once; OSError where not all could be written."""
        line = b"".join(map(encode_event, events))
        is_clean, self._is_clean = self._is_clean, False
        _write_all(self._steps, line if is_clean else b"\n" + line)
        self._is_clean = True
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until the disk has what was written."""
        os.fsync(self._rows)
        os.fsync(self._steps)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Close the files; what was written stays, and another writer may go on."""
        for descriptor in (self._steps, self._rows):
            if descriptor >= 0:
                os.close(descriptor)
        self._steps = self._rows = -1
        if self.pending is not None:
            self.pending.close()

    __del__ = close


def _write_all(descriptor: int, data: bytes) -> None:
    """Write all in one call; OSError where it was cut short, as on a full disk."""
    written = os.write(descriptor, data)
    if written < len(data):
        raise OSError(28, f"No space left: {written} of {len(data)} bytes were written")
