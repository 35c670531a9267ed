"""A first look at rows that are on the cluster, next to them: size, NaN, a few rows, a hash where there is a store.

Flow: `federation_of` takes what the user gave → tasks look at each client, a large one in parts → a federation in which
`RemoteRows` stands for rows that never come here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, to_float64, to_numpy
from ..errors import InvalidInput, refusal_of
from ..evaluation.fingerprints import Fingerprints, hash_of_blocks
from ..federation import Client, Federation
from ..summaries.stream import HashedRows
from .sources import ClusterSource, checksum_of, client_of, named_items, opened, source_of
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


class Look(NamedTuple):
    """What is known of rows after a pass: of a client, or of a part of it; `kinds` and `blocks` as in `RowsHash`."""

    shape: tuple[int, int]
    dtype: Any
    some: np.ndarray
    checksum: int
    kinds: set[str]
    blocks: list[str]


class LookTask(NamedTuple):
    """Whose rows a task looks at: made by a function or by `futures` futures, and how many of them it shows."""

    name: str
    function: Callable[[], Any] | None
    futures: int
    share: int


def inspect_clients(tasks: Sequence[LookTask], key: bytes | None, *data: Any) -> tuple[float, list[Any]]:
    """Return processor seconds of the last of some clients or parts of them, and a `Look` at each.

    Or what is wrong with it, as a result and no error, which Dask would try again. `key` : of a store's hashes, or None
    """
    looks, rest = list[Any](), list(data)
    for task in tasks:
        start = time.thread_time()
        try:
            client = client_of(task.name, task.function, [rest.pop(0) for _ in range(task.futures)])
            looks.append(_look(client, task.share, key))
        except InvalidInput as error:
            looks.append(error)
    return time.thread_time() - start, looks


def _look(client: Client, share: int, key: bytes | None) -> Look:
    """Return a first look at rows, batch by batch where they are a stream."""
    some, whole = RowSampler(share), None if key is None else Fingerprints(key).rows_hash()
    batch: Any = None
    for batch in [client.rows] if client.stream is None else client.stream.batches():
        some.take(batch)
        if whole is not None:
            whole.take(to_numpy(batch))
    if whole is not None:
        whole.end()
    hashes = (set[str](), list[str]()) if whole is None else (whole.kinds, whole.blocks)
    shape = some.count, int(batch.shape[1])
    return Look(shape, to_numpy(batch[:1]).dtype, some.rows, checksum_of(client) or 0, *hashes)


def federation_of(
    federation_like: Any, runner: TaskRunner, fingerprints: Fingerprints | None = None
) -> tuple[Federation, list[ClusterSource]]:
    """Return the federation, with `RemoteRows` for rows that are not here, and where each client's rows come from.

    `fingerprints` : of the store that the rows are hashed for, or None
    """
    items = [(name, opened(name, item)) for name, item in named_items(federation_like)]
    sources = {name: source for name, item in items if (source := source_of(name, item)) is not None}
    if not sources:
        federation = federation_like if isinstance(federation_like, Federation) else Federation(federation_like)
        return federation, [ClusterSource(name) for name in federation.names]
    clients: dict[str, Any] = dict(items)
    share = max(MIN_SAMPLE_ROWS, TOTAL_SAMPLE_ROWS // len(items))
    for name, looks in _look_at(list(sources.values()), share, fingerprints, runner).items():
        rows = _remote_rows(name, looks, share, fingerprints)
        item = clients[name]
        client = item if isinstance(item, Client) else Client(np.zeros((1, rows.shape[1])))
        clients[name] = client._with(rows=rows)
    return Federation(clients), [sources.get(name) or ClusterSource(name) for name in clients]


def _look_at(
    sources: Sequence[ClusterSource], share: int, fingerprints: Fingerprints | None, runner: TaskRunner
) -> dict[str, list[Look]]:
    """Return by name the first looks at each source, part by part; raise the first refusal."""
    parties = [party for source in sources for party in _parties(source, share, fingerprints is not None)]
    key = None if fingerprints is None else fingerprints.key
    futures = runner.submit_groups(inspect_clients, parties, key, about="the first look at the rows")
    looks_by_key = {}
    for future in runner.as_completed(futures):
        ((_, looks_by_key[future.key]),) = runner.results([future])
        if (wrong := refusal_of(*looks_by_key[future.key])) is not None:
            raise wrong
    looks: dict[str, list[Look]] = {source.name: [] for source in sources}
    for future in futures:
        for name, look in zip(runner.names_of(future), looks_by_key[future.key], strict=True):
            looks[name].append(look)
    return looks


def _parties(source: ClusterSource, share: int, is_hashed: bool) -> list[tuple[str, Sequence[Any], LookTask]]:
    """Return what tasks look at: a client, or its parts; hashes need parts of whole blocks."""
    is_split = source.is_aligned or not is_hashed
    parts = source.parts if is_split and len(source.parts) > 1 else [(source.function, source.futures)]
    of_each = max(MIN_SAMPLE_ROWS, -(-share // len(parts)))
    return [(source.name, data, LookTask(source.name, function, len(data), of_each)) for function, data in parts]


def _remote_rows(name: str, looks: Sequence[Look], share: int, fingerprints: Fingerprints | None) -> RemoteRows:
    """Return what is known of all rows of a client by the looks at its parts, in their order."""
    widths = sorted({look.shape[1] for look in looks})
    if len(widths) > 1:
        raise InvalidInput(f"client {name!r}", f"has blocks of widths {widths}", "Give all the same features")
    count, some = sum(look.shape[0] for look in looks), np.concatenate([look.some for look in looks])
    digest = None
    if fingerprints is not None:
        kinds = set[str]().union(*(look.kinds for look in looks))
        digest = hash_of_blocks(fingerprints.hasher, kinds, [block for look in looks for block in look.blocks])
    return RemoteRows(
        name,
        (count, widths[0]),
        looks[0].dtype,
        -(-count // share),
        some[:: -(-len(some) // share)],
        sum(look.checksum for look in looks) % 2**64,
        digest,
    )
