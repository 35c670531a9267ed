"""What a Dashboard knows: the scores of every generator with every client, and what Python alone can say of them.

Flow: an `IncrementalEvaluation` computes scores piece by piece → `facts`: values, centres and their noise → `board`
and `draws` for the page, which depend on the data alone → `answer`: all, its noise and the test of the clients under a
scene's weights.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from ...errors import InvalidInput
from ...evaluation.scores import Scores
from .board import Facts, facts_of_clients, facts_of_metric, packed_all, packed_clients, written
from .buys import Split, settling, won
from .changes import Change
from .decisions import Known, judged
from .incremental import Step
from .likeness import Tree
from .scene import DashboardScene
from .sight import Sight
from .verdict import Verdict

Weights = tuple[float, ...]
# Of all studies: several of them at work on one machine's cores would only wait for one another.
_LOCK = threading.RLock()
F = TypeVar("F", bound=Callable[..., Any])


def at_once(method: F) -> F:
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
        raise InvalidInput(
            "mixture", "needs rows or distributions, and a table has scores alone", "Use nm.Dashboard itself"
        )

    def about_cell(self, scene: DashboardScene) -> dict[str, Any]:
        """Which cell is chosen, and under which weights."""
        return {"cell": [scene.client, scene.generator, scene.metric], "weights": list(scene.weights)}

    def winners(self, scene: DashboardScene) -> Iterator[dict[str, Any] | None]:
        """Who wins by all in the weights of three groups; see `winner_map`."""
        raise InvalidInput("all", "needs pooled data, and a table has none", "Use nm.Dashboard itself")

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
    # See costs.py; empty until it is known of all generators.
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
    def making(self) -> str:
        """Python that makes a Dashboard of the same data."""

    def after(self, changes: Sequence[Change]) -> Study:
        """The study of the same generators on the clients after these changes; InvalidInput where that cannot be."""
        raise _no_rows()

    def given_after(self, changes: Sequence[Change], generators: Sequence[str]) -> tuple[Any, ...]:
        """What makes a Dashboard of it: the federation, of these generators, the metrics and the uncertainty."""
        raise _no_rows()

    def weights_after(self, changes: Sequence[Change], weights: Sequence[float]) -> Weights:
        """Of the clients after these changes, by their weights before."""
        raise _no_rows()

    def source(self, name: str) -> Any:
        """A generator, as `add` takes it."""
        raise InvalidInput("source", "is not known: a table has no generators, but their scores", "Use nm.Dashboard")

    @property
    def bytes(self) -> float:
        """What it takes of memory, about."""
        return 0.0

    @abstractmethod
    def add(self, name: str, source: Any) -> None:
        """Take one more generator in."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Forget a generator."""

    def __init__(self) -> None:
        # One thread fills; generators come and go, and the page is told, on others.
        self.lock = _LOCK

    @at_once
    def board(self, doing: str = "", is_stopped: bool = False, why: str = "") -> dict[str, Any]:
        """See `board`; `doing` is what is computed now, `why` what went wrong where it stopped by itself."""
        facts = [self.facts(metric) for metric in self.metrics]
        known = [f.known for f in facts]
        return {
            "clients": facts_of_clients(self.names, self.sizes, self.weights, self.classes),
            "generators": {name: {} for name in self.generators},
            "metrics": [facts_of_metric(f) for f in facts],
            "values": {f.metric.name: self._cells(f.values, f.known) for f in facts},
            "centres": {f.metric.name: self._cells(f.centres, f.known) for f in facts},
            "few": {f.metric.name: list(f.few) for f in facts},
            **({} if self.tree is None else self.tree.to_json()),
            **({} if not self.gaps else {"gaps": self.gaps}),
            **({} if not self.ledger else {"ledger": self.ledger}),
            "filled": {
                "done": int(sum(k.sum() for k in known)),
                "total": sum(k.size for k in known),
                "doing": doing,
                "stopped": is_stopped,
                "why": why,
            },
        }

    @at_once
    def draws(self) -> dict[str, Any]:
        """The noise of the centres, by metric and generator."""
        found = {metric: self.facts(metric).draws for metric in self.metrics}
        return {
            metric: {name: packed_clients(draws[:, g]) for g, name in enumerate(self.generators)}
            for metric, draws in found.items()
            if draws is not None
        }

    @at_once
    def answer(self, scene: DashboardScene) -> dict[str, Any]:
        """What the page cannot compute: all under the scene's weights, its noise, and whether clients differ."""
        shares, names = scene.shares, self.generators
        known = {metric: self.known(metric, shares) for metric in self.metrics}
        sure = {metric: k.all_draws for metric, k in known.items() if k.all_draws is not None}
        return {
            "weights": list(shares),
            "avg": {m: each(names, k.avg) for m, k in known.items()},
            "all": {m: each(names, k.all) for m, k in known.items()},
            "all_centres": {m: each(names, k.all_centres) for m, k in known.items()},
            "all_draws": {m: packed_all(names, draws) for m, draws in sure.items()},
            "size": {m: self.size_gaps(m, shares) for m in known},
            "slope": {m: self.slopes(m, shares) for m in known},
            "p": self.p(shares),
            "why": {m: k.why for m, k in known.items() if k.why},
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

    @at_once
    def verdict(self, metric: str, scene: DashboardScene) -> Verdict:
        """What can be said of who is best of the generators of a scene."""
        return judged(scene.generators, self._known_of(metric, scene), self.names)

    @at_once
    def sight(self, scene: DashboardScene) -> Sight:
        """What the views show of a scene."""
        chosen = [self.generators.index(name) for name in scene.generators]
        leaves = () if self.tree is None else self.tree.leaves
        known, everyone = self._known_of(scene.metric, scene), self.facts(scene.metric)
        return Sight(scene, known, everyone, chosen, self.names, self.sizes, leaves)

    def _known_of(self, metric: str, scene: DashboardScene, shares: Weights | None = None) -> Known:
        chosen = [self.generators.index(name) for name in scene.generators]
        return self.known(metric, scene.shares if shares is None else shares).of_generators(chosen)

    def _cells(self, values: np.ndarray, known: np.ndarray) -> dict[str, Any]:
        return {name: written(values[g], known[g]) for g, name in enumerate(self.generators)}


def each(names: tuple[str, ...], values: np.ndarray) -> Mapping[str, Any]:
    return dict(zip(names, written(values, ~np.isnan(values)), strict=True))


def _no_rows() -> InvalidInput:
    return InvalidInput("table", "has no rows to regroup", "Give the federation itself to nm.Dashboard")
