"""The kernels of KID: what every kernel can do, RBF, and a user's own; `Polynomial` has a file of its own.

A part of a kernel mean holds what `content` keeps of a sample: rows, an embedding, or an exact Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...arrays import (
    Array,
    align,
    concat,
    is_array,
    like,
    median_distance,
    namespace,
    row_blocks,
    squared_distances,
    take_rows,
    to_float64,
    to_numpy,
    total,
)
from ...distributions import Distribution, Empirical, Gaussian, HasMoments, Round, parts_of
from ...errors import InvalidInput, check_choice, check_number, shown
from ..base import Sample
from . import block_sums, mean_tables
from .block_sums import PartedRows, StreamedRows, block_cell_sums, stream_mean

# Cubes of float32 inner products stay finite below this magnitude of the features;
# below this many multiplications float64 costs too little to do without.
FLOAT32_LIMIT = 1e5
FLOAT64_WORK = 2e8
# Rows of this size are read again from a cache.
DIAGONAL_BYTES = 4 * 2**20
# Bandwidths and scales beyond this leave nothing but overflow.
EXTREME = 1e50


class Kernel:
    """A positive-definite kernel k(x, y) on rows of features."""

    def block(self, x: Array, y: Array) -> Array:
        """The (n, m) matrix of k over rows x (n, d) and y (m, d)."""
        raise NotImplementedError

    def elementwise(self, x: Array, y: Array) -> Array:
        """The (n,) values k(x_a, y_a) of rows that belong together."""
        raise NotImplementedError

    def prepare(self, rows: Array, sizes: Sequence[int]) -> Any:
        """Rows of parts of these sizes, one below the other, as `cell_sums` takes them."""
        return PartedRows(rows, sizes)

    def cell_sums(self, x: Any, y: Any) -> np.ndarray:
        """Sums of k over the pairs of every part of x with every part of y, float64; both from `prepare`."""
        return block_cell_sums(self, x, y)

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """E k(X, Y) for independent X ~ a, Y ~ b."""
        raise NotImplementedError

    def point_means(self, rows: Array, distribution: Gaussian) -> np.ndarray:
        """E k(x, Y), Y ~ distribution, for each row x."""
        raise NotImplementedError

    def resolve(self, clients: Sequence[Sample]) -> Kernel:
        """This kernel with data-dependent settings fixed by all clients together."""
        return self

    def kept(self, rows: Array) -> Array:
        """The rows, in float64 where float32 is not exact enough."""
        return rows if magnitude(rows) < FLOAT32_LIMIT else to_float64(rows)

    def omission(self, rows: Array) -> np.ndarray:
        """Return what k leaves out at each row x: h(x), where the full kernel is k(x, y) + h(x) + h(y) + constant."""
        return np.zeros(rows.shape[0])

    def mean_omission(self, content: Any) -> float:
        """Return the mean of `omission` over a part."""
        return 0.0

    def has_embedding(self, d: int) -> bool:
        """Whether means over rows of d features are vectors, which one pass gives."""
        return False

    def takes_pairs(self, n: int, m: int, d: int) -> bool:
        """Whether the means of n and m rows over each other are made of their pairs, as that costs less."""
        return True

    def has_closed_form(self, distribution: Distribution) -> bool:
        """Whether means over this distribution are exact."""
        if parts := parts_of(distribution):
            return all(self.has_closed_form(part) for _, part in parts)
        return isinstance(distribution, (Gaussian, Empirical))

    def content(self, sample: Sample) -> tuple[Any, float, float]:
        """What a part keeps of a sample: rows or exact distribution, its count, and the mean of k(x, x)."""
        if isinstance(sample.distribution, Empirical):
            return sample.distribution.rows, math.inf, 0.0
        if sample.rows is None:
            return sample.distribution, math.inf, 0.0
        rows = self.kept(sample.rows)
        return rows, rows.shape[0], self.finite(lambda: self.diagonal(rows))

    def elementwise_mean(self, x: Array, y: Array, is_float32: bool = False) -> float:
        """The mean of k(x_a, y_a) over rows, k in the type of the rows where `is_float32`, else in float64."""
        as_float = (lambda rows: rows) if is_float32 else to_float64
        sums = []
        for block in row_blocks(x.shape[0], 16 * x.shape[1], DIAGONAL_BYTES):
            p = as_float(x[block, :])
            sums.append(total(self.elementwise(p, p if y is x else as_float(y[block, :]))))
        return math.fsum(sums) / x.shape[0]

    def diagonal(self, x: Array) -> float:
        """The mean of k(x_a, x_a) over rows."""
        return self.elementwise_mean(x, x, self.is_single(x, x))

    def mean(self, a: Any, b: Any) -> float:
        """The mean of k over two parts; self-pairs included."""
        return self.finite(lambda: self._mean(a, b))

    def _mean(self, a: Any, b: Any) -> float:
        if isinstance(a, StreamedRows) or isinstance(b, StreamedRows):
            return stream_mean(self, a, b)
        if isinstance(a, Gaussian) and isinstance(b, Gaussian):
            return self.gaussian_mean(a, b)
        if isinstance(a, Gaussian):
            return float(np.mean(self.point_means(b, a)))
        if isinstance(b, Gaussian):
            return float(np.mean(self.point_means(a, b)))
        return self._rows_mean(a, b)

    def _rows_mean(self, x: Array, y: Array) -> float:
        same = x is y
        x, y = align(x, y)
        return block_sums.pair_sum(self, x, x if same else y, self.is_single(x, y)) / (x.shape[0] * y.shape[0])

    def row_means(self, rows: Array, content: Any) -> np.ndarray:
        """E k(x_a, Y), Y over a part, for each row x_a, (n,) float64."""
        return self.finite(lambda: self._row_means(rows, content))

    def _row_means(self, rows: Array, content: Any) -> np.ndarray:
        if isinstance(content, Gaussian):
            return self.point_means(rows, content)
        x, y = align(rows, content)
        return block_sums.weighted_row_sums(self, x, y, np.full(y.shape[0], 1.0 / y.shape[0]))

    def mixture_means(self, rows: Array, parts: Sequence[Any], weights: Sequence[float]) -> np.ndarray:
        """E k(x_a, Y), Y over the mixture of the parts, for each row x_a, (n,) float64."""
        return self.finite(lambda: mean_tables.row_means(self, rows, parts, weights))

    def embed(self, content: Any) -> Any:
        """The mean embedding of what a part holds."""
        raise NotImplementedError

    def should_embed(self, parts: Sequence[Any], others: Sequence[Any]) -> bool:
        """Whether means of all parts with all others cost less by embeddings than by pairs of rows."""
        return False

    def should_pool(self, parts: Sequence[Any]) -> bool:
        """Whether one embedding of a mixture of the parts costs less than its pairs of rows."""
        return False

    def pool_parts(self, parts: Sequence[Any], weights: Sequence[float]) -> Any:
        """The mixture of the parts as one embedding, where `should_pool` says so."""
        raise NotImplementedError

    def square(self, parts: Sequence[Any], weights: Sequence[float]) -> float:
        """E k(X, X′) over the mixture of the parts, self-pairs included."""
        return mean_tables.square(self, parts, weights)

    def finite(self, compute: Callable[[], Any]) -> Any:
        """What `compute` returns; refused where it is not finite."""
        try:
            with np.errstate(all="ignore"):
                value = compute()
        except OverflowError:
            value = math.inf
        if not np.isfinite(value).all():
            raise InvalidInput("kernel", f"a mean of {self} is not finite", "Rescale the features")
        return value

    def is_single(self, x: Array, y: Array) -> bool:
        """Whether float32 is exact enough for the pairs of these rows and worth it."""
        return self.is_large(x.shape[0] * y.shape[0] * x.shape[1]) and x.dtype == y.dtype == namespace(x, y).float32

    def is_large(self, work: int) -> bool:
        """Whether so many multiplications are worth float32."""
        return work > FLOAT64_WORK


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, y) = scale · exp(−‖x − y‖² / 2σ²); σ = √d by default, and scale 1.

    `sigma="median"` takes the median distance over all clients' rows together, once per evaluation
    (a σ per pair would move the gap between KID-avg and KID-all). CMMD's is `RBF(10, scale=1000)`.

    Examples
    --------
    >>> nm.metrics.KID(nm.RBF(2.0), name="kid_rbf").convention
    'KID rbf: unbiased MMD² on all rows, RBF exp(−‖x−y‖²/2σ²), σ = 2'
    """

    sigma: float | str | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_number(self.scale, "scale", minimum=1 / EXTREME, maximum=EXTREME))
        if isinstance(self.sigma, str):
            check_choice(self.sigma, ("median",), "sigma")
        elif self.sigma is not None:
            sigma = check_number(self.sigma, "sigma", minimum=1 / EXTREME, maximum=EXTREME)
            object.__setattr__(self, "sigma", sigma)

    def __str__(self) -> str:
        sigma = "√d" if self.sigma is None else self.sigma if isinstance(self.sigma, str) else f"{self.sigma:g}"
        scale = "" if self.scale == 1.0 else f"{self.scale:g} "
        return f"RBF {scale}exp(−‖x−y‖²/2σ²), σ = {sigma}"

    def _variance(self, d: int) -> float:
        if isinstance(self.sigma, str):
            fix = "Give sigma a number, or call kernel.resolve(samples) first"
            raise InvalidInput("sigma", "'median' is not resolved", fix)
        return float(d) if self.sigma is None else self.sigma**2

    @np.errstate(under="ignore")
    def block(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        variance = self._variance(x.shape[1])
        tolerance = variance * (1e-5 if x.dtype == xp.float32 else 1e-11)
        return self._apply_scale(xp.exp(squared_distances(x, y, tolerance) * (-0.5 / variance)))

    @np.errstate(under="ignore")
    def elementwise(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        return self._apply_scale(xp.exp(xp.sum((x - y) ** 2, axis=1) * (-0.5 / self._variance(x.shape[1]))))

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """σ^d |C₁ + C₂ + σ²I|^{-1/2} exp(−½ Δᵀ(C₁ + C₂ + σ²I)^{-1}Δ)."""
        return float(self._mean_over_gaussian(a.mean[None], b.mean, np.concatenate([a.root, b.root]))[0])

    def point_means(self, rows: Array, distribution: Gaussian) -> np.ndarray:
        return self._mean_over_gaussian(to_float64(rows), distribution.mean, distribution.root)

    def _mean_over_gaussian(self, x: Array, mean: np.ndarray, root: np.ndarray) -> np.ndarray:
        """With covariance rootᵀroot: along its axes the variance is s² + σ², across them σ²."""
        variance, xp = self._variance(mean.size), namespace(x)
        _, s, axes = np.linalg.svd(root, full_matrices=False)
        centred, basis = x - like(mean, x), like(axes, x)
        along = centred @ basis.T
        across = centred - along @ basis
        squared = xp.sum(across * across, axis=1) / variance
        squared += xp.sum(along * along / like(s * s + variance, x), axis=1)
        return self.scale * np.exp(-0.5 * (to_numpy(squared) + np.sum(np.log1p(s * s / variance))))

    def _apply_scale(self, values: Array) -> Array:
        return values if self.scale == 1.0 else self.scale * values

    def resolve(self, clients: Sequence[Sample]) -> RBF:
        return self if self.sigma != "median" else RBF(_median_distance(clients), self.scale)


def _median_distance(clients: Sequence[Sample], most: int = 2_000) -> float:
    rng = np.random.default_rng(0)
    share = max(2, most // len(clients))
    drawn = []
    for client in clients:
        if client.stream is not None:
            chosen = rng.permutation(client.stream.count())[:share]
            drawn.append(client.stream.take(chosen))
        elif client.rows is None:
            drawn.append(np.asarray(client.exact_distribution.sample(share, rng)))
        else:
            chosen = rng.permutation(client.rows.shape[0])[:share]
            drawn.append(take_rows(client.rows, chosen))
    rows = concat([to_float64(some) for some in drawn])
    if len(rows) < 2:
        raise InvalidInput("sigma", "there is 1 row, so no distance between rows", "Give sigma as a number")
    median = median_distance(rows)
    if median < 1 / EXTREME:
        raise InvalidInput("sigma", f"the median distance between rows is {median:g}", "Give sigma as a number")
    return median


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A user's own kernel: a function of two blocks of rows, (n, d), (m, d) -> (n, m)."""

    function: Callable[[Array, Array], Array]

    def __str__(self) -> str:
        return f"kernel {getattr(self.function, '__name__', 'given')}"

    def block(self, x: Array, y: Array) -> Array:
        values = self.function(x, y)
        if not is_array(values) or tuple(values.shape) != (x.shape[0], y.shape[0]):
            what = f"shape {tuple(values.shape)}" if is_array(values) else type(values).__name__
            seen = f"returned {what} for {x.shape[0]} and {y.shape[0]} rows"
            raise InvalidInput("kernel", seen, "Return one value for each pair of rows")
        if "complex" in str(values.dtype) or "object" in str(values.dtype):
            raise InvalidInput("kernel", f"returned {values.dtype}", "Return real numbers")
        return values

    def elementwise(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        return xp.concat([self.block(x[a : a + 1, :], y[a : a + 1, :])[0] for a in range(x.shape[0])])

    def takes_pairs(self, n: int, m: int, d: int) -> bool:
        """Whether the means of n and m rows over each other are made of their pairs, as that costs less."""
        return True

    def has_closed_form(self, distribution: Distribution) -> bool:
        return isinstance(distribution, Empirical)

    def is_large(self, work: int) -> bool:
        return False  # nobody knows what float32 would do to it


def as_kernel(kernel: Any) -> Kernel:
    """A `Kernel` from a kernel object or a function of two blocks of rows."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    raise InvalidInput(
        "kernel", f"got {shown(kernel)}", "Give nm.Polynomial(), nm.RBF() or a function (x, y) -> matrix"
    )


def magnitude(x: Array) -> float:
    """The largest |entry|."""
    xp = namespace(x)
    return max(-float(xp.min(x)), float(xp.max(x)))


def some_of(rows: Array, most: int) -> Array:
    """At most that many rows, evenly apart, in float64."""
    n = rows.shape[0]
    return to_float64(rows[:: -(-n // most), :])


def some_rows(clients: Sequence[Sample], most: int = 256) -> list[Array]:
    """A few rows of each client, of a stream the first; of a distribution two points with its mean and covariance's
    trace."""
    share = max(2, most // len(clients))
    heads = [_head(c) for c in clients]
    usable = [
        (c, h)
        for c, h in zip(clients, heads, strict=True)
        if h is not None or Kernel().has_closed_form(c.exact_distribution)
    ]
    return [_two_points(cast(HasMoments, c.exact_distribution)) if h is None else some_of(h, share) for c, h in usable]


def _head(client: Sample) -> Array | None:
    if client.stream is not None:
        return client.stream.head
    return client.distribution.head if isinstance(client.distribution, Round) else client.rows


def _two_points(distribution: HasMoments) -> np.ndarray:
    step = np.zeros(distribution.dim)
    step[0] = math.sqrt(np.trace(distribution.cov))
    return np.stack([distribution.mean - step, distribution.mean + step])
