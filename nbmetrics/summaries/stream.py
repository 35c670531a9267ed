"""Rows that come in batches: checked as they come, counted, and cut into blocks of any size.

What they come from is in sources.py; a metric says by `Metric.streaming_mode` how it reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import as_rows, memory, to_numpy
from ..errors import InvalidInput, check_count, printable, shown
from ..progress import progress_bar
from ..tables import SAME_COLUMNS, column_names, is_table
from .source_kinds import source_of
from .sources import MemoryMapSource, Once, Part, SliceSource, Source, peeked

# An iterable that has given so many batches is taken for an endless one.
MOST_BATCHES = 10_000_000
# Rows that are kept of the first batch, to tell about how large all of them are.
HEAD_ROWS = 256
# Parts of `set_memory_limit` that a block of `arrays.memory` is.
PARTS = 8
# Bytes that are set aside for the rows of streams.
_reserved: WeakKeyDictionary[Stream, int] = WeakKeyDictionary()
_lock = Lock()
AGAIN = "Give a function that returns them again, such as nm.Client(lambda: batches()), or rows"
SOURCES = "an iterable of batches (n, d), a function that returns one, an np.memmap, a dask or zarr array, or parquet"


class HashedRows:
    """Rows that are not together in memory here.

    Attributes
    ----------
    digest : their keyed hash, None where nobody hashed them
    """

    digest: str | None = None


class Stream(HashedRows):
    """Rows that are read batch by batch and are never in memory together.

    Parameters
    ----------
    source : an iterable of batches of rows (n, d), which is read once; a function without arguments that returns one,
        which is called for every pass; a memory-mapped `.npy` file (`np.memmap`), a dask or zarr array (n, d), a
        parquet file, a folder of them, or a torch `DataLoader`, whose batches may be (x, labels)
    columns : of parquet, which columns are the features, by default all of numbers

    Attributes
    ----------
    dim, columns : the number of features, and what parquet calls them
    size : the number of rows; None until a source that does not say was read to its end
    checksum : of the rows, see `checksum`; None until they were read for more than their number
    is_repeatable, was_read : whether it can be read more than once, and whether it was read to its end
    hasher, digest : what returns an empty hash of rows for a pass to fill, None by default; what that of the rows, in
        their order, was at the end of the last one
    who : whose rows it is, for messages
    on_batch : called with the number of rows of every batch that was read
    progress : whether a pass shows a bar of rows: False, True, or "auto" where it takes more than a second

    A client or generator takes a source itself; `Stream` names columns, and gives the batches to code of your own.
    Batches become NumPy arrays. Raises InvalidInput that names the batch, counted from 1, where it holds NaN or
    infinity, is no array of `dim` columns, or could not be made; and where a pass gives other rows than the one before,
    which may come in another order.

    Examples
    --------
    >>> stream = nm.Stream(lambda: (np.full((n, 2), n) for n in (3, 1)))
    >>> stream.dim, stream.is_repeatable, stream.count()
    (2, True, 4)
    >>> [batch.shape for batch in stream.batches(rows=2)]
    [(2, 2), (2, 2)]
    """

    def __init__(self, source: Any, *, columns: Any = None) -> None:
        if isinstance(source, Iterator):
            source = peeked(source)
        origin = source if isinstance(source, Source) else source_of(source, columns)
        if origin is None:
            raise InvalidInput("source", f"got {shown(source)}", f"Give {SOURCES}")
        self._source, self._is_spent = origin, False
        self.was_read = False
        self.checksum: int | None = None
        self.hasher: Callable[[], Any] | None = None
        self.digest = None
        self.on_batch: Callable[[int], Any] | None = None
        self.who = "data"
        self.progress: str | bool = False
        self.size, self.columns, self.is_repeatable = origin.size, origin.columns, origin.is_repeatable
        if self.size == 0:
            raise InvalidInput("data", f"{origin.what} has no rows", "Give at least one row")
        self._first: Any = None
        self._rest: Iterator[np.ndarray] | None = None
        self._dim: int | None = None
        first = self._begun()
        self._dim = self.dim = int(first.shape[1])
        self.head = np.array(first[:HEAD_ROWS])

    def _begun(self) -> np.ndarray:
        """The first batch that has rows; of an iterator it stays the first one to come."""
        batches = self._checked_batches(None)
        first = next(batches)
        if self.is_repeatable:
            batches.close()
        else:
            self._first, self._rest = first, batches
        return first

    @property
    def what(self) -> str:
        """The source in words."""
        return self._source.what

    @property
    def nbytes(self) -> int | None:
        """Bytes of all rows in float64, or None where nobody knows how many there are."""
        return None if self.size is None else 8 * self.size * self.dim

    @property
    def is_mapped(self) -> bool:
        """Whether the rows can be had as a map of a file, without reading them."""
        return isinstance(self._source, MemoryMapSource) and self._source.array.dtype in (np.float32, np.float64)

    def check_shared(self) -> None:
        """Refuse what no other process can read, such as memory://."""
        if self._source.is_local:
            seen = f"{self.what} is in the memory of this process, and workers have their own"
            raise BadRows(self.who, seen, "Put it where all workers can read it, or leave cluster out")

    @property
    def is_file(self) -> bool:
        """Whether the rows are a memory-mapped file."""
        return isinstance(self._source, MemoryMapSource)

    def batches(self, rows: int | None = None) -> Iterator[np.ndarray]:
        """The rows from the first to the last: batches as they come, or blocks of `rows` rows, the last one shorter."""
        rows = None if rows is None else check_count(rows, "rows")
        self.check_unread()
        batches: Iterator[np.ndarray] = self._checked_batches(rows) if self.is_repeatable else self._once()
        if self.hasher is not None:
            batches = self._hashed(batches, self.hasher())
        return self._told(batches if rows is None else cut(batches, rows))

    def _hashed(self, batches: Iterator[np.ndarray], own: Any) -> Iterator[np.ndarray]:
        """The batches; at their end `digest` says what they were, however they were cut."""
        for batch in batches:
            own.take(batch)
            yield batch
        self.digest = own.end()

    def _told(self, batches: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
        """The batches; what is wrong with one of them is told by whose it is, and a bar how far they are."""
        try:
            if self.progress is False:
                yield from batches
                return
            about = f"reading {self.who}"
            with progress_bar(self.progress, self.size, about, " rows", unit_scale=True) as bar:
                for batch in batches:
                    yield batch
                    bar.update(len(batch))
        except InvalidInput as error:
            raise of_whom(error, self.who) from error.__cause__

    def _once(self) -> Iterator[np.ndarray]:
        """All batches of an iterator, of which the first was read."""
        self._is_spent, first, rest = True, self._first, self._rest
        self._first = self._rest = None
        assert rest is not None
        return _join(first, rest)

    @property
    def is_sliceable(self) -> bool:
        """Whether rows can be read from any place."""
        return isinstance(self._source, SliceSource)

    def batches_from(self, start: int, rows: int) -> Iterator[np.ndarray]:
        """The rows from `start` on, in blocks of `rows`, where `is_sliceable`."""
        assert isinstance(self._source, SliceSource) and self.size is not None
        places = range(start, self.size, rows)
        read = self._source.read
        batches = (self._batch(read(a, a + rows), f"rows from {a + 1:,}") for a in places)
        return self._told(batch for batch in batches if batch is not None)

    @property
    def chunk(self) -> int:
        """Rows that a sliceable source has in one piece, such as zarr; 1 where it can be cut anywhere."""
        return self._source.chunk if isinstance(self._source, SliceSource) else 1

    def split(self, rows: int) -> list[Callable[[], Part]]:
        """Return what reads the rows in parts, see `Source.split`."""
        return self._source.split(rows)

    def check_unread(self) -> None:
        """Refuse an iterator that was read, as it gives its batches once."""
        if self._is_spent:
            raise BadRows(self.who, "was read already, and an iterator gives its batches once", AGAIN)

    def check_repeatable(self) -> None:
        """Refuse an iterator where one pass is not enough."""
        if not self.is_repeatable:
            raise BadRows(
                self.who, "is an iterator, which gives its batches once, but they are needed several times", AGAIN
            )

    def _checked_batches(self, rows: int | None) -> Generator[np.ndarray, None, None]:
        """Batches with at least one row, as NumPy arrays of one width; their rows are counted at the end."""
        count = total = 0
        for number, item in self._number_batches(rows):
            first = self._source.first
            where = f"batch {number}" if first is None else f"rows from {first + count + 1:,}"
            if (batch := self._batch(item, where)) is not None:
                count, total = count + len(batch), (total + checksum(batch)) % 2**64
                yield batch
        if not count:
            raise InvalidInput("data", f"{self.what} gave no rows", "Give at least one row")
        if self.size is not None and count != self.size:
            seen = f"{self.what} gave {count:,} rows, and {self.size:,} before"
            raise InvalidInput("data", seen, SAME)
        if self.checksum is not None and total != self.checksum:
            raise InvalidInput("data", f"{self.what} gave other rows than before, of the same number", SAME)
        self.size, self.checksum, self.was_read = count, total, True

    def _number_batches(self, rows: int | None) -> Iterator[tuple[int, Any]]:
        number = 0
        try:
            for number, item in enumerate(self._source.parts(rows), 1):
                if number > MOST_BATCHES:
                    seen = f"{self.what} gives more than {MOST_BATCHES:,} batches"
                    raise InvalidInput("data", seen, "Give one that ends sooner")
                yield number, item
        except (InvalidInput, GeneratorExit, MemoryError):
            raise
        except Exception as error:  # of the user's own code, or of a file
            seen = f"raised {type(error).__name__}: {printable(str(error), 300)}"
            raise InvalidInput(f"batch {number + 1}", seen, "Fix what makes the batches") from error

    def _batch(self, item: Any, argument: str) -> np.ndarray | None:
        """What came as a batch, or None where it has no rows."""
        if not is_table(item) and getattr(item, "ndim", 0) == 2 and item.shape[0] == 0:
            return None
        if (columns := column_names(item)) is not None:
            self.columns = self.columns or columns
            if columns != self.columns:
                seen = f"has columns {shown(list(columns))} where {shown(list(self.columns))} were before"
                raise InvalidInput(argument, seen, SAME_COLUMNS)
        rows = to_numpy(as_rows(item, argument, dim=self._dim, min_rows=0))
        if not len(rows):
            return None
        if self.on_batch is not None:
            self.on_batch(len(rows))
        return rows if self._source.is_fresh else np.array(rows)  # whoever makes batches may fill one array again

    def count(self) -> int:
        """The number of rows, by a pass where nobody knows it; InvalidInput of an iterator that was not read."""
        if self.size is None:
            if not self.is_repeatable:
                raise BadRows(self.who, f"{self.what} does not know its number of rows before it is read", AGAIN)
            for _ in self.batches():
                pass
            self.checksum = None  # no score is made of this pass, and the next one may differ
        assert self.size is not None
        return self.size

    def take(self, positions: np.ndarray) -> np.ndarray:
        """The rows at these positions, in their order, by one pass."""
        order = np.argsort(positions, kind="stable")
        wanted, taken, start = np.asarray(positions)[order], [], 0
        for batch in self.batches():
            first, last = np.searchsorted(wanted, [start, start + len(batch)])
            taken.append(batch[wanted[first:last] - start])
            start += len(batch)
        rows = np.empty((len(positions), self.dim), dtype=np.result_type(*taken))
        rows[order] = np.concatenate(taken)
        return rows

    @property
    def fits(self) -> bool:
        """Whether memory is set aside for all rows together; not for an iterator, whose rows come once."""
        return self.is_repeatable and self._reserve(8 * self.count() * self.dim)

    def _reserve(self, nbytes: int) -> bool:
        """Set memory aside for the rows, for as long as the stream lives, where the limit leaves so much."""
        with _lock:
            if nbytes > _reserved.get(self, 0) and sum(_reserved.values()) + nbytes - _reserved.get(self, 0) > limit():
                return False
            _reserved[self] = nbytes
        return True

    def check_fits(self) -> None:
        """Refuse rows that are too many to be held together, before they are read."""
        if not self.is_mapped and not self.fits:
            own, others = 8 * self.count() * self.dim, int(sum(_reserved.values()))
            beside = f", of which others have {others:,}" if others else ""
            seen = f"all its rows take {own:,} bytes, and the memory limit is {limit():,.0f}{beside}"
            raise BadRows(self.who, seen, ROOM)

    def collect(self) -> np.ndarray:
        """All rows together, (n, d): a map of the file where there is one, else only within the memory limit."""
        if self.is_mapped:
            assert isinstance(self._source, MemoryMapSource)
            return np.asarray(self._source.array)
        if self.is_repeatable:
            self.check_fits()
        batches, held = [], 0
        for batch in self.batches():
            held += 8 * batch.size
            batches.append(batch)
            if not self.is_repeatable and not self._reserve(held):
                raise BadRows(self.who, f"{self.what} has more rows than the memory limit, {limit():,.0f} bytes", ROOM)
        return np.concatenate(batches)

    def __getstate__(self) -> dict[str, Any]:
        if not self.is_repeatable:
            raise InvalidInput("data", "an iterator cannot be sent to another process", AGAIN)
        return {**vars(self), "hasher": None, "digest": None}

    def __repr__(self) -> str:
        rows = "rows" if self.size is None else f"{self.size:,} rows"
        return f"Stream({self.what}: {rows}, dim={self.dim})"


class BadRows(InvalidInput):
    """What is wrong with the rows of a stream: nothing can be scored with them, so `evaluate` raises it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return BadRows, (self.argument, self.seen, self.fix)


def of_whom(error: InvalidInput, who: str) -> BadRows:
    """A complaint about the rows of a stream, as one about whose they are."""
    is_part = error.argument.startswith(("batch ", "rows from "))
    is_told = error.argument == who or error.argument.startswith(f"{who}, ")
    return BadRows(error.argument if is_told else f"{who}, {error.argument}" if is_part else who, error.seen, error.fix)


def checksum(rows: np.ndarray) -> int:
    """A number, mod 2⁶⁴, that rows of other values or of columns in another order do not have, but for chance.

    Rows in another order have it, and batches of them add up.
    """
    bits = rows.view(f"u{rows.itemsize}") if rows.itemsize <= 8 else rows.astype(np.float64).view(np.uint64)
    n, d = rows.shape
    side = max(1, 256 // d)  # rows side by side, as sums over few columns are slow
    last = n - n % side
    columns = bits[:last].reshape(-1, side * d).sum(axis=0, dtype=np.uint64).reshape(side, d).sum(axis=0)
    columns = columns + bits[last:].sum(axis=0, dtype=np.uint64)
    return int((columns * np.arange(1, 2 * d, 2, dtype=np.uint64)).sum(dtype=np.uint64))


SAME = "Give the same rows at every pass, for example with a seed"
ROOM = "Leave such metrics out, give fewer rows, or allow more: nm.set_memory_limit(megabytes)"


def limit() -> float:
    """Bytes that `set_memory_limit` allows."""
    return PARTS * memory.block_bytes


def cut(batches: Iterable[np.ndarray], rows: int) -> Iterator[np.ndarray]:
    """The same rows in blocks of `rows`, the last one shorter; whatever the batches, the blocks are the same."""
    waiting: list[np.ndarray] = []
    held = 0
    for batch in batches:
        while held + len(batch) >= rows:
            head, batch = batch[: rows - held], batch[rows - held :]
            yield head if not waiting else np.concatenate([*waiting, head])
            waiting, held = [], 0
        if len(batch):
            waiting.append(batch)
            held += len(batch)
    if waiting:
        yield np.concatenate(waiting)


def _join(first: np.ndarray, rest: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    yield first
    del first
    yield from rest


def as_stream(value: Any) -> Stream | None:
    """A stream where `value` is one or what makes one; None of rows in memory, and of anything else."""
    if isinstance(value, Stream):
        return value
    source = value if isinstance(value, Once) else source_of(value)
    return None if source is None else Stream(source)
