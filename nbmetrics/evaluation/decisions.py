"""Which generator, and who pays for it: pairs and how sure they are, the worst client, the regret of each client."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput, check_flag
from ..ranking import inverted_pairs, lowest, same_scores
from .cells import Cells, ScoresProtocol, Values
from .winners import AGGREGATES, lies_below_zero

if TYPE_CHECKING:
    import pandas as pd

# In the place of a name, where no score says which it is.
NOBODY = "–"


def losses(scores: ScoresProtocol, metric: str, corrected: bool) -> Values:
    """Return all losses of one metric: plain, or without the bias of few rows."""
    return _values_and_losses(scores, metric, corrected)[1]


def inversions(scores: ScoresProtocol, metric: str, corrected: bool) -> pd.DataFrame:
    """See `Scores.inversions`."""
    import pandas as pd

    avg, pooled, _ = losses(scores, metric, corrected)
    rows = []
    for pair in inverted_pairs(avg, pooled).tolist():
        first, second = sorted(pair, key=lambda g: avg[g])
        names = scores.generators[first], scores.generators[second]
        rows.append((*names, abs(avg[second] - avg[first]), abs(pooled[second] - pooled[first])))
    return pd.DataFrame(rows, columns=["avg_prefers", "all_prefers", "avg_margin", "all_margin"])


def flips(scores: ScoresProtocol, metric: str) -> pd.DataFrame:
    """See `Scores.flips`."""
    import pandas as pd

    cells, generators = scores.result(metric), scores.generators
    if cells.noise is None:
        raise _no_intervals("metric", cells)
    avg, pooled, _ = scores.losses(metric)
    rows = []
    for pair in itertools.combinations(range(len(generators)), 2):
        row = []
        for part, estimate in (("avg", avg), ("all", pooled)):
            worse = cells.noise.worse(scores.weights, part, pair, estimate)
            row += [_winner_of_pair(generators, pair, estimate, worse), min(worse, 1.0 - worse)]
        over = [generators[g] for g in pair if generators[g] != row[0]]
        rows.append((row[0], ", ".join(over), *row[1:]))
    return pd.DataFrame(rows, columns=["avg_prefers", "over", "avg_p", "all_prefers", "all_p"])


def _no_intervals(argument: str, cells: Cells) -> InvalidInput:
    """Why scores have no intervals, and where they have some."""
    way = "nm.evaluate(…, uncertainty=nm.Influence())"
    if cells.sent:
        seen = f"{cells.label} is made of summaries, which have no intervals"
        return InvalidInput(argument, seen, f"Evaluate where the rows are: {way}")
    return InvalidInput(argument, f"{cells.label} was evaluated without uncertainty", way)


def _winner_of_pair(generators: tuple[str, ...], pair: tuple[int, int], losses: np.ndarray, worse: float) -> str:
    """The better of two generators, by the p-value that the first is, or by their losses without one."""
    first, second = losses[list(pair)]
    if math.isnan(first) or math.isnan(second):
        return NOBODY
    is_worse = lowest([first, second]) == 1 if math.isnan(worse) else worse > 0.5
    return generators[pair[1 if is_worse else 0]]


def _values_and_losses(scores: ScoresProtocol, metric: str, corrected: bool) -> tuple[np.ndarray, Values]:
    """The clients' scores (generators, clients) and all losses: plain, or without the bias of few rows."""
    values, cells = scores.values(metric), scores.result(metric)
    if check_flag(corrected, "corrected"):
        if cells.noise is None:
            raise _no_intervals("corrected", cells)
        table, clients = (frame[frame["metric"] == metric] for frame in (scores.table, scores.clients))
        by_client = clients["corrected"].to_numpy(float).reshape(values.by_client.shape)
        avg, pooled = (table[f"{part}_corrected"].to_numpy(float) for part in ("avg", "all"))
        values = Values(avg, pooled, by_client)
    losses = Values(cells.losses(values.avg), cells.losses(values.all), cells.losses(values.by_client))
    return values.by_client, losses


def worst(scores: ScoresProtocol, metric: str, corrected: bool) -> pd.DataFrame:
    """See `Scores.worst`."""
    import pandas as pd

    values, (*_, losses) = _values_and_losses(scores, metric, corrected)
    at = [_worst_client(row, scores.weights) for row in losses]
    rows = [(math.nan, NOBODY) if c is None else (row[c], scores.names[c]) for row, c in zip(values, at, strict=True)]
    return pd.DataFrame(rows, columns=["worst", "client"]).assign(generator=scores.generators)[
        ["generator", "worst", "client"]
    ]


def _worst_client(losses: np.ndarray, weights: tuple[float, ...]) -> int | None:
    """The first of the clients that count with the highest loss; None where one of their losses is not known."""
    counted = np.flatnonzero(weights)
    return None if np.isnan(losses[counted]).any() else int(counted[_lowest(-losses[counted])])


def _lowest(losses: np.ndarray) -> int | None:
    """The first of the lowest, of equals but for rounding; None where none is known."""
    return None if np.isnan(losses).all() else lowest(losses)


def winners(values: Values, weights: tuple[float, ...], is_left_out: Any = False) -> dict[str, int | None]:
    """The positions of the generators that are best by avg, by all and with the client they serve worst.

    `is_left_out` (generators,) are never the best.
    """
    at = [_worst_client(row, weights) for row in values.by_client]
    worst = np.array([math.nan if c is None else row[c] for row, c in zip(values.by_client, at, strict=True)])
    by = {part: getattr(values, part) for part in AGGREGATES} | {"worst": worst}
    return {name: _lowest(np.where(is_left_out, math.nan, own)) for name, own in by.items()}


def regrets(losses: np.ndarray) -> np.ndarray:
    """Loss − that client's lowest, of losses (generators, clients): 0 or more, NaN where unknown."""
    best = np.fmin.reduce(losses, axis=0)
    return np.subtract(losses, best, out=np.zeros_like(losses), where=~same_scores(losses, best))


def regret(scores: ScoresProtocol, metric: str, corrected: bool) -> pd.DataFrame:
    """See `Scores.regret`."""
    import pandas as pd

    values, own_losses = _values_and_losses(scores, metric, corrected)
    is_left_out = lies_below_zero(scores.result(metric)) if corrected else False
    lost, chosen = regrets(own_losses.by_client), winners(own_losses, scores.weights, is_left_out)
    own = [_lowest(column) for column in own_losses.by_client.T]
    best = [math.nan if g is None else values[g, c] for c, g in enumerate(own)]
    columns = {f"by_{by}": np.full(len(own), math.nan) if g is None else lost[g] for by, g in chosen.items()}
    frame = pd.DataFrame({"client": scores.names, "own_best": best, **columns})
    frame.attrs["winners"] = {by: _name_of(scores, g) for by, g in chosen.items()}
    frame.attrs["own"] = {name: _name_of(scores, g) for name, g in zip(scores.names, own, strict=True)}
    return frame


def _name_of(scores: ScoresProtocol, position: int | None) -> str:
    return NOBODY if position is None else scores.generators[position]
