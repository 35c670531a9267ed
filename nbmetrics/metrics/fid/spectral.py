"""Tr (C C_G)^{1/2} from few rows: the plug-in value corrected by random-matrix theory, and each row's pull on it.

    λ_i = eigenvalues of M̂ = R Ĉ Rᵀ, with RᵀR = Ĉ_G               the plug-in Σ √λ_i is too small
    S(t) = Σ λ_i/(λ_i+t)            q(t) = 1 − leverage of a row    w(t) = t/(q q_G)
    T̂ = Σ √λ_i + (2/π) ∫ (√w − √t)(−S′) dt + κ + κ_G

The map t → w takes the noise of both samples off (Marchenko & Pastur; for two samples Tiomoko & Couillet 2019, here on
the real line): (M̂+t)^{-1} behaves like (w/t)(M+w)^{-1}. κ is the next order, the real-valued term of Bai & Silverstein
(2004) and the fourth moments of the rows, from the spread of their leverages h = v yᵀ(M̂+t)^{-1}y. Integrals are
trapezoids in ln t; only the difference √w − √t is integrated, which makes that right to 1e-11 of T̂ (κ to 1e-5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import PASSING_BYTES, Array, align, like, namespace, row_blocks, subtract, to_float64, to_numpy, total
from ...summaries.moments import Moments
from ...summaries.roots import nuclear_norm
from ..stratified import Pieces, Strata, whole

STEP = 0.35
BELOW, ABOVE = 13.0, 14.0
# Of the traces: how exactly the plug-in is computed.
PRECISION = 1e-11
# Of the mean of 1 − h: what is left of a row's direction without it counts as at least this much. A row almost alone
# in a direction would otherwise decide κ; with 0.4 nothing is lost from 1.5 rows a direction on.
LEAST_LEFT = 0.4


@dataclass(frozen=True, eq=False)
class Grid:
    """The eigenvalues of M̂, and the points t at which the integrals are summed."""

    values: np.ndarray

    @cached_property
    def t(self) -> np.ndarray:
        low, high = math.log(self.values.min()) - BELOW, math.log(self.values.max()) + ABOVE
        return np.exp(np.arange(low, high + STEP, STEP))

    @cached_property
    def inverse(self) -> np.ndarray:
        """1/(λ_i + t), (points, eigenvalues)."""
        return 1.0 / (self.values + self.t[:, None])

    @cached_property
    def s(self) -> np.ndarray:
        """S(t)."""
        return self.inverse @ self.values

    @cached_property
    def slope(self) -> np.ndarray:
        """−S′(t)."""
        return self.inverse**2 @ self.values

    @cached_property
    def spread(self) -> np.ndarray:
        """Σ λ²/(λ+t)²: half the variance of yᵀ(M+t)^{-1}y for normal rows."""
        return self.inverse**2 @ self.values**2

    def integral(self, f: np.ndarray) -> float:
        """∫ f dt."""
        return float(STEP * np.sum(f * self.t))


class Stratum:
    """What the rows of one part say at every point of the grid.

    A row is z + δ: its distance z from the mean of its part is noise, that mean's distance δ from the mean of all is
    given. With Q = (M̂+t)^{-1} and the weight v of a row in M̂, 1/(n−1) for one part:

    Attributes
    ----------
    leverages, falls : mean of h = v(z+δ)ᵀQ(z+δ) and of −dh/dt, and the same of z alone
    forces : mean of zᵀQ²z/(1−h)², and δᵀQ²δ
    level : mean of h/v of z; all of S(t) where the part is the only one
    within, without : variance of h/v and of h/v(1−h), less half of what 2zᵀQδ adds to it
    pulls : (n,) of each row on T̂
    norms : mean and mean square of ‖z‖²
    """

    def __init__(self, rows: Array, share: float, mean: Array, shift: Array, axes: Array, grid: Grid, about: About):
        n = rows.shape[0]
        self.n, self.share, self.v = n, share, share * (n - 1.0 + share) / (n * (n - 1.0))
        swell, squared_shift = n / (n - 1.0), to_numpy(shift) ** 2
        xp, least = namespace(axes), like(LEAST_LEFT / (1.0 + self.v * about.e), axes)
        inverse, squared_inverse = (like(m, axes) for m in (grid.inverse.T, (grid.inverse**2).T))
        level, weight = like(grid.s, axes), like(about.weight, axes)
        sums, norms = np.zeros((8, grid.t.size)), np.zeros(2)
        self.influence_values = np.empty(n)
        for block in row_blocks(n, 80 * grid.t.size + 24 * axes.shape[0], 2 * PASSING_BYTES):
            centred, own_axes = align(subtract(to_float64(rows[block, :]), mean), axes)
            z = centred @ own_axes
            form, form2 = swell * (z**2 @ inverse), z**2 @ squared_inverse
            cross = 2.0 * ((z * shift) @ inverse)
            left = xp.maximum(1.0 - self.v * form, least)
            self.influence_values[block] = to_numpy(((z + shift) ** 2 @ squared_inverse / left) @ weight)
            # about S(t), so that their variances lose no digits
            inside, outside = form - level, form / left - level
            first = inside, outside, form2, form2 / left**2
            second = (inside + cross) ** 2, cross**2, (outside + cross / left) ** 2, (cross / left) ** 2
            sums += to_numpy(xp.stack([xp.sum(x, axis=0) for x in (*first, *second)]))
            length = xp.sum(z**2, axis=1)
            norms += [total(length), total(length**2)]
        inside, outside, form2, force, inside2, cross2, outside2, cross_left2 = sums / n
        self.level = inside + grid.s
        self.within = inside2 - inside**2 - 0.5 * cross2
        self.without = outside2 - outside**2 - 0.5 * cross_left2
        between, between2 = grid.inverse @ squared_shift, grid.inverse**2 @ squared_shift
        self.leverages = self.v * (self.level + between), self.v * self.level
        self.falls = self.v * (swell * form2 + between2), self.v * swell * form2
        self.forces = force, between2
        self.norms = norms / n


@dataclass(frozen=True, eq=False)
class About:
    """A first guess that the pass over the rows starts from: as if all rows of a side weighed and varied alike.

    Attributes
    ----------
    e : S/q; rows of weight v have leverages of about v e/(1 + v e)
    weight : √w dt/π, of the pulls
    """

    e: np.ndarray
    weight: np.ndarray


class Side:
    """One side of a pair, real or generated: how its noise moves t to t/q, and its κ.

    What lies between the means of its parts is given and not drawn; only the noise of those means is noise.

    `parts` : None for a distribution
    """

    def __init__(self, parts: Sequence[Stratum | None], grid: Grid) -> None:
        self.grid, self.parts = grid, parts
        self.noisy = [part for part in self.parts if part is not None]

    @property
    def influence_values(self) -> tuple[np.ndarray | None, ...]:
        return tuple(None if part is None else part.influence_values for part in self.parts)

    def _average(self, values: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
        """Over the noise and the means of all parts, as they move Tr (M̂+t)^{-1}."""
        forces = np.array([[part.share * force for force in part.forces] for part in self.noisy])
        return np.sum(forces * np.array(values), axis=(0, 1)) / forces.sum(axis=(0, 1))

    @cached_property
    def q(self) -> np.ndarray:
        """1 minus the leverage of a row."""
        if not self.noisy:
            return np.ones_like(self.grid.t)
        return 1.0 - self._average([part.leverages for part in self.noisy])

    @cached_property
    def kappa(self) -> float:
        """Mean of the two estimates, from leverages with and without the row's own part in M̂."""
        if not self.noisy:
            return 0.0
        grid, q, t = self.grid, self.q, self.grid.t
        stretch = (q - t * self._average([part.falls for part in self.noisy])) / q**2
        spread = grid.s - t / q * grid.slope / stretch
        outer, inner = np.zeros_like(t), np.zeros_like(t)
        for part in self.noisy:
            squares, own = (part.n - 1.0) * part.v**2, (part.level / grid.s) ** 2
            outer += squares * (part.without * q**2 - own * spread)
            inner += squares * (part.within - own * grid.spread)
        both = grid.integral(np.sqrt(q / t) * outer * stretch + inner / np.sqrt(t))
        return both / (8.0 * math.pi)

    @property
    def norm_spread(self) -> float:
        """How much the rows' squared norms vary beyond normal rows of this spectrum, over their mean squared."""
        if not self.noisy:
            return 0.0
        mean, square = sum(part.share * part.norms for part in self.noisy)
        if not mean > 0.0:
            return 0.0
        values = self.grid.values
        return float(square / mean**2 - 1.0 - 2.0 * np.sum(values**2) / np.sum(values) ** 2)


def _side(strata: Strata[Moments], axes: Array, grid: Grid, about: About) -> Pieces[Side]:
    """A side, part after part."""
    parts: list[Stratum | None] = []
    for rows, share, own in zip(strata.rows, strata.shares, strata.parts, strict=True):
        shift, own_axes = align(subtract(own.mean, strata.summary.mean), axes)
        stratum = None if rows is None else Stratum(rows, share, own.mean, shift @ own_axes, axes, grid, about)
        parts.append(stratum)
        yield
    return Side(parts, grid)


@dataclass(frozen=True, eq=False)
class TraceEstimate:
    """Tr (C C_G)^{1/2} between two sides.

    Attributes
    ----------
    value : T̂
    norm_spread : how much the rows' squared lengths vary beyond those of normal rows, over their mean squared
    directions : (Σ λ)²/Σ λ², how many of them share the variance
    real, generated : each row's pull on T̂, part by part
    """

    value: float
    norm_spread: float
    directions: float
    real: tuple[np.ndarray | None, ...]
    generated: tuple[np.ndarray | None, ...]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two sides and the spectrum between them."""

    real: Strata[Moments]
    generated: Strata[Moments]

    def estimate(self) -> TraceEstimate:
        """T̂ and what each row adds to it."""
        return whole(self.pieces())

    def pieces(self) -> Pieces[TraceEstimate]:
        """The same in pieces; matrices of all directions go as soon as they are not needed."""
        sides = self.real, self.generated
        a, r = align(self.real.summary.root, self.generated.summary.root)
        p = a @ r.T
        scale = (float(namespace(p).max(namespace(p).abs(p))) if 0 not in p.shape else 0.0) or 1.0
        p /= scale
        yield
        values, vectors = _spectrum(p)
        yield
        if not len(values):
            still, also = ([None if x is None else np.zeros(x.shape[0]) for x in side.rows] for side in sides)
            return TraceEstimate(0.0, 0.0, 0.0, tuple(still), tuple(also))
        product = p @ vectors
        plain = nuclear_norm(p, PRECISION * (self.real.summary.trace + self.generated.summary.trace) / scale)
        del p
        yield
        axes = [a.T @ product, r.T @ vectors]
        del product, vectors
        axes[0] /= like(scale * np.sqrt(values), axes[0])
        axes[1] /= scale
        grid = Grid(values)
        q = [1.0 - grid.s * side.lost / (1.0 - side.lost) for side in sides]
        weight = scale * np.sqrt(grid.t / (q[0] * q[1])) * grid.t * STEP / math.pi
        yield
        first = yield from _side(self.real, axes.pop(), grid, About(grid.s / q[0], weight))
        second = yield from _side(self.generated, axes.pop(), grid, About(grid.s / q[1], weight))
        shifted = grid.t / (first.q * second.q)
        shift = 2.0 / math.pi * grid.integral((np.sqrt(shifted) - np.sqrt(grid.t)) * grid.slope)
        norm_spread = max(first.norm_spread, second.norm_spread)
        value = scale * (plain + shift + first.kappa + second.kappa)
        return TraceEstimate(
            value,
            norm_spread,
            float(values.sum() ** 2 / (values**2).sum()),
            first.influence_values,
            second.influence_values,
        )


def _spectrum(p: Array) -> tuple[np.ndarray, Array]:
    """The eigenvalues of M̂ = PᵀP that are not rounding, from small to large, and their vectors (r, rank)."""
    values, vectors = namespace(p).linalg.eigh(p.T @ p)
    eigenvalues = to_numpy(values)
    rounding = max(p.shape) * 2.0**-52 * eigenvalues.max(initial=0.0)
    first = int(np.searchsorted(eigenvalues, rounding, side="right"))
    return eigenvalues[first:], vectors[:, first:]
