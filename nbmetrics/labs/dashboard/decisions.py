"""What decisions on one metric are made from, under some weights, and the verdict that follows.

Twin: labs/dashboard/view/numbers.js · held by: tests/browser/test_dashboard.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...evaluation.noise import Noise
from ...metrics.base import losses
from .board import Facts, rounded
from .incremental import NOT_YET
from .incremental_metric import MIN_WEIGHT_WITH_NOISE
from .ranges import average
from .verdict import About, Verdict, aggregate, verdict


@dataclass(frozen=True, eq=False)
class Known:
    """avg and all of each generator, and their noise.

    Attributes
    ----------
    avg, all : (G,) plain scores
    plain_avg : (G,) the same avg, of the clients that have rows enough where another has no score
    avg_centres, all_centres : (G,) losses that decisions use; avg of the clients that have rows enough
    avg_draws, all_draws : (B, G) their noise, None where it is not known
    p : of the test that the clients differ by chance alone; None where there is none
    why : the pooled scores have no noise, "" where they have
    """

    facts: Facts
    avg: np.ndarray
    plain_avg: np.ndarray
    all: np.ndarray
    avg_centres: np.ndarray
    all_centres: np.ndarray
    avg_draws: np.ndarray | None
    all_draws: np.ndarray | None
    p: float | None
    why: str = ""

    def of_generators(self, chosen: Sequence[int]) -> Known:
        """Of some of the generators, by position."""
        which = list(chosen)
        avg_draws, all_draws = (None if d is None else d[:, which] for d in (self.avg_draws, self.all_draws))
        return Known(
            self.facts.of(which),
            self.avg[which],
            self.plain_avg[which],
            self.all[which],
            self.avg_centres[which],
            self.all_centres[which],
            avg_draws,
            all_draws,
            self.p,
            self.why,
        )

    @classmethod
    def of(
        cls, facts: Facts, shares: Sequence[float], pooled: np.ndarray, noise: Noise | None, p: float | None
    ) -> Known:
        """Under the weights `shares`, with all's plain scores and noise."""
        weights = np.array(shares)
        decided = decided_weights(weights, facts.counts)
        avg_draws = all_draws = None
        all_centres = losses(facts.metric, pooled)
        if facts.draws is not None and decided is not None:
            counted = decided > 0
            avg_draws = np.einsum("bgi,i->bg", facts.draws[:, :, counted], decided[counted])
        if noise is not None:
            corrected = losses(facts.metric, noise.all_centres)
            all_centres = np.where(np.isnan(corrected), all_centres, corrected)
            all_draws = None if all(noise.all_reasons) else rounded(noise.all)
        counting = weights if decided is None else decided
        avg_centres = average(facts.centres, counting)
        why = "" if noise is None or all_draws is not None else next(iter(noise.all_reasons), "")
        avg = average(facts.values, weights)
        plain_avg = np.where(np.isnan(avg), average(facts.values, counting), avg)
        return cls(facts, avg, plain_avg, pooled, avg_centres, all_centres, avg_draws, all_draws, p, why)


def decided_weights(weights: np.ndarray, counts: np.ndarray) -> np.ndarray | None:
    """λ of the clients that have rows enough, sum 1; None where they hold too little of the weight."""
    kept = np.where(counts, weights, 0.0)
    total = kept.sum()
    return kept / total if total >= MIN_WEIGHT_WITH_NOISE else None


def judged(names: Sequence[str], known: Known, clients: Sequence[str]) -> Verdict:
    """The verdict on one metric: of the generators `names`."""
    facts = known.facts
    is_done: np.ndarray = np.asarray(facts.known.all(axis=0))
    about = About(
        label=facts.metric.label,
        same=facts.is_same,
        corrected=facts.is_corrected,
        clients=len(is_done),
        known=int(is_done.sum()),
        enough=int(facts.counts.sum()) if facts.draws is not None else None,
        p=known.p,
        why=_why(known),
        few=tuple(name for name, counts in zip(clients, facts.counts, strict=True) if not counts),
        distance=facts.is_distance,
    )
    avg = aggregate(losses(facts.metric, known.plain_avg), known.avg_centres, known.avg_draws)
    if facts.is_same or not facts.is_pooled or len(is_done) == 1:
        return verdict(names, avg, None, about)
    of_all = aggregate(losses(facts.metric, known.all), known.all_centres, known.all_draws)
    if np.isnan(avg.centres).all():
        return verdict(names, of_all, None, replace(about, label=f"{about.label} all"))
    return verdict(names, avg, of_all, about)


def _why(known: Known) -> str:
    facts = known.facts
    if facts.draws is None:
        return facts.why
    few = [reason for reason in facts.few if reason]
    return known.why or (few[0] if few else NOT_YET)
