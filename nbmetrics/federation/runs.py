"""Runs of one model: a list of sources in the place of one, such as three trainings with three seeds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..distributions import Distribution
from ..errors import InvalidInput, shown
from ..summaries.reference import Moments
from ..summaries.sources import is_loader
from ..summaries.stream import Stream
from ..tables import is_table
from .by_client import ByClient
from .image_sources import are_images


def is_list_of_runs(value: Any) -> bool:
    """Whether a value is a list or tuple of sources, and not of rows.

    >>> is_list_of_runs([[0.0, 1.0], [2.0, 3.0]]), is_list_of_runs([np.eye(2), np.eye(2)])
    (False, True)
    """
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_source, value))


def _is_source(item: Any) -> bool:
    """Whether an item of a list is a source by itself: rows are numbers, or lists of them."""
    if isinstance(item, (list, tuple)):
        return len(item) > 0 and isinstance(item[0], (list, tuple, np.ndarray))
    if isinstance(item, (str, os.PathLike, Mapping, ByClient, Distribution, Moments, Stream)):
        return True
    return getattr(item, "ndim", 0) >= 2 or is_table(item) or callable(item) or hasattr(item, "group") or _is_lazy(item)


def _is_lazy(item: Any) -> bool:
    return is_loader(item) or are_images(item)


def run_names(model: str, runs: Sequence[Any]) -> list[str]:
    """Return how the runs of a model are called: by their own names, else "ddpm 1", "ddpm 2", … by their places."""
    return [getattr(run, "name", None) or f"{model} {k}" for k, run in enumerate(runs, 1)]


def check_one_model(model: str, runs: Sequence[Any]) -> None:
    """Raise InvalidInput where a run in the list of one model says that it is one of another."""
    for k, run in enumerate(runs, 1):
        if (group := getattr(run, "group", None)) not in (None, model):
            seen = f"run {k} has group={shown(group)}"
            raise InvalidInput(
                f"generators, {shown(model)}", seen, "Leave group out in a list of runs, or move the run"
            )


def check_models(names: Sequence[str], groups: Sequence[str | None]) -> None:
    """Raise InvalidInput where a model of several runs and a generator without group have one name."""
    models = {group for group in groups if group is not None}
    for name, group in zip(names, groups, strict=True):
        if group is None and name in models:
            seen = f"{shown(name)} is a generator without group, and a group of others"
            raise InvalidInput("generators", seen, f"Give it group={shown(name)}, too, or another name")
