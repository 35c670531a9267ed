"""The largest value of a smooth function on a surface of equations, in two ways, each ending in a Newton polish.

Sequential quadratic programming is quick for few unknowns and sometimes falls back on the trivial solution; the
augmented Lagrangian takes any number of them and is slower.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Value = Callable[[np.ndarray], tuple[float, np.ndarray]]
Equations = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def sequential(
    objective: Value, constraints: Equations, start: np.ndarray, *, scale: float
) -> tuple[np.ndarray, float]:
    """As `augmented`, by scipy's SLSQP."""
    from scipy.optimize import minimize

    def negative(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = objective(z)
        return -value / scale, -slope / scale

    equations = {
        "type": "eq",
        "fun": lambda z: constraints(z)[0] / scale,
        "jac": lambda z: constraints(z)[1] / scale,
    }
    options = {"maxiter": 300, "ftol": 1e-12}
    solution = minimize(negative, start, jac=True, method="SLSQP", constraints=equations, options=options)
    return _polished(constraints, solution.x)


def augmented(
    objective: Value, constraints: Equations, start: np.ndarray, *, scale: float, rounds: int = 12
) -> tuple[np.ndarray, float]:
    """A local maximum of `objective` where all `constraints` are 0, and the largest of them that is left.

    Parameters
    ----------
    objective : z -> value and gradient (n,)
    constraints : z -> values (k,) and gradients (k, n)
    scale : of both, such as the size of a typical score
    """
    from scipy.optimize import minimize

    z, multipliers, stiffness = start, np.zeros_like(constraints(start)[0]), 10.0
    left = np.inf
    for _ in range(rounds):

        def lagrangian(z: np.ndarray, m: np.ndarray = multipliers, r: float = stiffness) -> tuple[float, np.ndarray]:
            value, slope = objective(z)
            off, slopes = constraints(z)
            off = off / scale
            return float(-value / scale + m @ off + r / 2 * off @ off), (-slope + (m + r * off) @ slopes) / scale

        z = minimize(lagrangian, z, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
        off = constraints(z)[0] / scale
        multipliers = multipliers + stiffness * off
        stiffness *= 1.0 if np.abs(off).max() < left / 4 else 4.0
        left = np.abs(off).max()
        if left < 1e-7:
            break
    return _polished(constraints, z)


def _polished(constraints: Equations, z: np.ndarray, steps: int = 20) -> tuple[np.ndarray, float]:
    """The nearest point of the surface, by Newton's shortest steps."""
    off, slopes = constraints(z)
    best, left = z, np.abs(off).max()
    for _ in range(steps):
        z = best - np.linalg.lstsq(slopes, off, rcond=1e-12)[0]
        off, slopes = constraints(z)
        if not np.abs(off).max() < left:
            break
        best, left = z, np.abs(off).max()
    return best, float(left)
