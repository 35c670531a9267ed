"""What a score is made of, under one metric: the clients' summaries, and a generator with what is known of it.

`evaluate` makes all scores from these at once, `Filling` one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InvalidInput, refusal_of
from ..metrics import Metric, Sample
from ..metrics.base import Terms
from ..metrics.stratified import Strata
from .ahead import Ahead
from .influence import Influences
from .noise_samples import NO_DESIGN, Made, Multipliers, NoiseColumn, replicated, split
from .resampling import Replicas, check_resampled, check_sizes, too_few
from .result import UNKNOWN, Result, pair_terms, pooled_or_refused, scored_pool, value_of, whole_terms
from .sampling import ClientSamples, GeneratorSamples
from .standing import Standing, part_of, pool, summarized
from .uncertainty import Design, Influence

# Of the noise of a score.
DRAWS, SEED = 256, 0
# Rows of small clients that are scored together, as KID stacks them.
STACK = 1024
# Of the weight: clients with summaries must hold so much for the noise of the others' pool to stand for all.
LEAST = 0.5
# In the place of a summary that is not made yet.
NOT_YET = InvalidInput("scores", "are not computed yet", "Wait")


@dataclass(frozen=True, eq=False)
class Column:
    """What is known of one generator under one metric.

    Attributes
    ----------
    samples : its rows or distribution
    summary, answers : see `Result`; the summary is `NOT_YET` until it is made
    terms : of each client; `UNKNOWN` until scored
    pooled : by weights, the terms of the pooled clients and the gap that their numbers of rows would make
    position : its place among all generators that ever came
    noise, pooled_noise : draws of the noise of the clients' scores, and of the pooled ones by weights
    """

    samples: GeneratorSamples
    summary: Any = NOT_YET
    answers: tuple[Any, ...] | None = None
    terms: tuple[Terms, ...] = ()
    pooled: Mapping[tuple[float, ...], tuple[Terms, float]] = field(default_factory=dict)
    position: int = 0
    noise: NoiseColumn | None = None
    pooled_noise: Mapping[tuple[float, ...], NoiseColumn] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: GeneratorSamples, position: int, clients: int) -> Column:
        """Of a generator of which nothing is known yet."""
        return cls(samples, terms=(UNKNOWN,) * clients, position=position)

    @property
    def is_summarized(self) -> bool:
        return self.summary is not NOT_YET

    def is_complete(self, weights: tuple[float, ...]) -> bool:
        """Whether every score under these weights is known."""
        return weights in self.pooled and all(terms is not UNKNOWN for terms in self.terms)

    def has_noise(self, weights: tuple[float, ...]) -> bool:
        """Whether the noise of every score under these weights is known."""
        return self.noise is not None and weights in self.pooled_noise

    def drawn(self, metric: Metric[Any]) -> Sample | None:
        """What was summarised; None where it only answered conditions."""
        return self.samples.whole(metric) if self.samples.answers(metric) is None else None

    def repooled(self, metric: Metric[Any], weights: Sequence[float]) -> Column:
        """Under other weights: the distribution of a generator that answered the clients' conditions depends on
        them."""
        if self.answers is None:
            return self
        terms = self.terms if metric.is_conditional else (UNKNOWN,) * len(self.terms)
        summary = pooled_or_refused(metric, self.answers, weights)
        return replace(self, summary=summary, terms=terms, pooled={}, noise=None, pooled_noise={})


class Clients:
    """All clients under one metric, summarised once, and the scores they make with a generator.

    `refusal` says why there are no scores at all.
    """

    def __init__(self, metric: Metric[Any], drawn: ClientSamples, refusal: InvalidInput | None = None) -> None:
        self.metric, self.names, self.refusal = metric, drawn.names, refusal
        self._drawn = drawn
        self.is_prepared = False
        self._pool: tuple[tuple[float, ...], Any] | None = None
        self._last: tuple[int, Replicas] | None = None
        self._ahead: Ahead | None = None
        self._pool_strata: tuple[tuple[float, ...], Strata[Any]] | None = None

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """What the metric sees of each; InvalidInput where it needs test rows that are not there."""
        samples = tuple(self._drawn.of(position, self.metric) for position in range(len(self.names)))
        if self.metric.needs_test:
            for name, sample in zip(self.names, samples, strict=True):
                if sample.test is None:
                    seen = f"client {name!r} has none, and {self.metric.name} compares with rows the generator has not "
                    fix = "Use federation.split(test=0.2, seed=0), or Client(rows, test=…)"
                    raise InvalidInput("test", seen + "seen", fix)
        return samples

    @cached_property
    def summaries(self) -> tuple[Any, ...]:
        """What each client reveals, or why it has nothing to reveal."""
        return tuple(self._summaries(lambda: None))

    @property
    def is_summarized(self) -> bool:
        return "summaries" in vars(self)

    def summarize(self, tell: Callable[[], Any] = lambda: None) -> None:
        """Make the summaries; `tell` is called after each."""
        if not self.is_summarized:
            self.summaries = tuple(self._summaries(tell))

    def _summaries(self, tell: Callable[[], Any]) -> Iterator[Any]:
        for position, sample in enumerate(self.samples):
            yield self.refusal or self._drawn.summary(position, self.metric, sample)
            tell()

    def prepare(self) -> None:
        """Make the summaries, and what the scores of all clients share."""
        self.metric.prepare([part for summary in self.summaries if not refusal_of(part := part_of(summary))])
        self.is_prepared = True

    @cached_property
    def stacks(self) -> list[list[int]]:
        """Positions of clients that are scored together: several of few rows cost little more than one of them."""
        found: list[list[int]] = []
        size = 0
        for position, sample in enumerate(self.samples):
            n = 1 if sample.rows is None else sample.rows.shape[0]
            if not found or size + n > STACK:
                found.append([])
                size = 0
            found[-1].append(position)
            size += n
        return found

    @cached_property
    def span(self) -> str:
        """How many rows the clients had, for the convention line."""
        rows = [s.size for s in self.samples if s.size is not None]
        if not rows:
            return "exact clients"
        fewest = f"{min(rows):,} to " * (min(rows) < max(rows))
        return f"{fewest}{max(rows):,} rows a client"

    @cached_property
    def strata(self) -> list[Strata[Any]]:
        """The summaries beside the rows."""
        pairs = zip(self.summaries, self.samples, strict=True)
        return [Strata.of(s, x.rows) if refusal_of(s) else self.metric.strata(s, x.rows) for s, x in pairs]

    def check_uncertainty(self, generators: Sequence[GeneratorSamples], design: Design) -> None:
        """Refuse what has no intervals whatever the rows, or no right ones, before anything is computed."""
        if any(g.answers(self.metric) is not None for g in generators):
            fix = "Leave uncertainty out, or score outputs without their conditions"
            raise InvalidInput("uncertainty", "answers to a condition have no intervals yet", fix)
        if self.has_influence_values(design):
            return
        check_resampled(self.metric)
        enough = [sample for g in generators if not too_few(sample := g.whole(self.metric), "")]
        if enough and not self.refusal and not refusal_of(*self.few(design)):
            check_sizes(self.metric, [*self.samples, *enough])

    def few(self, design: Design) -> list[InvalidInput | None]:
        """Why the rows of each client are too few for intervals, or None."""
        if self.has_influence_values(design):
            return [None] * len(self.names)
        return [too_few(own, f"client {name!r}") for own, name in zip(self.samples, self.names, strict=True)]

    def has_influence_values(self, design: Design) -> bool:
        """Whether influence values serve, and no resampling is needed."""
        return isinstance(design, Influence) and self.metric.has_influence_values

    def summary_of(self, column: Column, weights: Sequence[float]) -> tuple[Any, tuple[Any, ...] | None]:
        """The summary of a generator, and those of its answers to each client where it gave some."""
        if self.refusal:
            return self.refusal, None
        who = f"generator {column.samples.name!r}"
        samples = column.samples.answers(self.metric)
        if samples is None:
            return column.samples.summary(self.metric), None
        answers = tuple(summarized(self.metric, sample, who) for sample in samples)
        return pooled_or_refused(self.metric, answers, weights), answers

    def terms(self, column: Column, positions: Sequence[int]) -> list[Terms]:
        """The terms of these clients with one generator."""
        real = [self.summaries[i] for i in positions]
        if column.answers is not None and self.metric.is_conditional:
            return list(pair_terms(self.metric, real, None, [column.answers[i] for i in positions]))
        (found,) = (list(row) for row in whole_terms(self.metric, real, [column.summary]))
        return found

    def together(self, weights: tuple[float, ...]) -> Any:
        """The summary of all clients, or why there is none; that of the last weights is kept."""
        known = self._pool
        if known is None or known[0] != weights:
            try:
                known = weights, pool(self.metric, self.summaries, weights)
            except InvalidInput as error:
                known = weights, error
            self._pool = known
        return known[1]

    def against_all(self, column: Column, weights: tuple[float, ...]) -> tuple[Terms, float]:
        """The terms of the pooled clients with one generator, and the gap that their numbers of rows would make."""
        return scored_pool(self.metric, self.summaries, weights, self.together(weights), column.summary)

    def slopes(self, column: Column, weights: tuple[float, ...]) -> np.ndarray | None:
        """See `Metric.slopes`; NaN where there is no pooled score, or nothing is known of the client."""
        together = self.together(weights)
        if column.answers is not None:  # whose distribution moves with the weights
            return None
        slopes = np.full(len(self.names), np.nan)
        if refusal_of(together, column.summary):
            return slopes
        parts = [part_of(summary) for summary in self.summaries]
        known = [i for i, part in enumerate(parts) if not refusal_of(part)]
        summaries, shares = [parts[i] for i in known], [weights[i] for i in known]
        found = self.metric.slopes(summaries, shares, column.summary, together)
        if found is None:
            return None
        slopes[known] = found
        return slopes

    def result(self, columns: Sequence[Column], design: Design | None, position: int = 0) -> Result:
        """What is known of generators, the first at `position`; pooled scores are computed when asked for."""
        drawn = tuple(column.drawn(self.metric) for column in columns)
        known = [sample for sample in drawn if sample is not None]
        return Result(
            self.metric,
            self.summaries,
            tuple(column.summary for column in columns),
            tuple(column.terms for column in columns),
            tuple(column.answers for column in columns),
            None if design is None else self._replicas(columns, design, position),
            () if self.refusal else tuple(self.metric.cautions(self.samples, known)),
            self.span,
            self.samples,
            drawn,
        )

    def unsure(self, column: Column, weights: tuple[float, ...]) -> list[NoiseColumn]:
        """The noise without a design, of clients and of the pooled ones: distributions have none, that of rows is
        unknown."""
        terms = (*column.terms, column.pooled.get(weights, (UNKNOWN, 0.0))[0])
        drawn = column.drawn(self.metric)
        if drawn is not None and all(sample.distribution is not None for sample in (*self.samples, drawn)):
            return list(split(NoiseColumn.exact(DRAWS, np.array([value_of(t) for t in terms]))))
        return list(split(NoiseColumn.unknown(DRAWS, len(terms), NO_DESIGN)))

    def noise(self, column: Column, weights: tuple[float, ...], design: Design, *, of_all: bool) -> NoiseColumn:
        """Draws of the noise of the scores of the clients with one generator, or of the pooled clients alone."""
        counted = self._counted(weights) if self.has_influence_values(design) else None
        refusal = self._no_intervals(column, design) if counted is None else refusal_of(column.summary)
        if refusal:
            return NoiseColumn.unknown(DRAWS, 1 if of_all else len(self.names), str(refusal))
        if counted is None:
            return self._replicated(column, weights, design)[of_all]
        ahead = self._ahead if self._ahead is not None and self._ahead.position == column.position else None
        known = {} if ahead is None else ahead.known
        made = Made(self.metric, self._strata_of(column), column.position, Multipliers(DRAWS, SEED), known)
        return made.all(self.pooled_strata(counted), counted) if of_all else made.clients(self.strata)

    def _counted(self, weights: tuple[float, ...]) -> tuple[float, ...] | None:
        """The weights of the clients that have summaries, of sum 1; None where those hold too little of it."""
        if not refusal_of(*self.summaries):
            return weights
        kept = [0.0 if refusal_of(s) else w for s, w in zip(self.summaries, weights, strict=True)]
        total = math.fsum(kept)
        return tuple(w / total for w in kept) if total >= LEAST else None

    def _replicated(self, column: Column, weights: tuple[float, ...], design: Design) -> list[NoiseColumn]:
        """Of the clients and of the pooled ones, from replicates, which give both."""
        scores = [*map(value_of, column.terms), self._without_bias(column, weights)]
        return list(split(replicated(self._resampled(column, design), 0, np.array(scores), weights, DRAWS, SEED)))

    def _without_bias(self, column: Column, weights: tuple[float, ...]) -> float:
        """The pooled score of one generator, see `Metric.without_bias`."""
        terms = column.pooled[weights][0]
        is_known = not isinstance(terms, InvalidInput)
        found = self.metric.without_bias(self.together(weights), column.summary) if is_known else None
        return value_of(terms) if found is None else found

    def advance(self, column: Column, weights: tuple[float, ...], design: Design, seconds: float) -> bool:
        """Compute for so many seconds what the noise of a generator needs; whether `noise` has little left to do."""
        if not self.has_influence_values(design):
            refusal = self._no_intervals(column, design)
            return bool(refusal) or self._resampled(column, design).advance(weights, seconds)
        counted = self._counted(weights)
        if counted is None or refusal_of(column.summary):
            return True
        if self._ahead is None or self._ahead.position != column.position:
            self._ahead = Ahead(self.metric, column.position, self._strata_of(column))
        clients = self.strata if column.noise is None else []
        return self._ahead.advance([*clients, self.pooled_strata(counted)], seconds)

    def forget(self, column: Column) -> None:
        """Free what was computed of a generator for its noise alone."""
        if self._ahead is not None and self._ahead.position == column.position:
            self._ahead = None
        if self._pool_strata is not None:
            self.metric.release_cache(self._pool_strata[1].summary)

    def _resampled(self, column: Column, design: Design) -> Replicas:
        """The scores of one generator on resampled rows; those of the last one are kept."""
        if self._last is None or self._last[0] != column.position:
            replicas = self.result([column], design, column.position).replicas
            assert isinstance(replicas, Replicas)
            self._last = column.position, replicas
        return self._last[1]

    def pooled_strata(self, weights: tuple[float, ...]) -> Strata[Any]:
        """The pooled clients with their rows; that of the last weights is kept."""
        if self._pool_strata is None or self._pool_strata[0] != weights:
            self._pool_strata = weights, self.metric.pool_strata(self.strata, weights)
        return self._pool_strata[1]

    def _strata_of(self, column: Column) -> Strata[Any]:
        return self.metric.strata(column.summary, column.samples.whole(self.metric).rows)

    def seeded(self, result: Result, columns: Sequence[Column], weights: tuple[float, ...]) -> Result:
        """The result with the pooled scores that are known, and no others: asking for them computes nothing."""
        found = [column.pooled.get(weights, (UNKNOWN, math.nan)) for column in columns]
        pool: Any = InvalidInput(self.metric.name, "is not computed yet", "Wait")
        if self._pool is not None and self._pool[0] == weights:
            pool = self._pool[1]
        return replace(result, attempts={("all", weights): found, ("pool", weights): pool})

    def _no_intervals(self, column: Column, design: Design) -> InvalidInput | None:
        """Why the scores of one generator have no intervals, because of any client or of itself; or None."""
        if refusal := refusal_of(*self.summaries, *self.few(design), column.summary):
            return refusal
        samples = column.samples
        return (
            None
            if self.has_influence_values(design)
            else too_few(samples.whole(self.metric), f"generator {samples.name!r}")
        )

    def _replicas(self, columns: Sequence[Column], design: Design, position: int) -> Replicas | Influences | Standing:
        """The influence values or resampled rows of the generators that have intervals."""
        refusals = [self._no_intervals(column, design) for column in columns]
        places = [place for place, refusal in enumerate(refusals) if refusal is None]
        if not places:
            return Standing(None, refusals)
        sure = [columns[place] for place in places]
        replicas: Replicas | Influences
        if isinstance(design, Influence) and self.metric.has_influence_values:
            replicas = Influences(self.metric, self.strata, [self._strata_of(c) for c in sure], design.level)
        else:
            resampling = design.otherwise if isinstance(design, Influence) else design
            drawn = [column.samples.whole(self.metric) for column in sure]
            replicas = Replicas(self.metric, self.samples, drawn, resampling, [position + place for place in places])
        return replicas if len(places) == len(columns) else Standing(replicas, refusals)


def check_sure(every: Iterable[Clients], design: Design) -> None:
    """Refuse uncertainty where no interval would stand because no client has rows enough, with the first reason."""
    few = [refusal for clients in every for refusal in clients.few(design)]
    if (first := refusal_of(*few)) and all(few):
        raise first
