"""How one labelled data set becomes clients: pure functions that return row indices by client name."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import to_numpy
from .errors import InvalidInput, check_count, check_number, shown


def by_label(y: Any, rows: int, argument: str = "y") -> dict[str, np.ndarray]:
    """One client for each distinct label, in sorted order."""
    labels, distinct = _labels(y, rows, argument)
    return {str(label): np.flatnonzero(labels == label) for label in distinct}


def iid(rows: int, clients: Any, seed: Any) -> dict[str, np.ndarray]:
    """Clients of equal size, up to one row, drawn at random."""
    count, rng = check_count(clients, "clients"), np.random.default_rng(check_count(seed, "seed", minimum=0))
    if count > rows:
        raise InvalidInput("clients", f"are {count} for {rows} rows", "Ask for fewer clients")
    parts = np.array_split(rng.permutation(rows), count)
    return {f"Client {k}": np.sort(part) for k, part in enumerate(parts, 1)}


def dirichlet(y: Any, rows: int, clients: Any, alpha: Any, seed: Any) -> dict[str, np.ndarray]:
    """Each label's rows dealt to the clients in shares drawn from Dirichlet(α, …, α): a small α makes them differ.

    Shares are drawn again, up to 1,000 times, until every client has at least 2 rows.
    """
    (labels, distinct), count = _labels(y, rows), check_count(clients, "clients")
    spread = check_number(alpha, "alpha", minimum=1e-6, maximum=1e6)
    rng = np.random.default_rng(check_count(seed, "seed", minimum=0))
    if 2 * count > rows:
        raise InvalidInput("clients", f"are {count} for {rows} rows, and each needs 2", "Ask for fewer clients")
    owner = np.empty(rows, dtype=np.int64)
    for _ in range(1000):
        for label in distinct:
            index = rng.permutation(np.flatnonzero(labels == label))
            shares = rng.dirichlet(np.full(count, spread))
            owner[index] = np.searchsorted(np.cumsum(shares), (np.arange(len(index)) + 0.5) / len(index)).clip(
                0, count - 1
            )
        if np.bincount(owner, minlength=count).min() >= 2:
            return {f"Client {k + 1}": np.flatnonzero(owner == k) for k in range(count)}
    seen = f"are {count} for {rows} rows, and with alpha = {spread:g} some client always has fewer than 2"
    raise InvalidInput("clients", seen, "Ask for fewer clients, or a larger alpha")


def variance_limited(rows: np.ndarray, y: Any, neighbors: Any, seed: Any) -> dict[str, np.ndarray]:
    """One client for each label: an item of that label drawn at random, and its nearest neighbours within the label."""
    count, rng = check_count(neighbors, "neighbors"), np.random.default_rng(check_count(seed, "seed", minimum=0))
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


def _labels(y: Any, rows: int, argument: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """The labels, one for each row, and the distinct ones in sorted order."""
    try:
        labels = to_numpy(y.detach()) if hasattr(y, "detach") else np.asarray(y)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInput(argument, f"got {shown(y)}", "Give one label for each row") from None
    if labels.ndim != 1 or len(labels) != rows:
        raise InvalidInput(argument, f"has shape {labels.shape} for {rows} rows", "Give one label for each row")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        seen = f"has labels such as {shown(labels[~np.isfinite(labels)][0])}"
        raise InvalidInput(argument, seen, "Give finite labels")
    try:
        return labels, np.unique(labels)
    except TypeError:
        raise InvalidInput(argument, f"mixes types: {shown(labels[:4].tolist())}", "Give labels of one type") from None
