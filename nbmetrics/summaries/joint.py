"""Moments of (x, y) together: the summary of the conditional metrics, and the regression of y on x in it.

With a factor R = [R_x R_y] of the joint covariance, RᵀR = C, an orthonormal basis Q of the columns of R_x gives
everything: C_yx C_xx⁺ C_xy = (QQᵀR_y)ᵀ(QQᵀR_y) and C_yy|x = EᵀE with E = R_y − QQᵀR_y. No covariances are
subtracted, so a residual variance far below the variance of y keeps its digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..arrays import Array, align, namespace, psd_root, to_float64, triangular
from ..distributions import HasMoments
from .moments import Moments

# Relative to the features' deviations: below it two distributions of x are the same one, apart from rounding.
SAME = 1e-10
# Relative to its mean: below it a feature does not vary, apart from rounding.
CONSTANT = 64 * 2.0**-52


@dataclass(frozen=True, eq=False)
class Regression:
    """The best linear prediction of y from x under one joint distribution.

    Attributes
    ----------
    coefficients : (dx, dy) B = C_xx⁺ C_xy
    inputs : (r, dx) a factor of C_xx
    fitted : (r, dy) inputs·B, a factor of the covariance of Bᵀx
    residual : (s, dy) a factor of C_yy|x
    """

    coefficients: Array
    inputs: Array
    fitted: Array
    residual: Array


@dataclass(frozen=True, eq=False)
class JointMoments:
    """Mean and covariance (ddof 1) of the columns [x, y] of one distribution; pools as `Moments` does.

    Attributes
    ----------
    moments : those of the stacked columns, x first
    dim_x : how many of the columns are x
    """

    moments: Moments
    dim_x: int

    @classmethod
    def of_rows(cls, x: Array, y: Array) -> JointMoments:
        """From paired rows: x (n, dx) and y (n, dy), in one library or two."""
        x, y = align(x, y)
        if x.dtype != y.dtype:
            x, y = to_float64(x), to_float64(y)
        return cls(Moments.of_rows(namespace(x, y).concat([x, y], axis=1)), x.shape[1])

    @classmethod
    def of_distribution(cls, distribution: HasMoments, dim_x: int) -> JointMoments:
        """The population moments of a joint distribution, with `.mean` and `.cov`, whose first `dim_x` features are
        x."""
        return cls(Moments.of_distribution(distribution), dim_x)

    @classmethod
    def pool(cls, parts: Sequence[JointMoments], weights: Sequence[float]) -> JointMoments:
        """Joint moments of the mixture Σ λ_i P_i."""
        return cls(Moments.pool([part.moments for part in parts], weights), parts[0].dim_x)

    @property
    def count(self) -> float:
        """Rows that made it, infinity for an exact distribution."""
        return self.moments.count

    @property
    def mean_x(self) -> Array:
        return self.moments.mean[: self.dim_x]

    @property
    def mean_y(self) -> Array:
        return self.moments.mean[self.dim_x :]

    @property
    def cov_x(self) -> Array:
        """(dx, dx) covariance of x."""
        dense = self.moments.dense
        return self.root_x.T @ self.root_x if dense is None else dense[: self.dim_x, : self.dim_x]

    @property
    def root_x(self) -> Array:
        """(r, dx) columns of the joint factor: a factor of C_xx."""
        return self._root[:, : self.dim_x]

    @property
    def root_y(self) -> Array:
        """(r, dy) columns of the joint factor: a factor of C_yy."""
        return self._root[:, self.dim_x :]

    @cached_property
    def marginal_root(self) -> Array:
        """A factor of C_yy with no more rows than columns."""
        dense = self.moments.dense
        return short(self.root_y) if dense is None else _factor(dense[self.dim_x :, self.dim_x :])

    @cached_property
    def _root(self) -> Array:
        return self.moments.root if self.moments.dense is None else _factor(self.moments.dense)

    @cached_property
    def regression(self) -> Regression:
        """The regression of y on x; C_xx may be singular."""
        xp = namespace(self._root)
        # below the first dx rows a triangular factor has no x, and what it has of y is residual already
        top = self._root.shape[0]
        if top > self.dim_x and not bool(xp.any(self.root_x[self.dim_x :, :])):
            top = self.dim_x
        x, y, residual = self.root_x[:top, :], self.root_y[:top, :], self.root_y[top:, :]
        scale = xp.linalg.vector_norm(x, axis=0)
        # what differs by rounding only, 0.3 here and 0.1·3 there, would explain whatever else tells clients apart
        varies = xp.astype(scale > CONSTANT * xp.abs(self.mean_x), xp.float64)
        x, scale = x * varies[None, :], _nonzero(scale * varies)
        basis, inverse = _basis(x / scale[None, :])
        inner = basis.T @ y
        fitted = y
        if basis.shape[0] > basis.shape[1]:
            fitted = basis @ inner
            residual = xp.concat([y - fitted, residual])
        return Regression((inverse @ inner) / scale[:, None], x, fitted, residual)

    def carried_to(self, other: JointMoments) -> JointMoments:
        """This distribution's y given x, on the x of `other`: itself where both have one distribution of x."""
        if _same_x(self, other):
            return self
        mean_x, mean_y, other_mean, other_root = align(self.mean_x, self.mean_y, other.mean_x, other.root_x)
        coefficients, residual, _ = align(self.regression.coefficients, self.regression.residual, other_root)
        xp = namespace(other_root)
        mean = xp.concat([other_mean, mean_y + (other_mean - mean_x) @ coefficients])
        explained = xp.concat([other_root, other_root @ coefficients], axis=1)
        blank = xp.zeros((residual.shape[0], self.dim_x), dtype=xp.float64, device=residual.device)
        root = xp.concat([explained, xp.concat([blank, residual], axis=1)])
        return JointMoments(Moments(self.count, mean, short(root), None), self.dim_x)

    @property
    def nbytes(self) -> int:
        """Bytes to send it."""
        return self.moments.nbytes


def short(root: Array) -> Array:
    """A factor of the same covariance with no more rows than columns."""
    return triangular(root) if root.shape[0] > root.shape[1] else root


def _factor(cov: Array) -> Array:
    """R with RᵀR = cov, by way of the correlations: a small unit of x must not read as a rank too low."""
    xp = namespace(cov)
    scale = xp.sqrt(xp.clip(xp.linalg.diagonal(cov), 0.0, None))
    units = _nonzero(scale)
    return psd_root(cov / (units[:, None] * units[None, :])) * scale[None, :]


def _nonzero(scale: Array) -> Array:
    xp = namespace(scale)
    return xp.where(scale > 0, scale, xp.ones_like(scale))


def _same_x(a: JointMoments, b: JointMoments) -> bool:
    """Whether both have one distribution of x, to rounding: as they do where both were made from the same rows x."""
    mean_a, mean_b = align(a.mean_x, b.mean_x)
    cov_a, cov_b = align(a.cov_x, b.cov_x)
    xp = namespace(mean_a)
    scale = xp.sqrt(xp.linalg.diagonal(cov_a))
    apart = xp.abs(cov_a - cov_b) > SAME * scale[:, None] * scale[None, :]
    shifted = xp.abs(mean_a - mean_b) > SAME * (scale + xp.abs(mean_a))
    return not (bool(xp.any(apart)) or bool(xp.any(shifted)))


def _basis(a: Array) -> tuple[Array, Array]:
    """Q (r, k), orthonormal columns that span those of `a` (r, d), and M (d, k) with a⁺ = M Qᵀ.

    Directions in which aᵀa has eigenvalues below d·eps·λmax do not count. QR is several times faster than
    singular values, and is used where the inverse of its R shows that there are none.
    """
    xp = namespace(a)
    floor = math.sqrt(a.shape[1] * float(xp.finfo(xp.float64).eps))
    if a.shape[0] >= a.shape[1]:
        q, r = xp.linalg.qr(a, mode="reduced")
        pivots = xp.abs(xp.linalg.diagonal(r))
        if float(xp.min(pivots)) > floor * float(xp.max(pivots)):
            inverse = xp.linalg.inv(r)
            if float(xp.linalg.vector_norm(r)) * float(xp.linalg.vector_norm(inverse)) * floor < 1.0:
                return q, inverse
    u, s, vt = xp.linalg.svd(a, full_matrices=False)
    keep = s > floor * (float(s[0]) if s.shape[0] else 0.0)
    return u[:, keep], vt[keep, :].T / s[keep][None, :]
