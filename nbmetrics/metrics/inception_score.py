"""Inception Score: are generated items of clear classes, and of many? (Salimans et al. 2016)

    IS = exp(E KL(p(y|x) ‖ p(y))) = exp(E Σ p(y|x) log p(y|x) − Σ p(y) log p(y))

A sample reveals the mean of its class probabilities and that of Σ p log p, and a mixture the mixture of both: exact
under any weights.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace, row_blocks, to_float64, to_numpy
from ..errors import InvalidInput, check_count
from .alone import Alone, score_alone
from .base import Sample

# What rounding in half precision may leave of a sum of 1, and below 0.
LOOSE, BELOW = 5e-3, 1e-6


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
    nbytes = 0  # no client sends any


class InceptionScore(Alone[Classes]):
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

    def __init__(self, splits: int = 1) -> None:
        self.splits = check_count(splits, "splits", maximum=10_000)
        self.min_rows = self.splits

    def summarize(self, sample: Sample) -> Classes:
        """Means of the class probabilities `sample.rows`, at least one row a split."""
        rows: Array = sample.rows
        n = rows.shape[0]
        if n < self.splits:
            raise InvalidInput("probabilities", f"has {n} rows for {self.splits} splits", "Give more rows")
        cuts = [i * n // self.splits for i in range(self.splits + 1)]
        means = [_means(rows[a:b, :], a) for a, b in itertools.pairwise(cuts)]
        return Classes(np.stack([m for m, _ in means]), np.array([c for _, c in means]), float(n))

    def pool(self, summaries: Sequence[Classes], weights: Sequence[float]) -> Classes:
        """The means of the mixture, split by split."""
        weighted = [(s, w) for s, w in zip(summaries, weights, strict=True) if w > 0]
        marginal = sum(w * s.marginal for s, w in weighted)
        clarity = sum(w * s.clarity for s, w in weighted)
        count = 1.0 / math.fsum(w * w / s.count for s, w in weighted)
        return Classes(np.asarray(marginal), np.asarray(clarity), count)

    def score(self, generated: Classes) -> float:
        information = generated.clarity - np.sum(_times_log(generated.marginal), axis=1)
        return float(np.mean(np.exp(np.maximum(information, 0.0))))

    def rows_of(self, generated: Classes) -> float:
        return generated.count / self.splits

    @property
    def settings(self) -> str:
        return f"rows are class probabilities, {'all' if self.splits == 1 else f'mean of {self.splits} splits'}"


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
        bad = (xp.abs(sums[:, 0] - 1.0) > LOOSE) | (xp.min(p, axis=1) < -BELOW)
        if bool(xp.any(bad)):
            first = int(xp.argmax(xp.astype(bad, xp.int64)))
            held = f"sums to {float(sums[first, 0]):.4g}, with a least entry of {float(xp.min(p[first, :])):.3g}"
            fix = "Give class probabilities: softmax of the logits, one row an item"
            raise InvalidInput("probabilities", f"row {start + block.start + first} {held}", fix)
        p = xp.clip(p / sums, 0.0, None)
        marginal += to_numpy(xp.sum(p, axis=0))
        clarity += float(xp.sum(p * xp.log(xp.where(p > 0.0, p, 1.0))))
    return marginal / n, clarity / n


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
