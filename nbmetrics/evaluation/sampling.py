"""What a metric sees of each client and generator: exact laws where it has a closed form, rows otherwise.

Rows are drawn once and shared by all metrics; each party has a random stream of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from ..distributions import draw_rows
from ..errors import shown
from ..federation import Client, Federation, Generator
from ..metrics import Metric, Sample

DRAWN = 10_000


def _takes(metric: Metric[Any], law: Any, exact: bool) -> bool:
    """Whether a metric sees a law itself: for its closed form, or because only the law has a density."""
    return metric.has_closed_form(law) and (exact or metric.needs_density)


class ClientSamples:
    """The clients as a metric needs them: exact where it can, else rows drawn once for all metrics."""

    def __init__(self, federation: Federation, samples: int | None, seed: int) -> None:
        self.names = federation.names
        self._clients = federation.clients
        self._counts = shares_of(federation.weights, DRAWN if samples is None else samples)
        self._exact = samples is None
        self._seed = seed
        self._drawn: dict[int, Sample] = {}

    def __len__(self) -> int:
        return len(self._clients)

    def of(self, position: int, metric: Metric[Any]) -> Sample:
        client = self._clients[position]
        if client.rows is not None or (self._exact and _takes(metric, client.distribution, True)):
            return client.to_sample()
        if position not in self._drawn:
            self._drawn[position] = Sample(rows=self._rows(client, position, 0), test=client.test, is_drawn=True)
        sample = self._drawn[position]
        if sample.test is None and metric.needs_test:
            sample = self._drawn[position] = replace(sample, test=self._rows(client, position, 1))
        return sample

    def _rows(self, client: Client, position: int, part: int) -> Any:
        """Rows of a law; part 1 are held-out ones."""
        rng = np.random.default_rng([self._seed, 0, position, part])
        return draw_rows(client.distribution, self._counts[position], rng, f"rows of client {shown(client.name)}")


def shares_of(weights: Sequence[float], n: int) -> list[int]:
    """`n` rows split in proportion to the weights by largest remainders, at least 2 each."""
    exact = np.asarray(weights) * n
    counts = np.floor(exact).astype(int)
    for position in np.argsort(counts - exact)[: n - counts.sum()]:
        counts[position] += 1
    # a client of weight 0 has scores of its own, and no part in the pooled rows
    return [max(2, int(c)) if w else max(2, n // len(counts)) for c, w in zip(counts, weights, strict=True)]


class GeneratorSample:
    """A generator as a metric needs it: exact where it can, else rows drawn once for all metrics."""

    def __init__(self, generator: Generator, samples: int | None, seed: Any, federation: Federation) -> None:
        self.name = generator.name or ""
        self._given = generator.draw(DRAWN if samples is None else samples, seed, dim=federation.dim)
        self._exact = samples is None
        self._draw = partial(self._given_rows, DRAWN if samples is None else samples, seed)
        self._rows: Sample | None = self._given if self._given.rows is not None else None

    def _given_rows(self, n: int, seed: Any) -> Sample:
        rng = np.random.default_rng(seed)
        return Sample(rows=draw_rows(self._given.distribution, n, rng, f"rows from generator {self.name!r}"))

    def answers(self, metric: Metric[Any]) -> None:
        """No client carries a condition."""
        return None

    def of(self, metric: Metric[Any]) -> Sample:
        if self._given.rows is None and _takes(metric, self._given.distribution, self._exact):
            return self._given
        if self._rows is None:
            self._rows = self._draw()
        return self._rows


class Answers:
    """A generator beside clients with a condition: what it answers to each, drawn once for all metrics."""

    def __init__(self, generator: Generator, samples: int | None, seed: Any, federation: Federation) -> None:
        self.name = generator.name or ""
        self._generator, self._seed, self._federation = generator, seed, federation
        self._whole: Any = None if generator.answers else GeneratorSample(generator, samples, seed, federation)
        self._drawn: tuple[Sample, ...] | None = None

    def answers(self, metric: Metric[Any]) -> tuple[Sample, ...] | None:
        """One sample for each client; None where the metric looks at outputs alone and the generator needs no x."""
        if self._whole is not None and not metric.is_conditional:
            return None
        if self._drawn is None:
            dim = self._federation.dim
            streams = [[*self._seed, 2, c] for c in range(len(self._federation))]
            pairs = zip(self._federation, streams, strict=True)
            self._drawn = tuple(self._generator.answer(client.condition, s, dim=dim) for client, s in pairs)
        return self._drawn

    def of(self, metric: Metric[Any]) -> Sample:
        """Its rows or law, where `answers` gives none."""
        return cast(Sample, self._whole.of(metric))
