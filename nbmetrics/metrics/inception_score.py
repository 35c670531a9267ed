"""Inception Score and AM Score: are generated items of clear classes, and of many, or of those of the clients?

    IS = exp(E KL(p(y|x) ‖ p(y))) = exp(E Σ p(y|x) log p(y|x) − Σ p(y) log p(y))      (Salimans et al. 2016)
    AM = KL(p_real(y) ‖ p(y)) − E Σ p(y|x) log p(y|x)                                 (Zhou et al. 2018)

A sample reveals the mean of its class probabilities and that of Σ p log p, and a mixture the mixture of both: exact
under any weights. The first looks at the generator alone. Of the second, avg − all is Σ λ_i KL(p_i(y) ‖ p_real(y)),
how much the clients' classes differ, and the same for every generator.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np

from ..arrays import Array, namespace, row_blocks, to_float64, to_numpy
from ..errors import InvalidInput, check_count
from .base import Metric, Sample, score_pair
from .generator_only import GeneratorOnly, score_alone

# What rounding in half precision may leave of a sum of 1, and below 0.
MAX_SUM_ERROR, BELOW = 5e-3, 1e-6


@dataclass(frozen=True, eq=False)
class Classes:
    """Means over each split of a sample.

    Attributes
    ----------
    marginal : (splits, c) mean class probabilities
    clarity : (splits,) mean of Σ p log p, in nats
    count : how many equal rows are behind them
    """

    marginal: np.ndarray
    clarity: np.ndarray
    count: float

    @classmethod
    def of(cls, rows: Array, splits: int = 1) -> Self:
        """From class probabilities (n, c), n ≥ splits."""
        n = rows.shape[0]
        cuts = [i * n // splits for i in range(splits + 1)]
        means = [_means(rows[a:b, :], a) for a, b in itertools.pairwise(cuts)]
        return cls(np.stack([m for m, _ in means]), np.array([c for _, c in means]), float(n))

    @classmethod
    def pool(cls, parts: Sequence[Classes], weights: Sequence[float]) -> Self:
        """The means of the mixture, split by split."""
        weighted = [(p, w) for p, w in zip(parts, weights, strict=True) if w > 0]
        marginal, clarity = sum(w * p.marginal for p, w in weighted), sum(w * p.clarity for p, w in weighted)
        count = 1.0 / math.fsum(w * w / p.count for p, w in weighted)
        return cls(np.asarray(marginal), np.asarray(clarity), count)

    @property
    def nbytes(self) -> int:
        """Bytes to send it."""
        return self.marginal.nbytes + self.clarity.nbytes


class OwnClasses(Classes):
    """Means of which no client sends any."""

    nbytes = 0  # type: ignore[assignment]


class InceptionScore(GeneratorOnly[Classes]):
    """Inception Score of generated class probabilities (Salimans et al. 2016), from 1 to the number of classes.

    Parameters
    ----------
    splits : parts, cut in the order of the rows, whose scores are averaged; 1 takes all rows at once. Torch-fidelity
        cuts shuffled rows into 10, which lowers the score: each part has a tenth of the rows

    Higher is better. The features of clients and generators are class probabilities of any classifier: a row an item,
    c columns that sum to 1.
    """

    name = "inception_score"
    label = "Inception Score"
    copies_matter = False

    def __init__(self, splits: int = 1) -> None:
        self.splits = check_count(splits, "splits", maximum=10_000)
        self.min_rows = self.splits

    def summarize(self, sample: Sample) -> Classes:
        """Means of the class probabilities `sample.rows`, at least one row a split."""
        rows: Array = sample.rows
        if rows.shape[0] < self.splits:
            seen = f"has {rows.shape[0]} rows for {self.splits} splits"
            raise InvalidInput("probabilities", seen, "Give more rows")
        return OwnClasses.of(rows, self.splits)

    def pool(self, summaries: Sequence[Classes], weights: Sequence[float]) -> Classes:
        """The means of the mixture, split by split."""
        return OwnClasses.pool(summaries, weights)

    def score(self, generated: Classes) -> float:
        information = generated.clarity - np.sum(_times_log(generated.marginal), axis=1)
        return float(np.mean(np.exp(np.maximum(information, 0.0))))

    def rows_of(self, generated: Classes) -> float:
        return generated.count / self.splits

    @property
    def settings(self) -> str:
        return f"rows are class probabilities, {'all' if self.splits == 1 else f'mean of {self.splits} splits'}"


class AMScore(Metric[Classes]):
    """AM Score of class probabilities (Zhou et al. 2018): generated items of clear classes, as often as in real data.

    KL(p_real(y) ‖ p(y)) + E H(p(y|x)) in nats, ≥ 0, lower is better. Rows are class probabilities,
    of the clients too, where labels can stand in for them: rows of zeros and a one.
    """

    name = "am_score"
    label = "AM Score"
    lowest = 0.0
    min_rows = 1

    def summarize(self, sample: Sample) -> Classes:
        """Means of the class probabilities `sample.rows`."""
        return Classes.of(cast(Array, sample.rows))

    def pool(self, summaries: Sequence[Classes], weights: Sequence[float]) -> Classes:
        """The means of the mixture."""
        return Classes.pool(summaries, weights)

    def terms(self, real: Classes, generated: Classes) -> dict[str, float]:
        """`classes` = KL(p_real(y) ‖ p(y)) and `unclear` = E H(p(y|x)), both ≥ 0."""
        p, q = real.marginal[0], generated.marginal[0]
        if (never := np.flatnonzero((p > 0.0) & (q == 0.0))).size:
            seen = f"class {never[0]} occurs in the real rows, but has probability 0 in every generated one"
            raise InvalidInput("probabilities", seen, "Compute the softmax in float64, or use fid")
        some = p > 0.0
        divergence = float(np.sum(p[some] * np.log(p[some] / q[some])))
        return {"classes": max(0.0, divergence), "unclear": max(0.0, -float(generated.clarity[0]))}

    @property
    def convention(self) -> str:
        return "AM Score: divergence of the mean classes plus mean entropy, nats; rows are class probabilities"


def _times_log(p: np.ndarray) -> np.ndarray:
    return p * np.log(np.where(p > 0.0, p, 1.0))


def _means(rows: Array, start: int) -> tuple[np.ndarray, float]:
    """The mean of p, (c,), and of Σ p log p over rows, the first of which is number `start`."""
    xp = namespace(rows)
    n = rows.shape[0]
    marginal, clarity = np.zeros(rows.shape[1]), 0.0
    for block in row_blocks(n, 32 * rows.shape[1]):
        p = to_float64(rows[block, :])
        sums = xp.sum(p, axis=1, keepdims=True)
        bad = (xp.abs(sums[:, 0] - 1.0) > MAX_SUM_ERROR) | (xp.min(p, axis=1) < -BELOW)
        if bool(xp.any(bad)):
            first = int(xp.argmax(xp.astype(bad, xp.int64)))
            held = f"sums to {float(sums[first, 0]):.4g}, with a least entry of {float(xp.min(p[first, :])):.3g}"
            fix = (
                'Give class probabilities: softmax of logits, as the extractor "inception-v3-compat:probabilities" does'
            )
            raise InvalidInput("probabilities", f"row {start + block.start + first} {held}", fix)
        p = xp.clip(p / sums, 0.0, None)
        marginal += to_numpy(xp.sum(p, axis=0))
        clarity += float(xp.sum(p * xp.log(xp.where(p > 0.0, p, 1.0))))
    return marginal / n, clarity / n


def am_score(real: Any, generated: Any) -> float:
    """AM Score of class probabilities (Zhou et al. 2018).

    Parameters
    ----------
    real, generated : (n, c) and (m, c) class probabilities of real and generated items (NumPy or torch), rows that sum
        to 1

    Returns
    -------
    float ≥ 0, nats; lower is better

    Raises
    ------
    InvalidInput
        For rows that are no probabilities, NaN or infinity, a wrong rank or dtype, or a class of the real items that no
        generated one can be of.

    Examples
    --------
    >>> round(nm.am_score([[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]), 6)  # log 2: half of it is another class
    0.693147
    """
    return score_pair(AMScore(), real, generated)


def inception_score(probabilities: Any, splits: int = 1) -> float:
    """Inception Score of class probabilities (Salimans et al. 2016).

    Parameters
    ----------
    probabilities : (n, c) class probabilities of n generated items (NumPy or torch), rows that sum to 1: the softmax of
        a classifier's logits, where the published scores have Inception v3's
    splits : parts, in the order of the rows, whose scores are averaged (most papers: 10)

    Returns
    -------
    float from 1 to c; higher is better

    Raises
    ------
    InvalidInput
        For rows that are no probabilities, NaN or infinity, a wrong rank or dtype, or fewer rows than splits.

    Examples
    --------
    >>> round(nm.inception_score([[1.0, 0.0], [0.0, 1.0]]), 6), round(nm.inception_score([[0.5, 0.5], [0.5, 0.5]]), 6)
    (2.0, 1.0)
    """
    return score_alone(InceptionScore(splits), probabilities, "probabilities")
