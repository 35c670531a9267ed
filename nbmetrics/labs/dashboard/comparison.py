"""Comparison: scores of every generator with every client, and what follows; ComparisonCache: one per regrouping.

Flow: an incremental evaluation computes scores piece by piece → `metric_view`: values, centres and their noise →
`board` and `draws` for the page, which depend on the data alone → `answer`: all, its noise and the test of the clients
under a scene's weights.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from ...errors import InvalidInput
from ...evaluation.scores import Scores
from .certificate import Certificate, certificate_of
from .changes import Change
from .clustering import Tree
from .drawing import DrawRequest
from .incremental import Step
from .json_numbers import json_numbers
from .metric_view import (
    MetricView,
    WeightedScores,
    clients_json,
    counted_weights,
    encode_noise,
    encode_pooled_noise,
    metric_json,
    verdict_of,
)
from .sample_size_planning import NoiseBySource, plan_sample_size
from .scene import DashboardScene
from .verdict import Verdict
from .view_model import ViewModel

Weights = tuple[float, ...]
# Shared by all comparisons: several of them at work on one machine's cores would only wait for one another.
_LOCK = threading.RLock()
F = TypeVar("F", bound=Callable[..., Any])


def atomic(method: F) -> F:
    """Run a method under the lock: no generator and no weight changes meanwhile."""

    @wraps(method)
    def run(self: Comparison, *arguments: Any) -> Any:
        with self.lock:
            return method(self, *arguments)

    return cast(F, run)


class Comparison(ABC):
    """The scores of generators with clients, as far as they are known.

    Attributes
    ----------
    names : of the clients
    weights : λ as given, by numbers of rows by default
    wanted : the weights for which `next_step` computes
    """

    names: tuple[str, ...]
    weights: Weights
    wanted: Weights

    @property
    @abstractmethod
    def generators(self) -> tuple[str, ...]: ...

    @property
    def samplers(self) -> Collection[str]:
        """Those generators of which more rows can be drawn."""
        return ()

    @property
    @abstractmethod
    def metrics(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Rows of each client, 0 where it has none."""

    @abstractmethod
    def metric_view(self, metric: str) -> MetricView:
        """Return the view of one metric."""

    @abstractmethod
    def weighted_scores(self, metric: str, shares: Weights) -> WeightedScores:
        """Return avg and all of one metric with their noise, under some weights."""

    @abstractmethod
    def scores_of(self, scene: DashboardScene) -> Scores:
        """Return the scores of the generators of a scene, as far as they are computed, under its weights."""

    def details(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        """Yield the details of the chosen cell, part by part; see `cell_details`."""
        return iter(())

    def mixture(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        """Yield the best mixture of the generators on show, step by step; see `MixtureFinder`."""
        raise InvalidInput(
            "mixture", "needs rows or distributions, but a table has only scores", "Use nm.Dashboard itself"
        )

    def disagreement(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        """Yield what two generators disagree about; see `disagreement`."""
        raise InvalidInput("modes", "need rows, but a table has only scores", "Use nm.Dashboard itself")

    def draw_until_settled(self, request: DrawRequest) -> Iterator[dict[str, Any]]:
        """Yield a race of the generators on show that are functions, draw by draw; see drawing.py."""
        raise InvalidInput(
            "race", "needs generators to draw from, but a table has only scores", "Use nm.Dashboard itself"
        )

    def about_cell(self, scene: DashboardScene) -> dict[str, Any]:
        """Return which cell is chosen, and under which weights."""
        return {"cell": [scene.client, scene.generator, scene.metric], "weights": list(scene.weights)}

    def next_step(self) -> Step | None:
        """Return what is to be computed next for the weights that are wanted, None where all is done."""
        return None

    def has_verdict(self, shares: Weights) -> bool:
        """Return whether all that a verdict rests on is computed."""
        return True

    def p(self, shares: Weights) -> float | None:
        """Return the p-value of the test that clients differ by chance alone, None where there is none, or none yet."""
        return None

    def size_gaps(self, metric: str, shares: Weights) -> dict[str, Any]:
        """Return how much of each gap the numbers of rows alone would make; empty where that is not computed."""
        return {}

    def slopes(self, metric: str, shares: Weights) -> dict[str, Any]:
        """Return how fast all grows with each client's weight, by generator; empty where that is not computed."""
        return {}

    # Which clients are alike, once that is known.
    tree: Tree | None = None
    # By metric, what makes KID-avg − KID-all under any weights, once that is known.
    gaps: Mapping[str, Any] = {}
    # See `Scores.ledger`; empty until it is known of all generators.
    ledger: Sequence[Mapping[str, Any]] = ()
    # Pictures of the generators and the clients, once there are some; see `pictures`.
    strips: Mapping[str, Any] = {}
    # Features of the rows, 0 where there are none, and whether clients are images.
    dim = 0
    takes_images = False
    # Of each client, where they are known and not too many for a page.
    classes: tuple[tuple[str, ...], ...] = ()

    @property
    @abstractmethod
    def constructor_code(self) -> str:
        """Return Python code that makes a Dashboard of the same data."""

    def after(self, changes: Sequence[Change]) -> Comparison:
        """Return the comparison of the same generators on clients after changes; InvalidInput where they cannot be."""
        raise _no_rows()

    def inputs_after(self, changes: Sequence[Change], generators: Sequence[str]) -> tuple[Any, ...]:
        """Return the arguments of a Dashboard of it: the federation, these generators, the metrics, the uncertainty."""
        raise _no_rows()

    def weights_after(self, changes: Sequence[Change], weights: Sequence[float]) -> Weights:
        """Return the weights of the clients after these changes, from their weights before."""
        raise _no_rows()

    def source(self, name: str) -> Any:
        """Return a generator, as `add` takes it."""
        raise InvalidInput("source", "is not known: a table has scores, not generators", "Use nm.Dashboard")

    @property
    def bytes(self) -> float:
        """Return about how many bytes of memory it takes."""
        return 0.0

    @abstractmethod
    def add(self, name: str, source: Any) -> None:
        """Add a generator."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a generator."""

    def __init__(self) -> None:
        # One thread fills; generators come and go, and the page is told, on others.
        self.lock = _LOCK

    @atomic
    def progress(self) -> dict[str, int]:
        """Return how many scores are known, of how many."""
        is_scored = [self.metric_view(metric).is_scored for metric in self.metrics]
        return {"done": int(sum(k.sum() for k in is_scored)), "total": sum(k.size for k in is_scored)}

    @atomic
    def board(self) -> dict[str, Any]:
        """Return what the page needs of the data, see metric_view.py."""
        views = [self.metric_view(metric) for metric in self.metrics]
        return {
            "clients": clients_json(self.names, self.sizes, self.weights, self.classes),
            "generators": _generators_json(self.generators, views, self.samplers),
            "metrics": [metric_json(view) for view in views],
            "values": {view.metric.name: self._json_cells(view.values, view.is_scored) for view in views},
            "centres": {view.metric.name: self._json_cells(view.centres, view.is_scored) for view in views},
            "few": {view.metric.name: list(view.few) for view in views},
            **({} if self.tree is None else self.tree.to_json()),
            **({} if not self.gaps else {"gaps": self.gaps}),
            **({} if not self.ledger else {"ledger": self.ledger}),
        }

    @atomic
    def draws(self) -> dict[str, Any]:
        """Return the noise of the centres, by metric and generator."""
        draws_by_metric = {metric: self.metric_view(metric).draws for metric in self.metrics}
        return {
            metric: {name: encode_noise(draws[:, g]) for g, name in enumerate(self.generators)}
            for metric, draws in draws_by_metric.items()
            if draws is not None
        }

    @atomic
    def answer(self, scene: DashboardScene) -> dict[str, Any]:
        """Return what the page cannot compute: all under the scene's weights, its noise, the test of the clients."""
        shares, names = scene.shares, self.generators
        scores = {metric: self.weighted_scores(metric, shares) for metric in self.metrics}
        pooled_draws = {metric: own.all_draws for metric, own in scores.items() if own.all_draws is not None}
        return {
            "weights": list(shares),
            "avg": {m: json_by_name(names, own.avg) for m, own in scores.items()},
            "all": {m: json_by_name(names, own.all) for m, own in scores.items()},
            "all_centres": {m: json_by_name(names, own.all_centres) for m, own in scores.items()},
            "all_draws": {m: encode_pooled_noise(names, draws) for m, draws in pooled_draws.items()},
            "size": {m: self.size_gaps(m, shares) for m in scores},
            "slope": {m: self.slopes(m, shares) for m in scores},
            "p": self.p(shares),
            "tested": self.has_verdict(shares),
            "why": {m: own.why for m, own in scores.items() if own.why},
            "verdict": {m: list(self.verdict(m, scene).sentences) for m in scores},
            "models": {m: sentence for m in scores if (sentence := self.model_verdict(m, scene))},
            "settle": self._sample_sizes(scene, scores),
        }

    def _sample_sizes(self, scene: DashboardScene, scores: Mapping[str, WeightedScores]) -> dict[str, Any]:
        """Return by metric what planning more rows needs, see sample_size_planning.py."""
        names, chosen = scene.generators, [self.generators.index(name) for name in scene.generators]
        on_show = {metric: own.select(chosen) for metric, own in scores.items()}
        noise = {metric: self.noise_by_source(metric) for metric in on_show}
        return {m: plan_sample_size(names, own, noise[m], chosen, np.array(scene.shares)) for m, own in on_show.items()}

    def noise_by_source(self, metric: str) -> NoiseBySource | None:
        """Return the noise of all generators by source; None where there is none."""
        return None

    @atomic
    def verdict(self, metric: str, scene: DashboardScene) -> Verdict:
        """Return the verdict on one metric, of the generators of a scene."""
        return verdict_of(
            scene.generators, self._scores_on_show(metric, scene), self.names, self.model_verdict(metric, scene)
        )

    def model_verdict(self, metric: str, scene: DashboardScene) -> str:
        """Return which models differ by more than their runs do; "" where no generators on show are runs of models."""
        return ""

    @atomic
    def certificate(self, scene: DashboardScene) -> Certificate:
        """Return the least re-weighting that dethrones the winner by avg of the generators of a scene."""
        scores = self._scores_on_show(scene.metric, scene)
        view, weights = scores.metric_view, np.array(scene.shares)
        deciding = counted_weights(weights, view.counts)
        chosen = [i for i in range(len(weights)) if deciding is None or view.counts[i]]
        weights = weights if deciding is None else deciding
        clients = [self.names[i] for i in chosen]
        return certificate_of(scene.generators, clients, view.centres[:, chosen], weights[chosen])

    @atomic
    def view_model(self, scene: DashboardScene) -> ViewModel:
        """Return what the views show of a scene."""
        chosen = [self.generators.index(name) for name in scene.generators]
        leaves = () if self.tree is None else self.tree.leaves
        scores, all_generators = self._scores_on_show(scene.metric, scene), self.metric_view(scene.metric)
        return ViewModel(scene, scores, all_generators, chosen, self.names, self.sizes, leaves)

    def _scores_on_show(self, metric: str, scene: DashboardScene) -> WeightedScores:
        chosen = [self.generators.index(name) for name in scene.generators]
        return self.weighted_scores(metric, scene.shares).select(chosen)

    def _json_cells(self, values: np.ndarray, is_scored: np.ndarray) -> dict[str, Any]:
        return {name: json_numbers(values[g], is_scored[g]) for g, name in enumerate(self.generators)}


def _generators_json(names: Sequence[str], views: Sequence[MetricView], samplers: Collection[str]) -> dict[str, Any]:
    """Return what the page has to know of generators: one distribution for each client, whether more can be drawn."""
    by_client = views[0].is_by_client or (False,) * len(names)
    unpooled = [[v.metric.name for v in views if v.has_pool and not v.has_pool[g]] for g in range(len(names))]
    own = [{"by_client": True, "unpooled": metrics} for metrics in unpooled]
    draws = [{"draws": True} if name in samplers else {} for name in names]
    return {name: (own[g] if by_client[g] else {}) | draws[g] for g, name in enumerate(names)}


def json_by_name(names: tuple[str, ...], values: np.ndarray) -> Mapping[str, Any]:
    return dict(zip(names, json_numbers(values, ~np.isnan(values)), strict=True))


def _no_rows() -> InvalidInput:
    return InvalidInput("table", "has no rows to regroup", "Give the federation itself to nm.Dashboard")


Changes = tuple[Change, ...]
# Studies beside that of the clients as given, and bytes that they may take together, but for the last used one.
MAX_COMPARISONS_KEPT, MAX_BYTES_KEPT = 4, 1e9
# Ways to regroup whose names are remembered: more than a history has.
MAX_NAMES_KEPT = 200


class ComparisonCache:
    """The comparison on the clients as given, `origin`, and those on regrouped ones, made on demand and kept a while.

    All have the same generators: they come and go here.
    """

    def __init__(self, origin: Comparison) -> None:
        self.origin = origin
        self._others: dict[Changes, Comparison] = {}  # the last used last
        self._names: dict[Changes, tuple[str, ...]] = {}
        self._lock = threading.RLock()

    def of(self, changes: Changes) -> Comparison:
        """Return the comparison after changes, a kept one if there is one; InvalidInput where they cannot be made."""
        if not changes:
            return self.origin
        with self._lock:
            comparison = self._others.pop(changes, None) or self.origin.after(changes)
            self._keep(changes, comparison)
            return comparison

    def names(self, changes: Changes) -> tuple[str, ...]:
        """Return the names of the clients after these changes; InvalidInput where they cannot be made."""
        if not changes:
            return self.origin.names
        with self._lock:
            return self._names[changes] if changes in self._names else self.of(changes).names

    def weights(self, changes: Changes, more: Changes, weights: Sequence[float]) -> tuple[float, ...]:
        """Return the weights of the clients after `more`, where those before it have `weights`."""
        return self.of(changes).weights_after(more, weights)

    def add(self, name: str, source: Any) -> None:
        """Add a generator to all comparisons; a kept one that refuses it is dropped."""
        with self._lock:
            self.origin.add(name, source)
            generator = self.origin.source(name)
            for changes, comparison in list(self._others.items()):
                try:
                    comparison.add(name, generator)
                except InvalidInput:
                    del self._others[changes]

    def remove(self, name: str) -> None:
        """Remove a generator."""
        with self._lock:
            for comparison in (self.origin, *self._others.values()):
                comparison.remove(name)

    def _keep(self, changes: Changes, comparison: Comparison) -> None:
        last = [*self._others.items(), (changes, comparison)][-MAX_COMPARISONS_KEPT:]
        while len(last) > 1 and sum(comparison.bytes for _, comparison in last) > MAX_BYTES_KEPT:
            del last[0]
        self._others = dict(last)
        self._names = dict([*self._names.items(), (changes, comparison.names)][-MAX_NAMES_KEPT:])
