"""What a metric can do beyond its three functions: one small protocol each, implemented where it applies.

A metric lists those it has among its bases, `class FID(Metric[Moments], OnePass, HasInfluence)`, and an object of a
user's has those whose methods it defines; `base.Defaults` answers for all others, and `base.capabilities_of` tells
which a metric has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from ..arrays import Array
from ..distributions import Distribution
from ..errors import InvalidInput
from .sample import Sample
from .stratified import InfluenceValues, Pieces, Strata

S_co = TypeVar("S_co", covariant=True)
# The named addends of a score, or why there is none.
Terms = Mapping[str, float] | InvalidInput


class Fold(Protocol[S_co]):
    """The summary of rows that come in blocks, each taken once.

    One that also has `merge(other)`, which adds the rows that another one took, lets a cluster split a large client.
    """

    def take(self, rows: np.ndarray) -> None: ...

    def end(self) -> S_co: ...


class OnePass(Protocol):
    """Summaries of streams that are too long for memory."""

    def streaming_mode(self, dim: int) -> str:
        """Return how `summarize` reads a stream of rows of `dim` features: "once" by `fold`, "again" (several passes),
        or not at all, "rows": it needs them together."""
        ...

    def fold(self, dim: int) -> Fold[Any]:
        """Return what makes the summary of rows that come in blocks, where `streaming_mode` says "once"."""
        ...


class Sums(Protocol[S_co]):
    """Sums over rows about a centre (d,), float64: those of two batches, or of two processes, are added.

    Their first number is the number of rows.
    """

    @property
    def length(self) -> int:
        """Numbers of one party."""
        ...

    def of_rows(self, rows: Array, centre: Array) -> Array:
        """Return the sums of rows (n, d), (length,), on their device."""
        ...

    def moved(self, sums: Array, centre: Array, shift: Array) -> Array:
        """Return the same sums about a centre farther by `shift`, (d,)."""
        ...

    def summary(self, sums: np.ndarray, centre: np.ndarray) -> S_co:
        """Return the summary of n ≥ 1 rows, for the metric that is `centred_at` the centre."""
        ...


class Additive(Protocol):
    """Summaries that are made of sums, so that `nbmetrics.torch.Score` adds them up over batches and processes."""

    def additive_sums(self, dim: int) -> Sums[Any]:
        """Return the sums for rows of `dim` features; InvalidInput, with the way out, where there are none."""
        ...

    def centred_at(self, centre: np.ndarray) -> Any:
        """Return this metric with what is resolved on rows, fixed for summaries of sums about a centre (d,)."""
        ...


class MergeablePool(Protocol):
    """Pools that are pooled again, in a tree."""

    def pool_operator(self, dim: int) -> Callable[[Sequence[Any], Sequence[float]], Any] | None:
        """Return what pools pools of `dim` features to one hardly larger; None where a pool holds all its parts."""
        ...


class PairwisePool(Protocol):
    """A pool that follows from numbers of every two clients, whose rows stay apart."""

    def pairwise_pool(self, dim: int) -> Any:
        """Return what makes the pool from such numbers, see `kid.mean_tables.PairwiseMeans`; or None."""
        ...


class SingleRowPool(Protocol):
    """A place in the pool for clients of too few rows for a score of their own."""

    def single_row_summary(self, sample: Sample) -> Any:
        """Return what a client adds to the pool whose rows `summarize` refuses; or None."""
        ...


class BatchedTerms(Protocol):
    """Work that many pairs of summaries share."""

    def all_terms(self, real: Sequence[Any], generated: Sequence[Any]) -> Iterable[Iterable[Terms]]:
        """Return the terms of every pair, generator by generator, where many pairs at once are cheaper."""
        ...

    def prepare(self, clients: Sequence[Any]) -> None:
        """Compute once what the scores of all these clients share; for where they come one after the other."""

    def release_cache(self, summary: Any) -> None:
        """Free what was computed of a summary, is large, and can be computed again."""


class HasInfluence(Protocol):
    """Influence values, so that `nm.Influence()` gives intervals without resampling."""

    @property
    def has_influence_values(self) -> bool:
        """Whether `influence_values` are known under these settings."""
        ...

    def influence_values(self, real: Strata[Any], generated: Strata[Any]) -> InfluenceValues:
        """Return the score without its bias and the influence value of each row; NaN where the rows are too few."""
        ...

    def influence_pieces(self, real: Strata[Any], generated: Strata[Any]) -> Pieces[InfluenceValues]:
        """Return the same as a computation that may be left after each piece; a metric need not have it."""
        ...

    def strata(self, summary: Any, rows: Array | None) -> Strata[Any]:
        """Return a summary of this metric beside its rows, for `influence_values`."""
        ...

    def pool_strata(self, strata: Sequence[Strata[Any]], weights: Sequence[float]) -> Strata[Any]:
        """Return the mixture Σ λ_i P_i of strata."""
        ...


class Resampled(Protocol):
    """Ways of its own to score resampled rows, and limits to that."""

    @property
    def no_resampling(self) -> str:
        """Why rows cannot be resampled for this metric, or nothing."""
        ...

    def rows_to_resample(self, dim: int) -> int:
        """Return the rows below which resampling gives no interval, of `dim` features."""
        ...

    def summarize_repeated(self, sample: Sample, counts: np.ndarray) -> Any:
        """Return the summary with each row as often as `counts` (n,) says."""
        ...

    def replicates(
        self,
        real: Sequence[Sample],
        generated: Sequence[Sample],
        weights: Sequence[float],
        real_counts: Sequence[Any],
        generated_counts: Sequence[Any],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return all scores on resampled rows, as `base.replicate` does, where there is a faster way."""
        ...


class ClosedForm(Protocol):
    """Scores of distributions without drawing rows."""

    def has_closed_form(self, distribution: Distribution) -> bool:
        """Return whether `summarize` takes this distribution exactly."""
        ...


class Cautious(Protocol):
    """Words on what a score is not to be trusted for."""

    def cautions(self, clients: Sequence[Sample], generators: Sequence[Sample]) -> Sequence[str]:
        """Return lines on what these samples are too few, or too unlike, for; without generators that answered."""
        ...

    def caution(self, real: Any, generated: Any) -> str | None:
        """Return why the score of this pair is to be read with caution, "" if not; None: left to its interval."""
        ...


class BiasCorrected(Protocol):
    """What is known of the pooled score beyond its value: its bias, and how it moves with the weights."""

    def without_bias(self, real: Any, generated: Any) -> float | None:
        """Return the score of pooled clients (or of one) without the bias of their fixed numbers of rows, or None."""
        ...

    def pooled_convention(self, pooled: Any) -> str:
        """Return what the score of pooled rows is and which one has no bias, as far as its name does not say it."""
        ...

    def pooled_caution(self, pooled: Any, scores: Sequence[float]) -> str:
        """Return why the pooled scores, by generator, are to be read with caution, "" if not: of all or of none."""
        ...

    def size_gap(self, clients: Sequence[Any], weights: Sequence[float], pooled: Any, generated: Any) -> float:
        """Return how much of avg − all would be there for alike clients, from their numbers of rows; 0: unknown."""
        ...

    def scale(self, summary: Any) -> float:
        """Return the size of a summary in units of the score, beside which a `size_gap` may be negligible."""
        ...

    def slopes(
        self, clients: Sequence[Any], weights: Sequence[float], generated: Any, pooled: Any = None
    ) -> np.ndarray | None:
        """Return how fast the pooled score grows with each weight as the others shrink in proportion, (k,); or None."""
        ...


CAPABILITIES = (
    OnePass,
    Additive,
    MergeablePool,
    PairwisePool,
    SingleRowPool,
    BatchedTerms,
    HasInfluence,
    Resampled,
    ClosedForm,
    Cautious,
    BiasCorrected,
)
