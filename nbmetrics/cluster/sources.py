"""What a client may be on a cluster: rows or a distribution here, a future or array there, or a function that makes the
rows.

Flow: `federation_of` takes what the user gave → a first look at what is not here, next to the data: size, NaN, a few
rows → a federation in which `RemoteRows` stands for rows that never come here. Workers call `client_of`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from ..arrays import Array, is_array, to_float64, to_numpy
from ..distributions import Distribution
from ..errors import InvalidInput, check_list, check_names, refusal_of, shown
from ..evaluation.fingerprints import Fingerprints
from ..federation import Client, Federation
from ..federation.generator import MAX_PARTIES
from ..summaries.sources import is_loader
from ..summaries.stream import HashedRows, Stream, checksum
from .task_runner import TaskRunner

# Rows that all clients together show at a first look, as `kid.kernels.some_rows` takes them, and of each at least.
TOTAL_SAMPLE_ROWS, MIN_SAMPLE_ROWS = 256, 2


@dataclass(frozen=True)
class RemoteRows(HashedRows):
    """A stand-in for rows that are on the cluster, with what is known of them here.

    Attributes
    ----------
    name : of the client
    shape, dtype : of its rows
    step, some : a few rows, about every step-th
    checksum, digest : of all of them; the second for a store
    """

    name: str
    shape: tuple[int, int]
    dtype: Any
    step: int
    some: np.ndarray
    checksum: int | None = None
    digest: str | None = None
    ndim = 2

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        return self.shape[0] * self.shape[1] * int(np.dtype(self.dtype).itemsize)

    def __getitem__(self, key: Any) -> np.ndarray:
        if isinstance(key, tuple) and key == (slice(None, None, self.step), slice(None)):
            return self.some
        raise self._refusal()

    def __array__(self, *args: Any, **settings: Any) -> np.ndarray:
        raise self._refusal()

    def __array_namespace__(self, *args: Any, **settings: Any) -> Any:
        raise self._refusal()

    def _refusal(self) -> InvalidInput:
        seen = f"needs the rows of client {self.name!r}, which are on the cluster"
        return InvalidInput("cluster", seen, "Leave cluster out, or give the rows themselves")


@dataclass(frozen=True)
class ClusterSource:
    """Where the rows of one client come from: futures (rows, or batches of them), or a function; neither: from here."""

    name: str
    futures: tuple[Any, ...] = ()
    function: Callable[[], Any] | None = None


def client_of(name: str, function: Callable[[], Any] | None, data: Sequence[Any]) -> Client:
    """Return a client whose rows or stream are made where this is called; InvalidInput that names it."""
    who = f"client {name!r}"
    try:
        client = Client(function() if function is not None else data[0] if len(data) == 1 else iter(data))
        if client.distribution is not None:
            seen = f"its data gave {shown(client.distribution)}"
            raise InvalidInput("data", seen, "Give the distribution itself, not a task that makes it on a worker")
    except InvalidInput as error:
        raise error.of(who) from None
    except Exception as error:
        seen = f"its data raised {type(error).__name__}: {error}"
        raise InvalidInput(who, seen, "Fix what makes or reads them") from error
    if client.stream is not None:
        client.stream.who = who
    return client


class RowSampler:
    """Collect rows of batches that go by, evenly apart: every `step`-th, `most` of them at most."""

    def __init__(self, most: int) -> None:
        self.most, self.step, self.count = most, 1, 0
        self.rows: Any = None

    def take(self, batch: Array) -> None:
        """Look at a batch (n, d)."""
        fresh = np.array(to_numpy(to_float64(batch[-self.count % self.step :: self.step, :])))
        self.rows = fresh if self.rows is None else np.concatenate([self.rows, fresh])
        self.count += batch.shape[0]
        while len(self.rows) > self.most:
            self.rows, self.step = np.array(self.rows[::2]), 2 * self.step


def inspect_clients(
    clients: Sequence[tuple[str, Any, int]], share: int, key: bytes | None, *data: Any
) -> tuple[float, list[Any]]:
    """Return processor seconds of the last client (name, function, count of its `data`), and a `RemoteRows` of each.

    Or what is wrong with it, as a result and no error, which Dask would try again. `key` : of a store's hashes, or None
    """
    inspections, rest = list[Any](), list(data)
    for name, function, count in clients:
        start = time.thread_time()
        try:
            client = client_of(name, function, [rest.pop(0) for _ in range(count)])
            inspections.append(_inspect(name, client, share, key))
        except InvalidInput as error:
            inspections.append(error)
    return time.thread_time() - start, inspections


def _inspect(name: str, client: Client, share: int, key: bytes | None) -> RemoteRows:
    """Return a first look at one client, batch by batch where it is a stream."""
    some, whole = RowSampler(share), None if key is None else Fingerprints(key).rows_hash()
    batch: Any = None
    for batch in [client.rows] if client.stream is None else client.stream.batches():
        some.take(batch)
        if whole is not None:
            whole.take(to_numpy(batch))
    shape, step = (some.count, int(batch.shape[1])), -(-some.count // share)
    digest = None if whole is None else whole.end()
    return RemoteRows(name, shape, to_numpy(batch[:1]).dtype, step, some.rows, checksum_of(client), digest)


def checksum_of(client: Client) -> int | None:
    """Return the checksum of a client's rows, or of its stream, which was read."""
    return checksum(to_numpy(client.rows)) if client.stream is None else client.stream.checksum


def federation_of(
    federation_like: Any, runner: TaskRunner, key: bytes | None = None
) -> tuple[Federation, list[ClusterSource]]:
    """Return the federation, with `RemoteRows` for rows that are not here, and where each client's rows come from.

    `key` : of the store that the rows are hashed for, or None
    """
    items = [(name, _opened(name, item)) for name, item in _named_items(federation_like)]
    sources = {name: source for name, item in items if (source := _source(name, item)) is not None}
    if not sources:
        federation = federation_like if isinstance(federation_like, Federation) else Federation(federation_like)
        return federation, [ClusterSource(name) for name in federation.names]
    clients: dict[str, Any] = dict(items)
    share = max(MIN_SAMPLE_ROWS, TOTAL_SAMPLE_ROWS // len(items))
    for rows in _inspect_sources(list(sources.values()), share, key, runner):
        item = clients[rows.name]
        client = item if isinstance(item, Client) else Client(np.zeros((1, rows.shape[1])))
        clients[rows.name] = client._with(rows=rows)
    return Federation(clients), [sources.get(name) or ClusterSource(name) for name in clients]


def _named_items(federation_like: Any) -> list[tuple[str, Any]]:
    """Return the clients that were given, each with its name."""
    if isinstance(federation_like, Mapping):
        pairs = list(federation_like.items())
    elif isinstance(federation_like, Federation):
        pairs = list(zip(federation_like.names, federation_like, strict=True))
    elif (
        isinstance(federation_like, Iterable)
        and not isinstance(federation_like, (str, bytes))
        and not is_array(federation_like)
    ):
        items = check_list(federation_like, "clients", MAX_PARTIES)
        pairs = [(getattr(item, "name", None) or f"Client {k}", item) for k, item in enumerate(items, 1)]
    else:
        pairs = list(
            zip((federation := Federation(federation_like)).names, federation, strict=True)
        )  # it says what is wrong
    check_names([name for name, _ in pairs], "clients")
    return pairs


def _opened(name: str, item: Any) -> Any:
    """Return the client of what is streamed, such as a path, a memory map or a zarr array; anything else as it is."""
    from dask import is_dask_collection

    if is_dask_collection(item):
        return item
    is_lazy = all(hasattr(item, attribute) for attribute in ("shape", "dtype", "chunks", "store"))
    if not isinstance(item, str | os.PathLike | np.memmap | Stream) and not is_lazy and not is_loader(item):
        return item
    try:
        return Client(item)
    except InvalidInput as error:
        raise error.of(f"client {name!r}") from None


def _source(name: str, item: Any) -> ClusterSource | None:
    """Return where a client's rows come from if that is the cluster; None for rows that are here."""
    from dask import is_dask_collection
    from dask.delayed import Delayed
    from distributed import Future, futures_of

    if isinstance(item, Client) and item.stream is not None:
        item.stream.who = f"client {name!r}"
        item.stream.check_repeatable()
        return ClusterSource(name, function=partial(_quiet_stream, item.stream))
    if isinstance(item, Future):
        return ClusterSource(name, (item,))
    if is_dask_collection(item):
        if isinstance(item, Delayed):
            return ClusterSource(name, (item,))
        if getattr(item, "ndim", 0) != 2 or len(item.chunks[1]) > 1:
            seen = f"client {name!r} is {shown(item)}"
            raise InvalidInput("clients", seen, "Give a dask.array of rows (n, d), in blocks of whole rows")
        if futures_of(item):
            return ClusterSource(name, tuple(item.to_delayed().ravel()))
        return ClusterSource(name, function=partial(_blocks, item))
    is_function = callable(item) and not isinstance(item, (Distribution, Client)) and not hasattr(item, "state_dict")
    if not is_function:
        return None
    try:
        signature(item).bind()
    except TypeError:
        seen = f"client {name!r} is a function that needs arguments"
        raise InvalidInput("clients", seen, "Give one without, such as functools.partial(function, …)") from None
    except ValueError:  # built in, without a signature
        pass
    return ClusterSource(name, function=item)


def _quiet_stream(stream: Stream) -> Stream:
    stream.progress = False
    return stream


def _blocks(array: Any) -> Iterator[np.ndarray]:
    """Yield the blocks of a dask array one after the other, computed in the task that asks."""
    for position in range(array.numblocks[0]):
        yield np.asarray(array.blocks[position].compute(scheduler="synchronous"))


def _inspect_sources(
    sources: Sequence[ClusterSource], share: int, key: bytes | None, runner: TaskRunner
) -> list[RemoteRows]:
    """Return the first look at each source; raise the first refusal."""
    parties = [(s.name, s.futures, (s.name, s.function, len(s.futures))) for s in sources]
    futures = runner.submit_groups(inspect_clients, parties, share, key, about="the first look at the rows")
    inspections = {}
    for future in runner.as_completed(futures):
        ((_, inspections[future.key]),) = runner.results([future])
        if (wrong := refusal_of(*inspections[future.key])) is not None:
            raise wrong
    return [item for future in futures for item in inspections[future.key]]
