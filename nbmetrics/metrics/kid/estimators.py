"""How KID is estimated: from kernel means on all pairs, in linear time, or on random subsets.

An estimator is the three functions of a metric for one kernel. Those on all pairs pool by bilinearity, whatever the
weights; the others look at rows in order and need weights proportional to the clients' numbers of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import align, namespace, take_rows, to_float64, total
from ...distributions import Distribution, parts_of
from ...errors import InvalidInput, check_choice, check_count, shown
from ...summaries.kernel_mean import KernelMean, KernelPart
from ...summaries.rows import Rows
from ..base import Sample
from .block_sums import stream_content
from .embedding import Embedding

ESTIMATOR_NAMES = ("unbiased", "stratified", "biased", "linear")
ROWS_ONLY = "KID-all with this estimator needs weights proportional to the clients' numbers of rows"


class KernelFold:
    """The kernel mean of rows that come in blocks, for a kernel with an embedding."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.count = kernel, 0
        self._vector: Any = 0.0
        self._diagonal = 0.0

    def take(self, rows: np.ndarray) -> None:
        n = rows.shape[0]
        self.count += n
        with np.errstate(all="ignore"):  # what overflows is told at the end
            self._vector = self._vector + self.kernel.sum_of_features(rows, np.ones(n))
            self._diagonal += self.kernel.diagonal(rows) * n

    def merge(self, other: KernelFold) -> None:
        """Add the rows that another one took."""
        self.count += other.count
        self._diagonal += other._diagonal
        with np.errstate(all="ignore"):
            self._vector = self._vector + other._vector

    def end(self) -> KernelMean:
        content = Embedding(self.kernel.finite(lambda: self._vector / self.count))
        diagonal = self.kernel.finite(lambda: self._diagonal / self.count)
        return KernelMean((KernelPart(self.kernel, content, self.count, diagonal),), (1.0,))


@dataclass(frozen=True)
class AllPairs:
    """Kernel means over all pairs of rows; without pairs of a row with itself where `unbiased`.

    Pooled clients are one weighted sample, or, where `stratified`, samples of their own (`KernelMean.stratified`).
    """

    kernel: Any
    unbiased: bool
    stratified: bool = False

    def __str__(self) -> str:
        strata = ", clients as strata" if self.stratified else ""
        return f"{'unbiased' if self.unbiased else 'biased'} MMD² on all rows{strata}"

    @property
    def without_bias(self) -> AllPairs:
        """The estimator whose pooled scores have no bias: `stratified` where this one is unbiased for one sample."""
        return replace(self, stratified=self.unbiased)

    def has_closed_form(self, distribution: Distribution) -> bool:
        return bool(self.kernel.has_closed_form(distribution))

    def streaming_mode(self, dim: int) -> str:
        return "once" if self.kernel.has_embedding(dim) else "again"

    def fold(self, dim: int) -> KernelFold:
        return KernelFold(self.kernel)

    def summarize(self, sample: Sample) -> KernelMean:
        if sample.stream is not None:
            sample.stream.check_repeatable()
            return KernelMean((KernelPart(self.kernel, *stream_content(self.kernel, sample.stream)),), (1.0,))
        if sample.rows is None and (parts := parts_of(sample.distribution)):
            means = [self.summarize(type(sample)(distribution=part)) for _, part in parts]
            return KernelMean.pool(means, [weight for weight, _ in parts])
        if sample.rows is not None and sample.rows.shape[0] < 2:
            raise InvalidInput("rows", "has 1 row, and a pair needs 2", "Give more rows, or leave these out")
        return self._mean(sample)

    def single_row_summary(self, sample: Sample) -> KernelMean | None:
        return None if sample.rows is None else self._mean(sample)

    def _mean(self, sample: Sample) -> KernelMean:
        content, count, diagonal = self.kernel.content(sample)
        return KernelMean((KernelPart(self.kernel, content, count, diagonal),), (1.0,))

    def pool(self, summaries: Sequence[KernelMean], weights: Sequence[float]) -> KernelMean:
        return KernelMean.pool(summaries, weights)

    def bias(self, pooled: KernelMean) -> float:
        """What is added to KID-all on average where the rows are a fixed number of each client."""
        return pooled.self_bias if self.has_bias(pooled) else 0.0

    def has_bias(self, pooled: KernelMean) -> bool:
        """Whether KID-all takes rows of several clients for one sample."""
        return self.unbiased and not self.stratified and pooled.has_strata

    def terms(self, real: KernelMean, generated: KernelMean) -> dict[str, float]:
        return {
            "real": self._own_mean(real),
            "generated": self._own_mean(generated),
            "cross": -2.0 * real.mean_with(generated),
        }

    def _own_mean(self, side: KernelMean) -> float:
        return side.stratified if self.stratified else side.self_mean(unbiased=self.unbiased)


def _aligned_rows(kernel: Any, real: Rows, generated: Rows) -> tuple[Any, Any]:
    """Both sides' rows, in one library, on one device and of one type."""
    x, y = (kernel.kept(rows) for rows in align(real.rows, generated.rows))
    return (x, y) if x.dtype == y.dtype else (to_float64(x), to_float64(y))


class _RowsEstimator:
    """Shared by the estimators that look at rows."""

    def bias(self, pooled: Rows) -> float:
        return 0.0

    def has_bias(self, pooled: Rows) -> bool:
        return False

    def has_closed_form(self, distribution: Distribution) -> bool:
        return False

    def streaming_mode(self, dim: int) -> str:
        return "rows"

    def summarize(self, sample: Sample) -> Rows:
        return Rows.of(sample)

    def single_row_summary(self, sample: Sample) -> None:
        return None

    def pool(self, summaries: Sequence[Rows], weights: Sequence[float]) -> Rows:
        pooled = Rows.pool(summaries, weights)
        if not pooled.is_uniform:
            raise InvalidInput("weights", "are not proportional to the rows", ROWS_ONLY)
        return pooled


@dataclass(frozen=True)
class LinearTime(_RowsEstimator):
    """The mean of k(x, x′) + k(y, y′) − k(x, y′) − k(x′, y) over disjoint pairs of rows, in a seeded order.

    Gretton et al. 2012, Lemma 14. Unbiased and cheap, with more variance than all pairs.
    """

    kernel: Any
    seed: int = 0

    def __str__(self) -> str:
        return f"linear-time MMD², seed {self.seed}"

    def terms(self, real: Rows, generated: Rows) -> dict[str, float]:
        x, y = _aligned_rows(self.kernel, real, generated)
        rng = np.random.default_rng(self.seed)
        pairs = min(x.shape[0], y.shape[0]) // 2
        x, y = (take_rows(rows, rng.permutation(rows.shape[0])[: 2 * pairs]) for rows in (x, y))
        (a, b), (c, d) = (x[:pairs], x[pairs:]), (y[:pairs], y[pairs:])
        pairs_of = ((a, b), (c, d), (a, d), (b, c))
        means = self.kernel.finite(lambda: np.array([self.kernel.elementwise_mean(*both) for both in pairs_of]))
        return {"real": float(means[0]), "generated": float(means[1]), "cross": -float(means[2] + means[3])}


@dataclass(frozen=True)
class Subsets:
    """Estimator of KID on random subsets, as most packages do: the mean of `count` unbiased MMD² values.

    Parameters
    ----------
    count : number of subsets, up to 100,000
    size : rows a side in each, without replacement; at most the number of rows there are
    seed : of the choice, the same for every client and generator

    The spread of the subsets is not an uncertainty of the score; `evaluate(..., uncertainty=...)` gives one.
    On random subsets the gap between KID-avg and KID-all moves and their orders may differ: Theorem 1 needs all pairs.

    Examples
    --------
    >>> metric = nm.metrics.KID(estimator=nm.Subsets(10, 50))
    >>> rows = np.random.default_rng(0).normal(size=(200, 4))
    >>> scores = nm.evaluate([rows[:100], rows[100:]], {"same": rows}, metric)
    >>> scores.conventions[0]
    'KID: mean unbiased MMD² of 10 subsets of 50 rows, seed 0, (γ x·y + 1)^3, γ = 1/d; 100 rows per client'
    """

    count: int = 100
    size: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", check_count(self.count, "count", maximum=100_000))
        object.__setattr__(self, "size", check_count(self.size, "size", minimum=2))
        object.__setattr__(self, "seed", check_count(self.seed, "seed", minimum=0))


@dataclass(frozen=True)
class OnSubsets(_RowsEstimator):
    """`Subsets` for one kernel."""

    kernel: Any
    plan: Subsets

    def __str__(self) -> str:
        return f"mean unbiased MMD² of {self.plan.count} subsets of {self.plan.size} rows, seed {self.plan.seed}"

    def terms(self, real: Rows, generated: Rows) -> dict[str, float]:
        x, y = _aligned_rows(self.kernel, real, generated)
        size = min(self.plan.size, x.shape[0], y.shape[0])
        rng = np.random.default_rng(self.plan.seed)
        sums = np.zeros(3)
        for _ in range(self.plan.count):
            a, b = (take_rows(rows, rng.permutation(rows.shape[0])[:size]) for rows in (x, y))
            if not self.kernel.is_single(a, b):
                a, b = to_float64(a), to_float64(b)
            sums += self.kernel.finite(lambda: self._terms(a, b))  # noqa: B023
        return dict(zip(("real", "generated", "cross"), (float(s) / self.plan.count for s in sums), strict=True))

    def _terms(self, a: Any, b: Any) -> np.ndarray:
        cross = total(self.kernel.block(a, b)) / (a.shape[0] * b.shape[0])
        return np.array([self._own(a), self._own(b), -2.0 * cross])

    def _own(self, rows: Any) -> float:
        n = rows.shape[0]
        block = self.kernel.block(rows, rows)
        return (total(block) - float(namespace(block).linalg.trace(block))) / (n * (n - 1))


def as_estimator(estimator: Any, kernel: Any) -> Any:
    """The estimator of one of `ESTIMATOR_NAMES` or of `Subsets`, for one kernel."""
    if isinstance(estimator, Subsets):
        return OnSubsets(kernel, estimator)
    if not isinstance(estimator, str):
        fix = f"Give {', '.join(map(repr, ESTIMATOR_NAMES))} or nm.Subsets()"
        raise InvalidInput("estimator", f"got {shown(estimator)}", fix)
    check_choice(estimator, ESTIMATOR_NAMES, "estimator")
    if estimator == "linear":
        return LinearTime(kernel)
    return AllPairs(kernel, estimator != "biased", estimator == "stratified")
