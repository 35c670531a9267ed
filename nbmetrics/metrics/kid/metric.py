"""KID: the squared maximum mean discrepancy (MMD²) between real and generated features.

Twin: labs/plane/view/scores.js · held by: tests/labs/plane/test_scores_page.py

    KID = E k(X, X′) + E k(Y, Y′) − 2 E k(X, Y)

unbiased and on all rows, in blocks whose memory does not grow with n·m; exact for Gaussians and mixtures.
The mean embedding is linear in the distribution, so KID-avg − KID-all is the same for every generator (Theorem 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np

from ...distributions import Distribution
from ...errors import check_names
from ...summaries.kernel_mean import KernelMean
from ..base import Metric, Sample, Terms, score_pair
from ..capabilities import (
    Additive,
    BatchedTerms,
    BiasCorrected,
    ClosedForm,
    HasInfluence,
    MergeablePool,
    OnePass,
    PairwisePool,
    Resampled,
    SingleRowPool,
)
from ..stratified import InfluenceValues, Pieces, Strata, whole
from ..streaming import summarized_once
from .additive_sums import additive_sums
from .estimators import AllPairs, as_estimator
from .influence import kernel_influence_values
from .kernels import as_kernel
from .mean_tables import PairwiseMeans, remember_means, tabulate
from .polynomial import CentredPolynomial, Polynomial, about_mean
from .replicates import replicates

CUBIC = Polynomial(3)
# Of KID-all: the share from which a bias is said.
BIAS_CAUTION_SHARE = 0.1
POOLED_CONVENTION = (
    "all is the U statistic of the pooled rows, as other packages compute it; for weights by rows it is about "
    "gap/(n − 1) too low (n: all rows). all_corrected (with uncertainty=) uses the stratified estimate, which has no "
    "such bias"
)
# Rows of a client or generator below which intervals hold less often than they say.
MIN_INTERVAL_ROWS = 20
FEW_ROWS_CAUTION = (
    f"a client or the generator has fewer than {MIN_INTERVAL_ROWS} rows: its interval may hold less often than it says"
)


class KID(
    Metric[Any],
    OnePass,
    Additive,
    MergeablePool,
    PairwisePool,
    SingleRowPool,
    BatchedTerms,
    HasInfluence,
    Resampled,
    ClosedForm,
    BiasCorrected,
):
    """Kernel Inception Distance (Bińkowski et al. 2018; Theorem 1 of Wang et al.).

    Parameters
    ----------
    kernel : `Polynomial()` (cubic, the default), `RBF(sigma)`, or any function of two blocks of rows
        (n, d), (m, d) -> (n, m)
    estimator : "unbiased" (all pairs but those of a row with itself), "stratified" (the same, and KID-all without bias
        too), "biased" (the V-statistic, ≥ 0), "linear" (disjoint pairs of rows) or `nm.Subsets(100, 1000, seed=0)`
    name : the key in tables; give another one to compare two kernels in one evaluation

    Lower is better; 0 in expectation for equal distributions, where the unbiased estimate may be negative. KID-all of
    the "unbiased" estimator takes the rows for one weighted sample, as other packages and `np.cov` do: with weights in
    proportion to the rows it is the KID of the concatenated rows. But the rows are a fixed number of each client, so
    it is too small by gap/(n − 1) then, n all rows, and off by about the gap over the rows of a client under other
    weights. "stratified" is Σ λᵢ² Uᵢᵢ + Σ_{i≠j} λᵢλⱼ K̄ᵢⱼ in the place of E k(X, X′), Uᵢᵢ over pairs of different rows
    of client i, and unbiased under any weights; intervals and corrected scores are about it.
    """

    is_squared = True

    def __init__(self, kernel: Any = CUBIC, estimator: Any = "unbiased", name: str = "kid") -> None:
        self.kernel = CUBIC if kernel is None else as_kernel(kernel)
        self.estimator_option = estimator
        self.estimator = as_estimator(estimator, self.kernel)
        self.pools_scores = isinstance(self.estimator, AllPairs)
        self.name = check_names([name], "name")[0]
        self.label = self.name.replace("_", " ").replace("kid", "KID")

    @property
    def is_unbiased(self) -> bool:  # type: ignore[override]
        """Whether its mean does not depend on the rows of a generator: of all estimators but the biased one."""
        return bool(self.estimator_option != "biased")

    @property
    def stratified(self) -> KID:
        """This metric with the "stratified" estimator where it has the "unbiased" one, else itself."""
        if self.estimator_option != "unbiased":
            return self
        metric = copy(self)
        metric.estimator_option, metric.estimator = "stratified", self.estimator.without_bias
        return metric

    def summarize(self, sample: Sample) -> Any:
        """The kernel mean of `sample.rows` (n ≥ 2) or of its exact distribution (rows for "linear" and Subsets).

        Of a stream: by one pass where the kernel has an embedding (cubic, d ≤ 128), else blocks of pairs by several.
        """
        if sample.stream is not None and self.streaming_mode(sample.dim) == "once":
            (mean,) = summarized_once(sample.stream, [self])
            return mean
        return self.estimator.summarize(sample)

    def streaming_mode(self, dim: int) -> str:
        return str(self.estimator.streaming_mode(dim)) if type(self).summarize is KID.summarize else "rows"

    def fold(self, dim: int) -> Any:
        return self.estimator.fold(dim)

    def additive_sums(self, dim: int) -> Any:
        if not isinstance(self.estimator, AllPairs) or type(self).summarize is not KID.summarize:
            return super().additive_sums(dim)
        return additive_sums(self.kernel, dim)

    def centred_at(self, centre: np.ndarray) -> KID:
        if not isinstance(self.kernel, Polynomial):
            return self
        return KID(self.kernel.about(centre), self.estimator_option, self.name)

    def single_row_summary(self, sample: Sample) -> Any:
        """The kernel mean of a single row, which has pairs in the pool alone."""
        return self.estimator.single_row_summary(sample)

    def prepare(self, clients: Sequence[Any]) -> None:
        """The kernel means of every two clients."""
        parts = [part for summary in clients for part in getattr(summary, "parts", ())]
        if len(parts) > 1 and isinstance(self.estimator, AllPairs) and not self.kernel.should_pool(parts):
            tabulate(self.kernel, parts)

    def all_terms(self, real: Sequence[Any], generated: Sequence[Any]) -> Iterable[Iterable[Terms]]:
        """The terms of every pair; the kernel means of all clients and generators in few large products."""
        if isinstance(self.estimator, AllPairs):
            remember_means(self.kernel, *([p for summary in side for p in summary.parts] for side in (real, generated)))
        return super().all_terms(real, generated)

    def pool(self, summaries: Sequence[Any], weights: Sequence[float]) -> Any:
        """The summary of the pooled data."""
        return self.estimator.pool(summaries, weights)

    def pool_operator(self, dim: int) -> Callable[[Sequence[Any], Sequence[float]], Any] | None:
        """Of embeddings, where the kernel has them and all pairs count."""
        return KernelMean.merge if isinstance(self.estimator, AllPairs) and self.kernel.has_embedding(dim) else None

    def pairwise_pool(self, dim: int) -> Any:
        """Kernel means of every two clients, where all pairs of rows count."""
        return PairwiseMeans if isinstance(self.estimator, AllPairs) else None

    def terms(self, real: Any, generated: Any) -> dict[str, float]:
        """`real` = E k(X, X′), `generated` = E k(Y, Y′) and `cross` = −2 E k(X, Y).

        Where `resolve` found features far from 0, k is the polynomial kernel about the clients' mean, see
        `CentredPolynomial`: its terms are smaller, their sum is the same.
        """
        return self.estimator.terms(real, generated)

    def pooled_convention(self, pooled: Any) -> str:
        """Which number `all` is, where the clients' fixed numbers of rows bias it."""
        return POOLED_CONVENTION if self.estimator.has_bias(pooled) else ""

    def pooled_caution(self, pooled: Any, scores: Sequence[float]) -> str:
        """Where the clients' fixed numbers of rows, which move all scores alike, move one by a tenth of it or more."""
        sizes = np.abs([score for score in scores if math.isfinite(score)])
        bias = self.estimator.bias(pooled) if len(sizes) else 0.0
        if abs(bias) <= BIAS_CAUTION_SHARE * sizes.min(initial=math.inf):
            return ""
        reason = "because each client has a fixed number of rows"
        unbiased = "The corrected score and KID(estimator='stratified') have no such bias"
        return f"sampling bias shifts it by about {bias:.3g} for every generator, {reason}. {unbiased}"

    def without_bias(self, real: Any, generated: Any) -> float | None:
        """KID with each client a stratum; None where the estimator is not "unbiased"."""
        estimator = self.estimator
        if not isinstance(estimator, AllPairs) or estimator.without_bias == estimator:
            return None
        return math.fsum(estimator.without_bias.terms(real, generated).values())

    def has_closed_form(self, distribution: Distribution) -> bool:
        return self.estimator.has_closed_form(distribution)

    @property
    def no_resampling(self) -> str:
        """Why rows cannot be resampled, or nothing: these estimators depend on the order and number of rows."""
        return "" if isinstance(self.estimator, AllPairs) else f"{self.label} has none for this estimator"

    def replicates(
        self,
        real: Sequence[Sample],
        generated: Sequence[Sample],
        weights: Sequence[float],
        real_counts: Sequence[Any],
        generated_counts: Sequence[Any],
    ) -> tuple[np.ndarray, np.ndarray]:
        """All scores on resampled rows, see `base.replicate`; pairs of copies of one row are left out.

        Where KID is unbiased each client is a stratum of the pooled score.
        """
        counts = [*real_counts, *generated_counts]
        return replicates(self.kernel, self.estimator.unbiased, real, generated, weights, counts)

    @property
    def has_influence_values(self) -> bool:
        return isinstance(self.estimator, AllPairs)

    def influence_values(self, real: Strata[Any], generated: Strata[Any]) -> InfluenceValues:
        """KID, of pooled clients as strata, and how each row pulls on it; for the estimators on all pairs."""
        return whole(self.influence_pieces(real, generated))

    def influence_pieces(self, real: Strata[Any], generated: Strata[Any]) -> Pieces[InfluenceValues]:
        """The same in pieces, blocks of rows."""
        terms = self.estimator.without_bias.terms(real.summary, generated.summary)
        value = math.fsum(terms.values())
        influence_values = yield from kernel_influence_values(
            self.kernel, self.estimator.unbiased, value, real, generated
        )
        fewest = min(
            (len(rows) for rows in (*influence_values.real, *influence_values.generated) if rows is not None),
            default=MIN_INTERVAL_ROWS,
        )
        return influence_values if fewest >= MIN_INTERVAL_ROWS else influence_values._replace(caution=FEW_ROWS_CAUTION)

    def resolve(self, clients: Sequence[Sample]) -> KID:
        """KID with σ fixed for all clients, and with a polynomial kernel about their mean where they are far from 0."""
        return KID(about_mean(self.kernel.resolve(clients), clients), self.estimator_option, self.name)

    @property
    def canonical(self) -> KID:
        if not isinstance(kernel := self.kernel, CentredPolynomial):
            return self
        return KID(Polynomial(kernel.degree, kernel.gamma, kernel.coef0), self.estimator_option, self.name)

    @property
    def convention(self) -> str:
        return f"{self.label}: {self.estimator}, {self.kernel}"


def kid(real: Any, generated: Any, kernel: Any = CUBIC, estimator: Any = "unbiased") -> float:
    """KID between two samples, on all rows (Bińkowski et al. 2018).

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch, n, m ≥ 2), or distributions
    kernel : `nm.Polynomial()` (cubic, the default), `nm.RBF(sigma)`, or a function (n, d), (m, d) -> (n, m)
    estimator : "unbiased", "biased", "linear", or `nm.Subsets(100, 1000, seed=0)`, the default of other packages
        ("stratified" differs from "unbiased" for pooled clients alone)

    Returns
    -------
    float; lower is better, not multiplied by 100 or 1000 as some papers do

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, or fewer than 2 rows.

    Examples
    --------
    >>> round(nm.kid(nm.Gaussian([0.0]), nm.Gaussian([1.0])), 6)  # exact
    22.0
    >>> round(nm.kid([[0.0], [2.0]], [[0.0], [1.0]], kernel=lambda a, b: a @ b.T), 6)
    -1.0
    """
    return score_pair(KID(kernel, estimator), real, generated)
