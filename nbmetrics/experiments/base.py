"""What makes a function an experiment: its row in the catalogue, and tables that know where they come from."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ParamSpec

import numpy as np
import pandas as pd

from ..arrays import plain_array
from ..errors import InvalidInput, check_count, check_list, check_names, check_number, shown
from ..evaluation.evaluate import evaluate
from ..federation import Federation
from ..metrics.kid.kernels import Kernel, as_kernel
from ..metrics.kid.polynomial import Polynomial

P = ParamSpec("P")

# Draws, repeats or points that an experiment takes.
MAX_COUNT = 1_000_000

DISTRIBUTED, FLD_PAPER, CFID_PAPER = "Wang et al.", "Jiralerspong et al.", "Soloveitchik et al."
KID_PAPER = "the KID explainer"


def experiment(row: str, source: str) -> Callable[[Callable[P, pd.DataFrame]], Callable[P, pd.DataFrame]]:
    """Mark a function as the experiment `row` (such as "E1"), after `source`, a figure or table of a paper.

    The first line of its docstring is the caption of its figure: it names what is shown, not what comes out of it, as
    that depends on the arguments. A `seed` and counts (arguments annotated int) are checked here, for all experiments,
    so that none works for years. The table's `attrs` then carry `experiment`, `id`, `source`, `title` and the
    `arguments` it was called with, beside the `conventions` it sets itself.
    """

    def wrap(function: Callable[P, pd.DataFrame]) -> Callable[P, pd.DataFrame]:
        docstring = (function.__doc__ or function.__name__.replace("_", " ")).strip()  # python -OO has no docstrings
        title = docstring.splitlines()[0].rstrip(".")
        signature = inspect.signature(function)
        numbers = [
            name for name, parameter in signature.parameters.items() if str(parameter.annotation).startswith("int")
        ]
        counts = {name: math.inf if name == "seed" else MAX_COUNT for name in numbers}

        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> pd.DataFrame:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                if counts.get(name) and value is not None:
                    bound.arguments[name] = check_count(value, name, minimum=0, maximum=counts[name])
            table = function(*bound.args, **bound.kwargs)
            arguments = {name: value for name, value in bound.arguments.items() if _is_small(value)}
            about: dict[Any, Any] = {"experiment": function.__name__, "id": row, "source": source, "title": title}
            table.attrs = {**table.attrs, **about, "arguments": arguments}
            return table

        run.row, run.source, run.title = row, source, title  # type: ignore[attr-defined]
        return run

    return wrap


def _is_small(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) <= 100 and all(map(_is_small, value))
    return value is None or isinstance(value, (str, bool, int, float))


def grid(values: Any, argument: str, *, minimum: float = -np.inf, maximum: float = np.inf) -> list[float]:
    """Return the numbers to sweep over, at least one, each finite and within the limits."""
    try:
        flat = np.ravel(plain_array(check_list(values, argument) if isinstance(values, Iterator) else values, argument))
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInput(argument, f"got {shown(values)}", "Give numbers to sweep over") from None
    numbers = [check_number(v, argument, minimum=minimum, maximum=maximum) for v in flat]
    if not numbers:
        raise InvalidInput(argument, "is empty", "Give at least one number")
    return numbers


def named_kernels(kernels: Any) -> dict[str, Kernel]:
    """Return the kernels of a dict name → kernel; None is the cubic one."""
    if not isinstance(kernels, Mapping):
        raise InvalidInput("kernels", f"got {shown(kernels)}", "Give a dict name → kernel, such as {'kid': nm.RBF(2)}")
    by_name = {}
    for name in check_names(list(kernels), "kernels"):
        try:
            by_name[name] = as_kernel(Polynomial() if kernels[name] is None else kernels[name])
        except InvalidInput as error:
            raise InvalidInput(f"kernels[{name!r}]", error.seen, error.fix) from None
    return by_name


def sweep(
    name: str,
    values: Iterable[float],
    federation: Federation,
    source: Callable[[float], Any],
    metrics: Any = ("fid", "kid"),
    **options: Any,
) -> pd.DataFrame:
    """Return one row for each value: the column `name`, then `<metric>_avg`, `_all`, `_gap` of `source(value)`.

    `options` go to `evaluate`.
    """
    swept = list(values)
    generators = {f"{position}: {name} = {value:g}": source(value) for position, value in enumerate(swept)}
    scores = evaluate(federation, generators, metrics, progress=False, **options)
    return wide_table(scores).assign(generator=swept).rename(columns={"generator": name})


def wide_table(scores: Any, first: str = "generator") -> pd.DataFrame:
    """Return one row a generator: the column `first` with its name, then `<metric>_avg`, `_all`, `_gap`."""
    table = pd.DataFrame({first: scores.generators})
    for metric in scores.metrics:
        rows = scores.table[scores.table["metric"] == metric]
        for aggregate in ("avg", "all", "gap"):
            table[f"{metric}_{aggregate}"] = rows[aggregate].to_numpy()
    table.attrs["conventions"] = scores.conventions
    return table
