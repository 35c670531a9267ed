"""Writing what a user asked for: whole or not at all, and only over a plain file; and what differs on Windows."""

from __future__ import annotations

import errno
import importlib
import json
import os
import secrets
import stat
import sys
import time
from pathlib import Path
from typing import Any

from .errors import InvalidInput, shown

# Windows locks bytes instead of files: one that no file here reaches. It replaces no file that somebody has open, such
# as a reader or a virus scanner, for a moment.
LOCKED_BYTE = 2**40
MAX_REPLACE_SECONDS, REPLACE_PAUSE_SECONDS = 2.0, 0.02
# An empty list takes 3 bytes of JSON and 64 of memory.
MAX_JSON_PARTS = 1 << 24


def checked_path(path: Any, *suffixes: str) -> Path:
    """`path` with links followed, if a file of one of `suffixes` can be there."""
    try:
        target = Path(path).expanduser().resolve()
        is_taken = target.exists() and not target.is_file()
    except (TypeError, ValueError, OSError, RuntimeError):
        raise InvalidInput("path", f"got {shown(path)}", "Give the path of a file") from None
    if target.suffix.lower() not in suffixes:
        raise InvalidInput("path", f"got {shown(path)}", f"Give a name that ends in {' or '.join(suffixes)}")
    if is_taken:
        raise InvalidInput("path", f"{shown(path)} exists and is not a file", "Give the path of a file")
    if not target.parent.is_dir():
        raise InvalidInput("path", f"there is no folder {shown(str(target.parent))}", "Make it first")
    return target


def make_folder(folder: Any, argument: str, fix: str) -> tuple[Path, list[str]]:
    """Return the path of a folder, made where it is not there, and the names in it."""
    try:
        path = Path(folder).expanduser().resolve()
        path.mkdir(parents=True, exist_ok=True)
        return path, [entry.name for entry in path.iterdir()]
    except (TypeError, ValueError, OSError, RuntimeError) as error:
        why = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
        raise InvalidInput(argument, f"got {shown(folder)}, which cannot be a folder{why}", fix) from None


def open_plain(path: Path, flags: int, *, follow: bool = True) -> int:
    """The descriptor of a plain file, as `os.open` gives it; OSError at once for a FIFO, a device or a folder.

    With `follow=False` for a link, too: a folder of somebody else's may link to any file of one's own.
    """
    if not follow and os.path.islink(path):
        raise OSError(errno.ELOOP, f"{path.name} is a link")
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | (0 if follow else getattr(os, "O_NOFOLLOW", 0)), 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"{path.name} is not a regular file")
    return descriptor


def read_plain(path: Path, limit: int = sys.maxsize, *, follow: bool = True) -> bytes:
    """Return the bytes of a plain file, the first `limit` of a longer one; OSError as `open_plain` raises it.

    CPython allocates what it is asked for before it reads, so it is not asked for more than there is.
    """
    with open(open_plain(path, os.O_RDONLY, follow=follow), "rb") as file:
        size = min(os.fstat(file.fileno()).st_size, limit)
        try:
            return file.read(size)
        except MemoryError:
            raise OSError(errno.ENOMEM, f"memory has no room for {size:,} bytes") from None


def parse_json(data: bytes) -> Any:
    """Return the value of JSON; ValueError where it is none, or has so many parts that it would fill the memory."""
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_JSON_PARTS:
        raise ValueError(f"has more than {MAX_JSON_PARTS:,} parts")
    return json.loads(data.decode())


def write(target: Path, data: bytes) -> Path:
    """Put `data` at `target`; a reader, or a full disk, never leaves half a file."""
    draft = target.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        try:
            draft.write_bytes(data)
            replace_file(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        seen = f"{shown(str(target))} cannot be written ({error.strerror})"
        raise InvalidInput("path", seen, "Choose another place") from None
    return target


def write_once(target: Path, data: bytes, mode: int = 0o666) -> None:
    """Put `data` at `target`, whole from the start, unless another process was first; OSError where that cannot be."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        try:
            os.link(draft, target)
        except (OSError, AttributeError):  # another was first, or there are no hard links, as in Pyodide
            if not target.exists():
                replace_file(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def replace_file(draft: Path, target: Path) -> None:
    """Give the draft the name of the target, whose old content goes; on Windows once nobody has the old one open."""
    end = time.monotonic() + MAX_REPLACE_SECONDS
    while True:
        try:
            return os.replace(draft, target)
        except PermissionError:
            if os.name != "nt" or time.monotonic() > end:
                raise
            time.sleep(REPLACE_PAUSE_SECONDS)


def lock_file(descriptor: int, *, wait: bool) -> None:
    """Lock an open file until it is closed or its process ends; BlockingIOError if another has it and `wait` is False.

    OSError where the file system has no locks.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        _lock_byte(descriptor, wait)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def _lock_byte(descriptor: int, wait: bool) -> None:
    try:
        msvcrt: Any = importlib.import_module("msvcrt")
    except ImportError:  # Pyodide, which has no locks, and one process
        return
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        while True:
            os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except PermissionError as error:
                if not wait:
                    raise BlockingIOError(error.errno, "another process has locked the file") from None
            time.sleep(REPLACE_PAUSE_SECONDS)
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
