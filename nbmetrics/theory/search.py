"""The largest value of a smooth function on a surface of equations, in two ways, each ending in a Newton polish.

Sequential quadratic programming is quick for few unknowns and sometimes falls back on the trivial solution; the
augmented Lagrangian takes any number of them and is slower.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

Value = Callable[[np.ndarray], tuple[float, np.ndarray]]
Equations = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
# Of any unknown, in units of the start: a search that is further out is lost, and its squares may overflow.
FAR = 1e50


class _Lost(Exception):
    """A search asked for a value beyond `FAR`, or at no number at all."""


def _is_near(z: np.ndarray, start: np.ndarray) -> bool:
    return bool(np.abs(z).max() <= FAR * np.abs(start).max())


def _within(f: Callable[[np.ndarray], tuple], start: np.ndarray) -> Callable[[np.ndarray], tuple]:
    """The same function, which raises `_Lost` far from the start."""

    def bounded_f(z: np.ndarray) -> tuple:
        if not _is_near(z, start):
            raise _Lost
        return f(z)

    return bounded_f


def sequential(
    objective: Value, constraints: Equations, start: np.ndarray, *, scale: float
) -> tuple[np.ndarray, float]:
    """As `maximize_by_penalty`, by scipy's SLSQP."""
    from scipy.optimize import minimize

    objective, constraints = _within(objective, start), _within(constraints, start)
    reached = [start]

    def negative(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = objective(z)
        return -value / scale, -slope / scale

    equations = {
        "type": "eq",
        "fun": lambda z: constraints(z)[0] / scale,
        "jac": lambda z: constraints(z)[1] / scale,
    }
    options = {"maxiter": 300, "ftol": 1e-12}
    settings = {"method": "SLSQP", "constraints": equations, "options": options}
    with suppress(_Lost):
        reached.append(minimize(negative, start, jac=True, callback=lambda z: reached.append(z.copy()), **settings).x)
    last = next(z for z in reversed(reached) if _is_near(z, start))
    return _project_to_surface(constraints, last)


def maximize_by_penalty(
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

    objective, constraints = _within(objective, start), _within(constraints, start)
    z, multipliers, stiffness = start, np.zeros_like(constraints(start)[0]), 10.0
    left = np.inf
    for _ in range(rounds):

        def lagrangian(z: np.ndarray, m: np.ndarray = multipliers, r: float = stiffness) -> tuple[float, np.ndarray]:
            value, slope = objective(z)
            off, slopes = constraints(z)
            off = off / scale
            return float(-value / scale + m @ off + r / 2 * off @ off), (-slope + (m + r * off) @ slopes) / scale

        try:
            z = minimize(lagrangian, z, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
        except _Lost:
            break
        off = constraints(z)[0] / scale
        multipliers = multipliers + stiffness * off
        stiffness *= 1.0 if np.abs(off).max() < left / 4 else 4.0
        left = np.abs(off).max()
        if left < 1e-7:
            break
    return _project_to_surface(constraints, z)


def _project_to_surface(constraints: Equations, z: np.ndarray, steps: int = 20) -> tuple[np.ndarray, float]:
    """The nearest point of the surface, by Newton's shortest steps."""
    off, slopes = constraints(z)
    best, left = z, np.abs(off).max()
    for _ in range(steps):
        z = best - np.linalg.lstsq(slopes, off, rcond=1e-12)[0]
        try:
            off, slopes = constraints(z)
        except _Lost:
            break
        if not np.abs(off).max() < left:
            break
        best, left = z, np.abs(off).max()
    return best, float(left)
