"""ViewModel: what the views show of a scene, in Python as in the page: orders, places, winners, regret. No drawing.

Twin: labs/dashboard/view/client_order.js · held by: tests/labs/dashboard/test_view_model.py
Twin: labs/dashboard/view/regret_card.js · held by: tests/labs/dashboard/test_view_model.py
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...ranking import lowest
from ...ranking import order as order_by_size
from .metric_view import MetricView, WeightedScores, counted_weights
from .place_ranges import Ranges, crossings, place_ranges, sort_by_loss, tiers
from .recommendation import regret
from .scene import DashboardScene

# Of a difference beside its standard error: 95 %, cell by cell.
CHANCE_ERRORS = 1.96


@dataclass(frozen=True, eq=False)
class ViewModel:
    """What the views show of the metric in view, under a scene.

    Attributes
    ----------
    weighted_scores : of the generators on show, G of them
    all_generators : of all generators, so that regret does not depend on which are on show
    chosen : G positions in `all_generators`
    clients, sizes : k names, and numbers of rows, 0 for distributions
    leaves : the clients in an order in which neighbours are alike; empty where that is not known
    """

    scene: DashboardScene
    weighted_scores: WeightedScores
    all_generators: MetricView
    chosen: Sequence[int]
    clients: Sequence[str]
    sizes: Sequence[int]
    leaves: Sequence[int]

    @property
    def metric_view(self) -> MetricView:
        return self.weighted_scores.metric_view

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the generators on show."""
        return self.scene.generators

    @cached_property
    def weights(self) -> np.ndarray:
        """Return λ as decisions use it: of the clients with enough rows, where those hold half of it."""
        weights = np.array(self.scene.shares)
        decided = counted_weights(weights, self.metric_view.counts)
        return weights if decided is None else decided

    @property
    def labels(self) -> dict[str, str]:
        """Return what the two aggregates are called."""
        return {"avg": self.metric_view.average_label, "all": "all"}

    @property
    def has_one_order(self) -> bool:
        """Whether avg and all are one order."""
        return self.metric_view.is_same or not self.metric_view.is_pooled or len(self.clients) == 1

    @cached_property
    def losses(self) -> dict[str, np.ndarray]:
        """Return the loss of each generator by avg, by all and for its worst client that counts, (G,)."""
        return {
            "avg": self.weighted_scores.avg_centres,
            "all": self.weighted_scores.all_centres,
            "worst": self.metric_view.centres[:, self.weights > 0].max(axis=1),
        }

    @cached_property
    def ranges(self) -> dict[str, Ranges]:
        """Return the ranges of places by avg and by all."""
        scores = self.weighted_scores
        draws = {"avg": scores.avg_draws, "all": scores.all_draws}
        return {part: place_ranges(self.losses[part], draws[part]) for part in draws}

    @cached_property
    def rows(self) -> list[int]:
        """Return the generators as the leaderboard has them, best first."""
        by = self.losses[self.scene.by]
        return sort_by_loss(self.losses["avg"] if np.isnan(by).all() else by)

    @cached_property
    def tiers(self) -> dict[str, list[list[int]]]:
        """Return groups of generators that are not told apart, by avg and by all."""
        return {part: tiers(ranges, self.losses[part]) for part, ranges in self.ranges.items()}

    @cached_property
    def crossings(self) -> list[str]:
        """Return of each generator whether avg and all cross there, and whether by more than chance."""
        left, right = ([g for group in self.tiers[part] for g in group] for part in ("avg", "all"))
        return crossings(left, right, self.ranges["avg"], self.ranges["all"])

    def to_scores(self, losses: np.ndarray) -> np.ndarray:
        """Return losses as scores: where higher is better a loss is the negative of the score."""
        metric = self.metric_view.metric
        return -losses if metric.higher_is_better and metric.best is None else losses

    @cached_property
    def regret(self) -> np.ndarray:
        """Return how far each client's loss lies above that of its best of all generators, (G, k)."""
        return regret(self.all_generators.centres)[list(self.chosen)]

    @cached_property
    def by_chance(self) -> np.ndarray:
        """Return where regret is no more than chance, bool (G, k)."""
        own, draws = self.all_generators.centres, self.all_generators.draws
        if draws is None or np.isnan(own).all(axis=0).any():
            return np.zeros(self.regret.shape, dtype=bool)
        best = np.array([lowest(client) for client in own.T])
        errors = (draws - draws[:, best, np.arange(own.shape[1])][:, None]).std(axis=0, ddof=1)
        return np.asarray((self.regret > 0) & (self.regret <= CHANCE_ERRORS * errors[list(self.chosen)]))

    def choices(self) -> list[tuple[int, str]]:
        """Return the winners, each once, with what it wins: by avg, by all, for the worst client."""
        by = f"by {self.metric_view.average_label}"
        parts = {"avg": f"{by} and by all" if self.metric_view.is_same else by, "worst": "for the worst client"}
        if not self.has_one_order:
            parts = {"avg": parts["avg"], "all": "by all", "worst": parts["worst"]}
        wins_by_generator: dict[int, list[str]] = {}
        for part, words in parts.items():
            if not np.isnan(self.losses[part]).all():
                wins_by_generator.setdefault(lowest(self.losses[part]), []).append(words)
        return [(g, f"first {', '.join(words)}") for g, words in wins_by_generator.items()]

    @property
    def losses_beside_best(self) -> np.ndarray:
        """Return what each client loses if everybody gets one of the generators on show, (G, k)."""
        return regret(self.metric_view.centres)

    def client_order(self) -> list[int]:
        """Return the clients in the order of the heat map."""
        order, in_order = self.scene.order, list(range(len(self.clients)))
        if order == "similarity":
            return list(self.leaves) if sorted(self.leaves) == in_order else in_order
        if order == "name":
            return sorted(in_order, key=lambda i: _natural(self.clients[i]))
        centres = np.where(np.isnan(self.metric_view.centres), math.inf, self.metric_view.centres)
        with np.errstate(invalid="ignore"):
            winner = lowest(self.losses[self.scene.by])
            sizes: dict[str, Callable[[], Any]] = {
                "given": lambda: np.zeros(len(in_order)),
                "rows": lambda: np.array(self.sizes),
                "weight": lambda: np.array(self.scene.shares),
                "worst": lambda: centres.max(axis=0),
                "regret": lambda: centres[winner] - centres.min(axis=0),
            }
            size = sizes[order]().astype(float)
        return np.roll(order_by_size(-size), np.isnan(size).sum()).tolist()


def _natural(name: str) -> list[Any]:
    """ "client 2" before "client 10"."""
    return [(int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in re.split(r"(\d+)", name)]
