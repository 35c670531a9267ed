"""The Playground's numbers in Python: the reference for the page's closed forms, and what only Python computes.

Twin: labs/playground/view/sweep.js · held by: tests/labs/playground/test_sweep_page.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...distributions import Distribution
from ...evaluation.evaluate import evaluate
from ...evaluation.samples import shares_of
from ...federation import Client
from ...metrics import CFID, MFID, RFID, Sample, metric_of
from ...metrics.kid.kernels import RBF
from ...metrics.kid.metric import KID
from ..plane.distributions import draw
from .scene import METRICS, Scene
from .score_cache import CachedMetric, ScoreCache

ALWAYS = ("fid", "kid")
# Points of all clients, and of a generator, where a metric has no closed form and the scene draws none. FLD is made to
# be about 0 of a perfect generator that gives at most half as many rows as there are to learn from: at 150 of 300 in
# the plane it is 1 to 3 on average, with a standard deviation of 4; FLD-avg, of clients with fewer rows, may be lower.
POINTS_PER_CLIENT = 300
GENERATED = {"fld": POINTS_PER_CLIENT // 2}
REDRAWS = 20
# Redraws for the noise of a difference of scores, and Student's 97.5 % quantile; none where a draw of more points takes
# seconds, as it does without a closed form.
MARGIN_REDRAWS, MARGIN_QUANTILE, MAX_MARGIN_POINTS = 3, 3.182, 200
# The seed of held-out points, away from those that the clients hold.
HELD_OUT_SEED = 1_000_003

MADE: dict[str, Callable[[], Any]] = {
    "kid_rbf": lambda: KID(RBF(), name="kid_rbf"),
    "mfid": lambda: MFID(condition_dim=1),
    "rfid": lambda: RFID(condition_dim=1),
    "cfid": lambda: CFID(condition_dim=1),
}
FROM_ROWS = tuple(name for name, facts in METRICS.items() if facts["closed"] == "never")


def metrics_of(scene: Scene) -> list[Any]:
    """Return FID, KID and the charted metric, where it has a closed form for distributions."""
    name = scene.view["metric"]
    return [*ALWAYS, *([MADE[name]()] if name in MADE else [])]


def compute(scene: Scene, memory: ScoreCache | None = None) -> dict[str, Any]:
    """Scores as plain JSON: `scores` by metric with avg, all and by client; `bands` where points are redrawn.

    `margins`, where the charted metric is of drawn points: for avg and all, by pair of generators, how far apart their
    scores must lie to be more than the luck of the draw; with the number of points in `samples`.

    `memory` : what earlier answers computed, so that this one computes what has changed
    """
    started = time.perf_counter()
    with memory or ScoreCache() as memory:
        metrics = [CachedMetric(metric_of(metric), memory) for metric in metrics_of(scene)]
        scores = plain(evaluate(scene.federation, scene.sources, metrics, progress=False))
        name = scene.view["metric"]
        if name in FROM_ROWS:
            scores |= _from_rows(scene, name, memory)
        result: dict[str, Any] = {"scores": scores}
        is_quick = METRICS[name]["closed"] == "always" or scene.samples <= MAX_MARGIN_POINTS
        if (name in FROM_ROWS or scene.samples) and is_quick and len(scene.generators) > 1:
            result["margins"] = {name: _margins(scene, name, scores[name], memory), "samples": scene.samples}
    if scene.samples and scene.view["panel"] == "samples":
        result["bands"] = _bands(scene)
    return {**result, "seconds": time.perf_counter() - started}


def plain(scores: Any) -> dict[str, Any]:
    """Return scores as lists: avg and all by generator, byClient by generator and client.

    Where some generator has an ellipse for each client also intra, and own, each client's with what is for it.
    """
    numbers_by_metric = {}
    for name in scores.metrics:
        avg, pooled, by_client = scores.values(name)
        numbers_by_metric[name] = {"avg": avg.tolist(), "all": pooled.tolist(), "byClient": by_client.tolist()}
        if "intra" in (cells := scores.result(name)).aggregates:
            numbers_by_metric[name] |= {"intra": cells.intra.tolist(), "own": cells.own.tolist()}
    return numbers_by_metric


def _from_rows(scene: Scene, name: str, memory: ScoreCache) -> dict[str, Any]:
    """Return the scores of a metric that needs rows, on those of the scene or on drawn points."""
    metric, weights = CachedMetric(memory.once(name, [], partial(metric_of, name)), memory), scene.distributions.weights
    real = [metric.summarize(sample) for sample in _held_out(scene, name, memory)]
    pooled = metric.pool(real, weights)
    count = GENERATED.get(name, POINTS_PER_CLIENT)
    drawn = scene if scene.samples else scene.drawn(count)
    generator_summaries = [
        metric.summarize(Sample(rows=_rows(source, count, scene.seed, memory))) for source in drawn.sources.values()
    ]
    by_client = np.array([[metric.distance(summary, g) for summary in real] for g in generator_summaries])
    together = [metric.distance(pooled, g) for g in generator_summaries]
    return {name: {"avg": (by_client @ weights).tolist(), "all": together, "byClient": by_client.tolist()}}


def _held_out(scene: Scene, name: str, memory: ScoreCache) -> Iterator[Sample]:
    """Return the clients' points in proportion to their weights; for FLD with as many held-out points again."""
    distributions = scene.distributions
    counts = shares_of(distributions.weights, _total(scene, distributions, 2 if name == "fld" else 1))
    for position, (client, count) in enumerate(zip(distributions, counts, strict=True)):
        count = max(count, metric_of(name).min_rows)
        source = client.distribution if client.rows is None else client.rows
        make = partial(_split, client, position, count, scene.seed, name == "fld")
        yield memory.once(f"{name} of {count}, seed {scene.seed}, {position}", [source], make)


def _split(client: Client, position: int, count: int, seed: int, is_held_out: bool) -> Sample:
    """Return `count` points of a distribution, or rows of data, and as many others that are held out."""
    if client.rows is None:
        rows, test = (draw(client.distribution, start + seed, 2 * position, count) for start in (0, HELD_OUT_SEED))
    else:
        order = np.random.default_rng(seed).permutation(len(client.rows))
        rows, test = client.rows[order[:count]], client.rows[order[count : 2 * count]]
    return Sample(rows=rows, test=test if is_held_out else None, is_drawn=True)


def _total(scene: Scene, distributions: Any, parts: int) -> int:
    """Return how many points all clients have together, drawn or in proportion to their weights."""
    held = [
        len(c.rows) // parts / w
        for c, w in zip(distributions, distributions.weights, strict=True)
        if c.rows is not None and w
    ]
    wanted = (
        scene.samples * len(distributions)
        if scene.samples
        else POINTS_PER_CLIENT
        if len(held) < len(distributions)
        else math.inf
    )
    return int(min([wanted, *held]))


def _rows(source: Any, count: int, seed: int, memory: ScoreCache) -> Any:
    if not isinstance(source, Distribution):
        return source
    make = partial(source.sample, count, np.random.default_rng(seed))
    return memory.once(f"{count} rows, seed {seed}", [source], make)


def _margins(scene: Scene, name: str, first: dict[str, Any], memory: ScoreCache) -> dict[str, Any]:
    """Return how far apart two scores of one draw must lie, (G, G) for each aggregate, to differ beyond its noise."""
    runs = [first]
    for seed in range(scene.seed + 1, scene.seed + 1 + MARGIN_REDRAWS):
        again = replace(scene, seed=seed)
        if name in FROM_ROWS:
            runs.append(_from_rows(again, name, memory)[name])
        else:
            metric = MADE.get(name, lambda: name)()
            runs.append(plain(evaluate(again.federation, again.sources, [metric], progress=False))[name])
    values = {part: np.array([run[part] for run in runs]) for part in ("avg", "all", "intra") if part in first}
    return {
        part: (MARGIN_QUANTILE * (v[:, :, None] - v[:, None, :]).std(axis=0, ddof=1)).tolist()
        for part, v in values.items()
    }


def _bands(scene: Scene) -> dict[str, Any]:
    """Return the exact value, and mean, 5 % and 95 % quantiles of the estimate over redrawn points.

    The gap of FID has also `alike`, the gap that so many points of clients of one distribution would show.
    """
    exact = plain(evaluate(scene.distributions, replace(scene, samples=0).sources, ALWAYS, progress=False))
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
    """Return avg, all, or their gap, one for each generator."""
    avg, pooled = np.array(numbers["avg"]), np.array(numbers["all"])
    return {"avg": avg, "all": pooled, "gap": avg - pooled}[part]
