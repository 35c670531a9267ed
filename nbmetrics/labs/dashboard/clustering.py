"""Hierarchical clustering of the clients: the tree in whose order they stand, and along which hundreds of them fold.

Clients are apart by the MMD of KID's cubic kernel, √(E k(X, X′) + E k(Y, Y′) − 2 E k(X, Y)), of a few rows each, or in
closed form; where nothing but scores is known, by their columns of the table. Tree: average linkage; its leaves stand
so that neighbours are alike (Bar-Joseph et al. 2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ...arrays import Array, row_blocks, to_float64, to_numpy
from ...distributions import draw_rows
from ...errors import InvalidInput
from ...metrics.base import Sample, rows_refusal, sample_if_needed
from ...metrics.kid.kernels import some_of
from ...metrics.kid.metric import CUBIC, KID
from ...metrics.kid.polynomial import about_mean
from .leaf_ordering import order_leaves

# Rows of all clients together, multiplications of their pairs, and the fewest rows of a client: enough for an order.
MAX_ROWS, MAX_MULTIPLICATIONS, MIN_ROWS_A_CLIENT = 2_500, 4e9, 3
# Distributions of which every two are compared in closed form; of more some rows are drawn.
MAX_EXACT_CLIENTS = 60
# Of which the means of every two take no more than a second.
MAX_CLIENTS = 2_000
# Ordering the leaves takes the cube of their number.
MAX_CLIENTS_ORDERED = 600


class Tree(NamedTuple):
    """`leaves`: the clients in the order of the tree. `joins`: two clusters and how far apart they are, k − 1 times."""

    leaves: list[int]
    joins: list[tuple[int, int, float]]

    def to_json(self) -> dict[str, Any]:
        return {"leaves": self.leaves, "tree": [list(join) for join in self.joins]}


def cluster_clients(samples: Sequence[Sample]) -> Tree:
    """Return the tree of clients by their rows or distributions; none where they are too many, too large for the
    kernel, or one has neither."""
    unclustered = Tree(list(range(len(samples))), [])
    if len(samples) > MAX_CLIENTS:
        return unclustered
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return tree_of(squared_mmd(samples))
    except InvalidInput:
        return unclustered


def squared_mmd(samples: Sequence[Sample]) -> np.ndarray:
    """Return estimates (k, k) of MMD² between clients, of some rows of each."""
    together = min(MAX_ROWS, int((MAX_MULTIPLICATIONS / samples[0].dim) ** 0.5))
    share, is_exact = max(MIN_ROWS_A_CLIENT, together // len(samples)), len(samples) <= MAX_EXACT_CLIENTS
    some = [_subsample(sample, share, [0, i], is_exact) for i, sample in enumerate(samples)]
    kernel = about_mean(CUBIC, some)
    if all(sample.rows is not None for sample in some):
        return _squared_mmd_of_rows(kernel, [to_numpy(to_float64(cast(Array, sample.rows))) for sample in some])
    means = [KID(kernel).summarize(sample) for sample in some]
    own = np.array([mean.self_mean() for mean in means])
    cross = np.array([[a.mean_with(b) for b in means] for a in means])
    return np.asarray(own[:, None] + own - 2.0 * cross)


def _squared_mmd_of_rows(kernel: Any, clients: Sequence[np.ndarray]) -> np.ndarray:
    """Return MMD² (k, k) from the kernel between all rows, computed in strips."""
    rows, sizes = np.concatenate(clients), np.array([len(client) for client in clients])
    starts = np.cumsum([0, *sizes[:-1]])
    strips = [
        np.add.reduceat(kernel.block(rows[b], rows), starts, axis=1) for b in row_blocks(len(rows), 8 * len(rows))
    ]
    sums = np.add.reduceat(np.concatenate(strips), starts, axis=0)
    alone = np.add.reduceat(kernel.elementwise(rows, rows), starts)
    own = (sums.diagonal() - alone) / (sizes * (sizes - 1.0))
    return np.asarray(own[:, None] + own - 2.0 * sums / np.outer(sizes, sizes))


def _subsample(sample: Sample, share: int, seed: Any, is_exact: bool) -> Sample:
    """Return so many rows of a client, or its distribution; a single row twice, as it has no other to be compared
    with."""
    if sample.rows is not None:
        rows = some_of(sample.rows, share)
        return Sample(rows=np.repeat(rows, 2, axis=0) if len(rows) == 1 else rows)
    if refusal := rows_refusal(KID(), sample, "clients"):
        raise refusal
    if is_exact:
        return sample_if_needed(KID(), sample, share, seed)
    return Sample(rows=draw_rows(sample.exact_distribution, share, np.random.default_rng(seed), "clients"))


def squared_score_distances(scores: np.ndarray) -> np.ndarray:
    """Return squared distances (k, k) between the columns of a table (G, k), each row in units of its own spread.

    What is no finite number is as far off as the largest that is.
    """
    from scipy.spatial.distance import pdist, squareform

    with np.errstate(invalid="ignore"):
        finite = np.where(np.isfinite(scores), scores, np.nan)
    rows = []
    for row, scores_row in zip(finite, scores, strict=True):
        numbers = row[~np.isnan(row)]
        if not numbers.size or numbers.min() == numbers.max():
            rows.append(np.where(np.isnan(row), 1.0, 0.0))
            continue
        _, exponent = np.frexp(np.abs(numbers).max())
        row, numbers = np.ldexp(row, -exponent), np.ldexp(numbers, -exponent)  # squares neither overflow nor vanish
        unit = (row - numbers.min()) / numbers.std()
        rows.append(np.where(np.isnan(row), np.where(scores_row == -math.inf, 0.0, np.nanmax(unit)), unit))
    return np.asarray(squareform(pdist(np.array(rows).T, "sqeuclidean"), checks=False))


def tree_of(squared: np.ndarray) -> Tree:
    """Return the average-linkage tree of squared distances (k, k), symmetric; negative ones, by noise, count as 0."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    count = len(squared)
    if count < 3:
        return Tree(list(range(count)), [(0, 1, 0.0)] if count == 2 else [])
    apart = squared + squared.T
    apart *= 0.5
    np.sqrt(np.maximum(apart, 0.0, out=apart), out=apart)
    np.fill_diagonal(apart, 0.0)
    if not np.isfinite(apart).all():
        raise InvalidInput("clients", "are infinitely far apart", "Rescale the features")
    merges = linkage(squareform(apart, checks=False), "average")
    joins = [(int(a), int(b), float(far)) for a, b, far, _ in merges]
    has_many = count > MAX_CLIENTS_ORDERED
    leaves = leaves_list(merges).tolist() if has_many else order_leaves([join[:2] for join in joins], apart)
    return Tree(leaves, joins)
