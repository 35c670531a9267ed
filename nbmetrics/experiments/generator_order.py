"""How avg and all order generators: places, a summary of their inversions, and one drawn against the other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidInput, shown
from ..figures.drawing import GREY, generator_look, join_pairs, label, whole_ticks, with_unit
from ..metrics.base import Metric, losses
from ..metrics.copying import CT
from ..ranking import TIE, inverted_pairs, places

SCORE_COLUMNS = "fid_avg fid_all fid_gap kid_avg kid_all kid_gap"
PLACE_COLUMNS = "fid_avg_rank fid_all_rank kid_avg_rank kid_all_rank"
KIND_LABELS = {"class": "one class", "noise": "all classes with noise", "nearest": "an item and its nearest"}
KIND_LABELS |= {"first": "several classes"}


def order_summary(table: pd.DataFrame) -> pd.DataFrame:
    """How avg and all order the rows of a table, for each metric that has both.

    Parameters
    ----------
    table : DataFrame with columns `<metric>_avg` and `<metric>_all`, a row for each generator

    Returns
    -------
    DataFrame metric, inversions, pairs, kendall_tau (tau-b), gap_sd (ddof 1), gap_range (largest − smallest
    avg − all). An inversion is a pair that avg and all order strictly differently; ties, differences below 1e-12 of
    the scores, are none. `c_t` is ordered by its distance from 0.

    Raises
    ------
    InvalidInput
        For fewer than 2 rows, no such pair of columns, or a score that is no finite number.

    Examples
    --------
    >>> table = nm.experiments.published("cifar100_on_federated_cifar10")
    >>> nm.experiments.order_summary(table)
      metric  inversions  pairs  kendall_tau    gap_sd  gap_range
    0    fid         136   4950     0.943877  5.427790      23.40
    1    kid          81   4950     0.957888  0.002168       0.01
    """
    from scipy.stats import kendalltau

    names = [str(c).removesuffix("_avg") for c in table if str(c).endswith("_avg")]
    metrics = [m for m in names if f"{m}_all" in table]
    if not metrics or len(table) < 2:
        seen = f"has {len(table)} rows and the columns {shown(list(table))}"
        raise InvalidInput("table", seen, "Give at least 2 generators, with <metric>_avg and <metric>_all")
    scores = finite_scores(table, [f"{metric}_{a}" for metric in metrics for a in ("avg", "all")])
    rows = []
    for metric in metrics:
        avg, pooled = (scores[f"{metric}_{a}"].to_numpy() for a in ("avg", "all"))
        ordered = [losses(CT(), values) if metric == CT.name else values for values in (avg, pooled)]
        gap, tau = avg - pooled, float(kendalltau(*map(places, ordered)).statistic)
        inverted, pairs = len(inverted_pairs(*ordered)), math.comb(len(table), 2)
        rows.append((metric, inverted, pairs, tau, gap.std(ddof=1), np.ptp(gap)))
    columns = ["metric", "inversions", "pairs", "kendall_tau", "gap_sd", "gap_range"]
    return pd.DataFrame(rows, columns=columns)


def with_ranks(table: pd.DataFrame, metrics: Mapping[str, Metric[Any]]) -> pd.DataFrame:
    """Return the table with each row's places, `<metric>_avg_rank` and `<metric>_all_rank`: 1 = best, ties share it."""
    for name, metric in metrics.items():
        values = losses(metric, table[[f"{name}_avg", f"{name}_all"]])
        floor = TIE * np.abs(values).max()
        for aggregate, x in zip(("avg", "all"), values.T, strict=True):
            table[f"{name}_{aggregate}_rank"] = 1 + np.searchsorted(np.sort(x), x - floor)
    return table


def finite_scores(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return these columns as numbers; InvalidInput where one is none, or not finite."""
    scores = table[columns].apply(pd.to_numeric, errors="coerce").astype(float)
    bad = [column for column in columns if not np.isfinite(scores[column]).all()]
    if bad:
        seen = f"has a score that is not a finite number in {', '.join(bad)}"
        raise InvalidInput("table", seen, "Give a score in every row")
    return scores


def plot_scatter(ax: Any, table: pd.DataFrame, metric: str, pairs: np.ndarray) -> None:
    """Draw avg against all; pairs that they order differently are joined, each kind of generator has its marker."""
    avg, pooled = (table[f"{metric}_{a}"].to_numpy(float) for a in ("avg", "all"))
    join_pairs(ax, pooled, avg, pairs)
    for k, (kind, rows) in enumerate(_kinds_of_generator(table)):
        style = {"s": 26, "edgecolors": "white", "linewidths": 0.5, "zorder": 2}
        ax.scatter(pooled[rows], avg[rows], label=KIND_LABELS.get(kind, kind), **generator_look(k), **style)
    ax.set_xlabel(with_unit(metric, "all"))
    ax.set_ylabel(with_unit(metric, "avg"))


def plot_places(ax: Any, table: pd.DataFrame, metric: str, pairs: np.ndarray) -> None:
    """Draw the place by avg against the place by all: on the diagonal where they agree."""
    avg, pooled = (table[f"{metric}_{a}_rank"].to_numpy(float) for a in ("avg", "all"))
    ax.axline((1, 1), slope=1, color=GREY, linewidth=0.8, linestyle=":")
    join_pairs(ax, pooled, avg, pairs)
    for k, (_, rows) in enumerate(_kinds_of_generator(table)):
        ax.scatter(pooled[rows], avg[rows], s=22, zorder=2, **generator_look(k))
    whole_ticks(ax.xaxis, ax.yaxis)
    ax.set_xlabel(f"place by {label(metric)}-all (1 = best)")
    ax.set_ylabel(f"place by {label(metric)}-avg")


def inverted_by_metric(table: pd.DataFrame, metric: str) -> np.ndarray:
    """Return the pairs, (m, 2) positions, that avg and all order differently."""
    return inverted_pairs(table[f"{metric}_avg"], table[f"{metric}_all"])


def _kinds_of_generator(table: pd.DataFrame) -> list[tuple[str, np.ndarray]]:
    """Return generators by the first word of their names, where that makes a few kinds; else all together."""
    words = table["generator"].astype(str).str.split().str[0]
    few = words.nunique() <= 4
    return [(w, (words == w).to_numpy()) for w in words.unique()] if few else [("generator", np.full(len(table), True))]
