"""The Playground's numbers in Python: the reference for the page's closed forms, and what only Python computes.

Twin: labs/playground/view/sweep.js · held by: tests/labs/playground/test_sweep_page.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...distributions import Distribution
from ...evaluation.evaluate import evaluate
from ...evaluation.sampling import shares_of
from ...metrics import CFID, MFID, RFID, Sample, metric_of
from ...metrics.kid.kernels import RBF
from ...metrics.kid.metric import KID
from ..plane.draws import draw
from .scene import METRICS, Scene

ALWAYS = ("fid", "kid")
# Points a side where a metric has no closed form and the scene draws none.
POINTS = 300
REDRAWS = 20
# The seed of held-out points, away from those that the clients hold.
HELD_OUT = 1_000_003

MADE: dict[str, Callable[[], Any]] = {
    "kid_rbf": lambda: KID(RBF(), name="kid_rbf"),
    "mfid": lambda: MFID(condition_dim=1),
    "rfid": lambda: RFID(condition_dim=1),
    "cfid": lambda: CFID(condition_dim=1),
}
FROM_ROWS = tuple(name for name, facts in METRICS.items() if facts["closed"] == "never")


def metrics_of(scene: Scene) -> list[Any]:
    """FID, KID and the metric that the scene charts, where it has a closed form for laws."""
    name = scene.view["metric"]
    return [*ALWAYS, *([MADE[name]()] if name in MADE else [])]


def computed(scene: Scene) -> dict[str, Any]:
    """Scores as plain JSON: `scores` by metric with avg, all and by client; `bands` where points are redrawn."""
    started = time.perf_counter()
    scores = plain(evaluate(scene.federation, scene.sources, metrics_of(scene), progress=False))
    name = scene.view["metric"]
    if name in FROM_ROWS:
        scores |= _from_rows(scene, name)
    found: dict[str, Any] = {"scores": scores}
    if scene.samples and scene.view["panel"] == "samples":
        found["bands"] = _bands(scene)
    return {**found, "seconds": time.perf_counter() - started}


def plain(scores: Any) -> dict[str, Any]:
    """Scores as lists: avg and all by generator, byClient by generator and client."""
    found = {}
    for name in scores.metrics:
        avg, pooled, by_client = scores.values(name)
        found[name] = {"avg": avg.tolist(), "all": pooled.tolist(), "byClient": by_client.tolist()}
    return found


def _from_rows(scene: Scene, name: str) -> dict[str, Any]:
    """A metric that needs rows, on the points of the scene or on 300 a side; the clients in proportion to weights."""
    metric, weights = metric_of(name), scene.laws.weights
    real, pooled = _real_side(_Clients(scene), name)
    drawn = scene if scene.samples else scene.drawn(POINTS)
    made = [metric.summarize(Sample(rows=rows)) for rows in map(_as_rows, drawn.sources.values())]
    by_client = np.array([[metric.distance(summary, g) for summary in real] for g in made])
    together = [metric.distance(pooled, g) for g in made]
    return {name: {"avg": (by_client @ weights).tolist(), "all": together, "byClient": by_client.tolist()}}


class _Clients:
    """The clients of a scene, equal where they draw the same points: what the answer of a drag may keep."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.key = (scene.clients, scene.samples, scene.seed, tuple(map(id, scene.data.values())))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Clients) and self.key == other.key


@lru_cache(maxsize=4)
def _real_side(clients: _Clients, name: str) -> tuple[list[Any], Any]:
    """Summaries of the clients' points and of all of them; FLD gets as many held-out points again."""
    scene, metric = clients.scene, metric_of(name)
    laws = scene.laws
    counts = shares_of(laws.weights, _total(scene, laws, 2 if name == "fld" else 1))
    real = []
    for position, (client, count) in enumerate(zip(laws, counts, strict=True)):
        count = max(count, metric.min_rows)
        if client.rows is None:
            rows = draw(client.distribution, scene.seed, 2 * position, count)
            test = draw(client.distribution, HELD_OUT + scene.seed, 2 * position, count)
        else:
            order = np.random.default_rng(scene.seed).permutation(len(client.rows))
            rows, test = client.rows[order[:count]], client.rows[order[count : 2 * count]]
        real.append(metric.summarize(Sample(rows=rows, test=test if name == "fld" else None, is_drawn=True)))
    return real, metric.pool(real, laws.weights)


def _total(scene: Scene, laws: Any, parts: int) -> int:
    """Points of all clients together: as many as the scene draws, or as rows of data in proportion to weights give."""
    held = [len(c.rows) // parts / w for c, w in zip(laws, laws.weights, strict=True) if c.rows is not None and w]
    wanted = scene.samples * len(laws) if scene.samples else POINTS if len(held) < len(laws) else math.inf
    return int(min([wanted, *held]))


def _as_rows(source: Any) -> Any:
    return source.sample(POINTS, np.random.default_rng(0)) if isinstance(source, Distribution) else source


def _bands(scene: Scene) -> dict[str, Any]:
    """The exact value, and the mean and the 5 % and 95 % quantiles of the estimate over redrawn points.

    The gap of FID has also `alike`, the gap that so many points of clients of one law would show.
    """
    exact = plain(evaluate(scene.laws, replace(scene, samples=0).sources, ALWAYS, progress=False))
    runs, alike = [], []
    for k in range(REDRAWS):
        again = scene.drawn(scene.samples, scene.seed + 1 + k)
        scores = evaluate(again.federation, again.sources, ALWAYS, progress=False)
        runs.append(plain(scores))
        alike.append(scores.size_gap("fid"))
    bands: dict[str, Any] = {}
    for name in ALWAYS:
        for part in ("avg", "all", "gap"):
            values = np.array([_aggregate(run[name], part) for run in runs])
            low, high = np.quantile(values, [0.05, 0.95], axis=0)
            bands.setdefault(name, {})[part] = {
                "exact": _aggregate(exact[name], part).tolist(),
                "mean": values.mean(axis=0).tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
            }
    bands["fid"]["gap"]["alike"] = np.mean(alike, axis=0).tolist()
    return bands


def _aggregate(numbers: dict[str, Any], part: str) -> np.ndarray:
    """avg, all, or their gap, one for each generator."""
    avg, pooled = np.array(numbers["avg"]), np.array(numbers["all"])
    return {"avg": avg, "all": pooled, "gap": avg - pooled}[part]
