"""What rows can be streamed from: each kind of source gives its batches from the first on, as often as it can.

Nothing is imported for it: a dask or zarr array and a torch loader are known by what they have, pyarrow comes late.
"""

from __future__ import annotations

import math
import mmap
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from inspect import Signature, signature
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import PASSING_BYTES, memory
from ..errors import InvalidInput, shown
from ..tables import is_batch, row_bytes, schema_columns, schema_rows

PARQUET = ".parquet"
MOST_PATHS = 100_000


class Source:
    """Batches of rows, from the first on at each call of `parts`.

    Attributes
    ----------
    what : it in words, for messages
    size : rows, or None where the source does not say
    columns : what its features are called, or None
    is_repeatable : whether `parts` can be called again
    is_fresh : whether every batch is an array of its own
    is_local : whether no other process can read it
    first : the number of its first row, from 0, where messages name rows and not batches; else None
    """

    what = "an iterable of batches"
    size: int | None = None
    columns: tuple[str, ...] | None = None
    is_repeatable = True
    is_fresh = True
    is_local = False
    first: int | None = None

    def parts(self, rows: int | None) -> Iterator[Any]:
        """The batches; of `rows` rows where the source can be cut anywhere, and that is asked for."""
        raise NotImplementedError

    def split(self, rows: int) -> list[Callable[[], Part]]:
        """What reads `rows` rows or some more, each part where and when it is called; [] where it is read as a whole.

        Parts have exactly `rows` rows, but for the last, where the source can be cut anywhere.
        """
        return []


class Once(Source):
    """An iterator of batches, which gives them once."""

    is_repeatable = False
    is_fresh = False

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches: Iterator[Any] | None = batches

    def parts(self, rows: int | None) -> Iterator[Any]:
        assert self._batches is not None
        batches, self._batches = self._batches, None
        return batches


class Part(Once):
    """Some rows of what can be read from any place, from row `first` on."""

    is_fresh = True

    def __init__(self, batches: Iterator[Any], what: str, first: int) -> None:
        super().__init__(batches)
        self.what, self.first = what, first


class Again(Source):
    """A function that returns an iterable of batches, or an object that can be iterated again, such as a loader."""

    is_fresh = False

    def __init__(self, make: Callable[[], Any], what: str, size: int | None = None) -> None:
        self._make, self.what, self.size = make, what, size
        self._last: Any = None

    def parts(self, rows: int | None) -> Iterator[Any]:
        batches = self._make()
        if is_batch(batches):
            return iter([batches])
        if isinstance(batches, Iterator):
            if batches is self._last:
                fix = "Return a new one at every call: def batches(): yield …"
                raise InvalidInput("data", f"{self.what} returned the same iterator as before", fix)
            self._last = batches
        elif not isinstance(batches, Iterable) or isinstance(batches, (str, bytes)):
            raise InvalidInput("data", f"{self.what} returned {shown(batches)}", "Return an iterable of batches (n, d)")
        return iter(batches)


class Loader(Again):
    """A torch DataLoader: of a batch (x, y) the rows are x."""

    def __init__(self, loader: Any) -> None:
        super().__init__(lambda: loader, "a loader")  # a sampler or collate_fn of its own may give any number of rows

    def parts(self, rows: int | None) -> Iterator[Any]:
        """The rows; what a loader draws from torch's random stream, such as a seed, is put back at the end."""
        torch = sys.modules["torch"]
        before = torch.get_rng_state()
        try:
            for part in super().parts(rows):
                yield part[0] if isinstance(part, (list, tuple)) and part else part
        finally:
            torch.set_rng_state(before)


class SliceSource(Source):
    """An array that is read slice by slice: a memory map, zarr."""

    def __init__(self, array: Any, what: str) -> None:
        self.array, self.what, self.size = array, what, int(array.shape[0])
        chunks = getattr(array, "chunks", None)
        self.chunk = int(chunks[0]) if chunks else 1

    def parts(self, rows: int | None) -> Iterator[Any]:
        return self.between(0, int(self.array.shape[0]), rows)

    def between(self, start: int, stop: int, rows: int | None = None) -> Iterator[Any]:
        """Batches of the rows from `start` to `stop`."""
        row = int(self.array.shape[1]) * self.array.dtype.itemsize
        step = passing_rows(row) if rows is None or self.chunk > 1 else rows
        step = self.chunk * max(1, step // self.chunk)
        return (self.read(a, min(a + step, stop)) for a in range(start, stop, step))

    def split(self, rows: int) -> list[Callable[[], Part]]:
        size = int(self.array.shape[0])
        return [partial(self._part, a, min(a + rows, size)) for a in range(0, size, rows)]

    def _part(self, start: int, stop: int) -> Part:
        return Part(self.between(start, stop), self.what, start)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Some rows, as an array of their own."""
        return np.array(self.array[start:stop])


class MemoryMapSource(SliceSource):
    """A memory-mapped file, opened for every slice, so that what was read leaves the memory of this process."""

    first = 0

    def _place(self) -> tuple[Any, ...] | None:
        """What opens the file again; None of a part of a map, or one with changes that no file has."""
        array = self.array
        if not isinstance(array.base, mmap.mmap) or array.filename is None or array.mode == "c":
            return None
        order = "C" if array.flags.c_contiguous else "F"
        return array.filename, array.dtype, "r", array.offset, array.shape, order

    def read(self, start: int, stop: int) -> np.ndarray:
        place = self._place()
        return super().read(start, stop) if place is None else np.array(np.memmap(*place)[start:stop])

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows, where another process may open the file."""
        return {**vars(self), "array": self._place() or self.array}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if isinstance(self.array, tuple):
            self.array = np.memmap(*self.array)


class ChunkSource(Source):
    """A dask array: one chunk of rows at a time, computed when its turn comes."""

    what = "a dask array"

    def __init__(self, array: Any) -> None:
        self.array = array
        self.size = None if math.isnan(array.shape[0]) else int(array.shape[0])

    def parts(self, rows: int | None) -> Iterator[Any]:
        return (np.asarray(self.array.blocks[i]) for i in range(self.array.numblocks[0]))


class Parquet(Source):
    """Parquet files: some rows of a row group at a time, of the columns named, or see `feature_columns`."""

    def __init__(self, paths: Sequence[Any], columns: Sequence[str] | None) -> None:
        self.what = "a parquet file" if len(paths) == 1 else f"{len(paths)} parquet files"
        self._paths = paths
        first = self._open_file(paths[0])
        self.columns = schema_columns(first.schema_arrow, columns, shown(paths[0].name))
        self.size = sum(self._open_file(path).metadata.num_rows for path in paths)

    def parts(self, rows: int | None) -> Iterator[Any]:
        return self._read([(path, None) for path in self._paths])

    def split(self, rows: int) -> list[Callable[[], Part]]:
        """Row groups of one or of several files, as many as have so many rows."""
        parts, groups, start, count = list[Callable[[], Part]](), list[tuple[Path, list[int] | None]](), 0, 0
        for path in self._paths:
            metadata = self._open_file(path).metadata
            for group in range(metadata.num_row_groups):
                groups.append((path, [group]))
                count += metadata.row_group(group).num_rows
                if count >= rows or start + count == self.size:
                    parts.append(partial(self._part, groups, start))
                    groups, start, count = [], start + count, 0
        return parts

    def _part(self, groups: Sequence[tuple[Path, list[int] | None]], start: int) -> Part:
        return Part(self._read(groups), self.what, start)

    def _read(self, groups: Iterable[tuple[Path, list[int] | None]]) -> Iterator[Any]:
        """The rows of these groups of files, of all groups for None."""
        columns = list(self.columns or ())
        for path, some in groups:
            file = self._open_file(path)
            schema = file.schema_arrow  # made anew each time it is asked for
            names = set(schema.names)
            if missing := [name for name in columns if name not in names]:
                seen = f"{shown(path.name)} has no {shown(missing)}"
                raise InvalidInput("data", seen, f"Give files that all have the columns of {self._paths[0].name}")
            step = passing_rows(row_bytes(schema, columns))
            for table in file.iter_batches(batch_size=step, row_groups=some, columns=columns):
                yield schema_rows(table, columns, shown(path.name))

    @staticmethod
    def _opened(path: Any) -> Any:
        """Return what pyarrow reads a file from."""
        return path

    @classmethod
    def _open_file(cls, path: Any) -> Any:
        try:
            import pyarrow.parquet as pq
        except ImportError:
            fix = 'Install it: pip install "nbmetrics[cluster]"'
            raise InvalidInput("data", f"{shown(path.name)} needs pyarrow, which is not installed", fix) from None
        try:
            return pq.ParquetFile(cls._opened(path))
        except InvalidInput:
            raise
        except Exception as error:  # pyarrow's own errors have no common base
            raise cls._unreadable(path, error) from None

    @staticmethod
    def _unreadable(path: Any, error: Exception) -> InvalidInput:
        return InvalidInput("data", f"cannot read {shown(path.name)}: {error}", "Give parquet files")


def passing_rows(row_bytes: int) -> int:
    """Rows of a batch that is read, looked at and left."""
    return max(1, int(min(PASSING_BYTES, memory.block_bytes) // max(row_bytes, 1)))


def parquet_files(value: Any) -> list[Path]:
    """The files of a path that is a parquet file, or a folder of nothing else; otherwise none."""
    if not isinstance(value, (str, os.PathLike)):
        return []
    path = Path(value)
    if os.path.isfile(path):  # of a name too long pathlib raises
        return [path] if path.suffix.lower() == PARQUET else []
    if not os.path.isdir(path):
        return []
    paths: list[Path] = []
    for file in path.rglob("*"):
        if file.name.startswith((".", "_")) or file.is_dir():
            continue
        if file.suffix.lower() != PARQUET or len(paths) == MOST_PATHS:
            return []
        paths.append(file)
    return sorted(paths)


def is_loader(value: Any) -> bool:
    """Whether a value is a torch DataLoader, or like one."""
    return hasattr(value, "dataset") and hasattr(value, "batch_size") and isinstance(value, Iterable)


def peeked(items: Iterator[Any]) -> Once | Iterator[Any]:
    """An iterator as a stream where what it gives first is a batch; else the iterator, with that first item again."""
    for first in items:
        whole = chain([first], items)
        return Once(whole) if is_batch(first) else whole
    return items


def is_batch_function(value: Any) -> bool:
    """Whether a value is a function that is called without arguments, and not with two, as generators are."""
    if not callable(value) or isinstance(value, type) or hasattr(value, "state_dict"):
        return False
    try:
        parameters = signature(value)
    except (TypeError, ValueError):
        return False
    return _binds(parameters) and not _binds(parameters, None, None)


def _binds(parameters: Signature, *arguments: Any) -> bool:
    try:
        parameters.bind(*arguments)
    except TypeError:
        return False
    return True
