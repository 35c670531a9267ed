"""A study of rows or distributions: scores are filled in piece by piece, and then what Python alone can say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from ...arrays import to_float64, to_numpy
from ...errors import InvalidInput, check_weights
from ...evaluation.heterogeneity import Parties, client_kernel_means, p_kid
from ...evaluation.influence import Influence
from ...evaluation.scores import Scores
from ...federation import Federation, as_generators
from ...federation.generator import Generator
from ...federation.image_sources import images_of
from ...metrics.kid.metric import KID
from .board import MOST_CLASSES, MOST_NAMED, Facts, facts_of, packed_gap, written
from .buys import Split
from .changes import Change
from .costs import costs
from .decisions import Known
from .details import details
from .incremental import IncrementalEvaluation, Step
from .likeness import likeness
from .mixture import Mixer
from .pictures import Strips
from .scene import DashboardScene, made_of_rows
from .study import Study, Weights, at_once, each
from .winners import winner_map

# Of the deals of rows in the test of the clients.
SEED = 0
# Weights whose answers are kept.
REMEMBERED = 50


class FederationStudy(Study):
    """The scores of generators on a federation, filled in step by step.

    Parameters
    ----------
    federation, generators, metrics, uncertainty : as for `Dashboard`; the generators may be those of another filling
    """

    def __init__(self, federation: Any, generators: Any, metrics: Any, uncertainty: Any) -> None:
        super().__init__()
        self.federation = federation if isinstance(federation, Federation) else Federation(federation)
        is_filling = isinstance(generators, IncrementalEvaluation)
        made = [] if is_filling else [_read(generator, self.federation) for generator in as_generators(generators)]
        self._given = metrics, uncertainty
        self._filling, self._why = _filled(self.federation, generators if is_filling else made, metrics, uncertainty)
        self.names, self.weights = tuple(self._filling.names), tuple(self._filling.weights)
        self.wanted = self._at = self.weights
        self.dim, self.takes_images = self.federation.dim, self.federation.extraction is not None
        self.classes = _classes(self.federation)
        self._strips = Strips(self.federation)
        self._mixer = Mixer()
        self._is_crossed = False
        self._priced: tuple[str, ...] = ()
        self._p: dict[Weights, float | None] = {}
        self._slopes: dict[tuple[str, str, Weights], np.ndarray | None] = {}

    @property
    def generators(self) -> tuple[str, ...]:
        return self._filling.generators

    @property
    def metrics(self) -> tuple[str, ...]:
        return self._filling.metrics

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(client.size for client in self.federation)

    @property
    def bytes(self) -> float:
        """Of the generators' covariances, and of the clients' rows as given and as metrics have them."""
        return 8.0 * self.dim * (len(self.generators) * self.dim + 2 * sum(self.sizes))

    @property
    def making(self) -> str:
        return made_of_rows(self.metrics)

    @at_once
    def add(self, name: str, source: Any) -> None:
        (made,) = as_generators({name: source})
        self._filling.add(_read(made, self.federation))
        self.ledger, self._priced = (), ()

    @at_once
    def remove(self, name: str) -> None:
        self._filling.remove(name)
        self.ledger, self._priced = (), ()
        self._strips.forget(name)

    @property
    def strips(self) -> Mapping[str, Any]:  # type: ignore[override]
        return self._strips.to_json()

    def source(self, name: str) -> Any:
        return self._filling.source(name)

    def after(self, changes: Sequence[Change]) -> FederationStudy:
        federation, _, *given = self.given_after(changes, ())
        return FederationStudy(federation, self._filling, *given)

    def given_after(self, changes: Sequence[Change], generators: Sequence[str]) -> tuple[Any, ...]:
        federation = reduce(lambda before, change: change.applied(before), changes, self.federation)
        return federation, [self.source(name) for name in generators], *self._given

    def weights_after(self, changes: Sequence[Change], weights: Sequence[float]) -> Weights:
        federation, by_name = self.federation, dict(zip(self.names, weights, strict=True))
        for change in changes:
            before, federation = federation, change.applied(federation)
            by_name = change.weighed(by_name, before, federation)
        kept = [by_name[name] for name in federation.names]
        return tuple(kept if sum(kept) > 0 else federation.weights)

    def next_step(self) -> Step | None:
        filling = self._filling
        if self.tree is None:
            return Step("which clients are alike", self._compare)
        if self._at != (wanted := self.wanted):
            with self.lock:
                filling.weigh(wanted)
                self._at = wanted  # as the scene has them: divided by their sum again they may differ in the last digit
        step = next(filling.steps(), None)
        if step is None or any(
            filling.computed_cells(metric).all.all() for metric in self.metrics
        ):  # numbers come first
            draw = self._strips.next(map(filling.source, self.generators))
            if draw is not None:
                return Step("pictures", draw)
        if step is not None:
            return step
        if not self._is_crossed:
            return Step("KID’s gap under other weights", self._cross)
        if self._priced != self.generators:
            return Step("what each score costs and reveals", self._price)
        if self._at not in self._p:
            return Step("whether the clients differ by more than chance", self._test)
        for metric in self.metrics:
            for name in self.generators:
                if (metric, name, self._at) not in self._slopes:
                    return Step(f"slopes of {name}", partial(self._slope, metric, name))
        return None

    def _cross(self) -> None:
        results = {metric: self._filling.scores.result(metric) for metric in self.metrics}
        found = {metric: packed_gap(client_kernel_means(result)) for metric, result in results.items()}
        self.gaps = {metric: gap for metric, gap in found.items() if gap is not None}
        self._is_crossed = True

    def _price(self) -> None:
        priced = self.generators
        self.ledger = costs(self._filling.scores)
        self._priced = priced

    def _compare(self) -> None:
        self.tree = likeness(self._filling.scores.result(self.metrics[0]).clients)

    def _test(self) -> None:
        counted = [(client.rows, w) for client, w in zip(self.federation, self._at, strict=True) if w]
        counted = [(x, w) for x, w in counted if x is None or len(x) > 1]  # one row has no pair
        rows = [to_numpy(to_float64(x)) for x, _ in counted if x is not None]
        found = None
        if 1 < len(rows) == len(counted):
            shares = check_weights([w for _, w in counted], len(rows))
            parties = Parties(np.concatenate(rows), tuple(map(len, rows)), shares)
            found = p_kid(parties, SEED)
        self._p = {**dict(list(self._p.items())[-REMEMBERED:]), self._at: found}

    def _slope(self, metric: str, name: str) -> None:
        kept = dict(list(self._slopes.items())[-REMEMBERED * len(self.metrics) * len(self.generators) :])
        self._slopes = {**kept, (metric, name, self._at): self._filling.slopes(name, metric)}

    def is_settled(self, shares: Weights) -> bool:
        return shares in self._p

    def p(self, shares: Weights) -> float | None:
        return self._p.get(shares)

    def size_gaps(self, metric: str, shares: Weights) -> dict[str, Any]:
        if shares != self._at or not self._filling.computed_cells(metric).all.all():
            return {}
        gaps = self._filling.scores.result(metric).size_gaps
        return {} if not np.any(gaps) else dict(each(self.generators, gaps))

    def slopes(self, metric: str, shares: Weights) -> dict[str, Any]:
        found = {name: self._slopes.get((metric, name, shares)) for name in self.generators}
        return {name: written(s, ~np.isnan(s)) for name, s in found.items() if s is not None}

    def scores_of(self, scene: DashboardScene) -> Scores:
        return self._filling.scores_of(scene.generators).with_weights(scene.shares)

    def details(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        if scene.client not in self.names or scene.generator not in self.generators:
            return
        i, g = self.names.index(scene.client), self.generators.index(scene.generator)
        cell = self.about_cell(scene)
        if self._filling.computed_cells(scene.metric).clients[g, i]:
            made = self._filling.source(scene.generator)
            images = self.federation[scene.client].images, made.source if made.is_of_images else None
            for found in details(self._filling.scores.result(scene.metric), g, i, scene.shares, *images):
                yield {**cell, **found}

    def mixture(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        with self.lock:
            kid = next((m for m in self.metrics if isinstance(self.facts(m).metric, KID)), self.metrics[0])
            result = self._filling.scores_of(scene.generators).result(kid)
        return self._mixer.found(result, scene.generators, self.names, scene.shares)

    def winners(self, scene: DashboardScene) -> Iterator[dict[str, Any] | None]:
        with self.lock:
            result = self._filling.scores_of(scene.generators).result(scene.metric)
            known = self._known_of(scene.metric, scene, self._at)
        bias = result.losses(known.all) - known.all_centres
        return winner_map(result, scene.generators, scene.groups, scene.shares, bias, self.federation.dim)

    def facts(self, metric: str) -> Facts:
        filling = self._filling
        return facts_of(
            filling.scores.result(metric), filling.computed_cells(metric).clients, filling.noise(metric), self._why
        )

    def split(self, metric: str) -> Split | None:
        rows = [None if s is None else s.rows for s in self._filling.scores.result(metric).generators]
        made = [0 if own is None else len(own) for own in rows]
        return Split(self._filling.noise(metric), self.sizes, made)

    def known(self, metric: str, shares: Weights) -> Known:
        facts, filling = self.facts(metric), self._filling
        pooled, noise = np.full(len(self.generators), np.nan), None
        if shares == self._at:
            is_known = filling.computed_cells(metric).all
            pooled[is_known] = filling.scores.result(metric).all_without_bias[is_known]
            noise = filling.noise(metric)
        return Known.of(facts, shares, pooled, noise, self.p(shares))


def _classes(federation: Federation) -> tuple[tuple[str, ...], ...]:
    found = tuple(() if c.labels is None else tuple(map(str, np.unique(c.labels))) for c in federation)
    few = tuple(own if len(own) <= MOST_CLASSES else () for own in found)
    return few if 0 < sum(map(len, few)) <= MOST_NAMED else ()


def _read(generator: Generator, federation: Federation) -> Generator:
    """Where it is images, with these as one sequence, so that they are looked through once."""
    if federation.extraction is None or not generator.is_of_images:
        return generator
    images = images_of(generator.source, f"generator {generator.name!r}", federation.extraction)
    return replace(generator, source=images)


def _filled(
    federation: Federation, generators: Any, metrics: Any, uncertainty: Any
) -> tuple[IncrementalEvaluation, str]:
    """The filling, with influence values where nothing is asked for and they can be; and why they cannot."""
    try:
        design = Influence() if uncertainty is None else uncertainty
        filling = IncrementalEvaluation(federation, metrics, uncertainty=design, progress=False)
        _take(filling, generators)
        return filling, ""
    except InvalidInput as error:
        if error.argument != "uncertainty" or uncertainty is not None:
            raise
        why = error.seen
    filling = IncrementalEvaluation(federation, metrics, progress=False)
    _take(filling, generators)
    return filling, why


def _take(filling: IncrementalEvaluation, generators: Any) -> None:
    filling.adopt(generators) if isinstance(generators, IncrementalEvaluation) else filling.add_all(generators)
