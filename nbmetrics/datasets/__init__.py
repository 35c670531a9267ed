"""The published tables that ship with the package, each with its source, and the data that needs no network."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd

from ..errors import check_choice
from ..lazy_imports import unmoved_random_state
from .noto import emoji
from .trained import trained_samples

__all__ = ["covered", "digit_images", "digits", "emoji", "published", "trained_samples"]

SOURCES = {
    "cifar100_on_federated_cifar10": "On the Distributed Evaluation of Generative Models (Wang et al.), Table 2",
    "twin_generators_ffhq": "On the Distributed Evaluation of Generative Models (Wang et al.), Table 1",
    "fld_models": "Feature Likelihood Divergence (Jiralerspong et al.), Tables 1 and 2",
    "cfid_celeba_edges2shoes": "Conditional Frechet Inception Distance (Soloveitchik et al.), Tables I and II",
}


def published(name: str) -> pd.DataFrame:
    """A published table as printed, a DataFrame; `attrs["source"]` says which paper and table.

    Parameters
    ----------
    name : "cifar100_on_federated_cifar10", "twin_generators_ffhq", "fld_models" or "cfid_celeba_edges2shoes"

    Examples
    --------
    >>> nm.datasets.published("fld_models").attrs["source"]
    'Feature Likelihood Divergence (Jiralerspong et al.), Tables 1 and 2'
    """
    table = _read(check_choice(name, SOURCES, "name"))
    table.attrs["source"] = SOURCES[name]
    return table


def covered() -> pd.DataFrame:
    """paper, item, function, covered, differs: see `experiments.catalogue`."""
    return _read("catalogue").fillna("")


def _read(name: str) -> pd.DataFrame:
    with (files(__name__) / f"{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's 1,797 handwritten digits: rows (n, 64) of 8 × 8 pixels scaled to [0, 1], and labels (n,).

    Examples
    --------
    >>> rows, labels = nm.datasets.digits()
    >>> rows.shape, labels.shape
    ((1797, 64), (1797,))
    """
    with unmoved_random_state():
        from sklearn.datasets import load_digits

    rows, labels = load_digits(return_X_y=True)
    return rows / 16.0, labels


def digit_images() -> tuple[np.ndarray, np.ndarray]:
    """The digits as images: (1797, 8, 8) uint8, their values x of 0 to 16 as round(255 x / 16), and labels (1797,).

    Examples
    --------
    >>> images, labels = nm.datasets.digit_images()
    >>> images.shape, images.dtype, int(images.max())
    ((1797, 8, 8), dtype('uint8'), 255)
    """
    rows, labels = digits()
    return np.round(255 * rows).astype(np.uint8).reshape(-1, 8, 8), labels


def __dir__() -> list[str]:
    return sorted(__all__)
