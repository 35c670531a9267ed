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

from ..figures import MODULES as _MODULES

_HELPERS = {"published": "nbmetrics.datasets", "digits": "nbmetrics.datasets"}
_HELPERS["order_summary"] = f"{__name__}.generator_order"

__all__ = ["catalogue", "titles", *_HELPERS, *_MODULES]


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
    ids = {name: __getattr__(name).row for name in _MODULES}
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

    rows = [(run.row, name, run.title, run.source) for name in _MODULES for run in [__getattr__(name)]]
    rows.sort(key=lambda row: ("EFCK".index(row[0][0]), int(row[0][1:])))
    return pd.DataFrame(rows, columns=["id", "name", "title", "source"])


def __getattr__(name: str) -> _Any:
    module = _HELPERS.get(name) or _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import(f"{__name__}.{module}" if name in _MODULES else module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
