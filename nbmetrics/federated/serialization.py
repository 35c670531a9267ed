"""The bytes that a client sends: a header that says what follows, the numbers, and a checksum. Neither pickle nor zip.

    8 bytes   "NBMETSM" and the version of the format, 2
    4 bytes   length of the header, little-endian
    header    JSON: {"dim": d, "sections": [{"metric", "says", "kind", "count", "type", "arrays": [[name, shape], …]}]},
              and "columns": [name, …] of the rows of a table
    numbers   every array of every section, one after the other, little-endian, as "type" says ("<f8" or "<f4")
    32 bytes  SHA-256 of all bytes before it

The checksum finds damage, not forgery: whoever changes the numbers can compute it anew. Version 1 had none, and is read
all the same. What is read is of strangers: before anything is allocated the shapes must add up to the bytes that are
there.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import InvalidInput, check_choice, check_count, check_number, shown
from ..tables import parsed_columns

NAME, VERSION = b"NBMETSM", 2
MAGIC = NAME + bytes([VERSION])
START = len(MAGIC) + 4
CHECKSUM = hashlib.sha256().digest_size
TYPES = ("<f8", "<f4")
MAX_HEADER_BYTES, MAX_SECTIONS, MAX_ARRAYS, MAX_AXES = 1 << 20, 1000, 8, 2
MAX_FEATURES, MAX_ROWS, MAX_ABS_NUMBER = 1_000_000, 10**15, 1e100
# What kinds of sections begin with, whose numbers are noisy.
NOISE = "noisy "
FIX_DAMAGED = "Send what nm.federated.client_summary made, unchanged"


@dataclass(frozen=True, eq=False)
class Section:
    """What a client reveals for one metric.

    Attributes
    ----------
    metric, says : its name and its convention, which both sides must share
    kind : what the arrays are, see `reveal`
    count : rows behind it, infinity of an exact distribution
    arrays : name -> array of at most two axes
    type : of the numbers on the wire, "<f8" or "<f4"
    notes : further numbers of the header, such as a bound on the error of what was left out
    columns : what the features are called, the same in all sections, or None
    """

    metric: str
    settings_text: str
    kind: str
    count: float
    arrays: Mapping[str, np.ndarray]
    type: str = "<f8"
    notes: Mapping[str, float] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None

    @property
    def head(self) -> dict[str, Any]:
        """Return its part of the header."""
        count = None if math.isinf(self.count) else int(self.count)
        arrays = [[name, list(array.shape)] for name, array in self.arrays.items()]
        notes = {"notes": dict(self.notes)} if self.notes else {}
        head = {"metric": self.metric, "says": self.settings_text, "kind": self.kind, "count": count, "type": self.type}
        return {**head, **notes, "arrays": arrays}


def size(dim: int, sections: Sequence[Section]) -> int:
    """Return how many bytes `write` gives, from the shapes alone."""
    numbers = sum(math.prod(a.shape) * int(s.type[-1]) for s in sections for a in s.arrays.values())
    return START + len(_header(dim, sections)) + numbers + CHECKSUM


def write(dim: int, sections: Sequence[Section]) -> bytes:
    """Return the sections as bytes."""
    for section in sections:
        _check_range(section)
    header = _header(dim, sections)
    numbers = [np.ascontiguousarray(a, dtype=s.type).tobytes() for s in sections for a in s.arrays.values()]
    return with_checksum(b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *numbers]))


def with_checksum(body: bytes) -> bytes:
    """Return the bytes with their checksum behind them."""
    return body + hashlib.sha256(body).digest()


def has_checksum(data: Any) -> bool:
    """Return whether bytes that `read` accepted were checked for damage: version 1 cannot be."""
    return bytes(data[len(NAME) : len(MAGIC)]) != b"\x01"


def _check_range(section: Section) -> None:
    """Raise InvalidInput for numbers that their type, or the reader, cannot hold."""
    least, most = (1e-30, 1e38) if section.type == "<f4" else (0.0, MAX_ABS_NUMBER)
    for array in section.arrays.values():
        size = float(np.abs(array).max(initial=0.0))
        if size > most or 0.0 < size < least:
            seen = f"has numbers of magnitude {size:.3g} for {section.metric}"
            raise InvalidInput("rows", seen, "Rescale the features, or leave precision at float64")


def _header(dim: int, sections: Sequence[Section]) -> bytes:
    head: dict[str, Any] = {"dim": dim, "sections": [section.head for section in sections]}
    columns = next((section.columns for section in sections), None)
    if columns and sum(len(name.encode()) for name in columns) + 4 * len(columns) <= MAX_HEADER_BYTES // 4:
        head["columns"] = columns  # more names than these would leave no room for the sections
    return json.dumps(head, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode()


def read(data: Any, who: str) -> tuple[int, dict[str, Section]]:
    """Return the dimension and the sections by metric; InvalidInput, about `who`, for bytes not made by `write`."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidInput(who, f"is {type(data).__name__}", f"Give bytes. {FIX_DAMAGED}")
    data = bytes(data)
    try:
        return _read(data)
    except InvalidInput as error:
        seen = error.seen if error.argument == "summary" else f"{error.argument} {error.seen}"
        raise InvalidInput(who, seen, FIX_DAMAGED) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise InvalidInput(who, f"has a header that cannot be read ({type(error).__name__})", FIX_DAMAGED) from None


def _body(data: bytes) -> bytes:
    """Return the bytes before the checksum, which must be theirs; all bytes of version 1, which has none."""
    if not data.startswith(NAME):
        seen = f"begins with {shown(data[:8])}, so it is not a client summary" if data else "is empty"
        raise InvalidInput("summary", seen, FIX_DAMAGED)
    version = int.from_bytes(data[len(NAME) : len(MAGIC)], "little")
    if version == 1:
        return data
    if version != VERSION:
        raise InvalidInput(
            "summary", f"has version {version}, but only versions 1 and {VERSION} can be read", FIX_DAMAGED
        )
    body, checksum = data[:-CHECKSUM], data[-CHECKSUM:]
    if hashlib.sha256(body).digest() != checksum:
        raise InvalidInput("summary", "is damaged or cut short: its checksum is not that of its bytes", FIX_DAMAGED)
    return body


def _read(data: bytes) -> tuple[int, dict[str, Section]]:
    data = _body(data)
    length = int.from_bytes(data[len(MAGIC) : START], "little")
    if len(data) < START or length > min(MAX_HEADER_BYTES, len(data) - START):
        raise InvalidInput("summary", f"is cut short, or its header of {length:,} bytes is too long", FIX_DAMAGED)
    head = json.loads(data[START : START + length].decode())
    dim = check_count(_check_whole_number(head["dim"]), "dim", maximum=MAX_FEATURES)
    columns = parsed_columns(head.get("columns"), dim)
    listed = _check_items(head["sections"], "sections", MAX_SECTIONS)
    sections_by_name, position = {}, START + length
    shapes = [_shapes(item["arrays"]) for item in listed]
    types = [check_choice(item["type"], TYPES, "type") for item in listed]
    promised = sum(math.prod(shape) * int(t[-1]) for part, t in zip(shapes, types, strict=True) for _, shape in part)
    if promised != len(data) - position:
        there = f"{len(data) - position:,} bytes of numbers, and promises {promised:,}"
        raise InvalidInput("summary", f"has {there}", FIX_DAMAGED)
    for item, part, kind_of in zip(listed, shapes, types, strict=True):
        arrays = {}
        for name, shape in part:
            count = math.prod(shape)
            values = np.frombuffer(data, dtype=kind_of, count=count, offset=position).astype(np.float64)
            position += count * int(kind_of[-1])
            if not (np.abs(values) <= MAX_ABS_NUMBER).all():  # NaN is not
                raise InvalidInput(name, f"has numbers that are not finite, or beyond {MAX_ABS_NUMBER:g}", FIX_DAMAGED)
            arrays[name] = values.reshape(shape)
        section = replace(_section(item, arrays, kind_of), columns=columns)
        if section.metric in sections_by_name:
            raise InvalidInput("sections", f"has {shown(section.metric)} twice", FIX_DAMAGED)
        sections_by_name[section.metric] = section
    return dim, sections_by_name


def _section(item: Any, arrays: dict[str, np.ndarray], kind_of: str) -> Section:
    metric, said, kind = (item[key] for key in ("metric", "says", "kind"))
    if not all(isinstance(text, str) for text in (metric, said, kind)):
        raise TypeError
    count = (
        math.inf
        if item["count"] is None
        else check_count(_check_whole_number(item["count"]), "count", maximum=MAX_ROWS)
    )
    notes = item.get("notes", {})
    if not isinstance(notes, dict) or len(notes) > MAX_ARRAYS:
        raise TypeError
    checked = {
        str(k): check_number(v, str(k), minimum=-MAX_ABS_NUMBER, maximum=MAX_ABS_NUMBER) for k, v in notes.items()
    }
    if kind.startswith(NOISE) and "sigma" not in checked:
        raise InvalidInput("sigma", f"is missing for {shown(metric)}, whose numbers are noisy", FIX_DAMAGED)
    return Section(metric, said, kind, count, arrays, kind_of, checked)


def _shapes(items: Any) -> list[tuple[str, tuple[int, ...]]]:
    pairs = [
        (name, _check_items(shape, "shape", MAX_AXES)) for name, shape in _check_items(items, "arrays", MAX_ARRAYS)
    ]
    if not all(isinstance(name, str) and shape for name, shape in pairs) or len(dict(pairs)) < len(pairs):
        raise TypeError
    return [
        (n, tuple(check_count(_check_whole_number(k), n, minimum=0, maximum=MAX_ROWS) for k in shape))
        for n, shape in pairs
    ]


def _check_items(items: Any, name: str, most: int) -> list[Any]:
    if not isinstance(items, list) or len(items) > most:
        raise InvalidInput(name, f"is {shown(items)}", FIX_DAMAGED)
    return items


def _check_whole_number(value: Any) -> int:
    if type(value) is not int:  # a bool is none
        raise TypeError
    return value
