"""What a metric sees of each client and generator: exact distributions where it has a closed form, rows otherwise.

Rows are drawn once and shared by all metrics; each party has a random stream of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..distributions import Distribution, draw_rows
from ..errors import shown
from ..federation import Client, Federation, Generator
from ..federation.client import stream_for
from ..metrics import Metric, Sample
from .standing import client_summary, summarized
from .streams import Reading, check_streams

DRAWN = 10_000
# Who gave features of their own beside an extractor's, in the line under a table.
MOST_NAMED = 3


def _takes(metric: Metric[Any], distribution: Distribution, exact: bool) -> bool:
    """Whether a metric sees a distribution itself: for its closed form, or because only the distribution has a
    density."""
    return metric.has_closed_form(distribution) and (exact or metric.needs_density)


class ClientSamples:
    """The clients as a metric needs them: exact where it can, else rows drawn once for all metrics."""

    def __init__(
        self,
        seed: int,
        samples: int | None,
        federation: Federation,
        metrics: Sequence[Metric[Any]] = (),
        design: Any = None,
    ) -> None:
        self.names = federation.names
        self._clients = federation.clients
        self._federation, self._samples = federation, samples
        self.readings = {
            position: Reading(client.stream, f"client {client.name!r}", metrics, design)
            for position, client in enumerate(federation.clients)
            if client.stream is not None
        }
        for reading in self.readings.values():
            if reading.stream.size is None:  # on which the weights may depend
                reading.read()
        self._exact = samples is None
        self._seed = seed
        self._drawn: dict[int, Sample] = {}

    def __len__(self) -> int:
        return len(self._clients)

    @cached_property
    def _counts(self) -> list[int]:
        return shares_of(self._federation.weights, DRAWN if self._samples is None else self._samples)

    def of(self, position: int, metric: Metric[Any]) -> Sample:
        client = self._clients[position]
        if (reading := self.readings.get(position)) is not None:
            return client.to_sample(reading.streaming_mode(metric))
        if client.rows is not None or (self._exact and _takes(metric, client.distribution, True)):
            return client.to_sample()
        if position not in self._drawn:
            self._drawn[position] = Sample(rows=self._rows(client, position, 0), test=client.test, is_drawn=True)
        sample = self._drawn[position]
        if sample.test is None and metric.needs_test:
            sample = self._drawn[position] = replace(sample, test=self._rows(client, position, 1))
        return sample

    def summary(self, position: int, metric: Metric[Any], sample: Sample) -> Any:
        """What a client reveals, or why it has nothing to reveal."""
        if (reading := self.readings.get(position)) is not None:
            return reading.summary(metric, sample)
        return client_summary(metric, sample, f"client {self.names[position]!r}")

    def _rows(self, client: Client, position: int, part: int) -> Any:
        """Rows of a distribution; part 1 are held-out ones."""
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


class GeneratorSamples:
    """A generator as a metric needs it: exact where it can, else rows drawn once for all metrics.

    Beside clients with a condition it answers each of them, once for all metrics, where the metric compares answers
    with their conditions, or the generator is a function, which needs one.
    """

    def __init__(
        self,
        generator: Generator,
        seed: list[int],
        samples: int | None,
        federation: Federation,
        metrics: Sequence[Metric[Any]] = (),
        design: Any = None,
    ) -> None:
        self.name = generator.name or ""
        self._generator, self._seed, self._federation = generator, seed, federation
        self._count, self._exact = DRAWN if samples is None else samples, samples is None
        self._is_asked = federation.is_conditional
        self._answers: tuple[Sample, ...] | None = None
        is_answer = self._is_asked and generator.answers
        self._given = None if is_answer else generator.draw(self._count, seed, dim=federation.dim)
        self._rows = None if self._given is None or self._given.rows is None else self._given
        stream = None if self._given is None else self._given.stream
        who = f"generator {self.name!r}"
        check_streams([(who, stream)], metrics, design)
        self.reading = None if stream is None else Reading(stream, who, metrics, design)

    def answers(self, metric: Metric[Any]) -> tuple[Sample, ...] | None:
        """One sample for each client; None where `whole` is scored with all of them."""
        if not self._is_asked or not (self._given is None or metric.is_conditional):
            return None
        if self._answers is None:
            clients, dim = self._federation.clients, self._federation.dim
            streams = [[*self._seed, 2, c] for c in range(len(clients))]
            pairs = zip(clients, streams, strict=True)
            self._answers = tuple(self._generator.answer(client.condition, s, dim=dim) for client, s in pairs)
        return self._answers

    def whole(self, metric: Metric[Any]) -> Sample:
        """Its rows or distribution, where `answers` gives none."""
        if self._given is None:
            raise ValueError(f"generator {self.name!r} only answers")
        if self.reading is not None:
            if stream_for(self.reading.stream, self.reading.streaming_mode(metric)) is not None:
                return self._given
            self._rows = self._rows or Sample(rows=self.reading.stream.collect())
            return self._rows
        if self._given.rows is None and _takes(metric, self._given.exact_distribution, self._exact):
            return self._given
        if self._rows is None:
            rng, who = np.random.default_rng(self._seed), f"rows from generator {self.name!r}"
            self._rows = Sample(rows=draw_rows(self._given.exact_distribution, self._count, rng, who))
        return self._rows

    def summary(self, metric: Metric[Any]) -> Any:
        """What it reveals, or why it has nothing to reveal."""
        if self.reading is not None:
            return self.reading.summary(metric, self.whole(metric))
        return summarized(metric, self.whole(metric), f"generator {self.name!r}")


def convention(samples: int | None, seed: int, federation: Federation, generators: Sequence[Generator]) -> str:
    """What was drawn and what made the features, for the line under a table."""
    exact = "distributions exact where a closed form exists, else 10,000 rows drawn"
    drawn = exact if samples is None else f"{samples} rows drawn for each distribution"
    has_distributions = any(client.distribution is not None for client in federation) or any(
        g.answers or isinstance(g.source, Distribution) for g in generators
    )
    return "; ".join([_features(federation, generators), *([drawn] if has_distributions else []), f"seed {seed}"])


def _features(federation: Federation, generators: Sequence[Generator]) -> str:
    """What made the rows: the extractor, where there is one, and who gave rows of their own beside it."""
    if federation.extraction is None:
        return "features as given"
    given = [f"client {client.name!r}" for client in federation if client.extraction is None]
    given += [
        f"generator {g.name!r}"
        for g in generators
        if not (g.extraction or g.answers or g.is_of_images or isinstance(g.source, Distribution))
    ]
    more = f", and {len(given) - MOST_NAMED} more" * (len(given) > MOST_NAMED)
    own = f"; features of {', '.join(given[:MOST_NAMED])}{more} as given" if given else ""
    return f"features: {federation.extraction.extractor.convention}{own}"
