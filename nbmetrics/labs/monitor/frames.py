"""Arrays in a file, each in a frame with a checksum: `len|crc|dtype|shape|bytes`.

A frame is found by its place and length, so whatever lies between two frames, such as one that a killed process or a
full disk left half written, is never looked at. A reader trusts nothing: sizes are checked against the file and the
limits before anything is held in memory, and the shape must be that of the bytes.
"""

from __future__ import annotations

import math
import os
import struct
import zlib
from typing import NamedTuple

import numpy as np

MAGIC = b"nbm1"
# Magic, bytes of the array, crc32 of all that follows the crc, dtype, number of dimensions.
_HEAD = struct.Struct("<4sII2sH")
_CRC_STARTS, _CRC_ENDS = 8, 12
# Little-endian, as the letters of the header.
DTYPES = {b"f4": "<f4", b"f8": "<f8", b"i4": "<i4", b"u1": "|u1"}
MOST_DIMENSIONS = 4
LARGEST_FRAME = 64 * 2**20


class Place(NamedTuple):
    """Where a frame lies in its file, in bytes."""

    offset: int
    length: int


def packed(array: np.ndarray) -> bytes:
    """The frame of an array of one of `DTYPES`."""
    kind = next(code for code, name in DTYPES.items() if np.dtype(name) == array.dtype)
    if array.ndim > MOST_DIMENSIONS or array.nbytes > LARGEST_FRAME // 2:
        raise ValueError(f"an array of shape {array.shape} has no frame")
    shape = struct.pack(f"<{array.ndim}q", *array.shape)
    body = np.ascontiguousarray(array, dtype=DTYPES[kind]).tobytes()
    head = _HEAD.pack(MAGIC, len(body), 0, kind, array.ndim)
    crc = zlib.crc32(body, zlib.crc32(shape, zlib.crc32(head[_CRC_ENDS:])))
    return head[:_CRC_STARTS] + struct.pack("<I", crc) + head[_CRC_ENDS:] + shape + body


def unpacked(frame: bytes) -> np.ndarray:
    """The array of a frame; ValueError, with the reason, where it is none."""
    if len(frame) < _HEAD.size:
        raise ValueError("is shorter than a frame's head")
    magic, size, crc, kind, dimensions = _HEAD.unpack_from(frame)
    if magic != MAGIC or kind not in DTYPES or dimensions > MOST_DIMENSIONS:
        raise ValueError("is no frame")
    if len(frame) != _HEAD.size + 8 * dimensions + size:
        raise ValueError("has another length than it says")
    if zlib.crc32(frame[_CRC_ENDS:]) != crc:
        raise ValueError("has another checksum than it says")
    shape = struct.unpack_from(f"<{dimensions}q", frame, _HEAD.size)
    dtype = np.dtype(DTYPES[kind])
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size:
        raise ValueError("has a shape that its bytes do not fill")
    return np.frombuffer(frame, dtype, offset=_HEAD.size + 8 * dimensions).reshape(shape)


def read(descriptor: int, place: Place) -> np.ndarray:
    """The array at a place of an open file; ValueError, with the reason, where there is none."""
    offset, length = place
    if not 0 < length <= LARGEST_FRAME or not 0 <= offset <= os.fstat(descriptor).st_size - length:
        raise ValueError("lies outside of the file")
    os.lseek(descriptor, offset, os.SEEK_SET)
    return unpacked(_whole(descriptor, length))


def _whole(descriptor: int, length: int) -> bytes:
    parts = []
    while length and (part := os.read(descriptor, length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
