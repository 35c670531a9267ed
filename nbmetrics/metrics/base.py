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
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np

from ..arrays import Array, check_frames
from ..distributions import Distribution, draw_rows
from ..errors import InvalidInput, check_choice, shown
from ..summaries.rows import Rows
from ..summaries.stream import BadRows
from .sample import Sample
from .stratified import InfluenceValues, Strata

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
# The named addends of a score, or why there is none.
Terms = Mapping[str, float] | InvalidInput


class Fold(Protocol[S_co]):
    """The summary of rows that come in blocks, each taken once."""

    def take(self, rows: np.ndarray) -> None: ...

    def end(self) -> S_co: ...


class Metric(ABC, Generic[S]):
    """A score between real data and a generator: three functions, and hooks, whose defaults suit most metrics.

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
    pools_scores : whether a pooled score takes all that the clients' own scores take
    is_squared : whether it is a squared distance with an error that grows with the distance
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
    pools_scores = False
    is_squared = False

    @abstractmethod
    def summarize(self, sample: Sample) -> S:
        """The summary of `sample` (with `.rows`, or `.distribution` where there is a closed form)."""

    @abstractmethod
    def pool(self, summaries: Sequence[S], weights: Sequence[float]) -> S:
        """The summary of the mixture Σ λ_i P_i."""

    @abstractmethod
    def terms(self, real: S, generated: S) -> dict[str, float]:
        """Named addends of the score."""

    def distance(self, real: S, generated: S) -> float:
        """The score: the sum of `terms`."""
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

    def has_closed_form(self, distribution: Distribution) -> bool:
        """Whether `summarize` takes this distribution exactly, without drawing rows."""
        return False

    def resolve(self, clients: Sequence[Sample]) -> Metric[S]:
        """This metric with data-dependent settings fixed once for all clients."""
        return self

    def streaming_mode(self, dim: int) -> str:
        """How `summarize` reads a stream of rows of `dim` features: "once" by `fold`, "again" (several passes), or not
        at all, "rows": it needs them together."""
        return "rows"

    def fold(self, dim: int) -> Fold[S]:
        """What makes the summary of rows that come in blocks, where `streaming_mode` says "once"."""
        raise NotImplementedError

    def all_terms(self, real: Sequence[S], generated: Sequence[S]) -> Iterable[Iterable[Terms]]:
        """The terms of every pair, generator by generator; to be replaced where many pairs at once are cheaper."""
        return ((terms_of(self, client, other) for client in real) for other in generated)

    def single_row_summary(self, sample: Sample) -> S | None:
        """What a client adds to the pool whose rows `summarize` refuses as too few for a score of its own; or None."""
        return None

    def prepare(self, clients: Sequence[S]) -> None:
        """Compute once what the scores of all these clients will share; for where they come one after the other."""

    def release_cache(self, summary: S) -> None:
        """Free what was computed of a summary, is large, and can be computed again."""

    def pool_operator(self, dim: int) -> Callable[[Sequence[S], Sequence[float]], S] | None:
        """What pools pools of `dim` features to one hardly larger, in a tree; None where a pool holds all its parts."""
        return None

    def pairwise_pool(self, dim: int) -> Any:
        """What makes the pool from numbers of every two clients, whose rows stay apart, see `kid.pairs`; or None."""
        return None

    def cautions(self, clients: Sequence[Sample], generators: Sequence[Sample]) -> Sequence[str]:
        """Lines on what these samples are too few, or too unlike, for; `generators` without those that answered."""
        return ()

    def caution(self, real: S, generated: S) -> str | None:
        """Why the score of this pair is to be read with caution, "" where it is not; None: left to its interval."""
        return None

    def without_bias(self, real: S, generated: S) -> float | None:
        """The score of pooled clients (or of one) without the bias of their fixed numbers of rows; None: as it is."""
        return None

    def size_gap(self, clients: Sequence[S], weights: Sequence[float], pooled: S, generated: S) -> float:
        """How much of avg − all would be there if all clients were alike, from their numbers of rows; 0: unknown."""
        return 0.0

    def slopes(
        self, clients: Sequence[S], weights: Sequence[float], generated: S, pooled: S | None = None
    ) -> np.ndarray | None:
        """How fast the pooled score grows with each weight, the others shrinking in proportion, (k,); None: unknown."""
        return None

    def scale(self, summary: S) -> float:
        """The size of a summary in units of the score, beside which a `size_gap` may be negligible."""
        return 0.0

    @property
    def no_resampling(self) -> str:
        """Why rows cannot be resampled for this metric, or nothing."""
        return ""

    def rows_to_resample(self, dim: int) -> int:
        """Rows below which resampling gives no interval, of `dim` features."""
        return 0

    def summarize_repeated(self, sample: Sample, counts: np.ndarray) -> S:
        """The summary with each row as often as `counts` (n,) says."""
        return self.summarize(sample.repeated(counts))

    def replicates(
        self,
        real: Sequence[Sample],
        generated: Sequence[Sample],
        weights: Sequence[float],
        real_counts: Sequence[Any],
        generated_counts: Sequence[Any],
    ) -> tuple[np.ndarray, np.ndarray]:
        """All scores on resampled rows, as `replicate`; to be replaced where there is a faster way."""
        return replicate(self, real, generated, weights, real_counts, generated_counts)

    @property
    def has_influence_values(self) -> bool:
        """Whether `influence_values` are known, so that `Influence` needs no resampling."""
        return False

    def influence_values(self, real: Strata[Any], generated: Strata[Any]) -> InfluenceValues:
        """The score without its bias, and how each row pulls on it; NaN pulls where the rows are too few."""
        raise NotImplementedError

    def strata(self, summary: S, rows: Array | None) -> Strata[Any]:
        """A summary of this metric beside its rows, for `influence_values`."""
        return Strata.of(summary, rows)

    def pool_strata(self, strata: Sequence[Strata[Any]], weights: Sequence[float]) -> Strata[Any]:
        """The mixture Σ λ_i P_i of strata."""
        return Strata.pool(strata, weights, self.pool)


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


_HOOKS = {hook for hook in vars(Metric) if hook[0] != "_"} - {*vars(Adapted), "name"}


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
            seen = f"{self.name}-all cannot weigh rows, and these weigh unequally"
            raise InvalidInput("weights", seen, "Give the clients weights proportional to their numbers of rows")


def score_pair(metric: Metric[Any], real: Any, generated: Any, *, samples: int = 10_000, seed: int = 0) -> float:
    """The metric between two samples, each rows or a distribution.

    A distribution without a closed form under this metric is sampled: `samples` rows, seeded.
    """
    check_frames(real=real, generated=generated)
    first = Sample.of(real, "real", min_rows=metric.min_rows)
    second = Sample.of(generated, "generated", dim=first.dim, min_rows=metric.min_rows)
    metric = metric.resolve([first])
    summaries = [
        metric.summarize(sample_if_needed(metric, s, samples, [seed, i])) for i, s in enumerate((first, second))
    ]
    return metric.distance(*summaries)


def sample_if_needed(metric: Metric[Any], sample: Sample, n: int, seed: Any) -> Sample:
    """`sample` itself where the metric can use it; otherwise `n` rows of its distribution."""
    if sample.rows is not None or metric.has_closed_form(sample.exact_distribution):
        return sample
    return Sample(rows=draw_rows(sample.exact_distribution, n, np.random.default_rng(seed), "sample"))


def replicate(
    metric: Metric[Any],
    real: Sequence[Sample],
    generated: Sequence[Sample],
    weights: Sequence[float],
    real_counts: Sequence[Any],
    generated_counts: Sequence[Any],
    known: dict[Any, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """All scores on resampled rows: by client (replicates, generators, clients) and pooled (replicates, generators).

    Pooled ones are those of `Metric.without_bias` where the metric has them.
    `counts` say how often each row of a party is there, (replicates, n), or give it one or some replicates at a time
    (`counts[b]`, `counts[a:b]`). What a replicate leaves as it is, is computed once, also
    over several calls that share `known`, empty at first.
    """
    samples, everyone = (*real, *generated), tuple(range(len(real)))
    by_client, pooled = [], []
    known = {} if known is None else known
    score = partial(partial, _score, metric)

    def once(what: str, parties: tuple[int, ...], make: Callable[[], Any]) -> Any:
        """`make()`, kept where these parties are whole."""
        if not all(whole[p] for p in parties):
            return make()
        if (what, parties) not in known:
            known[what, parties] = make()
        return known[what, parties]

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
        for g, made in enumerate(summaries[len(real) :], len(real)):
            by_client.append([once("client", (c, g), score(summaries[c], made)) for c in everyone])
            pooled.append(once("all", (*everyone, g), partial(_pooled_score, metric, together, made)))
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
    if not isinstance(terms, Mapping) or any(np.ndim(value) for value in terms.values()):
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
    found = metric.without_bias(real, generated)
    return _score(metric, real, generated) if found is None else found


_REGISTRY: dict[str, Callable[[], Metric[Any]]] = {}


def register(names: Mapping[str, Callable[[], Metric[Any]]]) -> None:
    """Make metrics known by name to `evaluate`."""
    _REGISTRY.update(names)


def metric_of(item: Any, argument: str = "metrics") -> Metric[Any]:
    """A metric from its name, or from an object with the three functions.

    Examples
    --------
    >>> nm.metrics.metric_of("fid").label
    'FID'
    """
    if isinstance(item, str):
        return _REGISTRY[check_choice(item, _REGISTRY, argument)]()
    item = item() if isinstance(item, type) else item
    if isinstance(item, Metric):
        return item
    missing = [f for f in ("name", "summarize", "pool", "terms") if not hasattr(item, f)]
    if missing and not (missing == ["name"] and callable(item.terms)):
        raise InvalidInput(argument, f"{shown(item)} has no {', '.join(missing)}", "Give a name or a Metric")
    return Adapted(item)
