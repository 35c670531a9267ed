"""MemorizationLab on rows of the user's own: any dimension, any number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays import as_rows, to_float64, to_numpy
from ...errors import InvalidInput
from ...experiments.copying_data import Sets
from ...lazy_imports import unmoved_random_state
from ...tables import check_frames
from .cards import PARTS
from .scene import LABELS
from .study import Map, Study

# Pairs of rows times features scored within seconds; of more, the constructor does not wait for the scores.
MAX_QUICK_OPERATIONS = 2e8
MIN_FEATURES_COUNTED = 32
# What the view calls the parts of the scores while they are computed.
WORDS = {**LABELS, "density": "FLD’s density", "nearest": "the nearest train rows", "quality": "the quality scores"}
# The rows themselves, then the stand-in and what is compared to it, both without quality.
STEPS = 3 * len(PARTS) - 2


def is_quick(sets: Sets) -> bool:
    """Whether the scores take no noticeable time."""
    rows = sum(len(x) for x in sets)
    return rows**2 * max(MIN_FEATURES_COUNTED, sets.train.shape[1]) <= MAX_QUICK_OPERATIONS


def own_rows(train: Any, test: Any, generated: Any) -> Sets:
    """Float64 rows of one width; four test rows, so that some of them can stand in for an honest generator."""
    check_frames(train=train, test=test, generated=generated)
    rows = [as_rows(train, "train", min_rows=2)]
    dim = rows[0].shape[1]
    rows += [as_rows(test, "test", dim=dim, min_rows=4), as_rows(generated, "generated", dim=dim, min_rows=1)]
    sets = Sets(*(to_numpy(to_float64(x)) for x in rows))
    kept = varying(sets.test)
    for name, x in (("test", sets.test), ("train", sets.train[:, kept])):
        if not len(varying(x)):
            where = " in the features that vary in test" if name == "train" and len(kept) < dim else ""
            raise InvalidInput(name, f"has {len(x):,} rows that are the same{where}", "Give rows that differ")
    return sets


def varying(rows: np.ndarray) -> np.ndarray:
    """Return the numbers of the features of rows (n, d) that are not constant."""
    return np.flatnonzero(np.ptp(rows, axis=0) > 0)


def no_settings(settings: dict[str, Any]) -> None:
    """Raise InvalidInput where settings come with the user's rows."""
    for name in settings:
        fix = "Leave it out, or leave out train, test and generated"
        raise InvalidInput(name, "is for the scenes that come with the lab, but you gave your own rows", fix)


def own_study(sets: Sets, seed: int, on_part: Callable[[str], None]) -> Study:
    """The study of the user's own features; those that are constant in test say nothing and are left out."""
    train, test, generated = sets
    kept = varying(test)
    seen = f"The metrics see the {len(kept):,} features" if len(kept) > 1 else "The metrics see the one feature"
    dropped = train.shape[1] - len(kept)
    seen += f" that vary in test ({dropped:,} do not)" if dropped else ""
    plane: Map | None
    if len(kept) == 2:
        plane, about = None, f"{seen}, and so does the picture"
    else:
        plane = _first_two(train[:, kept])
        along = "the first 2 principal components of train" if len(kept) > 1 else "it along a line, without bumps"
        about = f"{seen}, the picture {along}"
    key = f"own {len(generated)} {seed}"
    units = "units of your features"
    return Study(key, seed, *sets, None, lambda rows: rows[:, kept], plane, None, about, units, None, on_part)


def _first_two(train: np.ndarray) -> Map:
    """Return the map to the first 2 principal components; of a single feature, the second is 0."""
    with unmoved_random_state():
        from sklearn.decomposition import PCA

    model: Any = PCA(min(2, *train.shape), random_state=0).fit(train)
    return lambda rows: np.pad(model.transform(rows), ((0, 0), (0, 2 - model.n_components_)))
