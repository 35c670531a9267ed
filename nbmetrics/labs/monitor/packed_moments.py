"""Moments as one row of numbers, as a run's log holds them."""

from __future__ import annotations

import numpy as np

from ...arrays import to_float64, to_numpy
from ...summaries.moments import Moments


def pack_moments(moments: Moments) -> np.ndarray:
    """Pack moments as count, mean and the triangular root of the covariance, 1 + d + d(d+1)/2 numbers."""
    mean, root = (to_numpy(to_float64(part)) for part in (moments.mean, moments.root))
    d = len(mean)
    square = np.zeros((d, d))
    triangle = np.linalg.qr(root, mode="r")
    square[: len(triangle)] = triangle
    return np.concatenate([[moments.count], mean, square[np.triu_indices(d)]])


def unpack_moments(packed: np.ndarray) -> Moments:
    """Unpack moments; ValueError where they are none, or not those of rows or of a distribution."""
    d = max(1, int((np.sqrt(8.0 * len(packed) + 1.0) - 3.0) / 2.0))
    if 1 + d + d * (d + 1) // 2 != len(packed) or not (np.isfinite(packed[1:]).all() and packed[0] >= 2):
        raise ValueError("are not moments")
    root = np.zeros((d, d))
    root[np.triu_indices(d)] = packed[d + 1 :]
    return Moments(float(packed[0]), np.array(packed[1 : d + 1]), root, None)
