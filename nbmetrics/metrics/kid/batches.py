"""Kernel means of many parts at once: chosen by counted cost, small parts stacked into large matrix products.

Pairs of rows cost rows · rows; embeddings cost (rows + rows) · d²/2 and then nothing for each further part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...arrays import Array, align, concat, is_array, like, memory, namespace, to_float64, to_numpy, uniform_blocks
from ...summaries.kernel_mean import KernelPart

STACK = 1024
# Writing and packing the matrix of an embedding costs about as much as this many of its rows.
MATRIX = 40


def remember_means(kernel: Any, clients: Sequence[KernelPart], others: Sequence[KernelPart]) -> None:
    """Compute the means of every client with every other part and leave them where `mean_with` looks."""
    if kernel.embeds(clients, others):
        _remember_embedded(kernel, clients, others)
        return
    if len(clients) > 1 and not kernel.pools(clients):
        tabulate(kernel, clients)
    real, generated = ([p for p in parts if is_array(p.content)] for parts in (clients, others))
    for i, j, means in mean_blocks(kernel, [p.content for p in real], [p.content for p in generated]):
        _remember_all(real[i], generated[j], means)


def _remember_embedded(kernel: Any, clients: Sequence[KernelPart], others: Sequence[KernelPart]) -> None:
    """Every embedding is made once; those of the clients are kept together only where they fit in a block."""
    embeddings = [kernel.embed(p.content) for p in others]
    rows = [p for p in clients if is_array(p.content)]
    if sum(p.content.shape[0] for p in rows) * (len(embeddings) - 1) < MATRIX * len(rows):
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
        return math.fsum(_weighed(kernel, parts, shares))
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


def _weighed(kernel: Any, parts: Sequence[KernelPart], shares: np.ndarray) -> Iterator[float]:
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
                yield i, j, kernel.finite(lambda: _stack_means(kernel, xs[i], ys[j]))  # noqa: B023


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
        means += weighed_rows(kernel, x, y, each)
    return means


def weighed_rows(kernel: Any, x: Array, y: Array, weights: np.ndarray) -> np.ndarray:
    """Σ_b w_b k(x_a, y_b) for each row x_a, (n,) float64."""
    sums = np.zeros(x.shape[0])
    for _ in weighed_pieces(kernel, x, y, weights, sums):
        pass
    return sums


def weighed_pieces(kernel: Any, x: Array, y: Array, weights: np.ndarray, sums: np.ndarray) -> Iterator[None]:
    """The same, added to `sums` block after block."""
    often = like(weights, y)
    for i, j, block in blocks(kernel, x, y):
        sums[i] += to_numpy(block @ often[j])
        yield


def both_pieces(
    kernel: Any, x: Array, y: Array, weights: tuple[np.ndarray, np.ndarray], sums: tuple[np.ndarray, np.ndarray]
) -> Iterator[None]:
    """Σ_b w_b k(x_a, y_b) of each row of x, and Σ_a v_a k(x_a, y_b) of each row of y; v and w are `weights`."""
    first, second = like(weights[0], x), like(weights[1], y)
    for i, j, block in blocks(kernel, x, y):
        sums[0][i] += to_numpy(block @ second[j])
        sums[1][j] += to_numpy(first[i] @ block)
        yield


def blocks(kernel: Any, x: Array, y: Array) -> Iterator[tuple[slice, slice, Array]]:
    """k of every row of x with every one of y in float64, STACK by STACK of them; from float32 where that is enough."""
    as_float = (lambda rows: rows) if kernel.is_single(x, y) else to_float64
    for i in uniform_blocks(x.shape[0], STACK):
        for j in uniform_blocks(y.shape[0], STACK):
            yield i, j, to_float64(kernel.block(as_float(x[i, :]), as_float(y[j, :])))


def stacks(parts: Sequence[Array]) -> list[slice]:
    """Slices of parts with at most STACK rows together, or one part."""
    cuts, size = [0], 0
    for position, part in enumerate(parts):
        if size and size + part.shape[0] > STACK:
            cuts.append(position)
            size = 0
        size += part.shape[0]
    return [slice(a, b) for a, b in zip(cuts, [*cuts[1:], len(parts)], strict=True) if b > a]


def _stack_means(kernel: Any, xs: Sequence[Array], ys: Sequence[Array]) -> np.ndarray:
    if len(xs) == len(ys) == 1:
        return np.array([[kernel.mean(xs[0], ys[0])]])
    sizes = [[len(part) for part in parts] for parts in (xs, ys)]
    x, y = align(*(parts[0] if len(parts) == 1 else concat(parts) for parts in (xs, ys)))
    as_float = (lambda rows: rows) if kernel.is_single(x, y) else to_float64
    sums = np.zeros((len(xs), len(ys)))
    for i in uniform_blocks(len(x), STACK):  # only a part that is alone in its stack is longer
        for j in uniform_blocks(len(y), STACK):
            sums += _split(kernel.block(as_float(x[i, :]), as_float(y[j, :])), *sizes)
    return sums / np.outer(np.array(sizes[0]), np.array(sizes[1]))


def _split(block: Array, heights: Sequence[int], widths: Sequence[int]) -> np.ndarray:
    """Float64 sums of the cells that the heights and widths cut a block into."""
    xp = namespace(block)
    ends = np.cumsum(widths).tolist()
    columns = [xp.sum(block[:, b - w : b], axis=1, dtype=xp.float64) for b, w in zip(ends, widths, strict=True)]
    starts = np.cumsum([0, *heights[:-1]])
    return np.add.reduceat(to_numpy(xp.stack(columns, axis=1)), starts, axis=0)
