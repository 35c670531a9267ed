"""Clients with weights, and the generators to score: checked once here, so that every later room can trust them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import partition
from .arrays import (
    Array,
    as_rows,
    check_frames,
    check_same_order,
    column_names,
    concat,
    is_array,
    module_source,
    to_numpy,
)
from .distributions import Distribution, Empirical, Mixture, as_law, draw_rows
from .errors import InvalidInput, check_count, check_list, check_names, check_number, check_weights, shown
from .metrics.base import Sample

Source = Callable[..., Any]

# An iterator that has given so many clients or generators is taken for an endless one.
MOST_PARTIES = 100_000


class Client:
    """One party with real data of its own.

    Parameters
    ----------
    data : (n, d) rows (NumPy, torch, data frame, nested list), a distribution, an iterable of batches of
        rows, or the path of a `.npy` file (memory-mapped, never unpickled)
    test : rows held out, for metrics that compare with unseen data
    condition : rows x that the generator is conditioned on, one for each row of `data`
    weight : its share λ before normalisation; by default the number of rows, or equal for distributions
    name : how tables and views call it
    """

    def __init__(
        self,
        data: Any,
        *,
        test: Any = None,
        condition: Any = None,
        weight: float | None = None,
        name: str | None = None,
    ) -> None:
        self.distribution, self.rows = _data(data, "data")
        self.columns = column_names(data)
        check_frames(data=data, test=test)
        self.test = None if test is None else as_rows(test, "test", dim=self.dim)
        self.condition = None if condition is None else as_rows(condition, "condition")
        if self.condition is not None and (self.rows is None or len(self.condition) != len(self.rows)):
            seen = f"has {len(self.condition)} rows for {'a distribution' if self.rows is None else len(self.rows)}"
            raise InvalidInput("condition", seen, "Give one condition row for each data row")
        self.weight = None if weight is None else check_number(weight, "weight", minimum=0)
        self.name = None if name is None else check_names([name], "name")[0]

    @property
    def dim(self) -> int:
        return int(self.distribution.dim if self.rows is None else self.rows.shape[1])

    def to_sample(self) -> Sample:
        """What a metric sees of this client."""
        return Sample(self.rows, self.distribution, self.test, self.condition)

    def _with(self, **changes: Any) -> Client:
        copy = object.__new__(Client)
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    def __repr__(self) -> str:
        what = repr(self.distribution) if self.rows is None else f"{len(self.rows)} rows, dim={self.dim}"
        return f"Client({shown(self.name)}: {what})"


def _data(data: Any, argument: str) -> tuple[Any, Array | None]:
    law = as_law(data, argument)
    if law is not None:
        return law, None
    if isinstance(data, (str, os.PathLike)):
        return None, as_rows(_load(data, argument), argument)
    if not is_array(data) and not hasattr(data, "__array__") and isinstance(data, Iterable):
        items = check_list(data, argument)
        if items and all(is_array(item) and item.ndim == 2 for item in items):
            widths = {item.shape[1] for item in items}
            if len(widths) > 1:
                raise InvalidInput(argument, f"has batches of widths {sorted(widths)}", "Give all the same features")
            return None, as_rows(concat([as_rows(item, argument) for item in items]), argument)
        data = items
    return None, as_rows(data, argument)


def _load(path: Any, argument: str) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InvalidInput(
            argument, f"cannot read {shown(str(path))}: {error}", "Give the path of a .npy file"
        ) from None


@dataclass(frozen=True, eq=False)
class Generator:
    """A generative model to score.

    Parameters
    ----------
    source : (m, d) rows already generated, a distribution, a function `(n, rng) -> rows`, or a
        `torch.nn.Module` with `latent_dim` (fed standard normal latents in evaluation mode, and left as it was; calls
        from several threads take turns); where the clients carry a condition, a function `(x, rng) -> ŷ` that returns
        one row for each row of x, shape (n, dx)
    name : how tables and views call it
    columns : what its features are called, by default as a data frame says
    """

    source: Any
    name: str | None = field(default=None, kw_only=True)
    columns: tuple[str, ...] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", self.columns or column_names(self.source))
        if self.name is not None:
            check_names([self.name], "name")
        if callable(self.source) and not isinstance(self.source, Distribution):
            if hasattr(self.source, "state_dict"):
                object.__setattr__(self, "source", module_source(self.source))
            return
        law, rows = _data(self.source, "source")
        object.__setattr__(self, "source", rows if law is None else law)

    def draw(self, n: int, seed: Any, *, dim: int) -> Sample:
        """What a metric sees: its rows or law, or `n` rows drawn from a function, seeded."""
        if not self.answers:
            return Sample.of(self.source, f"generator {self.name!r}", dim=dim)
        rows = self.source(n, np.random.default_rng(seed))
        return Sample(rows=as_rows(rows, f"rows from generator {self.name!r}", dim=dim))

    @property
    def answers(self) -> bool:
        """Whether the source is a function, which is given x where clients carry a condition."""
        return callable(self.source) and not isinstance(self.source, Distribution)

    def answer(self, condition: Array, seed: Any, *, dim: int) -> Sample:
        """ŷ for each row x of `condition`, seeded; a distribution is drawn from whatever the x."""
        rng = np.random.default_rng(seed)
        if isinstance(self.source, Distribution):
            rows = draw_rows(self.source, len(condition), rng, f"rows from generator {self.name!r}")
        elif callable(self.source):
            rows = self.source(condition, rng)
        else:
            seen = f"{self.name!r} is {len(self.source)} rows, which answer no condition"
            raise InvalidInput("source", seen, "Give a function (x, rng) -> rows, one for each row of x")
        rows = as_rows(rows, f"rows from generator {self.name!r}", dim=dim)
        if len(rows) != len(condition):
            seen = f"has {len(rows)} for {len(condition)} rows of x"
            raise InvalidInput(f"rows from generator {self.name!r}", seen, "Return one row for each row of x")
        return Sample(rows=rows, condition=condition)


def as_generators(generators: Any) -> tuple[Generator, ...]:
    """Named generators from a list of them, a dict name -> source, or a single one."""
    if isinstance(generators, Mapping):
        check_names(list(generators), "generators")
        items = [replace(_as_generator(item, f"generator {name!r}"), name=name) for name, item in generators.items()]
    elif isinstance(generators, (Generator, Distribution)) or callable(generators) or is_array(generators):
        items = [_as_generator(generators, "generator")]
    elif isinstance(generators, Iterable) and not isinstance(generators, str):
        listed = check_list(generators, "generators", MOST_PARTIES)
        items = [_as_generator(item, f"generator {k}") for k, item in enumerate(listed, 1)]
    else:
        raise InvalidInput("generators", f"got {shown(generators)}", "Give a list of Generator, or a dict of sources")
    if not items:
        raise InvalidInput("generators", "is empty", "Give at least one generator")
    named = _named(items, "Generator", lambda item, name: replace(item, name=name))
    check_names([item.name for item in named], "generators")
    return named


def _as_generator(item: Any, who: str) -> Generator:
    if isinstance(item, Generator):
        return item
    if isinstance(item, Mapping):
        raise InvalidInput("generators", f"item {who} is a dict", "Give the dict itself, or a list of Generator")
    try:
        return Generator(item)
    except InvalidInput as error:
        raise error.of(who) from None


def _as_client(item: Any, who: str) -> Client:
    if isinstance(item, Client):
        return item
    try:
        return Client(item)
    except InvalidInput as error:
        raise error.of(who) from None


def _named(items: list[Any], kind: str, rename: Callable[[Any, str], Any]) -> tuple[Any, ...]:
    taken = {item.name for item in items}
    free = (name for name in (f"{kind} {k}" for k in range(1, 2 * len(items) + 1)) if name not in taken)
    return tuple(item if item.name is not None else rename(item, next(free)) for item in items)


class Federation:
    """Clients with weights λ, Σλ = 1; the real side of every aggregate.

    Parameters
    ----------
    clients : `Client` objects (or data that makes one), or a dict name -> data

    Weights default to the clients' row counts, or to equal for distributions; a mix of both needs
    explicit weights. Unnamed clients become "Client 1", "Client 2", …

    Examples
    --------
    >>> clients = [nm.Client(np.zeros((30, 2)), name="north"), nm.Client(np.ones((10, 2)), name="south")]
    >>> nm.Federation(clients).weights
    (0.75, 0.25)
    """

    def __init__(self, clients: Iterable[Any] | Mapping[str, Any]) -> None:
        if isinstance(clients, Mapping):
            check_names(list(clients), "clients")
            clients = [_as_client(data, f"client {name!r}")._with(name=name) for name, data in clients.items()]
        if is_array(clients) and getattr(clients, "ndim", 0) == 2:
            seen = f"is one array of shape {tuple(getattr(clients, 'shape', ()))}"
            raise InvalidInput("clients", seen, "Give several: [rows_a, rows_b], or {'a': rows_a, 'b': rows_b}")
        if isinstance(clients, (str, bytes)) or not isinstance(clients, Iterable):
            raise InvalidInput("clients", f"got {shown(clients)}", "Give a list of Client, or a dict name -> data")
        listed = check_list(clients, "clients", MOST_PARTIES)
        items = [_as_client(item, f"client {k}") for k, item in enumerate(listed, 1)]
        if not items:
            raise InvalidInput("clients", "is empty", "Give at least one client")
        self.clients: tuple[Client, ...] = _named(items, "Client", lambda item, name: item._with(name=name))
        self.names = check_names([item.name for item in self.clients], "clients")
        for client in self.clients:
            if client.dim != self.dim:
                seen = f"{client.name!r} has {client.dim} features, {self.names[0]!r} has {self.dim}"
                raise InvalidInput("clients", seen, "Give every client the same features")
        check_same_order([(client.name or "", client.columns) for client in self.clients], "clients")
        self.weights: tuple[float, ...] = _default_weights(self.clients)

    @classmethod
    def from_labels(cls, X: Any, y: Any) -> Federation:
        """One client for each distinct label of `y`, (n,), with its rows of `X`, (n, d).

        >>> nm.Federation.from_labels([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "b"]).weights
        (0.25, 0.75)
        """
        rows = as_rows(X, "X")
        return cls._of_parts(rows, partition.by_label(y, len(rows)), X)

    @classmethod
    def dirichlet(cls, X: Any, y: Any, clients: int, alpha: float, seed: int = 0) -> Federation:
        """`clients` clients of `X`, (n, d), their shares of each label of `y` Dirichlet(α): small α, unlike clients."""
        rows = as_rows(X, "X")
        return cls._of_parts(rows, partition.dirichlet(y, len(rows), clients, alpha, seed), X)

    @classmethod
    def iid(cls, X: Any, clients: int, seed: int = 0) -> Federation:
        """`clients` clients of `X`, (n, d), dealt at random in equal numbers."""
        rows = as_rows(X, "X")
        return cls._of_parts(rows, partition.iid(len(rows), clients, seed), X)

    @classmethod
    def variance_limited(cls, X: Any, y: Any, neighbors: int, seed: int = 0) -> Federation:
        """One client for each label of `y`, (n,): a random item of `X`, (n, d), and its `neighbors` nearest of it.

        The other rows are left out, so every client has `neighbors` + 1 rows that look alike.
        """
        rows = as_rows(X, "X")
        return cls._of_parts(rows, partition.variance_limited(to_numpy(rows), y, neighbors, seed), X)

    @classmethod
    def _of_parts(cls, rows: Array, parts: Mapping[str, Any], given: Any) -> Federation:
        named = {"columns": column_names(given)}
        return cls([Client(rows[index], name=name)._with(**named) for name, index in parts.items()])

    @property
    def dim(self) -> int:
        return self.clients[0].dim

    def with_weights(self, weights: Any) -> Federation:
        """The same clients under other weights (a sequence, or a dict by client name).

        >>> nm.Federation({"a": nm.Gaussian(0.0), "b": nm.Gaussian(1.0)}).with_weights({"a": 3, "b": 1}).weights
        (0.75, 0.25)
        """
        if isinstance(weights, Mapping):
            if set(weights) != set(self.names):
                raise InvalidInput("weights", f"has the names {shown(list(weights))}", "Give one for each client")
            weights = [weights[name] for name in self.names]
        shares = check_weights(weights, len(self))
        return Federation([c._with(weight=w) for c, w in zip(self.clients, shares, strict=True)])

    def replace(self, name: str, client: Any) -> Federation:
        """The federation with the client `name` exchanged for `client`, which keeps that name unless it has one."""
        new = _as_client(client, f"client {name!r}")
        old = self[name]
        new = new._with(name=new.name or name, weight=old.weight if new.weight is None else new.weight)
        return Federation([new if c is old else c for c in self.clients])

    def split(self, test: float = 0.2, seed: int = 0) -> Federation:
        """Every client's rows cut at random into data and a held-out test set of the share `test`.

        >>> client = nm.Federation({"a": np.zeros((50, 2))}).split(test=0.2)["a"]
        >>> client.rows.shape, client.test.shape
        ((40, 2), (10, 2))
        """
        share = check_number(test, "test", minimum=0, maximum=1)
        streams = np.random.SeedSequence(check_count(seed, "seed", minimum=0)).spawn(len(self))
        return Federation([_split(c, share, np.random.default_rng(s)) for c, s in zip(self, streams, strict=True)])

    def pooled(self) -> Client:
        """All clients as one: the rows together where the weights are the row counts, else Σ λ_i P_i."""
        if self.is_size_weighted:
            held = [[c.test for c in self.clients], [c.condition for c in self.clients]]
            test, condition = (None if any(h is None for h in rows) else concat(rows) for rows in held)
            return Client(concat([c.rows for c in self.clients]), test=test, condition=condition, name="pooled")
        laws = [c.distribution if c.rows is None else Empirical(c.rows) for c in self.clients]
        return Client(Mixture(laws, self.weights), name="pooled")

    @property
    def is_conditional(self) -> bool:
        """Whether every client carries a condition; InvalidInput where only some do, or of different widths."""
        widths = {c.name: None if c.condition is None else int(c.condition.shape[1]) for c in self.clients}
        if len(set(widths.values())) > 1:
            first, other = self.names[0], next(name for name in widths if widths[name] != widths[self.names[0]])
            said = {n: "none" if widths[n] is None else f"{widths[n]} columns" for n in (first, other)}
            seen = f"{first!r} has {said[first]}, {other!r} has {said[other]}"
            raise InvalidInput("condition", seen, "Use nm.Client(y, condition=x) for all, with the same columns x")
        return self.clients[0].condition is not None

    @property
    def is_size_weighted(self) -> bool:
        """Whether every client has rows and its weight is its share of them."""
        if any(c.rows is None for c in self.clients):
            return False
        shares = check_weights([_size(c) for c in self.clients], len(self))
        return bool(np.allclose(shares, self.weights, rtol=1e-9, atol=0))

    def __len__(self) -> int:
        return len(self.clients)

    def __iter__(self) -> Iterator[Client]:
        return iter(self.clients)

    def __getitem__(self, name: str) -> Client:
        if not isinstance(name, str) or name not in self.names:
            raise InvalidInput("name", f"no client is called {shown(name)}", f"The names are {', '.join(self.names)}")
        return self.clients[self.names.index(name)]

    def __repr__(self) -> str:
        return f"Federation({len(self)} clients, dim={self.dim}: {', '.join(self.names[:6])}{', …' * (len(self) > 6)})"


def _default_weights(clients: tuple[Client, ...]) -> tuple[float, ...]:
    given = [c.weight for c in clients]
    if all(w is not None for w in given):
        return check_weights(given, len(clients))
    if any(w is not None for w in given):
        missing = next(c.name for c in clients if c.weight is None)
        raise InvalidInput("weight", f"{missing!r} has none while others do", "Give every client a weight, or none")
    laws = [c.rows is None for c in clients]
    if all(laws):
        return check_weights([1.0] * len(clients), len(clients))
    if any(laws):
        seen = "some clients have rows, others a distribution, so sizes do not tell their shares"
        raise InvalidInput("weight", seen, "Give every client a weight")
    return check_weights([_size(c) for c in clients], len(clients))


def _size(client: Client) -> int:
    return 0 if client.rows is None else int(client.rows.shape[0])


def _split(client: Client, share: float, rng: np.random.Generator) -> Client:
    if client.rows is None:
        seen = f"{client.name!r} is {shown(client.distribution)}"
        raise InvalidInput("test", seen, "Give rows, or Client(…, test=rows)")
    n = len(client.rows)
    if n - (held := max(1, round(share * n))) < 1:
        raise InvalidInput("test", f"{client.name!r} has {n} rows and none would be left", "Hold out a smaller share")
    order = rng.permutation(n)
    condition = None if client.condition is None else client.condition[order[held:]]
    return client._with(rows=client.rows[order[held:]], test=client.rows[order[:held]], condition=condition)
