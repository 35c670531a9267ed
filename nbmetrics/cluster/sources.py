"""What a client may be on a cluster: rows or a law here, a future or array there, or a function that makes the rows.

Flow: `parties_of` takes what the user gave → a first look at what is not here, next to the data: size, NaN, a few
rows → a federation in which `Elsewhere` stands for rows that never come here. Workers call `rows_of`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from ..arrays import Array, is_array, to_float64, to_numpy
from ..distributions import Distribution
from ..errors import InvalidInput, check_list, check_names, refusal_of, shown
from ..federation import Client, Federation
from ..federation.generator import MOST_PARTIES
from .crew import Crew

# Rows that all clients together show at a first look, as `metrics.kid.base.some_rows` takes them, and of each at least.
SOME, LEAST = 256, 2


@dataclass(frozen=True)
class Elsewhere:
    """Rows that are on the cluster: what is known of them here, in the place of the array.

    Attributes
    ----------
    name : of the client
    shape, dtype : of its rows
    step, some : every step-th row
    """

    name: str
    shape: tuple[int, int]
    dtype: Any
    step: int
    some: np.ndarray
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

    def _refusal(self) -> InvalidInput:
        seen = f"needs the rows of client {self.name!r}, which are on the cluster"
        return InvalidInput("cluster", seen, "Leave cluster out, or give the rows themselves")


@dataclass(frozen=True)
class Source:
    """Where the rows of one client come from: futures (rows, or batches of them), or a function; neither: from here."""

    name: str
    futures: tuple[Any, ...] = ()
    function: Callable[[], Any] | None = None


def rows_of(name: str, function: Callable[[], Any] | None, data: Sequence[Any]) -> Array:
    """The rows of one client, made or put together where this is called; InvalidInput that names it."""
    who = f"client {name!r}"
    try:
        made = Client(function() if function is not None else data[0] if len(data) == 1 else list(data))
        if made.distribution is not None:
            seen = f"its data gave {shown(made.distribution)}"
            raise InvalidInput("data", seen, "Give a law as it is, not made on a worker")
        return made.rows
    except InvalidInput as error:
        raise error.of(who) from None
    except Exception as error:
        seen = f"its data raised {type(error).__name__}: {error}"
        raise InvalidInput(who, seen, "Mend what makes or reads them") from error


def look(clients: Sequence[tuple[str, Any, int]], share: int, *data: Any) -> tuple[float, list[Any]]:
    """Processor seconds of the last, and an `Elsewhere` of each client: (name, function, how many of `data` are its).

    Or what is wrong with it, as a result and no error, which Dask would try again.
    """
    found, rest = list[Any](), list(data)
    for name, function, count in clients:
        start = time.thread_time()
        try:
            rows = rows_of(name, function, [rest.pop(0) for _ in range(count)])
        except InvalidInput as error:
            found.append(error)
            continue
        n, d = rows.shape
        step = -(-n // share)
        some = np.array(to_numpy(to_float64(rows[::step, :])))
        found.append(Elsewhere(name, (n, d), to_numpy(rows[:1]).dtype, step, some))
    return time.thread_time() - start, found


def parties_of(given: Any, crew: Crew) -> tuple[Federation, list[Source]]:
    """The federation, with `Elsewhere` for rows that are not here, and where each client's rows come from."""
    items = _items(given)
    sources = {name: source for name, item in items if (source := _source(name, item)) is not None}
    if not sources:
        federation = given if isinstance(given, Federation) else Federation(given)
        return federation, [Source(name) for name in federation.names]
    clients: dict[str, Any] = dict(items)
    for rows in _looked(list(sources.values()), max(LEAST, SOME // len(items)), crew):
        item = clients[rows.name]
        known = item if isinstance(item, Client) else Client(np.zeros((1, rows.shape[1])))
        clients[rows.name] = known._with(rows=rows)
    return Federation(clients), [sources.get(name) or Source(name) for name in clients]


def _items(given: Any) -> list[tuple[str, Any]]:
    """Names with what was given."""
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, Federation):
        pairs = list(zip(given.names, given, strict=True))
    elif isinstance(given, Iterable) and not isinstance(given, (str, bytes)) and not is_array(given):
        listed = check_list(given, "clients", MOST_PARTIES)
        pairs = [(getattr(item, "name", None) or f"Client {k}", item) for k, item in enumerate(listed, 1)]
    else:
        pairs = list(zip((federation := Federation(given)).names, federation, strict=True))  # it says what is wrong
    check_names([name for name, _ in pairs], "clients")
    return pairs


def _source(name: str, item: Any) -> Source | None:
    """What is on the cluster, or is made there; None for what is here."""
    from dask import is_dask_collection
    from dask.delayed import Delayed
    from distributed import Future

    if isinstance(item, Client) and (stream := getattr(item, "stream", None)) is not None:
        return Source(name, function=stream.collect)
    if isinstance(item, Future):
        return Source(name, (item,))
    if is_dask_collection(item):
        if isinstance(item, Delayed):
            return Source(name, (item,))
        if getattr(item, "ndim", 0) != 2 or len(item.chunks[1]) > 1:
            seen = f"client {name!r} is {shown(item)}"
            raise InvalidInput("clients", seen, "Give a dask.array of rows (n, d), in blocks of whole rows")
        return Source(name, tuple(item.to_delayed().ravel()))
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
    return Source(name, function=item)


def _looked(sources: Sequence[Source], share: int, crew: Crew) -> list[Elsewhere]:
    """What the first look finds; the first that is found wrong is raised."""
    given = [(s.name, s.futures, (s.name, s.function, len(s.futures))) for s in sources]
    futures = crew.batched(look, given, share, about="a first look at the rows")
    found = {}
    for future in crew.finished(futures):
        ((_, found[future.key]),) = crew.results([future])
        if (wrong := refusal_of(*found[future.key])) is not None:
            raise wrong
    return [item for future in futures for item in found[future.key]]
