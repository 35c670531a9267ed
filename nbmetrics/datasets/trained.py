"""Samples of generators in training that come with the package, so that they can be scored where there is no torch.

`python -m nbmetrics.training.make_samples` trains the generators and writes both files; it says how, and how long.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from ..errors import check_choice, check_count

LEVELS = 16  # digits have 17 grey levels, 0 to 16
# What training goes on with in a collapse.
TARGETS = ("class 8", "8s nearest their mean", "a random digit")


class Samples(NamedTuple):
    """Samples of generators in training, in the order in which they were drawn.

    rows : (m, n, 64) float64 in [0, 1], digits of 8 × 8 in 17 grey levels
    model : (m,) the kind of the generator
    seed : (m,) of its training
    step : (m,) steps of training behind it
    target : (m,) what the training data had become: one of "class 8", "8s nearest their mean", "a random digit",
        or "" for all digits
    """

    rows: np.ndarray
    model: np.ndarray
    seed: np.ndarray
    step: np.ndarray
    target: np.ndarray


def trained_samples(name: str) -> Samples:
    """Samples that come with the package.

    "checkpoints": ten checkpoints of a WGAN-GP and of a DDPM trained on all digits, two seeds each, 500 rows a
    checkpoint. "collapse": WGAN-GPs of five seeds, trained on all digits and then on one of three targets alone, 250
    rows at each step; the last steps before are there once and belong to all three.
    """
    check_choice(name, ("checkpoints", "collapse"), "name")
    with (files(__package__) / f"{name}.npz").open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        rows = arrays["levels"].reshape(*arrays["levels"].shape[:2], 64) / LEVELS
        return Samples(rows, *(arrays[field] for field in Samples._fields[1:]))


def collapse_target(name: str, seed: int, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The digits among `rows`, with their labels, that training goes on with: (n, 64)."""
    check_choice(name, TARGETS, "target")
    eights = rows[labels == 8]
    if name == "class 8":
        return eights
    if name == "8s nearest their mean":
        return eights[np.argsort(((eights - eights.mean(axis=0)) ** 2).sum(axis=1), kind="stable")[:8]]
    return rows[[np.random.default_rng([check_count(seed, "seed", minimum=0), 8]).integers(len(rows))]]
