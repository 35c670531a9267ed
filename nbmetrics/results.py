"""One metric on all clients and generators, before any aggregate: what `Scores` is made from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .metrics.base import losses
from .uncertainty import Replicas


@dataclass(frozen=True, eq=False)
class Result:
    """One metric on all clients and generators: its summaries and the terms of every pair.

    A generator that answered the clients' conditions has one summary for each client in `answers` (None for the
    others); pooled with the weights they are its summary in `generated`.
    """

    metric: Any
    real: tuple[Any, ...]
    generated: tuple[Any, ...]
    terms: tuple[tuple[Mapping[str, float], ...], ...]
    answers: tuple[tuple[Any, ...] | None, ...] = ()
    replicas: Replicas | None = None
    cautions: tuple[str, ...] = ()
    span: str = ""

    @property
    def name(self) -> str:
        return str(self.metric.name)

    @property
    def label(self) -> str:
        return str(getattr(self.metric, "label", self.metric.name))

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """What generators are ranked by, lower is better."""
        return losses(self.metric, scores)

    @cached_property
    def by_client(self) -> np.ndarray:
        """Scores of shape (generators, clients)."""
        return np.array([[math.fsum(pair.values()) for pair in row] for row in self.terms])

    def under(self, weights: Sequence[float]) -> Result:
        """The same summaries, with the answers to the clients' conditions pooled under other weights."""
        made, terms = list(self.generated), list(self.terms)
        for g, answers in enumerate(self.answers):
            if answers is not None:
                made[g] = self.metric.pool(answers, weights)
                if not is_conditional(self.metric):
                    terms[g] = tuple(pair_terms(self.metric, self.real, made[g], answers))
        return replace(self, generated=tuple(made), terms=tuple(terms)) if any(self.answers) else self

    def average(self, weights: Sequence[float]) -> np.ndarray:
        """Σ λ_i D(S_i, S_G) for each generator; a client of weight 0 does not count, whatever its score."""
        counted = [(w, column) for w, column in zip(weights, self.by_client.T, strict=True) if w]
        return np.array([math.fsum(w * column[g] for w, column in counted) for g in range(len(self.generated))])

    def pooled(self, weights: Sequence[float]) -> np.ndarray:
        """D(pool(S_i), S_G) for each generator."""
        together = self.metric.pool(self.real, weights)
        return np.array([math.fsum(self.metric.terms(together, s).values()) for s in self.generated])

    def intervals(self, weights: Sequence[float], avg: np.ndarray, pooled: np.ndarray) -> dict[str, np.ndarray]:
        """The ends of avg, all and gap, or nothing without uncertainty."""
        if self.replicas is None:
            return {}
        drawn_avg, drawn_all = self.replicas.average(weights), self.replicas.scores(weights)[1]
        lowest, highest = self._range
        ends: dict[str, np.ndarray] = {}
        for name, estimate, drawn, edges in (
            ("avg", avg, drawn_avg, (lowest, highest)),
            ("all", pooled, drawn_all, (lowest, highest)),
            ("gap", avg - pooled, drawn_avg - drawn_all, (-math.inf, math.inf)),
        ):
            low, high = self.replicas.resamples.interval(estimate, drawn)
            ends |= {f"{name}_low": np.clip(low, *edges), f"{name}_high": np.clip(high, *edges)}
        return ends

    def client_intervals(self, weights: Sequence[float]) -> dict[str, np.ndarray]:
        """The ends of each client's score, generators by clients, or nothing without uncertainty."""
        if self.replicas is None:
            return {}
        low, high = self.replicas.resamples.interval(self.by_client, self.replicas.scores(weights)[0])
        return {"low": np.clip(low, *self._range).ravel(), "high": np.clip(high, *self._range).ravel()}

    @property
    def _range(self) -> tuple[float, float]:
        """Beyond which no score lies."""
        lowest, highest = getattr(self.metric, "lowest", -math.inf), getattr(self.metric, "highest", math.inf)
        return float(lowest), float(highest)


def is_conditional(metric: Any) -> bool:
    """Whether a metric compares outputs given their inputs, each client with the answers to its own condition."""
    return bool(getattr(metric, "is_conditional", False))


def pair_terms(
    metric: Any, real: Sequence[Any], made: Any, answers: Sequence[Any] | None
) -> Iterator[dict[str, float]]:
    """The terms of each client with one generator: with its answers to that client, or with all of it."""
    own = answers if answers is not None and is_conditional(metric) else [made] * len(real)
    return (metric.terms(client, summary) for client, summary in zip(real, own, strict=True))
