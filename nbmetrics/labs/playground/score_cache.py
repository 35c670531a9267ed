"""What the answer before knew of what has not changed since: summaries of rows and distributions, and the terms of each
pair.

In a drag one item moves: `evaluate` is asked again with these metrics, and computes that item alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Self

from ...metrics.base import Adapted, Metric, Sample, Terms, terms_of


class ScoreCache:
    """What was computed of sources that are compared by identity, as long as it was asked for lately.

    One answer is made in `with memory:`. At its end is forgotten what neither it nor the one before asked for. Scores
    that a user has may be asked later, and by another thread: they find what is known, and leave nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._answering: int | None = None  # the thread
        self._entries: dict[Any, tuple[Any, Any]] = {}
        self._requested: set[Any] = set()
        self._before: set[Any] = set()

    def __enter__(self) -> Self:
        self._lock.acquire()
        self._answering = threading.get_ident()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._requested:
            kept = self._requested | self._before
            self._entries = {key: value for key, value in self._entries.items() if key in kept}
            self._requested, self._before = set(), self._requested
        self._answering = None
        self._lock.release()

    def once(self, what: str, about: Sequence[Any], make: Callable[[], Any]) -> Any:
        """Return `make()`, or its earlier result for these very objects, which are kept alive meanwhile."""
        key = (what, *map(id, about))
        entry = self._entries.get(key) or (tuple(about), make())
        if self._answering == threading.get_ident():
            self._entries.setdefault(key, entry)
            self._requested.add(key)
        return entry[1]

    def knows(self, what: str, about: Sequence[Any]) -> bool:
        return (what, *map(id, about)) in self._entries


class CachedMetric(Adapted):
    """A metric that computes each summary, and the terms of each pair of them, once."""

    OWN = frozenset({"resolve", "summarize", "pool", "terms", "distance", "all_terms", "size_gap"})

    def __init__(self, item: Metric[Any], memory: ScoreCache) -> None:
        super().__init__(item)
        self.memory = memory

    def __getattribute__(self, name: str) -> Any:
        if name in CachedMetric.OWN:
            return object.__getattribute__(self, name)
        return super().__getattribute__(name)

    def resolve(self, clients: Sequence[Sample]) -> Metric[Any]:
        """Return this metric resolved on these clients; the same object for the same clients."""
        sources = [_source(sample) for sample in clients]
        settled = self.memory.once(f"{self.name} settled", sources, lambda: self.item.resolve(clients))
        setting = getattr(settled, "kernel", type(settled))  # what clients can change of these metrics
        return CachedMetric(self.memory.once(self.name, [setting], lambda: settled), self.memory)

    def summarize(self, sample: Sample) -> Any:
        return self.memory.once("summary", [self.item, _source(sample)], lambda: self.item.summarize(sample))

    def pool(self, summaries: Sequence[Any], weights: Sequence[float]) -> Any:
        return self.memory.once(f"pool {[*weights]}", summaries, lambda: self.item.pool(summaries, weights))

    def terms(self, real: Any, generated: Any) -> dict[str, float]:
        addends: dict[str, float] = self.memory.once(
            "terms", [real, generated], lambda: self.item.terms(real, generated)
        )
        return addends

    def distance(self, real: Any, generated: Any) -> float:
        return float(self.memory.once("distance", [real, generated], lambda: self.item.distance(real, generated)))

    def size_gap(self, clients: Sequence[Any], weights: Sequence[float], pooled: Any, generated: Any) -> float:
        make = partial(self.item.size_gap, clients, weights, pooled, generated)
        return float(self.memory.once(f"size gap {[*weights]}", [pooled, generated, *clients], make))

    def all_terms(self, real: Sequence[Any], generated: Sequence[Any]) -> Iterable[Iterable[Terms]]:
        """Return the terms of every pair, computing only those of generators with an unknown one."""
        unknown = [g for g in generated if not all(self.memory.knows("terms", [r, g]) for r in real)]
        fresh = [r for r in real if not all(self.memory.knows("terms", [r, g]) for g in unknown)]
        rows = self.item.all_terms(fresh, unknown) if unknown else ()
        terms_by_pair = {
            (id(r), id(g)): terms
            for g, row in zip(unknown, rows, strict=True)
            for r, terms in zip(fresh, row, strict=True)
        }
        return [
            [self.memory.once("terms", [r, g], partial(self._terms_of_pair, terms_by_pair, r, g)) for r in real]
            for g in generated
        ]

    def _terms_of_pair(self, terms_by_pair: dict[tuple[int, int], Terms], real: Any, generated: Any) -> Terms:
        """Return the terms of one pair, computed anew where another thread's answer dropped them."""
        terms = terms_by_pair.get((id(real), id(generated)))
        return terms_of(self.item, real, generated) if terms is None else terms


def _source(sample: Sample) -> Any:
    """Return the object that identifies a sample: its rows, or its distribution."""
    return sample.exact_distribution if sample.rows is None else sample.rows
