"""Figures and tables of the papers as functions that anyone can rerun, sweep and draw.

    table = nm.experiments.gaussian_toy(samples=50_000)     a tidy DataFrame, first column what is swept
    nm.figures.gaussian_toy(table)                          its figure

Seeds, sizes and ranges are arguments. The papers' images and models are not in the package: digits, Gaussians and noisy
copies stand for them, and those on images take yours, with any extractor of features. `catalogue()` says of every
figure, table and statement of the papers what covers it and what differs, or why nothing does.
`nbmetrics experiments NAME --out figure.png --csv table.csv` runs one from a shell.
"""

from importlib import import_module as _import
from typing import Any as _Any

_ROOMS = {
    "gaussians": ["gaussian_toy", "likelihood_toy", "gaussian_samples"],
    "orders": ["single_class", "published_ranks"],
    "classes": ["class_federated", "extractors_compared"],
    "clients": ["variance_limited", "truncation", "neighbors_federated", "transport_federated"],
    "twins": ["twin_generators"],
    "training": ["mode_collapse", "checkpoints"],
    "moons": ["moons_density", "copied_width", "bandwidth_sweep", "copycat"],
    "images": ["transforms", "diversity", "ranked_samples"],
    "generalization": ["novelty", "interactions"],
    "sizes": ["sample_size", "generated_size", "published_models", "timing"],
    "conditional": ["correlation_contours", "condition_scale", "covariance_estimators", "published_conditional"],
    "pairs": ["paired_unpaired"],
    "kernels": ["kid_estimators"],
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

_HELPERS = {"published": ".datasets", "digits": ".datasets", "order_summary": "orders"}

__all__ = ["catalogue", "titles", *_HELPERS, *_HOME]


def catalogue() -> _Any:
    """What of the papers is here: a DataFrame with a row for each figure, table and statement.

    Columns paper, item, function (of `nm.experiments`, or of `nm.theory` as "theory.kid_gap_identity"; "" for none),
    id (of the experiment, such as "E1"), covered ("yes": the same design and range; "partly"; "no"), differs (the data,
    network or range that is another one, what is wrong as printed, or why there is nothing).

    Examples
    --------
    >>> sorted(nm.experiments.catalogue()["covered"].unique())
    ['no', 'partly', 'yes']
    """
    from ..datasets import covered

    table = covered()
    ids = {name: __getattr__(name).row for name in _HOME}
    table.insert(3, "id", [ids.get(name, "") for name in table["function"]])
    return table


def titles() -> _Any:
    """All experiments: a DataFrame id, name, title, source, in the order of their ids.

    Examples
    --------
    >>> nm.experiments.titles().loc[0, ["id", "name"]].tolist()
    ['E1', 'gaussian_toy']
    """
    import pandas as pd

    rows = [(run.row, name, run.title, run.source) for name in _HOME for run in [__getattr__(name)]]
    rows.sort(key=lambda row: ("EFCK".index(row[0][0]), int(row[0][1:])))
    return pd.DataFrame(rows, columns=["id", "name", "title", "source"])


def __getattr__(name: str) -> _Any:
    room = {**_HOME, **_HELPERS}.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import(f".{room}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
