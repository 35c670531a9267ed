"""Distributions made from rows or from a curve: a kernel density estimate, and two moons."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from .arrays import LARGEST, as_rows, to_float64, to_numpy
from .distributions import Empirical, Rng, check_draw, random_stream
from .errors import check_number
from .lazy_imports import unmoved_random_state
from .tables import check_frames, named_columns

# Squares of distances in units of the bandwidth stay inside float64 above it.
NARROWEST = 1e-100


class KernelDensity:
    """A Gaussian kernel density estimate: the equal mixture of N(row, bandwidth²·I) over the rows.

    Parameters
    ----------
    rows : (n, d), the centres
    bandwidth : standard deviation of each kernel, in the units of the rows, from 1e-100 to 1e45

    Raises
    ------
    InvalidInput
        For bad rows, or a bandwidth beyond these limits.

    Examples
    --------
    >>> distribution = nm.KernelDensity([[0.0], [2.0]], bandwidth=0.5)
    >>> distribution.mean.tolist(), distribution.cov.tolist(), distribution.log_prob([[1.0]]).round(3).tolist()
    ([1.0], [[1.25]], [-2.226])
    """

    def __init__(self, rows: Any, bandwidth: float) -> None:
        self.centres = Empirical(rows)
        self.rows = to_float64(self.centres.rows)
        named_columns(self, rows)
        self.bandwidth = check_number(bandwidth, "bandwidth", minimum=NARROWEST, maximum=LARGEST)

    @property
    def dim(self) -> int:
        return self.centres.dim

    @property
    def mean(self) -> np.ndarray:
        """The (d,) mean of the rows."""
        return self.centres.mean

    @cached_property
    def cov(self) -> np.ndarray:
        """The (d, d) covariance of the rows (ddof 0) plus bandwidth²·I."""
        return self.centres.cov + self.bandwidth**2 * np.eye(self.dim)

    def sample(self, n: int, rng: Rng = None) -> np.ndarray:
        """`n` rows, shape (n, d), drawn with `rng` (a NumPy Generator, or a seed)."""
        rng = random_stream(rng)
        chosen = self.centres.sample(n, rng)
        return chosen + self.bandwidth * rng.standard_normal(chosen.shape)

    @np.errstate(under="ignore")
    def log_prob(self, x: Any) -> np.ndarray:
        """Log-density (nats) at each row of `x`, shape (k, d)."""
        check_frames(rows=self, x=x)
        return self._estimate.score_samples(to_numpy(as_rows(x, "x", dim=self.dim)) / self.bandwidth) - self.dim * (
            math.log(self.bandwidth)
        )

    @cached_property
    def _estimate(self) -> Any:
        with unmoved_random_state():
            from sklearn.neighbors import KernelDensity as Estimate

        # A tolerance of 0 makes the tree sum every kernel exactly; at bandwidth 1 nothing overflows.
        return Estimate(bandwidth=1.0, rtol=0, atol=0).fit(self.rows / self.bandwidth)

    def __repr__(self) -> str:
        return f"KernelDensity({len(self.rows)} rows, bandwidth={self.bandwidth:g}, dim={self.dim})"


class TwoMoons:
    """Two interleaved half circles in the plane, blurred by isotropic Gaussian noise, as scikit-learn's `make_moons`.

    Parameters
    ----------
    noise : standard deviation of the blur, from 0 to 1e45

    The upper moon is (cos t, sin t), the lower (1 − cos t, ½ − sin t), t even on [0, π]. Mean and covariance are
    those of the curves; there is no `log_prob`.

    Examples
    --------
    >>> nm.TwoMoons(noise=0.05).sample(1000, np.random.default_rng(0)).shape
    (1000, 2)
    """

    dim = 2

    def __init__(self, noise: float = 0.1) -> None:
        self.noise = check_number(noise, "noise", minimum=0, maximum=LARGEST)

    @property
    def mean(self) -> np.ndarray:
        """The (2,) mean, (½, ¼)."""
        return np.array([0.5, 0.25])

    @property
    def cov(self) -> np.ndarray:
        """The (2, 2) covariance."""
        # Over t, Var cos = ½ and Var sin = ½ − 4/π²; the moons' means are (0, 2/π) and (1, ½ − 2/π).
        half = np.array([1.0, 0.5 - 4.0 / math.pi]) / 2.0
        within = np.diag([0.5, 0.5 - 4.0 / math.pi**2])
        return within + np.outer(half, half) + self.noise**2 * np.eye(2)

    def sample(self, n: int, rng: Rng = None) -> np.ndarray:
        """`n` rows, shape (n, 2), drawn with `rng` (a NumPy Generator, or a seed)."""
        rng, count = random_stream(rng), check_draw(n, self.dim)
        angle = math.pi * rng.random(count)
        lower = rng.random(count) < 0.5
        x = np.where(lower, 1.0 - np.cos(angle), np.cos(angle))
        y = np.where(lower, 0.5 - np.sin(angle), np.sin(angle))
        return np.column_stack([x, y]) + self.noise * rng.standard_normal((count, 2))

    def __repr__(self) -> str:
        return f"TwoMoons(noise={self.noise:g})"
