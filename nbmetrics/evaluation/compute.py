"""From clients and generators to cells: every party is summarised once for each metric, and every pair scored.

`MetricState` holds the clients under one metric, `GeneratorState` a generator; `Evaluation` takes generators in and
computes the `Cells` of all metrics at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..distributions import check_draw
from ..errors import InvalidInput, check_choice, check_count, refusal_of
from ..federation import Federation, Generator
from ..metrics import Metric, Sample
from ..metrics.base import Terms
from ..metrics.stratified import Strata
from ..ranking import lowest
from ..tables import check_same_order
from .cells import (
    Cell,
    Cells,
    KeptCells,
    mixture_or_refusal,
    part_of,
    pool_or_refusal,
    pooled_cell,
    summarize,
    terms_with_answers,
    terms_with_whole,
)
from .influence import Influence, Influences
from .noise import CellNoise, Design, check_design
from .provenance import provenance_of
from .resampling import ResampledScores, check_can_resample, check_sizes, few_rows_refusal, no_rows_refusal
from .samples import (
    ByClientSamples,
    ClientSamples,
    GeneratorSamples,
    convention,
    feature_cautions,
    resolve_metrics,
    samples_of,
    sources_of,
)
from .scores import Scores
from .store import Store, let_hash

# In the place of a summary that is not made yet.
NOT_SUMMARIZED = InvalidInput("scores", "are not computed yet", "Wait")
NO_RESAMPLING_BY_CLIENT = InvalidInput(
    "uncertainty",
    "a generator with one distribution for each client has no intervals by resampling",
    "Use nm.Influence() with fid or kid",
)


def _nothing() -> None:
    """Told of each piece where nobody listens."""


@dataclass(frozen=True, eq=False)
class GeneratorState:
    """A generator under one metric.

    Attributes
    ----------
    samples : its rows or distribution, or one for each client
    summary, answers : see `Cells`; the summary is `NOT_SUMMARIZED` until it is made
    position : its place among all generators that ever came
    """

    samples: GeneratorSamples | ByClientSamples
    position: int = 0
    summary: Any = NOT_SUMMARIZED
    answers: tuple[Any, ...] | None = None

    @property
    def is_by_client(self) -> bool:
        """Whether it has one distribution for each client."""
        return isinstance(self.samples, ByClientSamples)

    @property
    def members(self) -> tuple[GeneratorSamples, ...]:
        """What it is for each client, or for all."""
        return self.samples.members if isinstance(self.samples, ByClientSamples) else (self.samples,)

    def sample(self, metric: Metric[Any]) -> Sample | None:
        """What was summarised as a whole; None where it has an answer to each client."""
        return self.samples.whole(metric) if self.samples.answers(metric) is None else None


class MetricState:
    """All clients under one metric, summarised once, and the scores they make with a generator.

    `refusal` says why there are no scores at all.
    """

    def __init__(self, metric: Metric[Any], drawn: ClientSamples, refusal: InvalidInput | None = None) -> None:
        self.metric, self.names, self.refusal = metric, drawn.names, refusal
        self._drawn = drawn
        self.is_prepared = False
        self._pool: tuple[tuple[float, ...], Any] | None = None
        self._pool_strata: tuple[tuple[float, ...], Strata[Any]] | None = None

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """What the metric sees of each; InvalidInput where it needs test rows that are not there."""
        samples = tuple([self._drawn.sample(position, self.metric) for position in range(len(self.names))])
        if self.metric.needs_test:
            for name, sample in zip(self.names, samples, strict=True):
                if sample.test is None:
                    seen = (
                        f"client {name!r} has none, but {self.metric.name} compares with rows not seen by the generator"
                    )
                    fix = "Use federation.split(test=0.2, seed=0), or Client(rows, test=…)"
                    raise InvalidInput("test", seen, fix)
        return samples

    @cached_property
    def summaries(self) -> tuple[Any, ...]:
        """What each client reveals, or why it has nothing to reveal."""
        self.summarize()
        summaries: tuple[Any, ...] = vars(self)["summaries"]
        return summaries

    def summarize(self, tell: Callable[[], Any] = _nothing) -> None:
        """Make the summaries; `tell` is called after each."""
        if "summaries" in vars(self):
            return
        summaries = []
        for position, (name, sample) in enumerate(zip(self.names, self.samples, strict=True)):
            if self.refusal is not None:
                summaries.append(self.refusal)
            elif (reading := self._drawn.readings.get(position)) is not None:
                summaries.append(reading.summary(self.metric, sample))
            else:
                summaries.append(summarize(self.metric, sample, f"client {name!r}", is_client=True))
            tell()
        self.summaries = tuple(summaries)

    def prepare(self) -> None:
        """Make the summaries, and what the scores of all clients share."""
        self.metric.prepare([part for summary in self.summaries if not refusal_of(part := part_of(summary))])
        self.is_prepared = True

    def summary_of(self, generator: GeneratorState, weights: Sequence[float]) -> tuple[Any, tuple[Any, ...] | None]:
        """Return the summary of a generator, and those of its answers to each client where it gave some."""
        if self.refusal:
            return self.refusal, None
        samples = generator.samples
        if isinstance(samples, ByClientSamples):
            summaries = {member: self._whole_summary(member, True) for member in dict.fromkeys(samples.members)}
            answers = tuple([summaries[member] for member in samples.members])
            return mixture_or_refusal(self.metric, answers, weights), answers
        answered = samples.answers(self.metric)
        if answered is None:
            return self._whole_summary(samples), None
        who = f"generator {samples.name!r}"
        answers = tuple(summarize(self.metric, sample, who) for sample in answered)
        return pool_or_refusal(self.metric, answers, weights), answers

    def _whole_summary(self, samples: GeneratorSamples, is_part: bool = False) -> Any:
        """Return the summary of a generator's rows or distribution, or why there is none.

        `is_part` : of a mixture, to which rows too few for a score of their own belong, too
        """
        sample = samples.whole(self.metric)
        if samples.reading is not None:
            return samples.reading.summary(self.metric, sample)
        return summarize(self.metric, sample, f"generator {samples.name!r}", is_client=is_part)

    def terms(self, generator: GeneratorState, positions: Sequence[int]) -> list[Terms]:
        """Return the terms of these clients with one generator."""
        real = [self.summaries[i] for i in positions]
        if generator.answers is not None and self.metric.is_conditional:
            return list(terms_with_answers(self.metric, real, None, [generator.answers[i] for i in positions]))
        (row,) = (list(pairs) for pairs in terms_with_whole(self.metric, real, [generator.summary]))
        return row

    def together(self, weights: tuple[float, ...]) -> Any:
        """Return the summary of all clients, or why there is none; that of the last weights is kept."""
        if self._pool is None or self._pool[0] != weights:
            self._pool = weights, pool_or_refusal(self.metric, self.summaries, weights)
        return self._pool[1]

    def pooled_cell(self, generator: GeneratorState, weights: tuple[float, ...]) -> Cell:
        """Return the score of the pooled clients with one generator."""
        return pooled_cell(self.metric, self.summaries, weights, self.together(weights), generator.summary)

    def slopes(self, generator: GeneratorState, weights: tuple[float, ...]) -> np.ndarray | None:
        """See `Metric.slopes`; NaN where there is no pooled score, or nothing is known of the client."""
        together = self.together(weights)
        if generator.answers is not None:  # whose distribution moves with the weights
            return None
        slopes = np.full(len(self.names), np.nan)
        if refusal_of(together, generator.summary):
            return slopes
        parts = [part_of(summary) for summary in self.summaries]
        positions = [i for i, part in enumerate(parts) if not refusal_of(part)]
        summaries, shares = [parts[i] for i in positions], [weights[i] for i in positions]
        own = self.metric.slopes(summaries, shares, generator.summary, together)
        if own is None:
            return None
        slopes[positions] = own
        return slopes

    def cells(
        self,
        generators: Sequence[GeneratorState],
        weights: tuple[float, ...],
        design: Design | None = None,
        client_cells: Sequence[tuple[Cell, ...]] = (),
    ) -> Cells:
        """Return the table of these generators; the cells of pooled clients are computed when asked for."""
        samples = tuple([generator.sample(self.metric) for generator in generators])
        own = [g.samples.answers(self.metric) or () if g.is_by_client else () for g in generators]
        fewest = [parts[lowest([part.size or math.inf for part in parts])] for parts in own if parts]
        whole = [sample for sample in (*samples, *fewest) if sample is not None]
        sides = [
            [sample for sample in side if sample.moments is None or self.metric.takes_moments]
            for side in (self.samples, whole)
        ]
        rows = [sample.size for sample in self.samples if sample.size is not None]
        is_uncounted = any(sample.moments is not None for sample in self.samples)
        span = (f"{min(rows):,} to " * (min(rows) < max(rows)) + f"{max(rows):,} rows per client") if rows else ""
        return Cells(
            self.metric,
            weights,
            self.summaries,
            tuple([generator.summary for generator in generators]),
            tuple(client_cells),
            tuple([generator.answers for generator in generators]),
            None if design is None else self.noise(generators, design),
            () if self.refusal else tuple(self.metric.cautions(*sides)),
            span or ("clients of an unknown number of rows" if is_uncounted else "exact clients"),
            self.samples,
            samples,
            is_by_client=tuple([generator.is_by_client for generator in generators]),
            own_samples=tuple(own),
        )

    def noise(self, generators: Sequence[GeneratorState], design: Design, position: int = 0) -> CellNoise:
        """Return the intervals of those generators that can have them, the first at `position`."""
        refusals = [self.interval_refusal(generator, design) for generator in generators]
        places = [place for place, refusal in enumerate(refusals) if refusal is None]
        if not places:
            return CellNoise(None, refusals)
        sure = [generators[place] for place in places]
        if isinstance(design, Influence) and self.metric.has_influence_values:
            strata = [self.strata_by_client(generator) for generator in sure]
            return CellNoise(Influences(self.metric, self.strata, strata, design.level), refusals)
        resampling = design.otherwise if isinstance(design, Influence) else design
        drawn = [generator.samples.whole(self.metric) for generator in sure]
        positions = [position + place for place in places]
        return CellNoise(ResampledScores(self.metric, self.samples, drawn, resampling, positions), refusals)

    def interval_refusal(self, generator: GeneratorState, design: Design) -> InvalidInput | None:
        """Why the scores of one generator have no intervals, because of any client or of itself; or None."""
        parts = generator.answers if generator.is_by_client else None
        if refusal := refusal_of(*self.summaries, *self.few_rows(design), *(parts or (generator.summary,))):
            return refusal
        samples = {f"generator {member.name!r}": member.whole(self.metric) for member in generator.members}
        if refusal := refusal_of(*(no_rows_refusal(sample, who) for who, sample in samples.items())):
            return refusal
        if self.has_influence_values(design):
            return None
        if generator.is_by_client:
            return NO_RESAMPLING_BY_CLIENT.of(f"generator {generator.samples.name!r}")
        return refusal_of(*(few_rows_refusal(sample, who) for who, sample in samples.items()))

    def check_uncertainty(self, generators: Sequence[GeneratorSamples | ByClientSamples], design: Design) -> None:
        """Refuse what has no intervals whatever the rows, or no right ones, before anything is computed."""
        whole = [g for g in generators if not isinstance(g, ByClientSamples)]
        if any(g.answers(self.metric) is not None for g in whole):
            fix = "Leave uncertainty out, or score outputs without their conditions"
            raise InvalidInput("uncertainty", "answers to a condition have no intervals yet", fix)
        if self.has_influence_values(design):
            return
        check_can_resample(self.metric)
        if not whole and isinstance(design, Influence):
            return  # intervals of other metrics stand
        if not whole:
            raise NO_RESAMPLING_BY_CLIENT
        samples = [g.whole(self.metric) for g in whole]
        enough = [sample for sample in samples if not (no_rows_refusal(sample, "") or few_rows_refusal(sample, ""))]
        if enough and not self.refusal and not refusal_of(*self.few_rows(design)):
            check_sizes(self.metric, [*self.samples, *enough])

    def few_rows(self, design: Design) -> list[InvalidInput | None]:
        """Why the rows of each client are not here, or too few for intervals, or None."""
        named = [(own, f"client {name!r}") for own, name in zip(self.samples, self.names, strict=True)]
        if self.has_influence_values(design):
            return [no_rows_refusal(own, who) for own, who in named]
        return [no_rows_refusal(own, who) or few_rows_refusal(own, who) for own, who in named]

    def has_influence_values(self, design: Design) -> bool:
        """Whether influence values serve, and no resampling is needed."""
        return isinstance(design, Influence) and self.metric.has_influence_values

    @cached_property
    def strata(self) -> list[Strata[Any]]:
        """The summaries beside the rows."""
        pairs = zip(self.summaries, self.samples, strict=True)
        return [Strata.of(s, x.rows) if refusal_of(s) else self.metric.strata(s, x.rows) for s, x in pairs]

    def strata_by_client(self, generator: GeneratorState) -> tuple[Strata[Any], ...]:
        """Return the summaries beside the rows, one for each client, or one for all."""
        summaries = generator.answers if generator.is_by_client and generator.answers else (generator.summary,)
        pairs = dict(zip(generator.members, summaries, strict=True))
        strata = {m: self.metric.strata(summary, m.whole(self.metric).rows) for m, summary in pairs.items()}
        return tuple(strata.values()) if len(strata) == 1 else tuple([strata[m] for m in generator.members])

    def pooled_strata(self, weights: tuple[float, ...]) -> Strata[Any]:
        """Return the pooled clients with their rows; that of the last weights is kept."""
        if self._pool_strata is None or self._pool_strata[0] != weights:
            self._pool_strata = weights, self.metric.pool_strata(self.strata, weights)
        return self._pool_strata[1]


class Evaluation:
    """The clients and generators of one call of `evaluate`, checked and drawn, and the cells they make.

    Parameters
    ----------
    federation, metrics, samples, seed, uncertainty : as for `evaluate`
    progress : False for no bar while images are extracted
    store : of scores that are not computed again

    Attributes
    ----------
    names, weights : of the clients
    metrics : names of the resolved metrics; `states` are the clients under each
    generators : names, in the order in which they came
    """

    _state_class: type[MetricState] = MetricState

    def __init__(
        self,
        federation: Any,
        metrics: Any = ("fid", "kid"),
        *,
        samples: int | None = None,
        seed: int = 0,
        uncertainty: Any = None,
        progress: str | bool = "auto",
        store: Store | None = None,
    ) -> None:
        self.store = store
        self._client_hashes: dict[tuple[int, ...], str | None] = {}
        self.design = None if uncertainty is None else check_design(uncertainty)
        self.federation = federation if isinstance(federation, Federation) else Federation(federation)
        let_hash((client.stream for client in self.federation), store)
        self._seed = check_count(seed, "seed", minimum=0)
        if samples is not None:
            samples = check_draw(samples, self.federation.dim, "samples", minimum=2 * len(self.federation))
        self._extraction = self.federation.extraction
        if self._extraction is not None and progress is False:
            self._extraction = replace(self._extraction, progress=False)
        resolved = resolve_metrics(metrics, self.federation, self.design)
        self._settings = samples, self.federation, [metric for metric, _ in resolved], self.design
        drawn = ClientSamples(self._seed, *self._settings)
        self.names, self.weights = self.federation.names, tuple(self.federation.weights)
        self.states = {m.name: self._state_class(m, drawn, refusal) for m, refusal in resolved}
        self.metrics = tuple(self.states)
        self._sources: dict[str, tuple[Generator, GeneratorSamples | ByClientSamples]] = {}
        self._generators: Mapping[tuple[str, str], Any] = {}  # by metric and name; replaced, never changed
        self._count, self._last = 0, ("", "")

    @property
    def generators(self) -> tuple[str, ...]:
        return tuple(self._sources)

    def take(self, generators: Sequence[Generator]) -> tuple[str, ...]:
        """Take generators in, all of them or none where one is refused, and return their names."""
        others = [generator for generator, _ in self._sources.values()]
        sources = [m for g in (*others, *generators) for m in g.for_clients(self.names)]
        parties: tuple[Any, ...] = (*self.federation.clients, *sources)
        if any(party.columns for party in parties):
            check_same_order([(party.name or "", party.columns) for party in parties], "generators")
        let_hash(sources_of(generators), self.store)
        seeds = ([self._seed, 1, self._count + i] for i in range(len(generators)))
        pairs = zip(generators, seeds, strict=False)
        return self._keep_sources(
            generators, [samples_of(g, seed, self._extraction, self._settings) for g, seed in pairs]
        )

    def _keep_sources(
        self, generators: Sequence[Generator], drawn: Sequence[GeneratorSamples | ByClientSamples]
    ) -> tuple[str, ...]:
        """Add generators with their rows, unless they can have no intervals."""
        if self.design is not None:
            self._check_uncertainty(drawn, self.design)
        names = [generator.name or "" for generator in generators]
        self._sources = {**self._sources, **dict(zip(names, zip(generators, drawn, strict=True), strict=True))}
        positions = list(enumerate(zip(names, drawn, strict=True), self._count))
        fresh = {(m, name): GeneratorState(samples, p) for m in self.metrics for p, (name, samples) in positions}
        self._generators, self._count = {**self._generators, **fresh}, self._count + len(generators)
        return tuple(names)

    def _check_uncertainty(self, drawn: Sequence[GeneratorSamples | ByClientSamples], design: Design) -> None:
        """Refuse uncertainty where no interval would stand because no client has rows enough, with the first reason."""
        for state in self.states.values():
            state.check_uncertainty(drawn, design)
        refusals = [refusal for state in self.states.values() for refusal in state.few_rows(design)]
        if (first := refusal_of(*refusals)) and all(refusals):
            raise first

    def summarize_clients(self, metric: str, tell: Callable[[], Any] = _nothing) -> None:
        """Make the clients' summaries, once; InvalidInput where every metric refuses every client."""
        self.states[metric].summarize(tell)
        states = self.states.values()
        if all("summaries" in vars(state) for state in states):
            summaries = [summary for state in states for summary in state.summaries]
            if (first := refusal_of(*summaries)) and all(map(refusal_of, summaries)):
                raise first

    def summarize_generator(self, name: str, metric: str) -> Any:
        """Return the generator with its summary, which its scores are made from."""
        check_choice(metric, self.metrics, "metric")
        check_choice(name, self._sources, "name")
        key, (last, self._last) = (metric, name), (self._last, (metric, name))
        if last != key and (before := self._generators.get(last)) is not None and not refusal_of(before.summary):
            # free what was computed of the generator before this one, which may come again at any time
            self.states[last[0]].metric.release_cache(before.summary)
        generator = self._generators[key]
        if generator.summary is not NOT_SUMMARIZED:
            return generator
        summary, answers = self.states[metric].summary_of(generator, self.weights)
        return self._replace(key, generator, summary=summary, answers=answers)

    def _replace(self, key: tuple[str, str], generator: Any, **changes: Any) -> Any:
        """Return the generator with changes, kept in the place of what it was."""
        self._generators = {**self._generators, key: (changed := replace(generator, **changes))}
        return changed

    def compute(self, tell: Callable[[], Any] = _nothing) -> tuple[Cells, ...]:
        """Return the cells of all metrics; `tell` is called after each piece."""
        tables = []
        for name, state in self.states.items():
            self.summarize_clients(name, tell)
            generators = [self.summarize_generator(generator, name) for generator in self._sources]
            tables.append((state.cells(generators, self.weights, self.design), self.kept_cells(name, generators)))
        # Scores come after all summaries, as that is where most is refused.
        return tuple([table.with_scores(tell, kept) for table, kept in tables])

    def kept_cells(self, metric: str, generators: Sequence[GeneratorState]) -> KeptCells:
        """Return what the store has of the scores of generators that are summarised."""
        if self.store is None:
            return KeptCells()
        state = self.states[metric]
        seen = [g.samples.answers(state.metric) or g.samples.whole(state.metric) for g in generators]
        hashes = [self._hash_of(sample, self.store) for sample in state.samples]
        return self.store.cells_of(state.metric, hashes, self.weights, seen)

    def _hash_of(self, sample: Sample, store: Store) -> str | None:
        """Return the hash of a client's rows as they were when they were first summarised, by any metric."""
        parts = (sample.rows, sample.distribution, sample.test, sample.condition, sample.stream, sample.moments)
        of = tuple(map(id, parts))  # the federation has them as long as this does
        if of not in self._client_hashes:
            self._client_hashes[of] = store.fingerprints.of_sample(sample)
        return self._client_hashes[of]

    def to_scores(self, tables: Sequence[Cells]) -> Scores:
        """Return `Scores` of the tables of all metrics."""
        samples, federation, *_ = self._settings
        sources = [generator for generator, _ in self._sources.values()]
        note, names = convention(samples, self._seed, federation, sources), tuple(self._sources)
        provenance, groups = self.provenance_of(names, tables), [generator.group for generator in sources]
        if cautions := feature_cautions(federation.clients, sources):
            tables = [replace(tables[0], cautions=(*cautions, *tables[0].cautions)), *tables[1:]]
        return Scores(self.names, self.weights, names, tables, note, provenance, groups)

    def provenance_of(self, names: Sequence[str], tables: Sequence[Cells]) -> dict[str, Any]:
        """Return where the scores of these generators come from."""
        settings: dict[str, Any] = {"samples": self._settings[0], "seed": self._seed, "design": self.design}
        of_store = {} if self.store is None else {"store": self.store.counts}
        return {**provenance_of(self.federation, names, tables, **settings), **of_store}
