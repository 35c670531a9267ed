"""What was handed over and is not yet written, in a file that is mapped into memory: it outlives a killed process.

    pending.bin   lines as of `steps.jsonl`, one after the other, then zeros

The training's thread only copies a line into memory; no call to the system, no file, nothing to wait for. What the log
has by then is written over, so a reader takes every whole line of it and leaves out the rest without a word.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ...files import open_plain

PENDING = "pending.bin"
SIZE = 2**18


class Pending:
    """The pending lines of a folder, empty at first; of a folder that cannot hold them, none."""

    def __init__(self, folder: Path) -> None:
        self._lock, self._end, self._path = threading.Lock(), 0, folder / PENDING
        self._map: mmap.mmap | None = None
        try:
            descriptor = open_plain(self._path, os.O_RDWR | os.O_CREAT, follow=False)
            with open(descriptor, "r+b", buffering=0) as file:
                file.truncate()
                if file.write(bytes(SIZE)) == SIZE:  # a page without a place on the disk would kill the process
                    self._map = mmap.mmap(file.fileno(), SIZE)
        except (OSError, ValueError):
            return

    def add(self, line: bytes) -> None:
        """Keep one more line, where there is room."""
        with self._lock:
            if self._map is not None and self._end + len(line) <= SIZE:
                self._map[self._end : self._end + len(line)] = line
                self._end += len(line)

    def keep(self, lines: Iterable[bytes]) -> None:
        """Only these wait from now on; the others are written."""
        with self._lock:
            if self._map is None:
                return
            left = b"".join(lines)[:SIZE]
            end, self._end = max(self._end, len(left)), len(left)
            self._map[:end] = left + bytes(end - len(left))

    def close(self) -> None:
        """End it; the file stays only where something waits in it."""
        with self._lock:
            if self._map is None:
                return
            self._map.close()
            self._map = None
            if not self._end:
                with suppress(OSError):
                    self._path.unlink()


def pending_lines(folder: Path) -> list[bytes]:
    """What may be lines, without their ends."""
    try:
        with open(open_plain(folder / PENDING, os.O_RDONLY), "rb") as file:
            held = file.read(SIZE)
    except OSError:
        return []
    return [line for line in held.replace(b"\0", b"\n").split(b"\n") if line]
