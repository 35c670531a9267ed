"""Rows as directions: divided by their lengths, for metrics that look at angles."""

from __future__ import annotations

from ..arrays import Array, namespace, row_blocks, to_float64


def directions(rows: Array) -> Array:
    """Each row (n, d) divided by its length, in its own type; a row of zeros has no direction and stays 0."""
    xp = namespace(rows)
    parts = []
    for block in row_blocks(rows.shape[0], 32 * rows.shape[1]):
        wide = to_float64(rows[block, :])
        # squares of the largest or smallest features would overflow, or be 0
        largest = xp.max(xp.abs(wide), axis=1, keepdims=True)
        wide = wide / xp.where(largest > 0.0, largest, 1.0)
        length = xp.sqrt(xp.sum(wide * wide, axis=1, keepdims=True))
        parts.append(xp.astype(wide / xp.where(length > 0.0, length, 1.0), rows.dtype))
    return xp.concat(parts)


def has_direction(unit: Array) -> Array:
    """(n,) whether each row of `directions` is not 0."""
    return namespace(unit).any(unit != 0.0, axis=1)
