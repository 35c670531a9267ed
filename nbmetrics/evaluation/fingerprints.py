"""What rows, distributions and metrics are, as keyed hashes: equal ones have equal hashes, and nobody can guess back.

Rows have one hash wherever they are: in memory, in batches of any size, or on a worker of a cluster.

The key belongs to a store, so that a hash says nothing to those who have not the store: whoever guesses a row cannot
confirm it. What may differ without a visible sign, such as a function or an object of a user's own class, has no hash.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .. import __version__
from ..arrays import is_array, to_numpy
from ..metrics import Metric, Sample
from ..summaries.stream import HashedRows

KEY_BYTES = DIGEST_BYTES = 32
# Rows that have a hash of their own within that of all rows, in bytes of float64.
BLOCK_BYTES = 1 << 24


class Unknown(Exception):
    """Raised for what has no hash."""


class RowsHash:
    """The hash of rows that come in batches, the same for batches of any size: that of the hashes of its blocks.

    Parameters
    ----------
    hasher : returns an empty hash

    Attributes
    ----------
    kinds : type and width of the rows, as a set of one
    blocks : hashes of the blocks that are full
    """

    def __init__(self, hasher: Callable[[], Any]) -> None:
        self._hasher, self._open, self._count = hasher, hasher(), 0
        self.kinds: set[str] = set()
        self.blocks: list[str] = []

    def take(self, rows: np.ndarray) -> None:
        """Add a batch of rows (n, d)."""
        self.kinds.add(f"{rows.dtype.str} {rows.shape[1]}")
        size = hash_block_rows(rows.shape[1])
        while len(rows):
            part, rows = rows[: size - self._count], rows[size - self._count :]
            self._open.update(np.ascontiguousarray(part))
            self._count += len(part)
            if self._count == size:
                self._close()

    def _close(self) -> None:
        self.blocks.append(self._open.hexdigest())
        self._open, self._count = self._hasher(), 0

    def end(self) -> str | None:
        """Return the hash of all rows; None of batches of several types, which have no one array."""
        if self._count:
            self._close()
        return hash_of_blocks(self._hasher, self.kinds, self.blocks)


def hash_of_blocks(hasher: Callable[[], Any], kinds: set[str], blocks: Iterable[str]) -> str | None:
    """Return the hash of rows from those of their blocks, see `RowsHash`."""
    whole = hasher()
    whole.update(" ".join([*kinds, *blocks]).encode())
    return str(whole.hexdigest()) if len(kinds) == 1 else None


def hash_block_rows(dim: int) -> int:
    """Return how many rows of `dim` features a block of a `RowsHash` has."""
    return max(1, BLOCK_BYTES // (8 * max(dim, 1)))


class Fingerprints:
    """The hashes of one store.

    Parameters
    ----------
    key : 32 bytes
    """

    def __init__(self, key: bytes) -> None:
        self.key = key

    def hasher(self) -> Any:
        """Return an empty hash of this store."""
        return hashlib.blake2b(key=self.key, digest_size=DIGEST_BYTES)

    def rows_hash(self) -> RowsHash:
        """Return an empty hash of rows."""
        return RowsHash(self.hasher)

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
        rows = sample.rows if sample.stream is None else sample.stream
        moments = [] if sample.moments is None else [sample.moments]
        parts = rows, sample.distribution, sample.test, sample.condition, *moments
        try:
            return self.of_text("sample", *map(self._of, parts))
        except Unknown:
            return None

    def of_terms(self, metric: Metric[Any]) -> str | None:
        """Return the hash of a metric with all that its terms depend on."""
        try:
            return self.of_text("terms", self._of(metric))
        except Unknown:
            return None

    def of_metric(self, metric: Metric[Any]) -> str | None:
        """Return the hash of a metric with its settings, by this version of the package; None of a user's own.

        Two that differ only in what `Metric.canonical` leaves out have the same.
        """
        canonical = metric.canonical
        try:
            return self.of_text("metric", __version__, self._of(canonical), str(canonical is metric))
        except Unknown:
            return None

    def _of(self, value: Any) -> str:
        if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
            return self.of_text(type(value).__name__, repr(value))
        if isinstance(value, HashedRows):
            return _required(value.digest)
        if is_array(value):
            return self._of_array(value)
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

    def _of_array(self, value: Any) -> str:
        array = to_numpy(value)
        if array.dtype.hasobject:
            raise Unknown
        rows = self.rows_hash()
        rows.take(array if array.ndim == 2 else array.reshape(1, -1))
        return _required(rows.end()) if array.ndim == 2 else self.of_text(f"{array.shape}", _required(rows.end()))


def _required(digest: str | None) -> str:
    if digest is None:
        raise Unknown
    return digest


def _is_cache(owner: type, name: str) -> bool:
    """Whether an attribute is only what a cached property has computed."""
    return type(getattr(owner, name, None)).__name__ == "cached_property"
