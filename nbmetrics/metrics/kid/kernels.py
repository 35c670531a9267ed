"""The kernels of KID that need no feature map, RBF and a user's own; `Kernel` and `Polynomial` are at home here too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, is_array, namespace, squared_distances, to_numpy
from ...distributions import Distribution, Empirical, Gaussian
from ...errors import InvalidInput, check_choice, check_number, shown
from ..base import Sample
from .base import EXTREME, Kernel
from .embedding import Embedding
from .polynomial import Polynomial

__all__ = ["RBF", "Embedding", "FunctionKernel", "Kernel", "Polynomial", "as_kernel"]


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, y) = scale · exp(−‖x − y‖² / 2σ²); σ = √d by default, and scale 1.

    `sigma="median"` takes the median distance over all clients' rows together, once per evaluation
    (a σ per pair would move the gap between KID-avg and KID-all). CMMD's is `RBF(10, scale=1000)`.

    Examples
    --------
    >>> nm.metrics.KID(nm.RBF(2.0), name="kid_rbf").convention
    'KID rbf: unbiased MMD² on all rows, RBF exp(−‖x−y‖²/2σ²), σ = 2'
    """

    sigma: float | str | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_number(self.scale, "scale", minimum=1 / EXTREME, maximum=EXTREME))
        if isinstance(self.sigma, str):
            check_choice(self.sigma, ("median",), "sigma")
        elif self.sigma is not None:
            sigma = check_number(self.sigma, "sigma", minimum=1 / EXTREME, maximum=EXTREME)
            object.__setattr__(self, "sigma", sigma)

    def __str__(self) -> str:
        sigma = "√d" if self.sigma is None else self.sigma if isinstance(self.sigma, str) else f"{self.sigma:g}"
        scale = "" if self.scale == 1.0 else f"{self.scale:g} "
        return f"RBF {scale}exp(−‖x−y‖²/2σ²), σ = {sigma}"

    def _variance(self, d: int) -> float:
        if isinstance(self.sigma, str):
            fix = "Give sigma a number, or call kernel.resolve(samples) first"
            raise InvalidInput("sigma", "'median' is not resolved", fix)
        return float(d) if self.sigma is None else self.sigma**2

    def block(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        variance = self._variance(x.shape[1])
        tolerance = variance * (1e-5 if x.dtype == xp.float32 else 1e-11)
        return self._scaled(xp.exp(squared_distances(x, y, tolerance) * (-0.5 / variance)))

    def paired(self, x: Array, y: Array) -> Array:
        xp = namespace(x, y)
        return self._scaled(xp.exp(xp.sum((x - y) ** 2, axis=1) * (-0.5 / self._variance(x.shape[1]))))

    def gaussian_mean(self, a: Gaussian, b: Gaussian) -> float:
        """σ^d |C₁ + C₂ + σ²I|^{-1/2} exp(−½ Δᵀ(C₁ + C₂ + σ²I)^{-1}Δ)."""
        return float(self._smoothed(a.mean[None], b.mean, np.concatenate([a.root, b.root]))[0])

    def point_means(self, rows: Array, distribution: Gaussian) -> np.ndarray:
        return self._smoothed(np.asarray(rows, dtype=np.float64), distribution.mean, distribution.root)

    def _smoothed(self, x: np.ndarray, mean: np.ndarray, root: np.ndarray) -> np.ndarray:
        """With covariance rootᵀroot: along its axes the variance is s² + σ², across them σ²."""
        variance = self._variance(mean.size)
        _, s, axes = np.linalg.svd(root, full_matrices=False)
        along = (x - mean) @ axes.T
        across = x - mean - along @ axes
        squared = np.sum(across * across, axis=1) / variance + np.sum(along * along / (s * s + variance), axis=1)
        return self.scale * np.exp(-0.5 * (squared + np.sum(np.log1p(s * s / variance))))

    def _scaled(self, values: Array) -> Array:
        return values if self.scale == 1.0 else self.scale * values

    def resolve(self, clients: Sequence[Sample]) -> RBF:
        return self if self.sigma != "median" else RBF(_median_distance(clients), self.scale)


def _median_distance(clients: Sequence[Sample], most: int = 2_000) -> float:
    rng = np.random.default_rng(0)
    share = max(2, most // len(clients))
    drawn = []
    for client in clients:
        if client.stream is not None:
            chosen = rng.permutation(client.stream.count())[:share]
            drawn.append(client.stream.take(chosen))
        elif client.rows is None:
            drawn.append(np.asarray(client.exact_distribution.sample(share, rng)))
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

    def has_closed_form(self, distribution: Distribution) -> bool:
        return isinstance(distribution, Empirical)

    def is_large(self, work: int) -> bool:
        return False  # nobody knows what float32 would do to it


def as_kernel(kernel: Any) -> Kernel:
    """A `Kernel` from a kernel object or a function of two blocks of rows."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    raise InvalidInput(
        "kernel", f"got {shown(kernel)}", "Give nm.Polynomial(), nm.RBF() or a function (x, y) -> matrix"
    )
