"""Scenes of rows wider than the plane: their items, and their scores, which `evaluate` gives on all features.

Re-weighting, renaming, removing and adding ask `evaluate` again; what it found of rows that are still there (their
moments and kernel sums, and the scores of each pair) is remembered, so that it only pools again.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...arrays import as_rows, to_numpy
from ...distributions import Distribution, Gaussian
from ...errors import InvalidInput
from ...evaluation.evaluate import evaluate
from ...evaluation.sampling import DRAWN
from ...evaluation.scores import Scores
from ...federation import Client, Federation, Generator, as_generators
from ...metrics.base import Adapted, Metric, Sample, Terms, metric_of
from ..plane.items import MOST, Item, check_reach
from ..toolkit.fields import BOUNDS
from .numbers import FROM_ROWS, metrics_of, plain
from .projection import Projection
from .scene import Scene, extracted_of

# Multiplications, about: of more, the constructor does not wait for the scores.
QUICK = 2e10
# What a saved page says of itself.
SAVED_WIDE = (
    "A saved page: nothing moves here. The numbers are Python’s, of all {dim:,} features, as they were saved; other "
    "weights, clients, generators and metrics need a notebook."
)


def wide_item(
    name: str, source: Any, projection: Projection, weight: float | None = None
) -> tuple[Item, Any, dict[str, Any]]:
    """The item of rows or a law, what the lab holds for it, and what its page draws."""
    dim = projection.about["dim"]
    held: Any = source
    if isinstance(source, Distribution):
        if source.dim != dim:
            raise InvalidInput(name, f"has {source.dim} dimensions where {dim} were expected", "Use the same features")
    else:
        held = to_numpy(as_rows(source, name, dim=dim, min_rows=2))
    drawn = projection.shown(held)
    (a, b, c), mean = drawn["cov"], drawn["mean"]
    law = Gaussian(mean, [[a, b], [b, c]])
    check_reach(name, law)
    return replace(Item.of_source(name, law, weight), kind="data"), held, drawn


def drawn_source(generator: Generator, position: int, seed: int, dim: int) -> Any:
    """The rows or law of a generator; of a function the rows that `evaluate` draws of one at that position."""
    return generator.draw(DRAWN, [seed, 1, position], dim=dim).rows if generator.answers else generator.source


def wide_scene(
    federation: Federation, generators: Any, projection: Projection, preset: str, **settings: Any
) -> tuple[Scene, dict[str, Any]]:
    """The scene of clients of any width, with what it holds in `data`, and what the page draws of each."""
    if generators is None:
        generators = _default(federation)
    made = [generator.through(federation.extraction) for generator in as_generators(generators)]
    if federation.is_conditional:
        raise InvalidInput("clients", "carry a condition, which this lab does not show", "Score them by nm.evaluate")
    for kind, count in (("clients", len(federation)), ("generators", len(made))):
        if count > MOST[kind]:
            raise InvalidInput(kind, f"are {count}", f"Show {MOST[kind]} at most, and score all by nm.evaluate")
    seed = settings.get("seed", 0)
    sources: list[tuple[str, Any, float | None]] = [
        *((c.name or "", c.distribution if c.rows is None else c.rows, w) for c, w in _weighted(federation)),
        *((g.name or "", drawn_source(g, k, seed, federation.dim), None) for k, g in enumerate(made)),
    ]
    items, data, shown = [], {}, {}
    for name, source, weight in sources:
        item, data[name], shown[name] = wide_item(name, source, projection, weight)
        items.append(item)
    reach = max(max(abs(i.x), abs(i.y)) + 2 * max(i.width, i.height) for i in items)  # type: ignore
    half = min(max(reach * 1.1, BOUNDS["half"][0]), BOUNDS["half"][1])
    count = len(federation)
    scene = Scene(tuple(items[:count]), tuple(items[count:]), half=half, preset=preset, plane=projection.about)
    return Scene.parse({**scene.to_json(), **settings}, data, extracted_of((*federation, *made))), shown


def _default(federation: Federation) -> dict[str, Any]:
    """The Gaussian of the pooled clients, named as no client is."""
    pooled = federation.pooled()
    law = Gaussian.fit(pooled.rows) if pooled.distribution is None else pooled.distribution
    free = next(n for n in (f"Generator {k}" for k in range(1, len(federation) + 2)) if n not in federation.names)
    return {free: Gaussian(law.mean, law.cov)}


def _weighted(federation: Federation) -> Iterable[tuple[Client, float]]:
    """Each client with a weight that a person would type: ones where all weigh the same, numbers of rows by default."""
    weights = federation.weights
    counts = [len(c.rows) if c.weight is None and c.rows is not None else 0 for c in federation]
    if max(weights) == min(weights):
        weights = (1.0,) * len(weights)
    elif all(0 < count <= BOUNDS["weight"][1] for count in counts):
        weights = tuple(map(float, counts))
    return zip(federation, weights, strict=True)


class Kept:
    """The scores of a lab's wide scenes, and what they were made of."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._memory = Memory()
        self._last: tuple[Any, Scores | None] = (None, None)

    def has(self, scene: Scene) -> bool:
        """Whether the scores of a scene are known."""
        return self._last[0] == _key(scene)

    def scores(self, scene: Scene) -> Scores:
        """As `evaluate` gives them, of all rows and all features."""
        with self._lock:
            if not self.has(scene):
                metrics = [Known(metric, self._memory) for metric in _metrics(scene)]
                scores = evaluate(scene.federation, scene.models, metrics, seed=scene.seed, progress=False)
                scores.cautions  # noqa: B018  # what they ask for is remembered too
                self._last = _key(scene), scores
                self._memory.tidy()
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
    """Whether FID and KID of a scene are there in no time."""
    counts = [0 if isinstance(held, Distribution) else len(held) for held in scene.data.values()]
    rows, dim = sum(counts), scene.dim
    pairs = len(scene.generators) * (len(scene.clients) + 1)
    return float(rows) ** 2 * dim + rows * dim**2 + pairs * float(dim) ** 3 <= QUICK


class Memory:
    """What was computed of sources that are compared by identity, as long as it was asked for lately."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, Any]] = {}
        self._asked: set[Any] = set()
        self._before: set[Any] = set()

    def once(self, what: str, about: Sequence[Any], make: Callable[[], Any]) -> Any:
        """`make()`, or what it gave before of these very objects, which are kept alive meanwhile."""
        key = (what, *map(id, about))
        if key not in self._known:
            self._known[key] = tuple(about), make()
        self._asked.add(key)
        return self._known[key][1]

    def knows(self, what: str, about: Sequence[Any]) -> bool:
        return (what, *map(id, about)) in self._known

    def tidy(self) -> None:
        """Forget what neither this nor the last evaluation asked for."""
        kept = self._asked | self._before
        self._known = {key: value for key, value in self._known.items() if key in kept}
        self._asked, self._before = set(), self._asked


class Known(Adapted):
    """A metric that computes each summary, and the terms of each pair of them, once."""

    OWN = frozenset({"resolve", "summarize", "all_terms"})

    def __init__(self, item: Metric[Any], memory: Memory) -> None:
        super().__init__(item)
        self.memory = memory

    def __getattribute__(self, name: str) -> Any:
        if name in Known.OWN:
            return object.__getattribute__(self, name)
        return super().__getattribute__(name)

    def resolve(self, clients: Sequence[Sample]) -> Metric[Any]:
        """This metric settled on these clients; the same object for the same clients, so that it is known again."""
        sources = [_source(sample) for sample in clients]
        settled = self.memory.once(f"{self.name} settled", sources, lambda: self.item.resolve(clients))
        setting = getattr(settled, "kernel", type(settled))  # what clients can change of these metrics
        return Known(self.memory.once(self.name, [setting], lambda: settled), self.memory)

    def summarize(self, sample: Sample) -> Any:
        return self.memory.once("summary", [self.item, _source(sample)], lambda: self.item.summarize(sample))

    def all_terms(self, real: Sequence[Any], generated: Sequence[Any]) -> Iterable[Iterable[Terms]]:
        """The terms of every pair: those of generators with an unknown one anew, the others as they were."""
        unknown = [g for g in generated if not all(self.memory.knows("terms", [r, g]) for r in real)]
        fresh = [r for r in real if not all(self.memory.knows("terms", [r, g]) for g in unknown)]
        rows = self.item.all_terms(fresh, unknown) if unknown else ()
        for g, row in zip(unknown, rows, strict=True):
            for r, terms in zip(fresh, row, strict=True):
                self.memory.once("terms", [r, g], partial(_itself, terms))
        return [[self.memory.once("terms", [r, g], _missing) for r in real] for g in generated]


def _itself(value: Any) -> Any:
    return value


def _missing() -> Any:
    raise KeyError("terms that were just computed")


def _source(sample: Sample) -> Any:
    """What tells a sample from another: its rows, or its law."""
    return sample.law if sample.rows is None else sample.rows
