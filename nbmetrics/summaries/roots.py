"""Roots of covariances that keep small variances, and the trace term of Fréchet distances made with them.

A root R of C_G (RᵀR = C_G) whose rows go from large to small makes R C Rᵀ and Gram matrices of A Rᵀ graded: their
small eigenvalues are right relative to themselves, not only to the largest (Demmel and Veselić, SIAM J. Matrix
Anal. Appl. 13, 1992). So Tr (C C_G)^{1/2} = Σ √λ(R C Rᵀ) = ‖A Rᵀ‖_* with AᵀA = C comes from eigenvalues, several
times faster than singular values, with their digits; where no bound proves that, from singular values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from array_api_compat import is_torch_array

from ..arrays import Array, cholesky, clear_lower, namespace, spectral_root, svdvals, uniform_blocks

# Rows of a matrix that are moved at a time.
TILE = 256
EPS = float(np.finfo(np.float64).eps)
# Of the logarithm of a determinant: rounding was seen to move it by 2e-5 where the smallest eigenvalue is 1e-20 of the
# largest. An eigenvalue that is noise moves it by more, or is right to 1e-4.
SAME_LOG = 1e-4


@dataclass(frozen=True, eq=False)
class GradedRoot:
    """A factor R of a positive semi-definite c (RᵀR = c) whose rows go from large to small.

    Attributes
    ----------
    lower : (d, r) Rᵀ, its columns from large to small; with `order`, lower triangular
    order : (d,) the feature of each row of `lower`, or None where features are as given
    """

    lower: Array
    order: np.ndarray | None

    @classmethod
    def of(cls, c: Array, *, overwrite: bool = False) -> GradedRoot:
        """By pivoted Cholesky (NumPy) or eigenvectors (torch, which has none); noise of singular c is left out.

        `c` may be written over where `overwrite`.
        """
        if is_torch_array(c):
            return cls(namespace(c).flip(spectral_root(c).T, axis=1), None)
        from scipy.linalg.lapack import dpstrf

        variances = c.diagonal().copy()
        lower, order, rank, _ = dpstrf(c.T, lower=1, tol=0.0, overwrite_a=overwrite)
        lower, order = clear_lower(lower.T).T, order - 1
        # what is left of a variance is noise below d·eps of it, whatever the other variances are
        signal = lower.diagonal()[:rank] ** 2 > len(c) * EPS * variances[order[:rank]]
        if len(c) == signal.sum():
            return cls(lower, order)
        return cls(lower[np.argsort(order), :rank][:, signal], None)

    @cached_property
    def rows(self) -> Array:
        """R, (r, d)."""
        return self.lower.T if self.order is None else np.take(self.lower.T, np.argsort(self.order), axis=1)

    def times(self, a: Array) -> Array:
        """`a` Rᵀ, at half the cost where `lower` is a triangle."""
        if self.order is None:
            return a @ self.lower
        from scipy.linalg.blas import dtrmm

        return dtrmm(1.0, self.lower, np.take(a, self.order, axis=1).T, lower=1, trans_a=1, overwrite_b=1).T

    def congruent(self, c: Array) -> Array:
        """R `c` Rᵀ for a symmetric `c`; where `lower` is a triangle at a quarter of the cost, its lower half only."""
        if self.order is None:
            return self.lower.T @ c @ self.lower
        from scipy.linalg.lapack import dsygst

        aligned = np.zeros(c.shape)
        for rows in uniform_blocks(len(c), TILE):
            aligned[rows, rows.start :] = np.take(c[self.order[rows]], self.order[rows.start :], axis=1)
        return dsygst(aligned.T, self.lower, itype=2, lower=1, overwrite_a=1)[0]


def congruent_values(c: Array, root: GradedRoot, tolerance: float) -> Array | None:
    """√ of the eigenvalues of R c Rᵀ, whose sum is Tr (c C_G)^{1/2}, or None where that may be off by more.

    Rounding in R c Rᵀ is as if c had been rounded; it is refused where c along a row of R is no more than that.
    """
    xp = namespace(c)
    product = root.congruent(c)
    lengths = xp.linalg.vecdot(root.lower, root.lower, axis=0)
    floor = c.shape[0] * EPS * float(xp.max(xp.linalg.diagonal(c)))
    if product.shape[0] == 0 or not bool(xp.all(xp.linalg.diagonal(product) > floor * lengths)):
        return None
    return _roots_of_values(product, tolerance)


def nuclear_norm(a: Array, tolerance: float) -> float:
    """Σ singular values of `a`, to within `tolerance` (absolute)."""
    return float(namespace(a).sum(singular_values(a, tolerance)))


def singular_values(a: Array, tolerance: float) -> Array:
    """The singular values of `a`, their sum to within `tolerance`; fastest where columns go from large to small."""
    if min(a.shape) > 64:
        values = _roots_of_values(a @ a.T if a.shape[0] < a.shape[1] else a.T @ a, tolerance)
        if values is not None:
            return values
    return svdvals(a)


def _roots_of_values(gram: Array, tolerance: float) -> Array | None:
    """√λ of a positive semi-definite matrix given by its lower triangle, or None where their sum may be off by more.

    Of two bounds on the error one must hold: that of any matrix, whose eigenvalues are right to eps of the largest,
    or that of a graded one. `gram` may be written over.
    """
    xp = namespace(gram)
    values = xp.linalg.eigvalsh(gram, UPLO="L")  # of a graded matrix the other triangle loses digits
    error = 8.0 * EPS * float(values[-1])
    values = xp.clip(values, 0.0, None)
    loss = xp.sqrt(values + error) - xp.sqrt(values)
    if float(xp.sum(loss)) <= tolerance or (_is_graded(gram, tolerance) and _has_determinant(gram, values)):
        return xp.sqrt(values)
    return None


def _has_determinant(gram: Array, values: Array) -> bool:
    """Whether eigenvalues multiply to the determinant, which a Cholesky factor has with the digits of a graded matrix.

    `gram` is written over.

    Not every way to eigenvalues keeps them: on some processors the smallest come out as rounding of the largest.
    """
    xp = namespace(gram)
    factor = cholesky(gram, overwrite=True)
    if factor is None or not float(xp.min(values)) > 0.0:
        return False
    logs = 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(factor))))
    return abs(float(xp.sum(xp.log(values))) - logs) <= SAME_LOG


def _is_graded(gram: Array, tolerance: float) -> bool:
    """Whether errors of 8 eps √(M_ii M_jj) in a positive definite M move Σ √λ by less than `tolerance`.

    With D the diagonal and H = D^{-1/2} M D^{-1/2}, they move it to first order by ½ |Tr M^{-1/2} E|, at most
    4 eps Σ D_ii (M^{-1/2})_ii ≤ 4 eps Σ √D_ii √(H^{-1})_ii (Jensen) ≤ 4 eps Σ √D_ii / √θ where H ≥ θ, which is
    what a Cholesky factor of H − θ proves.
    """
    xp = namespace(gram)
    d = gram.shape[0]
    diagonal = xp.linalg.diagonal(gram)
    if not float(xp.min(diagonal)) > 0.0:
        return False
    scale = xp.sqrt(diagonal)
    least = (4.0 * EPS * float(xp.sum(scale)) / tolerance) ** 2
    least = max(least, 8.0 * d * EPS)  # below that, a factor may be made of rounding
    if least >= 1.0:
        return False
    scaled = gram / scale[:, None]
    scaled /= scale[None, :]
    own = range(d)
    scaled[own, own] -= least
    return cholesky(scaled, overwrite=True) is not None
