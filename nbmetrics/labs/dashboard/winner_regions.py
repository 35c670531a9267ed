"""Which generator wins where in the weights of three groups: polygons by avg, a grid by all; and each client's regret.

Twin: labs/dashboard/view/winner_regions.js · held by: tests/labs/dashboard/test_winner_regions_page.py

avg is linear in the weights, so a generator wins on a convex polygon. Points of the simplex are the groups' weights.
all is curved (but for KID), so its losses are computed on a grid, finer where the winner changes:

    {"metric", "generators": [G names], "groups": [k], "within": [k], "unit", "points": [[3 integers of sum `unit`]],
     "triangles": [[3 points]], "losses": [[G] of each point], "shifted", "doing": words}

`within` are the proportions that clients keep within their group. The page takes each triangle for flat
(view/winner_regions.js): at the points that is exact. A level of the grid is told once it is done, and how far the next
one is meanwhile. Where the bias of few rows cannot be taken off under any weights, or that takes ten times as long as
the score (many features), losses are plain, `shifted` by the bias under the weights on show.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...evaluation.cells import Cells
from ...ranking import is_tie, lowest, same_scores
from .json_numbers import json_number
from .reweighting import are_corrected, scores_under

# Of the whole triangle, what is no region.
MIN_AREA_SHARE = 1e-12


def regions(centres: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """Return where each generator wins by avg: the corners of a polygon, (corners, 3), none where it wins nowhere.

    Within a group (0, 1 or 2) the clients keep their proportions, or count alike where none has a weight. Of equal
    generators the first has the region. A group without clients leaves no regions.
    """
    within = proportions(groups, weights)
    if within is None:
        return [np.empty((0, 3)) for _ in centres]
    corners = [centres[:, own > 0] @ own[own > 0] for own in within]
    return polygons(np.stack(corners, axis=1))


def proportions(groups: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Return the weights of all clients at each corner of the triangle, (3, k); None where a group has no clients."""
    inside = groups == np.arange(3)[:, None]
    if not inside.any(axis=1).all():
        return None
    own = np.where(inside, weights, 0.0)
    own = np.where(own.sum(axis=1, keepdims=True) > 0, own, inside)
    return np.asarray(own / own.sum(axis=1, keepdims=True))


def polygons(corners: np.ndarray) -> list[np.ndarray]:
    """Return the same from the losses at the three corners, (G, 3); losses that are not finite win nowhere."""
    finite = [g for g in range(len(corners)) if np.isfinite(corners[g]).all()]
    by_generator = [np.empty((0, 3)) for _ in corners]
    for g in finite:
        polygon = np.eye(3)
        for h in finite:
            if are_equal(corners[g], corners[h]):
                polygon = polygon[:0] if h < g else polygon
            else:
                polygon = _clip(polygon, corners[h] - corners[g])
        by_generator[g] = polygon if area_share(polygon) > MIN_AREA_SHARE else polygon[:0]
    return by_generator


def are_equal(first: np.ndarray, second: np.ndarray) -> bool:
    return bool(is_tie(first, second, max(np.abs(first).max(), np.abs(second).max())).all())


def _clip(polygon: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """Return the part of a convex polygon where a linear function, given at the corners, is not negative."""
    values = polygon @ ahead
    kept = []
    for n in range(len(polygon)):
        (p, q), (a, b) = polygon[[n - 1, n]], values[[n - 1, n]]
        if (a < 0) != (b < 0):
            kept.append(p + (q - p) * (a / (a - b)))
        if b >= 0:
            kept.append(q)
    return np.array(kept).reshape(-1, 3)


def area_share(polygon: np.ndarray) -> float:
    """Return the area of a polygon as a share of the triangle."""
    x, y = polygon[:, 0], polygon[:, 1]
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def regret(centres: np.ndarray) -> np.ndarray:
    """Return what clients lose with each generator beside their best one, (G, k), at least 0; NaN where not known."""
    with np.errstate(invalid="ignore"):
        best = np.fmin.reduce(centres, axis=0)
        return np.where(same_scores(centres, best), 0.0, centres - best)


def worst(centres: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the largest loss of a client with a weight, of each generator, (G,); NaN where one is not known."""
    return centres[:, weights > 0].max(axis=1)


# Of the sides of the triangle, in which points are whole.
STEPS_A_SIDE = 16
# Up to so many features scores take no time, and the grid begins with 4 steps a side and is halved twice; else with 2.
MAX_QUICK_FEATURES = 256
QUICK_STEPS, SLOW_STEPS, MAX_HALVINGS = 4, 2, 2
# Seconds between two words about how far it is.
PROGRESS_INTERVAL_SECONDS = 0.3
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
    """Yield the map of who wins by all, level by level; None in between, where nothing is new.

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
        score = scores_under(result, np.asarray(point) @ within / STEPS_A_SIDE, plain=is_plain)
        return (float(result.losses(np.array(score(g)))) - shift[g] for g in range(len(names)))

    is_wide = dim > MAX_QUICK_FEATURES
    is_plain = is_wide or not are_corrected(result)
    shift = np.nan_to_num(bias) if is_plain else np.zeros(len(names))
    about = {"metric": result.name, "generators": list(names), "groups": list(groups), "shifted": bool(shift.any())}
    begin = {**about, "within": within.sum(axis=0).tolist(), "unit": STEPS_A_SIDE}
    for level in refine_grid(losses_at, SLOW_STEPS if is_wide else QUICK_STEPS, MAX_HALVINGS):
        yield None if level is None else {**begin, **level}


def refine_grid(
    losses_at: Callable[[Point], Iterator[float]], steps: int, halvings: int
) -> Iterator[dict[str, Any] | None]:
    """Yield points, triangles and losses of a grid of `steps` a side, halved where the corners' winners differ."""
    losses_by_point: dict[Point, list[float]] = {}
    shown: dict[str, Any] = {}
    triangles, told = grid(steps), 0.0
    for level in range(halvings + 1):
        missing = [point for point in dict.fromkeys(chain(*triangles)) if point not in losses_by_point]
        for done, point in enumerate(missing):
            losses = []
            for loss in losses_at(point):
                losses.append(loss)
                now = time.monotonic()
                is_due = now - told > PROGRESS_INTERVAL_SECONDS
                told = now if is_due else told
                yield {**shown, "doing": f"point {done + 1} of {len(missing)}"} if is_due else None
            losses_by_point[point] = losses
        finer = [part for t in triangles for part in (halve(t) if has_mixed_corners(t, losses_by_point) else [t])]
        shown = _grid_json(triangles, losses_by_point)
        if level == halvings or len(finer) == len(triangles):
            break
        yield {**shown, "doing": "a finer grid"}
        triangles = finer
    yield {**shown, "doing": ""}


def grid(steps: int) -> list[Triangle]:
    """Return the small triangles of a triangle whose sides are cut into so many steps."""
    size = STEPS_A_SIDE // steps

    def at(i: int, j: int) -> Point:
        return i * size, j * size, STEPS_A_SIDE - (i + j) * size

    up = [(at(i, j), at(i + 1, j), at(i, j + 1)) for i in range(steps) for j in range(steps - i)]
    down = [(at(i, j), at(i - 1, j), at(i, j - 1)) for i in range(1, steps) for j in range(1, steps - i + 1)]
    return up + down


def halve(triangle: Triangle) -> list[Triangle]:
    """Return the four parts of a triangle."""
    a, b, c = triangle
    ab, bc, ca = _midpoint(a, b), _midpoint(b, c), _midpoint(c, a)
    return [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]


def _midpoint(a: Point, b: Point) -> Point:
    return (a[0] + b[0]) // 2, (a[1] + b[1]) // 2, (a[2] + b[2]) // 2


def has_mixed_corners(triangle: Triangle, losses_by_point: dict[Point, list[float]]) -> bool:
    """Return whether different generators win at its corners."""
    return len({_winner(losses_by_point[point]) for point in triangle}) > 1


def _winner(losses: list[float]) -> int:
    return lowest(losses)


def _grid_json(triangles: list[Triangle], losses_by_point: dict[Point, list[float]]) -> dict[str, Any]:
    points = {point: i for i, point in enumerate(losses_by_point)}
    return {
        "points": [list(point) for point in points],
        "triangles": [[points[corner] for corner in triangle] for triangle in triangles],
        "losses": [[json_number(loss) for loss in own] for own in losses_by_point.values()],
    }
