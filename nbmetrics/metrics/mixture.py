"""The density behind FLD: one isotropic Gaussian on every centre, variances by maximum likelihood.

Flow: `Scale` z-scores by the test rows → `SquaredDistances` of the fitted rows to the centres → `fit` runs
accelerated EM on the log-variances → `MixtureDensity` scores other rows.

Everything is float64 and in blocks of rows, so memory grows with neither n·m nor n·d beyond `KEPT_BYTES`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, device, mean_rows, memory, namespace, row_blocks, to_float64
from ..errors import InvalidInput, caller_level

# Distances up to this size are computed once; beyond it, anew for every pass of the fit.
KEPT_BYTES = 400 * 2**20
# What the passes of one E-step work on should stay in a core's cache.
CACHE_BYTES = 2**19
LARGEST_LOG_VARIANCE = 40.0
# The origin component: a broad Gaussian about the mean of the fitted rows that takes the hopeless ones.
ORIGIN_SHRINKAGE = 0.81
# The fit stops when a pass gains less than this, in nats per dimension (1e-4 of an FLD point).
GAIN = 1e-6
MOST_PASSES = 500
LOG_2PI = math.log(2.0 * math.pi)
# Of ‖x‖² + ‖y‖²: below it the matrix product has lost digits, and a distance is summed directly.
CLOSE = 1e-6
# A component whose mass is below this takes part in nothing, and its variance cannot be told.
NO_MASS = 1e-280
# A feature that varies less, as a share of its mean or at all, is constant but for rounding.
ROUNDING = 1e-14
SMALLEST_SPREAD = 1e-60
SMALLEST_VARIANCE = math.exp(-LARGEST_LOG_VARIANCE)
# Exponents below it count as this one: NumPy takes eight times as long for an exponential that underflows.
LOWEST_EXPONENT = -700.0
# Of extrapolation, in EM steps; longer ones overshot into worse optima.
LONGEST_LEAP = 10.0


class ConstantFeatureWarning(UserWarning):
    """A feature that is the same in every test row was dropped: it has no scale."""


@dataclass(frozen=True, eq=False)
class Scale:
    """z-scores by the mean and standard deviation (ddof 1) of the test rows; constant features are dropped.

    Attributes
    ----------
    mean, spread : (d,) float64 of the features kept
    kept : indices of those features, or None for all
    """

    mean: Array
    spread: Array
    kept: Array | None

    @classmethod
    def of(cls, test: Array) -> Scale:
        """From test rows (n, d), n ≥ 2; warns of dropped features, and raises where none is left."""
        xp = namespace(test)
        mean = mean_rows(test)
        total = xp.zeros_like(mean)
        for block in row_blocks(test.shape[0], 16 * test.shape[1]):
            total += xp.sum((to_float64(test[block, :]) - mean) ** 2, axis=0)
        spread = xp.sqrt(total / (test.shape[0] - 1))
        varies = (spread > ROUNDING * xp.abs(mean)) & (spread > SMALLEST_SPREAD)
        kept = xp.nonzero(varies)[0]
        dropped = test.shape[1] - kept.shape[0]
        if not dropped:
            return cls(mean, spread, None)
        if dropped == test.shape[1]:
            raise InvalidInput("test", "has the same value in every row", "Give test rows that differ")
        _warn_of_constant(dropped, test.shape[1])
        return cls(mean[kept], spread[kept], kept)

    @property
    def dim(self) -> int:
        """The number of features kept."""
        return int(self.mean.shape[0])

    def __call__(self, rows: Array) -> Array:
        """The rows z-scored, float64."""
        return (to_float64(self.without_dropped(rows)) - self.mean) / self.spread

    def without_dropped(self, rows: Array) -> Array:
        """The rows without the dropped features."""
        return rows if self.kept is None else rows[:, self.kept]


def _warn_of_constant(dropped: int, total: int) -> None:
    features = "1 feature is" if dropped == 1 else f"{dropped} features are"
    text = f"{features} constant in the test rows (of {total}): dropped, because a z-score has no scale there"
    warnings.warn(text, ConstantFeatureWarning, stacklevel=caller_level())


class Centres:
    """Rows (m, d) that carry a Gaussian each, in z-scores shifted to their own mean.

    Distances do not change by the shift, and a matrix product keeps more of their digits.
    """

    def __init__(self, rows: Array, scale: Scale) -> None:
        mean = mean_rows(rows)
        self.scale = replace(scale, mean=mean if scale.kept is None else mean[scale.kept])
        self.rows = self.scale(rows)
        self.along = namespace(rows).sum(self.rows**2, axis=1)

    @property
    def count(self) -> int:
        return int(self.rows.shape[0])


class SquaredDistances:
    """‖x_i − y_j‖² of rows x (n, d) to centres y (m, d), in z-scores, handed out in row blocks.

    A matrix product gives them; pairs so close that it lost their digits are summed directly, so a copy is
    at distance 0 exactly.
    """

    def __init__(self, rows: Array, centres: Centres, *, keep: bool = True) -> None:
        self.rows, self.centres, self.scale = rows, centres, centres.scale
        self.n, self.m = rows.shape[0], centres.count
        # Only NumPy runs a pass operation by operation on one core; elsewhere small blocks are overhead.
        self._part_bytes = CACHE_BYTES if isinstance(centres.rows, np.ndarray) else memory.block_bytes
        small = keep and 8 * self.n * self.m <= min(KEPT_BYTES, 6 * memory.block_bytes)
        self._kept = [self._compute_squared(block) for block in self._large_blocks()] if small else None

    def _large_blocks(self) -> Iterator[slice]:
        return row_blocks(self.n, 8 * (self.m + 2 * self.scale.dim), memory.block_bytes)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """(rows, their squared distances) until all rows were seen; not to be written to."""
        for index, block in enumerate(self._large_blocks()):
            squared = self._compute_squared(block) if self._kept is None else self._kept[index]
            for part in row_blocks(squared.shape[0], 8 * self.m, self._part_bytes):
                yield slice(block.start + part.start, block.start + part.stop), squared[part, :]

    def _compute_squared(self, block: slice) -> Array:
        xp = namespace(self.centres.rows)
        rows = self.scale(self.rows[block, :])
        across, along = xp.sum(rows**2, axis=1)[:, None], self.centres.along[None, :]
        squared = rows @ self.centres.rows.T
        for part in row_blocks(rows.shape[0], 8 * self.m, self._part_bytes):
            view = squared[part, :]
            scale = across[part, :] + along
            view *= -2.0
            view += scale
            scale *= CLOSE
            close = view <= scale
            if bool(xp.any(close)):
                self._sum_directly(view, rows[part, :], close)
        return squared

    def _sum_directly(self, squared: Array, rows: Array, pairs: Array) -> None:
        xp = namespace(squared)
        i, j = xp.nonzero(pairs)
        for some in row_blocks(i.shape[0], 24 * rows.shape[1], memory.block_bytes / 4):
            apart = rows[i[some], :] - self.centres.rows[j[some], :]
            squared[i[some], j[some]] = xp.sum(apart**2, axis=1)

    def nearest(self) -> Array:
        """(m,) squared distance of each centre to its nearest row."""
        xp = namespace(self.centres.rows)
        lowest = xp.full((self.m,), math.inf, dtype=xp.float64, device=device(self.centres.rows))
        for _, squared in self.blocks():
            lowest = xp.minimum(lowest, xp.min(squared, axis=0))
        return lowest

    def to_their_mean(self) -> Array:
        """(n,) squared distance of each row to the mean of the rows."""
        xp = namespace(self.centres.rows)
        mean = self.scale(mean_rows(self.rows)[None, :])
        blocks = row_blocks(self.n, 24 * self.scale.dim)
        return xp.concat([xp.sum((self.scale(self.rows[block, :]) - mean) ** 2, axis=1) for block in blocks])


@dataclass(frozen=True, eq=False)
class MixtureDensity:
    """The fitted mixture (1/m) Σ_j N(centre_j, variance_j·I); log-densities are z-scored nats per dimension.

    Attributes
    ----------
    fitted_to : distances of the rows it was fitted to
    log_variance : (m,)
    objective : mean log-density of those rows per dimension, the origin component included
    passes : E-steps the fit took
    """

    fitted_to: SquaredDistances
    log_variance: Array
    objective: float
    passes: int

    def at_fitted_rows(self) -> Array:
        """(n,) log-density of the rows it was fitted to, without the origin component."""
        return self._at(self.fitted_to)

    def at(self, rows: Array) -> Array:
        """(k,) log-density of other rows (k, d), which are given before z-scoring."""
        return self._at(SquaredDistances(rows, self.fitted_to.centres, keep=False))

    @np.errstate(under="ignore")
    def peaks(self) -> Array:
        """(m,) for each component, its highest log-density (alone, without its weight) over the fitted rows."""
        xp = namespace(self.log_variance)
        exponent = self.fitted_to.nearest() * xp.exp(-self.log_variance) / self.fitted_to.scale.dim
        return -0.5 * (exponent + self.log_variance + LOG_2PI)

    @np.errstate(under="ignore")
    def _at(self, distances: SquaredDistances) -> Array:
        xp = namespace(self.log_variance)
        slope = -0.5 * xp.exp(-self.log_variance)
        level = -0.5 * distances.scale.dim * self.log_variance - math.log(distances.m)
        parts, work = [], _Work()
        for _, squared in distances.blocks():
            exponent = work.product(squared, slope)
            exponent += level
            top = xp.max(exponent, axis=1)
            exponent -= top[:, None]
            parts.append(top + xp.log(xp.sum(_exponential(exponent), axis=1)))
        return xp.concat(parts) / distances.scale.dim - 0.5 * LOG_2PI


class _Work:
    """Room for a product that is used again: to take it from the system anew costs as much as all the arithmetic."""

    def __init__(self) -> None:
        self._room: Array | None = None

    def product(self, block: Array, factor: Array) -> Array:
        xp, n = namespace(block), block.shape[0]
        if self._room is None or self._room.shape[0] < n:
            self._room = xp.empty_like(block)
        return xp.multiply(block, factor, out=self._room[:n, :])


def _exponential(exponent: Array) -> Array:
    """exp, in place."""
    xp = namespace(exponent)
    lowest = xp.asarray(LOWEST_EXPONENT, dtype=exponent.dtype, device=device(exponent))
    return xp.exp(xp.maximum(exponent, lowest, out=exponent), out=exponent)


@np.errstate(under="ignore")
def fit(rows: Array, centres: Array, scale: Scale) -> MixtureDensity:
    """The maximum-likelihood mixture on `centres` (m, d) for `rows` (n, d), both before z-scoring.

    EM on the log-variances with squared extrapolation (SQUAREM, Varadhan & Roland 2008); a leap that lowers
    the likelihood is taken back, so the objective never gets worse.
    """
    distances = SquaredDistances(rows, Centres(centres, scale))
    e_step = _EStep(distances)
    here = e_step(e_step.start())
    while e_step.passes < MOST_PASSES:
        following = e_step(here.update)
        if following.objective - here.objective < GAIN:
            here = max(here, following, key=lambda point: point.objective)
            break
        leap = e_step(_leap(here.log_variance, here.update, following.update))
        here = leap if leap.objective > following.objective else following
    return MixtureDensity(distances, here.log_variance[:-1], here.objective, e_step.passes)


def _leap(start: Array, first: Array, second: Array) -> Array:
    """Where two EM steps point to: steplength S3 of SQUAREM."""
    xp = namespace(start)
    step, bend = first - start, (second - first) - (first - start)
    length = float(xp.linalg.vector_norm(step)) / max(float(xp.linalg.vector_norm(bend)), 1e-300)
    length = min(max(length, 1.0), LONGEST_LEAP)
    return _clamp(start + 2.0 * length * step + length**2 * bend)


def _clamp(log_variance: Array) -> Array:
    return namespace(log_variance).clip(log_variance, -LARGEST_LOG_VARIANCE, LARGEST_LOG_VARIANCE)


@dataclass(frozen=True, eq=False)
class _Point:
    """Log-variances (m + 1,), the origin's last; the objective there; where EM goes from there."""

    log_variance: Array
    objective: float
    update: Array


class _EStep:
    """One pass over the distances: the objective at some log-variances, and EM's next ones."""

    def __init__(self, distances: SquaredDistances) -> None:
        self.distances = distances
        self.origin = ORIGIN_SHRINKAGE * distances.to_their_mean()
        self.dim = distances.scale.dim
        self.passes = 0
        self._work = _Work()

    def start(self) -> Array:
        """log σ² with σ_j² = (min_i D_ij² + 1e-3)/d."""
        xp = namespace(self.origin)
        nearest = xp.concat([self.distances.nearest(), xp.min(self.origin)[None]])
        return _clamp(xp.log((nearest + 1e-3) / self.dim))

    def __call__(self, log_variance: Array) -> _Point:
        self.passes += 1
        xp, dim = namespace(log_variance), self.dim
        slope = -0.5 * xp.exp(-log_variance)
        level = -0.5 * dim * log_variance
        level[:-1] -= math.log(self.distances.m)
        from_origin = slope[-1] * self.origin + level[-1]
        total = 0.0
        mass, moment = xp.zeros_like(log_variance), xp.zeros_like(log_variance)
        for rows, squared in self.distances.blocks():
            share = self._work.product(squared, slope[:-1])
            share += level[:-1]
            top = xp.maximum(xp.max(share, axis=1), from_origin[rows])
            share -= top[:, None]
            share = _exponential(share)
            origin = xp.exp(from_origin[rows] - top)
            density = xp.sum(share, axis=1) + origin
            total += float(xp.sum(xp.log(density) + top))
            density = 1.0 / density
            mass[:-1] += density @ share
            share *= squared
            moment[:-1] += density @ share
            origin = density * origin
            mass[-1] += xp.sum(origin)
            moment[-1] += origin @ self.origin[rows]
        objective = total / (self.distances.n * dim) - 0.5 * LOG_2PI
        return _Point(log_variance, objective, self._m_step(log_variance, mass, moment))

    def _m_step(self, log_variance: Array, mass: Array, moment: Array) -> Array:
        xp = namespace(mass)
        has_mass = mass > NO_MASS
        variance = moment / (self.dim * xp.where(has_mass, mass, 1.0))
        update = xp.log(xp.maximum(variance, xp.full_like(variance, SMALLEST_VARIANCE)))
        return xp.where(has_mass, _clamp(update), log_variance)
