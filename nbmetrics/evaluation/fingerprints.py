"""What rows, distributions and metrics are, as keyed hashes: equal ones have equal hashes, and nobody can guess back.

The key belongs to a store, so that a hash says nothing to those who have not the store: whoever guesses a row cannot
confirm it. What may differ without a visible sign, such as a function or an object of a user's own class, has no hash.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import __version__
from ..arrays import is_array, to_numpy
from ..metrics import Metric, Sample
from ..summaries.stream import Stream

KEY_BYTES = DIGEST_BYTES = 32
# Rows that are hashed at once, in bytes of memory.
BLOCK_BYTES = 1 << 24


class Unknown(Exception):
    """Raised for what has no hash."""


class Fingerprints:
    """The hashes of one store.

    Parameters
    ----------
    key : 32 bytes
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._arrays: dict[int, tuple[Any, str]] = {}  # by id, with the array, which keeps its id

    def hasher(self) -> Any:
        """Return an empty hash of this store."""
        return hashlib.blake2b(key=self._key, digest_size=DIGEST_BYTES)

    def of_text(self, *parts: str) -> str:
        """Return the hash of texts."""
        own = self.hasher()
        for part in parts:
            own.update(len(part.encode()).to_bytes(8, "little") + part.encode())
        return str(own.hexdigest())

    def of_sample(self, sample: Sample | None) -> str | None:
        """Return the hash of what a metric sees of a client or generator, None where it has none."""
        if sample is None:
            return None
        parts = sample.rows, sample.distribution, sample.test, sample.condition, sample.stream
        try:
            return self.of_text("sample", *map(self._of, parts))
        except Unknown:
            return None

    def of_metric(self, metric: Metric[Any]) -> str | None:
        """Return the hash of a metric with its settings, by this version of the package; None of a user's own."""
        try:
            return self.of_text("metric", __version__, self._of(metric))
        except Unknown:
            return None

    def _of(self, value: Any) -> str:
        if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
            return self.of_text(type(value).__name__, repr(value))
        if is_array(value):
            return self._of_array(value)
        if isinstance(value, Stream):
            return self._of_stream(value)
        if isinstance(value, Mapping):
            return self._of_items("dict", [part for pair in value.items() for part in pair])
        if isinstance(value, tuple | list):
            return self._of_items(type(value).__name__, value)
        if isinstance(value, type):
            return self._of_own("class", value)
        if isinstance(value, types.FunctionType):
            return self._of_own("function", value)
        return self._of_object(value)

    def _of_items(self, kind: str, items: Iterable[Any]) -> str:
        return self.of_text(kind, *map(self._of, items))

    def _of_object(self, value: Any) -> str:
        """Of the package's own objects, by their class and state; what is cached in a name that starts with _ apart."""
        kind = self._of_own("object", type(value))
        if not hasattr(value, "__dict__"):
            raise Unknown
        state = {name: part for name, part in vars(value).items() if not _is_cache(type(value), name)}
        return self.of_text(kind, *(self.of_text(name, self._of(state[name])) for name in sorted(state)))

    def _of_own(self, what: str, value: Any) -> str:
        """Of a class or function of the package, whose code goes with its version."""
        name = f"{value.__module__}.{value.__qualname__}"
        if not name.startswith("nbmetrics.") or "<" in name:
            raise Unknown
        return self.of_text(what, name)

    def _of_stream(self, stream: Stream) -> str:
        if stream.digest is None:
            raise Unknown
        return self.of_text("stream", stream.digest)

    def _of_array(self, array: Any) -> str:
        if id(array) not in self._arrays:
            self._arrays[id(array)] = array, self._hash_of_array(to_numpy(array))
        return self._arrays[id(array)][1]

    def _hash_of_array(self, array: np.ndarray) -> str:
        if array.dtype.hasobject:
            raise Unknown
        own = self.hasher()
        own.update(f"{array.dtype.str} {array.shape}".encode())
        rows = array.reshape(1) if array.ndim == 0 else array
        step = max(1, BLOCK_BYTES // max(1, rows[:1].nbytes))
        for start in range(0, len(rows), step):
            own.update(np.ascontiguousarray(rows[start : start + step]))
        return str(own.hexdigest())


def _is_cache(kind: type, name: str) -> bool:
    """Whether an attribute is only what a cached property has computed."""
    return type(getattr(kind, name, None)).__name__ == "cached_property"
