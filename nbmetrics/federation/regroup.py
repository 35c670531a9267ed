"""Other clients out of those of a federation: merged, dropped, split by class, or with one class moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from ..arrays import concat
from ..errors import InvalidInput, check_list, check_names, shown
from .client import Client


class Clients(Protocol):
    """The part of a federation's interface that is used here; the federation imports this module."""

    def __iter__(self) -> Iterator[Client]: ...

    def __getitem__(self, name: str) -> Client: ...


def merge_clients(federation: Clients, name: Any, clients: Any, pool: Callable[[list[Client]], Client]) -> list[Client]:
    """Return the clients with some of them as one, which `pool` makes, in the place of the first."""
    (name,) = check_names([name], "name")
    chosen = _client_names(federation, clients)
    if len(chosen) < 2:
        raise InvalidInput("clients", f"are {shown(chosen)}", "Name two or more to merge")
    parts = [federation[one] for one in chosen]
    one = pool(parts)._with(name=name, weight=_total_weight(part.weight for part in parts))
    first = chosen[0]
    return [one if c.name == first else c for c in federation if c.name == first or c.name not in chosen]


def drop_clients(federation: Clients, clients: Any) -> list[Client]:
    """Return the clients without some."""
    chosen = _client_names(federation, clients)
    left = [client for client in federation if client.name not in chosen]
    if not left:
        raise InvalidInput("clients", "are all clients", "Keep at least one")
    return left


def split_client_classes(federation: Clients, name: Any) -> list[Client]:
    """Return the clients with one of them cut into its classes, which are called "name: class"."""
    client = federation[name]
    labels = _labels(client, "name")
    classes = np.unique(labels)
    if len(classes) < 2:
        raise InvalidInput("name", f"{shown(name)} has one class, {shown(classes[0])}", "Choose another client")
    parts = [_select_rows(client, np.flatnonzero(labels == label), name=f"{name}: {label}") for label in classes]
    return [part for c in federation for part in (parts if c.name == name else [c])]


def move_class_rows(federation: Clients, label: Any, source: Any, target: Any) -> list[Client]:
    """Return the clients with the rows of one class of `source` taken over by `target`."""
    giver, taker = federation[source], federation[target]
    if giver is taker:
        raise InvalidInput("target", f"{shown(target)} already has them", "Give another client")
    labels, theirs = _labels(giver, "source"), _labels(taker, "target")
    classes = np.unique(labels)
    if str(label) not in map(str, classes):
        known_classes = ", ".join(map(str, classes[:20]))
        raise InvalidInput("label", f"{shown(source)} has no class {shown(label)}", f"Its classes are {known_classes}")
    if len(classes) < 2:
        raise InvalidInput("label", f"{shown(source)} has no other class", "Merge the two clients: merge(…)")
    is_moved = np.array([str(one) == str(label) for one in classes])[np.searchsorted(classes, labels)]
    part, left = (_select_rows(giver, np.flatnonzero(which)) for which in (is_moved, ~is_moved))
    both = None if taker.condition is None or part.condition is None else concat([taker.condition, part.condition])
    grown = taker._with(
        rows=concat([taker.rows, part.rows]),
        condition=both,
        labels=np.concatenate([theirs, part.labels]),
        test=None,
        weight=_total_weight([taker.weight, part.weight]),
    )
    return [left if c is giver else grown if c is taker else c for c in federation]


def _select_rows(client: Client, which: np.ndarray, **changes: Any) -> Client:
    """Return a client of some of the rows, with its part of the weight; its held-out rows' classes are unknown."""
    parts = {part: getattr(client, part) for part in ("rows", "condition", "labels")}
    cut = {part: None if value is None else value[which] for part, value in parts.items()}
    images = None if client.images is None else client.images.select(which)
    weight = None if client.weight is None else client.weight * len(which) / client.size
    return client._with(**{**cut, "images": images, "test": None, "weight": weight, **changes})


def _labels(client: Client, argument: str) -> Any:
    if client.rows is None or client.labels is None:
        seen = f"{shown(client.name)} has no labels for its rows"
        raise InvalidInput(argument, seen, "Give nm.Client(rows, labels=…), or a federation from labels or folders")
    return np.asarray(client.labels)


def _client_names(federation: Clients, clients: Any) -> list[str]:
    names = [clients] if isinstance(clients, str) else check_list(clients, "clients", is_ordered=False)
    for name in names:
        federation[name]
    return list(check_names(names, "clients")) if names else []


def _total_weight(weights: Any) -> float | None:
    listed = list(weights)
    return None if any(weight is None for weight in listed) else float(sum(listed))
