"""TableComparison: generators on clients by scores that were computed elsewhere, a plain table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InvalidInput, check_flag, check_named_weights, check_names, check_text, shown
from ...evaluation.cells import Cell, Cells
from ...evaluation.scores import Scores
from ...metrics.base import Metric, Sample
from .changes import MOST_CLIENTS
from .clustering import squared_score_distances, tree_of
from .comparison import Comparison, Weights
from .metric_view import MetricView, WeightedScores, metric_view_of
from .scene import MOST_GENERATORS, DashboardScene, made_of_table

NO_ROWS_REASON = "a table has no rows, so chance cannot be estimated"
MAX_LABEL_LETTERS = 60
# Of a long table: a row a score.
LONG_COLUMNS = ("client", "generator", "value")
# Columns that stand beside scores in many tables and would win or lose as generators: whole numbers, and averages.
COUNT_COLUMNS = {"n", "rows", "row", "count", "counts", "size", "samples", "n_rows", "n_samples", "weight", "weights"}
AVERAGE_COLUMNS = {"mean", "average", "avg"}


class ReportedScores(Metric[None]):
    """Scores as they were given."""

    def __init__(self, label: str, higher_is_better: bool) -> None:
        self.name, self.label, self.higher_is_better = "score", label, higher_is_better

    def summarize(self, sample: Sample) -> None:
        raise InvalidInput("table", "has no rows", "Give the federation itself to nm.Dashboard")

    def pool(self, summaries: Sequence[None], weights: Sequence[float]) -> None:
        raise InvalidInput("table", "has no pooled data", "Give the federation itself to nm.Dashboard")

    def terms(self, real: None, generated: None) -> dict[str, float]:
        return {}


class TableComparison(Comparison):
    """The scores of a table, which are all that is known.

    Parameters
    ----------
    table, weights, label, higher_is_better : as for `Dashboard.from_table`
    """

    def __init__(self, table: Any, weights: Any, label: Any, higher_is_better: bool) -> None:
        super().__init__()
        frame = wide_table(table)
        self.names = tuple(check_names([str(name) for name in frame.index], "table"))
        self._generators = tuple(check_names([str(name) for name in frame.columns], "table"))
        self._values = _numbers(frame)
        _check_scores(self._generators, self._values, self.names)
        self.weights = self.wanted = check_named_weights(
            [1.0] * len(self.names) if weights is None else weights, self.names
        )
        self.tree = tree_of(squared_score_distances(self._values))
        label = check_text(label, "label", MAX_LABEL_LETTERS)
        self._metric = ReportedScores(label, check_flag(higher_is_better, "higher_is_better"))

    @property
    def generators(self) -> tuple[str, ...]:
        return self._generators

    @property
    def metrics(self) -> tuple[str, ...]:
        return (self._metric.name,)

    @property
    def sizes(self) -> tuple[int, ...]:
        return (0,) * len(self.names)

    @cached_property
    def _metric_view(self) -> MetricView:
        cells = self._result(range(len(self._generators)), self.weights)
        view = metric_view_of(cells, np.ones(self._values.shape, dtype=bool), None, NO_ROWS_REASON)
        return replace(view, has_pool=(False,) * len(self._generators))

    def metric_view(self, metric: str) -> MetricView:
        return self._metric_view

    def weighted_scores(self, metric: str, shares: Weights) -> WeightedScores:
        return WeightedScores.of(self._metric_view, shares, np.full(len(self._generators), math.nan), None, None)

    def scores_of(self, scene: DashboardScene) -> Scores:
        chosen = [self._generators.index(name) for name in scene.generators]
        return Scores(
            self.names,
            scene.shares,
            scene.generators,
            [self._result(chosen, scene.shares)],
            "scores as given in a table",
        )

    def _result(self, chosen: Sequence[int], weights: Weights) -> Cells:
        none = (None,) * len(chosen)
        cells = tuple(tuple(Cell.of({"score": float(value)}) for value in self._values[g]) for g in chosen)
        return Cells(self._metric, weights, (None,) * len(self.names), none, cells, none, generators=none)

    @property
    def constructor_code(self) -> str:
        return made_of_table(self._metric.label, self._metric.higher_is_better)

    def add(self, name: str, source: Any) -> None:
        raise InvalidInput("source", "cannot be scored: a table has no clients' rows", "Add a column to the table")

    def remove(self, name: str) -> None:
        raise InvalidInput("name", f"{shown(name)} is part of the table", "Leave the column out")


def wide_table(table: Any) -> pd.DataFrame:
    """Return a table with a row a client and a column a generator, also of a long one: client, generator, value."""
    if isinstance(table, Mapping):
        try:
            table = pd.DataFrame(table)
        except (ValueError, TypeError) as error:
            fix = "Give each generator as many scores as there are clients, or a DataFrame"
            raise InvalidInput("table", f"cannot be read as a table: {error}".rstrip("."), fix) from None
    if not isinstance(table, pd.DataFrame):
        raise InvalidInput(
            "table",
            f"got {shown(table)}",
            "Give a DataFrame with a row for each client and a column for each generator",
        )
    if table.index.nlevels > 1 or table.columns.nlevels > 1:
        fix = "Give a row for each client and a column for each generator, or a long table: table.reset_index()"
        raise InvalidInput("table", "has names of several levels", fix)
    names = [str(name) for name in table.columns]
    if set(LONG_COLUMNS) <= set(names):
        table = _to_wide(table.set_axis(names, axis=1))
    elif {"client", "generator"} <= {name.lower() for name in names}:
        fix = "Call the columns client, generator and value: table.rename(columns=…)"
        raise InvalidInput("table", f"looks like a long table with the columns {', '.join(names[:6])}", fix)
    rows, columns = table.shape
    if not (0 < rows <= MOST_CLIENTS and 0 < columns <= MOST_GENERATORS):
        fix = f"Give 1 to {MOST_CLIENTS:,} rows (clients) and 1 to {MOST_GENERATORS} columns (generators)"
        raise InvalidInput("table", f"has {rows:,} rows and {columns:,} columns", fix)
    return table


def _to_wide(table: pd.DataFrame) -> pd.DataFrame:
    """Return a long table as a wide one, clients and generators in the order in which they first come."""
    if "metric" in table and table["metric"].nunique() > 1:
        kinds = ", ".join(map(str, table["metric"].unique()[:5]))
        raise InvalidInput("table", f"has more than one metric: {kinds}", "Give the rows of one")
    twice = np.flatnonzero(table.duplicated(["client", "generator"]))
    if len(twice):
        pair = table[["client", "generator"]].iloc[twice[0]].tolist()
        raise InvalidInput("table", f"has more than one value for {shown(pair)}", "Give one each")
    wide = table.pivot(index="client", columns="generator", values="value")
    return wide.loc[table["client"].unique(), table["generator"].unique()]


def _numbers(frame: pd.DataFrame) -> np.ndarray:
    """Return the scores as float (G, k); NaN for what is missing."""
    for name in frame.columns:
        if any(isinstance(value, (complex, np.complexfloating)) for value in frame[name]):
            raise InvalidInput("table", f"column {shown(str(name))} contains complex numbers", "Give real ones")
    try:
        return np.ascontiguousarray(frame.to_numpy(dtype=np.float64, na_value=math.nan).T)
    except (TypeError, ValueError, OverflowError):
        odd, seen = next((name, value) for name in frame.columns for value in frame[name] if not _is_number(value))
        fix = f"Give numbers. Put the clients' names in the index: table.set_index({str(odd)!r})"
        if isinstance(seen, str) and seen.replace(",", "", 1).strip("-").isdigit():
            fix = "Numbers with decimal commas: pd.read_csv(…, decimal=',')"
        raise InvalidInput("table", f"column {shown(odd)} contains {shown(seen)}, which is not a number", fix) from None


def _is_number(value: Any) -> bool:
    """Whether a cell is a number of float64, or missing."""
    try:
        return value is None or value is pd.NA or bool(float(value) or True)
    except (TypeError, ValueError, OverflowError):
        return False


def _check_scores(generators: Sequence[str], values: np.ndarray, clients: Sequence[str]) -> None:
    """Raise InvalidInput where numbers of rows, or averages of scores, stand among the scores."""
    for name, column in zip(generators, values, strict=True):
        is_count = name.strip().lower() in COUNT_COLUMNS and bool((column == np.floor(column)).all())
        if is_count or name.strip().lower() in AVERAGE_COLUMNS:
            what = "numbers of rows" if is_count else "an average of the others"
            use = f"; as weights: weights=table[{name!r}]" if is_count else ""
            fix = f"Leave it out: table.drop(columns={name!r}){use}; or rename it if it is a generator"
            raise InvalidInput("table", f"has a column {shown(name)}, which looks like {what}", fix)
    for name in clients:
        if name.strip().lower() in AVERAGE_COLUMNS:
            fix = f"Leave it out: table.drop(index={name!r}); or rename it if it is a client"
            raise InvalidInput("table", f"has a row {shown(name)}, which looks like an average of the others", fix)
