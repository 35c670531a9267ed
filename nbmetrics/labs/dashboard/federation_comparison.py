"""FederationComparison: generators on clients of rows or distributions, computed step by step, leaders first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from ...arrays import to_float64, to_numpy
from ...errors import InvalidInput, check_choice, check_weights, shown
from ...evaluation.heterogeneity import Parties, client_kernel_means, p_kid
from ...evaluation.influence import Influence
from ...evaluation.model_sentences import model_verdict
from ...evaluation.scores import Scores
from ...evaluation.store import Store
from ...federation import Federation, as_generator, as_generators
from ...federation.generator import Generator
from ...federation.image_sources import images_of
from ...lazy_imports import import_room
from ...metrics.kid.metric import KID
from .cell_details import cell_details
from .changes import Change
from .clustering import cluster_clients
from .comparison import Comparison, Weights, atomic, json_by_name
from .disagreement import check_pair, disagreement, pair_of
from .drawing import DrawRequest, draw_until_settled, draws_anew
from .incremental import IncrementalEvaluation, Step
from .json_numbers import json_numbers
from .metric_view import MAX_CLASSES, MAX_CLASSES_A_CLIENT, MetricView, WeightedScores, encode_kid_gap, metric_view_of
from .mixture import MixtureFinder
from .sample_size_planning import NoiseBySource
from .scene import DashboardScene, made_of_rows
from .thumbnails import Strips

# Of the deals of rows in the test of the clients.
SEED = 0
# Weights whose answers are kept.
MAX_WEIGHTS_KEPT = 50


class FederationComparison(Comparison):
    """The scores of generators on a federation, computed step by step.

    Parameters
    ----------
    federation, generators, metrics, uncertainty : as for `Dashboard`; the generators may be those of another filling
    store : of scores that are not computed again
    """

    def __init__(
        self, federation: Any, generators: Any, metrics: Any, uncertainty: Any, store: Store | None = None
    ) -> None:
        super().__init__()
        self.federation = federation if isinstance(federation, Federation) else Federation(federation)
        is_filling = isinstance(generators, IncrementalEvaluation)
        read_generators = (
            []
            if is_filling
            else [_read_images_once(g, self.federation) for g in as_generators(generators, may_be_by_client=True)]
        )
        self._options, self._store = (metrics, uncertainty), store
        self._filling, self._no_noise_reason = _start_evaluation(
            self.federation, generators if is_filling else read_generators, metrics, uncertainty, store
        )
        self.names, self.weights = tuple(self._filling.names), tuple(self._filling.weights)
        self.wanted = self._current_weights = self.weights
        self.dim, self.takes_images = self.federation.dim, self.federation.extraction is not None
        self.classes = _classes(self.federation)
        self._strips = Strips(self.federation)
        self._mixture_finder = MixtureFinder()
        self._has_kid_gaps = False
        self._generators_with_costs: tuple[str, ...] = ()
        self._pvalues: dict[Weights, float | None] = {}
        self._model_verdicts: dict[tuple[str, Weights, tuple[str, ...]], str] = {}
        self._slopes: dict[tuple[str, str, Weights], np.ndarray | None] = {}

    @property
    def generators(self) -> tuple[str, ...]:
        return self._filling.generators

    @property
    def samplers(self) -> Collection[str]:
        if self.federation.is_conditional:
            return ()
        return [name for name in self.generators if draws_anew(self._filling.source(name))]

    @property
    def metrics(self) -> tuple[str, ...]:
        return self._filling.metrics

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(client.size for client in self.federation)

    @property
    def bytes(self) -> float:
        """Return the bytes of generators’ covariances, and of clients’ rows as given and as metrics have them."""
        return 8.0 * self.dim * (len(self.generators) * self.dim + 2 * sum(self.sizes))

    @property
    def constructor_code(self) -> str:
        return made_of_rows(self.metrics)

    @atomic
    def add(self, name: str, source: Any) -> None:
        generator = as_generator(source, name, may_be_by_client=True)
        self._filling.add(_read_images_once(generator, self.federation))
        self._forget_decisions()

    @atomic
    def remove(self, name: str) -> None:
        self._filling.remove(name)
        self._forget_decisions()
        self._strips.forget(name)

    def _forget_decisions(self) -> None:
        """Forget what depends on which generators there are."""
        self.ledger, self._generators_with_costs, self._model_verdicts = (), (), {}

    @property
    def strips(self) -> Mapping[str, Any]:  # type: ignore[override]
        return self._strips.to_json()

    def source(self, name: str) -> Any:
        return self._filling.source(name)

    def after(self, changes: Sequence[Change]) -> FederationComparison:
        federation, _, metrics, uncertainty = self.inputs_after(changes, ())
        return FederationComparison(federation, self._filling, metrics, uncertainty, self._store)

    def inputs_after(self, changes: Sequence[Change], generators: Sequence[str]) -> tuple[Any, ...]:
        self._check_changes(changes, generators or self.generators)
        federation = reduce(lambda before, change: change.apply(before), changes, self.federation)
        sources = [self.source(name).without_others(federation.names) for name in generators]
        return federation, sources, *self._options

    def _check_changes(self, changes: Sequence[Change], generators: Sequence[str]) -> None:
        """Raise InvalidInput where a generator has nothing for the clients after these changes."""
        by_client = [name for name in generators if self.source(name).is_by_client]
        if by_client and any(change.do != "drop" for change in changes):
            seen = f"changes clients, and {shown(by_client[0])} has one distribution for each client as given"
            fix = "Leave clients out only (drop=), or make a Dashboard of what it makes for the new clients"
            raise InvalidInput("regroup", seen, fix)

    def weights_after(self, changes: Sequence[Change], weights: Sequence[float]) -> Weights:
        federation, by_name = self.federation, dict(zip(self.names, weights, strict=True))
        for change in changes:
            before, federation = federation, change.apply(federation)
            by_name = change.reweight(by_name, before, federation)
        kept = [by_name[name] for name in federation.names]
        return tuple(kept if sum(kept) > 0 else federation.weights)

    @atomic  # both the thread that fills and the one that answers ask, and each may bring other weights
    def next_step(self) -> Step | None:
        filling = self._filling
        if self.tree is None:
            return Step("which clients are alike", self._cluster_clients)
        if self._current_weights != (wanted := self.wanted):  # which may change at any time
            filling.weigh(wanted)
            self._current_weights = wanted  # as the scene has them: divided again they may differ in a last digit
        step = next(filling.steps(), None)
        if step is None or any(
            filling.computed_cells(metric).all.all() for metric in self.metrics
        ):  # numbers come first
            draw = self._strips.next(map(filling.source, self.generators))
            if draw is not None:
                return Step("pictures", draw)
        if step is not None:
            return step
        if not self._has_kid_gaps:
            return Step("KID’s gap under other weights", self._compute_kid_gaps)
        if self._generators_with_costs != self.generators:
            return Step("what each score costs and reveals", self._compute_costs)
        weights = self._current_weights
        if weights not in self._pvalues:
            return Step("whether the clients differ by more than chance", partial(self._test_clients, weights))
        for metric in self.metrics:
            for name in self.generators:
                if (metric, name, weights) not in self._slopes:
                    return Step(
                        f"slopes of {name}", partial(self._compute_slope, metric, name, weights, filling.weights)
                    )
        return None

    def _compute_kid_gaps(self) -> None:
        results = {metric: self._filling.scores.result(metric) for metric in self.metrics}
        gaps = {metric: encode_kid_gap(client_kernel_means(result)) for metric, result in results.items()}
        self.gaps = {metric: gap for metric, gap in gaps.items() if gap is not None}
        self._has_kid_gaps = True

    def _compute_costs(self) -> None:
        priced = self.generators
        self.ledger = costs(self._filling.scores)
        self._generators_with_costs = priced

    def _cluster_clients(self) -> None:
        self.tree = cluster_clients(self._filling.scores.result(self.metrics[0]).clients)

    def _test_clients(self, weights: Weights) -> None:
        counted = [(client.rows, w) for client, w in zip(self.federation, weights, strict=True) if w]
        counted = [(x, w) for x, w in counted if x is None or len(x) > 1]  # one row has no pair
        rows = [to_numpy(to_float64(x)) for x, _ in counted if x is not None]
        pvalue = None
        if 1 < len(rows) == len(counted):
            shares = check_weights([w for _, w in counted], len(rows))
            parties = Parties(np.concatenate(rows), tuple(map(len, rows)), shares)
            pvalue = p_kid(parties, SEED)
        self._pvalues = {**dict(list(self._pvalues.items())[-MAX_WEIGHTS_KEPT:]), weights: pvalue}

    def _compute_slope(self, metric: str, name: str, weights: Weights, filling_weights: Weights) -> None:
        kept = dict(list(self._slopes.items())[-MAX_WEIGHTS_KEPT * len(self.metrics) * len(self.generators) :])
        self._slopes = {**kept, (metric, name, weights): self._filling.slopes(name, metric, filling_weights)}

    def has_verdict(self, shares: Weights) -> bool:
        return shares in self._pvalues

    def p(self, shares: Weights) -> float | None:
        return self._pvalues.get(shares)

    def size_gaps(self, metric: str, shares: Weights) -> dict[str, Any]:
        if shares != self._current_weights or not self._filling.computed_cells(metric).all.all():
            return {}
        gaps = self._filling.scores.result(metric).size_gaps
        return {} if not np.any(gaps) else dict(json_by_name(self.generators, gaps))

    def slopes(self, metric: str, shares: Weights) -> dict[str, Any]:
        slopes = {name: self._slopes.get((metric, name, shares)) for name in self.generators}
        return {name: json_numbers(s, ~np.isnan(s)) for name, s in slopes.items() if s is not None}

    def scores_of(self, scene: DashboardScene) -> Scores:
        self._filling.compute_mixtures(scene.generators)
        return self._filling.scores_of(scene.generators).with_weights(scene.shares)

    def model_verdict(self, metric: str, scene: DashboardScene) -> str:
        groups = [self._filling.source(name).group for name in scene.generators]
        if not any(groups) or scene.shares != self._current_weights or not self._filling.has_all_noise:
            return ""
        key = metric, scene.shares, scene.generators
        if key not in self._model_verdicts:
            kept = dict(list(self._model_verdicts.items())[-MAX_WEIGHTS_KEPT:])
            self._model_verdicts = {**kept, key: model_verdict(self.scores_of(scene), metric)}
        return self._model_verdicts[key]

    def details(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        if scene.client not in self.names or scene.generator not in self.generators:
            return
        i, g = self.names.index(scene.client), self.generators.index(scene.generator)
        cell = self.about_cell(scene)
        if self._filling.computed_cells(scene.metric).clients[g, i]:
            generator = self._filling.source(scene.generator).for_clients(self.names)
            own = generator[i] if len(generator) > 1 else generator[0]
            images = self.federation[scene.client].images, own.source if own.is_of_images else None
            for part in cell_details(self._filling.scores.result(scene.metric), g, i, scene.shares, *images):
                yield {**cell, **part}

    def mixture(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        with self.lock:
            kid = next((m for m in self.metrics if isinstance(self.metric_view(m).metric, KID)), self.metrics[0])
            result = self._filling.scores_of(scene.generators).result(kid)
        return self._mixture_finder.find(result, scene.generators, self.names, scene.shares)

    def disagreement(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        with self.lock:
            scores = self.scores_of(scene)
            on_show = self._scores_on_show(scene.metric, scene)
        check_pair(scene.generators)
        pair = pair_of(scene.generators, scene.generator, on_show.avg_centres, on_show.all_centres)
        sources = [self._filling.source(name) for name in pair]
        images = [generator.source if generator.is_of_images else None for generator in sources]
        return disagreement(scores, scene.metric, pair, images)

    def draw_until_settled(self, request: DrawRequest) -> Iterator[dict[str, Any]]:
        with self.lock:
            generators = {name: self._filling.source(name) for name in request.scene.generators}
            metric = self.metric_view(check_choice(request.scene.metric, self.metrics, "metric")).metric
        return draw_until_settled(self.federation, generators, metric, request)

    def metric_view(self, metric: str) -> MetricView:
        filling = self._filling
        return metric_view_of(
            filling.scores.result(metric),
            filling.computed_cells(metric).clients,
            filling.noise(metric),
            self._no_noise_reason,
        )

    def noise_by_source(self, metric: str) -> NoiseBySource | None:
        result = self._filling.scores.result(metric)
        members = [own or (sample,) for own, sample in zip(result.own_samples, result.generators, strict=True)]
        generated_sizes = [sum(s.size or 0 for s in {id(s): s for s in own if s}.values()) for own in members]
        return NoiseBySource(self._filling.noise(metric), self.sizes, generated_sizes)

    def weighted_scores(self, metric: str, shares: Weights) -> WeightedScores:
        view, filling = self.metric_view(metric), self._filling
        pooled, noise = np.full(len(self.generators), np.nan), None
        if shares == self._current_weights:
            is_known = filling.computed_cells(metric).all
            pooled[is_known] = filling.scores.result(metric).all_without_bias[is_known]
            noise = filling.noise(metric)
        return WeightedScores.of(view, shares, pooled, noise, self.p(shares))


def _classes(federation: Federation) -> tuple[tuple[str, ...], ...]:
    classes = tuple(() if c.labels is None else tuple(map(str, np.unique(c.labels))) for c in federation)
    few = tuple(own if len(own) <= MAX_CLASSES_A_CLIENT else () for own in classes)
    return few if 0 < sum(map(len, few)) <= MAX_CLASSES else ()


def _read_images_once(generator: Generator, federation: Federation) -> Generator:
    """Return a generator of images with these as one sequence, so that they are read once; others as they are."""
    if federation.extraction is None or not generator.is_of_images:
        return generator
    images = images_of(generator.source, f"generator {generator.name!r}", federation.extraction)
    return replace(generator, source=images)


def _start_evaluation(
    federation: Federation, generators: Any, metrics: Any, uncertainty: Any, store: Store | None
) -> tuple[IncrementalEvaluation, str]:
    """Return the evaluation, by default with influence values where there can be any, and why there cannot."""
    try:
        design = Influence() if uncertainty is None else uncertainty
        filling = IncrementalEvaluation(federation, metrics, uncertainty=design, progress=False, store=store)
        _take_generators(filling, generators)
        return filling, ""
    except InvalidInput as error:
        if error.argument != "uncertainty" or uncertainty is not None:
            raise
        why = error.seen
    filling = IncrementalEvaluation(federation, metrics, progress=False, store=store)
    _take_generators(filling, generators)
    return filling, why


def _take_generators(filling: IncrementalEvaluation, generators: Any) -> None:
    filling.adopt(generators) if isinstance(generators, IncrementalEvaluation) else filling.add_all(generators)


def costs(scores: Scores) -> list[dict[str, Any]]:
    """[{"metric": label, "aggregate", "up": [least, most], "down": [least, most], "reveals"}], bytes a client."""
    # not `scores.ledger`, whose cautions would compute the influence values of all rows anew
    table, rows = import_room("federated").ledger(scores), []
    for (metric, aggregate), part in table.groupby(["metric", "aggregate"], sort=False):
        up, down = ([int(part[name].min()), int(part[name].max())] for name in ("bytes", "bytes_down"))
        reveals = "; or ".join(dict.fromkeys(part["reveals"]))
        own = {"metric": scores.result(str(metric)).label, "aggregate": aggregate}
        rows.append({**own, "up": up, "down": down, "reveals": reveals})
    return rows
