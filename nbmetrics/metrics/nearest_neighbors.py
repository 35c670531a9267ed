"""Nearest rows and exact comparisons of distances, at the speed of a matrix product.

A float32 product gives every squared distance within proven bounds `low ≤ d² ≤ high`. What the bounds leave
open (near-duplicates, ties, rows far from the others) goes to a float64 product, and what that leaves open is
summed directly in float64, in one order: the same pair of rows gives the same bits wherever it appears, so ties are
ties. No n × m matrix is ever held, and rows stay on their device: what leaves it is a few numbers a row.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from ..arrays import (
    Array,
    align,
    count_each,
    host_view,
    is_on_host,
    mean_rows,
    memory,
    namespace,
    product,
    row_blocks,
    take_rows,
    to_float64,
    to_numpy,
    uniform_blocks,
)

# A block of bounds of this size stays in the cache while it is compared.
CACHE_BYTES = 4 * 2**20
# Pairs left open, for each row of a block or table, beyond which the finer product is the cheaper way.
MAX_OPEN_PAIRS_PER_ROW = 48
MAX_OPEN_PAIRS = 2**20
# Beyond so many features the bounds of float32 products are too wide.
MAX_FEATURES_IN_FLOAT32 = 2**18
# Numbers modulo 2⁶⁴ that name a row on a device.
HASHES = 4


@dataclass(frozen=True)
class Distinct:
    """Rows without repetitions: exact copies would leave all their pairs open, for nothing.

    Attributes
    ----------
    rows : (u, d) distinct rows, in the order of their first appearance
    first : (u,) where each appears first
    inverse : (n,) which of them each given row is
    counts : (u,) how often each appears
    digest : of the content, its shape and its type
    """

    rows: Array
    first: np.ndarray
    inverse: np.ndarray
    counts: np.ndarray
    digest: bytes

    @classmethod
    def of(cls, rows: Array) -> Distinct:
        """From rows (n, d)."""
        digests = _digests(rows)
        kind = tuple(rows.shape), str(rows.dtype)
        whole = hashlib.sha256(b"".join(digests) + repr(kind).encode()).digest()
        positions: dict[bytes, int] = {}
        inverse = np.fromiter((positions.setdefault(d, len(positions)) for d in digests), dtype=np.int64)
        first = np.full(len(positions), len(digests))
        np.minimum.at(first, inverse, np.arange(len(digests)))
        if len(positions) < len(digests):
            rows = take_rows(rows, first)
        return cls(rows, first, inverse, count_each(inverse), whole)

    @property
    def size(self) -> int:
        return len(self.first)

    def reorder(self, order: np.ndarray) -> Distinct:
        """The same in another order, (u,) positions; of several at one distance a search finds the first."""
        rows = take_rows(self.rows, order)
        inverse = np.argsort(order)[self.inverse]
        return replace(self, rows=rows, first=self.first[order], counts=self.counts[order], inverse=inverse)

    def with_rows(self, rows: Array) -> Distinct:
        """The same, with its rows in another library or on another device, where distances end in other bits."""
        moved = is_on_host(rows) != is_on_host(self.rows)
        return replace(self, rows=rows, digest=hashlib.sha256(self.digest).digest() if moved else self.digest)


def in_one_place(a: Distinct, b: Distinct) -> tuple[Distinct, Distinct]:
    """Both in one library and on one device, so that equal distances have equal bits."""
    x, y = align(a.rows, b.rows)
    return a.with_rows(x), b.with_rows(y)


def _digests(rows: Array) -> list[bytes]:
    """One digest a row: equal rows have the same, others differ but for chance.

    On a device they are sums of the row's 32-bit words times random numbers, modulo 2⁶⁴.
    """
    if is_on_host(rows):
        return [hashlib.sha256(row).digest() for row in np.ascontiguousarray(to_numpy(rows))]
    torch = sys.modules["torch"]
    n, width = rows.shape[0], rows.shape[1] * rows.dtype.itemsize // 4
    factors = np.random.default_rng(0).integers(-(2**63), 2**63, size=(HASHES, width))
    factors, sums = torch.asarray(factors, device=rows.device), []
    for block in row_blocks(n, 16 * width):
        words = rows[block, :].contiguous().view(torch.int32)
        sums.append(torch.stack([(words * each).sum(dim=1) for each in factors], dim=1))
    return [row.tobytes() for row in to_numpy(torch.concat(sums))]


class Bounds:
    """Squared distances between rows of x (n, d) and y (m, d), block by block, within proven bounds.

    Everything is centred and scaled by a power of two so that float32 neither overflows nor loses a common
    offset; `unit` is one squared feature unit on that scale. Without y, x is compared with itself, and only
    the blocks on and above the diagonal are visited.
    """

    def __init__(self, x: Array, y: Array | None = None, *, fine: bool = False) -> None:
        self.within = y is None
        y = x if y is None else y
        xp = namespace(x, y)
        self.dtype = xp.float64 if fine or x.shape[1] > MAX_FEATURES_IN_FLOAT32 else xp.float32
        d = x.shape[1]
        sides = (x,) if self.within else (x, y)
        # any point will do as long as it is the same for all, so a thousand rows are enough
        self.centre = sum(mean_rows(_thin(z)) for z in sides) / len(sides)
        largest = max(abs(float(edge(z))) for z in (*sides, self.centre) for edge in (xp.min, xp.max))
        exponent = -math.frexp(2.0 * largest)[1] if largest else 0
        self.scale = math.ldexp(1.0, min(max(exponent, -400), 400))
        self.unit = self.scale * self.scale
        # worst case of a product in any order of summation, and of the roundings before and after it
        self.slack = 0.51 * (d + 32) * float(xp.finfo(self.dtype).eps)
        self.floor = d * (1e-36 if self.dtype == xp.float32 else 1e-290)
        self.x = x
        self.right, self.along = self._prepare(y)

    def _prepare(self, z: Array) -> tuple[Array, Array]:
        """Rows centred and scaled in the working type, and their squared norms."""
        xp = namespace(z)
        rows = xp.empty(z.shape, dtype=self.dtype, device=z.device)
        norms = xp.empty((z.shape[0],), dtype=self.dtype, device=z.device)
        for block in row_blocks(z.shape[0], 8 * z.shape[1], CACHE_BYTES // 2):
            wide = to_float64(z[block, :]) - self.centre
            wide *= self.scale
            rows[block, :] = xp.astype(wide, self.dtype)
            wide *= wide
            norms[block] = xp.astype(xp.sum(wide, axis=1), self.dtype)
        return rows, norms

    def blocks(self) -> Iterator[tuple[slice, slice, Array, Array]]:
        """(rows, columns, low, high) with low ≤ d²·unit ≤ high.

        Square blocks: thin ones starve the product, long ones the cache.
        """
        cache = CACHE_BYTES if is_on_host(self.right) else memory.block_bytes
        step = math.isqrt(int(cache) // self.right.dtype.itemsize)
        for rows in uniform_blocks(self.x.shape[0], step):
            left = self._left(rows)
            for columns in uniform_blocks(self.right.shape[0], step):
                if not self.within or columns.start >= rows.start:
                    yield rows, columns, *self._pair(left, columns)
            del left  # or the next one is made beside it

    def block(self, rows: slice, columns: slice) -> tuple[Array, Array]:
        """`low` and `high` of one block."""
        return self._pair(self._left(rows), columns)

    def _left(self, rows: slice) -> tuple[Array, Array, Array]:
        if self.within:
            part, norms = self.right[rows, :], self.along[rows]
        else:
            part, norms = self._prepare(self.x[rows, :])
        lower = norms * (1.0 - self.slack) - self.floor
        wider = norms * (2.0 * self.slack) + 2.0 * self.floor
        return part, lower[:, None], wider[:, None]

    def _pair(self, left: tuple[Array, Array, Array], columns: slice) -> tuple[Array, Array]:
        rows, lower, wider = left
        along = self.along[None, columns]
        low = product(rows, self.right[columns, :].T)  # at half the cost for a block of rows with itself, in NumPy
        low *= -2.0
        low += lower
        low += along * (1.0 - self.slack)
        high = low + wider
        high += along * (2.0 * self.slack)
        return low, high


def _thin(rows: Array) -> Array:
    return rows[:: -(-rows.shape[0] // 1000), :]


def _like(values: np.ndarray, other: Array) -> Array:
    xp = namespace(other)
    return xp.asarray(values, device=other.device)


def direct(x: Array, y: Array, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """‖x_i − y_j‖² in float64 for each pair; the bits do not depend on which other pairs are asked for.

    `x` and `y` are of `host_view`.
    """
    squared = np.empty(len(i))
    if not isinstance(x, np.ndarray):
        for part in row_blocks(len(i), 32 * x.shape[1]):
            gap = to_float64(take_rows(x, i[part])) - to_float64(take_rows(y, j[part]))
            gap *= gap
            squared[part] = to_numpy(_sum_in_halves(gap))
        return squared
    for part in row_blocks(len(i), 8 * x.shape[1], CACHE_BYTES // 4):
        gap = np.subtract(x[i[part]], y[j[part]], dtype=np.float64)
        gap *= gap
        squared[part] = gap.sum(axis=1)
    return squared


def _sum_in_halves(a: Array) -> Array:
    """The sum of each row (n,), by the same additions however many rows there are; `a` is written over."""
    width = a.shape[1]
    while width > 1:
        rest = (width + 1) // 2
        a[:, : width - rest] += a[:, rest:width]
        width = rest
    return a[:, 0]


class _TooCoarse(Exception):
    """The bounds leave so much open that finer ones are cheaper."""


@dataclass
class _Nearest:
    """The k nearest columns of each row, found as blocks of bounds come in."""

    x: Array
    y: Array
    k: int
    unit: float
    patient: bool
    limit: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.best = np.full((len(self.x), self.k), np.inf)
        self.limit = np.full(len(self.x), np.inf)
        self.pending: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.waiting = 0
        self.kept = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))

    def see(self, rows: slice, columns: slice, low: Array, high: Array, *, across: bool = False) -> None:
        """Take in the bounds of a block; with `across` they are laid out (columns, rows)."""
        xp = namespace(low)
        fewest = _smallest(_group_minima(high, self.k, across), self.k)
        best = np.concatenate([self.best[rows], fewest], axis=1)
        self.best[rows] = np.partition(best, self.k - 1, axis=1)[:, : self.k]
        self.limit[rows] = np.minimum(self.limit[rows], self.best[rows].max(axis=1))
        # rounded up in float32, or a bound could fall below the distance it is for
        limit = xp.asarray(np.nextafter(self.limit[rows].astype(_numpy_type(low)), np.inf), device=low.device)
        open_pairs = _where(low <= (limit[None, :] if across else limit[:, None]))
        lows = to_numpy(low[open_pairs]).astype(np.float64)
        i, j = (to_numpy(part) for part in (reversed(open_pairs) if across else open_pairs))
        self.pending.append((i + rows.start, j + columns.start, lows))
        self.waiting += len(i)
        if self.waiting > MAX_OPEN_PAIRS_PER_ROW * len(self.x) + MAX_OPEN_PAIRS:
            self.settle()

    def settle(self) -> None:
        """Sum directly the distances still open, and keep the k smallest of each row."""
        i, j, low = (np.concatenate(part) for part in zip(*self.pending, strict=True))
        near = low <= self.limit[i]
        i, j = i[near], j[near]
        if not self.patient and len(i) > MAX_OPEN_PAIRS_PER_ROW * len(self.x):
            raise _TooCoarse
        squared = direct(self.x, self.y, i, j)
        i, j, squared = (np.concatenate(both) for both in zip(self.kept, (i, j, squared), strict=True))
        order = np.lexsort((j, squared, i))
        i, j, squared = i[order], j[order], squared[order]
        starts = np.searchsorted(i, np.arange(len(self.x)))
        rank = np.arange(len(i)) - starts[i]
        self.kept = i[rank < self.k], j[rank < self.k], squared[rank < self.k]
        last = rank == self.k - 1
        self.limit[i[last]] = np.minimum(self.limit[i[last]], squared[last] * self.unit * (1 + 1e-12))
        self.pending, self.waiting = [], 0


def _where(mask: Array) -> tuple[Array, Array]:
    """Rows and columns of the true entries; flat, because NumPy's two-dimensional search is ten times slower."""
    if is_torch_array(mask):
        return mask.nonzero(as_tuple=True)
    i, j = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return i, j


def _numpy_type(x: Array) -> Any:
    return np.float32 if x.dtype.itemsize == 4 else np.float64


def _group_minima(high: Array, k: int, across: bool) -> Array:
    """Minima over groups of columns, (rows, groups): their k smallest are k distances, cheaply nearly the least."""
    xp = namespace(high)
    groups = max(64, 8 * k)
    width = high.shape[0 if across else 1]
    fold = width // groups
    if fold < 2:
        return high.T if across else high
    cut = fold * groups
    if across:
        folded = xp.min(xp.reshape(high[:cut, :], (fold, groups, -1)), axis=0)
        return xp.concat([folded, high[cut:, :]], axis=0).T
    folded = xp.min(xp.reshape(high[:, :cut], (-1, fold, groups)), axis=1)
    return xp.concat([folded, high[:, cut:]], axis=1)


def _smallest(values: Array, k: int) -> np.ndarray:
    """The k smallest of each row in NumPy, (n, ≤ k), in no order."""
    k = min(k, values.shape[1])
    if is_torch_array(values):
        return to_numpy(sys.modules["torch"].topk(values, k, dim=1, largest=False, sorted=False).values)
    return np.partition(values, k - 1, axis=1)[:, :k]


@dataclass(frozen=True)
class Neighbors:
    """The k-th nearest of each row: `squared` distance (n,) float64, exact, and which row it is, `index` (n,)."""

    squared: np.ndarray
    index: np.ndarray


def kth_within(rows: Distinct, k: int) -> Neighbors:
    """The k-th nearest other row of each row; a copy of a row is another row at distance 0."""
    if rows.size == 1:
        return Neighbors(np.zeros(len(rows.inverse)), np.zeros(len(rows.inverse), np.int64))
    wanted = k - (rows.counts - 1)
    nearest = _kth(_search(rows.rows, None, k), rows.counts, np.maximum(wanted, 1))
    squared = np.where(wanted <= 0, 0.0, nearest.squared)
    index = np.where(wanted <= 0, np.arange(rows.size), nearest.index)
    return Neighbors(squared[rows.inverse], rows.first[index][rows.inverse])


def kth_between(x: Distinct, y: Distinct, k: int = 1) -> Neighbors:
    """The k-th nearest row of y for each row of x; of several at one distance, the first."""
    nearest = _kth(_search(x.rows, y.rows, k), y.counts, np.full(x.size, k))
    return Neighbors(nearest.squared[x.inverse], y.first[nearest.index][x.inverse])


def _search(x: Array, y: Array | None, k: int) -> _Nearest:
    try:
        return _search_in_bounds(x, y, k, fine=False)
    except _TooCoarse:
        return _search_in_bounds(x, y, k, fine=True)


def _search_in_bounds(x: Array, y: Array | None, k: int, *, fine: bool) -> _Nearest:
    bounds = Bounds(x, y, fine=fine)
    others = x.shape[0] - 1 if y is None else y.shape[0]
    table = _Nearest(host_view(x), host_view(x if y is None else y), min(k, others), bounds.unit, fine)
    for rows, columns, low, high in bounds.blocks():
        if y is None and rows == columns:
            own = range(rows.stop - rows.start)
            low[own, own] = high[own, own] = math.inf
        elif y is None:
            table.see(columns, rows, low, high, across=True)
        table.see(rows, columns, low, high)
    table.settle()
    return table


def _kth(table: _Nearest, counts: np.ndarray, wanted: np.ndarray) -> Neighbors:
    """The `wanted`-th nearest of each row when column j counts `counts[j]` times."""
    i, j, squared = table.kept
    passed = np.cumsum(counts[j])
    starts = np.searchsorted(i, np.arange(len(table.x)))
    passed -= (passed[starts] - counts[j[starts]])[i]
    hit = (passed >= wanted[i]) & (passed - counts[j] < wanted[i])
    return Neighbors(squared[hit], j[hit])


class DistanceComparison:
    """Which d²(x_i, y_j) lie below a radius of i, and which below one of j: decided exactly, block by block.

    Parameters
    ----------
    x, y : (n, d), (m, d) rows in one library and on one device
    across, along : (n,), (m,) squared radii
    inclusive : ≤ instead of <
    """

    def __init__(self, x: Array, y: Array, across: np.ndarray, along: np.ndarray, *, inclusive: bool) -> None:
        self.sides = x, y
        self.rows = host_view(x), host_view(y)
        self.radii = across, along
        self.inclusive = inclusive

    @cached_property
    def fine(self) -> Bounds:
        return Bounds(*self.sides, fine=True)

    def __iter__(self) -> Iterator[tuple[slice, slice, Array, Array]]:
        """(rows, columns, below across_i, below along_j): two slices, two boolean (rows, columns) arrays."""
        coarse = Bounds(*self.sides)
        for rows, columns, low, high in coarse.blocks():
            radii = (self.radii[0][rows, None], self.radii[1][None, columns])
            verdicts = [_verdict(low, high, r * coarse.unit) for r in radii]
            if max(len(left) for _, (left, _) in verdicts) > MAX_OPEN_PAIRS_PER_ROW * sum(low.shape):
                low, high = self.fine.block(rows, columns)
                verdicts = [_verdict(low, high, r * self.fine.unit) for r in radii]
            del low, high
            for (inside, (i, j)), radius in zip(verdicts, radii, strict=True):
                if len(i):
                    below = self._directly(to_numpy(i), to_numpy(j), rows, columns, radius)
                    inside[i, j] = _like(below, inside)
            yield rows, columns, verdicts[0][0], verdicts[1][0]

    def _directly(self, i: np.ndarray, j: np.ndarray, rows: slice, columns: slice, radius: np.ndarray) -> np.ndarray:
        squared = direct(*self.rows, i + rows.start, j + columns.start)
        limit = np.broadcast_to(radius, (rows.stop - rows.start, columns.stop - columns.start))[i, j]
        return squared <= limit if self.inclusive else squared < limit


def _verdict(low: Array, high: Array, radii: np.ndarray) -> tuple[Array, tuple[Array, Array]]:
    """Where the distance is below its radius for certain, and the pairs left open."""
    xp = namespace(low)
    kind = _numpy_type(low)
    near = radii.astype(kind)
    under, over = (xp.asarray(np.nextafter(near, kind(e)), device=low.device) for e in (-np.inf, np.inf))
    inside = high < under
    return inside, _where((low <= over) ^ inside)
