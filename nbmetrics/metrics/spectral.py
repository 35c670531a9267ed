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

from ..arrays import Array, align, like, namespace, row_blocks, subtract, to_float64, to_numpy
from ..roots import nuclear_norm
from ..summaries import Moments
from .strata import Strata

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


def expected_q(grid: Grid, lost: float) -> np.ndarray:
    """q as it would be if all rows weighed alike: 1 − S/(n−1)."""
    return 1.0 - grid.s * lost / (1.0 - lost)


class Stratum:
    """What the rows of one part say at every point of the grid.

    Attributes
    ----------
    v : weight of a row in M̂ = Σ v yyᵀ, λ_i/n_i over 1 − Σ λ²/n, which is 1/(n−1) for one part
    leverage, fall, force : mean h, mean −dh/dt, and mean of yᵀQ²y/(1−h)² with Q = (M̂+t)^{-1}
    level : mean of h/v(1−h), which is about yᵀ(M+w)^{-1}y·t/w without the row's own part in M̂
    within, without : variance of h/v and of h/v(1−h)
    pulls : (n,) of each row on T̂
    norms : mean and mean square of ‖y‖²
    """

    def __init__(
        self, rows: Array, share: float, lost: float, mean: Array, axes: Array, grid: Grid, weight: np.ndarray
    ):
        n = rows.shape[0]
        self.n, self.share, self.v = n, share, share / n / (1.0 - lost)
        reach, points = self.v / (1.0 - share / n), grid.t.size
        least = LEAST_LEFT / (1.0 + self.v * grid.s / expected_q(grid, lost))
        inverse, squared_inverse = (like(m, axes) for m in (grid.inverse.T, (grid.inverse**2).T))
        sums, norms = np.zeros((6, points)), np.zeros(2)
        self.pulls = np.empty(n)
        for block in row_blocks(n, 64 * points + 16 * axes.shape[0]):
            centred, own_axes = align(subtract(to_float64(rows[block, :]), mean), axes)
            squares = (centred @ own_axes) ** 2
            form, form2 = to_numpy(squares @ inverse), to_numpy(squares @ squared_inverse)
            left = np.maximum(1.0 - reach * form, least)
            self.pulls[block] = (form2 / left) @ weight
            # about S(t), so that their variances lose no digits
            inside, outside = form * (reach / self.v) - grid.s, form * (reach / self.v) / left - grid.s
            sums += [x.sum(axis=0) for x in (form, form2, form2 / left**2, inside**2, outside, outside**2)]
            length = to_numpy(squares).sum(axis=1)
            norms += [length.sum(), (length**2).sum()]
        form, form2, self.force, inside2, outside, outside2 = sums / n
        self.leverage, self.fall, self.level = reach * form, reach * form2, outside + grid.s
        self.within = inside2 - (reach / self.v * form - grid.s) ** 2
        self.without = outside2 - outside**2
        self.norms = norms / n


class Side:
    """One side of a pair, real or generated: how its noise moves t to t/q, and its κ."""

    def __init__(self, strata: Strata[Moments], axes: Array, grid: Grid, weight: np.ndarray) -> None:
        self.grid, self.lost = grid, strata.lost
        self.parts = [
            None if rows is None else Stratum(rows, share, strata.lost, strata.summary.mean, axes, grid, weight)
            for rows, share in zip(strata.rows, strata.shares, strict=True)
        ]
        self.noisy = [part for part in self.parts if part is not None]

    @property
    def pulls(self) -> tuple[np.ndarray | None, ...]:
        return tuple(None if part is None else part.pulls for part in self.parts)

    def _average(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Over the parts, as they move Tr (M̂+t)^{-1}."""
        forces = np.array([part.share * part.force for part in self.noisy])
        return np.sum(forces * np.array(values), axis=0) / forces.sum(axis=0)

    @cached_property
    def q(self) -> np.ndarray:
        """1 minus the leverage of a row."""
        if not self.noisy:
            return np.ones_like(self.grid.t)
        return 1.0 - self._average([part.leverage for part in self.noisy])

    @cached_property
    def kappa(self) -> float:
        """Mean of the two estimates, from leverages with and without the row's own part in M̂."""
        if not self.noisy:
            return 0.0
        grid, q, t = self.grid, self.q, self.grid.t
        stretch = (q - t * self._average([part.fall for part in self.noisy])) / q**2
        spread = grid.s - t / q * grid.slope / stretch
        level = sum(part.share * part.level for part in self.noisy)
        outer, inner = np.zeros_like(t), np.zeros_like(t)
        for part in self.noisy:
            own, squares = (part.level / level) ** 2, part.n * part.v**2
            outer += squares * (part.without * q**2 - own * spread)
            inner += squares * (part.within - own * grid.spread)
        both = grid.integral(np.sqrt(q / t) * outer * stretch + inner / np.sqrt(t))
        return (1.0 - self.lost) * both / (8.0 * math.pi)

    @property
    def norm_spread(self) -> float:
        """How much the rows' squared norms vary beyond normal rows of this spectrum, over their mean squared."""
        if not self.noisy:
            return 0.0
        mean, square = sum(part.share * part.norms for part in self.noisy)
        values = self.grid.values
        return float(square / mean**2 - 1.0 - 2.0 * np.sum(values**2) / np.sum(values) ** 2)


@dataclass(frozen=True, eq=False)
class TraceEstimate:
    """Tr (C C_G)^{1/2} between two sides.

    Attributes
    ----------
    value : T̂
    is_strained : whether the rows' norms vary too much for κ
    real, generated : each row's pull on T̂, part by part
    """

    value: float
    is_strained: bool
    real: tuple[np.ndarray | None, ...]
    generated: tuple[np.ndarray | None, ...]


# Beyond this excess of the squared norms' variance the correction was seen to fail.
STRAINED = 0.3


@dataclass(frozen=True, eq=False)
class Pair:
    """Two sides and the spectrum between them."""

    real: Strata[Moments]
    generated: Strata[Moments]

    @cached_property
    def _scaled(self) -> tuple[Array, Array, Array, float]:
        """A/c, R/c and P = A Rᵀ/c, with singular values √λ_i, in one library; c, the largest entry of A Rᵀ."""
        first, second = align(self.real.summary.root, self.generated.summary.root)
        p = first @ second.T
        c = float(namespace(p).max(namespace(p).abs(p))) or 1.0
        return first / c, second / c, p / c, c

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, Array]:
        """The eigenvalues of M̂ that are not rounding, and their vectors (r, rank)."""
        p = self._scaled[2]
        values, vectors = namespace(p).linalg.eigh(p.T @ p)
        found = to_numpy(values)
        kept = np.flatnonzero(found > max(p.shape) * 2.0**-52 * found[-1])
        return found[kept], vectors[:, kept]

    @property
    def rank(self) -> int:
        """In how many directions both sides vary."""
        return len(self._spectrum[0])

    def estimate(self) -> TraceEstimate:
        """T̂ and what each row adds to it."""
        (a, r, p, scale), (values, vectors) = self._scaled, self._spectrum
        sides = self.real, self.generated
        if not len(values):
            still, also = ([None if x is None else np.zeros(x.shape[0]) for x in side.rows] for side in sides)
            return TraceEstimate(0.0, False, tuple(still), tuple(also))
        grid = Grid(values)
        about = grid.t
        for side in sides:
            about = about / expected_q(grid, side.lost)
        weight = scale * np.sqrt(about) * grid.t * STEP / math.pi
        axes = r.T @ vectors, a.T @ (p @ vectors) / like(np.sqrt(values), p)
        first, second = (Side(side, own, grid, weight) for side, own in zip(sides, axes, strict=True))
        moved = grid.t / (first.q * second.q)
        shift = 2.0 / math.pi * grid.integral((np.sqrt(moved) - np.sqrt(grid.t)) * grid.slope)
        plain = nuclear_norm(p, PRECISION * (self.real.summary.trace + self.generated.summary.trace) / scale)
        strained = max(first.norm_spread, second.norm_spread) > STRAINED
        value = scale * (plain + shift + first.kappa + second.kappa)
        return TraceEstimate(value, strained, first.pulls, second.pulls)
