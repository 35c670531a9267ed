"""The lowest value of a quadratic over the simplex: exact where it is convex, the lowest near a start where it is not.

αᵀQα − 2cᵀα,   α ≥ 0,   Σ α = 1
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

# Of the largest entry: curvatures and slopes below it are rounding.
ROUNDING = 1e-13


def descend(quadratic: np.ndarray, linear: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The weights of a local minimum that is not above the start; of the minimum where Q has no negative curvature.

    An active set: Newton's step among the weights in use, one dropped where it becomes 0, and where that is done the
    one taken in that lowers the value fastest. Where the curvature is negative the step is turned downhill.

    Parameters
    ----------
    quadratic, linear : Q (m, m), symmetric, and c (m,)
    start : (m,) on the simplex
    """
    scale = max(float(np.abs(quadratic).max()), float(np.abs(linear).max())) or 1.0
    q, c = quadratic / scale, linear / scale
    weights, used = start.astype(float), start > 0
    for _ in range(100 * (len(start) + 1)):
        slope = 2.0 * (q @ weights - c)
        step = _step(q, slope, np.flatnonzero(used))
        if step is not None:
            weights, used = _step_inside(q, slope, weights, used, step)
            continue
        gains = np.where(used, 0.0, slope[used].mean() - slope)
        if gains.max() <= ROUNDING:
            break
        used[np.argmax(gains)] = True
    return weights / weights.sum()


def is_convex(quadratic: np.ndarray) -> bool:
    """Whether Q has no negative curvature in any direction of the simplex, so that `descend` finds the minimum."""
    plane = _plane(len(quadratic))
    return bool((np.linalg.eigvalsh(plane.T @ quadratic @ plane) >= -ROUNDING * np.abs(quadratic).max()).all())


@lru_cache(maxsize=64)
def _plane(size: int) -> np.ndarray:
    """Orthonormal directions (size, size − 1) that keep the sum of the weights."""
    return np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0][:, 1:]


def _step(q: np.ndarray, slope: np.ndarray, at: np.ndarray) -> np.ndarray | None:
    """Downhill among the weights `at`, their sum kept; None where there is nothing to gain."""
    if len(at) < 2:
        return None
    plane = _plane(len(at))
    curvature, axes = np.linalg.eigh(plane.T @ q[np.ix_(at, at)] @ plane)
    pull = axes.T @ (plane.T @ slope[at])
    if np.abs(pull).max() > ROUNDING:
        along = -pull / (2.0 * np.maximum(np.abs(curvature), ROUNDING))
    elif curvature[0] < -ROUNDING:
        along = np.zeros(len(curvature))  # a saddle: either way is down
        along[0] = 1.0
    else:
        return None
    step = np.zeros(len(q))
    step[at] = plane @ (axes @ along)
    return step


def _step_inside(
    q: np.ndarray, slope: np.ndarray, weights: np.ndarray, used: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The lowest point along a step that stays on the simplex; what becomes 0 there is no longer in use."""
    falling = np.flatnonzero(step < 0)
    room = weights[falling] / -step[falling]
    far, bend = float(room.min()), float(step @ q @ step)
    best = -float(slope @ step) / (2.0 * bend) if bend > 0 else np.inf
    moved = np.maximum(weights + min(best, far) * step, 0.0)
    if best >= far:
        dropped = falling[np.argmin(room)]
        moved[dropped] = 0.0
        used = used & (np.arange(len(used)) != dropped)
    return moved, used
