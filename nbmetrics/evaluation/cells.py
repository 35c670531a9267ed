"""The scores of one metric as one immutable table: a cell for each generator with each client, and with all pooled.

A cell is a value with its terms, or the refusal of a metric (weights it cannot use, too few rows): such a score is NaN,
and `Cells.refusals` says why beside the scores that stand. In the place of a summary that there is not stands the
refusal, so that it is found again in every cell that would need the summary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, refusal_of
from ..metrics.base import Metric, Sample, Terms, losses, rows_refusal, terms_of
from ..metrics.generator_only import GeneratorOnly
from ..metrics.stratified import merge_shared
from ..summaries.rows import Rows
from ..summaries.stream import BadRows
from .noise import CellNoise
from .resampling import Ends

if TYPE_CHECKING:
    pass

PARTS = ("avg", "all", "gap", "client")
BY_CLIENT_PARTS = ("intra", "own")
# What an InvalidInput is about where it is the call's, not some party's rows: no metric of this name would stand.
SETTINGS = {"metrics", "method", "kernel", "condition", "condition_dim"}
# A gap that sample size explains is worth a caution from this share of it, and above this share of the traces.
MIN_SHARE_OF_GAP, MIN_SHARE_OF_TRACE = 0.1, 1e-4
_NUMBERS = re.compile(r"[0-9][0-9.,e+−-]*")


class Cell(NamedTuple):
    """One score: its value with its terms, or NaN with the refusal.

    `size_gap`, of a pooled score, is the avg − all there would be if all clients were alike; NaN where nobody knows.
    """

    value: float
    terms: Mapping[str, float] = {}
    refusal: InvalidInput | None = None
    size_gap: float = math.nan

    @classmethod
    def of(cls, terms: Terms, size_gap: float = math.nan) -> Cell:
        """From what a metric gives for a pair."""
        if isinstance(terms, InvalidInput):
            return cls(math.nan, {}, terms, size_gap)
        return cls(math.fsum(terms.values()), terms, None, size_gap)


# Of a pair whose score is not computed yet.
NOT_COMPUTED = Cell(math.nan)


class PoolOnlyClient(InvalidInput):
    """Why a client has no score of its own; its rows are part of the pool all the same.

    Attributes
    ----------
    part : what they add to it, a summary
    """

    def __init__(self, refusal: InvalidInput, part: Any) -> None:
        super().__init__(refusal.argument, refusal.seen, refusal.fix)
        self.part = part

    def __reduce__(self) -> tuple[Any, ...]:
        return PoolOnlyClient, (InvalidInput(self.argument, self.seen, self.fix), self.part)


class RemoteSummary(InvalidInput):
    """In the place of a summary that stayed where it was made: the score stands, the summary cannot be pooled anew.

    Attributes
    ----------
    nbytes, count : of the summary, and of its rows where it says so
    """

    def __init__(self, label: str, nbytes: int, count: float | None = None) -> None:
        fix = "Evaluate again under these weights, or allow more by nm.set_memory_limit(megabytes)"
        super().__init__("cluster", f"left out the clients' summaries of {label}, which are too large to send", fix)
        self.label, self.nbytes, self.count = label, nbytes, count

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteSummary, (self.label, self.nbytes, self.count)


class UnweightableRows(InvalidInput):
    """Why a generator with one distribution for each client has no summary under a metric that cannot weight rows."""

    def __init__(self, label: str) -> None:
        seen = f"has no avg and no all under {label}, which cannot weight rows"
        super().__init__("a generator with one distribution for each client", seen, "Read intra")
        self.label = label

    def __reduce__(self) -> tuple[Any, ...]:
        return UnweightableRows, (self.label,)


def part_of(summary: Any) -> Any:
    """Return what a client adds to the pool: its summary, or that of its few rows; or why nothing."""
    return summary.part if isinstance(summary, PoolOnlyClient) else summary


def is_of_call(error: InvalidInput) -> bool:
    """Whether the call is refused, and not the rows of one party, whose scores alone are missing then."""
    return error.argument in SETTINGS


def summarize(metric: Metric[Any], sample: Sample, who: str, *, is_client: bool = False) -> Any:
    """Return a summary, or why these rows give none, or are not there; raise where it is not about them.

    Of a client whose rows are too few for a score, the refusal holds what they add to the pool.
    """
    if sample.moments is not None and (refusal := rows_refusal(metric, sample, who)):
        if is_client and isinstance(metric, GeneratorOnly):
            return metric.summarize(metric.unread_client(sample.dim))
        return refusal
    try:
        return metric.summarize(sample)
    except BadRows:
        raise
    except InvalidInput as error:
        refusal = error.of(f"{who}, {metric.name}")
        if is_of_call(error):
            raise refusal from None
    part = metric.single_row_summary(sample) if is_client else None
    return refusal if part is None else PoolOnlyClient(refusal, part)


def pool(metric: Metric[Any], summaries: Sequence[Any], weights: Sequence[float]) -> Any:
    """Return the summary of the mixture; InvalidInput where that of a client with a weight was refused.

    Rows too few for a score of their own are part of the mixture, save where there are no others.
    """
    weighed = [summary for summary, weight in zip(summaries, weights, strict=True) if weight]
    if len(weighed) == 1 and (refusal := refusal_of(*weighed)):
        raise refusal
    parts, shares = [], []
    for summary, weight in zip(summaries, weights, strict=True):
        part = summary.part if isinstance(summary, PoolOnlyClient) else summary
        if isinstance(part, InvalidInput):
            if weight:
                raise part
        else:
            parts.append(part)
            shares.append(weight)
    return metric.pool(parts, shares)


def pool_or_refusal(metric: Metric[Any], summaries: Sequence[Any], weights: Sequence[float]) -> Any:
    """Return the summary of a mixture, or why there is none."""
    try:
        return pool(metric, summaries, weights)
    except InvalidInput as error:
        return error


def mixture_or_refusal(metric: Metric[Any], answers: Sequence[Any], weights: Sequence[float]) -> Any:
    """Return the summary of Σ λ_i P_i of a generator with one distribution for each client, or why there is none."""
    parts, shares = merge_shared(answers, weights)
    weighty = [part for part, share in zip(parts, shares, strict=True) if share]
    if len(weighty) == 1:
        return weighty[0]
    if any(isinstance(part_of(part), Rows) for part in weighty):
        return UnweightableRows(metric.label)
    return pool_or_refusal(metric, parts, shares)


def terms_with_whole(
    metric: Metric[Any], clients: Sequence[Any], generators: Sequence[Any]
) -> Iterator[Iterator[Terms]]:
    """Yield the terms of each generator, whole, with each client; the metric sees all that have summaries at once."""
    real, generated = ([s for s in side if not refusal_of(s)] for side in (clients, generators))
    rows = iter(metric.all_terms(real, generated) if real and generated else ())
    for summary in generators:
        pairs = iter(() if refusal_of(summary) else next(rows, ()))
        yield (refusal_of(client, summary) or next(pairs) for client in clients)


def missing_terms(
    metric: Metric[Any], clients: Sequence[Any], generators: Sequence[Any], missing: Sequence[Sequence[int]]
) -> Iterator[tuple[int, Iterable[Terms]]]:
    """Yield the place of each generator, and its terms with the clients whose places are in `missing`, in that order.

    Generators that miss the same clients come together, so that a metric sees as many at once as it can.
    """
    alike: dict[tuple[int, ...], list[int]] = {}
    for g, places in enumerate(missing):
        alike.setdefault(tuple(places), []).append(g)
    for places, which in alike.items():
        rows = terms_with_whole(metric, [clients[i] for i in places], [generators[g] for g in which])
        yield from zip(which, rows, strict=True)


def terms_with_answers(
    metric: Metric[Any], real: Sequence[Any], generated: Any, answers: Sequence[Any] | None
) -> Iterator[Terms]:
    """Yield the terms of each client with one generator: with its answers to that client, or with all of it."""
    own = answers if answers is not None and metric.is_conditional else [generated] * len(real)
    return (terms_of(metric, client, summary) for client, summary in zip(real, own, strict=True))


def pooled_cell(
    metric: Metric[Any], real: Sequence[Any], weights: Sequence[float], together: Any, generated: Any
) -> Cell:
    """Return the score of the pooled clients with one generator, and the gap that their numbers of rows would make."""
    if refusal := refusal_of(together, generated):
        return Cell(math.nan, {}, refusal)
    terms = terms_of(metric, together, generated)
    pairs = [pair for pair in zip(real, weights, strict=True) if not isinstance(pair[0], InvalidInput)]
    if sum(weight != 0 for _, weight in pairs) < sum(weight != 0 for weight in weights):
        return Cell.of(terms)  # there is no avg
    clients, shares = zip(*pairs, strict=True)
    return Cell.of(terms, metric.size_gap(clients, shares, together, generated))


class Values(NamedTuple):
    """What the tables hold of one metric, as arrays: avg and all (generators,), by_client (generators, clients)."""

    avg: np.ndarray
    all: np.ndarray
    by_client: np.ndarray


class KeptCells:
    """Scores that were kept from before, by the places of generator and client (None: all pooled); here, none."""

    def find(self, g: int, i: int | None, *, own: bool = False) -> Cell | None:
        """Return a score, None where it is not kept; `own` : with what the generator made for that client alone."""
        return None

    def keep(self, g: int, i: int | None, cell: Cell, *, own: bool = False) -> None:
        """Keep a score that was computed."""


@dataclass(frozen=True, eq=False)
class Cells:
    """One metric on all clients and generators under some weights: its cells, and the summaries they are made from.

    A generator that answered the clients' conditions, or has one distribution for each client (`is_by_client`), has one
    summary for each client in `answers` (None for the others); pooled with the weights they are its summary in
    `generated`. `own_cells` are the scores of the clients with their own answers, () where no generator has such. In
    the place of a summary that there is not stands the reason. `clients` and `generators` are what was summarised (a
    generator that only answered conditions has None); `own_samples` what one made for each client. `pools` and `pooled`
    are what is known by weights: the summary of all clients, and its cells; what is not known is computed when it is
    asked for. `sent` is what came of each client where its rows did not.
    """

    metric: Metric[Any]
    weights: tuple[float, ...]
    real: tuple[Any, ...]
    generated: tuple[Any, ...]
    client_cells: tuple[tuple[Cell, ...], ...] = ()
    answers: tuple[tuple[Any, ...] | None, ...] = ()
    noise: CellNoise | None = None
    cautions: tuple[str, ...] = ()
    span: str = ""
    clients: tuple[Sample, ...] = ()
    generators: tuple[Sample | None, ...] = ()
    sent: tuple[Any, ...] = ()
    is_by_client: tuple[bool, ...] = ()
    own_samples: tuple[tuple[Sample, ...], ...] = ()
    own_cells: tuple[tuple[Cell, ...], ...] = ()
    pools: Mapping[tuple[float, ...], Any] = field(default_factory=dict)
    pooled: Mapping[tuple[float, ...], tuple[Cell, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def label(self) -> str:
        return self.metric.label

    @property
    def convention(self) -> str:
        """How the numbers were made, and of which rows."""
        pooled = "" if isinstance(self.together, InvalidInput) else self.metric.pooled_convention(self.together)
        return "; ".join([self.metric.convention or self.label, self.span, *filter(None, [pooled])])

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """What generators are ranked by, lower is better."""
        return losses(self.metric, scores)

    def with_scores(self, tell: Callable[[], Any], kept: KeptCells) -> Cells:
        """The table with the score of every generator with every client, and with all of them pooled.

        `tell` is called after each; those that were `kept` are not computed. What is computed of a generator goes
        before the next one comes.
        """
        places = range(len(self.real))
        rows: list[list[Any]] = [[kept.find(g, i) for i in places] for g in range(len(self.generated))]
        missing = [[i for i in places if row[i] is None] for row in rows]
        pooled: list[Cell] = [NOT_COMPUTED] * len(rows)
        for g, pairs in self._terms_of(missing):
            for _ in range(len(places) - len(missing[g])):
                tell()
            for i, terms in zip(missing[g], pairs, strict=True):
                rows[g][i] = Cell.of(terms)
                kept.keep(g, i, rows[g][i])
                tell()
            if (cell := kept.find(g, None)) is None:
                kept.keep(g, None, cell := self._pooled_cell(self.generated[g]))
            pooled[g] = cell
            tell()
            if not refusal_of(summary := self.generated[g]):
                self.metric.release_cache(summary)
        known = {self.weights: self.together}, {self.weights: tuple(pooled)}
        own = tuple([tuple(self._own_cells(g, kept)) for g in range(len(rows))]) if any(self.is_by_client) else ()
        return replace(self, client_cells=tuple(map(tuple, rows)), own_cells=own, pools=known[0], pooled=known[1])

    def _own_cells(self, g: int, kept: KeptCells) -> Iterator[Cell]:
        """The score of each client with what one generator made for it; none where it has one distribution."""
        for i, answer in enumerate(self.answers[g] or () if self.is_by_client[g] else ()):
            if (cell := kept.find(g, i, own=True)) is None:
                kept.keep(g, i, cell := Cell.of(terms_of(self.metric, self.real[i], answer)), own=True)
            if not refusal_of(answer):
                self.metric.release_cache(answer)
            yield cell

    def _terms_of(self, missing: Sequence[Sequence[int]]) -> Iterator[tuple[int, Iterable[Terms]]]:
        """Each generator, and its terms with the clients whose scores are missing."""
        if not (self.metric.is_conditional and any(self.answers)):
            yield from missing_terms(self.metric, self.real, self.generated, missing)
            return
        for g, (summary, answers) in enumerate(zip(self.generated, self.answers, strict=True)):
            real = [self.real[i] for i in missing[g]]
            chosen = None if answers is None else [answers[i] for i in missing[g]]
            yield g, terms_with_answers(self.metric, real, summary, chosen)

    def with_weights(self, weights: Sequence[float]) -> Cells:
        """The same summaries, with the answers to the clients' conditions pooled under other weights."""
        if tuple(weights) == self.weights:
            return self
        generated, client_cells = list(self.generated), list(self.client_cells)
        for g, answers in enumerate(self.answers):
            if answers is not None:
                is_by_client = any(self.is_by_client) and self.is_by_client[g]
                pooled = mixture_or_refusal if is_by_client else pool_or_refusal
                generated[g] = pooled(self.metric, answers, weights)
                if not self.metric.is_conditional:
                    terms = terms_with_answers(self.metric, self.real, generated[g], answers)
                    client_cells[g] = tuple(map(Cell.of, terms))
        return replace(self, weights=tuple(weights), generated=tuple(generated), client_cells=tuple(client_cells))

    @cached_property
    def by_client(self) -> np.ndarray:
        """Scores of shape (generators, clients)."""
        return np.array([[cell.value for cell in row] for row in self.client_cells])

    @cached_property
    def avg(self) -> np.ndarray:
        """Σ λ_i D(S_i, S_G) for each generator; a client of weight 0 does not count, whatever its score."""
        return self._average(self.by_client)

    @cached_property
    def all(self) -> np.ndarray:
        """D(pool(S_i), S_G) for each generator."""
        return np.array([cell.value for cell in self.pooled_cells])

    @property
    def aggregates(self) -> tuple[str, ...]:
        """The names of the aggregates: avg and all, after intra where some generator has one distribution a client."""
        return ("intra", "avg", "all") if self.own_cells else ("avg", "all")

    @cached_property
    def own(self) -> np.ndarray:
        """Scores (generators, clients) of each client with what the generator made for it."""
        rows = self.own_cells or ((),) * len(self.client_cells)
        return np.array([[c.value for c in own or row] for own, row in zip(rows, self.client_cells, strict=True)])

    @cached_property
    def intra(self) -> np.ndarray:
        """Σ λ_i D(S_i, S_G,i) for each generator."""
        return self._average(self.own)

    def _average(self, scores: np.ndarray) -> np.ndarray:
        """The weighted mean over clients of scores (generators, clients); one of weight 0 does not count."""
        counted = [(w, column) for w, column in zip(self.weights, scores.T, strict=True) if w]
        return np.array([math.fsum(w * column[g] for w, column in counted) for g in range(len(self.generated))])

    @cached_property
    def together(self) -> Any:
        """The summary of all clients, or why there is none."""
        if self.weights in self.pools:
            return self.pools[self.weights]
        try:
            return pool(self.metric, self.real, self.weights)
        except BadRows:
            raise
        except InvalidInput as error:
            return error

    @cached_property
    def pooled_cells(self) -> tuple[Cell, ...]:
        """The cells of the pooled clients with each generator."""
        if self.weights in self.pooled:
            return self.pooled[self.weights]
        return tuple([self._pooled_cell(summary) for summary in self.generated])

    def _pooled_cell(self, generated: Any) -> Cell:
        """The cell of the pooled clients with one generator; a refusal is its own."""
        try:
            return pooled_cell(self.metric, self.real, self.weights, self.together, generated)
        except BadRows:
            raise
        except InvalidInput as error:
            return Cell(math.nan, {}, error)

    @property
    def size_gaps(self) -> np.ndarray:
        """For each generator, the avg − all there would be if all clients were alike; 0 where no metric says."""
        return np.array([cell.size_gap for cell in self.pooled_cells])

    @cached_property
    def all_without_bias(self) -> np.ndarray:
        """`all`, without the bias of fixed numbers of rows a client where `Metric.without_bias` takes it off."""
        scores = self.all.copy()
        try:
            for g, summary in enumerate(self.generated):
                if not math.isnan(scores[g]) and not refusal_of(self.together, summary):
                    corrected = self.metric.without_bias(self.together, summary)
                    scores[g] = scores[g] if corrected is None else corrected
        except BadRows:
            raise
        except InvalidInput:
            return self.all
        return scores

    def refusals(self, names: Sequence[str], generators: Sequence[str]) -> list[str]:
        """Why scores are NaN, and intervals where they were asked for: one line each; names of both sides."""
        lines: list[str] = []
        # The refusals of summaries name their party.
        answers = [answer for own in self.answers for answer in own or ()]
        parties = {str(s) for s in (*self.real, *self.generated, *answers) if isinstance(s, InvalidInput)}
        pairs = [
            (cell.refusal, f"client {name!r} with generator {generator!r}, ")
            for row, generator in zip(self.client_cells, generators, strict=True)
            for cell, name in zip(row, names, strict=True)
        ]
        has_pool = not isinstance(self.together, InvalidInput)
        pooled = [
            (cell.refusal, f"generator {generator!r}, " if has_pool else "")
            for cell, generator in zip(self.pooled_cells, generators, strict=True)
        ]
        own = [
            (cell.refusal, f"client {name!r} with generator {generator!r}, ")
            for row, generator in zip(self.own_cells, generators, strict=False)
            for cell, name in zip(row, names, strict=False)
        ]
        of_pairs, avg = "pairs of client and generator", " avg" if own else ""
        for part, outcomes, unit in ((avg, pairs, of_pairs), (" intra", own, of_pairs), (" all", pooled, "generators")):
            by_kind: dict[tuple[str, str], list[str]] = {}  # one line for each side and reason
            for refusal, pair in outcomes:
                if refusal is not None:
                    who = "" if str(refusal) in parties else pair
                    kind = f"{who}{refusal.argument}".partition("'")[0], _NUMBERS.sub("", refusal.seen.replace("-", ""))
                    by_kind.setdefault(kind, []).append(f"{who}{refusal}")
            for reasons in by_kind.values():
                share = f" for {len(reasons)} of {len(outcomes)} {unit}" if len(reasons) < len(outcomes) else ""
                lines.append(f"{self.label}{part} has no value{share}: {reasons[0]}")
        return [*lines, *self._interval_refusals(parties)] if self.noise is not None else lines

    def _interval_refusals(self, parties: set[str]) -> Iterator[str]:
        """Why intervals that were asked for are missing, those apart whose refusals name their party."""
        noise = self.noise
        if noise is not None and noise.source is not None and any(noise.refusals):
            share = f"{len(noise.places)} of {len(self.generated)} generators only"
            yield f"{self.label} has intervals for {share}: {noise.refusal}"
        ends = [self._ends[part] for part in (*PARTS, *BY_CLIENT_PARTS) if part in self._ends]
        refusal = refusal_of(*ends)
        if refusal is not None and str(refusal) not in parties:
            yield f"{self.label} has no intervals: {refusal}"

    def remarks(self) -> list[str]:
        """Which scores or intervals are to be read with caution, or are missing for want of rows."""
        cautions: list[str] = []
        for summary, row, of_all in zip(self.generated, self.client_cells, self.pooled_cells, strict=True):
            for real, cell in zip((*self.real, self.together), (*row, of_all), strict=True):
                if (
                    cell is not NOT_COMPUTED
                    and not isinstance(real, InvalidInput)
                    and not isinstance(summary, InvalidInput)
                ):
                    caution = "" if cell.refusal is not None else self.metric.caution(real, summary)
                    cautions += [] if caution is None else [caution]
        lines = caution_lines(self.label, cautions) if any(cautions) else []
        if not isinstance(self.together, InvalidInput):
            caution = self.metric.pooled_caution(self.together, self.all.tolist())
            own_bias = "; parts made for each client add a bias of their own" * any(self.is_by_client)
            plain = "" if self.noise is None else "plain "
            lines += [f"{plain}{self.label} all: {caution}{own_bias}."] if caution else []
        if self.noise is not None:
            lines += caution_lines(self.label, self.noise.cautions(self.weights))
        return list(dict.fromkeys(lines))

    def size_gap_caution(self, generators: Sequence[str]) -> list[str]:
        """Says where the numbers of rows alone explain much of a gap, which would read as heterogeneity."""
        expected = np.array([cell.size_gap for cell in self.pooled_cells])
        if not (expected > 0.0).any():
            return []
        gaps = self.avg - self.all
        scale = [math.nan if isinstance(s, InvalidInput) else self.metric.scale(s) for s in self.generated]
        which = np.flatnonzero(
            (expected >= MIN_SHARE_OF_GAP * np.abs(gaps)) & (expected > MIN_SHARE_OF_TRACE * np.array(scale))
        )
        if not len(which):
            return []
        with np.errstate(divide="ignore", over="ignore"):
            worst = which[np.argmax(expected[which] / np.abs(gaps[which]))]
        others = f"; also for {len(which) - 1} other generator{'s' * (len(which) > 2)}" if len(which) > 1 else ""
        plain, gap = "" if self.noise is None else "plain ", gaps[worst]  # the table shows the corrected one first
        clients = f"{self.span}, {self.clients[0].dim} features"
        has_rows = not self.sent and all(client.moments is None for client in self.clients)
        test = f": see scores.heterogeneity('{self.metric.name}')" if has_rows else ""
        about = f"about {expected[worst]:.3g}"
        alike = f"{about} would remain even if all clients were alike"
        if expected[worst] > gap:
            alike = f"clients that are all alike would have {about}"
        return [f"{plain}{self.metric.label} gap of {generators[worst]}: {gap:.3g}; {alike} ({clients}){others}{test}"]

    def intervals(self) -> dict[str, np.ndarray]:
        """Columns `<part>_corrected`, `_low` and `_high` of avg, all and gap; none without uncertainty."""
        if self.noise is None:
            return {}
        estimates = {"avg": self.avg, "all": self.all_without_bias, "gap": self.avg - self.all_without_bias}
        estimates = {"intra": self.intra, **estimates} if self.own_cells else estimates
        columns = {part: self._clipped_ends(part, estimate) for part, estimate in estimates.items()}
        return {f"{part}_{end}": column for part, ends in columns.items() for end, column in ends.items()}

    def client_intervals(self) -> dict[str, np.ndarray]:
        """Columns corrected, low and high of each client's score, generators by clients; own_… where there are such."""
        columns = {end: column.ravel() for end, column in self._clipped_ends("client", self.by_client).items()}
        own = self._clipped_ends("own", self.own) if self.own_cells else {}
        return columns | {f"own_{end}": column.ravel() for end, column in own.items()}

    def _clipped_ends(self, part: str, estimate: np.ndarray) -> dict[str, np.ndarray]:
        """NaN where a replicate is refused; within the edges, beyond which no score lies."""
        if self.noise is None:
            return {}
        if part not in self._ends:
            try:
                self._ends[part] = self.noise.ends(self.weights, part, estimate)
            except BadRows:
                raise
            except InvalidInput as error:
                self._ends[part] = error
        ends = self._ends[part]
        if isinstance(ends, InvalidInput):
            ends = Ends(*[np.full_like(estimate, np.nan)] * 3)
        lowest, highest = float(self.metric.lowest), float(self.metric.highest)
        edges = (-math.inf, math.inf) if part == "gap" else (lowest, highest)
        columns = (np.clip(column, *edges) for column in ends)
        return dict(zip(("corrected", "low", "high"), columns, strict=True))

    @cached_property
    def _ends(self) -> dict[str, Ends | InvalidInput]:
        """The ends of intervals that were asked for, by part."""
        return {}


def caution_lines(label: str, cautions: Sequence[str]) -> list[str]:
    """Return one line for each kind of caution, one caution ("" for none) for each score."""
    by_kind: dict[str, list[str]] = {}
    for line in filter(None, cautions):
        by_kind.setdefault(_NUMBERS.sub("", line), []).append(line)
    unit = "scores (each client and all, by generator)"
    first = {kind: ", the first" * (len({*lines}) > 1) for kind, lines in by_kind.items()}  # its numbers are its own
    return [f"{label}, {len(lines)} of {len(cautions)} {unit}{first[k]}: {lines[0]}." for k, lines in by_kind.items()]
