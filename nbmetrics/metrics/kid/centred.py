"""The polynomial kernel about the clients' mean c, for features whose common offset is large beside their spread.

There MMD² is a small difference of huge means: 12 of 16 digits are gone at an offset of 10⁶. With u = x − c, v = y − c,
β = coef0 + γ|c|², a = γ c·u, b = γ c·v and t = γ u·v, the kernel is (β + a + b + t)^degree, and the same without what
depends on x or on y alone,

    k(x, y) − k(x, c) − k(c, y) + k(c, c),

has the same MMD² (those terms cancel in it) and the size of what is left. It is summed here from u and v without
forming the large terms; E k(X, X′), E k(Y, Y′) and −2 E k(X, Y) are then those of this kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array, like, namespace, row_blocks, to_float64, to_numpy
from ...distributions import Gaussian
from ..base import Sample
from .base import FLOAT32_LIMIT, some_rows
from .embedding import Embedding, of_gaussian
from .polynomial import Polynomial, is_far
from .streamed import Streamed


def centred(kernel: Any, clients: Sequence[Sample]) -> Any:
    """A polynomial kernel about the clients' mean where that saves digits; any other kernel as it is."""
    if not isinstance(kernel, Polynomial) or isinstance(kernel, CentredPolynomial):
        return kernel
    parts = some_rows(clients)
    if not parts:
        return kernel
    rows = np.concatenate(parts)
    if not is_far(rows, kernel.gamma_of(rows.shape[1]), kernel.coef0):
        return kernel
    centre = rows.mean(axis=0)
    if np.abs(centre).max() < FLOAT32_LIMIT:
        centre = centre.astype(np.float32).astype(np.float64)  # x − c then has room in float32 where x is near c
    return CentredPolynomial(kernel.degree, kernel.gamma, kernel.coef0, centre)


@dataclass(frozen=True, eq=False)
class CentredPolynomial(Polynomial):
    """k(x, y) − k(x, c) − k(c, y) + k(c, c) for a polynomial k."""

    centre: np.ndarray = field(default_factory=lambda: np.zeros(1))

    def __str__(self) -> str:
        return f"{super().__str__()}, taken about the clients' mean"

    @property
    def base(self) -> float:
        """β = k(c, c)^{1/degree}."""
        return self.coef0 + self.gamma_of(self.centre.size) * float(self.centre @ self.centre)

    def _is_far(self, rows: np.ndarray) -> bool:
        return is_far(rows - self.centre, self.gamma_of(rows.shape[1]), 0.0)

    def _from_centre(self, rows: Array) -> Array:
        """u = x − c, subtracted in float64, in the type of the rows."""
        return namespace(rows).astype(to_float64(rows) - like(self.centre, rows), rows.dtype)

    def _along(self, u: Array) -> Array:
        """γ c·u for each u."""
        return u @ namespace(u).astype(like(self.gamma_of(u.shape[1]) * self.centre, u), u.dtype)

    def block(self, x: Array, y: Array) -> Array:
        u, v = self._from_centre(x), self._from_centre(y)
        t = u @ v.T
        t *= self.gamma_of(x.shape[1])
        return self._without_ends(self._along(u)[:, None], self._along(v)[None, :], t)

    def paired(self, x: Array, y: Array) -> Array:
        u, v = self._from_centre(x), self._from_centre(y)
        t = self.gamma_of(x.shape[1]) * namespace(x, y).sum(u * v, axis=1)
        return self._without_ends(self._along(u), self._along(v), t)

    def _without_ends(self, a: Any, b: Any, t: Any) -> Any:
        """(β+a+b+t)^n − (β+a)^n − (β+b)^n + βⁿ for n = degree, by recursion over n from t, β^n and (β+a)^n − β^n."""
        base, rest = self.base, t
        power, first, second = base, a, b
        for _ in range(self.degree - 1):
            rest = (base + a + b + t) * rest + (a + t) * second + (b + t) * first + power * t
            first, second = (base + a) * first + a * power, (base + b) * second + b * power
            power *= base
        return rest

    def pull(self, rows: Array) -> np.ndarray:
        return to_numpy(self._beyond(self._along(self._from_centre(to_float64(rows)))))

    def _beyond(self, a: Any) -> Any:
        """(β+a)^degree − β^degree."""
        rest, power = a, self.base
        for _ in range(self.degree - 1):
            rest, power = (self.base + a) * rest + a * power, power * self.base
        return rest

    def lean(self, content: Any) -> float:
        if isinstance(content, Embedding):
            return float(self.base**1.5 * content.vector[0])
        if isinstance(content, Gaussian):
            a, spread = self._distribution_along(content)
            return float(self._beyond(a) + 3.0 * (self.base + a) * spread)
        if isinstance(content, Streamed):
            return content.lean
        blocks = row_blocks(content.shape[0], 16 * content.shape[1])
        return math.fsum(float(np.sum(self.pull(content[b, :]))) for b in blocks) / content.shape[0]

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
        return self._point_means(np.asarray(rows, dtype=np.float64) - self.centre, distribution)

    def _point_means(self, u: np.ndarray, distribution: Gaussian) -> np.ndarray:
        g = self.gamma_of(distribution.dim)
        a, (b, spread) = self._along(u), self._distribution_along(distribution)
        t = g * (u @ (distribution.mean - self.centre))
        projected, along = u @ distribution.root.T, distribution.root @ self.centre
        cross = g * g * np.sum(projected * (projected + 2.0 * along), axis=1)
        points = self._without_ends(a, np.full_like(a, b), t)
        return np.asarray(points + 3.0 * ((self.base + a + b + t) * cross + (a + t) * spread))

    def linear(self, rows: Array) -> Array:
        """z − z(c), (n, d+1), turned so that z(c) is √β along the first coordinate."""
        return self._turned(self._from_centre(to_float64(rows)))

    def _turned(self, u: Array) -> Array:
        xp, g, root = namespace(u), self.gamma_of(u.shape[1]), math.sqrt(self.base)
        c = like(self.centre, u)
        along, squared = u @ c, float(self.centre @ self.centre)
        turned = u if squared == 0.0 else u - ((1.0 - 1.0 / root) / squared * along)[:, None] * c
        return xp.concat([(g / root * along)[:, None], math.sqrt(g) * turned], axis=1)

    def coordinates(self, rows: Array) -> tuple[Array, Array]:
        z, root = self.linear(rows), math.sqrt(self.base)
        w = z[:, 0] + 0.0
        z[:, 0] += root
        return z, w * (3.0 * self.base + 3.0 * root * w + w * w)

    def _embed_gaussian(self, distribution: Gaussian) -> Embedding:
        root = math.sqrt(self.base)
        w, spread = self.linear(distribution.mean[None])[0], self._turned(distribution.root)
        cov = spread.T @ spread
        first = w[0] * (3.0 * self.base + 3.0 * root * w[0] + w[0] ** 2) + 3.0 * cov[0, 0] * (root + w[0])
        w[0] += root
        vector = of_gaussian(w, cov)
        vector[0] = first
        return Embedding(vector)
