"""Clients with weights: the real side of every aggregate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import concat, is_array
from ..distributions import Empirical, Mixture
from ..errors import (
    InvalidInput,
    check_count,
    check_list,
    check_named_weights,
    check_names,
    check_number,
    check_weights,
    shown,
)
from ..summaries.reference import pooled_moments
from ..summaries.sources import is_loader
from ..tables import check_same_order
from .client import Client
from .generator import MAX_PARTIES, name_items
from .image_sources import are_images, check_one_space, extraction_of
from .partition_schemes import PartitionSchemes
from .regroup import drop_clients, merge_clients, move_class_rows, split_client_classes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def _as_client(item: Any, who: str, extraction: Any = None) -> Client:
    if isinstance(item, Client):
        return item
    try:
        return Client(item, extractor=extraction)
    except InvalidInput as error:
        raise error.of(who) from None


class Federation(PartitionSchemes):
    """Clients with weights λ, Σλ = 1; the real side of every aggregate.

    Parameters
    ----------
    clients : `Client` objects (or data that makes one), or a dict name -> data
    extractor, extract : what makes rows of images, where data are images, such as a dict name -> folder; a name, an
        object or a function, and its settings such as weights="inception.pth", as `nm.extract` takes them. Beside
        rows, what they were made with. Clients that have an extraction of their own keep it, and all must be the same

    Attributes
    ----------
    clients, names, weights, dim : what it is made of; Σ weights = 1. Where a client is an iterator of batches and none
        gives a weight, they are known once `evaluate` has read it
    extraction : how its images became rows, and those of generators will, or None; it stays with the clients
    report : DataFrame client, file, read, reason: every file that was found where images were asked for

    Weights default to the clients' row counts, or to equal for distributions; a mix of both, and one of several
    `nm.Moments` of unknown n, needs explicit weights. Unnamed clients become "Client 1", "Client 2", …

    Examples
    --------
    >>> clients = [nm.Client(np.zeros((30, 2)), name="north"), nm.Client(np.ones((10, 2)), name="south")]
    >>> nm.Federation(clients).weights
    (0.75, 0.25)
    """

    def __init__(self, clients: Iterable[Any] | Mapping[str, Any], *, extractor: Any = None, **extract: Any) -> None:
        extraction = extraction_of(extractor, extract) if extract or extractor is not None else None
        if isinstance(clients, Mapping):
            check_names(list(clients), "clients")
            sources = clients.items()
            clients = [_as_client(data, f"client {name!r}", extraction)._with(name=name) for name, data in sources]
        elif is_array(clients) and getattr(clients, "ndim", 0) == 2:
            seen = f"is one array of shape {tuple(getattr(clients, 'shape', ()))}"
            raise InvalidInput("clients", seen, "Give several: [rows_a, rows_b], or {'a': rows_a, 'b': rows_b}")
        elif is_loader(clients):
            fix = "Give a list of them, one for each client: [loader_a, loader_b]"
            raise InvalidInput("clients", "is one loader", fix)
        if isinstance(clients, (str, bytes)) or not isinstance(clients, Iterable):
            fix = "Give a list of Client, or a dict name -> data; of a folder use nm.Federation.from_folder"
            raise InvalidInput("clients", f"got {shown(clients)}", fix)
        listed = check_list(clients, "clients", MAX_PARTIES)
        items = [_as_client(item, f"client {k}", extraction) for k, item in enumerate(listed, 1)]
        if not items:
            raise InvalidInput("clients", "is empty", "Give at least one client")
        if any(item.name is None for item in items):
            items = [*name_items(items, "Client", lambda item, name: item._with(name=name))]
        self.clients: tuple[Client, ...] = tuple(items)
        self.names = check_names([item.name for item in self.clients], "clients")
        if extraction is not None:
            self.clients = tuple(c if c.extraction else c._with(extraction=extraction) for c in self.clients)
        self.dim: int = self.clients[0].dim
        self.extraction: Any = next((c.extraction for c in self.clients if c.extraction is not None), None)
        if self.extraction is not None:
            check_one_space([(c.name or "", c.extraction) for c in self.clients], "clients")
        for client in self.clients:
            if client.dim != self.dim:
                seen = f"{client.name!r} has {client.dim} features, {self.names[0]!r} has {self.dim}"
                raise InvalidInput("clients", seen, "Give every client the same features")
        for argument in ("columns", "condition_columns"):
            named = [(client.name or "", getattr(client, argument)) for client in self.clients]
            if any(columns for _, columns in named):
                check_same_order(named, "clients" if argument == "columns" else "condition")
        for client in self.clients:
            if client.stream is not None:
                client.stream.who = f"client {client.name!r}"
        _check_weights(self.clients)
        if not any(c.stream is not None and c.stream.size is None for c in self.clients):
            self.weights  # noqa: B018  # bad ones are told now
        self._beside: Any = None

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """λ of each client, Σλ = 1; where they are numbers of rows, those of a function of batches by a pass."""
        weights = [c.weight for c in self.clients]
        if weights[0] is not None:
            return check_weights(weights, len(weights))
        if self.clients[0].distribution is not None:
            return check_weights([1.0] * len(weights), len(weights))
        if len(weights) == 1:
            return (1.0,)
        return check_weights([c.size for c in self.clients], len(weights))

    @property
    def report(self) -> pd.DataFrame:
        """Every file found where the clients' images were looked for: client, file, read, reason."""
        from .composition import files

        return files(self.clients, self._beside)

    def describe(self) -> pd.DataFrame:
        """One row a client: client, n, weight, test, and the share of each class.

        n and test are numbers of rows (n missing of a distribution), weight is λ, and the columns "share of <class>"
        are there where clients have labels; they sum to 1 in a row.

        >>> nm.Federation.iid(np.zeros((6, 2)), 2, y=["a", "a", "b", "b", "b", "b"]).describe().round(2)
             client  n  weight  test  share of a  share of b
        0  Client 1  3     0.5     0        0.00        1.00
        1  Client 2  3     0.5     0        0.67        0.33
        """
        from .composition import describe

        return describe(self.clients, self.weights)

    def plot(self) -> Figure:
        """What the clients are made of, as a matplotlib Figure: classes where they have labels, and sizes.

        Classes are stacked bars up to 12 of them (and 1,500 bars), and a map of shares beyond; sizes are numbers of
        rows, or weights where a client is a distribution.
        """
        from .figure import plot_mix

        return plot_mix(self.describe())

    def with_weights(self, weights: Any) -> Federation:
        """The same clients under other weights (a sequence, or a dict by client name).

        >>> nm.Federation({"a": nm.Gaussian(0.0), "b": nm.Gaussian(1.0)}).with_weights({"a": 3, "b": 1}).weights
        (0.75, 0.25)
        """
        shares = check_named_weights(weights, self.names)
        return self._with_clients([c._with(weight=w) for c, w in zip(self.clients, shares, strict=True)])

    def replace(self, name: str, client: Any) -> Federation:
        """The federation with the client `name` exchanged for `client`, which keeps that name unless it has one.

        Images become rows as those of the other clients did.
        """
        extraction = self.extraction if are_images(client) else None
        old, new = self[name], _as_client(client, f"client {name!r}", extraction)
        new = new._with(name=new.name or name, weight=old.weight if new.weight is None else new.weight)
        return self._with_clients([new if c is old else c for c in self.clients])

    def split(self, test: float = 0.2, seed: int = 0) -> Federation:
        """Every client's rows cut at random into data and a held-out test set of the share `test`.

        >>> client = nm.Federation({"a": np.zeros((50, 2))}).split(test=0.2)["a"]
        >>> client.rows.shape, client.test.shape
        ((40, 2), (10, 2))
        """
        share = check_number(test, "test", minimum=0, maximum=1)
        if not share:
            raise InvalidInput("test", "is 0, which holds out nothing", "Give a share of the rows, such as 0.2")
        streams = np.random.SeedSequence(check_count(seed, "seed", minimum=0)).spawn(len(self))
        return self._with_clients(
            [_split(c, share, np.random.default_rng(s)) for c, s in zip(self, streams, strict=True)]
        )

    def merge(self, name: str, clients: Any) -> Federation:
        """The federation with some clients as one of that name: their rows together, or Σ λ_i P_i of distributions.

        >>> federation = nm.Federation({"a": np.zeros((2, 1)), "b": np.ones((4, 1)), "c": np.ones((6, 1))})
        >>> federation.merge("a and b", ["a", "b"]).describe()["n"].tolist()
        [6, 6]
        """
        return self._with_clients(merge_clients(self, name, clients, lambda parts: Federation(parts).pooled()))

    def drop(self, clients: Any) -> Federation:
        """The federation without a client, or without several; the others weigh as before, by their shares."""
        return self._with_clients(drop_clients(self, clients))

    def split_classes(self, name: str) -> Federation:
        """The federation with one client cut into its classes, each a client "name: class"; it must have labels."""
        return self._with_clients(split_client_classes(self, name))

    def move_class(self, label: Any, source: str, target: str) -> Federation:
        """The federation with one class of the client `source` moved to `target`; both must have labels.

        >>> clients = [nm.Client(np.zeros((4, 1)), labels=[0, 0, 0, 1], name=name) for name in "ab"]
        >>> nm.Federation(clients).move_class(0, "a", "b").describe()["n"].tolist()
        [1, 7]
        """
        return self._with_clients(move_class_rows(self, label, source, target))

    def _with_clients(self, clients: list[Client]) -> Federation:
        """Return a federation of other clients in the places of these."""
        federation = Federation(clients)
        federation._beside = self._beside
        return federation

    def pooled(self) -> Client:
        """All clients as one: the rows together where the weights are the row counts, else Σ λ_i P_i.

        Where some are `nm.Moments`, the moments of that.
        """
        if any(c.moments is not None for c in self.clients):
            n = sum(c.size for c in self.clients) if self.is_size_weighted else None
            moments = pooled_moments([c.moments or c.rows for c in self.clients], self.weights, n)
            pooled = Client(moments, name="pooled")
        elif self.is_size_weighted:
            held = {part: [getattr(c, part) for c in self.clients] for part in ("test", "condition", "labels")}
            whole = {part: concat(parts) for part, parts in held.items() if all(p is not None for p in parts)}
            pooled = Client(concat([c.rows for c in self.clients]), name="pooled", **whole)
        else:
            distributions = [c.distribution if c.rows is None else Empirical(c.rows) for c in self.clients]
            pooled = Client(Mixture(distributions, self.weights), name="pooled")
        columns = next((c.columns for c in self.clients if c.columns), None)
        return pooled._with(extraction=self.extraction, columns=columns)

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
        """Whether every client has rows, or says of how many it is, and its weight is its share of them."""
        if any(c.distribution is not None or not c.size for c in self.clients):
            return False
        shares = check_weights([c.size for c in self.clients], len(self))
        return bool(np.allclose(shares, self.weights, rtol=1e-9, atol=0))

    def __len__(self) -> int:
        return len(self.clients)

    def __iter__(self) -> Iterator[Client]:
        return iter(self.clients)

    def __getitem__(self, name: str) -> Client:
        if not isinstance(name, str) or name not in self.names:
            raise InvalidInput(
                "name", f"no client has the name {shown(name)}", f"The names are {', '.join(self.names)}"
            )
        return self.clients[self.names.index(name)]

    def __repr__(self) -> str:
        return f"Federation({len(self)} clients, dim={self.dim}: {', '.join(self.names[:6])}{', …' * (len(self) > 6)})"


def _check_weights(clients: tuple[Client, ...]) -> None:
    """Refuse clients that say no weights together: all give one, or all have rows, or all are distributions."""
    has_weight = [c.weight is not None for c in clients]
    if any(has_weight) and not all(has_weight):
        missing = next(c.name for c in clients if c.weight is None)
        raise InvalidInput("weight", f"{missing!r} has none while others do", "Give every client a weight, or none")
    distributions = [c.distribution is not None for c in clients]
    if any(distributions) and not all(distributions) and not all(has_weight):
        seen = "some clients have rows, others a distribution, so sizes do not determine their shares"
        raise InvalidInput("weight", seen, "Give every client a weight")
    uncounted = [c.name for c in clients if c.moments is not None and c.moments.n is None]
    if uncounted and len(clients) > 1 and not all(has_weight):
        seen = f"{uncounted[0]!r} is a mean and a covariance of an unknown number of rows"
        raise InvalidInput("weight", seen, "Give nm.Moments(mean, cov, n), or every client a weight")


def _split(client: Client, share: float, rng: np.random.Generator) -> Client:
    if client.rows is None:
        seen = f"{client.name!r} is {client.without_rows}"
        raise InvalidInput("test", seen, "Give rows, or Client(…, test=rows)")
    n = len(client.rows)
    if n - (held := max(1, round(share * n))) < 1:
        raise InvalidInput("test", f"{client.name!r} has {n} rows and none would be left", "Hold out a smaller share")
    order = rng.permutation(n)
    kept: dict[str, Any] = {"rows": client.rows, "condition": client.condition, "labels": client.labels}
    kept["images"] = client.images
    cut = {part: None if value is None else value[order[held:]] for part, value in kept.items()}
    return client._with(test=client.rows[order[:held]], **cut)
