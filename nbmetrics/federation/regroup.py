"""What if the clients were others: some taken together, one left out, one cut by class, a class moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from ..arrays import concat
from ..errors import InvalidInput, check_list, check_names, shown
from .client import Client


class Clients(Protocol):
    """What is read of a federation, which knows this file, not it the federation."""

    def __iter__(self) -> Iterator[Client]: ...

    def __getitem__(self, name: str) -> Client: ...


def merged(federation: Clients, name: Any, clients: Any, pool: Callable[[list[Client]], Client]) -> list[Client]:
    """The clients with some of them as one, which `pool` makes, in the place of the first."""
    (name,) = check_names([name], "name")
    chosen = _chosen(federation, clients)
    if len(chosen) < 2:
        raise InvalidInput("clients", f"are {shown(chosen)}", "Name two or more to take together")
    parts = [federation[one] for one in chosen]
    one = pool(parts)._with(name=name, weight=_sum(part.weight for part in parts))
    first = chosen[0]
    return [one if c.name == first else c for c in federation if c.name == first or c.name not in chosen]


def without(federation: Clients, clients: Any) -> list[Client]:
    """The clients but for some."""
    chosen = _chosen(federation, clients)
    left = [client for client in federation if client.name not in chosen]
    if not left:
        raise InvalidInput("clients", "are all that there are", "Leave one at least")
    return left


def by_class(federation: Clients, name: Any) -> list[Client]:
    """The clients with one of them cut into its classes, which are called "name: class"."""
    client = federation[name]
    labels = _labels(client, "name")
    classes = np.unique(labels)
    if len(classes) < 2:
        raise InvalidInput("name", f"{shown(name)} has one class, {shown(classes[0])}", "Choose another client")
    parts = [_some(client, np.flatnonzero(labels == label), name=f"{name}: {label}") for label in classes]
    return [part for c in federation for part in (parts if c.name == name else [c])]


def with_class_moved(federation: Clients, label: Any, source: Any, target: Any) -> list[Client]:
    """The clients with the rows of one class of `source` taken over by `target`."""
    giver, taker = federation[source], federation[target]
    if giver is taker:
        raise InvalidInput("target", f"{shown(target)} has them", "Give another client")
    labels, theirs = _labels(giver, "source"), _labels(taker, "target")
    classes = np.unique(labels)
    if str(label) not in map(str, classes):
        known = ", ".join(map(str, classes[:20]))
        raise InvalidInput("label", f"{shown(source)} has no class {shown(label)}", f"Its classes are {known}")
    if len(classes) < 2:
        raise InvalidInput("label", f"{shown(source)} has no other class", "Take the two clients together: merge(…)")
    is_moved = np.array([str(one) == str(label) for one in classes])[np.searchsorted(classes, labels)]
    part, left = (_some(giver, np.flatnonzero(which)) for which in (is_moved, ~is_moved))
    both = None if taker.condition is None or part.condition is None else concat([taker.condition, part.condition])
    grown = taker._with(
        rows=concat([taker.rows, part.rows]),
        condition=both,
        labels=np.concatenate([theirs, part.labels]),
        test=None,
        weight=_sum([taker.weight, part.weight]),
    )
    return [left if c is giver else grown if c is taker else c for c in federation]


def _some(client: Client, which: np.ndarray, **changes: Any) -> Client:
    """A client of some of the rows, with its part of the weight; whose class the rows held out are is not known."""
    parts = {part: getattr(client, part) for part in ("rows", "condition", "labels")}
    cut = {part: None if value is None else value[which] for part, value in parts.items()}
    images = None if client.images is None else client.images.select(which)
    weight = None if client.weight is None else client.weight * len(which) / client.size
    return client._with(**{**cut, "images": images, "test": None, "weight": weight, **changes})


def _labels(client: Client, argument: str) -> Any:
    if client.rows is None or client.labels is None:
        seen = f"{shown(client.name)} has no labels of its rows"
        raise InvalidInput(argument, seen, "Give nm.Client(rows, labels=…), or a federation from labels or folders")
    return np.asarray(client.labels)


def _chosen(federation: Clients, clients: Any) -> list[str]:
    names = [clients] if isinstance(clients, str) else check_list(clients, "clients")
    for name in names:
        federation[name]
    return list(check_names(names, "clients")) if names else []


def _sum(weights: Any) -> float | None:
    given = list(weights)
    return None if any(weight is None for weight in given) else float(sum(given))
