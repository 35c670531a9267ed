"""Matplotlib figures of scores and of experiments: `figures.<experiment>(table)` draws what it returned."""

from importlib import import_module as _import
from typing import Any as _Any

from ..errors import InvalidInput as _InvalidInput

_ROOMS = {
    "sweeps": ["gaussian_toy", "likelihood_toy", "gaussian_samples"],
    "twins": ["twin_generators"],
    "training": ["mode_collapse", "checkpoints"],
    "federated": [
        "class_federated",
        "extractors_compared",
        "single_class",
        "published_ranks",
        "variance_limited",
        "truncation",
        "neighbors_federated",
        "transport_federated",
    ],
    "memorization": ["moons_density", "copied_width", "bandwidth_sweep", "novelty", "interactions", "copycat"],
    "samples": [
        "transforms",
        "diversity",
        "ranked_samples",
        "sample_size",
        "generated_size",
        "published_models",
        "timing",
    ],
    "conditional": [
        "correlation_contours",
        "condition_scale",
        "covariance_estimators",
        "paired_unpaired",
        "published_conditional",
    ],
    "kernels": ["kid_estimators"],
    "theorems": ["sides"],
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = ["draw", *_HOME]


def draw(table: _Any) -> _Any:
    """The figure of an experiment's table, whichever experiment it was."""
    name = getattr(table, "attrs", {}).get("experiment")
    if name not in _HOME:
        seen = f"is not the table of an experiment (its attrs name {name!r})"
        raise _InvalidInput(
            "table", seen, "Give what nm.experiments.<name>() returned, or draw it with nm.figures.<name>"
        )
    return __getattr__(name)(table)


def __getattr__(name: str) -> _Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .tables import checked

    value = checked(name, getattr(_import(f".{_HOME[name]}", __name__), name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
