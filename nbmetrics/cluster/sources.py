"""What a client may be on a cluster: rows or a distribution here, a future or array there, or a function that makes the
rows.

A large client is several parts, each of which a task can read. Workers call `client_of`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from ..arrays import is_array, to_numpy
from ..distributions import Distribution
from ..errors import InvalidInput, check_list, check_names, shown
from ..evaluation.fingerprints import hash_block_rows
from ..federation import Client, Federation
from ..federation.generator import MAX_PARTIES
from ..summaries.sources import Part, is_loader
from ..summaries.stream import Stream, checksum
from .life_signs import LifeSign

# A part of a client that is split: bytes of float64 and rows for each feature, at least; and parts, at most.
MIN_PART_BYTES, MIN_ROWS_PER_FEATURE, MAX_PARTS = 2**25, 16, 1024


@dataclass(frozen=True)
class ClusterSource:
    """Where the rows of one client come from: futures (rows, or batches of them), or a function; neither: from here.

    Attributes
    ----------
    parts : the same in parts, where they can be read apart: a function, or futures, of each
    is_aligned : whether all parts but the last are whole blocks of a `RowsHash`
    """

    name: str
    futures: tuple[Any, ...] = ()
    function: Callable[[], Any] | None = None
    parts: Sequence[tuple[Callable[[], Any] | None, tuple[Any, ...]]] = ()
    is_aligned: bool = False


def client_of(name: str, function: Callable[[], Any] | None, data: Sequence[Any]) -> Client:
    """Return a client whose rows or stream are made where this is called; InvalidInput that names it."""
    who = f"client {name!r}"
    try:
        client = Client(function() if function is not None else data[0] if len(data) == 1 else iter(data))
        if client.distribution is not None or client.moments is not None:
            seen = f"its data gave {client.without_rows}"
            raise InvalidInput("data", seen, "Give that itself, not a task that makes it on a worker")
    except InvalidInput as error:
        raise error.of(who) from None
    except Exception as error:
        seen = f"its data raised {type(error).__name__}: {error}"
        raise InvalidInput(who, seen, "Fix what makes or reads them") from error
    if client.stream is not None:
        client.stream.who, client.stream.on_batch = who, LifeSign()
    return client


def checksum_of(client: Client) -> int | None:
    """Return the checksum of a client's rows, or of its stream, which was read."""
    return checksum(to_numpy(client.rows)) if client.stream is None else client.stream.checksum


def named_items(federation_like: Any) -> list[tuple[str, Any]]:
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


def opened(name: str, item: Any) -> Any:
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


def source_of(name: str, item: Any) -> ClusterSource | None:
    """Return where a client's rows come from if that is the cluster; None for rows that are here."""
    from dask import is_dask_collection
    from dask.delayed import Delayed
    from distributed import Future, futures_of

    if isinstance(item, Client) and item.stream is not None:
        item.stream.who = f"client {name!r}"
        item.stream.check_repeatable()
        item.stream.check_shared()
        return _stream_source(name, item.stream)
    if isinstance(item, Future):
        return ClusterSource(name, (item,))
    if is_dask_collection(item):
        if isinstance(item, Delayed):
            return ClusterSource(name, (item,))
        if getattr(item, "ndim", 0) != 2 or len(item.chunks[1]) > 1:
            seen = f"client {name!r} is {shown(item)}"
            raise InvalidInput("clients", seen, "Give a dask.array of rows (n, d), in blocks of whole rows")
        if futures_of(item):
            blocks = tuple(item.to_delayed().ravel())
            return ClusterSource(name, blocks, parts=[(None, (block,)) for block in blocks])
        return ClusterSource(name, function=partial(_blocks, item), parts=_block_parts(item))
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


def part_rows(size: int, dim: int, chunk: int = 1) -> tuple[int, bool]:
    """Return the rows of each part of `size` rows, whole chunks, and whether they are whole blocks of a `RowsHash`."""
    fewest = max(MIN_PART_BYTES // (8 * dim), MIN_ROWS_PER_FEATURE * dim, -(-size // MAX_PARTS), 1)
    block = math.lcm(hash_block_rows(dim), chunk)
    is_aligned = block <= 2 * fewest
    unit = block if is_aligned else chunk
    return unit * -(-fewest // unit), is_aligned


def _stream_source(name: str, stream: Stream) -> ClusterSource:
    """Return where the rows of a stream come from, in parts where it can be split."""
    rows, is_aligned = part_rows(stream.size or 0, stream.dim, stream.chunk)
    parts = [(part, ()) for part in stream.split(rows)]
    return ClusterSource(name, (), partial(_quiet_stream, stream), parts, is_aligned and stream.is_sliceable)


def _block_parts(array: Any) -> list[tuple[Callable[[], Any], tuple[Any, ...]]]:
    """Return the parts of a dask array whose blocks have known sizes: some blocks each."""
    import dask

    sizes, parts = array.chunks[0], list[tuple[Callable[[], Any], tuple[Any, ...]]]()
    if math.isnan(sum(sizes)):
        return parts
    most, begin, start, count = part_rows(int(sum(sizes)), array.shape[1])[0], 0, 0, 0
    for position, size in enumerate(sizes, 1):
        count += int(size)
        if count >= most or position == len(sizes):
            (blocks,) = dask.optimize(array.blocks[begin:position])  # without the graph of the others
            parts.append((partial(_blocks_from, blocks, start), ()))
            begin, start, count = position, start + count, 0
    return parts


def _blocks_from(array: Any, first: int) -> Part:
    return Part(_blocks(array), "a dask array", first)


def _quiet_stream(stream: Stream) -> Stream:
    stream.progress = False
    return stream


def _blocks(array: Any) -> Iterator[np.ndarray]:
    """Yield the blocks of a dask array one after the other, computed in the task that asks."""
    for position in range(array.numblocks[0]):
        yield np.asarray(array.blocks[position].compute(scheduler="synchronous"))
