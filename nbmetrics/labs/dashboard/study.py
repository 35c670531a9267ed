"""What a Dashboard knows: the scores of every generator with every client, and what Python alone can say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...evaluation.evaluate import evaluate
from ...evaluation.scores import Scores
from ...federation import Federation, as_generators
from ...metrics.base import losses
from .board import Facts, centres_of, facts_of_clients, facts_of_metric, number, packed, written
from .scene import DashboardScene


class Study:
    """The scores of generators on a federation."""

    def __init__(self, federation: Any, generators: Any, metrics: Any, uncertainty: Any) -> None:
        self.federation = federation if isinstance(federation, Federation) else Federation(federation)
        self.sources = {g.name or "": g for g in as_generators(generators)}
        self.metrics, self.uncertainty = metrics, uncertainty
        self._scores: Scores | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the clients."""
        return tuple(self.federation.names)

    @property
    def weights(self) -> tuple[float, ...]:
        """λ as given, by numbers of rows by default."""
        return tuple(self.federation.weights)

    @property
    def scores(self) -> Scores:
        if self._scores is None:
            self._scores = evaluate(self.federation, self.sources, self.metrics, uncertainty=self.uncertainty)
        return self._scores

    @property
    def facts(self) -> list[Facts]:
        """What is known of each metric."""
        found = []
        for metric in (result.metric for result in self.scores._results):
            values = self.scores.values(metric.name).by_client
            known = np.ones(values.shape, dtype=bool)
            centres, is_corrected = centres_of(self.scores, metric, known)
            found.append(Facts(metric, values, centres, known, None, is_corrected))
        return found

    def board(self) -> dict[str, Any]:
        """See `board`."""
        facts = self.facts
        rows = [0 if client.rows is None else client.size for client in self.federation]
        return {
            "clients": facts_of_clients(self.names, rows, self.weights),
            "generators": {name: {} for name in self.sources},
            "metrics": [facts_of_metric(f, "") for f in facts],
            "values": {f.metric.name: self._by_generator(f.values, f.known) for f in facts},
            "centres": {f.metric.name: self._by_generator(f.centres, f.known) for f in facts},
            "filled": {"done": 1, "total": 1, "doing": ""},
        }

    def draws(self) -> dict[str, Any]:
        """The noise of the centres, by metric and generator."""
        return {
            f.metric.name: {name: packed(f.draws[:, g]) for g, name in enumerate(self.sources)}
            for f in self.facts
            if f.draws is not None
        }

    def answer(self, scene: DashboardScene) -> dict[str, Any]:
        """What the page cannot compute: all under the scene's weights, and what follows from it."""
        scores = self.scores.with_weights(scene.shares)
        everything: dict[str, Mapping[str, Any]] = {}
        for facts in self.facts:
            name = facts.metric.name
            everything[name] = self._each(scores.values(name).all)
        centres = {f.metric.name: self._each(losses(f.metric, scores.values(f.metric.name).all)) for f in self.facts}
        avg = {f.metric.name: self._each(scores.values(f.metric.name).avg) for f in self.facts}
        return {"weights": list(scene.shares), "avg": avg, "all": everything, "all_centres": centres}

    def _each(self, values: Sequence[float] | np.ndarray) -> dict[str, Any]:
        return {name: number(float(value)) for name, value in zip(self.sources, values, strict=True)}

    def _by_generator(self, values: np.ndarray, known: np.ndarray) -> dict[str, Any]:
        return {name: written(values[g], known[g]) for g, name in enumerate(self.sources)}
