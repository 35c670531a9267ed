"""What two generators disagree about, found when the page asks for it: see `Scores.disagreement`.

    {"pair": [A, B], "metric", "label", "clients": [k names], "weights": [k], "scores": [avg, all] of A − B,
     "order": "apart" or "change",
     "modes": [{"name", "first", "second", "clients": [k], "avg", "all", "rows": [{"of", "row", "picture"?}],
                "features": [[place, z] …]}],
     "doing": words}

`avg` and `all` say how A − B changes without the mode's generated rows. The mode where these are farthest apart is the
first; where all of them change alike, as by KID, the one that changes most. Rows have pictures where their generator is
of images; `features` are those whose mean in the mode is farthest from that of all real rows, in standard deviations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import to_numpy
from ...errors import InvalidInput
from ...evaluation.mode_influence import apart
from ...evaluation.modes import client_columns
from ...evaluation.scores import Scores
from ...ranking import order
from .json_numbers import json_number
from .thumbnails import with_pictures

if TYPE_CHECKING:
    import pandas as pd

MAX_MODES_SHOWN, MAX_FEATURES_SHOWN = 6, 3


def pair_of(generators: Sequence[str], chosen: str, by_avg: np.ndarray, by_all: np.ndarray) -> tuple[str, str]:
    """Return the two that are compared: the best by avg and the best by all, or the best and the chosen or next one."""
    places = [order(losses) for losses in (by_avg, by_all)]
    first, other = generators[places[0][0]], generators[places[1][0]]
    if first != other:
        return first, other
    return first, chosen if chosen in generators and chosen != first else generators[places[1][1]]


def disagreement(scores: Scores, metric: str, pair: tuple[str, str], images: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield what to show of two generators; `images` of each are what its rows were made of, or None.

    Raises
    ------
    InvalidInput
        Where the metric has no influence values, or rows are not here.
    """
    begin = {"pair": list(pair), "metric": metric, "label": scores.label(metric), "weights": list(scores.weights)}
    yield {**begin, "doing": "modes"}
    table = scores.disagreement(*pair, metric, most=MAX_MODES_SHOWN)
    result = scores.result(metric)
    samples = [result.generators[scores.generators.index(name)] for name in pair]
    rows = [to_numpy(sample.rows) for sample in samples if sample is not None and sample.rows is not None]
    real = np.concatenate([to_numpy(sample.together()) for sample in result.clients])
    by, shown = largest_first(table[(table["first"] > 0) | (table["second"] > 0)])
    modes = [
        _mode_json(table.loc[place], scores.names, dict(zip(pair, zip(rows, images, strict=True), strict=True)), real)
        for place in shown.index
    ]
    differences = [json_number(value) for value in table.attrs["differences"].values()]
    yield {**begin, "clients": list(scores.names), "scores": differences, "order": by, "modes": modes, "doing": ""}


def largest_first(modes: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Return what orders the modes, and the modes in that order, those of unknown change last."""
    sizes, by = apart(modes), "apart"
    if not (sizes > 0).any():
        sizes, by = modes["avg_change"].abs().to_numpy(), "change"
    return by, modes.iloc[order(-sizes)]


def _mode_json(mode: pd.Series, clients: Sequence[str], sources: dict[str, Any], real: np.ndarray) -> dict[str, Any]:
    carriers: list[dict[str, Any]] = []
    nearest = []
    for name, place in mode["rows"]:
        rows, images = sources[name]
        nearest.append(rows[place])
        carriers += with_pictures([{"of": name, "row": int(place)}], images, len(rows))
    own = [float(mode[column]) for column in client_columns(clients).values()]
    return {
        "name": mode["mode"],
        "first": json_number(mode["first"]),
        "second": json_number(mode["second"]),
        "clients": [json_number(share) for share in own],
        "avg": json_number(mode["avg_change"]),
        "all": json_number(mode["all_change"]),
        "rows": carriers,
        "features": _features(np.array(nearest), real) if nearest else [],
    }


def _features(rows: np.ndarray, real: np.ndarray) -> list[list[float | str]]:
    """Return the features of the nearest rows that are farthest from the real mean, in standard deviations."""
    spread = real.std(axis=0)
    away = np.divide(rows.mean(axis=0) - real.mean(axis=0), spread, out=np.zeros_like(spread), where=spread > 0)
    first = order(-np.abs(away))[:MAX_FEATURES_SHOWN]
    return [[int(k), json_number(float(away[k]))] for k in first]


def check_pair(generators: Sequence[str]) -> None:
    """Raise InvalidInput for fewer than two generators."""
    if len(generators) < 2:
        raise InvalidInput("generators", "on show are fewer than two", "Show two or more")
