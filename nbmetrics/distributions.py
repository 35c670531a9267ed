"""Distributions a client or a generator may have: each knows its mean, its covariance and how to sample.

`Gaussian` and `Mixture` have closed forms in the metrics; `Empirical` is a set of rows taken as the whole
population (ddof 0, self-pairs included), where rows given as data are a sample of something larger. A distribution of
the user's own enters through `as_distribution`, which checks its moments once, and is drawn from by `draw_rows`, which
checks rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from .arrays import as_rows, mean_rows, plain_array, psd_root, scatter, to_numpy
from .errors import InvalidInput, check_count, check_list, check_number, check_weights, shown
from .tables import check_frames, check_same_order, column_names, name_features, named_columns

Rng = np.random.Generator | int | None

# Numbers in one draw: 16 GB.
MAX_DRAWN_NUMBERS = 2 * 10**9


@runtime_checkable
class Distribution(Protocol):
    """What the engine asks of a distribution; any object with these works as a client or generator."""

    @property
    def dim(self) -> int: ...

    def sample(self, n: int, rng: Rng = None) -> np.ndarray: ...


class HasMoments(Distribution, Protocol):
    """A distribution whose mean, (d,), and covariance, (d, d), are known."""

    @property
    def mean(self) -> np.ndarray: ...

    @property
    def cov(self) -> np.ndarray: ...


class HasDensity(Distribution, Protocol):
    """A distribution with a density."""

    def log_prob(self, x: Any) -> np.ndarray:
        """Log-density (nats) at each row of `x`."""
        ...


def has_moments(distribution: object) -> TypeGuard[HasMoments]:
    """Whether mean and covariance are known."""
    # not by isinstance: from Python 3.12 on it takes a property for there that fails, as of a mixture of such
    # distributions
    return hasattr(distribution, "mean") and hasattr(distribution, "cov")


def has_density(distribution: object) -> TypeGuard[HasDensity]:
    """Whether there is a density, `log_prob`."""
    return hasattr(distribution, "log_prob")


def parts_of(distribution: Any) -> list[tuple[float, Any]]:
    """Weights and distributions of a mixture; none of any other distribution."""
    return (
        list(zip(distribution.weights, distribution.components, strict=True))
        if hasattr(distribution, "components")
        else []
    )


def as_distribution(value: Any, argument: str) -> Any:
    """`value` itself if it is a distribution, else None.

    The mean and covariance of a user's own distribution, where it has them, are checked as a Gaussian's are.
    """
    if isinstance(value, (Gaussian, Mixture, Empirical)):
        return value
    if not isinstance(value, Distribution):
        return None
    if not isinstance(value.dim, (int, np.integer)) or value.dim < 1:
        raise InvalidInput(argument, f"has dim {shown(value.dim)}", "It is the number of features, 1 or more")
    try:
        if hasattr(value, "mean"):
            _check_shape(value.mean, "mean", (value.dim,))
            _vector(value.mean, "mean")
        if hasattr(value, "cov"):
            _check_shape(value.cov, "cov", (value.dim, value.dim))
            _covariance(value.cov, value.dim)
    except InvalidInput as error:
        raise error.of(argument) from None
    return value


def _check_shape(moment: Any, argument: str, shape: tuple[int, ...]) -> None:
    if not isinstance(moment, np.ndarray) or moment.shape != shape:
        seen = f"has shape {moment.shape}" if isinstance(moment, np.ndarray) else f"is {shown(moment)}"
        raise InvalidInput(argument, seen, f"Give a NumPy array of shape {shape}")


def draw_rows(distribution: Distribution, n: int, rng: Rng, argument: str) -> np.ndarray:
    """`n` ≥ 1 rows of a distribution, shape (n, d), checked: `argument` says whose they are."""
    rows = to_numpy(as_rows(distribution.sample(n, rng), argument, dim=distribution.dim))
    if len(rows) != n:
        raise InvalidInput(argument, f"are {len(rows)} where {n} were asked for", "Return n rows from sample(n, rng)")
    return rows


def check_draw(n: Any, dim: int, argument: str = "n", *, minimum: int = 0) -> int:
    """`n` as a number of rows that may be drawn in `dim` features."""
    count = check_count(n, argument, minimum=minimum)
    if count * dim > MAX_DRAWN_NUMBERS:
        seen = f"got {count:,}: rows of {dim} features that take {8e-9 * count * dim:,.0f} GB"
        raise InvalidInput(argument, seen, f"Give at most {MAX_DRAWN_NUMBERS // dim:,}")
    return count


def random_stream(rng: Any) -> np.random.Generator:
    """The NumPy Generator of a Generator, a seed, or None (a fresh one)."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        fix = "Give a NumPy Generator, a seed (a whole number, 0 or more), or None"
        raise InvalidInput("rng", f"got {shown(rng)}", fix) from None


class Gaussian:
    """The normal distribution N(mean, cov).

    Parameters
    ----------
    mean : (d,) array, or a number for d = 1
    cov : number (variance of every feature), (d,) variances, or (d, d) matrix; singular allowed

    Raises
    ------
    InvalidInput
        For non-finite values, mismatched shapes, or a covariance that is not symmetric and positive
        semi-definite.

    Examples
    --------
    >>> distribution = nm.Gaussian([0, 3], [1, 4])
    >>> distribution.dim, distribution.sample(5, np.random.default_rng(0)).shape
    (2, (5, 2))
    """

    def __init__(self, mean: Any, cov: Any = 1.0) -> None:
        self.mean = _vector(mean, "mean")
        if self.mean.size == 0:
            raise InvalidInput("mean", "is empty", "Give at least one number")
        self.cov, self.root = _covariance(cov, self.mean.size)
        name_features(self, mean, cov)
        self._freeze()

    @classmethod
    def ellipse(cls, center: Any, width: float, height: float, angle: float = 0.0) -> Gaussian:
        """A 2-D Gaussian by its 1σ ellipse: standard deviations `width` and `height`, turned by `angle` degrees.

        Keeps the factor of the covariance, so √det = width·height exactly, however flat the ellipse.
        """
        w = check_number(width, "width", minimum=0)
        h = check_number(height, "height", minimum=0)
        turn = math.radians(check_number(angle, "angle"))
        axes = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
        mean = _vector(center, "center")
        if mean.size != 2:
            raise InvalidInput("center", f"has {mean.size} numbers", "Give x and y")
        return cls.factored(mean, np.array([[w], [h]]) * axes)

    @classmethod
    def factored(cls, mean: Any, root: Any) -> Gaussian:
        """N(mean, rootᵀroot) that keeps the factor `root`, (r, d): a nearly singular covariance keeps its digits."""
        gaussian = cls.__new__(cls)
        gaussian.mean = _vector(mean, "mean")
        gaussian.root = np.array(as_rows(root, "root", dim=gaussian.mean.size), dtype=np.float64)
        gaussian.cov = gaussian.root.T @ gaussian.root
        gaussian._freeze()
        return gaussian

    @classmethod
    def fit(cls, rows: Any) -> Gaussian:
        """The Gaussian with the mean and covariance (ddof 1) of `rows`, shape (n, d), n ≥ 2."""
        data = to_numpy(as_rows(rows, "rows", min_rows=2))
        mean = mean_rows(data)
        return named_columns(cls(mean, scatter(data, mean) / (len(data) - 1)), rows)

    def _freeze(self) -> None:
        for array in (self.mean, self.cov, self.root):
            array.setflags(write=False)

    @property
    def dim(self) -> int:
        return self.mean.size

    def sample(self, n: int, rng: Rng = None) -> np.ndarray:
        """`n` rows, shape (n, d), drawn with `rng` (a NumPy Generator, or a seed)."""
        noise = random_stream(rng).standard_normal((check_draw(n, self.dim), len(self.root)))
        return self.mean + noise @ self.root

    def log_prob(self, x: Any) -> np.ndarray:
        """Log-density (nats) at each row of `x`; raises InvalidInput where the covariance is singular."""
        check_frames(distribution=self, x=x)
        rows = to_numpy(as_rows(x, "x", dim=self.dim))
        factor, log_det = self._whitener
        with np.errstate(over="ignore"):  # too far away for a number: −infinity
            white = factor @ (rows - self.mean).T
            return -0.5 * (np.sum(white * white, axis=0) + log_det + self.dim * math.log(2 * math.pi))

    @cached_property
    def _whitener(self) -> tuple[np.ndarray, float]:
        _, s, vt = np.linalg.svd(self.root, full_matrices=False)
        if len(s) < self.dim or s[-1] <= 1e-12 * s[0]:
            raise InvalidInput("cov", "is singular, so there is no density", "Add a small variance to every feature")
        return vt / s[:, None], 2 * float(np.sum(np.log(s)))

    def __repr__(self) -> str:
        return f"Gaussian(dim={self.dim}, mean={shown(self.mean.tolist(), 40)})"


@dataclass(frozen=True, eq=False)
class Round:
    """A distribution about a mean, alike in all directions, without the (d, d) numbers of a covariance: a stand-in.

    Attributes
    ----------
    mean : (d,)
    variance : of each feature
    """

    mean: np.ndarray
    variance: float

    @property
    def dim(self) -> int:
        return int(self.mean.size)

    @property
    def head(self) -> np.ndarray:
        """Two rows of this mean and of this total variance, by which kernels are centred."""
        step = np.zeros(self.dim)
        step[0] = math.sqrt(self.variance * self.dim)
        return np.stack([self.mean - step, self.mean + step])

    def sample(self, n: int, rng: Rng = None) -> np.ndarray:
        """`n` rows."""
        return self.mean + math.sqrt(self.variance) * random_stream(rng).standard_normal((n, self.dim))


class Mixture:
    """Σ w_j P_j of distributions of one dimension.

    Parameters
    ----------
    components : sequence of distributions
    weights : one non-negative number each, divided by their sum; equal by default

    Examples
    --------
    >>> distribution = nm.Mixture([nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])], [3, 1])
    >>> distribution.mean.tolist(), distribution.cov.tolist()
    ([-0.5, 0.0], [[1.75, 0.0], [0.0, 1.0]])
    """

    def __init__(self, components: Sequence[Any], weights: Any = None) -> None:
        if not isinstance(components, Iterable):
            raise InvalidInput("components", f"got {shown(components)}", "Give a list of distributions")
        self.components = tuple(check_list(components, "components"))
        if not self.components:
            raise InvalidInput("components", "is empty", "Give at least one distribution")
        for position, part in enumerate(self.components):
            if as_distribution(part, f"components[{position}]") is None:
                seen = f"item {position} is {shown(part)}"
                raise InvalidInput("components", seen, "Give distributions, such as nm.Gaussian(mean, cov)")
            if part.dim != self.components[0].dim:
                seen = f"item {position} has dimension {part.dim}, item 0 has {self.components[0].dim}"
                raise InvalidInput("components", seen, "Give one dimension to all")
        check_same_order((f"item {k}", column_names(part)) for k, part in enumerate(self.components))
        named_columns(self, next((part for part in self.components if column_names(part)), None))
        self.weights = check_weights([1.0] * len(self.components) if weights is None else weights, len(self.components))

    @property
    def dim(self) -> int:
        return int(self.components[0].dim)

    @cached_property
    def mean(self) -> np.ndarray:
        """The (d,) mean Σ w_j μ_j."""
        return sum(w * part.mean for w, part in parts_of(self))

    @cached_property
    def cov(self) -> np.ndarray:
        """The (d, d) covariance Σ w_j [C_j + (μ_j − μ)(μ_j − μ)ᵀ]."""
        shifts = [(w, part.cov, part.mean - self.mean) for w, part in parts_of(self)]
        return sum(w * (cov + np.outer(shift, shift)) for w, cov, shift in shifts)

    def sample(self, n: int, rng: Rng = None) -> np.ndarray:
        """`n` rows in random order, shape (n, d), drawn with `rng` (a NumPy Generator, or a seed)."""
        rng = random_stream(rng)
        counts = rng.multinomial(check_draw(n, self.dim), self.weights)
        parts = zip(self.components, counts, strict=True)
        drawn = [draw_rows(part, int(k), rng, "rows of a component") for part, k in parts if k]
        return rng.permutation(np.concatenate([np.empty((0, self.dim)), *drawn]), axis=0)

    @np.errstate(under="ignore")
    def log_prob(self, x: Any) -> np.ndarray:
        """Log-density (nats) at each row of `x`."""
        for part in self.components:
            if not has_density(part):
                raise InvalidInput("components", f"{shown(part)} has no log_prob", "Give distributions with a density")
        parts = [(math.log(w), part.log_prob(x)) for w, part in parts_of(self) if w > 0]
        return np.logaddexp.reduce([log_w + values for log_w, values in parts], axis=0)

    def __repr__(self) -> str:
        return f"Mixture({len(self.components)} components, dim={self.dim})"


class Empirical:
    """A finite population: each row of `rows`, shape (n, d), with probability 1/n.

    Moments use ddof 0 and kernel means include self-pairs (the V-statistic), as for any exact distribution.

    Examples
    --------
    >>> distribution = nm.Empirical([[0.0], [2.0]])
    >>> distribution.mean.tolist(), distribution.cov.tolist(), nm.fid(distribution, nm.Gaussian(1.0))
    ([1.0], [[1.0]], 0.0)
    """

    def __init__(self, rows: Any) -> None:
        self.rows = to_numpy(as_rows(rows, "rows"))
        named_columns(self, rows)

    @property
    def dim(self) -> int:
        return int(self.rows.shape[1])

    @cached_property
    def mean(self) -> np.ndarray:
        """The (d,) mean of the rows."""
        return mean_rows(self.rows)

    @cached_property
    def cov(self) -> np.ndarray:
        """The (d, d) covariance of the rows, ddof 0."""
        return scatter(self.rows, self.mean) / len(self.rows)

    def sample(self, n: int, rng: Rng = None) -> np.ndarray:
        """`n` rows drawn with replacement, shape (n, d)."""
        return self.rows[random_stream(rng).integers(len(self.rows), size=check_draw(n, self.dim))]

    def __repr__(self) -> str:
        return f"Empirical({len(self.rows)} rows, dim={self.dim})"


def _vector(value: Any, argument: str) -> np.ndarray:
    row = np.atleast_1d(plain_array(value, argument))
    return np.array(as_rows(row[None], argument)[0], dtype=np.float64)


def _covariance(cov: Any, dim: int) -> tuple[np.ndarray, np.ndarray]:
    values = plain_array(cov, "cov")
    if values.ndim < 2:
        variances = _vector(values, "cov")
        if variances.size not in (1, dim):
            raise InvalidInput("cov", f"has {variances.size} variances for dimension {dim}", "Give one each")
        if variances.min() < 0:
            raise InvalidInput("cov", f"has a variance of {variances.min():g}", "Variances are 0 or more")
        variances = np.broadcast_to(variances, (dim,))
        return np.diag(variances), np.diag(np.sqrt(variances))
    matrix = np.array(as_rows(values, "cov"), dtype=np.float64)
    if matrix.shape != (dim, dim):
        raise InvalidInput("cov", f"has shape {matrix.shape} for dimension {dim}", f"Give shape ({dim}, {dim})")
    largest = np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > 1e-8 * largest:
        raise InvalidInput("cov", "is not symmetric", "Use (cov + cov.T) / 2 if it should be")
    matrix = (matrix + matrix.T) / 2
    root = psd_root(matrix)
    if np.abs(root.T @ root - matrix).max() > 1e-8 * largest:
        lowest = np.linalg.eigvalsh(matrix)[0]
        seen = f"is not positive semi-definite, its lowest eigenvalue is {lowest:.3g}"
        raise InvalidInput("cov", seen, "A covariance has no negative eigenvalue")
    return matrix, root
