"""evaluate(): summaries of every client and generator, once; from them every score, client by client.

Flow: check the input → settle the metrics on the federation → exact laws where a metric has a closed form,
rows otherwise → summarise, for every metric, as that is where most is refused → terms of each client–generator pair →
`Scores`, which aggregates.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..arrays import check_same_order
from ..distributions import Distribution, check_draw
from ..errors import InvalidInput, check_choice, check_count, check_list, check_names, shown
from ..federation import Federation, Generator, as_generators
from ..metrics import Metric, Sample, metric_of
from ..metrics.base import refusal_of
from .influence import Influences
from .result import Result, all_terms, pooled_or_refused
from .sampling import ClientSamples, GeneratorSamples
from .scores import Scores
from .standing import Standing, is_of_call
from .uncertainty import BiasWarning, Design, Influence, Replicas, check_design, check_resampled, too_few

if TYPE_CHECKING:
    from tqdm import tqdm

# Who gave features of their own beside an extractor's, in the line under a table.
MOST_NAMED = 3


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
    federation, generators, metrics : `Federation` (or clients that make one), list or dict of generators, and
        names or `Metric` objects. Generators of images (folders, zips, `nm.images(…)`, arrays, functions) go through
        the federation's extractor: `nm.evaluate(nm.Federation.from_folder("hospitals/"), {"a": "samples_a/"})`
    samples : None for exact values where a metric has a closed form for the distributions given, and 10,000
        rows otherwise; a number to draw that many rows on each side always (the clients share theirs in
        proportion to their weights). Rows given as data are used as they are.
    seed : of everything drawn
    uncertainty : `nm.Influence()` for intervals (columns `*_corrected`, `*_low`, `*_high`) and `scores.flips(metric)`;
        or `nm.Bootstrap(200, seed=0)`, `nm.Jackknife()`, which resample rows given as data; exact laws do not vary
    progress : "auto" shows a bar after a second; True or False
    cluster : None; this version computes on one machine alone

    Where all clients carry a condition x, a generator that is a function is called as `(x, rng) -> ŷ`, once for
    each client. Conditional metrics (mfid, rfid, jfid, cfid) compare each client with the answers to its own x,
    and for *all* pool both sides; the others see the generator as the law P_G = Σ λ_i P(ŷ | x of client i), so
    that for them *avg* and *all* share one generator, which depends on the weights.

    A score that a metric refuses, such as precision of a client with too few rows, or precision-all under weights
    that are not the row counts, is NaN, and `scores.conventions` says why, so that the scores that stand are not lost
    with it; an interval likewise.

    Raises `InvalidInput`, naming the argument, what was seen and how to mend it; where the table would be empty, too.

    Examples
    --------
    >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
    >>> generators = {"narrow": nm.Gaussian([0, 0], [1, 1]), "wide": nm.Gaussian([0, 0], [2, 1])}
    >>> nm.evaluate(clients, generators, "fid").table.round(3)
      generator metric    avg    all    gap
    0    narrow    fid  1.000  0.172  0.828
    1      wide    fid  1.172  0.000  1.172
    """
    design = None if uncertainty is None else check_design(uncertainty)
    if cluster is not None:
        raise InvalidInput("cluster", f"got {shown(cluster)}, and this version computes on one machine", "Leave it out")
    if not isinstance(federation, Federation):
        federation = Federation(federation)
    named = as_generators(generators)
    check_same_order([(party.name or "", party.columns) for party in (*federation, *named)], "generators")
    seed = check_count(seed, "seed", minimum=0)
    if samples is not None:
        samples = check_draw(samples, federation.dim, "samples", minimum=2 * len(federation))
    settled = _metrics(metrics, federation)
    note = _note(samples, seed, federation, named)
    extraction = federation.extraction
    if extraction is not None and progress is False:
        extraction = replace(extraction, progress=False)
    named = tuple(generator.through(extraction) for generator in named)
    clients = ClientSamples(federation, samples, seed)
    samples_of = [GeneratorSamples(g, samples, [seed, 1, i], federation) for i, g in enumerate(named)]
    steps = len(settled) * (len(federation) + len(named) * (len(federation) + 1))
    with _bar(progress, steps) as bar:
        unscored = [_summarised(*metric, clients, samples_of, federation.weights, design, bar) for metric in settled]
        _check_sure(unscored)
        results = tuple(_scored(result, bar) for result in unscored)
    _check_any(results, federation.weights)
    if design is not None and not isinstance(design, Influence):
        for line in (caution for result in results for caution in result.cautions):
            warnings.warn(line, BiasWarning, stacklevel=2)
    return Scores(federation.names, federation.weights, [g.name or "" for g in named], results, note)


def _note(samples: int | None, seed: int, federation: Federation, generators: Sequence[Generator]) -> str:
    exact = "laws exact where a closed form exists, else 10,000 rows drawn"
    drawn = exact if samples is None else f"{samples} rows drawn for each law"
    has_laws = not all(client.size for client in federation) or any(
        g.answers or isinstance(g.source, Distribution) for g in generators
    )
    return "; ".join([_features(federation, generators), *([drawn] if has_laws else []), f"seed {seed}"])


def _features(federation: Federation, generators: Sequence[Generator]) -> str:
    """What made the rows: the extractor, where there is one, and who gave rows of their own beside it."""
    if federation.extraction is None:
        return "features as given"
    given = [f"client {client.name!r}" for client in federation if client.extraction is None]
    given += [
        f"generator {g.name!r}"
        for g in generators
        if not (g.answers or g.is_of_images or isinstance(g.source, Distribution))
    ]
    more = f", and {len(given) - MOST_NAMED} more" * (len(given) > MOST_NAMED)
    own = f"; features of {', '.join(given[:MOST_NAMED])}{more} as given" if given else ""
    return f"features: {federation.extraction.extractor.convention}{own}"


def _metrics(metrics: Any, federation: Federation) -> list[tuple[Metric[Any], InvalidInput | None]]:
    is_one = isinstance(metrics, (str, type)) or not isinstance(metrics, Iterable)
    listed = [metrics] if is_one else check_list(metrics, "metrics")
    if not listed:
        raise InvalidInput("metrics", "is empty", "Give at least one, such as 'fid'")
    wanted = [metric_of(item) for item in listed]
    check_names([m.name for m in wanted], "metrics")
    samples = [client.to_sample() for client in federation]
    return [_resolved(metric, samples) for metric in wanted]


def _resolved(metric: Metric[Any], samples: Sequence[Sample]) -> tuple[Metric[Any], InvalidInput | None]:
    """The metric with its settings fixed on the clients; or as it is, and why their rows do not let them be."""
    try:
        return metric.resolve(samples), None
    except InvalidInput as error:
        if is_of_call(error):
            raise
        return metric, error.of(metric.name)


def _bar(progress: str | bool, steps: int) -> tqdm[Any]:
    if not isinstance(progress, bool):
        check_choice(progress, ("auto",), "progress")
    from tqdm.auto import tqdm

    return tqdm(total=steps, disable=progress is False, delay=1.0 if progress == "auto" else 0.0, leave=False)


def _summarised(
    metric: Metric[Any],
    refusal: InvalidInput | None,
    clients: ClientSamples,
    generators: Sequence[GeneratorSamples],
    weights: Sequence[float],
    design: Design | None,
    bar: tqdm[Any],
) -> Result:
    """All but the scores."""
    real, samples = [], [clients.of(position, metric) for position in range(len(clients))]
    _check_tests(metric, clients.names, samples)
    if design is not None:
        _check_varies(metric, generators, design)
    for name, sample in zip(clients.names, samples, strict=True):
        real.append(refusal or _summary(metric, sample, f"client {name!r}"))
        bar.update()
    made = [(refusal, None) if refusal else _generated(metric, generator, weights) for generator in generators]
    generated, answers = zip(*made, strict=True)
    drawn = tuple(g.whole(metric) if g.answers(metric) is None else None for g in generators)
    known = [sample for sample in drawn if sample is not None]
    cautions = () if refusal else tuple(metric.cautions(samples, known))
    rows = [s.rows.shape[0] for s in samples if s.rows is not None]
    result = Result(metric, tuple(real), generated, (), answers, None, cautions, _span(rows), tuple(samples), drawn)
    if design is None:
        return result
    names = [generator.name for generator in generators]
    return replace(result, replicas=_replicas(result, design, clients.names, names))


def _scored(result: Result, bar: tqdm[Any]) -> Result:
    """The result with the terms of every pair."""
    terms = []
    for pairs in all_terms(result):
        row = []
        for pair in pairs:
            row.append(pair)
            bar.update()
        terms.append(tuple(row))
        bar.update()
    return replace(result, terms=tuple(terms))


def _check_tests(metric: Metric[Any], names: Sequence[str], clients: Sequence[Sample]) -> None:
    if not metric.needs_test:
        return
    for name, sample in zip(names, clients, strict=True):
        if sample.test is None:
            seen = f"client {name!r} has none, and {metric.name} compares with rows the generator has not seen"
            raise InvalidInput("test", seen, "Use federation.split(test=0.2, seed=0), or Client(rows, test=…)")


def _check_any(results: Sequence[Result], weights: Sequence[float]) -> None:
    """Refuse a table in which nothing would stand, with the reason of its first score."""
    refused = [pair for result in results for row in result.terms for pair in row if isinstance(pair, InvalidInput)]
    scores = [scores for result in results for scores in (result.average(weights), result.pooled(weights))]
    if refused and np.isnan(scores).all():
        raise refused[0]


def _check_sure(results: Sequence[Result]) -> None:
    """Refuse uncertainty where no interval would stand because no client has rows enough, with the first reason."""
    none = [r for r in results if isinstance(r.replicas, Standing) and r.replicas.replicas is None]
    few = [[too_few(sample, "a client") for sample in r.clients] for r in none]
    if len(none) == len(results) and all(map(all, few)):
        raise cast(Standing, none[0].replicas).refusal


def _span(rows: Sequence[int]) -> str:
    """How many rows the clients had, for the convention line."""
    if not rows:
        return "exact clients"
    return f"{min(rows):,} to {max(rows):,} rows a client" if min(rows) < max(rows) else f"{rows[0]:,} rows a client"


def _check_varies(metric: Metric[Any], generators: Sequence[GeneratorSamples], design: Design) -> None:
    """Raise InvalidInput where this metric has no intervals, whatever the rows."""
    if any(g.answers(metric) is not None for g in generators):
        fix = "Leave uncertainty out, or score outputs without their conditions"
        raise InvalidInput("uncertainty", f"{metric.name} of answers to a condition has no intervals yet", fix)
    if not (isinstance(design, Influence) and metric.has_pulls):
        check_resampled(metric)


def _replicas(
    result: Result, design: Design, names: Sequence[str], generators: Sequence[str]
) -> Replicas | Influences | Standing:
    """The influence values or resampled rows of the parties that have them."""
    metric, drawn = result.metric, [cast(Sample, sample) for sample in result.generators]
    by_influence = isinstance(design, Influence) and metric.has_pulls

    def why_not(summary: Any, sample: Sample, who: str) -> InvalidInput | None:
        return refusal_of(summary) or (None if by_influence else too_few(sample, who))

    real = [why_not(*p) for p in zip(result.real, result.clients, [f"client {n!r}" for n in names], strict=True)]
    if refusal := refusal_of(*real):
        return Standing(None, (), refusal)
    made = [why_not(*p) for p in zip(result.generated, drawn, [f"generator {n!r}" for n in generators], strict=True)]
    places = [place for place, refusal in enumerate(made) if refusal is None]
    refusal = refusal_of(*made)
    if refusal and not places:
        return Standing(None, (), refusal)
    samples = [drawn[place] for place in places]
    replicas: Replicas | Influences
    if isinstance(design, Influence) and metric.has_pulls:
        clients = [metric.strata(s, sample.rows) for s, sample in zip(result.real, result.clients, strict=True)]
        generated = [metric.strata(result.generated[place], drawn[place].rows) for place in places]
        replicas = Influences(metric, clients, generated, design.level)
    else:
        otherwise = design.otherwise if isinstance(design, Influence) else design
        replicas = Replicas(metric, result.clients, samples, otherwise)
    return Standing(replicas, places, refusal) if refusal else replicas


def _generated(
    metric: Metric[Any], generator: GeneratorSamples, weights: Sequence[float]
) -> tuple[Any, tuple[Any, ...] | None]:
    """The summary of a generator, and those of its answers to each client where it gave some."""
    who = f"generator {generator.name!r}"
    samples = generator.answers(metric)
    if samples is None:
        return _summary(metric, generator.whole(metric), who), None
    answers = tuple(_summary(metric, sample, who) for sample in samples)
    return pooled_or_refused(metric, answers, weights), answers


def _summary(metric: Metric[Any], sample: Sample, who: str) -> Any:
    """What `summarize` gives, or why these rows give nothing; raised where it is not about them."""
    try:
        return metric.summarize(sample)
    except InvalidInput as error:
        refusal = error.of(f"{who}, {metric.name}")
        if is_of_call(error):
            raise refusal from None
        return refusal
