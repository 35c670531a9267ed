"""How one labelled data set becomes clients: pure functions that return row indices by client name.

Every row goes to one client, and to one alone; only `variance_limited` leaves rows out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from .arrays import count_each, plain_array
from .errors import InvalidInput, check_count, check_number, shown

DIGITS = "0123456789"
Parts = dict[str, np.ndarray]


def by_label(y: Any, rows: int, argument: str = "y") -> Parts:
    """One client for each distinct label, in sorted order."""
    labels, distinct = labels_of(y, rows, argument)
    return {str(label): np.flatnonzero(labels == label) for label in distinct}


def by_id(ids: Any, rows: int, argument: str = "ids") -> Parts:
    """One client for each distinct id, in natural order: "user 2" before "user 10"."""
    parts = by_label(ids, rows, argument)
    return {name: parts[name] for name in sorted(parts, key=natural)}


def iid(rows: int, clients: Any, seed: Any) -> Parts:
    """Clients of equal size, up to one row, drawn at random."""
    count, rng = check_count(clients, "clients"), _rng(seed)
    if count > rows:
        raise InvalidInput("clients", f"are {count} for {rows} rows", "Ask for fewer clients")
    return _sort_parts(np.array_split(rng.permutation(rows), count))


def power_law(rows: int, clients: Any, exponent: Any, seed: Any) -> Parts:
    """Clients drawn at random of sizes ∝ k^−exponent, k = 1, 2, …, of what 2 rows for each leave."""
    count, rng = _clients(clients, rows), _rng(seed)
    steep = check_number(exponent, "exponent", minimum=0, maximum=10)
    ends = np.cumsum(np.arange(1.0, count + 1) ** -steep)
    ends = 2 * np.arange(1, count + 1) + np.rint(ends / ends[-1] * (rows - 2 * count)).astype(np.int64)
    return _sort_parts(np.split(rng.permutation(rows), ends[:-1]))


def dirichlet(y: Any, rows: int, clients: Any, alpha: Any, seed: Any) -> Parts:
    """Each label's rows dealt to the clients in shares drawn from Dirichlet(α, …, α): a small α makes them differ.

    Shares are drawn again, up to 1,000 times, until every client has at least 2 rows.
    """
    (labels, distinct), count, rng = labels_of(y, rows), _clients(clients, rows), _rng(seed)
    spread = check_number(alpha, "alpha", minimum=1e-6, maximum=1e6)
    owner = np.empty(rows, dtype=np.int64)
    for _ in range(1000):
        for label in distinct:
            index = rng.permutation(np.flatnonzero(labels == label))
            shares = rng.dirichlet(np.full(count, spread))
            owner[index] = np.searchsorted(np.cumsum(shares), (np.arange(len(index)) + 0.5) / len(index)).clip(
                0, count - 1
            )
        if count_each(owner, count).min() >= 2:
            return _parts_of_owners(owner, count)
    seen = f"are {count} for {rows} rows, and with alpha = {spread:g} some client always has fewer than 2"
    raise InvalidInput("clients", seen, "Ask for fewer clients, or a larger alpha")


def shards(y: Any, rows: int, clients: Any, per_client: Any, seed: Any) -> Parts:
    """Rows sorted by label, cut into clients × per_client shards of equal size, up to one row, and dealt at random."""
    labels, _ = labels_of(y, rows)
    count, each, rng = _clients(clients, rows), check_count(per_client, "per_client"), _rng(seed)
    if count * each > rows:
        seen = f"is {each}, which makes {count * each} shards for {count} clients, of {rows} rows"
        raise InvalidInput("per_client", seen, f"Give at most {rows // count}")
    order = rng.permutation(rows)
    cut = np.array_split(order[np.argsort(labels[order], kind="stable")], count * each)
    return _sort_parts(
        np.concatenate([cut[k] for k in dealt]) for dealt in rng.permutation(len(cut)).reshape(count, each)
    )


def pathological(y: Any, rows: int, clients: Any, classes: Any, seed: Any) -> Parts:
    """Clients of `classes` labels each, drawn at random; the rows of a label in equal numbers to those that have it.

    Labels are given out evenly: none is at two clients more than another.
    """
    (labels, distinct), count, rng = labels_of(y, rows), _clients(clients, rows), _rng(seed)
    each = check_count(classes, "classes")
    if each > len(distinct):
        raise InvalidInput(
            "classes", f"are {each} per client, but there are {len(distinct)} labels", f"Give at most {len(distinct)}"
        )
    if count * each < len(distinct):
        seen = f"are {each} per client, but {count} clients do not cover all {len(distinct)} labels"
        raise InvalidInput("classes", seen, f"Give at least {-(-len(distinct) // count)}, or leave labels out first")
    holders: list[list[int]] = [[] for _ in distinct]
    for client in range(count):
        order = rng.permutation(len(distinct))
        for label in sorted(order, key=lambda k: len(holders[k]))[:each]:
            holders[label].append(client)
    owner = np.empty(rows, dtype=np.int64)
    for label, held in zip(distinct, holders, strict=True):
        index = rng.permutation(np.flatnonzero(labels == label))
        if len(index) < len(held):
            seen = f"are {each} a client, and label {shown(str(label))} has {len(index)} rows for {len(held)} clients"
            raise InvalidInput("classes", seen, "Ask for fewer clients, or fewer classes per client")
        for client, part in zip(held, np.array_split(index, len(held)), strict=True):
            owner[part] = client
    if count_each(owner, count).min() < 2:
        seen = f"are {count} for {rows} rows with {each} label{'s' * (each > 1)} each, and some has fewer than 2 rows"
        raise InvalidInput("clients", seen, "Ask for fewer clients")
    return _parts_of_owners(owner, count)


def variance_limited(rows: np.ndarray, y: Any, neighbors: Any, seed: Any) -> Parts:
    """One client for each label: an item of that label drawn at random, and its nearest neighbours within the label."""
    count, rng = check_count(neighbors, "neighbors"), _rng(seed)
    parts = by_label(y, len(rows))
    for name, index in parts.items():
        if len(index) <= count:
            seen = f"is {count}, and label {shown(name)} has {len(index)} rows"
            raise InvalidInput("neighbors", seen, f"Give at most {len(index) - 1}")
        parts[name] = index[nearest(rows[index], int(rng.integers(len(index))))[: count + 1]]
    return parts


def nearest(rows: np.ndarray, start: int) -> np.ndarray:
    """Row indices by Euclidean distance from the row `start`, which comes first; copies keep their order."""
    squared = np.sum((rows - rows[start]) ** 2, axis=1)
    squared[start] = -1.0
    return np.argsort(squared, kind="stable")


def natural(name: str) -> list[tuple[int, int, str]]:
    """The key that sorts names as people do: numbers in them by size, then letters."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [
        (0, len(part.lstrip("0")), part.lstrip("0")) if part[0] in DIGITS else (1, 0, part.casefold()) for part in parts
    ]


def labels_of(y: Any, rows: int, argument: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """The labels, one for each row, and the distinct ones in sorted order."""
    labels = plain_array(y, argument, "Give one label for each row")
    if labels.ndim != 1 or len(labels) != rows:
        seen = "got None" if y is None else f"has shape {labels.shape} for {rows} rows"
        raise InvalidInput(argument, seen, "Give one label for each row")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        seen = f"has labels such as {shown(labels[~np.isfinite(labels)][0])}"
        raise InvalidInput(argument, seen, "Give finite labels")
    try:
        return labels, np.unique(labels)
    except TypeError:
        raise InvalidInput(argument, f"mixes types: {shown(labels[:4].tolist())}", "Give labels of one type") from None


def _rng(seed: Any) -> np.random.Generator:
    return np.random.default_rng(check_count(seed, "seed", minimum=0))


def _clients(clients: Any, rows: int) -> int:
    """The number of clients, if there are 2 rows for each."""
    count = check_count(clients, "clients")
    if 2 * count > rows:
        raise InvalidInput("clients", f"are {count} for {rows} rows, and each needs 2", "Ask for fewer clients")
    return count


def _parts_of_owners(owner: np.ndarray, count: int) -> Parts:
    return {f"Client {k + 1}": np.flatnonzero(owner == k) for k in range(count)}


def _sort_parts(parts: Iterable[np.ndarray]) -> Parts:
    return {f"Client {k}": np.sort(part) for k, part in enumerate(parts, 1)}
