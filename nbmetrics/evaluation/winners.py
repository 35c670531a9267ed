"""Who is best by each aggregate, decided once for tables, sentences, files, figures and labs.

What decides is the score that a table shows first: the one without the bias of few rows where every generator that has
a score has that one, too, else the plain one. A generator whose corrected distance lies below 0 by more than chance is
left out, as its rows are not independent of the clients'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ranking import all_lowest, numeral
from .cells import Cells

# The aggregates by which generators are ranked; where one has a distribution for each client `Cells.aggregates` has
# intra, too.
AGGREGATES = ("avg", "all")


@dataclass(frozen=True, eq=False)
class Winners:
    """Who is best of one metric, and what decides it.

    Attributes
    ----------
    losses : by aggregate (generators,) what decides, lower is better
    best : by aggregate the positions of the best, several where they tie; none where no score is known
    is_corrected : whether the losses are without the bias of few rows
    is_left_out : (generators,) whose distance lies below 0 by more than chance
    """

    losses: dict[str, np.ndarray]
    best: dict[str, list[int]]
    is_corrected: bool
    is_left_out: np.ndarray

    @property
    def agree(self) -> bool:
        """Whether all aggregates have the same best generators."""
        return len({tuple(best) for best in self.best.values()}) == 1

    @property
    def are_known(self) -> bool:
        """Whether every generator has a score by every aggregate."""
        return not any(np.isnan(losses).any() for losses in self.losses.values())

    def names(self, part: str, generators: Sequence[str]) -> str:
        """Return the best generators by one aggregate as text."""
        return " and ".join(generators[g] for g in self.best[part]) or "no generator"


def winners_of(cells: Cells) -> Winners:
    """Return who is best of one metric, as a table shows it."""
    plain = {part: np.asarray(getattr(cells, part)) for part in cells.aggregates}
    ends = cells.intervals()
    corrected = {part: ends.get(f"{part}_corrected", scores) for part, scores in plain.items()}
    is_corrected = not any(np.isnan(corrected[part][~np.isnan(scores)]).any() for part, scores in plain.items())
    losses = {part: cells.losses(scores) for part, scores in (corrected if is_corrected else plain).items()}
    is_left_out = lies_below_zero(cells)
    best = {part: all_lowest(np.where(is_left_out, np.nan, own)) for part, own in losses.items()}
    return Winners(losses, best, is_corrected, is_left_out)


def plain_winners_of(cells: Cells) -> Winners:
    """Return who would be best by the plain scores."""
    losses = {part: cells.losses(np.asarray(getattr(cells, part))) for part in cells.aggregates}
    best = {part: all_lowest(own) for part, own in losses.items()}
    return Winners(losses, best, False, np.zeros(len(cells.generated), dtype=bool))


def lies_below_zero(cells: Cells) -> np.ndarray:
    """Return of each generator whether its distance, by any aggregate, lies below 0 by more than chance."""
    is_below = np.zeros(len(cells.generated), dtype=bool)
    for part in cells.aggregates if cells.noise is not None and cells.metric.is_distance else ():
        is_below |= _is_below(cells, part)
    return is_below


def _is_below(cells: Cells, part: str) -> np.ndarray:
    ends = cells.intervals()
    return np.asarray(is_surely_below_zero(ends[f"{part}_corrected"], ends[f"{part}_high"]))


def below_zero_cautions(cells: Cells, generators: Sequence[str]) -> Iterator[str]:
    """Yield a caution for each generator whose distance lies below 0 by more than chance."""
    ends = cells.intervals()
    for g in map(int, np.flatnonzero(lies_below_zero(cells))):
        which = [part for part in cells.aggregates if _is_below(cells, part)[g]]
        low, high = (numeral(float(ends[f"{which[0]}_{end}"][g]), ".3g") for end in ("low", "high"))
        yield (
            f"{cells.label} {' and '.join(which)} of {generators[g]}: the interval [{low}, {high}] lies far below 0, "
            "but no distance does. Its rows are probably not independent draws (copies of the clients' rows, or a "
            "fixed number of each class?), so it is not marked as best. The metrics AuthPct ('auth_pct') and C_T "
            "('c_t') check for copies."
        )


def is_surely_below_zero(estimate: Any, high: Any) -> Any:
    """Whether an interval with this upper end, made twice as wide, still lies below 0; elementwise.

    A perfect generator's interval of 90 % lies below 0 in one of 20 evaluations, one twice as wide in one of 2,000.
    """
    with np.errstate(invalid="ignore"):  # an infinite score is not below 0
        return estimate + 2.0 * (high - estimate) < 0.0


def is_about_zero(estimate: float, high: float) -> bool:
    """Whether the estimate of a distance is below 0 as it may be by chance."""
    return estimate < 0.0 and not is_surely_below_zero(estimate, high)
