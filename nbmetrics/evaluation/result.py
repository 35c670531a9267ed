"""One metric on all clients and generators, before any aggregate: what `Scores` is made from.

A score that the metric refuses (weights it cannot use, too few rows of a client or generator) is NaN, and the refusal
is kept: the scores that stand are shown, and `refusals` says beside them why the others do not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..errors import InvalidInput, refusal_of
from ..metrics.base import Metric, Sample, Terms, losses, terms_of
from ..summaries.stream import BadRows
from .influence import Influences
from .resampling import Replicas
from .standing import Standing, pool
from .uncertainty import Ends

if TYPE_CHECKING:
    import pandas as pd

ENDS = ("corrected", "low", "high")
EVERYTHING = (-math.inf, math.inf)
# Of a pair whose score is not computed yet.
UNKNOWN: Terms = {"not computed yet": math.nan}


class Values(NamedTuple):
    """What the tables hold of one metric, as arrays: avg and all (generators,), by_client (generators, clients)."""

    avg: np.ndarray
    all: np.ndarray
    by_client: np.ndarray


class ScoresProtocol(Protocol):
    """What figures, printed tables and tests of a gap read of `Scores`, which know them, not they it."""

    names: tuple[str, ...]
    generators: tuple[str, ...]
    metrics: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def table(self) -> pd.DataFrame: ...

    @property
    def clients(self) -> pd.DataFrame: ...

    @property
    def conventions(self) -> list[str]: ...

    @property
    def cautions(self) -> list[str]: ...

    def summary(self) -> list[str]: ...

    def label(self, metric: str) -> str: ...

    def plain_label(self, metric: str) -> str: ...

    def result(self, metric: str) -> Result: ...

    def losses(self, metric: str) -> Values: ...

    def values(self, metric: str) -> Values: ...

    def ranks(self, metric: str) -> pd.DataFrame: ...

    def inversions(self, metric: str) -> pd.DataFrame: ...


@dataclass(frozen=True, eq=False)
class Result:
    """One metric on all clients and generators: its summaries and the terms of every pair.

    A generator that answered the clients' conditions has one summary for each client in `answers` (None for the
    others); pooled with the weights they are its summary in `generated`. In the place of a summary that there is not
    stands the reason. `clients` and `generators` are what was summarised (a generator that only answered conditions
    has None). `attempts` are pooled scores that are known. `sent` is what came of each client where its rows did not.
    """

    metric: Metric[Any]
    real: tuple[Any, ...]
    generated: tuple[Any, ...]
    terms: tuple[tuple[Terms, ...], ...] = ()
    answers: tuple[tuple[Any, ...] | None, ...] = ()
    replicas: Replicas | Influences | Standing | None = None
    cautions: tuple[str, ...] = ()
    span: str = ""
    clients: tuple[Sample, ...] = ()
    generators: tuple[Sample | None, ...] = ()
    sent: tuple[Any, ...] = ()
    attempts: Mapping[tuple[str, tuple[float, ...]], Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def label(self) -> str:
        return self.metric.label

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """What generators are ranked by, lower is better."""
        return losses(self.metric, scores)

    @cached_property
    def by_client(self) -> np.ndarray:
        """Scores of shape (generators, clients)."""
        return np.array([[value_of(pair) for pair in row] for row in self.terms])

    def with_weights(self, weights: Sequence[float]) -> Result:
        """The same summaries, with the answers to the clients' conditions pooled under other weights."""
        generated, terms = list(self.generated), list(self.terms)
        for g, answers in enumerate(self.answers):
            if answers is not None:
                generated[g] = pooled_or_refused(self.metric, answers, weights)
                if not self.metric.is_conditional:
                    terms[g] = tuple(pair_terms(self.metric, self.real, generated[g], answers))
        return replace(self, generated=tuple(generated), terms=tuple(terms)) if any(self.answers) else self

    def average(self, weights: Sequence[float]) -> np.ndarray:
        """Σ λ_i D(S_i, S_G) for each generator; a client of weight 0 does not count, whatever its score."""
        counted = [(w, column) for w, column in zip(weights, self.by_client.T, strict=True) if w]
        return np.array([math.fsum(w * column[g] for w, column in counted) for g in range(len(self.generated))])

    def pooled(self, weights: Sequence[float]) -> np.ndarray:
        """D(pool(S_i), S_G) for each generator."""
        return np.array([value_of(terms) for terms in self._pooled_terms(weights)])

    def pooled_without_bias(self, weights: Sequence[float]) -> np.ndarray:
        """`pooled`, without the bias of fixed numbers of rows a client where `Metric.without_bias` takes it off."""
        found = self._attempt("without bias", weights, lambda: self._unbiased_pool(weights))
        return self.pooled(weights) if isinstance(found, InvalidInput) else found

    def _unbiased_pool(self, weights: Sequence[float]) -> np.ndarray:
        scores, together = self.pooled(weights), self._together(weights)
        for g, generated in enumerate(self.generated):
            if not math.isnan(scores[g]) and not refusal_of(together, generated):
                found = self.metric.without_bias(together, generated)
                scores[g] = scores[g] if found is None else found
        return scores

    def size_gaps(self, weights: Sequence[float]) -> np.ndarray:
        """For each generator, the avg − all there would be if all clients were alike; 0 where no metric says."""
        return np.array([gap for _, gap in self._against_all(weights)])

    def _pooled_terms(self, weights: Sequence[float]) -> Sequence[Terms]:
        return [terms for terms, _ in self._against_all(weights)]

    def _against_all(self, weights: Sequence[float]) -> Sequence[tuple[Terms, float]]:
        """The terms of the pooled clients with each generator, and the gap that their numbers of rows would make."""
        scores = self._attempt("all", weights, lambda: self._scored_pool(weights))
        return [(scores, math.nan)] * len(self.generated) if isinstance(scores, InvalidInput) else scores

    def _together(self, weights: Sequence[float]) -> Any:
        """The summary of all clients, or why there is none."""
        return self._attempt("pool", weights, lambda: pool(self.metric, self.real, weights))

    def _has_no_pool(self, weights: Sequence[float]) -> bool:
        return isinstance(self._together(weights), InvalidInput)

    def _scored_pool(self, weights: Sequence[float]) -> list[tuple[Terms, float]]:
        together = self._together(weights)
        return [scored_pool(self.metric, self.real, weights, together, s) for s in self.generated]

    def _attempt(self, what: str, weights: Sequence[float], compute: Callable[[], Any]) -> Any:
        """What `compute` gives, or the InvalidInput it raises: computed once for each weights."""
        key = what, tuple(weights)
        if key not in self._attempts:
            try:
                self._attempts[key] = compute()
            except BadRows:
                raise
            except InvalidInput as error:
                self._attempts[key] = error
        return self._attempts[key]

    @cached_property
    def _attempts(self) -> dict[tuple[str, tuple[float, ...]], Any]:
        return dict(self.attempts)

    def refusals(self, weights: Sequence[float], names: Sequence[str], generators: Sequence[str]) -> list[str]:
        """Why scores are NaN, and intervals where they were asked for: one line each; names of both sides."""
        parties = {str(s) for s in (*self.real, *self.generated) if refusal_of(s)}  # their refusals name them
        pairs = [
            (pair, "" if _is_of(parties, pair) else f"client {name!r} with generator {generator!r}, ")
            for row, generator in zip(self.terms, generators, strict=True)
            for pair, name in zip(row, names, strict=True)
        ]
        pooled = [
            (pair, "" if self._has_no_pool(weights) or _is_of(parties, pair) else f"generator {generator!r}, ")
            for pair, generator in zip(self._pooled_terms(weights), generators, strict=True)
        ]
        cells = {"": (pairs, "pairs of client and generator"), " all": (pooled, "generators")}
        lines = []
        for part, (outcomes, unit) in cells.items():
            refused: dict[tuple[str, str], list[str]] = {}  # one line for each side and reason
            for terms, who in outcomes:
                if isinstance(terms, InvalidInput):
                    kind = f"{who}{terms.argument}".partition("'")[0], _NUMBERS.sub("", terms.seen.replace("-", ""))
                    refused.setdefault(kind, []).append(f"{who}{terms}")
            for said in refused.values():
                share = f" for {len(said)} of {len(outcomes)} {unit}" if len(said) < len(outcomes) else ""
                lines.append(f"{self.label}{part} has no value{share}: {said[0]}")
        if isinstance(self.replicas, Standing) and self.replicas.replicas is not None:
            seen = f"{len(self.replicas.places)} of {len(self.generated)} generators alone"
            lines.append(f"{self.label} has intervals for {seen}: {self.replicas.refusal}")
        asked = (self._attempts.get((f"{part} ends", tuple(weights))) for part in ("avg", "all", "gap", "client"))
        refusal = next((ends for ends in asked if isinstance(ends, InvalidInput)), None)
        return lines if _is_of(parties, refusal) else [*lines, f"{self.label} has no intervals: {refusal}"]

    def remarks(self, weights: Sequence[float]) -> list[str]:
        """Which scores or intervals are to be read with caution, or are missing for want of rows."""
        together, pooled = self._together(weights), self._pooled_terms(weights)
        cautions = []
        for g, row, of_all in zip(self.generated, self.terms, pooled, strict=True):
            pairs = zip((*self.real, together), (*row, of_all), strict=True)
            known = ((s, t) for s, t in pairs if t is not UNKNOWN and not refusal_of(s, g))
            found = ("" if isinstance(t, InvalidInput) else self.metric.caution(s, g) for s, t in known)
            cautions += [caution for caution in found if caution is not None]
        lines = remarked(self.label, cautions)
        if isinstance(self.replicas, Influences | Standing):
            lines += remarked(self.label, self.replicas.cautions(weights))
        return list(dict.fromkeys(lines))

    def intervals(self, weights: Sequence[float], avg: np.ndarray) -> dict[str, np.ndarray]:
        """Columns `<part>_corrected`, `_low` and `_high` of avg, all and gap; none without uncertainty."""
        if self.replicas is None:
            return {}
        pooled = self.pooled_without_bias(weights)
        parts = {"avg": (avg, self._range), "all": (pooled, self._range), "gap": (avg - pooled, EVERYTHING)}
        columns = {part: self._ends(weights, part, *given) for part, given in parts.items()}
        return {f"{part}_{end}": column for part, ends in columns.items() for end, column in ends.items()}

    def client_intervals(self, weights: Sequence[float]) -> dict[str, np.ndarray]:
        """Columns corrected, low and high of each client's score, generators by clients."""
        ends = self._ends(weights, "client", self.by_client, self._range)
        return {end: column.ravel() for end, column in ends.items()}

    def _ends(
        self, weights: Sequence[float], part: str, estimate: np.ndarray, edges: tuple[float, float]
    ) -> dict[str, np.ndarray]:
        """NaN where a replicate is refused; within the edges, beyond which no score lies."""
        if self.replicas is None:
            return {}
        compute = partial(self.replicas.ends, weights, part, estimate)
        ends = self._attempt(part + " ends", weights, compute)
        if isinstance(ends, InvalidInput):
            ends = Ends(*[np.full_like(estimate, np.nan)] * 3)
        return dict(zip(ENDS, (np.clip(column, *edges) for column in ends), strict=True))

    @property
    def _range(self) -> tuple[float, float]:
        """Beyond which no score lies."""
        return float(self.metric.lowest), float(self.metric.highest)


_NUMBERS = re.compile(r"[0-9][0-9.,e+−-]*")


def remarked(label: str, cautions: Sequence[str]) -> list[str]:
    """One line for each kind of caution, one caution ("" for none) for each score."""
    by_kind: dict[str, list[str]] = {}
    for line in filter(None, cautions):
        by_kind.setdefault(_NUMBERS.sub("", line), []).append(line)
    unit = "scores (of each client, and of all, by generator)"
    first = {kind: ", the first" * (len({*lines}) > 1) for kind, lines in by_kind.items()}  # its numbers are its own
    return [f"{label}, {len(lines)} of {len(cautions)} {unit}{first[k]}: {lines[0]}." for k, lines in by_kind.items()]


def all_terms(result: Result) -> Iterable[Iterable[Terms]]:
    """The terms of every pair, generator by generator."""
    if not (result.metric.is_conditional and any(result.answers)):
        return whole_terms(result.metric, result.real, result.generated)
    sides = zip(result.generated, result.answers, strict=True)
    return (pair_terms(result.metric, result.real, summary, answers) for summary, answers in sides)


def whole_terms(metric: Metric[Any], clients: Sequence[Any], generators: Sequence[Any]) -> Iterator[Iterator[Terms]]:
    """Those of each generator, whole, with each client; the metric sees all that have summaries at once."""
    real, made = ([s for s in side if not refusal_of(s)] for side in (clients, generators))
    rows = iter(metric.all_terms(real, made) if real and made else ())
    for generated in generators:
        pairs = iter(() if refusal_of(generated) else next(rows, ()))
        yield (refusal_of(client, generated) or next(pairs) for client in clients)


def pooled_or_refused(metric: Metric[Any], answers: Sequence[Any], weights: Sequence[float]) -> Any:
    """The summary of answers, or why there is none."""
    try:
        return pool(metric, answers, weights)
    except InvalidInput as error:
        return error


def pair_terms(
    metric: Metric[Any], real: Sequence[Any], generated: Any, answers: Sequence[Any] | None
) -> Iterator[Terms]:
    """The terms of each client with one generator: with its answers to that client, or with all of it."""
    own = answers if answers is not None and metric.is_conditional else [generated] * len(real)
    return (terms_of(metric, client, summary) for client, summary in zip(real, own, strict=True))


def scored_pool(
    metric: Metric[Any], real: Sequence[Any], weights: Sequence[float], together: Any, generated: Any
) -> tuple[Terms, float]:
    """The terms of the pooled clients with one generator, and the gap that their numbers of rows would make."""
    if refusal := refusal_of(together, generated):
        return refusal, math.nan
    terms = terms_of(metric, together, generated)
    if refusal_of(*(summary for summary, weight in zip(real, weights, strict=True) if weight)):
        return terms, math.nan  # there is no avg
    clients, shares = zip(*(pair for pair in zip(real, weights, strict=True) if not refusal_of(pair[0])), strict=True)
    return terms, metric.size_gap(clients, shares, together, generated)


def _is_of(parties: set[str], found: Any) -> bool:
    """Whether what was found is no refusal, or one that names its party, wherever it was made."""
    return not isinstance(found, InvalidInput) or str(found) in parties


def value_of(terms: Terms) -> float:
    return math.nan if isinstance(terms, InvalidInput) else math.fsum(terms.values())
