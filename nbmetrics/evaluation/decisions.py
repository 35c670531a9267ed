"""Which generator, and who pays for it: pairs and how sure they are, the worst client, the regret of each client."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, check_choice, check_flag, check_list, shown
from ..ranking import inverted_pairs, lowest, same_scores
from .cells import Cells
from .scores_protocol import ScoresProtocol
from .winners import lies_below_zero

if TYPE_CHECKING:
    import pandas as pd

# In the place of a name, where no score says which it is.
NOBODY = "–"


class Losses(NamedTuple):
    """What generators are ranked by, lower is better: by aggregate (generators,), and client by client.

    `own_values`, `own` : scores and losses (generators, clients) of each client with what the generator made for it
    """

    by_aggregate: dict[str, np.ndarray]
    own_values: np.ndarray
    own: np.ndarray


def losses_of(scores: ScoresProtocol, metric: str, corrected: bool) -> Losses:
    """Return all losses of one metric: plain, or without the bias of few rows."""
    cells = scores.result(metric)
    values, own = {part: np.asarray(getattr(cells, part)) for part in cells.aggregates}, cells.own
    if check_flag(corrected, "corrected"):
        if cells.noise is None:
            raise _no_intervals("corrected", cells)
        table, clients = (frame[frame["metric"] == metric] for frame in (scores.table, scores.clients))
        values = {part: table[f"{part}_corrected"].to_numpy(float) for part in values}
        own = clients["own_corrected" if cells.own_cells else "corrected"].to_numpy(float).reshape(own.shape)
    return Losses({part: cells.losses(column) for part, column in values.items()}, own, cells.losses(own))


def pair_of_losses(
    scores: ScoresProtocol, metric: str, corrected: bool, between: Any
) -> tuple[tuple[str, str], np.ndarray, np.ndarray]:
    """Return two aggregates and the losses by them; InvalidInput where `between` is no pair of them."""
    by = losses_of(scores, metric, corrected).by_aggregate
    pair = () if isinstance(between, str) else check_list(between, "between", 2)
    parts = [check_choice(part, by, "between") for part in pair]
    if len(set(parts)) != 2:
        raise InvalidInput("between", f"got {shown(between)}", f"Name two of {', '.join(by)}")
    first, second = parts
    return (first, second), by[first], by[second]


def inversions(scores: ScoresProtocol, metric: str, corrected: bool, between: Any) -> pd.DataFrame:
    """See `Scores.inversions`."""
    import pandas as pd

    pair, one, other = pair_of_losses(scores, metric, corrected, between)
    rows = []
    for inverted in inverted_pairs(one, other).tolist():
        first, second = sorted(inverted, key=lambda g: one[g])
        names = scores.generators[first], scores.generators[second]
        rows.append((*names, abs(one[second] - one[first]), abs(other[second] - other[first])))
    return pd.DataFrame(rows, columns=[f"{part}_{what}" for what in ("prefers", "margin") for part in pair])


def flips(scores: ScoresProtocol, metric: str) -> pd.DataFrame:
    """See `Scores.flips`."""
    import pandas as pd

    cells, generators = scores.result(metric), scores.generators
    if cells.noise is None:
        raise _no_intervals("metric", cells)
    by = losses_of(scores, metric, False).by_aggregate
    rows = []
    for pair in itertools.combinations(range(len(generators)), 2):
        row: dict[str, Any] = {}
        for part in ("avg", *(part for part in by if part != "avg")):
            worse = cells.noise.worse(scores.weights, part, pair, by[part])
            row[f"{part}_prefers"] = _winner_of_pair(generators, pair, by[part], worse)
            if part == "avg":
                row["over"] = ", ".join(generators[g] for g in pair if generators[g] != row["avg_prefers"])
            row[f"{part}_p"] = min(worse, 1.0 - worse)
        rows.append(row)
    columns = [f"{part}_{what}" for part in by for what in ("prefers", "p")]
    columns.insert(columns.index("avg_p"), "over")
    return pd.DataFrame(rows, columns=columns)


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


def worst(scores: ScoresProtocol, metric: str, corrected: bool) -> pd.DataFrame:
    """See `Scores.worst`."""
    import pandas as pd

    _, values, losses = losses_of(scores, metric, corrected)
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


def winners(losses: Losses, weights: tuple[float, ...], is_left_out: Any = False) -> dict[str, int | None]:
    """The positions of the generators that are best by each aggregate and with the client they serve worst.

    `is_left_out` (generators,) are never the best.
    """
    at = [_worst_client(row, weights) for row in losses.own]
    worst = np.array([math.nan if c is None else row[c] for row, c in zip(losses.own, at, strict=True)])
    by = losses.by_aggregate | {"worst": worst}
    return {name: _lowest(np.where(is_left_out, math.nan, own)) for name, own in by.items()}


def regrets(losses: np.ndarray) -> np.ndarray:
    """Loss − that client's lowest, of losses (generators, clients): 0 or more, NaN where unknown."""
    best = np.fmin.reduce(losses, axis=0)
    return np.subtract(losses, best, out=np.zeros_like(losses), where=~same_scores(losses, best))


def regret(scores: ScoresProtocol, metric: str, corrected: bool) -> pd.DataFrame:
    """See `Scores.regret`."""
    import pandas as pd

    losses = losses_of(scores, metric, corrected)
    is_left_out = lies_below_zero(scores.result(metric)) if corrected else False
    lost, chosen = regrets(losses.own), winners(losses, scores.weights, is_left_out)
    own = [_lowest(column) for column in losses.own.T]
    best = [math.nan if g is None else losses.own_values[g, c] for c, g in enumerate(own)]
    columns = {f"by_{by}": np.full(len(own), math.nan) if g is None else lost[g] for by, g in chosen.items()}
    frame = pd.DataFrame({"client": scores.names, "own_best": best, **columns})
    frame.attrs["winners"] = {by: _name_of(scores, g) for by, g in chosen.items()}
    frame.attrs["own"] = {name: _name_of(scores, g) for name, g in zip(scores.names, own, strict=True)}
    return frame


def _name_of(scores: ScoresProtocol, position: int | None) -> str:
    return NOBODY if position is None else scores.generators[position]
