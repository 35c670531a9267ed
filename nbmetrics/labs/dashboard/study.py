"""What a Dashboard knows: the scores of every generator with every client, and what Python alone can say of them.

Flow: a `Filling` computes scores piece by piece → `facts`: values, centres and their noise → `board` and `draws` for
the page, which depend on the data alone → `answer`: all, its noise and the test of the clients under a scene's weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...arrays import to_float64, to_numpy
from ...errors import InvalidInput
from ...evaluation.draws import Noise, noise
from ...evaluation.filling import Filling, Step
from ...evaluation.heterogeneity import Parties, p_kid
from ...evaluation.result import Result
from ...evaluation.scores import Scores
from ...evaluation.uncertainty import Influence
from ...federation import Federation, as_generators
from .board import Facts, facts_of, facts_of_clients, facts_of_metric, packed_all, packed_clients, written
from .decisions import Known, judged
from .details import details
from .likeness import Tree, likeness
from .pictures import Pictures
from .scene import DashboardScene
from .verdict import Verdict

DRAWS, SEED = 256, 0
# Weights whose answers are kept.
REMEMBERED = 50


class Study:
    """The scores of generators on a federation, as far as they are known.

    Parameters
    ----------
    federation, generators, metrics, uncertainty : as for `Dashboard`
    """

    def __init__(self, federation: Any, generators: Any, metrics: Any, uncertainty: Any) -> None:
        federation = federation if isinstance(federation, Federation) else Federation(federation)
        made = as_generators(generators)
        self._filling, self.why = _filled(federation, made, metrics, uncertainty)
        self.federation = federation
        self.weights = tuple(self._filling.weights)
        self.wanted = self._at = self.weights
        self._noise: dict[tuple[Any, ...], Noise] = {}
        self._p: dict[tuple[float, ...], float | None] = {}
        self._tree: Tree | None = None
        self._pictures = Pictures()
        for generator in made:
            self._pictures.keep(generator)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the clients."""
        return tuple(self._filling.names)

    @property
    def generators(self) -> tuple[str, ...]:
        return self._filling.generators

    @property
    def metrics(self) -> tuple[str, ...]:
        return self._filling.metrics

    def add(self, name: str, source: Any) -> str:
        """Take one more generator in."""
        (made,) = as_generators({name: source})
        added = self._filling.add(made)
        self._pictures.keep(made)
        return added

    def remove(self, name: str) -> None:
        """Forget a generator."""
        self._filling.remove(name)

    def next_step(self) -> Step | None:
        """What is to be computed next for the weights that are wanted, None where all is known."""
        filling = self._filling
        if self._tree is None:
            return Step("which clients are alike", self._compare)
        if self._at != (wanted := self.wanted):
            filling.weigh(wanted)
            self._at = wanted  # as the scene has them: divided by their sum again they may differ in the last digit
        if (step := next(filling.steps(), None)) is not None:
            return step
        for metric in self.metrics:
            if self._key(metric) not in self._noise:
                return Step(f"how sure {metric.upper()} is", partial(self._sound, metric))
        if self._at not in self._p:
            return Step("whether the clients differ by more than chance", self._test)
        return None

    def _key(self, metric: str) -> tuple[Any, ...]:
        return metric, self.generators, self._at

    def _sound(self, metric: str) -> None:
        """Compute the noise of one metric's scores."""
        key = self._key(metric)
        found = noise(self._result(metric), self._filling.weights, DRAWS, SEED)
        self._noise = {**dict(list(self._noise.items())[-REMEMBERED:]), key: found}

    def _compare(self) -> None:
        self._tree = likeness(self._result(self.metrics[0]).clients)

    def _test(self) -> None:
        weights = self._at
        rows = [None if client.rows is None else client.rows for client in self.federation]
        counted = [(to_numpy(to_float64(x)), w) for x, w in zip(rows, weights, strict=True) if w and x is not None]
        found = None
        if len(counted) > 1 and all(x is not None for x in rows):
            parties = Parties(
                np.concatenate([x for x, _ in counted]), tuple(len(x) for x, _ in counted), tuple(w for _, w in counted)
            )
            found = p_kid(parties, SEED)
        self._p = {**dict(list(self._p.items())[-REMEMBERED:]), weights: found}

    def _result(self, metric: str) -> Result:
        return self._filling.scores.result(metric)

    @property
    def scores(self) -> Scores:
        """What is known by now."""
        return self._filling.scores

    def scores_of(self, scene: DashboardScene) -> Scores:
        """What is known of the generators of a scene, under its weights."""
        return self._filling.scores_of(scene.generators).with_weights(scene.shares)

    def facts(self, metric: str) -> Facts:
        """What is known of one metric."""
        known = self._filling.known(metric)
        return facts_of(self._result(metric), known.clients, self._latest(metric), self.why)

    def _latest(self, metric: str) -> Noise | None:
        """The noise of these generators' scores with each client, which no weights change."""
        found = [n for (m, generators, _), n in self._noise.items() if (m, generators) == (metric, self.generators)]
        return found[-1] if found else None

    def board(self, doing: str = "") -> dict[str, Any]:
        """See `board`."""
        facts = [self.facts(metric) for metric in self.metrics]
        done = [f.known for f in facts]
        return {
            "clients": facts_of_clients(self.names, [client.size for client in self.federation], self.weights),
            "generators": {name: {} for name in self.generators},
            "metrics": [facts_of_metric(f) for f in facts],
            "values": {f.metric.name: self._by_generator(f.values, f.known) for f in facts},
            "centres": {f.metric.name: self._by_generator(f.centres, f.known) for f in facts},
            "few": {f.metric.name: list(f.few) for f in facts},
            **({} if self._tree is None else self._tree.to_json()),
            "filled": {"done": int(sum(d.sum() for d in done)), "total": sum(d.size for d in done), "doing": doing},
        }

    def draws(self) -> dict[str, Any]:
        """The noise of the centres, by metric and generator."""
        return {
            metric: {name: packed_clients(found.by_client[:, g]) for g, name in enumerate(self.generators)}
            for metric in self.metrics
            if (found := self._latest(metric)) is not None
        }

    def known(self, metric: str, shares: tuple[float, ...]) -> Known:
        """All that decisions on one metric are made from, under some weights."""
        result = self._result(metric)
        pooled = np.full(len(self.generators), np.nan)
        if shares == self._at and self._filling.known(metric).all.all():
            pooled = result.pooled(self._filling.weights)
        return Known.of(
            self.facts(metric), shares, pooled, self._noise.get((metric, self.generators, shares)), self._p.get(shares)
        )

    def answer(self, scene: DashboardScene) -> dict[str, Any]:
        """What the page cannot compute: all under the scene's weights, its noise, and whether clients differ."""
        shares, names = scene.shares, self.generators
        known = {metric: self.known(metric, shares) for metric in self.metrics}
        sure = {metric: k.all_draws for metric, k in known.items() if k.all_draws is not None}
        return {
            "weights": list(shares),
            "avg": {m: _each(names, k.avg) for m, k in known.items()},
            "all": {m: _each(names, k.all) for m, k in known.items()},
            "all_centres": {m: _each(names, k.all_centres) for m, k in known.items()},
            "all_draws": {m: packed_all(names, draws) for m, draws in sure.items()},
            "p": self._p.get(shares),
            "verdict": {m: list(self.verdict(m, scene).sentences) for m in known},
        }

    def details(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        """What the chosen cell opens, part after part; see `details`."""
        if scene.client not in self.names or scene.generator not in self.generators:
            return
        i, g = self.names.index(scene.client), self.generators.index(scene.generator)
        cell = {"cell": [scene.client, scene.generator, scene.metric], "weights": list(scene.weights)}
        if self._filling.known(scene.metric).clients[g, i]:
            images = self.federation[scene.client].images, partial(self._pictures.of_generator, scene.generator)
            for found in details(self._result(scene.metric), g, i, scene.shares, *images):
                yield {**cell, **found}

    def verdict(self, metric: str, scene: DashboardScene) -> Verdict:
        """What can be said of who is best of the generators of a scene."""
        chosen = [self.generators.index(name) for name in scene.generators]
        return judged(scene.generators, self.known(metric, scene.shares).of_generators(chosen))

    def _by_generator(self, values: np.ndarray, known: np.ndarray) -> dict[str, Any]:
        return {name: written(values[g], known[g]) for g, name in enumerate(self.generators)}


def _each(names: tuple[str, ...], values: np.ndarray) -> Mapping[str, Any]:
    return dict(zip(names, written(values, ~np.isnan(values)), strict=True))


def _filled(federation: Federation, generators: Any, metrics: Any, uncertainty: Any) -> tuple[Filling, str]:
    """The filling with intervals where there can be any, and why there are none elsewhere."""
    if uncertainty is not None:
        filling = Filling(federation, metrics, uncertainty=uncertainty, progress=False)
        filling.add_all(generators)
        return filling, ""
    try:
        filling = Filling(federation, metrics, uncertainty=Influence(), progress=False)
        filling.add_all(generators)
        return filling, ""
    except InvalidInput as error:
        if error.argument != "uncertainty":
            raise
        why = error.seen
    filling = Filling(federation, metrics, progress=False)
    filling.add_all(generators)
    return filling, why
