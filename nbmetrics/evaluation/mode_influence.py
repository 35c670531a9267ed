"""What two generators' modes contribute to their difference by avg and by all: see `Scores.disagreement`.

A mode's part in avg_A − avg_B is Σ of the influence values of A's rows in it, over the number of the other rows, less
the same of B. To first order that is what the difference loses if these rows are left out. What it loses is computed
exactly too, and the part is shown only where both are alike: scores are far from linear where whole kinds are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, check_choice, check_count, check_number
from ..metrics.base import Metric, Sample
from ..metrics.modes import ModeAssignment, Modes
from ..metrics.stratified import Strata
from ..ranking import figure, is_tie, lowest, order
from .cells import Cells
from .influence import influence_values_of
from .modes import MAX_MODES, PARTS, Side, client_columns, compare, conventions, labels, nearest_rows, share_columns
from .scores_protocol import ScoresProtocol

if TYPE_CHECKING:
    import pandas as pd

# Of the exact change when the rows are left out, how far a part may be off to be shown.
MAX_RELATIVE_ERROR = 0.2


class Influence(NamedTuple):
    """A generator's avg and all without the bias of few rows, (2,), and the influence values of its rows, (2, n).

    The values have mean 0: what a metric adds to all of them alike, as KID does, is taken off.
    """

    scores: np.ndarray
    values: np.ndarray


class ScoredRows:
    """One metric on the clients, for any rows of a generator."""

    def __init__(self, metric: Metric[Any], clients: Sequence[tuple[Any, Any]], weights: Sequence[float]) -> None:
        self._metric = metric
        strata = [metric.strata(summary, rows) for summary, rows in clients]
        self._clients: list[tuple[float, Strata[Any]]] = [(w, s) for w, s in zip(weights, strata, strict=True) if w]
        self._pool = metric.pool_strata(strata, weights)

    def influence(self, rows: Any) -> Influence:
        """Scores and influence values of these rows; NaN where they are too few."""
        try:
            generated = self._metric.strata(self._metric.summarize(Sample(rows=rows)), rows)
        except InvalidInput:
            return Influence(np.full(2, math.nan), np.full((2, rows.shape[0]), math.nan))
        score, values = 0.0, np.zeros(rows.shape[0])
        for share, client in self._clients:
            own = influence_values_of(self._metric, client, generated)
            score, values = score + share * own.value, values + share * np.asarray(own.generated[0])
        pooled = influence_values_of(self._metric, self._pool, generated)
        both = np.array([values, np.asarray(pooled.generated[0])])
        return Influence(np.array([score, pooled.value]), both - both.mean(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class ModeParts:
    """By mode, (m, 2) for avg and all: the parts, the exact change, and the relative error of the parts."""

    parts: np.ndarray
    exact: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        size = np.abs(self.exact)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.abs(self.parts - self.exact) / size
        return np.where((self.parts == 0.0) & (size == 0.0), 0.0, errors)

    @property
    def shown(self) -> np.ndarray:
        """The parts, NaN where the error is too large."""
        return np.where(self.errors <= MAX_RELATIVE_ERROR, self.parts, math.nan)


def mode_parts(scored: ScoredRows, pair: Sequence[Side], assignment: ModeAssignment) -> ModeParts:
    """Return what each mode's rows contribute to the scores of the first generator less those of the second."""
    size = assignment.vectors.shape[1]
    parts, exact = np.zeros((2, size, 2))
    for side, sign in zip(pair, (1.0, -1.0), strict=True):
        whole, (which, _) = scored.influence(side.rows), assignment.assign(side.rows)  # type: ignore[arg-type]
        for mode in range(size):
            inside = which == mode
            if not inside.any():
                continue
            left = int((~inside).sum())
            if not left:
                parts[mode], exact[mode] = math.nan, math.nan
                continue
            parts[mode] += sign * whole.values[:, inside].sum(axis=1) / left
            exact[mode] += sign * (whole.scores - scored.influence(side.rows[~inside]).scores)  # type: ignore[index]
    return ModeParts(parts, exact)


def disagreement(
    scores: ScoresProtocol,
    first: str,
    second: str,
    metric: str,
    settings: Modes | None,
    most: int,
    floor: float,
) -> pd.DataFrame:
    """See `Scores.disagreement`."""
    import pandas as pd

    most, floor = check_count(most, "most", maximum=MAX_MODES), check_number(floor, "floor", minimum=0.0, maximum=1.0)
    result = scores.result(check_choice(metric, scores.metrics, "metric"))
    if first == second:
        raise InvalidInput("second", f"is {second!r}, as the first is", "Name two generators")
    comparison, pair = compare(scores, [first, second], settings)
    if not result.metric.has_influence_values:
        raise InvalidInput("metric", f"{result.label} has no influence values", "Give 'fid' or 'kid', and evaluate it")
    for side in (*pair, *comparison.clients):
        if side.rows is None:
            raise InvalidInput("scores", f"have no rows of {side.name!r}", "Evaluate where the rows are")
    directions = comparison.metric.directions(pair[0].matrix, pair[1].matrix, most)
    assignment = ModeAssignment(comparison.metric, directions.vectors, floor)
    scored = ScoredRows(result.metric, _summaries(result, comparison.clients), comparison.weights)
    of_modes = mode_parts(scored, pair, assignment)
    columns: dict[str, Any] = share_columns(comparison, assignment, {"first": pair[0], "second": pair[1]})
    for k, part in enumerate(PARTS):
        columns |= {f"{part}_part": of_modes.shown[:, k], f"{part}_error": of_modes.errors[:, k]}
        columns[f"{part}_change"] = -of_modes.exact[:, k]
    rows = nearest_rows(comparison, assignment, directions, pair)
    frame = pd.DataFrame({"mode": labels(directions, "more in first", "more in second"), **columns, "rows": rows})
    note = (
        f"parts: influence values of {result.label} without bias, to first order −change; "
        "NaN where they are off by over 20 % of it"
    )
    names = f"first: {first}, second: {second}"
    frame.attrs["conventions"] = [names, note, *conventions(comparison, assignment), *scores.conventions]
    frame.attrs["assignment"] = assignment
    frame.attrs["differences"] = differences(scored, pair)
    frame.attrs["sentences"] = sentences(frame, result.label, (first, second), [s.name for s in comparison.clients])
    return frame


def _summaries(result: Cells, clients: Sequence[Side]) -> list[tuple[Any, Any]]:
    return [(summary, side.rows) for summary, side in zip(result.real, clients, strict=True)]


def differences(scored: ScoredRows, pair: Sequence[Side]) -> dict[str, float]:
    """Return avg and all of the first generator less those of the second, without the bias of few rows."""
    first, second = (scored.influence(side.rows).scores for side in pair)
    return dict(zip(PARTS, (first - second).tolist(), strict=True))


def apart(frame: pd.DataFrame) -> np.ndarray:
    """Return how far the changes by avg and by all of each mode are from each other; 0 where by rounding alone."""
    changes = frame[[f"{part}_change" for part in PARTS]].to_numpy(np.float64)
    by_avg, by_all = changes.T
    largest = np.fmax.reduce(np.abs(changes), axis=None, initial=0.0)
    return np.where(is_tie(by_avg, by_all, largest), 0.0, np.abs(by_avg - by_all))


def sentences(frame: pd.DataFrame, label: str, pair: tuple[str, str], clients: Sequence[str]) -> list[str]:
    """Return in words what each mode decides by avg and by all, and whose it is; the one they differ about most first.

    By the exact change when its generated rows are left out.
    """
    with_changes = frame.dropna(subset=["avg_change", "all_change"])
    with_changes = with_changes[(with_changes["first"] > 0) | (with_changes["second"] > 0)]
    lines = []
    for place in with_changes.index[order(-apart(with_changes))]:
        row = frame.loc[place]
        *_, which, number = row["mode"].split()
        own = np.array([float(row[column]) for column in client_columns(clients).values()])
        shares = f"{row['first']:.0%} of {pair[0]}, {row['second']:.0%} of {pair[1]}"
        whose = f"most frequent at {clients[lowest(-own)]} ({own.max():.0%} of its rows)"
        changes = " and ".join(f"{_signed(row[f'{part}_change'])} ({label}-{part})" for part in PARTS)
        where = whose if own.max() > 0 else "at no client"
        lines.append(
            f"Mode {number}, more in {pair[which == 'second']} ({shares}; {where}): "
            f"without these rows {pair[0]} − {pair[1]} changes by {changes}."
        )
    return lines


def _signed(change: float) -> str:
    return f"{'+' if change > 0.0 else ''}{figure(change, 3)}"
