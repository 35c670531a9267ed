"""Numbers as JSON has them, which knows no NaN and no infinity."""

from __future__ import annotations

import math

import numpy as np


def json_numbers(values: np.ndarray, is_known: np.ndarray) -> list[float | str | None]:
    """Return numbers as JSON has them, None for what is not known."""
    return [json_number(value) if is_number else None for value, is_number in zip(values, is_known, strict=True)]


def json_number(value: float) -> float | str:
    """Return a number as JSON has it, or "nan", "inf", "-inf"."""
    return float(value) if math.isfinite(value) else str(float(value))
