"""Arrays in a file: the safetensors format, which holds numbers and texts and runs nothing when it is read.

Eight bytes with the length of a header, the header as JSON (name → dtype, shape, place), and the numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, shown
from ..files import write as put

DTYPES = {"F32": "<f4", "F64": "<f8", "U8": "|u1"}
_NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
LONGEST_HEADER, LARGEST = 1_000_000, 2 * 10**9


def write(path: Path, arrays: Mapping[str, np.ndarray], about: Mapping[str, str]) -> None:
    """Write float32, float64 and uint8 arrays by name, and texts about them, whole or not at all."""
    header: dict[str, Any] = {"__metadata__": dict(about)}
    parts, end = [], 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        place = [end, end := end + len(data)]
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": place}
        parts.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers begin at a multiple of 8
    put(path, b"".join([len(text).to_bytes(8, "little"), text, *parts]))


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays of a file, and the texts about them.

    Raises InvalidInput for a file that is none of these, before anything of the size that it claims is made.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("too large")
        data = path.read_bytes()
        header, body = _cut(data)
        about = header.pop("__metadata__", {})
        if not all(isinstance(text, str) for text in about.values()):
            raise ValueError("texts")
        return {name: _array(entry, body) for name, entry in header.items()}, about
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else "is no safetensors file of a trained model"
        raise InvalidInput("path", f"{shown(str(path))}: {said}", "Give a file that Trained.save wrote") from None


def _cut(data: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= min(LONGEST_HEADER, len(data) - 8):
        raise ValueError("header")
    header = json.loads(data[8 : 8 + length])
    if not isinstance(header, dict):
        raise ValueError("header")
    return header, data[8 + length :]


def _array(entry: Mapping[str, Any], body: bytes) -> np.ndarray:
    dtype, shape, (start, end) = np.dtype(DTYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
    whole = [type(number) is int and number >= 0 for number in (*shape, start, end)]
    if not all(whole) or end > len(body) or end - start != dtype.itemsize * math.prod(shape):
        raise ValueError("place")
    return np.frombuffer(body[start:end], dtype).reshape(shape).copy()
