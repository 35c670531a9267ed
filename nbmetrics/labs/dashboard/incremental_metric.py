"""One metric a little at a time: what is computed by now of a generator, and the noise of its scores in pieces.

So what is more urgent comes between.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import InvalidInput, refusal_of
from ...evaluation.cells import NOT_COMPUTED, Cell, mixture_or_refusal, pool_or_refusal
from ...evaluation.compute import GeneratorState, MetricState
from ...evaluation.influence import influence_pieces_of, mixture_strata
from ...evaluation.noise import Design, InfluenceNoise, Multipliers, NoiseColumn, Pair, pairs_of, resampled_noise, split
from ...evaluation.resampling import ResampledScores
from ...metrics.base import Metric, Sample, Terms, terms_of
from ...metrics.stratified import InfluenceValues, Strata

NO_DESIGN = "evaluated without uncertainty"
# Of the noise of a score.
DRAWS, SEED = 256, 0
# Rows of small clients that are scored together, as KID stacks them.
ROWS_OF_STACK = 1024
# Of the weight: clients with summaries must hold so much for the noise of the others' pool to stand for all.
MIN_WEIGHT_WITH_NOISE = 0.5


@dataclass(frozen=True, eq=False)
class GeneratorScores(GeneratorState):
    """A generator under one metric, with the scores that are computed by now.

    Attributes
    ----------
    cells : of each client, with what it made for that client where that differs; `NOT_COMPUTED` until scored
    mixture_cells : then by weights those of each client with what it made for all; computed when asked for
    pooled : by weights, the cell of the pooled clients
    noise, pooled_noise : draws of the noise of the clients' scores, and of the pooled ones by weights
    """

    cells: tuple[Cell, ...] = ()
    mixture_cells: Mapping[tuple[float, ...], tuple[Cell, ...]] = field(default_factory=dict)
    pooled: Mapping[tuple[float, ...], Cell] = field(default_factory=dict)
    noise: NoiseColumn | None = None
    pooled_noise: Mapping[tuple[float, ...], NoiseColumn] = field(default_factory=dict)

    def is_complete(self, weights: tuple[float, ...]) -> bool:
        """Whether every score under these weights is computed."""
        return weights in self.pooled and all(cell is not NOT_COMPUTED for cell in self.cells)

    def has_noise(self, weights: tuple[float, ...]) -> bool:
        """Whether the noise of every score under these weights is computed."""
        return self.noise is not None and weights in self.pooled_noise

    def with_weights(self, metric: Metric[Any], weights: Sequence[float]) -> GeneratorScores:
        """Under other weights: the distribution of a generator that answered the clients' conditions, or has one for
        each client, depends on them."""
        if self.answers is None:
            return self
        if self.is_by_client:
            return replace(self, summary=mixture_or_refusal(metric, self.answers, weights))
        cells = self.cells if metric.is_conditional else (NOT_COMPUTED,) * len(self.cells)
        summary = pool_or_refusal(metric, self.answers, weights)
        return replace(self, summary=summary, cells=cells, pooled={}, noise=None, pooled_noise={})


class IncrementalInfluence:
    """Influence values of several real sides with one generator, each pair once.

    Attributes
    ----------
    position : of the generator among all
    generated : its rows, or those that it made for each client
    values : those that are done, by pairs of real and generated rows
    """

    def __init__(self, metric: Metric[Any], position: int, generated: tuple[Strata[Any], ...]) -> None:
        self.metric, self.position, self.generated = metric, position, generated
        self.values: dict[Pair, InfluenceValues] = {}
        self._wanted: Sequence[Pair] = ()
        self._pieces: Iterator[None] = iter(())
        self._mixture: tuple[tuple[float, ...], Strata[Any]] | None = None

    def mixture(self, weights: tuple[float, ...]) -> Strata[Any]:
        """Return what it made for all clients together; that of the last weights is kept."""
        if self._mixture is None or self._mixture[0] != weights:
            self._mixture = weights, mixture_strata(self.metric, self.generated, weights)
        return self._mixture[1]

    def advance(self, pairs: Sequence[Pair], seconds: float) -> bool:
        """Go on for so long with the influence values of these; whether all are done."""
        if pairs != self._wanted:
            self._wanted, self._pieces = pairs, self._run(pairs)
            wanted = set(pairs)
            self.values = {pair: values for pair, values in self.values.items() if pair in wanted}
        until = time.monotonic() + seconds
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in self._pieces:
                if time.monotonic() > until:
                    return False
        return True

    def _run(self, pairs: Sequence[Pair]) -> Iterator[None]:
        for pair in pairs:
            if pair not in self.values:
                self.values[pair] = yield from influence_pieces_of(self.metric, *pair)
                yield


class IncrementalMetric(MetricState):
    """The clients under one metric, with what the noise of one generator after the other is made from."""

    _resampling: tuple[int, ResampledScores] | None = None
    _influence: IncrementalInfluence | None = None

    @cached_property
    def stacks(self) -> list[list[int]]:
        """Positions of clients that are scored together: several of few rows cost little more than one of them."""
        stacks: list[list[int]] = []
        size = 0
        for position, sample in enumerate(self.samples):
            n = 1 if sample.rows is None else sample.rows.shape[0]
            if not stacks or size + n > ROWS_OF_STACK:
                stacks.append([])
                size = 0
            stacks[-1].append(position)
            size += n
        return stacks

    def terms(self, generator: GeneratorState, positions: Sequence[int]) -> list[Terms]:
        """Return the terms of these clients with one generator, of one with a distribution for each with its own."""
        answers = generator.answers if generator.is_by_client else None
        if answers is None:
            return super().terms(generator, positions)
        return list(self._own_terms(answers, positions))

    def _own_terms(self, answers: Sequence[Any], positions: Sequence[int]) -> Iterator[Terms]:
        for i in positions:
            yield terms_of(self.metric, self.summaries[i], answers[i])
            if not refusal_of(answers[i]):
                self.metric.release_cache(answers[i])

    def mixture_cells(self, generator: GeneratorState) -> tuple[Cell, ...]:
        """Return the score of each client with what a generator made for all of them."""
        return tuple(map(Cell.of, super().terms(generator, range(len(self.names)))))

    def noise_without_design(self, generator: GeneratorScores, weights: tuple[float, ...]) -> list[NoiseColumn]:
        """Return the noise of clients and of the pooled ones: distributions have none, that of rows is unknown."""
        cells = (*generator.cells, generator.pooled.get(weights, NOT_COMPUTED))
        sides = (*self.samples, *self._generated_samples(generator))
        if all(sample is not None and sample.distribution is not None for sample in sides):
            return list(split(NoiseColumn.exact(DRAWS, np.array([cell.value for cell in cells]))))
        return list(split(NoiseColumn.unknown(DRAWS, len(cells), NO_DESIGN)))

    def draws(
        self, generator: GeneratorScores, weights: tuple[float, ...], design: Design, *, of_all: bool
    ) -> NoiseColumn:
        """Return draws of the noise of the scores of the clients with one generator, or of the pooled clients alone."""
        counted = self._weights_with_noise(weights) if self.has_influence_values(design) else None
        is_refused = counted is None or self._lacks_rows(generator)
        refusal = self.interval_refusal(generator, design) if is_refused else _summary_refusal(generator)
        if refusal:
            return NoiseColumn.unknown(DRAWS, 1 if of_all else len(self.names), str(refusal))
        if counted is None:
            return self._resampled_draws(generator, weights, design)[of_all]
        influence, multipliers = self._influence_of(generator), Multipliers(DRAWS, SEED)
        own, values = influence.generated, influence.values
        noise = InfluenceNoise(self.metric, own, generator.position, multipliers, values)
        if of_all:
            return noise.all(self.pooled_strata(counted), influence.mixture(counted), counted)
        return noise.clients(self.strata)

    def _influence_of(self, generator: GeneratorScores) -> IncrementalInfluence:
        """The influence values of one generator's scores; those of the last one are kept."""
        if self._influence is None or not self._is_begun(generator):
            strata = self.strata_by_client(generator)
            self._influence = IncrementalInfluence(self.metric, generator.position, strata)
        return self._influence

    def advance(self, generator: GeneratorScores, weights: tuple[float, ...], design: Design, seconds: float) -> bool:
        """Compute for so many seconds what the noise of a generator needs; whether `draws` has little left to do."""
        if not self.has_influence_values(design):
            refusal = self.interval_refusal(generator, design)
            try:
                return bool(refusal) or self._resampled_scores(generator, design).advance(weights, seconds)
            except InvalidInput:  # of these weights, which `draws` says
                return True
        counted = self._weights_with_noise(weights)
        if counted is None or _summary_refusal(generator) or self._lacks_rows(generator):
            return True
        influence = self._influence_of(generator)
        clients = pairs_of(self.strata, influence.generated) if generator.noise is None else []
        return influence.advance([*clients, (self.pooled_strata(counted), influence.mixture(counted))], seconds)

    def forget(self, generator: GeneratorScores) -> None:
        """Free what was computed of a generator for its noise alone."""
        if self._is_begun(generator):
            self._influence = None
        if self._pool_strata is not None:
            self.metric.release_cache(self._pool_strata[1].summary)

    def pool_if_ready(self, weights: tuple[float, ...]) -> Any:
        """Return the summary of all clients where it is there, and nothing that would have to be computed."""
        return self._pool[1] if self._pool is not None and self._pool[0] == weights else None

    def _lacks_rows(self, generator: GeneratorScores) -> bool:
        """Whether a side of its scores is moments, whose noise nobody knows."""
        sides = (*self.samples, *self._generated_samples(generator))
        return any(sample is not None and sample.moments is not None for sample in sides)

    def _generated_samples(self, generator: GeneratorScores) -> list[Sample | None]:
        """What a generator is, or what it is for each client; None where it answers conditions."""
        if not generator.is_by_client:
            return [generator.sample(self.metric)]
        return [member.whole(self.metric) for member in generator.members]

    def _is_begun(self, generator: GeneratorScores) -> bool:
        return self._influence is not None and self._influence.position == generator.position

    def _weights_with_noise(self, weights: tuple[float, ...]) -> tuple[float, ...] | None:
        """The weights of the clients that have summaries, of sum 1; None where those hold too little of it."""
        if not refusal_of(*self.summaries):
            return weights
        kept = [0.0 if refusal_of(s) else w for s, w in zip(self.summaries, weights, strict=True)]
        total = math.fsum(kept)
        return tuple(w / total for w in kept) if total >= MIN_WEIGHT_WITH_NOISE else None

    def _resampled_draws(
        self, generator: GeneratorScores, weights: tuple[float, ...], design: Design
    ) -> list[NoiseColumn]:
        """Of the clients and of the pooled ones, from replicates, which give both; unknown where these are refused."""
        cell: Cell = generator.pooled[weights]
        corrected = None
        if cell.refusal is None:
            corrected = self.metric.without_bias(self.together(weights), generator.summary)
        scores = [*(own.value for own in generator.cells), cell.value if corrected is None else corrected]
        resampled = self._resampled_scores(generator, design)
        try:
            column = resampled_noise(resampled, 0, np.array(scores), weights, DRAWS, SEED)
        except InvalidInput as error:
            column = NoiseColumn.unknown(DRAWS, len(scores), str(error))
        return list(split(column))

    def _resampled_scores(self, generator: GeneratorScores, design: Design) -> ResampledScores:
        """The scores of one generator on resampled rows; those of the last one are kept."""
        if self._resampling is None or self._resampling[0] != generator.position:
            source = self.noise([generator], design, generator.position).source
            assert isinstance(source, ResampledScores)
            self._resampling = generator.position, source
        return self._resampling[1]


def _summary_refusal(generator: GeneratorScores) -> InvalidInput | None:
    """Return why a generator, or a part of one with a distribution for each client, has no summary; or None."""
    return refusal_of(generator.summary, *(generator.answers or () if generator.is_by_client else ()))
