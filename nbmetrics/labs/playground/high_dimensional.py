"""Scenes of rows wider than the plane: their items, and their scores, which `evaluate` gives on all features.

Re-weighting, renaming, removing and adding ask `evaluate` again, which only pools again: see `remembered`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...arrays import as_rows, to_numpy
from ...distributions import Distribution, Gaussian
from ...errors import InvalidInput
from ...evaluation.evaluate import evaluate
from ...evaluation.samples import ROWS_DRAWN
from ...evaluation.scores import Scores
from ...federation import Client, Federation, Generator, as_generators
from ...metrics.base import Metric, metric_of
from ..plane.distributions import check_has_points
from ..plane.items import MAX_WEIGHT, MOST, Item, check_reach, fit_half
from .numbers import FROM_ROWS, metrics_of, plain
from .projection import Projection
from .scene import Scene, extracted_of
from .score_cache import CachedMetric, ScoreCache

# Multiplications, about: of more, the constructor does not wait for the scores.
MAX_QUICK_OPERATIONS = 2e10
# What a saved page says of itself.
SAVED_WIDE = (
    "A saved page: nothing can be moved here. Python computed the numbers from all {dim:,} features; other weights, "
    "clients, generators and metrics need a notebook."
)


def wide_item(
    name: str, source: Any, projection: Projection, weight: float | None = None
) -> tuple[Item, Any, dict[str, Any]]:
    """Return the item of rows or a distribution, what the lab holds for it, and what its page draws."""
    dim = projection.about["dim"]
    held: Any = source
    if isinstance(source, Distribution):
        if source.dim != dim:
            raise InvalidInput(name, f"has {source.dim} dimensions where {dim} were expected", "Use the same features")
    else:
        held = to_numpy(as_rows(source, name, dim=dim, min_rows=2))
    drawn = projection.shown(held)
    (a, b, c), mean = drawn["cov"], drawn["mean"]
    distribution = Gaussian(mean, [[a, b], [b, c]])
    check_reach(name, distribution)
    return replace(Item.of_source(name, distribution, weight), kind="data"), held, drawn


def drawn_source(generator: Generator, position: int, seed: int, dim: int) -> Any:
    """The rows or distribution of a generator; of a function the rows that `evaluate` draws of one at that position."""
    return generator.draw(ROWS_DRAWN, [seed, 1, position], dim=dim).rows if generator.answers else generator.source


def wide_scene(
    federation: Federation, generators: Any, projection: Projection, preset: str, **settings: Any
) -> tuple[Scene, dict[str, Any]]:
    """Return the scene of clients of any width, with the data it holds, and what the page draws of each."""
    if generators is None:
        generators = _default(federation)
    check_has_points(named_generators := as_generators(generators))
    extracted = [generator.through(federation.extraction) for generator in named_generators]
    if federation.is_conditional:
        raise InvalidInput("clients", "have a condition, which this lab does not show", "Score them with nm.evaluate")
    for kind, count in (("clients", len(federation)), ("generators", len(extracted))):
        if count > MOST[kind]:
            raise InvalidInput(kind, f"are {count}", f"Show {MOST[kind]} at most, and score all with nm.evaluate")
    seed = settings.get("seed", 0)
    sources: list[tuple[str, Any, float | None]] = [
        *((c.name or "", c.distribution if c.rows is None else c.rows, w) for c, w in _with_weights(federation)),
        *((g.name or "", drawn_source(g, k, seed, federation.dim), None) for k, g in enumerate(extracted)),
    ]
    items, data, shown = [], {}, {}
    for name, source, weight in sources:
        item, data[name], shown[name] = wide_item(name, source, projection, weight)
        items.append(item)
    half, count = fit_half(items, is_tight=True), len(federation)
    fields = {"clients": items[:count], "generators": items[count:]}
    parts = {kind: [item.to_json() for item in fields[kind]] for kind in fields}
    scene = {**parts, "half": half, "preset": preset, "plane": projection.about, **settings}
    return Scene.parse(scene, data, extracted_of((*federation, *extracted))), shown


def _default(federation: Federation) -> dict[str, Any]:
    """Return the Gaussian of the pooled clients, under a name that no client has."""
    pooled = federation.pooled()
    distribution = Gaussian.fit(pooled.rows) if pooled.distribution is None else pooled.distribution
    free = next(n for n in (f"Generator {k}" for k in range(1, len(federation) + 2)) if n not in federation.names)
    return {free: Gaussian(distribution.mean, distribution.cov)}


def _with_weights(federation: Federation) -> Iterable[tuple[Client, float]]:
    """Return the clients with weights as typed: ones where all weigh the same, else numbers of rows."""
    weights = federation.weights
    counts = [len(c.rows) if c.weight is None and c.rows is not None else 0 for c in federation]
    if max(weights) == min(weights):
        weights = (1.0,) * len(weights)
    elif all(0 < count <= MAX_WEIGHT for count in counts):
        weights = tuple(map(float, counts))
    return zip(federation, weights, strict=True)


class Kept:
    """The scores of a lab's wide scenes, and what they were made of."""

    def __init__(self) -> None:
        self._memory = ScoreCache()
        self._last: tuple[Any, Scores | None] = (None, None)

    def has(self, scene: Scene) -> bool:
        """Whether the scores of a scene are known."""
        return self._last[0] == _key(scene)

    def scores(self, scene: Scene) -> Scores:
        """As `evaluate` gives them, of all rows and all features."""
        with self._memory:
            if not self.has(scene):
                metrics = [CachedMetric(metric, self._memory) for metric in _metrics(scene)]
                scores = evaluate(scene.federation, scene.models, metrics, seed=scene.seed, progress=False)
                scores.cautions  # noqa: B018  # what they ask for is remembered too
                self._last = _key(scene), scores
            return self._last[1]  # type: ignore[return-value]

    def result(self, scene: Scene) -> dict[str, Any]:
        """The scores as plain JSON, None where one is refused; of which items and shares; and the cautions."""
        started = time.perf_counter()
        scores = self.scores(scene)
        return {
            "scores": {name: _without_nan(numbers) for name, numbers in plain(scores).items()},
            "of": {
                "clients": [c.key for c in scene.clients],
                "generators": [g.key for g in scene.generators],
                "shares": list(scores.weights),
            },
            "cautions": scores.cautions,
            "seconds": time.perf_counter() - started,
        }


def _metrics(scene: Scene) -> list[Metric[Any]]:
    name = scene.view["metric"]
    return [metric_of(m) for m in (*metrics_of(scene), *([name] if name in FROM_ROWS else []))]


def _key(scene: Scene) -> Any:
    items = [(item.name, item.key, item.weight) for item in (*scene.clients, *scene.generators)]
    return items, len(scene.clients), scene.view["metric"], scene.seed


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_nan(part) for part in value]
    return value if math.isfinite(value) else None


def is_quick(scene: Scene) -> bool:
    """Whether FID and KID of a scene take no noticeable time."""
    counts = [0 if isinstance(held, Distribution) else len(held) for held in scene.data.values()]
    rows, dim = sum(counts), scene.dim
    pairs = len(scene.generators) * (len(scene.clients) + 1)
    return float(rows) ** 2 * dim + rows * dim**2 + pairs * float(dim) ** 3 <= MAX_QUICK_OPERATIONS
