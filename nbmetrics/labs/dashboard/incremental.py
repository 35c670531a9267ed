"""The scores of evaluate() in pieces: one generator, one metric and some clients at a time, the most telling first.

Flow: the clients are summarised once; a generator is checked as it is added; `steps` gives what to compute next: every
pooled score, the clients of the two leaders, the rest. One thread runs the steps; others read `scores`, a snapshot that
no later step changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidInput, check_choice, check_count, check_named_weights, check_names
from ...evaluation.cells import NOT_COMPUTED, Cell, Cells
from ...evaluation.compute import NOT_SUMMARIZED, Evaluation
from ...evaluation.noise import Noise, NoiseColumn
from ...evaluation.samples import ByClientSamples, GeneratorSamples, convention, samples_of
from ...evaluation.scores import Scores
from ...federation import Generator, as_generators
from ...metrics.base import losses
from ...ranking import order
from .incremental_metric import DRAWS, GeneratorScores, IncrementalMetric

NOT_YET = "not computed yet"
# Seconds that a step is meant to take, so that a view may stop between two of them.
SECONDS_OF_STEP = 0.5


class ComputedCells(NamedTuple):
    """Which scores are computed: of each generator with each client (generators, clients), and of the pooled ones."""

    clients: np.ndarray
    all: np.ndarray


class Step:
    """One piece of work: `words` say what, calling it does it."""

    def __init__(self, words: str, run: Callable[[], Any]) -> None:
        self.words, self._run, self.is_done = words, run, False

    def __call__(self) -> None:
        self._run()
        self.is_done = True


class IncrementalEvaluation(Evaluation):
    """Scores that are filled in piece by piece, each number as `evaluate` gives it.

    Parameters
    ----------
    federation, metrics, samples, seed, uncertainty : as for `evaluate`
    progress : False for no bar while images are extracted

    Attributes
    ----------
    names, weights, metrics : of the clients and the resolved metrics
    generators : names, in the order in which they came

    Generators come and go with `add` and `remove`. One thread may compute while others read `scores`, `noise` and
    `computed_cells`, or add and remove. Raises InvalidInput as `evaluate` does, save that a client or generator that
    cannot be summarised has no scores, which `scores.cautions` says, until every metric refuses every client.

    Examples
    --------
    >>> from nbmetrics.labs.dashboard.incremental import IncrementalEvaluation
    >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
    >>> evaluation = IncrementalEvaluation(clients, "fid")
    >>> evaluation.add(nm.Generator(nm.Gaussian([0, 0]), name="narrow"))
    'narrow'
    >>> for step in evaluation.steps():
    ...     step()
    >>> float(evaluation.scores.table["avg"][0].round(6))
    1.0
    """

    _state_class = IncrementalMetric
    states: dict[str, IncrementalMetric]  # type: ignore[assignment]
    _generators: Mapping[tuple[str, str], GeneratorScores]

    def __init__(self, federation: Any, metrics: Any = ("fid", "kid"), **settings: Any) -> None:
        super().__init__(federation, metrics, **settings)
        self._pace = dict.fromkeys(self.metrics, 1.0)  # stacks of clients a step
        self._lock = Lock()

    def source(self, name: str) -> Generator:
        """Return a generator that came."""
        return self._sources[check_choice(name, self.generators, "name")][0]

    def add(self, generator: Any, name: str | None = None) -> str:
        """Take a generator in, and return its name; checked as `evaluate` does, before anything is computed.

        `generator` : a `Generator` or what makes one; `name` : how it is called, by default as it says itself.
        """
        return self.add_all([generator] if name is None else {name: generator})[0]

    def add_all(self, generators: Any) -> tuple[str, ...]:
        """Take several in, a list or dict as for `evaluate`: all of them, or none where one is refused."""
        sources = as_generators(generators, may_be_by_client=True)
        check_names([*self._sources, *(generator.name or "" for generator in sources)], "generators")
        return self.take(sources)

    def adopt(self, other: IncrementalEvaluation) -> tuple[str, ...]:
        """Take in the generators of another evaluation, of the same features, with the rows that were drawn there.

        Those with one distribution for each client are drawn anew, as their rows depend on the clients.
        """
        sources = [source.without_others(self.names) for source, _ in other._sources.values()]
        if self.federation.is_conditional:  # they answer these clients
            return self.add_all(sources)
        drawn = [samples for _, samples in other._sources.values()]
        for place, source in enumerate(sources):
            if source.is_by_client:
                drawn[place] = samples_of(source, [self._seed, 1, place], self._extraction, self._settings)
        return self._keep_sources(sources, drawn)

    def _keep_sources(
        self, generators: Sequence[Generator], drawn: Sequence[GeneratorSamples | ByClientSamples]
    ) -> tuple[str, ...]:
        if self.design is not None:
            self._check_uncertainty(drawn, self.design)
        with self._lock:
            names = super()._keep_sources(generators, drawn)
            none = (NOT_COMPUTED,) * len(self.names)
            fresh = {(metric, name): self._generators[metric, name] for metric in self.metrics for name in names}
            scores = {key: GeneratorScores(g.samples, g.position, cells=none) for key, g in fresh.items()}
            self._generators = {**self._generators, **scores}
        return names

    def remove(self, name: str) -> None:
        """Forget a generator and its scores."""
        check_choice(name, self.generators, "name")
        with self._lock:
            for metric, state in self.states.items():
                state.forget(self._generators[metric, name])
            self._sources = {n: pair for n, pair in self._sources.items() if n != name}
            self._generators = {key: generator for key, generator in self._generators.items() if key[1] != name}

    def weigh(self, weights: Any) -> None:
        """Take other weights of the clients; the scores of clients stay."""
        shares = check_named_weights(weights, self.names)
        with self._lock:
            self.weights = shares
            pairs = self._generators.items()
            self._generators = {key: g.with_weights(self.states[key[0]].metric, shares) for key, g in pairs}

    def summarize(self) -> None:
        """Make the clients' summaries, once; InvalidInput where every metric refuses every client."""
        for metric in self.metrics:
            self.summarize_clients(metric)

    def _prepare(self, metric: str) -> None:
        self.summarize_clients(metric)
        self.states[metric].prepare()

    def compute_all(self, name: str, metric: str) -> float:
        """Return the score of the pooled clients with one generator, as `Scores.table` has it."""
        generator, weights = self._try_summary(name, metric), self.weights
        if weights not in generator.pooled:
            kept = self.kept_cells(metric, [generator])
            if (cell := kept.find(0, None)) is None:
                kept.keep(0, None, cell := self.states[metric].pooled_cell(generator, weights))
            generator = self._replace((metric, name), generator, pooled={**generator.pooled, weights: cell})
        return generator.pooled[weights].value

    def compute_clients(self, name: str, metric: str, clients: Sequence[int] | None = None) -> np.ndarray:
        """Return the scores of clients, by position (all where None), with one generator: one number a client.

        Of one with a distribution for each client, those with what was made for each.
        """
        generator = self._try_summary(name, metric)
        k = len(self.names)
        wanted = range(k) if clients is None else [check_count(i, "clients", minimum=0, maximum=k - 1) for i in clients]
        missing = [i for i in wanted if generator.cells[i] is NOT_COMPUTED]
        if missing:
            cells, kept = list(generator.cells), self.kept_cells(metric, [generator])
            for i in missing:
                cells[i] = kept.find(0, i, own=generator.is_by_client) or NOT_COMPUTED
            missing = [i for i in missing if cells[i] is NOT_COMPUTED]
            for i, terms in zip(missing, self.states[metric].terms(generator, missing), strict=True):
                kept.keep(0, i, cell := Cell.of(terms), own=generator.is_by_client)
                cells[i] = cell
            generator = self._replace((metric, name), generator, cells=tuple(cells))
        return np.array([generator.cells[i].value for i in wanted])

    def compute_mixtures(self, names: Sequence[str]) -> None:
        """Score each client with what generators with one distribution for each made for all: avg, in no step."""
        for metric, state in self.states.items():
            for name in names:
                generator, weights = self._generator(name, metric), self.weights
                is_missing = weights not in generator.mixture_cells and generator.is_complete(weights)
                if generator.is_by_client and is_missing:
                    cells = {**generator.mixture_cells, weights: state.mixture_cells(generator)}
                    self._replace((metric, name), generator, mixture_cells=cells)

    def slopes(self, name: str, metric: str, weights: tuple[float, ...]) -> np.ndarray | None:
        """How fast the pooled score grows with the weight of each client, (k,), see `FID.slopes`; None: unknown."""
        return self.states[metric].slopes(self._try_summary(name, metric), weights)

    def compute_noise(self, name: str, metric: str, seconds: float = math.inf) -> None:
        """Compute the noise of one generator's scores, with every client and with all; or so many seconds of it."""
        if self.design is None:
            return
        self.compute_all(name, metric)
        self.compute_clients(name, metric)
        key, state, weights = (metric, name), self.states[metric], self.weights
        generator = self._generator(name, metric)
        if not state.advance(generator, weights, self.design, seconds):
            return
        may_be_known_now = not state.has_influence_values(self.design)  # resampling may be refused for some weights
        if generator.noise is None or (may_be_known_now and any(generator.noise.reasons)):
            clients = state.draws(generator, weights, self.design, of_all=False)
            generator = self._replace(key, generator, noise=clients)
        if weights not in generator.pooled_noise:
            pooled = state.draws(generator, weights, self.design, of_all=True)
            self._replace(key, generator, pooled_noise={**generator.pooled_noise, weights: pooled})
        state.forget(generator)

    def noise(self, metric: str) -> Noise:
        """The noise of the scores, as far as it is computed, and the scores that it lies about."""
        check_choice(metric, self.metrics, "metric")
        generators, weights = [g for (m, _), g in self._generators.items() if m == metric], self.weights
        if self.design is None:
            state = self.states[metric]
            return Noise.of(*zip(*(state.noise_without_design(g, weights) for g in generators), strict=True))
        one, every = (NoiseColumn.unknown(DRAWS, n, NOT_YET) for n in (1, len(self.names)))
        return Noise.of([g.noise or every for g in generators], [g.pooled_noise.get(weights, one) for g in generators])

    @property
    def has_all_noise(self) -> bool:
        """Whether every score under the present weights is computed, and its noise where that is asked for."""
        return all(
            generator.is_complete(self.weights) and (self.design is None or generator.has_noise(self.weights))
            for generator in self._generators.values()
        )

    def _try_summary(self, name: str, metric: str) -> GeneratorScores:
        """The generator with its summary, or with what is wrong with it in its place."""
        try:
            generator: GeneratorScores = self.summarize_generator(name, metric)
            return generator
        except InvalidInput as error:
            changed: GeneratorScores = self._replace(
                (metric, name), self._generator(name, metric), summary=error, answers=None
            )
            return changed

    def _generator(self, name: str, metric: str) -> GeneratorScores:
        check_choice(metric, self.metrics, "metric")
        check_choice(name, self.generators, "name")
        return self._generators[metric, name]

    def _replace(self, key: tuple[str, str], generator: Any, **changes: Any) -> Any:
        """The generator with changes, kept in the place of what it was, unless that has changed meanwhile."""
        changed = replace(generator, **changes)
        with self._lock:
            if self._generators.get(key) is generator:
                self._generators = {**self._generators, key: changed}
        return changed

    def computed_cells(self, metric: str) -> ComputedCells:
        """Which scores are computed; one of them may be NaN, where the metric refuses it."""
        check_choice(metric, self.metrics, "metric")
        generators = [generator for (m, _), generator in self._generators.items() if m == metric]
        clients = [[cell is not NOT_COMPUTED for cell in generator.cells] for generator in generators]
        pooled = [self.weights in generator.pooled for generator in generators]
        shape = len(generators), len(self.names)
        return ComputedCells(np.array(clients, dtype=bool).reshape(shape), np.array(pooled, dtype=bool))

    @property
    def scores(self) -> Scores:
        """What is computed by now, as `evaluate` returns it; what is not is NaN; intervals come once all is there."""
        return self.scores_of(self.generators)

    def scores_of(self, names: Sequence[str]) -> Scores:
        """The same of some of the generators."""
        with self._lock:
            generators, weights, sources = self._generators, self.weights, self._sources
        own = {metric: [generators[metric, name] for name in names] for metric in self.metrics}
        is_complete = all(generator.is_complete(weights) for part in own.values() for generator in part)
        design = self.design if is_complete else None
        tables = [self._table(state, own[metric], weights, design) for metric, state in self.states.items()]
        note = convention(self._settings[0], self._seed, self.federation, [sources[name][0] for name in names])
        groups = [sources[name][0].group for name in names]
        return Scores(self.names, weights, names, tables, note, self.provenance_of(names, tables), groups)

    def _table(
        self,
        state: IncrementalMetric,
        generators: Sequence[GeneratorScores],
        weights: tuple[float, ...],
        design: Any,
    ) -> Cells:
        """The cells that are computed, and no others: asking for them computes nothing."""
        pool = state.pool_if_ready(weights)
        pool = InvalidInput(state.metric.name, "is not computed yet", "Wait") if pool is None else pool
        pooled = tuple(generator.pooled.get(weights, NOT_COMPUTED) for generator in generators)
        none = (NOT_COMPUTED,) * len(self.names)
        cells = [g.mixture_cells.get(weights, none) if g.is_by_client else g.cells for g in generators]
        own = tuple(g.cells if g.is_by_client else () for g in generators)
        table = state.cells(generators, weights, design, cells)
        return replace(table, pools={weights: pool}, pooled={weights: pooled}, own_cells=own if any(own) else ())

    def steps(self) -> Iterator[Step]:
        """What to compute next, until all is there or a step was not run.

        Pooled scores of all generators come first, then the clients of the two best by them, then the rest; where a
        pooled score takes as much as those of all clients, these come with it. Generators and weights may change
        between steps.
        """
        while (step := self._next()) is not None:
            yield step
            if not step.is_done:  # it would come again for ever
                return

    def _next(self) -> Step | None:
        for metric, state in self.states.items():
            generators = [self._generators[metric, name] for name in self.generators]
            if not (state.is_prepared or all(generator.is_complete(self.weights) for generator in generators)):
                return Step(f"clients for {state.metric.label}", partial(self._prepare, metric))
            for name in self.generators:
                if (step := self._step_towards_all(name, metric)) is not None:
                    return step
        orders = {metric: self._best_first(metric) for metric in self.metrics}
        for part in (slice(2), slice(2, None)):
            pairs = [(metric, name) for metric, names in orders.items() for name in names[part]]
            for step_of in (self._clients_step, self._noise_step):
                if (step := next(filter(None, (step_of(name, metric) for metric, name in pairs)), None)) is not None:
                    return step
        return None

    def _step_towards_all(self, name: str, metric: str) -> Step | None:
        """The next piece of a generator's pooled score, unless it is computed."""
        generator, of = self._generators[metric, name], f"{self.states[metric].metric.label} of {name}"
        if generator.summary is NOT_SUMMARIZED:
            return Step(f"rows for {of}", partial(self._try_summary, name, metric))
        if self.weights in generator.pooled:
            return None
        first = self._clients_step(name, metric) if self.states[metric].metric.pools_scores else None
        return first or Step(f"{of}, all clients together", partial(self.compute_all, name, metric))

    def _best_first(self, metric: str) -> list[str]:
        """The generators, those with the best pooled scores first."""
        names = list(self.generators)
        pooled = np.array([self._generators[metric, name].pooled[self.weights].value for name in names])
        worse = losses(self.states[metric].metric, pooled)
        return [names[g] for g in order(worse)]

    def _clients_step(self, name: str, metric: str) -> Step | None:
        """As many of the missing clients as take half a second, by how long the last ones took."""
        cells = self._generators[metric, name].cells
        missing = [[i for i in stack if cells[i] is NOT_COMPUTED] for stack in self.states[metric].stacks]
        stacks = [stack for stack in missing if stack][: max(1, int(self._pace[metric]))]
        some = [i for stack in stacks for i in stack]
        if not some:
            return None

        def run() -> None:
            start = time.monotonic()
            self.compute_clients(name, metric, some)
            took = max(time.monotonic() - start, 1e-4)
            self._pace[metric] = min(len(stacks) * SECONDS_OF_STEP / took, 4.0 * len(stacks))

        numbers = f"client {some[0] + 1}" if len(some) == 1 else f"clients {some[0] + 1} to {some[-1] + 1}"
        return Step(f"{self.states[metric].metric.label} of {name}, {numbers}", run)

    def _noise_step(self, name: str, metric: str) -> Step | None:
        """The noise of a generator's scores, where it is asked for and not computed."""
        if self.design is None or self._generators[metric, name].has_noise(self.weights):
            return None
        words = f"the uncertainty of {self.states[metric].metric.label} of {name}"
        return Step(words, partial(self.compute_noise, name, metric, SECONDS_OF_STEP))
