"""Scores on resampled rows, and which rows are too few for it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..metrics.base import Metric, Sample, losses, replicate
from ..ranking import same_scores
from .uncertainty import CUTS, Bootstrap, Ends, Jackknife, Thirds

# Rows below which a resample may be all one row.
FEWEST = 10


class Replicas:
    """All scores of one metric on resampled rows.

    Computed when first asked for, and again for other weights only. Each generator has resamples of its own, by its
    place among all that there are: `positions`, by default those given.
    """

    def __init__(
        self,
        metric: Metric[Any],
        real: Sequence[Sample],
        generated: Sequence[Sample],
        design: Bootstrap | Jackknife,
        positions: Sequence[int] | None = None,
    ) -> None:
        self.metric, self.real, self.generated = metric, tuple(real), tuple(generated)
        self.design: Bootstrap | Jackknife | Thirds = design
        if metric.copies_matter:
            cuts = CUTS if isinstance(design, Bootstrap) else max(CUTS, design.groups // 3)
            self.design = Thirds(cuts, design.seed, design.level)
        sizes, k = check_sizes(metric, [*real, *generated]), len(self.real)
        places = [*range(k), *(k + p for p in (range(len(self.generated)) if positions is None else positions))]
        every = [0] * (max(places) + 1)
        for place, size in zip(places, sizes, strict=True):
            every[place] = size
        resamples = self.design.resample(every)
        self.resamples = replace(resamples, counts=[resamples.counts[place] for place in places])
        # clients 0, generators 1, with rows
        self.parties = [(0, p) if p < k else (1, p - k) for p, n in zip(places, sizes, strict=True) if n]
        self._scores: dict[tuple[float, ...], tuple[np.ndarray, np.ndarray]] = {}
        # Weights, the replicates under them so far, and what those share.
        self._begun: tuple[tuple[float, ...], list[tuple[np.ndarray, np.ndarray]], dict[Any, Any]] = (), [], {}

    def scores(self, weights: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """By client (replicates, generators, clients) and pooled (replicates, generators)."""
        key = tuple(weights)
        if key not in self._scores:
            counts, split = self.resamples.counts, len(self.real)
            if not len(counts[0]):  # a jackknife of exact distributions leaves nothing out
                none = np.zeros((0, len(self.generated), split))
                self._scores[key] = none, none[:, :, 0]
            else:
                self._scores[key] = self.metric.replicates(
                    self.real, self.generated, key, counts[:split], counts[split:]
                )
        return self._scores[key]

    def advance(self, weights: Sequence[float], seconds: float) -> bool:
        """Compute replicates for so many seconds, one at least; whether none is left that could come in pieces."""
        key, counts, split, start = tuple(weights), self.resamples.counts, len(self.real), time.monotonic()
        if key in self._scores or getattr(self.metric.replicates, "__func__", None) is not Metric.replicates:
            return True
        if self._begun[0] != key:
            self._begun = key, [], {}
        _, done, known = self._begun
        for b in range(len(done), len(counts[0])):
            one = [c[b : b + 1] for c in counts]
            done.append(replicate(self.metric, self.real, self.generated, key, one[:split], one[split:], known))
            if time.monotonic() > start + seconds and len(done) < len(counts[0]):
                return False
        if done:
            by_client, pooled = (np.concatenate(part) for part in zip(*done, strict=True))
            self._scores[key] = by_client, pooled
        self._begun = (), [], {}
        return True

    def average(self, weights: Sequence[float]) -> np.ndarray:
        """Σ λ_i D(S_i, S_G) of each replicate: (replicates, generators)."""
        shares = np.asarray(weights)
        return self.scores(weights)[0][:, :, shares > 0] @ shares[shares > 0]

    def ends(self, weights: Sequence[float], part: str, estimate: np.ndarray) -> Ends:
        """The corrected score and the ends of its interval; `part` is avg, all, gap or client."""
        replicates = self._of(part, weights)
        with np.errstate(over="ignore", invalid="ignore"):
            ends = Ends(self.resamples.centre(estimate, replicates), *self.resamples.interval(estimate, replicates))
        if any(np.isinf(column).any() for column in ends):
            raise InvalidInput(
                "uncertainty", "the squares of these scores are beyond all numbers", "Rescale the features"
            )
        return ends

    def worse(self, weights: Sequence[float], part: str, pair: tuple[int, int], estimate: np.ndarray) -> float:
        """The one-sided p-value of the first of two generators being better by avg or all, of losses `estimate`."""
        replicates = losses(self.metric, self._of(part, weights))
        first, second = pair
        is_even = same_scores(estimate[first], estimate[second])
        difference = np.array(0.0 if is_even else estimate[first] - estimate[second])
        return self.resamples.above(difference, replicates[:, first] - replicates[:, second])

    def _of(self, part: str, weights: Sequence[float]) -> np.ndarray:
        if part == "client":
            return self.scores(weights)[0]
        if part == "all":
            return self.scores(weights)[1]
        average = self.average(weights)
        return average if part == "avg" else average - self.scores(weights)[1]


def _size(sample: Sample) -> int:
    return 0 if sample.rows is None else int(sample.rows.shape[0])


def check_resampled(metric: Metric[Any]) -> None:
    """Raise InvalidInput where its rows cannot be resampled, however many they are."""
    if metric.no_resampling:
        raise InvalidInput("uncertainty", metric.no_resampling, "Leave uncertainty out, or use another estimator")


def too_few(sample: Sample, who: str) -> InvalidInput | None:
    """Why a party's rows are too few for any resampling, or nothing."""
    if not 0 < (n := _size(sample)) < FEWEST:
        return None
    return InvalidInput("uncertainty", f"{who} has {n} row{'s' * (n != 1)}", f"Intervals need {FEWEST}")


def check_sizes(metric: Metric[Any], samples: Sequence[Sample]) -> list[int]:
    """The rows of each, 0 for a distribution; InvalidInput where they are too few for resampling to take the bias
    off."""
    check_resampled(metric)
    sizes = [_size(sample) for sample in samples]
    few = min((n for n in sizes if n), default=math.inf)
    dim = samples[0].dim
    fewest = metric.rows_to_resample(dim)
    if few < fewest:
        seen = (
            f"resampling cannot take the bias off {metric.label} of {few} rows with {dim} features: it needs {fewest:,}"
        )
        others = "nm.Influence()" if metric.name == "fid" else f"intervals without {metric.label}"
        raise InvalidInput("uncertainty", seen, f"Use {others}, or fewer features")
    return sizes
