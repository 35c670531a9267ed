"""Writing what a user asked for: whole or not at all, and only over a plain file."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from .errors import InvalidInput, shown


def checked_path(path: Any, *suffixes: str) -> Path:
    """`path` with links followed, if a file of one of `suffixes` can be there."""
    try:
        target = Path(path).expanduser().resolve()
        is_taken = target.exists() and not target.is_file()
    except (TypeError, ValueError, OSError, RuntimeError):
        raise InvalidInput("path", f"got {shown(path)}", "Give the path of a file") from None
    if target.suffix.lower() not in suffixes:
        raise InvalidInput("path", f"got {shown(str(path))}", f"Give a name that ends in {' or '.join(suffixes)}")
    if is_taken:
        raise InvalidInput("path", f"{shown(str(path))} exists and is not a file", "Give the path of a file")
    if not target.parent.is_dir():
        raise InvalidInput("path", f"there is no folder {shown(str(target.parent))}", "Make it first")
    return target


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


def write(target: Path, data: bytes) -> Path:
    """Put `data` at `target`; a reader, or a full disk, never leaves half a file."""
    draft = target.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        try:
            draft.write_bytes(data)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        seen = f"{shown(str(target))} cannot be written ({error.strerror})"
        raise InvalidInput("path", seen, "Choose another place") from None
    return target
