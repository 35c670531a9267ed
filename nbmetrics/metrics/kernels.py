"""The kernels of KID: k on blocks of rows, the mean of k over two parts, and closed forms for Gaussians."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    align,
    each_pair,
    is_array,
    like,
    namespace,
    row_blocks,
    squared_distances,
    to_float64,
    to_numpy,
    total,
)
from ..distributions import Empirical, Gaussian
from ..errors import InvalidInput, check_choice, check_count, check_number, shown

STEP = 1024
# Cubes of float32 inner products stay exact enough, and finite, below this magnitude of the features;
# below this many multiplications float64 costs too little to do without.
FLOAT32_LIMIT = 1e5
FLOAT64_WORK = 2e8
# The embedding grows with the cube of the width; beyond this the rows are kept.
WIDEST_EMBEDDING = 128
# Bandwidths and scales beyond this leave nothing but overflow.
EXTREME = 1e50


class Kernel:
    """A positive-definite kernel k(x, y) on rows of features."""

    def block(self, x: Array, y: Array) -> Array:
        """The (n, m) matrix of k over rows x (n, d) and y (m, d)."""
        raise NotImplementedError

    def paired(self, x: Array, y: Array) -> Array:
        """The (n,) values k(x_a, y_a) of rows that belong together."""
        raise NotImplementedError

    def paired_mean(self, x: Array, y: Array) -> float:
        """The mean of k(x_a, y_a) over rows, float64."""
        sums = (
            total(self.paired(to_float64(x[b, :]), to_float64(y[b, :]))) for b in row_blocks(len(x), 16 * x.shape[1])
        )
        return math.fsum(sums) / x.shape[0]

    def diagonal(self, x: Array) -> float:
        """The mean of k(x_a, x_a) over rows."""
        return self.paired_mean(x, x)

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """E k(X, Y) for independent X ~ a, Y ~ b."""
        raise NotImplementedError

    def point_means(self, rows: Array, law: Gaussian) -> np.ndarray:
        """E k(x, Y), Y ~ law, for each row x."""
        raise NotImplementedError

    def has_closed_form(self, law: Any) -> bool:
        """Whether means over this law are exact."""
        if hasattr(law, "components"):
            return all(self.has_closed_form(part) for part in law.components)
        return isinstance(law, (Gaussian, Empirical))

    def resolve(self, clients: Sequence[Any]) -> Kernel:
        """This kernel with data-dependent settings fixed by all clients together."""
        return self

    def content(self, sample: Any) -> tuple[Any, float, float]:
        """What a part keeps of a sample: rows or exact law, its count, and the mean of k(x, x)."""
        if isinstance(sample.distribution, Empirical):
            return sample.distribution.rows, math.inf, 0.0
        if sample.rows is None:
            return sample.distribution, math.inf, 0.0
        rows = sample.rows if _magnitude(sample.rows) < FLOAT32_LIMIT else to_float64(sample.rows)
        return rows, rows.shape[0], self._finite(lambda: self.diagonal(rows))

    def mean(self, a: Any, b: Any) -> float:
        """The mean of k over two parts, each rows or a Gaussian; self-pairs included."""
        return self._finite(lambda: self._mean(a, b))

    def _finite(self, compute: Callable[[], float]) -> float:
        try:
            with np.errstate(all="ignore"):
                value = compute()
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise InvalidInput("kernel", f"a mean of {self} is {value}", "Rescale the features")
        return value

    def _mean(self, a: Any, b: Any) -> float:
        if isinstance(a, Gaussian) and isinstance(b, Gaussian):
            return self.gaussian_mean(a, b)
        if isinstance(a, Gaussian):
            return float(np.mean(self.point_means(to_numpy(b), a)))
        if isinstance(b, Gaussian):
            return float(np.mean(self.point_means(to_numpy(a), b)))
        return self._rows_mean(a, b)

    def _rows_mean(self, x: Array, y: Array) -> float:
        same = x is y
        x, y = self.working_type(*align(x, y))
        if same:
            y = x
        sums: list[float] = []

        def visit(p: Array, q: Array, diagonal: bool) -> None:
            sums.append((1.0 if diagonal or not same else 2.0) * total(self.block(p, q)))

        each_pair(x, y, STEP, visit)
        return math.fsum(sums) / (x.shape[0] * y.shape[0])

    def working_type(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Both in float32 where that is exact enough and worth it, else in float64."""
        xp = namespace(x, y)
        large = x.shape[0] * y.shape[0] * x.shape[1] > FLOAT64_WORK
        if large and x.dtype == y.dtype == xp.float32:
            return x, y
        return to_float64(x), to_float64(y)


def _magnitude(x: Array) -> float:
    xp = namespace(x)
    return max(-float(xp.min(x)), float(xp.max(x)))


@lru_cache(maxsize=8)
def _cubic_indices(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Flat positions i ≤ j ≤ k in a (d+1)³ tensor, and the root of how often each product occurs."""
    triples = np.array(list(itertools.combinations_with_replacement(range(d + 1), 3)))
    i, j, k = triples.T
    often = np.where((i == j) & (j == k), 1.0, np.where((i == j) | (j == k), 3.0, 6.0))
    return (i * (d + 1) + j) * (d + 1) + k, np.sqrt(often)


@dataclass(frozen=True)
class Embedding:
    """The exact mean embedding under the cubic kernel: C(d+3, 3) numbers, linear in the law."""

    vector: np.ndarray

    @property
    def nbytes(self) -> int:
        return self.vector.nbytes


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, y) = (γ x·y + coef0)^degree; γ = 1/d unless given. Degree 3 and coef0 1 are KID's.

    Closed forms for Gaussians and the finite mean embedding are there for degree 3 with coef0 1.
    """

    degree: int = 3
    gamma: float | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", check_count(self.degree, "degree", maximum=1000))
        object.__setattr__(self, "coef0", check_number(self.coef0, "coef0", minimum=0, maximum=EXTREME))
        if self.gamma is not None:
            gamma = check_number(self.gamma, "gamma", minimum=1 / EXTREME, maximum=EXTREME)
            object.__setattr__(self, "gamma", gamma)

    def __str__(self) -> str:
        return f"(γ x·y + {self.coef0:g})^{self.degree}, γ = {'1/d' if self.gamma is None else f'{self.gamma:g}'}"

    @property
    def is_cubic(self) -> bool:
        return self.degree == 3 and self.coef0 == 1.0

    def _gamma(self, d: int) -> float:
        return 1.0 / d if self.gamma is None else self.gamma

    def block(self, x: Array, y: Array) -> Array:
        product = x @ y.T
        product *= self._gamma(x.shape[1])
        product += self.coef0
        power = product
        for _ in range(self.degree - 1):
            power = power * product
        return power

    def paired(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        return (self._gamma(x.shape[1]) * xp.sum(x * y, axis=1) + self.coef0) ** self.degree

    def has_closed_form(self, law: Any) -> bool:
        return super().has_closed_form(law) and (self.is_cubic or isinstance(law, Empirical))

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """b³ + 3bγ² m₁ᵀC₂m₁ + 3γ²b (Tr C₁C₂ + m₂ᵀC₁m₂) + 6γ³ m₁ᵀC₂C₁m₂ with b = 1 + γ m₁·m₂."""
        g = self._gamma(a.dim)
        c2m1, c1m2 = b.cov @ a.mean, a.cov @ b.mean
        base = 1.0 + g * float(a.mean @ b.mean)
        spread = float(a.mean @ c2m1 + b.mean @ c1m2 + np.sum(a.cov * b.cov))
        return base**3 + 3 * g * g * base * spread + 6 * g**3 * float(c2m1 @ c1m2)

    def point_means(self, rows: Array, law: Gaussian) -> np.ndarray:
        g = self._gamma(law.dim)
        x = np.asarray(rows, dtype=np.float64)
        base = 1.0 + g * (x @ law.mean)
        projected = x @ law.root.T
        return base**3 + 3 * g * g * base * np.sum(projected * projected, axis=1)

    def content(self, sample: Any) -> tuple[Any, float, float]:
        rows, count, diagonal = super().content(sample)
        d = sample.dim
        if not self.is_cubic or d > WIDEST_EMBEDDING or isinstance(rows, Gaussian):
            return rows, count, diagonal
        is_smaller = math.comb(d + 3, 3) <= rows.shape[0] * d
        return (self.embed(rows) if is_smaller else rows), count, diagonal

    def features(self, rows: np.ndarray) -> np.ndarray:
        """φ(x) of each row, (n, C(d+3, 3)): φ(x)·φ(y) = k(x, y)."""
        z = np.concatenate([np.ones((len(rows), 1)), math.sqrt(self._gamma(rows.shape[1])) * rows], axis=1)
        positions, roots = _cubic_indices(rows.shape[1])
        width = z.shape[1]
        i, j, k = positions // width**2, positions // width % width, positions % width
        return z[:, i] * z[:, j] * z[:, k] * roots

    def embed(self, content: Any) -> Embedding:
        """E z⊗z⊗z with z = (1, √γ x), each distinct product once, weighted so that inner products are E k."""
        d = content.dim if isinstance(content, Gaussian) else content.shape[1]
        scale = math.sqrt(self._gamma(d))
        if isinstance(content, Gaussian):
            m = np.concatenate([[1.0], scale * content.mean])
            c = np.pad(scale * scale * content.cov, ((1, 0), (1, 0)))
            moment = np.einsum("i,jk->ijk", m, c)
            tensor = np.einsum("i,j,k->ijk", m, m, m) + moment + moment.transpose(1, 0, 2) + moment.transpose(1, 2, 0)
        else:
            tensor = _third_moment(content, scale)
        positions, roots = _cubic_indices(d)
        return Embedding(tensor.reshape(-1)[positions] * roots)

    def _mean(self, a: Any, b: Any) -> float:
        if isinstance(a, Embedding) or isinstance(b, Embedding):
            first, second = (x if isinstance(x, Embedding) else self.embed(x) for x in (a, b))
            return float(first.vector @ second.vector)
        return super()._mean(a, b)


def _third_moment(rows: Array, scale: float) -> np.ndarray:
    xp = namespace(rows)
    n, d = rows.shape
    width = d + 1
    sums = like(np.zeros((width * width, width)), rows)
    for block in row_blocks(n, 8 * width * width):
        x = scale * to_float64(rows[block, :])
        z = xp.concat([xp.ones_like(x[:, :1]), x], axis=1)
        pairs = xp.reshape(z[:, :, None] * z[:, None, :], (z.shape[0], width * width))
        sums += pairs.T @ z
    return to_numpy(sums) / n


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, y) = exp(−‖x − y‖² / 2σ²); σ = √d by default.

    `sigma="median"` takes the median distance over all clients' rows together, once per evaluation
    (a σ per pair would move the gap between KID-avg and KID-all).
    """

    sigma: float | str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.sigma, str):
            check_choice(self.sigma, ("median",), "sigma")
        elif self.sigma is not None:
            sigma = check_number(self.sigma, "sigma", minimum=1 / EXTREME, maximum=EXTREME)
            object.__setattr__(self, "sigma", sigma)

    def __str__(self) -> str:
        sigma = "√d" if self.sigma is None else self.sigma if isinstance(self.sigma, str) else f"{self.sigma:g}"
        return f"RBF exp(−‖x−y‖²/2σ²), σ = {sigma}"

    def _variance(self, d: int) -> float:
        if isinstance(self.sigma, str):
            raise InvalidInput("sigma", "'median' is not resolved", "Call kernel.resolve(samples) first")
        return float(d) if self.sigma is None else self.sigma**2

    def block(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        variance = self._variance(x.shape[1])
        tolerance = variance * (1e-5 if x.dtype == xp.float32 else 1e-11)
        return xp.exp(squared_distances(x, y, tolerance) * (-0.5 / variance))

    def paired(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        return xp.exp(xp.sum((x - y) ** 2, axis=1) * (-0.5 / self._variance(x.shape[1])))

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """σ^d |C₁ + C₂ + σ²I|^{-1/2} exp(−½ Δᵀ(C₁ + C₂ + σ²I)^{-1}Δ)."""
        return float(self._smoothed(a.mean[None], b.mean, np.concatenate([a.root, b.root]))[0])

    def point_means(self, rows: Array, law: Gaussian) -> np.ndarray:
        return self._smoothed(np.asarray(rows, dtype=np.float64), law.mean, law.root)

    def _smoothed(self, x: np.ndarray, mean: np.ndarray, root: np.ndarray) -> np.ndarray:
        """With covariance rootᵀroot: along its axes the variance is s² + σ², across them σ²."""
        variance = self._variance(mean.size)
        _, s, axes = np.linalg.svd(root, full_matrices=False)
        along = (x - mean) @ axes.T
        across = x - mean - along @ axes
        squared = np.sum(across * across, axis=1) / variance + np.sum(along * along / (s * s + variance), axis=1)
        return np.exp(-0.5 * (squared + np.sum(np.log1p(s * s / variance))))

    def resolve(self, clients: Sequence[Any]) -> RBF:
        return self if self.sigma != "median" else RBF(_median_distance(clients))


def _median_distance(clients: Sequence[Any], most: int = 2_000) -> float:
    rng = np.random.default_rng(0)
    share = max(2, most // len(clients))
    drawn = []
    for client in clients:
        if client.rows is None:
            drawn.append(np.asarray(client.distribution.sample(share, rng)))
        else:
            chosen = rng.permutation(client.rows.shape[0])[:share]
            drawn.append(to_numpy(client.rows)[chosen])
    from scipy.spatial.distance import pdist

    rows = np.concatenate(drawn).astype(np.float64)
    if len(rows) < 2:
        raise InvalidInput("sigma", "there is 1 row, so no distance between rows", "Give sigma as a number")
    median = float(np.median(pdist(rows)))
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
        return values

    def paired(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        return xp.concat([self.block(x[a : a + 1, :], y[a : a + 1, :])[0] for a in range(x.shape[0])])

    def has_closed_form(self, law: Any) -> bool:
        return isinstance(law, Empirical)


def as_kernel(kernel: Any) -> Kernel:
    """A `Kernel` from a kernel object or a function of two blocks of rows."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    raise InvalidInput(
        "kernel", f"got {shown(kernel)}", "Give nm.Polynomial(), nm.RBF() or a function (x, y) -> matrix"
    )
