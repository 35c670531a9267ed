"""How one labelled data set becomes clients: pure functions of labels that return row indices by client name."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import to_numpy
from .errors import InvalidInput, shown


def by_label(y: Any, rows: int) -> dict[str, np.ndarray]:
    """One client for each distinct label, in sorted order."""
    labels = _labels(y, rows)
    try:
        distinct = np.unique(labels)
    except TypeError:
        raise InvalidInput("y", f"mixes types: {shown(labels[:4].tolist())}", "Give labels of one type") from None
    return {str(label): np.flatnonzero(labels == label) for label in distinct}


def _labels(y: Any, rows: int) -> np.ndarray:
    labels = to_numpy(y) if hasattr(y, "detach") else np.asarray(y)
    if labels.ndim != 1 or len(labels) != rows:
        raise InvalidInput("y", f"has shape {labels.shape} for {rows} rows", "Give one label for each row")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidInput("y", f"has labels such as {shown(labels[~np.isfinite(labels)][0])}", "Give finite labels")
    return labels
