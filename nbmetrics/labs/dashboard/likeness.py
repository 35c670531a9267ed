"""Which clients are alike: the tree in whose order they stand, and along which hundreds of them fold.

Clients are apart by the MMD of KID's cubic kernel, √(E k(X, X′) + E k(Y, Y′) − 2 E k(X, Y)), of a few rows each, or in
closed form; where nothing but scores is known, by their columns of the table. Tree: average linkage; its leaves stand
so that neighbours are alike (Bar-Joseph et al. 2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...distributions import draw_rows
from ...errors import InvalidInput
from ...metrics.base import Sample, sample_if_needed
from ...metrics.kid.base import some_of
from ...metrics.kid.batches import square
from ...metrics.kid.centred import centred
from ...metrics.kid.metric import CUBIC, KID
from .leaves import ordered_leaves

# Rows of all clients together, multiplications of their pairs, and the fewest rows of a client: enough for an order.
MOST_ROWS, WORK, FEWEST = 2_500, 4e9, 3
# Laws of which every two are compared in closed form; of more some rows are drawn.
MOST_EXACT = 60
# Ordering the leaves takes the cube of their number.
MOST_ORDERED = 600


class Tree(NamedTuple):
    """`leaves`: the clients in the order of the tree. `joins`: two clusters and how far apart they are, k − 1 times."""

    leaves: list[int]
    joins: list[tuple[int, int, float]]

    def to_json(self) -> dict[str, Any]:
        return {"leaves": self.leaves, "tree": [list(join) for join in self.joins]}


def likeness(samples: Sequence[Sample]) -> Tree:
    """The tree of clients by their rows or laws; as given where they are too many, or too large for the kernel."""
    try:
        return tree_of(squared_mmd(samples))
    except InvalidInput:
        return Tree(list(range(len(samples))), [])


def squared_mmd(samples: Sequence[Sample]) -> np.ndarray:
    """(k, k) estimates of MMD² between clients, of some rows of each."""
    together = min(MOST_ROWS, int((WORK / samples[0].dim) ** 0.5))
    share = max(FEWEST, together // len(samples))
    some = [_few(sample, share, [0, i], len(samples) <= MOST_EXACT) for i, sample in enumerate(samples)]
    metric = KID(centred(CUBIC, some))
    summaries = [metric.estimator.summarize(sample) for sample in _paired(some)]
    parts = [part for summary in summaries for part in summary.parts]
    weights = np.zeros((len(summaries), len(parts)))
    at = 0
    for row, summary in zip(weights, summaries, strict=True):
        row[at : at + len(summary.parts)] = summary.weights
        at += len(summary.parts)
    square(metric.kernel, parts, weights.mean(axis=0))  # leaves the means of every two parts with them
    table = parts[0].table
    if table is None:
        raise InvalidInput("clients", f"are {len(samples):,}", "Compare fewer")
    own = np.array([summary.self_mean() for summary in summaries])
    return np.asarray(own[:, None] + own - 2.0 * (weights @ table @ weights.T))


def _few(sample: Sample, share: int, seed: Any, is_exact: bool) -> Sample:
    """So many rows of a client, or its law."""
    if sample.rows is not None:
        return Sample(rows=some_of(sample.rows, share))
    if is_exact:
        return sample_if_needed(KID(), sample, share, seed)
    return Sample(rows=draw_rows(sample.law, share, np.random.default_rng(seed), "clients"))


def _paired(samples: Sequence[Sample]) -> list[Sample]:
    """A row that is alone stands twice: it has no other of its own to be compared with."""
    return [
        Sample(rows=np.repeat(s.rows, 2, axis=0)) if s.rows is not None and len(s.rows) == 1 else s for s in samples
    ]


def squared_apart(scores: np.ndarray) -> np.ndarray:
    """(k, k) squared distances between the columns of a table (G, k): each row of it in units of its own spread.

    What is no finite number is as far off as the largest that is.
    """
    with np.errstate(invalid="ignore"):
        finite = np.where(np.isfinite(scores), scores, np.nan)
    rows = []
    for row, given in zip(finite, scores, strict=True):
        known = row[~np.isnan(row)]
        if not known.size or np.ptp(known) == 0.0:
            rows.append(np.where(np.isnan(row), 1.0, 0.0))
            continue
        unit = (row - known.min()) / known.std()
        rows.append(np.where(np.isnan(row), np.where(given == -math.inf, 0.0, np.nanmax(unit)), unit))
    columns = np.array(rows).T
    return np.asarray(((columns[:, None] - columns[None]) ** 2).sum(axis=2))


def tree_of(squared: np.ndarray) -> Tree:
    """The tree of a symmetric (k, k) matrix of squared distances; what noise puts below 0 is 0."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    count = len(squared)
    if count < 3:
        return Tree(list(range(count)), [(0, 1, 0.0)] if count == 2 else [])
    apart = np.sqrt(np.maximum(0.0, (squared + squared.T) / 2.0))
    np.fill_diagonal(apart, 0.0)
    if not np.isfinite(apart).all():
        raise InvalidInput("clients", "are infinitely far apart", "Rescale the features")
    made = linkage(squareform(apart, checks=False), "average")
    joins = [(int(a), int(b), float(far)) for a, b, far, _ in made]
    is_many = count > MOST_ORDERED
    leaves = leaves_list(made).tolist() if is_many else ordered_leaves([join[:2] for join in joins], apart)
    return Tree(leaves, joins)
