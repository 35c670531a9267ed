"""One generator after the other against the same clients, whose half of every score is computed once.

Flow: the constructor summarises the clients → `client_arrays`, what later questions need of them → `score` of each
step's rows: the score of every client and of the pooled clients, its noise, and the moments of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...arrays import to_float64, to_numpy
from ...distributions import has_moments
from ...errors import LONGEST_NAME, InvalidInput, check_count, one_line, refusal_of
from ...evaluation.cells import Cell, UnweightableRows
from ...evaluation.compute import GeneratorState, MetricState
from ...evaluation.heterogeneity import client_kernel_means
from ...evaluation.influence import Influence, mixture_strata
from ...evaluation.noise import InfluenceNoise, NoiseColumn
from ...evaluation.samples import (
    ByClientSamples,
    ClientSamples,
    GeneratorSamples,
    metric_list,
    resolve_metrics,
    samples_of,
)
from ...federation import Client, Federation, Generator
from ...metrics.base import Metric, Sample, terms_of
from ...metrics.fid.metric import FID
from ...metrics.kid.estimators import AllPairs
from ...metrics.kid.metric import KID
from ...tables import check_same_order
from .by_client_points import mixture_centre, own_means, own_moments
from .packed_moments import pack_moments
from .sample_previews import SamplePreviews
from .step_noise import (
    MAX_BIASED_FID_FEATURES,
    NOISE_DRAWS,
    BiasedFID,
    CachedMultipliers,
    StepNoise,
    less_gap,
    noise_of_gap,
)

# Up to so many features FID-all under other weights is exact, from moments; beyond, it is its tangent (`FID.slopes`).
MAX_MOMENTS_DIM = 64
# Rows that the held-out ones are scored against, as times their number: more would move a score by little.
MAX_REST_RATIO = 10
MIN_REST_ROWS, POINT_ROWS = 2, 20


@dataclass(frozen=True, eq=False)
class StepScores:
    """One metric at one step.

    Attributes
    ----------
    clients : (k,) scores, NaN where there is none
    all : of the pooled clients, under the weights of the scoring; `terms`, its addends
    noise : see `StepNoise`
    slopes : (k,) of `all`, see `Metric.slopes`; None where other things tell it
    own : (k,) scores of each client with what was made for it; None where all clients have one distribution
    own_arrays : what is kept of it for other weights, by name, see by_client_points.py
    is_own_only : whether there are no other scores, as the metric cannot weight the rows of a mixture
    why : reasons for what is NaN
    """

    clients: np.ndarray
    all: float
    terms: dict[str, float] = field(default_factory=dict)
    noise: StepNoise = field(default_factory=StepNoise)
    slopes: np.ndarray | None = None
    own: np.ndarray | None = None
    own_arrays: dict[str, np.ndarray] = field(default_factory=dict)
    is_own_only: bool = False
    why: tuple[str, ...] = ()


class Scoring:
    """The clients' half of all scores.

    Parameters
    ----------
    federation, metrics, seed : as for `nm.evaluate`
    samples : rows that a generator is asked for

    Raises
    ------
    InvalidInput
        As `nm.evaluate`, before anything is computed; for clients with a condition, which have no one generator.
    """

    def __init__(self, federation: Any, metrics: Any = ("fid", "kid"), seed: int = 0, samples: int = 1_000) -> None:
        self.metric_choice, self.samples = metrics, samples
        self.federation = federation if isinstance(federation, Federation) else Federation(federation)
        if self.federation.is_conditional:
            fix = "Leave condition out, or use nm.evaluate"
            raise InvalidInput("federation", "has clients with a condition, which a Monitor does not support yet", fix)
        self.seed = check_count(seed, "seed", minimum=0)
        self.names, self.weights = tuple(self.federation.names), tuple(self.federation.weights)
        self.extraction = self.federation.extraction
        if self.extraction is not None:
            self.extraction = replace(self.extraction, progress=False)
        drawn = ClientSamples(self.seed, None, self.federation)
        # As the metrics were chosen, before the clients' rows settle a bandwidth.
        self.conventions = [one_line(str(m.canonical.convention), LONGEST_NAME) for m in metric_list(metrics)]
        chosen = resolve_metrics(metrics, self.federation)
        self.clients = [MetricState(_stratify_kid(metric), drawn, refusal) for metric, refusal in chosen]
        self._multipliers = CachedMultipliers(NOISE_DRAWS, seed=0)
        self._previews = SamplePreviews(self.federation)
        self._gap_noise: dict[str, np.ndarray] = {}
        self._is_ready = False

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(clients.metric.name for clients in self.clients)

    def prepare(self) -> None:
        """Summarise the clients, once; InvalidInput where every metric refuses every client."""
        if self._is_ready:
            return
        for clients in self.clients:
            clients.summarize()
        summaries = [summary for clients in self.clients for summary in clients.summaries]
        if (first := refusal_of(*summaries)) and all(map(refusal_of, summaries)):
            raise first
        for clients in self.clients:
            clients.prepare()
        self._is_ready = True

    def describe(self) -> list[dict[str, Any]]:
        """Return what a reader of the log has to know of each metric."""
        return [
            {
                "name": c.metric.name,
                "label": c.metric.label,
                "higher_is_better": bool(c.metric.higher_is_better),
                "best": c.metric.best,
                "kind": "kid" if is_kid(c) else "fid" if is_fid(c) else "",
                "mixes": is_kid(c) and bool(c.metric.estimator.unbiased),  # type: ignore[attr-defined]
                "convention": convention,
            }
            for c, convention in zip(self.clients, self.conventions, strict=True)
        ]

    def client_arrays(self) -> dict[str, np.ndarray]:
        """Return arrays of the clients, by name, from which `all` under other weights follows."""
        self.prepare()
        centres = [c for client in self.federation if (c := _centre(client.to_sample())) is not None]
        arrays = {"centres": np.stack(centres)} if len(centres) == len(self.names) else {}
        for position, clients in enumerate(self.clients):
            if is_kid(clients) and (means := client_kernel_means(clients.cells([], self.weights))) is not None:
                arrays[f"gap {position}"] = means
            if self._is_exact(clients) and not refusal_of(*clients.summaries):
                arrays["moments"] = np.stack([pack_moments(summary) for summary in clients.summaries])
        levels = reference_levels(self, self.samples)
        return arrays if levels is None else {**arrays, "levels": levels}

    def score(
        self, rows: Any, *, is_paired: bool, position: int
    ) -> tuple[dict[str, StepScores], dict[str, np.ndarray]]:
        """Score rows (or a distribution) by every metric, and return what is kept of the rows.

        Parameters
        ----------
        rows : what a `Generator` takes, drawn already; where it has one distribution for each client, a dict of these
        is_paired : whether its rows were made of the same latents as those of other steps
        position : of the step among all, which seeds the noise of rows that were not
        """
        self.prepare()
        generator = Generator(rows, name="generator")
        parties: tuple[Any, ...] = (*self.federation.clients, *generator.for_clients(self.names))
        check_same_order([(party.name or "", party.columns) for party in parties], "source")
        drawn = samples_of(generator, [self.seed, 1, position], self.extraction, (None, self.federation))
        column = GeneratorState(drawn, 0 if is_paired else 1 + position)
        scores = {c.metric.name: self._score_metric(c, column) for c in self.clients}
        if isinstance(drawn, ByClientSamples):
            return scores, self._own_row_arrays(drawn, generator)
        return scores, self._row_arrays(drawn, generator)

    def _score_metric(self, clients: MetricState, column: GeneratorState) -> StepScores:
        if column.is_by_client:
            return self._score_by_client(clients, column)
        try:
            summary, _ = clients.summary_of(column, self.weights)
            column = replace(column, summary=summary)
            terms = clients.terms(column, range(len(self.names)))
            of_all = clients.pooled_cell(column, self.weights)
        except InvalidInput as error:
            return StepScores(np.full(len(self.names), np.nan), np.nan, why=(str(error),))
        cells = [Cell.of(t) for t in terms]
        refused = dict.fromkeys(str(cell.refusal) for cell in (*cells, of_all) if cell.refusal is not None)
        scores = np.array([cell.value for cell in cells])
        named = {name: float(v) for name, v in of_all.terms.items()}
        noise, slopes = self._noise(clients, column), None
        if not is_kid(clients) and not self._is_exact(clients):
            slopes = clients.slopes(column, self.weights)
        return StepScores(scores, of_all.value, named, noise, slopes, why=tuple(refused))

    def _score_by_client(self, clients: MetricState, column: GeneratorState) -> StepScores:
        """Score the mixture with all clients, and what was made for each client with that one."""
        nothing = np.full(len(self.names), np.nan)
        try:
            summary, answers = clients.summary_of(column, self.weights)
            assert answers is not None
            column = replace(column, summary=summary, answers=answers)
            pairs = zip(clients.summaries, answers, strict=True)
            own = [Cell.of(terms_of(clients.metric, real, answer)) for real, answer in pairs]
        except InvalidInput as error:
            return StepScores(nothing, np.nan, own=nothing, why=(str(error),))
        values = np.array([cell.value for cell in own])
        reasons = dict.fromkeys(str(cell.refusal) for cell in own if cell.refusal is not None)
        if isinstance(summary, UnweightableRows):
            return StepScores(nothing, np.nan, own=values, is_own_only=True, why=tuple(reasons))
        cells = [Cell.of(terms) for terms in clients.terms(column, range(len(self.names)))]
        of_all = clients.pooled_cell(column, self.weights)
        reasons |= dict.fromkeys(str(cell.refusal) for cell in (*cells, of_all) if cell.refusal is not None)
        scores, named = np.array([cell.value for cell in cells]), {name: float(v) for name, v in of_all.terms.items()}
        noise, arrays = self._noise(clients, column), self._own_arrays(clients, answers)
        return StepScores(scores, of_all.value, named, noise, own=values, own_arrays=arrays, why=tuple(reasons))

    def _own_arrays(self, clients: MetricState, answers: Sequence[Any]) -> dict[str, np.ndarray]:
        """Return what is kept to score the mixture under other weights."""
        moments = own_moments(answers) if self._is_exact(clients) else None
        means = own_means(clients.metric.estimator, clients.summaries, answers) if is_kid(clients) else None  # type: ignore[attr-defined]
        named = {"own moments": moments, f"own means {clients.metric.name}": means}
        return {name: array for name, array in named.items() if array is not None}

    def _noise(self, clients: MetricState, column: GeneratorState) -> StepNoise:
        """Draw the noise by influence values."""
        metric = clients.metric
        if not metric.has_influence_values or clients.interval_refusal(column, Influence()):
            return StepNoise()
        if refusal_of(column.summary):  # of a mixture
            return StepNoise()
        if is_fid(clients):
            if self.federation.dim > MAX_BIASED_FID_FEATURES:
                return StepNoise()
            metric = BiasedFID()
        generated = clients.strata_by_client(column)
        if all(part.is_exact for part in generated):
            return StepNoise()
        mixture = mixture_strata(clients.metric, generated, self.weights)
        made = InfluenceNoise(metric, generated, column.position, self._multipliers)
        each = made.with_mixture(clients.strata, mixture, self.weights)
        own = None
        if column.is_by_client:
            own = made.clients(clients.strata) if len(generated) > 1 else each
        if is_kid(clients):
            together = less_gap(each, self._kid_gap_noise(clients, made, mixture, each), self.weights)
            return StepNoise.of(self.weights, each, together, own).of_kid()
        together = made.all(clients.pooled_strata(self.weights), mixture, self.weights)
        return StepNoise.of(self.weights, each, together, own)

    def _kid_gap_noise(self, clients: MetricState, made: InfluenceNoise, mixture: Any, each: NoiseColumn) -> np.ndarray:
        """Draw the noise of KID's gap, once for all steps."""
        name = clients.metric.name
        if name in self._gap_noise:
            return self._gap_noise[name]
        gap = noise_of_gap(each, made.all(clients.pooled_strata(self.weights), mixture, self.weights), self.weights)
        if np.isfinite(gap).all():  # it is not where this generator made too few rows
            self._gap_noise[name] = gap
        return gap

    def _row_arrays(self, drawn: GeneratorSamples, generator: Generator) -> dict[str, np.ndarray]:
        """Return `centre`, variance and mean; some `rows` to show; `moments`, where FID-all is made from them."""
        sample = drawn.whole(self.clients[0].metric)
        if sample.rows is None:
            if not has_moments(sample.moments or sample.exact_distribution):
                return {}
        elif sample.rows.shape[0] < 2:
            return {}
        arrays = {"centre": np.asarray(_centre(sample)), **self._previews.take(generator, sample.rows)}
        if not any(map(self._is_exact, self.clients)):
            return arrays
        return {**arrays, "moments": pack_moments(FID().summarize(sample))}

    def _own_row_arrays(self, drawn: ByClientSamples, generator: Generator) -> dict[str, np.ndarray]:
        """Return `centre`, as above, of the mixture, "own centres" of what was made for each client, and `rows`."""
        samples = [member.whole(self.clients[0].metric) for member in drawn.members]
        centres = [_centre(sample) for sample in samples]
        stated = [centre for centre in centres if centre is not None]
        sources = [member.source for member in generator.for_clients(self.names)]
        previews = self._previews.take_by_client(sources, [sample.rows for sample in samples], self.weights)
        if len(stated) < len(centres):
            return previews
        return {"centre": mixture_centre(np.stack(stated), self.weights), "own centres": np.stack(stated), **previews}

    def _is_exact(self, clients: MetricState) -> bool:
        """Whether pooled scores under other weights are made from moments."""
        return is_fid(clients) and self.federation.dim <= MAX_MOMENTS_DIM


def _centre(sample: Sample) -> np.ndarray | None:
    """Return the variance of all features together, then the mean, (1 + d,); None of a distribution without them."""
    if sample.rows is None:
        source = sample.moments or sample.exact_distribution
        return np.concatenate([[np.trace(source.cov)], source.mean]) if has_moments(source) else None
    rows = to_numpy(to_float64(sample.rows))
    return np.concatenate([[rows.var(axis=0, ddof=1).sum() if len(rows) > 1 else 0.0], rows.mean(axis=0)])


def is_kid(clients: MetricState) -> bool:
    """Whether Theorem 1 holds: KID on all pairs, whose gap no generator moves."""
    return isinstance(clients.metric, KID) and isinstance(clients.metric.estimator, AllPairs)


def is_fid(clients: MetricState) -> bool:
    """Whether the score is the plain FID, a function of moments."""
    return type(clients.metric) is FID


def _stratify_kid(metric: Metric[Any]) -> Metric[Any]:
    """Give KID clients as strata, so that KID-all has no bias; leave any other metric as it is."""
    return metric.stratified if isinstance(metric, KID) else metric


def reference_levels(scoring: Scoring, samples: int) -> np.ndarray | None:
    """Return (2, m, k + 1) scores of real rows and of one point, of each client and of all; NaN where there are none.

    They give a run's scores a scale. Half of each client's rows, fewer where that is enough, are held out in proportion
    to the weights and scored against the rest; the point is their mean. Scores of real rows are root mean squares,
    √(score² + its standard error²), since an unbiased one is 0 but for chance. None where the clients are no rows, or
    too few.
    """
    if (parts := _split_rows(scoring.federation, samples, scoring.seed)) is None:
        return None
    rest, held_out = parts
    point = np.tile(held_out.mean(axis=0), (POINT_ROWS, 1))
    metrics, shape = scoring.metric_choice, (len(scoring.metrics), len(scoring.names) + 1)
    levels = np.full((2, *shape), np.nan)
    for level, rows, is_squared in zip(levels, (held_out, point), (True, False), strict=True):
        try:
            scores, _ = Scoring(rest, metrics, scoring.seed).score(rows, is_paired=False, position=0)
        except InvalidInput:
            continue
        level[:] = [_levels_of(scores[name], is_squared) for name in scoring.metrics]
    return levels


def _levels_of(scores: StepScores, is_squared: bool) -> np.ndarray:
    levels = np.append(scores.clients, scores.all)
    if not is_squared or (row_errors := scores.noise.row_errors) is None:
        return levels
    return np.hypot(levels, np.nan_to_num(np.delete(row_errors, -2)))


def _split_rows(federation: Federation, samples: int, seed: int) -> tuple[Federation, np.ndarray] | None:
    """Deal each client's rows into those that stay and those held out; None where one has too few, or is no rows."""
    shares = np.array(federation.weights)
    if any(client.rows is None for client in federation):
        return None
    sizes = np.array([client.size for client in federation])
    count = min(float(samples), float(np.min(sizes[shares > 0] / 2.0 / shares[shares > 0])))
    held_counts = np.rint(count * shares).astype(int)
    if held_counts.sum() < MIN_REST_ROWS or (sizes - held_counts).min() < MIN_REST_ROWS:
        return None
    rng, rest, held_out = np.random.default_rng([seed, 2]), [], []
    for client, size, held in zip(federation, sizes, held_counts, strict=True):
        order = rng.permutation(size)[: held + max(MIN_REST_ROWS, MAX_REST_RATIO * max(held, samples // len(sizes)))]
        rows = np.asarray(to_numpy(to_float64(client.rows[order, :])))  # type: ignore[index]
        held_out.append(rows[:held])
        rest.append(Client(rows[held:], test=client.test, name=client.name, weight=client.weight))
    clients = Federation(rest).with_weights(shares)
    return clients, np.concatenate(held_out)
