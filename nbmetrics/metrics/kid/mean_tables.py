"""Tables of kernel means of many parts at once: by pairs of rows or by embeddings, whichever costs less.

Small parts are stacked into large matrix products. Pairs of rows cost rows · rows; embeddings cost (rows + rows) · d²/2
and then nothing for each further part. Kernel means are bilinear, so a table of (clients, clients) numbers and the
means with each generator give KID of the pooled clients under any weights: `PairwiseMeans` is that for clients whose
rows stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...arrays import Array, align, concat, is_array, memory, uniform_blocks
from ...summaries.kernel_mean import KernelMean, KernelPart
from .block_sums import cell_means, stacks, weighted_row_sums

# Writing and packing the matrix of an embedding costs about as much as this many of its rows.
MATRIX_COST_ROWS = 40


def remember_means(kernel: Any, clients: Sequence[KernelPart], others: Sequence[KernelPart]) -> None:
    """Compute the means of every client with every other part and leave them where `mean_with` looks."""
    if kernel.should_embed(clients, others):
        _remember_by_embedding(kernel, clients, others)
        return
    if len(clients) > 1 and not kernel.should_pool(clients):
        tabulate(kernel, clients)
    real, generated = ([p for p in parts if is_array(p.content)] for parts in (clients, others))
    for i, j, means in mean_blocks(kernel, [p.content for p in real], [p.content for p in generated]):
        _remember_all(real[i], generated[j], means)


def _remember_by_embedding(kernel: Any, clients: Sequence[KernelPart], others: Sequence[KernelPart]) -> None:
    """Every embedding is made once; those of the clients are kept together only where they fit in a block."""
    embeddings = [kernel.embed(p.content) for p in others]
    rows = [p for p in clients if is_array(p.content)]
    if sum(p.content.shape[0] for p in rows) * (len(embeddings) - 1) < MATRIX_COST_ROWS * len(rows):
        _remember_at_rows(kernel, rows, others, embeddings)
        clients = [p for p in clients if not is_array(p.content)]
    step = max(1, int(memory.block_bytes // (8 * embeddings[0].vector.size)))
    for i in uniform_blocks(len(clients), step):
        vectors = np.empty((len(clients[i]), embeddings[0].vector.size))
        for vector, part in zip(vectors, clients[i], strict=True):
            vector[:] = kernel.embed(part.content).vector
            part.remember(part, float(vector @ vector))
        for j in uniform_blocks(len(embeddings), step):
            means = vectors @ np.stack([m.vector for m in embeddings[j]]).T
            _remember_all(clients[i], others[j], means)
        if len(clients) <= step:
            share_table(clients, vectors @ vectors.T)


def _remember_at_rows(
    kernel: Any, clients: Sequence[KernelPart], others: Sequence[KernelPart], embeddings: Sequence[Any]
) -> None:
    """For clients of few rows: the polynomial that each embedding of the others is, at all their rows."""
    contents = [p.content for p in clients]
    for some in stacks(contents):
        sizes = np.array([content.shape[0] for content in contents[some]])
        stacked = concat(contents[some])
        means = np.stack([kernel.row_means(stacked, embedding) for embedding in embeddings], axis=1)
        sums = np.add.reduceat(means, np.cumsum([0, *sizes[:-1]]), axis=0)
        _remember_all(clients[some], others, sums / sizes[:, None])


def _remember_all(clients: Sequence[KernelPart], others: Sequence[KernelPart], means: np.ndarray) -> None:
    for part, row in zip(clients, means.tolist(), strict=True):
        for other, mean in zip(others, row, strict=True):
            part.remember(other, mean)


def share_table(parts: Sequence[KernelPart], table: np.ndarray) -> None:
    """Leave the means of every two of the parts with them, so that new weights cost nothing."""
    for position, part in enumerate(parts):
        part.table, part.position = table, position
        part.remember(part, float(table[position, position]))


def square(kernel: Any, parts: Sequence[KernelPart], weights: Sequence[float]) -> float:
    """E k(X, X′) over the mixture Σ λ_i P_i, self-pairs included, from the means of every two parts."""
    shares = np.asarray(weights)
    table = tabulate(kernel, parts)
    if table is None:
        return math.fsum(_weighted_means(kernel, parts, shares))
    where = [p.position for p in parts]
    return float(shares @ table[np.ix_(where, where)] @ shares)


def tabulate(kernel: Any, parts: Sequence[KernelPart]) -> np.ndarray | None:
    """The table that the parts share, made where they share none; None where it would be too large."""
    table = parts[0].table
    if table is not None and all(p.table is table for p in parts):
        return table
    if 8 * len(parts) ** 2 > memory.block_bytes:
        return None
    table = np.empty((len(parts), len(parts)))
    for i, j, means in _all_blocks(kernel, parts):
        table[np.ix_(i, j)], table[np.ix_(j, i)] = means, means.T
    share_table(parts, table)
    return table


def _weighted_means(kernel: Any, parts: Sequence[KernelPart], shares: np.ndarray) -> Iterator[float]:
    for i, j, means in _all_blocks(kernel, parts):
        yield (1.0 if i == j else 2.0) * float(shares[i] @ means @ shares[j])


def _all_blocks(kernel: Any, parts: Sequence[KernelPart]) -> Iterator[tuple[list[int], list[int], np.ndarray]]:
    """Positions and means that cover every two parts once: rows by stacks, exact distributions one by one."""
    rows = [p for p, part in enumerate(parts) if is_array(part.content)]
    contents = [parts[p].content for p in rows]
    for i, j, means in mean_blocks(kernel, contents, contents):
        yield rows[i], rows[j], means
    for p, part in enumerate(parts):
        if not is_array(part.content):
            for q in range(len(parts)):
                if q <= p or is_array(parts[q].content):
                    yield [p], [q], np.array([[part.mean_with(parts[q])]])


def mean_blocks(kernel: Any, xs: list[Array], ys: list[Array]) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """The kernel means of rows xs with rows ys, stack by stack; only one of i, j and j, i where ys is xs."""
    for i in stacks(xs):
        for j in stacks(ys):
            if ys is not xs or j.start >= i.start:
                yield i, j, kernel.finite(lambda: cell_means(kernel, xs[i], ys[j]))  # noqa: B023


def row_means(kernel: Any, rows: Array, parts: Sequence[KernelPart], weights: Sequence[float]) -> np.ndarray:
    """E k(x_a, Y) over the mixture Σ λ_i P_i for each row x_a: small parts of rows are stacked."""
    weighed = [(part.content, w) for part, w in zip(parts, weights, strict=True) if w]
    stackable = [(content, w) for content, w in weighed if is_array(content)]
    means = np.zeros(rows.shape[0])
    for content, w in weighed:
        if not is_array(content):
            means += w * kernel.row_means(rows, content)
    for some in stacks([content for content, _ in stackable]):
        contents, shares = zip(*stackable[some], strict=True)
        if len(contents) == 1:
            means += shares[0] * kernel.row_means(rows, contents[0])
            continue
        each = np.concatenate([np.full(len(c), w / len(c)) for c, w in zip(contents, shares, strict=True)])
        x, y = align(rows, concat(contents))
        means += weighted_row_sums(kernel, x, y, each)
    return means


class PairwiseMeans:
    """The pool of clients whose rows stay apart, from the kernel means of every two of them."""

    @staticmethod
    def between(left: Sequence[KernelMean], right: Sequence[KernelMean]) -> np.ndarray:
        """Return E k of every part of the one with every part of the others; the same twice takes half the work."""
        first = _all_parts(left)
        second = first if right is left else _all_parts(right)
        table = np.empty((len(first), len(second)))
        rows = [p for p, part in enumerate(first) if is_array(part.content)]
        columns = rows if second is first else [q for q, part in enumerate(second) if is_array(part.content)]
        contents = [first[p].content for p in rows]
        others = contents if second is first else [second[q].content for q in columns]
        if rows and columns:
            for i, j, means in mean_blocks(first[0].kernel, contents, others):
                table[np.ix_(rows[i], columns[j])] = means
                if second is first:
                    table[np.ix_(rows[j], columns[i])] = means.T
        for p, part in enumerate(first):
            for q, other in enumerate(second):
                if not (is_array(part.content) and is_array(other.content)):
                    table[p, q] = part.mean_with(other)
        return table

    @staticmethod
    def without_rows(mean: KernelMean, generated: Sequence[KernelMean]) -> KernelMean:
        """Return the kernel mean without what its parts hold, with their means with every part of the generators."""
        others = _all_parts(generated)
        return KernelMean(tuple(part.apart(others) for part in mean.parts), mean.weights)

    @staticmethod
    def tabulated(means: Sequence[KernelMean], table: np.ndarray) -> None:
        """Leave the means of every two parts, in the order of `between`, where pools look for them."""
        share_table(_all_parts(means), table)

    @staticmethod
    def squares(generated: Sequence[Any]) -> list[float | None]:
        """Return E k(Y, Y′) of each generator, self-pairs included, where it was computed."""
        return [vars(mean).get("_square") for mean in generated]

    @staticmethod
    def remember(generated: Sequence[Any], squares: Sequence[float | None]) -> None:
        """Leave those means where terms look for them."""
        for mean, square in zip(generated, squares, strict=True):
            if square is not None:
                vars(mean)["_square"] = square


def _all_parts(means: Sequence[KernelMean]) -> list[KernelPart]:
    return [part for mean in means for part in mean.parts]
