"""The polynomial kernel of KID, cubic by default: closed forms, the finite embedding, and features far from 0.

In coordinates z = (1, √γ x) the kernel is (z·z′)^degree. Where the features share an offset that is large beside their
spread, MMD² is a small difference of huge means: 12 of 16 digits are gone at an offset of 10⁶. `CentredPolynomial` is
the kernel about the clients' mean c. With u = x − c, v = y − c, β = coef0 + γ|c|², a = γ c·u, b = γ c·v and t = γ u·v,
the kernel is (β + a + b + t)^degree, and the same without what depends on x or on y alone,

    k(x, y) − k(x, c) − k(c, y) + k(c, c),

has the same MMD² (those terms cancel in it) and the size of what is left. It is summed here from u and v without
forming the large terms; E k(X, X′), E k(Y, Y′) and −2 E k(X, Y) are then those of this kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...arrays import (
    Array,
    concat,
    is_array,
    like,
    namespace,
    product,
    row_blocks,
    row_products,
    to_float64,
    to_numpy,
    total,
)
from ...distributions import Distribution, Empirical, Gaussian
from ...errors import check_count, check_number
from ..base import Sample
from . import embedding
from .block_sums import StreamedRows, stacks
from .cubic_sums import CubicRows, cubic_cell_sums
from .embedding import Embedding
from .kernels import DIAGONAL_BYTES, EXTREME, FLOAT32_LIMIT, Kernel, some_of, some_rows
from .mean_tables import MATRIX_COST_ROWS

# The embedding grows with the cube of the width; beyond this the rows are kept.
MAX_EMBEDDING_DIM = 128
# Means of k this many times larger than the spread of k leave float32 too few digits of their difference.
FAR_RATIO = 30.0
# The same of rows for a cubic kernel, whose sums take the linear terms in float64: KID moved by less than 0.01 of its
# standard error where the means were this many times larger.
CUBIC_FAR_RATIO = 2e4
# Rows that tell how far from 0 all of them are.
PROBED_ROWS = 256


def _dim(content: Any) -> int:
    return int(content.shape[1] if is_array(content) else content.dim)


def _row_cost(parts: Sequence[Any]) -> int:
    """How many pairs of rows cost as much as the embedding of one row."""
    return embedding.pairs_worth(_dim(parts[0].content) + 1)


def _rows(parts: Sequence[Any]) -> int:
    """Rows of the parts together; a covariance has d directions and counts as d rows."""
    return sum(p.content.shape[0] if is_array(p.content) else _dim(p.content) for p in parts)


def is_far(rows: Array, gamma: float, constant: float, ratio: float = FAR_RATIO) -> bool:
    """Whether the kernel at the mean of the rows is so many times the kernel of their deviations from it."""
    mean = namespace(rows).mean(rows, axis=0)
    spread = gamma * total((rows - mean) ** 2) / rows.shape[0]
    return constant + gamma * float(product(mean, mean)) > ratio * spread


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, y) = (γ x·y + coef0)^degree; γ = 1/d unless given. Degree 3 and coef0 1 are KID's.

    Closed forms for Gaussians and the finite mean embedding are there for degree 3 with coef0 1.

    Examples
    --------
    >>> nm.metrics.KID(nm.Polynomial(degree=2), name="kid_2").convention
    'KID 2: unbiased MMD² on all rows, (γ x·y + 1)^2, γ = 1/d'
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
    def base(self) -> float:
        """β = k(c, c)^{1/degree} of the full kernel at the centre, here 0."""
        return self.coef0

    @property
    def at_centre(self) -> float:
        """k(c, c)."""
        return self.coef0**3

    @property
    def is_cubic(self) -> bool:
        return self.degree == 3 and self.coef0 == 1.0

    def gamma_of(self, d: int) -> float:
        """γ for rows of d features."""
        return 1.0 / d if self.gamma is None else self.gamma

    def kept(self, rows: Array) -> Array:
        rows = super().kept(rows)
        if rows.dtype == namespace(rows).float64:
            return rows
        return to_float64(rows) if self._is_far(some_of(rows, PROBED_ROWS)) else rows

    def _is_far(self, rows: Array) -> bool:
        """Whether means of k over such rows are so large that in float32 their differences are mostly rounding."""
        return is_far(rows, self.gamma_of(rows.shape[1]), self.coef0, self._far_ratio)

    @property
    def _far_ratio(self) -> float:
        return CUBIC_FAR_RATIO if self.degree == 3 else FAR_RATIO

    def block(self, x: Array, y: Array) -> Array:
        inner = product(x, y.T)
        inner *= self.gamma_of(x.shape[1])
        inner += self.coef0
        power = inner
        for _ in range(self.degree - 1):
            power = power * inner
        return power

    def prepare(self, rows: Array, sizes: Sequence[int]) -> Any:
        if self.degree != 3:
            return super().prepare(rows, sizes)
        u, along = self._scaled_deviations(rows)
        return CubicRows.of(u, along, sizes)

    def _scaled_deviations(self, rows: Array) -> tuple[Array, Array]:
        """√γ (x − c) in the type of the rows, and γ c·(x − c), for the centre c."""
        return rows * math.sqrt(self.gamma_of(rows.shape[1])), namespace(rows).zeros_like(rows[:, 0])

    def cell_sums(self, x: Any, y: Any) -> np.ndarray:
        if self.degree != 3:
            return super().cell_sums(x, y)
        constant = self.at_centre * np.outer(x.powers[0], y.powers[0])
        return constant + cubic_cell_sums(x, y, self.base)

    def elementwise(self, x: Array, y: Array) -> Array:
        return (self.gamma_of(x.shape[1]) * row_products(x, y) + self.coef0) ** self.degree

    def has_closed_form(self, distribution: Distribution) -> bool:
        return super().has_closed_form(distribution) and (self.is_cubic or isinstance(distribution, Empirical))

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """b³ + 3bγ² m₁ᵀC₂m₁ + 3γ²b (Tr C₁C₂ + m₂ᵀC₁m₂) + 6γ³ m₁ᵀC₂C₁m₂ with b = 1 + γ m₁·m₂."""
        g = self.gamma_of(a.dim)
        c2m1, c1m2 = b.cov @ a.mean, a.cov @ b.mean
        base = 1.0 + g * float(a.mean @ b.mean)
        spread = float(a.mean @ c2m1 + b.mean @ c1m2 + np.sum(a.cov * b.cov))
        return base**3 + 3 * g * g * base * spread + 6 * g**3 * float(c2m1 @ c1m2)

    def point_means(self, rows: Array, distribution: Gaussian) -> np.ndarray:
        g, x = self.gamma_of(distribution.dim), to_float64(rows)
        base = 1.0 + g * (x @ like(distribution.mean, x))
        projected = x @ like(distribution.root.T, x)
        return to_numpy(base**3 + 3 * g * g * base * namespace(x).sum(projected * projected, axis=1))

    def content(self, sample: Sample) -> tuple[Any, float, float]:
        rows, count, diagonal = super().content(sample)
        if isinstance(rows, Gaussian) or not self.has_embedding(sample.dim):
            return rows, count, diagonal
        n, d = rows.shape
        is_smaller = embedding.length(d + 1) <= n * d and not self.takes_pairs(n, n, d)
        return (self.embed(rows) if is_smaller else rows), count, diagonal

    def has_embedding(self, d: int) -> bool:
        return self.is_cubic and d <= MAX_EMBEDDING_DIM

    def takes_pairs(self, n: int, m: int, d: int) -> bool:
        return not self.has_embedding(d) or n * m <= (n + m) * embedding.pairs_worth(d + 1)

    def coordinates(self, rows: Array) -> tuple[Array, Array]:
        """z of rows in float64, (n, d+1), and the first number of φ, (n,)."""
        x = math.sqrt(self.gamma_of(rows.shape[1])) * to_float64(rows)
        ones = namespace(x).ones_like(x[:, :1])
        return namespace(x).concat([ones, x], axis=1), ones[:, 0]

    def linear_map(self, d: int) -> np.ndarray:
        """Return by how much the coordinates z move with each feature, (d, d+1)."""
        return math.sqrt(self.gamma_of(d)) * np.eye(d, d + 1, 1)

    def first_number_spread(self, mean: np.ndarray, variance: float, third: float) -> float:
        """Return what the spread of rows about their mean adds to the mean of the first number of φ.

        `variance` and `third` are the moments, about that mean, of the first coordinate.
        """
        return 0.0

    def about(self, centre: np.ndarray) -> CentredPolynomial:
        """Return this kernel about a centre."""
        return CentredPolynomial(self.degree, self.gamma, self.coef0, centre)

    def features(self, rows: Array) -> Array:
        """φ of each row, (n, C(d+3, 3)): φ(x)·φ(y) = k(x, y)."""
        z, first = self.coordinates(rows)
        phi = embedding.features(z)
        phi[:, 0] = first
        return phi

    def embed(self, content: Any) -> Embedding:
        """The mean of φ over rows or a Gaussian: inner products are E k."""
        if isinstance(content, Embedding):
            return content
        if isinstance(content, Gaussian):
            return self._embed_gaussian(content)
        return Embedding(self.sum_of_features(content, np.full(content.shape[0], 1.0 / content.shape[0])))

    def _embed_gaussian(self, distribution: Gaussian) -> Embedding:
        scale = math.sqrt(self.gamma_of(distribution.dim))
        mean = np.concatenate([[1.0], scale * distribution.mean])
        return Embedding(embedding.of_gaussian(mean, np.pad(scale * scale * distribution.cov, ((1, 0), (1, 0)))))

    def sum_of_features(self, rows: Array, weights: np.ndarray) -> np.ndarray:
        """Σ w_a φ(x_a) of rows."""
        cubic = embedding.Contraction()
        first, often = 0.0, like(weights, rows)
        for block in row_blocks(rows.shape[0], 8 * embedding.pairs_worth(rows.shape[1] + 1), embedding.CACHED_PRODUCTS):
            z, cubes = self.coordinates(rows[block, :])
            cubic.add(z, often[block])
            first += total(often[block] * cubes)
        vector = embedding.pack(cubic.matrix)
        vector[0] = first
        return vector

    def should_embed(self, parts: Sequence[Any], others: Sequence[Any]) -> bool:
        everything = [*parts, *others]
        if not self._can_embed(everything):
            return False
        if any(isinstance(p.content, Embedding) for p in everything):
            return True
        n, m = _rows(parts), _rows(others)
        return n * m > (n + m + MATRIX_COST_ROWS * len(everything)) * _row_cost(everything)

    def should_pool(self, parts: Sequence[Any]) -> bool:
        if not self._can_embed(parts):
            return False
        return any(isinstance(p.content, Embedding) for p in parts) or _rows(parts) > 2 * _row_cost(parts)

    def pool_parts(self, parts: Sequence[Any], weights: Sequence[float]) -> Embedding:
        vector: Any = 0.0
        for part, w in zip(parts, weights, strict=True):
            if not is_array(part.content):
                vector = vector + w * self.embed(part.content).vector
        rows = [(p.content, w / p.content.shape[0]) for p, w in zip(parts, weights, strict=True) if is_array(p.content)]
        for some in stacks([content for content, _ in rows]):
            stacked = concat([content for content, _ in rows[some]])
            each = np.concatenate([np.full(content.shape[0], w) for content, w in rows[some]])
            vector = vector + self.sum_of_features(stacked, each)
        return Embedding(vector)

    def _can_embed(self, parts: Sequence[Any]) -> bool:
        return all(isinstance(p.content, Embedding) or self.has_embedding(_dim(p.content)) for p in parts)

    def _mean(self, a: Any, b: Any) -> float:
        if isinstance(a, Embedding) or isinstance(b, Embedding):
            return float(self.embed(a).vector @ self.embed(b).vector)
        return super()._mean(a, b)

    def _row_means(self, rows: Array, content: Any) -> np.ndarray:
        d = rows.shape[1]
        if not isinstance(content, (Embedding, Gaussian)):
            takes_pairs = self.takes_pairs(rows.shape[0], content.shape[0], d)
            content = content if takes_pairs else self.embed(content)
        if not isinstance(content, Embedding):
            return super()._row_means(rows, content)
        means = np.empty(rows.shape[0])
        rest = np.concatenate([[0.0], content.vector[1:]])
        for block in row_blocks(rows.shape[0], 8 * embedding.pairs_worth(d + 1), embedding.CACHED_PRODUCTS):
            z, first = self.coordinates(rows[block, :])
            means[block] = content.vector[0] * to_numpy(first) + to_numpy(embedding.witness(rest, z))
        return means


@dataclass(frozen=True, eq=False)
class CentredPolynomial(Polynomial):
    """k(x, y) − k(x, c) − k(c, y) + k(c, c) for a polynomial k."""

    centre: np.ndarray = field(default_factory=lambda: np.zeros(1))

    def __str__(self) -> str:
        return f"{super().__str__()}, taken about the clients' mean"

    @cached_property
    def base(self) -> float:  # type: ignore[override]
        """β = coef0 + γ|c|²."""
        return self.coef0 + self.gamma_of(self.centre.size) * float(self.centre @ self.centre)

    @property
    def at_centre(self) -> float:
        return 0.0

    def _is_far(self, rows: Array) -> bool:
        return is_far(rows - like(self.centre, rows), self.gamma_of(rows.shape[1]), 0.0, self._far_ratio)

    def _from_centre(self, rows: Array) -> Array:
        """u = x − c in the type of the rows, subtracted in it where it holds c, else in float64."""
        xp, centre = namespace(rows), like(self.centre, rows)
        if self._is_single_centre:
            return rows - xp.astype(centre, rows.dtype)
        return xp.astype(to_float64(rows) - centre, rows.dtype)

    @cached_property
    def _is_single_centre(self) -> bool:
        """Whether float32 holds the centre."""
        with np.errstate(over="ignore"):
            return bool(np.all(self.centre.astype(np.float32) == self.centre))

    def _scaled_deviations(self, rows: Array) -> tuple[Array, Array]:
        u, root = self._from_centre(rows), math.sqrt(self.gamma_of(rows.shape[1]))
        u *= root
        return u, product(u, namespace(u).astype(like(root * self.centre, u), u.dtype))

    def _along(self, u: Array) -> Array:
        """γ c·u for each u."""
        return product(u, namespace(u).astype(like(self.gamma_of(u.shape[1]) * self.centre, u), u.dtype))

    def block(self, x: Array, y: Array) -> Array:
        u, v = self._from_centre(x), self._from_centre(y)
        t = product(u, v.T)
        t *= self.gamma_of(x.shape[1])
        return self._without_ends(self._along(u)[:, None], self._along(v)[None, :], t)

    def elementwise(self, x: Array, y: Array) -> Array:
        u = self._from_centre(x)
        v = u if y is x else self._from_centre(y)
        t = self.gamma_of(x.shape[1]) * row_products(u, v)
        return self._without_ends(self._along(u), self._along(v), t)

    def _without_ends(self, a: Any, b: Any, t: Any) -> Any:
        """(β+a+b+t)^n − (β+a)^n − (β+b)^n + βⁿ for n = degree, by recursion over n from t, β^n and (β+a)^n − β^n.

        For n = 3 that is t (t² + 3s (s + t)) + 3ab (s + β), s = β + a + b.
        """
        if self.degree == 3:
            s = a + b
            s += self.base
            rest = s + t
            rest *= s
            rest *= 3.0
            rest += t * t
            rest *= t
            s += self.base
            s *= 3.0 * a
            s *= b
            rest += s
            return rest
        base, rest = self.base, t
        power, first, second = base, a, b
        for _ in range(self.degree - 1):
            rest = (base + a + b + t) * rest + (a + t) * second + (b + t) * first + power * t
            first, second = (base + a) * first + a * power, (base + b) * second + b * power
            power *= base
        return rest

    def omission(self, rows: Array) -> np.ndarray:
        return to_numpy(self._beyond(to_float64(self._along(self._from_centre(rows)))))

    def _beyond(self, a: Any) -> Any:
        """(β+a)^degree − β^degree."""
        rest, power = a, self.base
        for _ in range(self.degree - 1):
            rest, power = (self.base + a) * rest + a * power, power * self.base
        return rest

    def mean_omission(self, content: Any) -> float:
        if isinstance(content, Embedding):
            return float(self.base**1.5 * content.vector[0])
        if isinstance(content, Gaussian):
            a, spread = self._distribution_along(content)
            return float(self._beyond(a) + 3.0 * (self.base + a) * spread)
        if isinstance(content, StreamedRows):
            return content.mean_omission
        as_float = (lambda rows: rows) if self.is_single(content, content) else to_float64
        blocks = row_blocks(content.shape[0], 16 * content.shape[1], DIAGONAL_BYTES)
        return math.fsum(float(np.sum(self.omission(as_float(content[b, :])))) for b in blocks) / content.shape[0]

    def _distribution_along(self, distribution: Gaussian) -> tuple[float, float]:
        """Mean and variance of γ c·(X − c)."""
        gc = self.gamma_of(distribution.dim) * self.centre
        return float(gc @ (distribution.mean - self.centre)), float(np.sum((distribution.root @ gc) ** 2))

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """The closed form of `Polynomial.gaussian_mean` without the terms that depend on one distribution alone."""
        along, spread = self._distribution_along(a)
        own = self._point_means((a.mean - self.centre)[None], b)[0]
        g = self.gamma_of(a.dim)
        there, _ = self._distribution_along(b)
        shift, c1m2 = b.mean - self.centre, a.cov @ b.mean
        t = g * float((a.mean - self.centre) @ shift)
        cross = g * g * float(2.0 * self.centre @ a.cov @ shift + shift @ a.cov @ shift + np.sum(a.cov * b.cov))
        mixed = 3.0 * ((self.base + along + there + t) * cross + (there + t) * spread)
        return float(own + mixed + 6.0 * g**3 * float((b.cov @ a.mean) @ c1m2))

    def point_means(self, rows: Array, distribution: Gaussian) -> np.ndarray:
        return self._point_means(self._from_centre(to_float64(rows)), distribution)

    def _point_means(self, u: Array, distribution: Gaussian) -> np.ndarray:
        g, xp = self.gamma_of(distribution.dim), namespace(u)
        a, (b, spread) = self._along(u), self._distribution_along(distribution)
        t = g * (u @ like(distribution.mean - self.centre, u))
        projected, along = u @ like(distribution.root.T, u), like(distribution.root @ self.centre, u)
        cross = g * g * xp.sum(projected * (projected + 2.0 * along), axis=1)
        points = self._without_ends(a, xp.full_like(a, b), t)
        return to_numpy(points + 3.0 * ((self.base + a + b + t) * cross + (a + t) * spread))

    def linear(self, rows: Array) -> Array:
        """z − z(c), (n, d+1), turned so that z(c) is √β along the first coordinate."""
        return self._rotate(self._from_centre(to_float64(rows)))

    def _rotate(self, u: Array) -> Array:
        xp, g, root = namespace(u), self.gamma_of(u.shape[1]), math.sqrt(self.base)
        c = like(self.centre, u)
        along, squared = u @ c, float(self.centre @ self.centre)
        turned = u if squared == 0.0 else u - ((1.0 - 1.0 / root) / squared * along)[:, None] * c
        return xp.concat([(g / root * along)[:, None], math.sqrt(g) * turned], axis=1)

    def linear_map(self, d: int) -> np.ndarray:
        return np.asarray(self._rotate(np.eye(d)))

    def first_number_spread(self, mean: np.ndarray, variance: float, third: float) -> float:
        """φ₀ is (√β + w)³ − β^1.5, and w is linear in x."""
        w = self.linear(mean[None])[0, 0]
        return 3.0 * (math.sqrt(self.base) + w) * variance + third

    def takes_pairs(self, n: int, m: int, d: int) -> bool:
        return not self.has_embedding(d) or n * m <= (n + m) * embedding.pairs_worth(d + 1)

    def coordinates(self, rows: Array) -> tuple[Array, Array]:
        z, root = self.linear(rows), math.sqrt(self.base)
        w = z[:, 0] + 0.0
        z[:, 0] += root
        return z, w * (3.0 * self.base + 3.0 * root * w + w * w)

    def _embed_gaussian(self, distribution: Gaussian) -> Embedding:
        root = math.sqrt(self.base)
        w, spread = self.linear(distribution.mean[None])[0], self._rotate(distribution.root)
        cov = spread.T @ spread
        first = w[0] * (3.0 * self.base + 3.0 * root * w[0] + w[0] ** 2) + 3.0 * cov[0, 0] * (root + w[0])
        w[0] += root
        vector = embedding.of_gaussian(w, cov)
        vector[0] = first
        return Embedding(vector)


def about_mean(kernel: Any, clients: Sequence[Sample]) -> Any:
    """A polynomial kernel about the clients' mean where that saves digits; any other kernel as it is."""
    if not isinstance(kernel, Polynomial) or isinstance(kernel, CentredPolynomial):
        return kernel
    parts = some_rows(clients)
    if not parts:
        return kernel
    rows = concat(parts)
    if not is_far(rows, kernel.gamma_of(rows.shape[1]), kernel.coef0):
        return kernel
    centre = to_numpy(namespace(rows).mean(rows, axis=0))
    if np.abs(centre).max() < FLOAT32_LIMIT:
        centre = centre.astype(np.float32).astype(np.float64)  # x − c then has room in float32 where x is near c
    return CentredPolynomial(kernel.degree, kernel.gamma, kernel.coef0, centre)
