"""What a Dashboard knows: the scores of every generator with every client, and what Python alone can say of them.

Flow: a `Filling` computes scores piece by piece → `facts`: values, centres and their noise → `board` and `draws` for
the page, which depend on the data alone → `answer`: all, its noise and the test of the clients under a scene's weights.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np

from ...arrays import to_float64, to_numpy
from ...errors import InvalidInput, check_list, shown
from ...evaluation.filling import Filling, Step
from ...evaluation.heterogeneity import Parties, p_kid
from ...evaluation.kid_gap import kid_gap_parts
from ...evaluation.scores import Scores
from ...evaluation.uncertainty import Influence
from ...federation import Federation, as_generators
from ...metrics.kid.metric import KID
from .board import Facts, facts_of, facts_of_clients, facts_of_metric, packed_all, packed_clients, packed_gap, written
from .buys import Split, settling, won
from .decisions import Known, judged
from .details import details
from .likeness import Tree, likeness
from .mixture import Mixer
from .pictures import Pictures
from .scene import DashboardScene, made_of_rows
from .verdict import Verdict

Weights = tuple[float, ...]
F = TypeVar("F", bound=Callable[..., Any])
# Of the deals of rows in the test of the clients.
SEED = 0
# Weights whose answers are kept.
REMEMBERED = 50


def _at_once(method: F) -> F:
    """A method that sees one state: no generator and no weight changes meanwhile."""

    @wraps(method)
    def run(self: Study, *given: Any) -> Any:
        with self.lock:
            return method(self, *given)

    return cast(F, run)


class Study(ABC):
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
    @abstractmethod
    def metrics(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Rows of each client, 0 where it has none."""

    @abstractmethod
    def facts(self, metric: str) -> Facts:
        """What is known of one metric."""

    @abstractmethod
    def known(self, metric: str, shares: Weights) -> Known:
        """All that decisions on one metric are made from, under some weights."""

    @abstractmethod
    def scores_of(self, scene: DashboardScene) -> Scores:
        """What is known of the generators of a scene, under its weights."""

    def details(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        """What the chosen cell opens, part after part; see `details`."""
        return iter(())

    def mixture(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        """The best mixture of the generators on show, step after step; see `Mixer`."""
        raise InvalidInput("mixture", "needs rows or laws, and a table has scores alone", "Use nm.Dashboard itself")

    def next_step(self) -> Step | None:
        """What is to be computed next for the weights that are wanted, None where all is known."""
        return None

    def is_settled(self, shares: Weights) -> bool:
        """Whether all that a verdict rests on is known."""
        return True

    def p(self, shares: Weights) -> float | None:
        """Of the test that the clients differ by chance alone, None where there is none, or none yet."""
        return None

    def size_gaps(self, metric: str, shares: Weights) -> dict[str, Any]:
        """How much of each gap the numbers of rows alone would make; empty where that is not known."""
        return {}

    def slopes(self, metric: str, shares: Weights) -> dict[str, Any]:
        """How fast all grows with each client's weight, by generator; empty where that is not known."""
        return {}

    # Which clients are alike, once that is known.
    tree: Tree | None = None
    # By metric, what makes KID-avg − KID-all under any weights, once that is known.
    gaps: Mapping[str, Any] = {}
    # Features of the rows, 0 where there are none, and whether clients are images.
    dim = 0
    takes_images = False

    @property
    @abstractmethod
    def making(self) -> str:
        """Python that makes a Dashboard of the same data."""

    def regrouped(self, merge: Any, drop: Any, split: Any, generators: tuple[str, ...]) -> tuple[Any, ...]:
        """Another federation, these generators, the metrics and the uncertainty."""
        raise InvalidInput("table", "has no rows to regroup", "Give the federation itself to nm.Dashboard")

    @abstractmethod
    def add(self, name: str, source: Any) -> None:
        """Take one more generator in."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Forget a generator."""

    def __init__(self) -> None:
        # One thread fills; generators come and go, and the page is told, on others.
        self.lock = threading.RLock()

    @_at_once
    def board(self, doing: str = "", is_stopped: bool = False, why: str = "") -> dict[str, Any]:
        """See `board`; `doing` is what is computed now, `why` what went wrong where it stopped by itself."""
        facts = [self.facts(metric) for metric in self.metrics]
        known = [f.known for f in facts]
        return {
            "clients": facts_of_clients(self.names, self.sizes, self.weights),
            "generators": {name: {} for name in self.generators},
            "metrics": [facts_of_metric(f) for f in facts],
            "values": {f.metric.name: self._cells(f.values, f.known) for f in facts},
            "centres": {f.metric.name: self._cells(f.centres, f.known) for f in facts},
            "few": {f.metric.name: list(f.few) for f in facts},
            **({} if self.tree is None else self.tree.to_json()),
            **({} if not self.gaps else {"gaps": self.gaps}),
            "filled": {
                "done": int(sum(k.sum() for k in known)),
                "total": sum(k.size for k in known),
                "doing": doing,
                "stopped": is_stopped,
                "why": why,
            },
        }

    @_at_once
    def draws(self) -> dict[str, Any]:
        """The noise of the centres, by metric and generator."""
        found = {metric: self.facts(metric).draws for metric in self.metrics}
        return {
            metric: {name: packed_clients(draws[:, g]) for g, name in enumerate(self.generators)}
            for metric, draws in found.items()
            if draws is not None
        }

    @_at_once
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
            "size": {m: self.size_gaps(m, shares) for m in known},
            "slope": {m: self.slopes(m, shares) for m in known},
            "p": self.p(shares),
            "verdict": {m: list(self.verdict(m, scene).sentences) for m in known},
            **self._decisions(scene, known),
        }

    def _decisions(self, scene: DashboardScene, known: Mapping[str, Known]) -> dict[str, Any]:
        """See buys.py."""
        names, chosen = scene.generators, [self.generators.index(name) for name in scene.generators]
        own = {metric: k.of_generators(chosen) for metric, k in known.items()}
        split = {metric: self.split(metric) for metric in own}
        return {
            "won": {metric: won(names, k) for metric, k in own.items()},
            "settle": {m: settling(names, k, split[m], chosen, np.array(scene.shares)) for m, k in own.items()},
        }

    def split(self, metric: str) -> Split | None:
        """The noise of all generators by source; None where there is none."""
        return None

    @_at_once
    def verdict(self, metric: str, scene: DashboardScene) -> Verdict:
        """What can be said of who is best of the generators of a scene."""
        chosen = [self.generators.index(name) for name in scene.generators]
        return judged(scene.generators, self.known(metric, scene.shares).of_generators(chosen))

    def _cells(self, values: np.ndarray, known: np.ndarray) -> dict[str, Any]:
        return {name: written(values[g], known[g]) for g, name in enumerate(self.generators)}


class FederationStudy(Study):
    """The scores of generators on a federation, filled in step by step.

    Parameters
    ----------
    federation, generators, metrics, uncertainty : as for `Dashboard`
    """

    def __init__(self, federation: Any, generators: Any, metrics: Any, uncertainty: Any) -> None:
        super().__init__()
        self.federation = federation if isinstance(federation, Federation) else Federation(federation)
        made = as_generators(generators)
        self._given = metrics, uncertainty
        self._filling, self._why = _filled(self.federation, made, metrics, uncertainty)
        self.names, self.weights = tuple(self._filling.names), tuple(self._filling.weights)
        self.wanted = self._at = self.weights
        self.dim, self.takes_images = self.federation.dim, self.federation.extraction is not None
        self._pictures = Pictures(made)
        self._mixer = Mixer()
        self._is_crossed = False
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
    def making(self) -> str:
        return made_of_rows(self.metrics)

    @_at_once
    def add(self, name: str, source: Any) -> None:
        (made,) = as_generators({name: source})
        self._filling.add(made)
        self._pictures.keep(made)

    @_at_once
    def remove(self, name: str) -> None:
        self._filling.remove(name)

    def regrouped(self, merge: Any, drop: Any, split: Any, generators: tuple[str, ...]) -> tuple[Any, ...]:
        federation = self.federation
        if not isinstance(merge, Mapping):
            raise InvalidInput("merge", f"got {shown(merge)}", "Give a dict: a name, and the clients it stands for")
        for name in [split] if isinstance(split, str) else check_list(split, "split"):
            federation = federation.split_classes(name)
        for name, clients in merge.items():
            federation = federation.merge(name, clients)
        federation = federation.drop(drop)
        return federation, [self._filling.source(name) for name in generators], *self._given

    def next_step(self) -> Step | None:
        filling = self._filling
        if self.tree is None:
            return Step("which clients are alike", self._compare)
        if self._at != (wanted := self.wanted):
            with self.lock:
                filling.weigh(wanted)
                self._at = wanted  # as the scene has them: divided by their sum again they may differ in the last digit
        if (step := next(filling.steps(), None)) is not None:
            return step
        if not self._is_crossed:
            return Step("KID’s gap under other weights", self._cross)
        if self._at not in self._p:
            return Step("whether the clients differ by more than chance", self._test)
        for metric in self.metrics:
            for name in self.generators:
                if (metric, name, self._at) not in self._slopes:
                    return Step(f"slopes of {name}", partial(self._slope, metric, name))
        return None

    def _cross(self) -> None:
        found = {metric: packed_gap(kid_gap_parts(self._filling.scores.result(metric))) for metric in self.metrics}
        self.gaps = {metric: gap for metric, gap in found.items() if gap is not None}
        self._is_crossed = True

    def _compare(self) -> None:
        self.tree = likeness(self._filling.scores.result(self.metrics[0]).clients)

    def _test(self) -> None:
        counted = [(client.rows, w) for client, w in zip(self.federation, self._at, strict=True) if w]
        rows = [to_numpy(to_float64(x)) for x, _ in counted if x is not None]
        found = None
        if 1 < len(rows) == len(counted) and all(len(own) > 1 for own in rows):  # one row has no pair
            parties = Parties(np.concatenate(rows), tuple(map(len, rows)), tuple(w for _, w in counted))
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
        if shares != self._at or not self._filling.known(metric).all.all():
            return {}
        gaps = self._filling.scores.result(metric).size_gaps(self._filling.weights)
        return {} if not np.any(gaps) else dict(_each(self.generators, gaps))

    def slopes(self, metric: str, shares: Weights) -> dict[str, Any]:
        found = {name: self._slopes.get((metric, name, shares)) for name in self.generators}
        return {name: written(s, ~np.isnan(s)) for name, s in found.items() if s is not None}

    def scores_of(self, scene: DashboardScene) -> Scores:
        return self._filling.scores_of(scene.generators).with_weights(scene.shares)

    def details(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        if scene.client not in self.names or scene.generator not in self.generators:
            return
        i, g = self.names.index(scene.client), self.generators.index(scene.generator)
        cell = {"cell": [scene.client, scene.generator, scene.metric], "weights": list(scene.weights)}
        if self._filling.known(scene.metric).clients[g, i]:
            images = self.federation[scene.client].images, partial(self._pictures.of_generator, scene.generator)
            for found in details(self._filling.scores.result(scene.metric), g, i, scene.shares, *images):
                yield {**cell, **found}

    def mixture(self, scene: DashboardScene) -> Iterator[dict[str, Any]]:
        with self.lock:
            kid = next((m for m in self.metrics if isinstance(self.facts(m).metric, KID)), self.metrics[0])
            result = self._filling.scores_of(scene.generators).result(kid)
        return self._mixer.found(result, scene.generators, self.names, scene.shares)

    def facts(self, metric: str) -> Facts:
        filling = self._filling
        return facts_of(filling.scores.result(metric), filling.known(metric).clients, filling.noise(metric), self._why)

    def split(self, metric: str) -> Split | None:
        rows = [None if s is None else s.rows for s in self._filling.scores.result(metric).generators]
        made = [0 if own is None else len(own) for own in rows]
        return Split(self._filling.noise(metric), self.sizes, made)

    def known(self, metric: str, shares: Weights) -> Known:
        facts, filling = self.facts(metric), self._filling
        pooled, noise = np.full(len(self.generators), np.nan), None
        if shares == self._at:
            is_known = filling.known(metric).all
            pooled[is_known] = filling.scores.result(metric).pooled(filling.weights)[is_known]
            noise = filling.noise(metric)
        return Known.of(facts, shares, pooled, noise, self.p(shares))


def _each(names: tuple[str, ...], values: np.ndarray) -> Mapping[str, Any]:
    return dict(zip(names, written(values, ~np.isnan(values)), strict=True))


def _filled(federation: Federation, generators: Any, metrics: Any, uncertainty: Any) -> tuple[Filling, str]:
    """The filling, with influence values where nothing is asked for and they can be; and why they cannot."""
    try:
        design = Influence() if uncertainty is None else uncertainty
        filling = Filling(federation, metrics, uncertainty=design, progress=False)
        filling.add_all(generators)
        return filling, ""
    except InvalidInput as error:
        if error.argument != "uncertainty" or uncertainty is not None:
            raise
        why = error.seen
    filling = Filling(federation, metrics, progress=False)
    filling.add_all(generators)
    return filling, why
