"""What if the clients were others: some taken together, one left out, one cut by class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

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
    if client.rows is None or client.labels is None:
        seen = f"{shown(name)} has no labels of its rows"
        raise InvalidInput("name", seen, "Give nm.Client(rows, labels=…), or a federation from labels or folders")
    classes = np.unique(client.labels)
    if len(classes) < 2:
        raise InvalidInput("name", f"{shown(name)} has one class, {shown(classes[0])}", "Choose another client")
    parts = []
    for label in classes:
        which = np.flatnonzero(np.asarray(client.labels) == label)
        held = {part: getattr(client, part) for part in ("rows", "condition", "labels", "images")}
        cut = {part: None if value is None else value[which] for part, value in held.items() if part != "images"}
        images = None if client.images is None else client.images.select(which)
        weight = None if client.weight is None else client.weight * len(which) / client.size
        parts.append(client._with(**cut, images=images, test=None, weight=weight, name=f"{name}: {label}"))
    return [part for c in federation for part in (parts if c.name == name else [c])]


def _chosen(federation: Clients, clients: Any) -> list[str]:
    names = [clients] if isinstance(clients, str) else check_list(clients, "clients")
    for name in names:
        federation[name]
    return list(check_names(names, "clients")) if names else []


def _sum(weights: Any) -> float | None:
    given = list(weights)
    return None if any(weight is None for weight in given) else float(sum(given))
