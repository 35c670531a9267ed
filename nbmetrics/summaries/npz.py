"""Arrays of a .npz file by name, bounded: shape and type are known before anything large is read, and no pickle is.

A .npz is a zip of .npy files. NumPy makes an array of whatever size a header claims; here the header is read first.
"""

from __future__ import annotations

import io
import math
import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, shown
from ..files import open_plain

MAX_ARRAYS, MAX_HEADER_BYTES = 1_000, 10_000
# Of a zip's own record before the bytes of a member, and where in it the lengths of name and extra field stand.
RECORD_BYTES, LENGTHS_AT = 30, 26
FIX = "Give a .npz file as numpy.savez writes it"


class Header(NamedTuple):
    """What a .npy file says of itself: its array, and after how many bytes that begins."""

    shape: tuple[int, ...]
    is_by_columns: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(start: io.BytesIO) -> Header:
    """Return what the first bytes of a .npy file say; ValueError of anything else."""
    try:
        version = np.lib.format.read_magic(start)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        return Header(*read(start, max_header_size=MAX_HEADER_BYTES), start.tell())
    except Exception:  # NumPy reads the header as Python, and garbage makes that fail in many ways
        raise ValueError("is no array in the .npy format") from None


class ArrayFile:
    """An open .npz file."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive, self.path = archive, path
        members = archive.infolist()
        if len(members) > MAX_ARRAYS:
            raise self.bad(f"contains {len(members):,} files")
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        self.names = tuple(self._members)
        if len(self.names) < len(members):
            raise self.bad("contains two arrays of one name")

    def bad(self, seen: str, fix: str = FIX) -> InvalidInput:
        """Return the refusal of this file."""
        return InvalidInput("path", f"{shown(str(self.path))} {seen}", fix)

    def header(self, name: str) -> Header:
        """Return the header of an array; InvalidInput unless it is of numbers."""
        with self._archive.open(self._members[name]) as file:
            return self._header(name, io.BytesIO(file.read(MAX_HEADER_BYTES)))

    def _header(self, name: str, start: io.BytesIO) -> Header:
        try:
            header = read_header(start)
        except ValueError:
            raise self.bad(f"contains {shown(name)}, which is no array in the .npy format") from None
        if header.dtype.kind not in "fiu":
            kind = "a pickle, which is not opened" if header.dtype.hasobject else f"of type {header.dtype}"
            raise self.bad(f"contains {shown(name)}, which is {kind}", "Give arrays of numbers")
        if min(header.shape, default=1) < 0:
            raise self.bad(f"contains {shown(name)} of shape {header.shape}")
        return header

    def read(self, name: str, most: int) -> np.ndarray:
        """Return an array of at most so many bytes."""
        header = self.header(name)
        if header.nbytes > most:
            seen = f"contains {shown(name)} of shape {header.shape}, {header.nbytes / 1e9:,.3g} GB"
            raise self.bad(seen, f"Give at most {most / 1e9:.3g} GB")
        with self._archive.open(self._members[name]) as file:
            file.read(header.start)
            content = file.read(header.nbytes + 1)
        if len(content) != header.nbytes:
            kept = "more" if len(content) > header.nbytes else f"{len(content):,} of {header.nbytes:,}"
            raise self.bad(f"contains {shown(name)} with {kept} bytes: it is damaged", "Copy it again")
        array = np.frombuffer(content, dtype=header.dtype)
        return array.reshape(header.shape, order="F" if header.is_by_columns else "C")

    def mapped(self, name: str, most: int) -> np.ndarray:
        """Return an array, in the file where it lies as it is, else read, of at most so many bytes."""
        member, header = self._members[name], self.header(name)
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            return self.read(name, most)
        with open(self.path, "rb") as file:
            file.seek(member.header_offset)
            lengths = struct.unpack_from("<HH", file.read(RECORD_BYTES), LENGTHS_AT)
        start = member.header_offset + RECORD_BYTES + sum(lengths) + header.start
        if header.start + header.nbytes != member.file_size or start + header.nbytes > self.path.stat().st_size:
            raise self.bad(f"contains {shown(name)}, which is damaged", "Copy it again")
        order = "F" if header.is_by_columns else "C"
        return np.memmap(self.path, header.dtype, "r", start, header.shape, order)  # type: ignore[call-overload]


@contextmanager
def open_npz(path: Any) -> Iterator[ArrayFile]:
    """Open a .npz file; whatever is wrong with it is InvalidInput that names it."""
    try:
        place = Path(path).expanduser()
        with open(open_plain(place, os.O_RDONLY), "rb") as file, zipfile.ZipFile(file) as archive:
            yield ArrayFile(archive, place)
    except InvalidInput:
        raise
    except OSError as error:
        seen = f"cannot read {shown(str(path))} ({error.strerror or 'damaged'})"
        raise InvalidInput("path", seen, FIX) from None
    except Exception:  # garbage makes zipfile and its decompressors fail in many ways
        raise InvalidInput("path", f"{shown(str(path))} is no .npz file, or damaged", FIX) from None
