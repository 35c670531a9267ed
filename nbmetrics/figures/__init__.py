"""Matplotlib figures of experiments and of theorems: `figures.<experiment>(table)` draws what it returned.

Each figure stands beside its experiment, in one file of `nbmetrics.experiments`, as `draw_<experiment>`.
"""

from importlib import import_module as _import
from typing import Any as _Any

from ..errors import InvalidInput as _InvalidInput

# Which module of nbmetrics.experiments holds an experiment and its figure.
_EXPERIMENTS = {
    "gaussians": ["gaussian_toy", "likelihood_toy", "gaussian_samples"],
    "class_generators": ["single_class", "published_ranks", "class_federated", "extractors_compared"],
    "clients": ["variance_limited", "truncation", "neighbors_federated", "transport_federated"],
    "twins": ["twin_generators"],
    "training": ["mode_collapse", "checkpoints"],
    "moons": ["moons_density", "copied_width", "bandwidth_sweep", "copycat"],
    "images": ["transforms", "diversity", "ranked_samples"],
    "generalization": ["novelty", "interactions"],
    "sizes": ["sample_size", "generated_size", "published_models", "timing"],
    "conditional": ["correlation_contours", "condition_scale", "covariance_estimators"],
    "paired_models": ["published_conditional", "paired_unpaired"],
    "kernels": ["kid_estimators"],
}
MODULES = {name: module for module, names in _EXPERIMENTS.items() for name in names}

__all__ = ["draw", "sides", *MODULES]


def draw(table: _Any) -> _Any:
    """The figure of an experiment's table, whichever experiment it was."""
    name = getattr(table, "attrs", {}).get("experiment")
    if name not in MODULES:
        seen = f"is not the table of an experiment (its attrs name {name!r})"
        raise _InvalidInput(
            "table", seen, "Give what nm.experiments.<name>() returned, or draw it with nm.figures.<name>"
        )
    return __getattr__(name)(table)


def __getattr__(name: str) -> _Any:
    if name == "sides":
        value = _import(".theorems", __name__).sides
    elif name in MODULES:
        value = getattr(_import(f"nbmetrics.experiments.{MODULES[name]}"), f"draw_{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
