"""The study of digits that a PrivacyLab opens with: its data, and its results, which come with the package.

The runs take more than a second, and the page is to be there sooner. `python -m nbmetrics.labs.privacy.study`
computes them again and writes `digits_study.npz`; held by: tests/labs/privacy/test_digits_study.py
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from ...datasets import digits, trained_samples
from ...evaluation.evaluate import evaluate
from ...evaluation.scores import Scores
from ...federated.noise_study import NoiseStudy
from ...federation import Federation, as_generators
from .settings import Settings

# 2 × 2 pixels averaged, in [0, 1], so that no row is farther than 2 from the middle.
DIM, MIDDLE, FARTHEST = 16, 0.5, 2.0
CLIENTS, CONCENTRATION = 5, 0.5
CHECKPOINTS = {
    "WGAN-GP late": ("wgan-gp", 2000),
    "WGAN-GP early": ("wgan-gp", 600),
    "DDPM late": ("ddpm", 1500),
    "DDPM early": ("ddpm", 600),
}
ABOUT = "Handwritten digits of 16 averaged pixels, in unequal shares by client; 500 rows of each generator."
FILE = files(__package__) / "digits_study.npz"
# What the file has of a study, by the names of its fields.
STORED = ("exact", "clipped", "drawn", "multipliers", "rows")


@cache
def digits_data() -> tuple[Federation, Any]:
    """Return the clients and the generators."""
    rows, labels = digits()
    federation = Federation.dirichlet(average_pixels(rows), labels, CLIENTS, CONCENTRATION, seed=0)
    checkpoints, rows_by_name = trained_samples("checkpoints"), {}
    for name, (model, step) in CHECKPOINTS.items():
        (place,) = np.flatnonzero((checkpoints.model == model) & (checkpoints.step == step) & (checkpoints.seed == 0))
        rows_by_name[name] = average_pixels(checkpoints.rows[place])
    return federation, as_generators(rows_by_name)


def average_pixels(rows: np.ndarray) -> np.ndarray:
    """Return images of 8 × 8 pixels averaged to 4 × 4."""
    return rows.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, DIM)


@cache
def read_study() -> NoiseStudy:
    """Return the study by the usual settings, as the package has it."""
    settings = Settings()
    with FILE.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        stored = {name: arrays[name] for name in STORED}
    return NoiseStudy(
        epsilons=settings.epsilons,
        multipliers=tuple(stored["multipliers"].tolist()),
        metrics=tuple(settings.metric_objects()),
        generators=tuple(CHECKPOINTS),
        evaluate=_evaluate,
        exact=stored["exact"],
        clipped=stored["clipped"],
        drawn=stored["drawn"],
        delta=settings.delta,
        clip=FARTHEST,
        rows=tuple(stored["rows"].tolist()),
    )


def _evaluate() -> Scores:
    federation, generators = digits_data()
    return evaluate(federation, generators, Settings().metric_objects(), progress=False)
