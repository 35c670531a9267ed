"""Writing what a user asked for: whole or not at all, and only over a plain file."""

from __future__ import annotations

import os
import secrets
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
