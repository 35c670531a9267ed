"""The rows that speeds are measured on: a mild spectrum, and what real features and bad generators look like."""

from __future__ import annotations

from functools import cache

import numpy as np

MILD = "mild spectrum"
DECAYING = "decaying, rectified"
DISTRIBUTIONS = (MILD, DECAYING, "every row twice", "heavy tails")


@cache
def _mix(d: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((d, d)) / np.sqrt(d)


def features(rows: int, d: int, seed: int, dtype, distribution: str = MILD) -> np.ndarray:
    """Rows (n, d) with a mean; the seed moves it a little.

    Standard deviations are i^-0.25, or, mixed by a random matrix and cut off below 0 as the features of a network
    are, i^-0.7. Heavy tails are Student's t with 5 degrees of freedom.
    """
    rng = np.random.default_rng(seed)
    n = -(-rows // 2) if distribution == "every row twice" else rows
    x = rng.standard_normal((n, d), dtype=dtype)
    if distribution == "heavy tails":
        x /= np.sqrt(rng.chisquare(5, size=(n, 1)) / 5).astype(dtype)
    x *= (1 + np.arange(d, dtype=dtype)) ** dtype(-0.7 if distribution == DECAYING else -0.25)
    if distribution == DECAYING:
        x = np.maximum(0, x @ _mix(d).astype(dtype))
    x += dtype(0.5 + 0.02 * seed)
    return np.concatenate([x, x])[:rows] if n < rows else x
