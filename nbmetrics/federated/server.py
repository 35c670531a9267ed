"""The server's side: the clients' bytes and its generators become the scores that `evaluate` gives.

Flow: every summary is read, and checked against the others → the metrics are settled on the clients' means and spreads
→ summaries under them → the scores, by the same `Evaluation` as `evaluate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..distributions import Round
from ..errors import InvalidInput, check_list, check_named_weights, check_names, shown
from ..evaluation.cells import Cells, PoolOnlyClient, summarize
from ..evaluation.compute import Evaluation, MetricState
from ..evaluation.evaluate import check_any_score
from ..evaluation.samples import metric_list, sources_of
from ..evaluation.scores import Scores
from ..federation import Client, Federation, Generator, are_images, as_generators
from ..metrics import Metric, Sample
from .noise_error import NoisyCells, has_noise
from .noisy_summaries import NoisyFID, NoisyMoments, noisy_mean
from .serialization import FIX_DAMAGED, Section, has_checksum, read
from .site_checks import site_cautions
from .summary_codec import REVEALS, kind_of, settings_text, summary_of

FIX_UNLIKE_METRICS = "Let all clients and the server name the same metrics, with the same settings"
# The rows of a stand-in are counted, never made: beyond this there are enough for any caution.
MAX_CODEC_ROWS = 10**7


def aggregate(
    summaries: Any,
    weights: Any,
    generators: Any,
    metrics: Any = ("fid", "kid"),
    *,
    samples: int | None = None,
    seed: int = 0,
) -> Scores:
    """The scores of generators on clients of which only summaries are here, as `evaluate` gives them on the rows.

    Parameters
    ----------
    summaries : what `client_summary` made, a list of bytes or a dict name -> bytes
    weights : λ of the clients, a sequence or a dict by name; None for their shares of the rows (equal for
        distributions)
    generators, metrics, samples, seed : as for `evaluate`; metrics as the clients named them. Generators are rows,
        distributions or functions (n, rng) -> rows, and are here

    Returns
    -------
    Scores; with float64 summaries equal to those of `evaluate` to rounding. Their `cautions` say which summaries have
    no checksum, where one site seems to be there twice or to be of another scale, and where noise may have made an
    order: the last takes about ten times as long as all else, when they are read

    Raises
    ------
    InvalidInput
        For bytes that are no summary, naming the client; for summaries that do not belong together; as `evaluate`.

    Examples
    --------
    >>> clients = np.random.default_rng(0).normal(size=(2, 100, 3))
    >>> sent = [nm.federated.client_summary(rows, "fid") for rows in clients]
    >>> scores = nm.federated.aggregate(sent, None, {"g": nm.Gaussian([0, 0, 0])}, "fid")
    >>> bool(np.isclose(scores.table["all"][0], nm.fid(np.concatenate(clients), nm.Gaussian([0, 0, 0]))))
    True
    """
    named = _named_summaries(summaries)
    sections_by_client = {name: read(data, f"client {name!r}") for name, data in named.items()}
    dim, wanted = _one_dim({name: d for name, (d, _) in sections_by_client.items()}), metric_list(metrics)
    sections = {
        m.name: {name: _section(m, name, part, dim) for name, (_, part) in sections_by_client.items()} for m in wanted
    }
    counts = {name: next(iter(part.values())).count for name, (_, part) in sections_by_client.items()}
    federation = Federation(
        [
            _stand_in(name, part, dim)._with(columns=next(iter(part.values())).columns)
            for name, (_, part) in sections_by_client.items()
        ]
    )
    federation = federation.with_weights(_weights(weights, counts))
    evaluation = Evaluation(federation, wanted, samples=samples, seed=seed, progress=False)
    named_generators = _of_features(generators)
    distributions = tuple(client.to_sample() for client in federation)
    for clients in evaluation.states.values():
        _fill_states(clients, sections[clients.metric.name], dim)
    evaluation.take(named_generators)
    results = evaluation.compute()
    check_any_score(results)
    # nobody may take the stand-ins for rows
    span, sent = _count_range(counts.values()), {name: tuple(part.values()) for name, part in sections.items()}
    results = tuple(replace(r, clients=distributions, span=span, sent=sent[r.name]) for r in results)
    unchecked = [name for name, data in named.items() if not has_checksum(data)]
    drawn = zip(evaluation.generators, results[0].generators, strict=True)
    made_rows = {name: sample.rows for name, sample in drawn if sample is not None and sample.rows is not None}
    of_sites = site_cautions({n: [part[n] for part in sections.values()] for n in named}, unchecked, made_rows)
    results = _with_cautions(results, of_sites, evaluation.generators, seed)
    every = [section for part in sections.values() for section in part.values()]
    who = f"{len(sections_by_client)} client{'s' * (len(sections_by_client) > 1)}"
    note = f"from summaries of {who}; distributions exact where a closed form exists; seed {seed}"
    made = evaluation.provenance_of(evaluation.generators, results)
    note += _privacy_promise(every)
    groups = [generator.group for generator in named_generators]
    return Scores(evaluation.names, evaluation.weights, evaluation.generators, results, note, made, groups)


def _fill_states(clients: MetricState, sections: Mapping[str, Section], dim: int) -> None:
    """Give the metrics' states the clients' summaries, and stand-ins for their rows where these are counted."""
    if any(section.kind == "noisy moments" for section in sections.values()):
        clients.metric = NoisyFID()
    summaries = [_summary(clients.metric, name, section, dim) for name, section in sections.items()]
    clients.samples, clients.summaries = tuple(s for s, _ in summaries), tuple(s for _, s in summaries)


def _with_cautions(
    results: Sequence[Cells], of_sites: Sequence[str], generators: Sequence[str], seed: int
) -> tuple[Cells, ...]:
    """Return the results with cautions: on the sites, once, on what was left out, and on noise."""
    cautioned = [_with_bounds(result) for result in results]
    cautioned = [NoisyCells.of(result, generators, seed) if has_noise(result) else result for result in cautioned]
    return (replace(cautioned[0], cautions=(*of_sites, *cautioned[0].cautions)), *cautioned[1:])


def _with_bounds(result: Cells) -> Cells:
    """Return a result with how far its scores may be off, where directions were left out.

    The covariances count Σ λ (1 − 1/n) / (1 − Σ λ²/n) ≤ 1 in that of all, so that under no weights the root of the
    pooled score is off by more than that of a client may be.
    """
    lost = max(section.notes.get("lost", 0.0) for section in result.sent)
    if lost <= 0.0:
        return result
    name, most = result.label, f"{lost * 1.006:.3g}"  # rounded, and no smaller
    line = f"{name}: directions were left out: √{name}, of a client or of all, is off by at most {most}."
    return replace(result, cautions=(*result.cautions, line))


def _privacy_promise(sections: Sequence[Section]) -> str:
    """Return what noise promises, in words: the weakest of the clients, as their rows are disjoint."""
    noisy = [section for section in sections if section.kind.startswith("noisy ")]
    if not noisy:
        return ""
    epsilon, delta = (max(s.notes.get(key, math.inf) for s in noisy) for key in ("epsilon", "delta"))
    bare = len({s.kind for s in sections}) > len({s.kind for s in noisy})
    beside = ", along with summaries without noise" if bare else ""
    return f"; noise protects each row: ε = {epsilon:g}, δ = {delta:g} for all its metrics, one row replaced{beside}"


def _named_summaries(summaries: Any) -> dict[str, Any]:
    if isinstance(summaries, Mapping):
        check_names(list(summaries), "summaries")
        named = dict(summaries)
    elif isinstance(summaries, bytes | bytearray | str):
        raise InvalidInput("summaries", f"is one {type(summaries).__name__}", "Give a list, one for each client")
    else:
        named = {f"Client {k}": data for k, data in enumerate(check_list(summaries, "summaries"), 1)}
    if not named:
        raise InvalidInput("summaries", "is empty", "Give at least one client")
    return named


def _of_features(generators: Any) -> tuple[Generator, ...]:
    """Return the generators; images are refused, as nothing here says how the clients' features were made."""
    named_generators = as_generators(generators, may_be_by_client=True)
    for generator in named_generators:
        if any(are_images(source) for source in sources_of([generator])):
            seen = "is images, and the clients sent summaries of features"
            fix = "Give its features: nm.extract(images, extractor) with the clients' extractor"
            raise InvalidInput(f"generator {generator.name!r}", seen, fix)
    return named_generators


def _one_dim(dims: Mapping[str, int]) -> int:
    first, *rest = dims
    for name in rest:
        if dims[name] != dims[first]:
            seen = f"{name!r} has {dims[name]} features, {first!r} has {dims[first]}"
            raise InvalidInput("summaries", seen, "Give every client the same features")
    return dims[first]


def _section(metric: Metric[Any], name: str, sections: Mapping[str, Section], dim: int) -> Section:
    """Return the client's section for a metric, which must mean the same here and there."""
    if not sections:
        raise InvalidInput(f"client {name!r}", "reveals nothing", FIX_DAMAGED)
    if metric.name not in sections:
        seen = f"client {name!r} has none for {metric.name}, but for {', '.join(map(shown, sections))}"
        raise InvalidInput("summaries", seen, FIX_UNLIKE_METRICS)
    section = sections[metric.name]
    kind = kind_of(metric, dim)
    if section.kind.removeprefix("noisy ") != kind:
        sent, needed = (REVEALS.get(k, k) for k in (section.kind, kind))
        seen = f"client {name!r} sent {sent} for {metric.name}, and here {needed} is asked for"
        raise InvalidInput("summaries", seen, FIX_UNLIKE_METRICS)
    if metric.needs_test and section.kind == "rows" and "test" not in section.arrays:
        fix = "Let it summarize nm.Client(rows, test=…)"
        raise InvalidInput("summaries", f"client {name!r} has no test rows, which {metric.label} needs", fix)
    if section.settings_text != settings_text(metric):
        seen = (
            f"client {name!r} made {metric.name} by {section.settings_text!r}, and here it is {settings_text(metric)!r}"
        )
        raise InvalidInput("summaries", seen, FIX_UNLIKE_METRICS)
    return section


def _weights(weights: Any, counts: Mapping[str, float]) -> tuple[float, ...]:
    if weights is not None:
        return check_named_weights(weights, tuple(counts))
    exact = [math.isinf(count) for count in counts.values()]
    if any(exact) and not all(exact):
        raise InvalidInput(
            "weights", "are missing, and some clients are distributions and others rows", "Give one for each"
        )
    return check_named_weights([1.0 if math.isinf(c) else c for c in counts.values()], tuple(counts))


def _stand_in(name: str, sections: Mapping[str, Section], dim: int) -> Client:
    """Return a distribution with about the client's mean and spread, on which metrics are resolved as on its rows."""
    for section in sections.values():
        arrays, mean = section.arrays, section.arrays.get("mean", np.zeros(0))
        if section.kind in ("moments", "thirds") and mean.shape == (dim,):
            return Client(Round(mean, _trace(arrays, dim) / dim), name=name, weight=1.0)
        rows = arrays.get("rows")
        if rows is not None and rows.shape == (section.count, dim):
            try:
                return Client(rows, test=arrays.get("test"), condition=arrays.get("condition"), name=name, weight=1.0)
            except InvalidInput as error:
                raise error.of(f"client {name!r}") from None
    return Client(Round(np.zeros(dim), 1.0), name=name, weight=1.0)


def _trace(arrays: Mapping[str, np.ndarray], dim: int) -> float:
    """Return the trace of the covariance, from a triangle of it or a factor."""
    triangle = arrays.get("covariance", arrays.get("second"))
    if triangle is None:
        return float(np.sum(arrays.get("factor", np.zeros(1)) ** 2))
    if triangle.shape != (math.comb(dim + 1, 2),):
        return 0.0  # refused later
    return float(np.abs(triangle[np.cumsum(np.r_[0, np.arange(dim, 1, -1)])]).sum())


def _summary(metric: Metric[Any], name: str, section: Section, dim: int) -> tuple[Sample, Any]:
    """Return a stand-in for the rows where they are counted, and the summary."""
    who = f"client {name!r}"
    try:
        summary = _summary_of(metric, section, dim)
    except InvalidInput as error:
        raise InvalidInput(f"{who}, {metric.name}", f"{error.argument} {error.seen}", FIX_DAMAGED) from None
    if isinstance(summary, Sample):
        return summary, summarize(metric, summary, who, is_client=True)
    if math.isinf(section.count):
        return Sample(distribution=Round(np.zeros(dim), 1.0)), summary
    zeros = np.broadcast_to(0.0, (int(min(section.count, MAX_CODEC_ROWS)), dim))
    counted = Sample(rows=zeros, is_stand_in=True)
    if section.count < metric.min_rows:
        refused = summarize(metric, Sample(rows=np.zeros((int(section.count), dim))), who, is_client=True)
        summary = PoolOnlyClient(refused, summary) if isinstance(refused, PoolOnlyClient) else summary
    return counted, summary


def _summary_of(metric: Metric[Any], section: Section, dim: int) -> Any:
    if section.kind.startswith("noisy ") and math.isinf(section.count):
        raise InvalidInput("count", "is missing, and noise is added to rows", FIX_DAMAGED)
    if section.kind == "noisy moments":
        return NoisyMoments.of(section, dim)
    return noisy_mean(metric, section) if section.kind == "noisy features" else summary_of(metric, section, dim)


def _count_range(counts: Iterable[float]) -> str:
    rows = [int(n) for n in counts if n < math.inf]
    if not rows:
        return "exact clients"
    return f"{min(rows):,} to " * (min(rows) < max(rows)) + f"{max(rows):,} rows per client"
