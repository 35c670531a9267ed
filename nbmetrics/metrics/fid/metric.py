"""FID: the squared Fréchet (2-Wasserstein) distance between Gaussians fitted to real and generated features.

Twin: labs/plane/view/scores.js · held by: tests/labs/plane/test_scores_page.py

    FID = ‖μ − μ_G‖² + Tr C + Tr C_G − 2 Tr (C C_G)^{1/2}

With any factors C = AᵀA, C_G = BᵀB the last trace is the nuclear norm ‖A Bᵀ‖_*: symmetric, never complex,
cheap where a client has fewer rows than features, and right for singular covariances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from array_api_compat import is_torch_array

from ...arrays import align, memory, to_numpy
from ...distributions import Distribution, HasMoments, has_moments
from ...errors import InvalidInput
from ...summaries.centred_sums import MomentSums
from ...summaries.moments import Moments, MomentsFold, UncountedMoments
from ...summaries.reference import Moments as ReferenceMoments
from ...summaries.roots import congruent_values, nuclear_norm, singular_values
from ..base import Metric, Sample, Terms, score_pair, terms_of
from ..capabilities import (
    Additive,
    BatchedTerms,
    BiasCorrected,
    Cautious,
    ClosedForm,
    HasInfluence,
    MergeablePool,
    OnePass,
    Resampled,
    SingleRowPool,
    Sums,
)
from ..sample import parties_with_few_rows
from ..stratified import InfluenceValues, Pieces, Strata, whole
from ..streaming import summarized_once
from ..weak_cache import remember
from .debiased import Debiased
from .size_gap import size_gap
from .slopes import slopes

# What is remembered of a generator: Tr (C C_G)^{1/2} with the clients for which it was computed ahead of the terms.
CROSSES = "crosses"
# Of Tr C + Tr C_G: how exactly the trace term is computed.
PRECISION = 1e-11
# Of `memory.block_bytes`: roots of small clients that are multiplied at once.
STACK_SHARE = 1.0


class FID(
    Metric[Moments],
    OnePass,
    Additive,
    MergeablePool,
    SingleRowPool,
    BatchedTerms,
    HasInfluence,
    Resampled,
    ClosedForm,
    Cautious,
    BiasCorrected,
):
    """Fréchet Inception Distance on the features given (Heusel et al. 2017; Theorem 2 of Wang et al.).

    Range [0, ∞), lower is better; units are squared feature units. Covariances use ddof 1 for rows and are
    exact for distributions with `.mean` and `.cov`. FID-all depends on the clients through (μ̂, Ĉ) only.
    """

    name = "fid"
    label = "FID"
    has_influence_values = True
    is_distance = True

    def summarize(self, sample: Sample) -> Moments:
        """Mean and covariance of `sample.rows` (n ≥ 2), of its stream by one pass, or of its exact distribution; or as
        they are given."""
        if sample.moments is not None:
            return sample.moments.summary()
        if sample.stream is not None:
            (moments,) = summarized_once(sample.stream, [self])
            return cast(Moments, moments)
        if sample.rows is None:
            return Moments.of_distribution(cast(HasMoments, sample.exact_distribution))
        if sample.rows.shape[0] < 2:
            raise InvalidInput("rows", "has 1 row, and a covariance needs 2", "Give more rows, or leave these out")
        return Moments.of_rows(sample.rows)

    @property
    def takes_moments(self) -> bool:  # type: ignore[override]
        return type(self).summarize is FID.summarize

    def streaming_mode(self, dim: int) -> str:
        return "once" if type(self).summarize is FID.summarize else "rows"

    def fold(self, dim: int) -> MomentsFold:
        return MomentsFold()

    def additive_sums(self, dim: int) -> Sums[Moments]:
        return MomentSums(dim) if self.takes_moments else super().additive_sums(dim)

    def single_row_summary(self, sample: Sample) -> Moments | None:
        """The moments of a single row, which has a place in the pool and no covariance."""
        return None if sample.rows is None else Moments.of_rows(sample.rows)

    def summarize_repeated(self, sample: Sample, counts: np.ndarray) -> Moments:
        """The moments with each row as often as `counts` says."""
        return Moments.of_counts(sample.rows, counts)

    def release_cache(self, summary: Moments) -> None:
        """Free half of a covariance, and its factor."""
        summary.fold()

    def all_terms(self, real: Sequence[Moments], generated: Sequence[Moments]) -> Iterable[Iterable[Terms]]:
        """The terms of every pair; the roots of many small clients times a generator's in few products."""
        small = [m for m in real if isinstance(m.kept_root, np.ndarray)]
        for other in generated:
            if len(small) > 1 and other.kept_dense is not None and isinstance(other.mean, np.ndarray):
                _remember_crosses(small, other)
            yield (terms_of(self, client, other) for client in real)

    def pool(self, summaries: Sequence[Moments], weights: Sequence[float]) -> Moments:
        """Moments of the pooled data, (μ̂, Ĉ)."""
        return Moments.pool(summaries, weights)

    def pool_operator(self, dim: int) -> Callable[[Sequence[Moments], Sequence[float]], Moments]:
        """Moments of mixtures are those of their mixture."""
        return Moments.pool

    def terms(self, real: Moments, generated: Moments) -> dict[str, float]:
        """`mean` = ‖μ − μ_G‖² and `covariance` = Tr C + Tr C_G − 2 Tr (C C_G)^{1/2}, both ≥ 0."""
        mean, other = align(real.mean, generated.mean)
        shift = mean - other
        traces = real.trace + generated.trace
        crosses: WeakKeyDictionary[Moments, float] = remember(generated, CROSSES, WeakKeyDictionary)
        cross = crosses.get(real)
        if cross is None:
            cross = float(self._spectrum(real, generated).sum())
        return {"mean": float(shift @ shift), "covariance": max(0.0, traces - 2.0 * cross)}

    def _spectrum(self, real: Moments, generated: Moments) -> np.ndarray:
        """The singular values of A Bᵀ; the last ones are kept, as `size_gap` asks after `terms`."""
        last: WeakKeyDictionary[Moments, np.ndarray] = remember(generated, "spectrum", WeakKeyDictionary)
        if (kept := last.get(real)) is not None:
            return kept
        tolerance, values = PRECISION * (real.trace + generated.trace), None
        if is_torch_array(real.mean) or is_torch_array(generated.mean):
            root_a, root_b = align(real.root, generated.root)
            values = singular_values(root_a @ root_b.T, tolerance)
        elif real.kept_dense is not None and generated.kept_dense is not None:
            values = congruent_values(real.dense, generated.graded, tolerance)
        if values is None:
            values = singular_values(generated.times_root(real.root), tolerance)
        singular = to_numpy(values)
        last.clear()
        last[real] = singular
        return singular

    def size_gap(
        self, clients: Sequence[Moments], weights: Sequence[float], pooled: Moments, generated: Moments
    ) -> float:
        """How much of avg − all would be there if all clients were alike, from their numbers of rows; NaN where nobody
        knows one of several."""
        if len(clients) > 1 and any(w and isinstance(c, UncountedMoments) for c, w in zip(clients, weights)):
            return math.nan
        counts = [client.count for client in clients]
        return size_gap(self._spectrum(pooled, generated), pooled.trace, counts, weights)

    def slopes(
        self, clients: Sequence[Moments], weights: Sequence[float], generated: Moments, pooled: Moments | None = None
    ) -> np.ndarray:
        """How fast FID-all grows with each weight, the others shrinking in proportion, (k,); NaN where it has no slope.

        In squared feature units: moving a share h of the weight towards client i changes FID-all by about h·slope_i.
        Σ λ_i slope_i = 0, so the slopes are what each client adds to FID-all beyond its share.
        """
        return slopes(clients, weights, self.pool(clients, weights) if pooled is None else pooled, generated)

    def scale(self, summary: Moments) -> float:
        """The trace of the covariance."""
        return summary.trace

    def pool_strata(self, strata: Sequence[Strata[Moments]], weights: Sequence[float]) -> Strata[Moments]:
        return Strata.pool(strata, weights, Moments.mixture)

    def influence_values(self, real: Strata[Moments], generated: Strata[Moments]) -> InfluenceValues:
        """FID without the bias of few rows, and each row's pull on it."""
        return whole(self.influence_pieces(real, generated))

    def influence_pieces(self, real: Strata[Moments], generated: Strata[Moments]) -> Pieces[InfluenceValues]:
        """The same in pieces."""
        return Debiased(real, generated).pieces()

    def rows_to_resample(self, dim: int) -> int:
        """Rows below which intervals by resampling were seen to miss: what they leave of the bias grows like d³/n²."""
        return max(5 * dim, math.ceil(dim * dim / 8))

    def has_closed_form(self, distribution: Distribution) -> bool:
        return has_moments(distribution)

    def cautions(self, clients: Sequence[Sample], generators: Sequence[Sample]) -> list[str]:
        """Who has too few rows for a score to be more than bias, and generators that bias makes incomparable."""
        needed, lines = 10 * clients[0].dim, []
        who = parties_with_few_rows(needed, client=clients, generator=generators)
        if who:
            few = f"{who} fewer than {needed:,} rows (10 per feature)"
            are_here = all(s.moments is None and not s.is_stand_in for s in clients)
            has_rows = are_here and any(s.moments is None for s in generators)
            way_out = "; with uncertainty by influence, FID is corrected" if has_rows else ""
            lines += [f"FID: {few}, so much of the plain FID is bias{way_out}."]
        sizes = [g.size for g in generators if g.size is not None] or [0]
        if max(sizes) > 1.5 * min(sizes) and min(sizes) < 5 * needed:
            span = f"{min(sizes):,} to {max(sizes):,}"
            unlike = f"generators have {span} rows, and fewer rows give a larger plain FID"
            lines += [f"FID: {unlike}: compare equal numbers, or fid_infinity."]
        moments = [s.moments for s in (*clients, *generators) if s.moments is not None]
        return [*lines, *_moments_cautions(moments)] if moments else lines

    @property
    def convention(self) -> str:
        return "FID: squared Fréchet distance, covariances with ddof 1"


def _moments_cautions(given: Sequence[ReferenceMoments]) -> list[str]:
    """What is to be known of means and covariances that were given."""
    lines = list(dict.fromkeys(f"FID: {note}." for moments in given for note in moments.notes))
    uncounted = sum(moments.n is None for moments in given)
    if uncounted:
        who = "a client or generator is" if uncounted == 1 else f"{uncounted} clients and generators are"
        seen = f"{who} a mean and a covariance of an unknown number of rows"
        lines.append(f"FID: {seen}, so how much of the plain FID is bias is not known.")
    return lines


def _remember_crosses(clients: Sequence[Moments], other: Moments) -> None:
    """Leave Tr (C C_G)^{1/2} of small clients where `terms` looks for it."""
    crosses: WeakKeyDictionary[Moments, float] = remember(other, CROSSES, WeakKeyDictionary)
    for some in _stacks(clients, STACK_SHARE * memory.block_bytes / (8 * other.mean.shape[0])):
        product, start = other.times_root(np.concatenate([m.root for m in some])), 0
        for m in some:
            end = start + len(m.root)
            crosses[m] = nuclear_norm(product[start:end], PRECISION * (m.trace + other.trace))
            start = end


def _stacks(clients: Sequence[Moments], most_rows: float) -> Iterator[list[Moments]]:
    """Yield clients whose roots together have at most so many rows, or one of them."""
    stack: list[Moments] = []
    rows = 0
    for m in clients:
        if stack and rows + len(m.root) > most_rows:
            yield stack
            stack, rows = [], 0
        stack.append(m)
        rows += len(m.root)
    yield stack


def fid(real: Any, generated: Any) -> float:
    """FID between two samples (Heusel et al. 2017).

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch, n, m ≥ 2), distributions, or `nm.Moments`

    Returns
    -------
    float ≥ 0, squared feature units; lower is better

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, or fewer than 2 rows.

    Examples
    --------
    >>> round(nm.fid(nm.Gaussian([0, 0]), nm.Gaussian([3, 4])), 6)  # exact: the squared distance of the means
    25.0
    >>> round(nm.fid([[0.0], [2.0]], [[1.0], [3.0]]), 6)
    1.0
    """
    return score_pair(FID(), real, generated)
