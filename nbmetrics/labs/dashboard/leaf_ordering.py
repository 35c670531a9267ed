"""The order of the leaves of a tree in which neighbours are as alike as the tree allows (Bar-Joseph et al. 2001).

SciPy's `optimal_leaf_ordering` finds the least sum and returns another order (scipy/scipy#11227), so it is not used.

    sum[u, w] over a cluster of children a, b, from u in a to w in b:  min over m in a, k in b of
    sum_a[u, m] + apart[m, k] + sum_b[k, w]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Children = tuple[int, int]


class OrderedSubtree(NamedTuple):
    """Leaves of a subtree, and the least sum over its orders from one of them to another, inf where there is none."""

    leaves: np.ndarray
    sums: np.ndarray


def order_leaves(children: Sequence[Children], apart: np.ndarray) -> list[int]:
    """Return the leaves of a tree in the order in which neighbours are as little apart as can be.

    Parameters
    ----------
    children : the two clusters that each join puts together; leaves are 0 to n − 1, the j-th join makes n + j
    apart : (n, n) symmetric distances

    Takes time of the order of n³ at most: half a second for 500 leaves.
    """
    count = len(apart)
    clusters = [OrderedSubtree(np.array([i]), np.zeros((1, 1))) for i in range(count)]
    for a, b in children:
        clusters.append(_join(clusters[a], clusters[b], apart))
    top = clusters[-1]
    first, last = np.unravel_index(int(np.argmin(top.sums)), top.sums.shape)
    order: list[int] = []
    open_ = [(len(clusters) - 1, int(top.leaves[first]), int(top.leaves[last]))]
    while open_:
        node, u, w = open_.pop()
        if node < count:
            order.append(node)
            continue
        (left, m), (right, k) = _split_ends(clusters, children[node - count], u, w, apart)
        open_ += [(right, k, w), (left, u, m)]
    return order


def _join(a: OrderedSubtree, b: OrderedSubtree, apart: np.ndarray) -> OrderedSubtree:
    across = _min_plus(_min_plus(a.sums, apart[np.ix_(a.leaves, b.leaves)]), b.sums)
    sums = np.full((len(a.leaves) + len(b.leaves),) * 2, np.inf)
    sums[: len(a.leaves), len(a.leaves) :] = across
    sums[len(a.leaves) :, : len(a.leaves)] = across.T
    return OrderedSubtree(np.concatenate([a.leaves, b.leaves]), sums)


def _min_plus(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return min over m of left[u, m] + right[m, w], for every u and w."""
    return np.array([(row[:, None] + right).min(axis=0) for row in left])


def _split_ends(
    clusters: Sequence[OrderedSubtree], pair: Children, u: int, w: int, apart: np.ndarray
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the child that holds u with the leaf it ends with, and the other with the leaf it begins with."""
    left, right = pair if u in clusters[pair[0]].leaves else pair[::-1]
    a, b = clusters[left], clusters[right]
    begin = a.sums[np.flatnonzero(a.leaves == u)[0]]
    end = b.sums[:, np.flatnonzero(b.leaves == w)[0]]
    sums = begin[:, None] + apart[np.ix_(a.leaves, b.leaves)] + end
    m, k = np.unravel_index(int(np.argmin(sums)), sums.shape)
    return (left, int(a.leaves[m])), (right, int(b.leaves[k]))
