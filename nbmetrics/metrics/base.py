"""The three functions that make a metric, and the registry of metric names.

    summarize(sample) -> S            what a client would have to reveal
    pool([S_i], weights) -> S         the summary of the mixture Σ λ_i P_i
    terms(S_real, S_generated)        named addends; the distance is their sum

From these `evaluate` makes avg = Σ λ_i D(S_i, S_G) and all = D(pool(S_i), S_G) for any metric, a user's own
included: subclass `Metric`, or pass any object with these functions and a `name`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Generic, TypeVar, cast

import numpy as np

from ..arrays import Array
from ..distributions import Distribution, draw_rows
from ..errors import InvalidInput, no_choice, shown
from ..plugins import METRICS, find, letters, plugins
from ..summaries.rows import Rows
from ..summaries.stream import BadRows
from ..tables import check_frames
from .capabilities import CAPABILITIES, Fold, Sums, Terms
from .sample import Sample
from .stratified import InfluenceValues, Strata

S = TypeVar("S")


class Defaults:
    """What a metric answers for a capability that it has not, see `capabilities`: the one place of these answers."""

    def has_closed_form(self, distribution: Distribution) -> bool:
        return False

    def streaming_mode(self, dim: int) -> str:
        return "rows"

    def fold(self, dim: int) -> Fold[Any]:
        raise NotImplementedError

    def additive_sums(self, dim: int) -> Sums[Any]:
        seen = f"{shown(cast(Any, self).name)} has no sums that add up over batches"
        raise InvalidInput("metric", seen, "Use 'fid' or 'kid', or nm.evaluate on the rows")

    def centred_at(self, centre: np.ndarray) -> Any:
        return self

    def all_terms(self, real: Sequence[Any], generated: Sequence[Any]) -> Iterable[Iterable[Terms]]:
        return ((terms_of(cast(Any, self), client, other) for client in real) for other in generated)

    def single_row_summary(self, sample: Sample) -> Any:
        return None

    def prepare(self, clients: Sequence[Any]) -> None:
        return None

    def release_cache(self, summary: Any) -> None:
        return None

    def pool_operator(self, dim: int) -> Callable[[Sequence[Any], Sequence[float]], Any] | None:
        return None

    def pairwise_pool(self, dim: int) -> Any:
        return None

    def cautions(self, clients: Sequence[Sample], generators: Sequence[Sample]) -> Sequence[str]:
        return ()

    def caution(self, real: Any, generated: Any) -> str | None:
        return None

    def without_bias(self, real: Any, generated: Any) -> float | None:
        return None

    def pooled_convention(self, pooled: Any) -> str:
        return ""

    def pooled_caution(self, pooled: Any, scores: Sequence[float]) -> str:
        return ""

    def size_gap(self, clients: Sequence[Any], weights: Sequence[float], pooled: Any, generated: Any) -> float:
        return 0.0

    def scale(self, summary: Any) -> float:
        return 0.0

    def slopes(
        self, clients: Sequence[Any], weights: Sequence[float], generated: Any, pooled: Any = None
    ) -> np.ndarray | None:
        return None

    @property
    def no_resampling(self) -> str:
        return ""

    def rows_to_resample(self, dim: int) -> int:
        return 0

    def summarize_repeated(self, sample: Sample, counts: np.ndarray) -> Any:
        return cast(Any, self).summarize(sample.with_repeats(counts))

    def replicates(
        self,
        real: Sequence[Sample],
        generated: Sequence[Sample],
        weights: Sequence[float],
        real_counts: Sequence[Any],
        generated_counts: Sequence[Any],
    ) -> tuple[np.ndarray, np.ndarray]:
        return replicate(cast(Any, self), real, generated, weights, real_counts, generated_counts)

    @property
    def has_influence_values(self) -> bool:
        return False

    def influence_values(self, real: Strata[Any], generated: Strata[Any]) -> InfluenceValues:
        raise NotImplementedError

    def strata(self, summary: Any, rows: Array | None) -> Strata[Any]:
        return Strata.of(summary, rows)

    def pool_strata(self, strata: Sequence[Strata[Any]], weights: Sequence[float]) -> Strata[Any]:
        return Strata.pool(strata, weights, cast(Any, self).pool)


class Metric(Defaults, ABC, Generic[S]):
    """A score between real data and a generator: three functions, a name and a direction.

    What a metric can do more is listed in `capabilities`; the defaults suit most metrics.

    Attributes
    ----------
    name : the key in tables, such as "fid"; by default that of the class
    label : the name people read, such as "FID"; `name` by default
    higher_is_better : direction of the score
    best : the score of a perfect generator where a score is worse the farther it is from it, on either side; else None
    lowest, highest : no score is beyond them, so no interval is either
    min_rows : rows below which the functions of one call refuse (`evaluate` leaves that to `summarize`)
    copies_matter : whether a repeated row reads as a copy, so that no bootstrap may repeat rows
    needs_test : whether clients must have test rows
    needs_density : whether a generator's distribution itself is scored, however many rows are asked for
    takes_moments : whether a mean and a covariance are enough, so that `summarize` is given a sample of `moments`
    pools_scores : whether a pooled score takes all that the clients' own scores take
    is_squared : whether it is a squared distance with an error that grows with the distance
    is_distance : whether the truth is never below 0, though an estimate without the bias of few rows may be
    is_unbiased : whether its mean over samples does not depend on how many rows a generator has
    is_conditional : whether outputs are compared given their inputs, each client with the answers to its own condition
    """

    higher_is_better = False
    best: float | None = None
    lowest, highest = -math.inf, math.inf
    min_rows = 2
    copies_matter = False
    needs_test = False
    needs_density = False
    is_conditional = False
    takes_moments = False
    pools_scores = False
    is_squared = False
    is_distance = False
    is_unbiased = False

    @abstractmethod
    def summarize(self, sample: Sample) -> S:
        """Return the summary of `sample` (with `.rows`, or `.distribution` where there is a closed form)."""

    @abstractmethod
    def pool(self, summaries: Sequence[S], weights: Sequence[float]) -> S:
        """Return the summary of the mixture Σ λ_i P_i."""

    @abstractmethod
    def terms(self, real: S, generated: S) -> dict[str, float]:
        """Return the named addends of the score."""

    def distance(self, real: S, generated: S) -> float:
        """Return the score, the sum of `terms`."""
        return math.fsum(self.terms(real, generated).values())

    @cached_property
    def name(self) -> str:
        return type(self).__name__

    @cached_property
    def label(self) -> str:
        return self.name

    @property
    def convention(self) -> str:
        """The conventions behind the number, for the line under a table."""
        return ""

    @property
    def canonical(self) -> Metric[S]:
        """A metric of the same scores, without what `resolve` only chose for their rounding."""
        return self

    def resolve(self, clients: Sequence[Sample]) -> Metric[S]:
        """Return this metric with data-dependent settings fixed once for all clients."""
        return self


class Adapted(Metric[Any]):
    """An object with the three functions as a `Metric`: the hooks that it has are its own, the others the defaults."""

    def __init__(self, item: Any) -> None:
        self.item = item
        self.name = getattr(item, "name", type(item).__name__)

    def __getattribute__(self, name: str) -> Any:
        if name in _HOOKS and hasattr(self.item, name):
            return getattr(self.item, name)
        return super().__getattribute__(name)

    def summarize(self, sample: Sample) -> Any:
        return self.item.summarize(sample)

    def pool(self, summaries: Sequence[Any], weights: Sequence[float]) -> Any:
        return self.item.pool(summaries, weights)

    def terms(self, real: Any, generated: Any) -> dict[str, float]:
        return self.item.terms(real, generated)

    def resolve(self, clients: Sequence[Sample]) -> Metric[Any]:
        return metric_of(self.item.resolve(clients)) if hasattr(self.item, "resolve") else self


_HOOKS = {hook for hook in (*vars(Metric), *vars(Defaults)) if hook[0] != "_"} - {*vars(Adapted), "name"}


def capabilities_of(item: Any) -> tuple[type, ...]:
    """Return the capabilities of a metric: those of which it has a method of its own.

    Examples
    --------
    >>> [capability.__name__ for capability in nm.metrics.base.capabilities_of(nm.metrics.LogLikelihood())]
    ['ClosedForm']
    """
    return tuple(capability for capability in CAPABILITIES if any(_own_methods(item, capability)))


def _own_methods(item: Any, capability: type) -> Iterator[str]:
    """Yield the names of the methods of a capability that are not the defaults."""
    for name, member in vars(capability).items():
        if callable(member) and not name.startswith("_"):
            method = getattr(item, name, None)
            if method and getattr(method, "__func__", method) is not vars(Defaults).get(name):
                yield name


class RowsMetric(Metric[Rows]):
    """A metric that sees every row; clients are pooled by putting their rows together."""

    fewer = "Give more rows, or leave these out"

    def summarize(self, sample: Sample) -> Rows:
        """The rows of `sample`, at least `min_rows` of them, with its test rows where it has some."""
        if (n := cast(Array, sample.rows).shape[0]) < self.min_rows:
            seen = f"has {n} rows, and {self.label} needs {self.min_rows}"
            raise InvalidInput("rows", seen, self.fewer)
        return Rows.of(sample)

    def pool(self, summaries: Sequence[Rows], weights: Sequence[float]) -> Rows:
        """All rows together, each with its weight."""
        return Rows.pool(summaries, weights)

    def check_weights(self, real: Rows) -> None:
        """Refuse rows of unequal weight, where plain concatenation would not be the pooled data."""
        if not real.is_uniform:
            seen = f"{self.name}-all cannot weight rows, but these have unequal weights"
            raise InvalidInput("weights", seen, "Give the clients weights proportional to their numbers of rows")


def score_pair(metric: Metric[Any], real: Any, generated: Any, *, samples: int = 10_000, seed: int = 0) -> float:
    """The metric between two samples, each rows or a distribution.

    A distribution without a closed form under this metric is sampled: `samples` rows, seeded.
    """
    check_frames(real=real, generated=generated)
    first = Sample.of(real, "real", min_rows=metric.min_rows)
    second = Sample.of(generated, "generated", dim=first.dim, min_rows=metric.min_rows)
    for sample, who in ((first, "real"), (second, "generated")):
        if refusal := rows_refusal(metric, sample, who):
            raise refusal
    metric = metric.resolve([first])
    summaries = [
        metric.summarize(sample_if_needed(metric, s, samples, [seed, i])) for i, s in enumerate((first, second))
    ]
    return metric.distance(*summaries)


def sample_if_needed(metric: Metric[Any], sample: Sample, n: int, seed: Any) -> Sample:
    """`sample` itself where the metric can use it; otherwise `n` rows of its distribution."""
    if sample.moments is not None:
        return sample
    if sample.rows is not None or metric.has_closed_form(sample.exact_distribution):
        return sample
    return Sample(rows=draw_rows(sample.exact_distribution, n, np.random.default_rng(seed), "sample"))


def rows_refusal(metric: Metric[Any], sample: Sample, who: str) -> InvalidInput | None:
    """Why a metric has no value with a sample: it needs rows, and these are moments; or None."""
    if sample.moments is None or metric.takes_moments:
        return None
    seen = f"is a mean and a covariance, and {metric.label} needs rows"
    return InvalidInput(who, seen, "Give the rows, or ask for FID alone")


def replicate(
    metric: Metric[Any],
    real: Sequence[Sample],
    generated: Sequence[Sample],
    weights: Sequence[float],
    real_counts: Sequence[Any],
    generated_counts: Sequence[Any],
    cache: dict[Any, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """All scores on resampled rows: by client (replicates, generators, clients) and pooled (replicates, generators).

    Pooled ones are those of `Metric.without_bias` where the metric has them.
    `counts` say how often each row of a party is there, (replicates, n), or give it one or some replicates at a time
    (`counts[b]`, `counts[a:b]`). What a replicate leaves as it is, is computed once, also
    over several calls that share `known`, empty at first.
    """
    samples, everyone = (*real, *generated), tuple(range(len(real)))
    by_client, pooled = [], []
    cache = {} if cache is None else cache
    score = partial(partial, _score, metric)

    def once(what: str, parties: tuple[int, ...], make: Callable[[], Any]) -> Any:
        """`make()`, kept where these parties are whole."""
        if not all(whole[p] for p in parties):
            return make()
        if (what, parties) not in cache:
            cache[what, parties] = make()
        return cache[what, parties]

    def summary(party: int) -> Any:
        if whole[party]:
            return metric.summarize(samples[party])
        return metric.summarize_repeated(samples[party], counts[party])

    for b in range(len(real_counts[0])):
        counts = [c[b] for c in (*real_counts, *generated_counts)]
        whole = [s.rows is None or bool((c == 1).all()) for s, c in zip(samples, counts, strict=True)]
        summaries = [once("summary", (p,), partial(summary, p)) for p in range(len(samples))]
        shares = _shares_left(metric, weights, counts[: len(real)])
        together = once("pool", everyone, partial(metric.pool, summaries[: len(real)], shares))
        for g, summary_of_generator in enumerate(summaries[len(real) :], len(real)):
            by_client.append([once("client", (c, g), score(summaries[c], summary_of_generator)) for c in everyone])
            pooled.append(once("all", (*everyone, g), partial(_pooled_score, metric, together, summary_of_generator)))
    shape = len(real_counts[0]), len(generated)
    return np.array(by_client).reshape(*shape, len(real)), np.array(pooled).reshape(shape)


def _shares_left(metric: Metric[Any], weights: Sequence[float], counts: Sequence[Any]) -> Sequence[float]:
    """The weights; for metrics that concatenate, each client's by how many of its rows are there."""
    if not metric.copies_matter:
        return weights
    left = [w * (c.sum() / len(c) if len(c) else 1.0) for w, c in zip(weights, counts, strict=True)]
    return [w / math.fsum(left) for w in left]


def terms_of(metric: Metric[Any], real: Any, generated: Any) -> Terms:
    """The terms of one pair of summaries, or why there are none: a summary may have been refused already."""
    if isinstance(real, InvalidInput):
        return real
    if isinstance(generated, InvalidInput):
        return generated
    try:
        terms = metric.terms(real, generated)
    except BadRows:
        raise
    except InvalidInput as error:
        return error
    values = list(terms.values()) if isinstance(terms, Mapping) else []
    try:
        numbers = [math.fsum([value]) for value in values if np.ndim(value) == 0]  # NaN and infinity are numbers, too
    except (TypeError, ValueError, OverflowError, RuntimeError):
        numbers = []
    if not values or len(numbers) < len(values):
        raise InvalidInput("metrics", f"terms of {metric.name!r} gave {shown(terms)}", "Return a dict of named numbers")
    return terms


def losses(metric: Metric[Any], scores: Any) -> np.ndarray:
    """Scores (any shape) as what generators are ranked by, lower is better: as they are, negated, or off the best."""
    values = np.asarray(scores, dtype=np.float64)
    if metric.best is not None:
        return np.abs(values - metric.best)
    return -values if metric.higher_is_better else values


def _score(metric: Metric[Any], real: Any, generated: Any) -> float:
    return math.fsum(metric.terms(real, generated).values())


def _pooled_score(metric: Metric[Any], real: Any, generated: Any) -> float:
    corrected = metric.without_bias(real, generated)
    return _score(metric, real, generated) if corrected is None else corrected


# Hooks by the names that they had.
_OLD_HOOKS = {
    "by_pairs": "pairwise_pool",
    "has_pulls": "has_influence_values",
    "lone": "single_row_summary",
    "merger": "pool_operator",
    "pulls": "influence_values",
    "reads": "streaming_mode",
    "rest": "release_cache",
}


_REGISTRY: dict[str, Callable[[], Metric[Any]]] = {}


def register(names: Mapping[str, Callable[[], Metric[Any]]]) -> None:
    """Make metrics known by name to `evaluate`."""
    _REGISTRY.update(names)


def metric_of(item: Any, argument: str = "metrics") -> Metric[Any]:
    """A metric from its name, or from an object with the three functions.

    A name may be written as tables write it: "FID", "FID∞" or "AuthPct". One that is not nbmetrics' own is looked for
    in the installed packages, see `plugins`.

    Examples
    --------
    >>> nm.metrics.metric_of("fid").label
    'FID'
    """
    if isinstance(item, str):
        name = item if item in _REGISTRY else {letters(name): name for name in _REGISTRY}.get(letters(item), item)
        return _REGISTRY[name]() if name in _REGISTRY else _metric_of_plugin(name, argument)
    item = item() if isinstance(item, type) else item
    for old, new in _OLD_HOOKS.items():
        if hasattr(type(item), old):
            raise InvalidInput(argument, f"{shown(item)} has the hook {old}, which no longer exists", f"Call it {new}")
    if isinstance(item, Metric):
        return item
    missing = [f for f in ("name", "summarize", "pool", "terms") if not hasattr(item, f)]
    if missing and not (missing == ["name"] and callable(item.terms)):
        raise InvalidInput(argument, f"{shown(item)} has no {', '.join(missing)}", "Give a name or a Metric")
    return Adapted(item)


def _metric_of_plugin(name: str, argument: str) -> Metric[Any]:
    """A metric of an installed package; InvalidInput for a name that none has."""
    others, _ = plugins(METRICS, _REGISTRY)
    plugin = find(METRICS, name, _REGISTRY)
    if plugin is None:
        raise no_choice(name, [*_REGISTRY, *others], argument)
    item = plugin.make(argument)
    if isinstance(item, str):
        raise plugin.refusal(argument, f"gives {shown(item)}, which is no metric")
    try:
        metric = metric_of(item, argument)
    except InvalidInput as error:
        raise plugin.refusal(argument, f"gives no metric: {error.seen}") from None
    if metric.name != plugin.name:  # a table would show it as another's
        raise plugin.refusal(argument, f"calls itself {shown(metric.name)}")
    return metric
