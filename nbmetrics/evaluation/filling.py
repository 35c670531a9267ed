"""The scores of evaluate() in pieces: one generator, one metric and some clients at a time, the most telling first.

Flow: the clients are summarised once; a generator is checked as it is added; `steps` gives what to compute next: every
pooled score, the clients of the two leaders, the rest. One thread runs the steps; others read `scores`, a snapshot that
no later step changes. `evaluate` is all pieces at once.
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

from ..arrays import check_same_order
from ..distributions import check_draw
from ..errors import InvalidInput, check_choice, check_count, check_named_weights, check_names, refusal_of
from ..federation import Federation, Generator, as_generators
from ..metrics.base import losses
from .metric_selection import settled
from .noise_samples import Noise, NoiseColumn
from .parts import DRAWS, Clients, Column, check_sure
from .result import UNKNOWN, Result, all_terms, value_of
from .sampling import ClientSamples, GeneratorSamples, convention
from .scores import Scores
from .uncertainty import check_design

NOT_YET = "not computed yet"
# Seconds that a step is meant to take, so that a view may stop between two of them.
PACE = 0.5


class Known(NamedTuple):
    """Which scores are known: of each generator with each client (generators, clients), and of the pooled clients."""

    clients: np.ndarray
    all: np.ndarray


class Step:
    """One piece of work: `words` say what, calling it does it."""

    def __init__(self, words: str, run: Callable[[], Any]) -> None:
        self.words, self._run, self.is_done = words, run, False

    def __call__(self) -> None:
        self._run()
        self.is_done = True


class Filling:
    """Scores that are filled in piece by piece, each number as `evaluate` gives it.

    Parameters
    ----------
    federation, metrics, samples, seed, uncertainty : as for `evaluate`
    progress : False for no bar while images are extracted

    Attributes
    ----------
    names, weights, metrics : of the clients and the settled metrics
    generators : names, in the order in which they came

    Generators come and go with `add` and `remove`. One thread may fill while others read `scores`, `noise` and `known`,
    or add and remove. Raises InvalidInput as `evaluate` does, save that a client or generator that cannot be summarised
    has no scores, which `scores.cautions` says, until every metric refuses every client.

    Examples
    --------
    >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
    >>> filling = Filling(clients, "fid")
    >>> filling.add(nm.Generator(nm.Gaussian([0, 0]), name="narrow"))
    'narrow'
    >>> for step in filling.steps():
    ...     step()
    >>> float(filling.scores.table["avg"][0].round(6))
    1.0
    """

    def __init__(
        self,
        federation: Any,
        metrics: Any = ("fid", "kid"),
        *,
        samples: int | None = None,
        seed: int = 0,
        uncertainty: Any = None,
        progress: str | bool = "auto",
    ) -> None:
        self.design = None if uncertainty is None else check_design(uncertainty)
        self.federation = federation if isinstance(federation, Federation) else Federation(federation)
        self._seed = check_count(seed, "seed", minimum=0)
        if samples is not None:
            samples = check_draw(samples, self.federation.dim, "samples", minimum=2 * len(self.federation))
        self._extraction = self.federation.extraction
        if self._extraction is not None and progress is False:
            self._extraction = replace(self._extraction, progress=False)
        known = settled(metrics, self.federation, self.design)
        self._given = samples, self.federation, [metric for metric, _ in known], self.design
        drawn = ClientSamples(self._seed, *self._given)
        self.names, self.weights = self.federation.names, tuple(self.federation.weights)
        self.clients = {m.name: Clients(m, drawn, refusal) for m, refusal in known}
        self.metrics = tuple(self.clients)
        self._generators: dict[str, tuple[Generator, GeneratorSamples]] = {}
        self._columns: dict[tuple[str, str], Column] = {}  # by metric and generator; replaced, never changed
        self._pace: dict[str, float] = dict.fromkeys(self.metrics, 1.0)  # stacks of clients a step
        self._added, self._last, self._lock = 0, ("", ""), Lock()

    @property
    def generators(self) -> tuple[str, ...]:
        return tuple(self._generators)

    def source(self, name: str) -> Generator:
        """A generator that came."""
        return self._generators[check_choice(name, self.generators, "name")][0]

    def add(self, generator: Any, name: str | None = None) -> str:
        """Take a generator in, and say its name; checked as `evaluate` does, before anything is computed.

        `generator` : a `Generator` or what makes one; `name` : how it is called, by default as it says itself.
        """
        return self.add_all([generator] if name is None else {name: generator})[0]

    def add_all(self, generators: Any) -> tuple[str, ...]:
        """Take several in, a list or dict as for `evaluate`: all of them, or none where one is refused."""
        made = as_generators(generators)
        check_names([*self._generators, *(generator.name or "" for generator in made)], "generators")
        parties = [generator for generator, _ in self._generators.values()]
        columns = [(party.name or "", party.columns) for party in (*self.federation, *parties, *made)]
        check_same_order(columns, "generators")
        seeded = [(g.through(self._extraction), [self._seed, 1, self._added + i]) for i, g in enumerate(made)]
        return self._take(made, [GeneratorSamples(g, seed, *self._given) for g, seed in seeded])

    def adopt(self, other: Filling) -> tuple[str, ...]:
        """Take in the generators of another filling, of the same features, with the rows that were drawn there."""
        made, drawn = zip(*other._generators.values(), strict=True)
        if self.federation.is_conditional:  # they answer these clients
            return self.add_all(made)
        return self._take(made, drawn)

    def _take(self, made: Sequence[Generator], drawn: Sequence[GeneratorSamples]) -> tuple[str, ...]:
        names = [generator.name or "" for generator in made]
        if self.design is not None:
            for clients in self.clients.values():
                clients.check_uncertainty(drawn, self.design)
            check_sure(self.clients.values(), self.design)
        with self._lock:
            self._generators = {**self._generators, **dict(zip(names, zip(made, drawn, strict=True), strict=True))}
            k, pairs = len(self.names), list(enumerate(zip(names, drawn, strict=True), self._added))
            fresh = {(m, name): Column.of(d, p, k) for m in self.metrics for p, (name, d) in pairs}
            self._columns, self._added = {**self._columns, **fresh}, self._added + len(made)
        return tuple(names)

    def remove(self, name: str) -> None:
        """Forget a generator and its scores."""
        check_choice(name, self.generators, "name")
        with self._lock:
            for metric, clients in self.clients.items():
                clients.forget(self._columns[metric, name])
            self._generators = {n: pair for n, pair in self._generators.items() if n != name}
            self._columns = {key: column for key, column in self._columns.items() if key[1] != name}

    def weigh(self, weights: Any) -> None:
        """Take other weights of the clients; the scores of clients stay known."""
        shares = check_named_weights(weights, self.names)
        with self._lock:
            self.weights = shares
            known = self._columns.items()
            self._columns = {key: column.repooled(self.clients[key[0]].metric, shares) for key, column in known}

    def summarize(self) -> None:
        """The clients' summaries, once; InvalidInput where every metric refuses every client."""
        for metric in self.metrics:
            self._summarize(metric)

    def _summarize(self, metric: str, tell: Callable[[], Any] = lambda: None) -> None:
        self.clients[metric].summarize(tell)
        if all(clients.is_summarized for clients in self.clients.values()):
            summaries = [summary for clients in self.clients.values() for summary in clients.summaries]
            if (first := refusal_of(*summaries)) and all(map(refusal_of, summaries)):
                raise first

    def _prepare(self, metric: str) -> None:
        self._summarize(metric)
        self.clients[metric].prepare()

    def fill_all(self, name: str, metric: str) -> float:
        """The score of the pooled clients with one generator, as `Scores.table` has it."""
        column, weights = self._tried(name, metric), self.weights
        if weights not in column.pooled:
            found = self.clients[metric].against_all(column, weights)
            column = self._keep(metric, name, column, pooled={**column.pooled, weights: found})
        return value_of(column.pooled[weights][0])

    def fill_clients(self, name: str, metric: str, clients: Sequence[int] | None = None) -> np.ndarray:
        """The scores of clients, by position (all where None), with one generator: one number a client."""
        column = self._tried(name, metric)
        k = len(self.names)
        wanted = range(k) if clients is None else [check_count(i, "clients", minimum=0, maximum=k - 1) for i in clients]
        missing = [i for i in wanted if column.terms[i] is UNKNOWN]
        if missing:
            found = dict(zip(missing, self.clients[metric].terms(column, missing), strict=True))
            terms = tuple(found.get(i, old) for i, old in enumerate(column.terms))
            column = self._keep(metric, name, column, terms=terms)
        return np.array([value_of(column.terms[i]) for i in wanted])

    def slopes(self, name: str, metric: str) -> np.ndarray | None:
        """How fast the pooled score grows with the weight of each client, (k,), see `FID.slopes`; None: unknown."""
        column, weights = self._tried(name, metric), self.weights
        return self.clients[metric].slopes(column, weights)

    def fill_noise(self, name: str, metric: str, seconds: float = math.inf) -> None:
        """The noise of the scores of one generator, with every client and with all; or a part, of so many seconds."""
        if self.design is None:
            return
        self.fill_all(name, metric)
        self.fill_clients(name, metric)
        column, weights, clients = self._column(name, metric), self.weights, self.clients[metric]
        if not clients.advance(column, weights, self.design, seconds):
            return
        if column.noise is None:
            column = self._keep(metric, name, column, noise=clients.noise(column, weights, self.design, of_all=False))
        if weights not in column.pooled_noise:
            found = clients.noise(column, weights, self.design, of_all=True)
            self._keep(metric, name, column, pooled_noise={**column.pooled_noise, weights: found})
        clients.forget(column)

    def noise(self, metric: str) -> Noise:
        """The noise of the scores, as far as it is known, and the scores that it lies about."""
        check_choice(metric, self.metrics, "metric")
        columns, weights = [column for (m, _), column in self._columns.items() if m == metric], self.weights
        if self.design is None:
            return Noise.of(*zip(*(self.clients[metric].unsure(c, weights) for c in columns), strict=True))
        one, every = (NoiseColumn.unknown(DRAWS, n, NOT_YET) for n in (1, len(self.names)))
        return Noise.of([c.noise or every for c in columns], [c.pooled_noise.get(weights, one) for c in columns])

    def fill(self, tell: Callable[[], Any] = lambda: None) -> tuple[Result, ...]:
        """All scores at once, which is quicker; `tell` is called after each piece."""
        results = []
        for metric, clients in self.clients.items():
            self._summarize(metric, tell)
            columns = [self.summarized(name, metric) for name in self.generators]
            results.append(clients.result(columns, self.design))
        return tuple(self._filled(result, tell) for result in results)

    def _filled(self, result: Result, tell: Callable[[], Any]) -> Result:
        terms = []
        for name, pairs in zip(self.generators, all_terms(result), strict=True):
            row = []
            for pair in pairs:
                row.append(pair)
                tell()
            terms.append(tuple(row))
            self._keep(result.name, name, self._column(name, result.name), terms=terms[-1])
            tell()
        return replace(result, terms=tuple(terms))

    def summarized(self, name: str, metric: str) -> Column:
        """The generator with its summary, which its scores are made from."""
        column = self._column(name, metric)
        self._only(metric, column)
        if column.is_summarized:
            return column
        summary, answers = self.clients[metric].summary_of(column, self.weights)
        return self._keep(metric, name, column, summary=summary, answers=answers)

    def _tried(self, name: str, metric: str) -> Column:
        """The same, with what is wrong with the generator in the place of its summary."""
        try:
            return self.summarized(name, metric)
        except InvalidInput as error:
            return self._keep(metric, name, self._column(name, metric), summary=error, answers=None)

    def _only(self, metric: str, column: Column) -> None:
        """Free what was computed of the generator before this one, which may come again at any time."""
        last, self._last = self._last, (metric, column.samples.name)
        if last != self._last and (before := self._columns.get(last)) is not None and not refusal_of(before.summary):
            self.clients[last[0]].metric.release_cache(before.summary)

    def _column(self, name: str, metric: str) -> Column:
        check_choice(metric, self.metrics, "metric")
        check_choice(name, self.generators, "name")
        return self._columns[metric, name]

    def _keep(self, metric: str, name: str, known: Column, **found: Any) -> Column:
        """The column with what was found, put in the place of what was known, unless that has changed meanwhile."""
        column = replace(known, **found)
        with self._lock:
            if self._columns.get((metric, name)) is known:
                self._columns = {**self._columns, (metric, name): column}
        return column

    def known(self, metric: str) -> Known:
        """Which scores are known; a known one may be NaN, where the metric refuses it."""
        check_choice(metric, self.metrics, "metric")
        columns = [column for (m, _), column in self._columns.items() if m == metric]
        clients = [[terms is not UNKNOWN for terms in column.terms] for column in columns]
        pooled = [self.weights in column.pooled for column in columns]
        return Known(np.array(clients, dtype=bool).reshape(len(columns), len(self.names)), np.array(pooled, dtype=bool))

    @property
    def scores(self) -> Scores:
        """What is known by now, as `evaluate` returns it, and what is not NaN; intervals come once all is known."""
        return self.scores_of(self.generators)

    def scores_of(self, names: Sequence[str]) -> Scores:
        """The same of some of the generators."""
        with self._lock:
            columns, weights, generators = self._columns, self.weights, self._generators
        generators = {name: generators[name] for name in names}
        own = {metric: [columns[metric, name] for name in generators] for metric in self.metrics}
        is_complete = all(column.is_complete(weights) for part in own.values() for column in part)
        results = []
        for metric, clients in self.clients.items():
            result = clients.result(own[metric], self.design if is_complete else None)
            results.append(clients.seeded(result, own[metric], weights))
        return self._scored(results, weights, generators)

    def scored(self, results: Sequence[Result]) -> Scores:
        """Scores of the results of `fill`."""
        return self._scored(results, self.weights, self._generators)

    def _scored(self, results: Sequence[Result], weights: Sequence[float], generators: Mapping[str, Any]) -> Scores:
        note = convention(self._given[0], self._seed, self.federation, [made for made, _ in generators.values()])
        return Scores(self.names, weights, list(generators), results, note)

    def steps(self) -> Iterator[Step]:
        """What to compute next, until all is known or a step was not run.

        Pooled scores of all generators come first, then the clients of the two best by them, then the rest; where a
        pooled score takes as much as those of all clients, these come with it. Generators and weights may change
        between steps.
        """
        while (step := self._next()) is not None:
            yield step
            if not step.is_done:  # it would come again for ever
                return

    def _next(self) -> Step | None:
        for metric, clients in self.clients.items():
            columns = [self._columns[metric, name] for name in self.generators]
            if not (clients.is_prepared or all(column.is_complete(self.weights) for column in columns)):
                return Step(f"clients for {clients.metric.label}", partial(self._prepare, metric))
            for name in self.generators:
                if (step := self._towards_all(name, metric)) is not None:
                    return step
        orders = {metric: self._best_first(metric) for metric in self.metrics}
        for part in (slice(2), slice(2, None)):
            pairs = [(metric, name) for metric, names in orders.items() for name in names[part]]
            for step_of in (self._clients_step, self._noise_step):
                if (step := next(filter(None, (step_of(name, metric) for metric, name in pairs)), None)) is not None:
                    return step
        return None

    def _towards_all(self, name: str, metric: str) -> Step | None:
        """The next piece of a generator's pooled score, unless it is known."""
        column, of = self._columns[metric, name], f"{self.clients[metric].metric.label} of {name}"
        if not column.is_summarized:
            return Step(f"rows for {of}", partial(self._tried, name, metric))
        if self.weights in column.pooled:
            return None
        first = self._clients_step(name, metric) if self.clients[metric].metric.pools_scores else None
        return first or Step(f"{of}, all clients together", partial(self.fill_all, name, metric))

    def _best_first(self, metric: str) -> list[str]:
        """The generators, those with the best pooled scores first."""
        names = list(self.generators)
        pooled = np.array([value_of(self._columns[metric, name].pooled[self.weights][0]) for name in names])
        worse = losses(self.clients[metric].metric, pooled)
        return [names[g] for g in np.argsort(worse, kind="stable")]

    def _clients_step(self, name: str, metric: str) -> Step | None:
        """As many of the unknown clients as take half a second, by how long the last ones took."""
        terms = self._columns[metric, name].terms
        missing = [[i for i in stack if terms[i] is UNKNOWN] for stack in self.clients[metric].stacks]
        stacks = [stack for stack in missing if stack][: max(1, int(self._pace[metric]))]
        some = [i for stack in stacks for i in stack]
        if not some:
            return None

        def run() -> None:
            start = time.monotonic()
            self.fill_clients(name, metric, some)
            took = max(time.monotonic() - start, 1e-4)
            self._pace[metric] = min(len(stacks) * PACE / took, 4.0 * len(stacks))

        numbers = f"client {some[0] + 1}" if len(some) == 1 else f"clients {some[0] + 1} to {some[-1] + 1}"
        return Step(f"{self.clients[metric].metric.label} of {name}, {numbers}", run)

    def _noise_step(self, name: str, metric: str) -> Step | None:
        """The noise of a generator's scores, where it is asked for and unknown."""
        if self.design is None or self._columns[metric, name].has_noise(self.weights):
            return None
        words = f"how sure {self.clients[metric].metric.label} of {name} is"
        return Step(words, partial(self.fill_noise, name, metric, PACE))
