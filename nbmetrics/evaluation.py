"""evaluate(): summaries of every client and generator, once; from them every score, client by client.

Flow: check the input → settle the metrics on the federation → exact laws where a metric has a closed form,
rows otherwise → summarise → terms of each client–generator pair → `Scores`, which aggregates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from .arrays import as_rows
from .errors import InvalidInput, check_choice, check_count, check_names, shown
from .federation import Client, Federation, Generator, as_generators
from .metrics import Sample, metric_of
from .scores import Result, Scores, is_conditional, pair_terms

DRAWN = 10_000


def evaluate(
    federation: Any,
    generators: Any,
    metrics: Any = ("fid", "kid"),
    *,
    samples: int | None = None,
    seed: int = 0,
    uncertainty: Any = None,
    progress: str | bool = "auto",
    cluster: Any = None,
) -> Scores:
    """Every metric for every client and generator, averaged over clients and on the pooled data.

    Parameters
    ----------
    federation : `Federation`, or a list of clients that makes one
    generators : list of `Generator`, or dict name -> source
    metrics : names, `Metric` objects, or one of either
    samples : None for exact values where a metric has a closed form for the distributions given, and 10,000
        rows otherwise; a number to draw that many rows on each side always (the clients share theirs in
        proportion to their weights). Rows given as data are used as they are.
    seed : of everything drawn

    Where all clients carry a condition x, a generator that is a function is called as `(x, rng) -> ŷ`, once for
    each client. Conditional metrics (mfid, rfid, jfid, cfid) compare each client with the answers to its own x,
    and for *all* pool both sides; the others see the generator as the law P_G = Σ λ_i P(ŷ | x of client i), so
    that for them *avg* and *all* share one generator, which depends on the weights.

    progress : "auto" shows a bar after a second; True or False

    Returns
    -------
    Scores

    Raises
    ------
    InvalidInput
        Naming the argument, what was seen and how to mend it.
    """
    if uncertainty is not None or cluster is not None:
        raise InvalidInput("uncertainty/cluster", "is not there yet in this version", "Leave it out")
    if not isinstance(federation, Federation):
        federation = Federation(federation)
    named = as_generators(generators)
    seed = check_count(seed, "seed", minimum=0)
    if samples is not None:
        check_count(samples, "samples", minimum=2 * len(federation))
    settled = _metrics(metrics, federation)
    clients = _ClientSamples(federation, samples, seed)
    kind = _Answers if federation.is_conditional else _GeneratorSample
    made = [kind(g, samples, [seed, 1, i], federation) for i, g in enumerate(named)]
    steps = len(settled) * (len(federation) + len(named) * (len(federation) + 1))
    with _bar(progress, steps) as bar:
        results = tuple(_result(metric, clients, made, federation.weights, bar) for metric in settled)
    drawn = "exact where a closed form exists" if samples is None else f"{samples} rows drawn for each law"
    return Scores(federation.names, federation.weights, [g.name or "" for g in named], results, f"{drawn}; seed {seed}")


def _metrics(metrics: Any, federation: Federation) -> list[Any]:
    listed = [metrics] if isinstance(metrics, (str, type)) or not isinstance(metrics, Iterable) else list(metrics)
    if not listed:
        raise InvalidInput("metrics", "is empty", "Give at least one, such as 'fid'")
    found = [metric_of(item) for item in listed]
    check_names([m.name for m in found], "metrics")
    samples = [client.to_sample() for client in federation]
    return [m.resolve(samples) if hasattr(m, "resolve") else m for m in found]


def _bar(progress: Any, steps: int) -> Any:
    if not isinstance(progress, bool):
        check_choice(progress, ("auto",), "progress")
    from tqdm.auto import tqdm

    return tqdm(total=steps, disable=progress is False, delay=1.0 if progress == "auto" else 0.0, leave=False)


def _result(
    metric: Any, clients: _ClientSamples, generators: Sequence[Any], weights: Sequence[float], bar: Any
) -> Result:
    real = []
    for position in range(len(clients)):
        sample = clients.of(position, metric)
        real.append(_summary(metric, sample, clients.names[position], f"client {clients.names[position]!r}"))
        bar.update()
    generated = [_generated(metric, generator, weights) for generator in generators]
    terms = []
    for summary, answers in generated:
        row = []
        for pair in pair_terms(metric, real, summary, answers):
            row.append(pair)
            bar.update()
        terms.append(tuple(row))
        bar.update()
    made, answered = zip(*generated, strict=True)
    return Result(metric, tuple(real), made, tuple(terms), answered)


def _generated(metric: Any, generator: Any, weights: Sequence[float]) -> tuple[Any, tuple[Any, ...] | None]:
    """The summary of a generator, and those of its answers to each client where it gave some."""
    who = f"generator {generator.name!r}"
    samples = generator.answers(metric)
    if samples is None:
        return _summary(metric, generator.of(metric), generator.name, who), None
    answers = tuple(_summary(metric, sample, generator.name, who) for sample in samples)
    return metric.pool(answers, weights), answers


def _summary(metric: Any, sample: Sample, name: str, who: str) -> Any:
    try:
        return metric.summarize(sample)
    except InvalidInput as error:
        raise InvalidInput(who, str(error), f"(while computing {metric.name})") from error


def _takes(metric: Any, law: Any) -> bool:
    return getattr(metric, "has_closed_form", lambda _: False)(law)


class _ClientSamples:
    """The clients as a metric needs them: exact where it can, else rows drawn once for all metrics."""

    def __init__(self, federation: Federation, samples: int | None, seed: int) -> None:
        self.names = federation.names
        self._clients = federation.clients
        self._counts = _shares(federation.weights, DRAWN if samples is None else samples)
        self._exact = samples is None
        self._seed = seed
        self._drawn: dict[int, Sample] = {}

    def __len__(self) -> int:
        return len(self._clients)

    def of(self, position: int, metric: Any) -> Sample:
        client = self._clients[position]
        if client.rows is not None or (self._exact and _takes(metric, client.distribution)):
            return client.to_sample()
        if position not in self._drawn:
            rng = np.random.default_rng([self._seed, 0, position])
            self._drawn[position] = _rows_of(client, self._counts[position], rng)
        return self._drawn[position]


def _rows_of(client: Client, count: int, rng: np.random.Generator) -> Sample:
    rows = as_rows(client.distribution.sample(count, rng), f"rows of client {shown(client.name)}", dim=client.dim)
    return Sample(rows=rows, test=client.test)


def _shares(weights: Sequence[float], n: int) -> list[int]:
    """`n` rows split in proportion to the weights by largest remainders, at least 2 each."""
    exact = np.asarray(weights) * n
    counts = np.floor(exact).astype(int)
    for position in np.argsort(counts - exact)[: n - counts.sum()]:
        counts[position] += 1
    return [max(2, int(c)) for c in counts]


class _GeneratorSample:
    """A generator as a metric needs it: exact where it can, else rows drawn once for all metrics."""

    def __init__(self, generator: Generator, samples: int | None, seed: Any, federation: Federation) -> None:
        self.name = generator.name or ""
        self._given = generator.draw(DRAWN if samples is None else samples, seed, dim=federation.dim)
        self._exact = samples is None
        self._draw = partial(self._given_rows, DRAWN if samples is None else samples, seed)
        self._rows: Sample | None = self._given if self._given.rows is not None else None

    def _given_rows(self, n: int, seed: Any) -> Sample:
        law = self._given.distribution
        rows = law.sample(n, np.random.default_rng(seed))
        return Sample(rows=as_rows(rows, f"rows from generator {self.name!r}", dim=law.dim))

    def answers(self, metric: Any) -> None:
        """No client carries a condition."""
        return None

    def of(self, metric: Any) -> Sample:
        if self._rows is None and self._exact and _takes(metric, self._given.distribution):
            return self._given
        if self._rows is None:
            self._rows = self._draw()
        return self._rows


class _Answers:
    """A generator beside clients with a condition: what it answers to each, drawn once for all metrics."""

    def __init__(self, generator: Generator, samples: int | None, seed: Any, federation: Federation) -> None:
        self.name = generator.name or ""
        self._generator, self._seed, self._federation = generator, seed, federation
        self._whole: Any = None if generator.answers else _GeneratorSample(generator, samples, seed, federation)
        self._drawn: tuple[Sample, ...] | None = None

    def answers(self, metric: Any) -> tuple[Sample, ...] | None:
        """One sample for each client; None where the metric looks at outputs alone and the generator needs no x."""
        if self._whole is not None and not is_conditional(metric):
            return None
        if self._drawn is None:
            dim = self._federation.dim
            streams = [[*self._seed, 2, c] for c in range(len(self._federation))]
            pairs = zip(self._federation, streams, strict=True)
            self._drawn = tuple(self._generator.answer(client.condition, s, dim=dim) for client, s in pairs)
        return self._drawn

    def of(self, metric: Any) -> Sample:
        """Its rows or law, where `answers` gives none."""
        return cast(Sample, self._whole.of(metric))
