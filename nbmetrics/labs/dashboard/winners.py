"""Who wins by all in the weights of three groups: losses on a grid of the triangle, finer where the winner changes.

    {"metric", "generators": [G names], "groups": [k], "within": [k], "unit", "points": [[3 integers of sum `unit`]],
     "triangles": [[3 points]], "losses": [[G] of each point], "shifted", "doing": words}

`within` are the proportions that clients keep within their group. All but KID is curved in the weights, so the page
takes each triangle for flat (view/winners.js): at the points that is exact. A level of the grid is told once it is
done, and how far the next one is meanwhile. Where the bias of few rows cannot be taken off under any weights, or that
takes ten times as long as the score (many features), losses are plain, `shifted` by the bias under the weights on show.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...evaluation.cells import Cells
from ...ranking import lowest
from .board import number
from .regions import proportions
from .reweighting import are_corrected, scores_under

# Of the sides of the triangle, in which points are whole.
UNIT = 16
# Up to so many features scores take no time, and the grid begins with 4 steps a side and is halved twice; else with 2.
WIDE = 256
QUICK, SLOW, HALVINGS = 4, 2, 2
# Seconds between two words about how far it is.
OFTEN = 0.3
Point = tuple[int, int, int]
Triangle = tuple[Point, Point, Point]


def winner_map(
    result: Cells,
    names: Sequence[str],
    groups: Sequence[int],
    weights: Sequence[float],
    bias: np.ndarray,
    dim: int,
) -> Iterator[dict[str, Any] | None]:
    """What to show, level after level; None in between, where nothing is new.

    Parameters
    ----------
    result : of the generators `names`
    groups, weights : of each client its group, 0, 1 or 2, and its λ, of which the proportions within groups count
    bias : (G,) of few rows under the weights on show, in losses; NaN where it is not known
    dim : features

    Raises
    ------
    InvalidInput
        Where a group has no clients.
    """
    groups = groups or [3 * i // len(weights) for i in range(len(weights))]
    within = proportions(np.asarray(groups), np.asarray(weights))
    if within is None:
        raise InvalidInput("groups", "leave a corner of the triangle without clients", "Give each corner a client")

    def losses_at(point: Point) -> Iterator[float]:
        score = scores_under(result, np.asarray(point) @ within / UNIT, plain=is_plain)
        return (float(result.losses(np.array(score(g)))) - shift[g] for g in range(len(names)))

    is_wide = dim > WIDE
    is_plain = is_wide or not are_corrected(result)
    shift = np.nan_to_num(bias) if is_plain else np.zeros(len(names))
    about = {"metric": result.name, "generators": list(names), "groups": list(groups), "shifted": bool(shift.any())}
    begin = {**about, "within": within.sum(axis=0).tolist(), "unit": UNIT}
    for found in refined(losses_at, SLOW if is_wide else QUICK, HALVINGS):
        yield None if found is None else {**begin, **found}


def refined(
    losses_at: Callable[[Point], Iterator[float]], steps: int, halvings: int
) -> Iterator[dict[str, Any] | None]:
    """The points, triangles and losses of a grid of `steps` a side, halved where the corners' winners differ."""
    known: dict[Point, list[float]] = {}
    shown: dict[str, Any] = {}
    triangles, told = grid(steps), 0.0
    for level in range(halvings + 1):
        missing = [point for point in dict.fromkeys(chain(*triangles)) if point not in known]
        for done, point in enumerate(missing):
            losses = []
            for loss in losses_at(point):
                losses.append(loss)
                now = time.monotonic()
                is_due = now - told > OFTEN
                told = now if is_due else told
                yield {**shown, "doing": f"point {done + 1} of {len(missing)}"} if is_due else None
            known[point] = losses
        finer = [part for t in triangles for part in (halved(t) if is_crossed(t, known) else [t])]
        shown = _written(triangles, known)
        if level == halvings or len(finer) == len(triangles):
            break
        yield {**shown, "doing": "a finer grid"}
        triangles = finer
    yield {**shown, "doing": ""}


def grid(steps: int) -> list[Triangle]:
    """The small triangles of a triangle whose sides are cut into so many steps."""
    size = UNIT // steps

    def at(i: int, j: int) -> Point:
        return i * size, j * size, UNIT - (i + j) * size

    up = [(at(i, j), at(i + 1, j), at(i, j + 1)) for i in range(steps) for j in range(steps - i)]
    down = [(at(i, j), at(i - 1, j), at(i, j - 1)) for i in range(1, steps) for j in range(1, steps - i + 1)]
    return up + down


def halved(triangle: Triangle) -> list[Triangle]:
    """Its four parts."""
    a, b, c = triangle
    ab, bc, ca = _middle(a, b), _middle(b, c), _middle(c, a)
    return [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]


def _middle(a: Point, b: Point) -> Point:
    return (a[0] + b[0]) // 2, (a[1] + b[1]) // 2, (a[2] + b[2]) // 2


def is_crossed(triangle: Triangle, known: dict[Point, list[float]]) -> bool:
    """Whether not the same generator wins at all corners."""
    return len({_winner(known[point]) for point in triangle}) > 1


def _winner(losses: list[float]) -> int:
    return lowest(losses)


def _written(triangles: list[Triangle], known: dict[Point, list[float]]) -> dict[str, Any]:
    points = {point: i for i, point in enumerate(known)}
    return {
        "points": [list(point) for point in points],
        "triangles": [[points[corner] for corner in triangle] for triangle in triangles],
        "losses": [[number(loss) for loss in own] for own in known.values()],
    }
