"""Precision, recall, density and coverage: are generated rows where real rows are, and the other way round?

Around every row lies the ball that reaches to its k-th nearest neighbour of its own kind:

    precision = share of generated rows inside some real ball
    recall    = share of real rows inside some generated ball
    density   = mean number of real balls around a generated row, divided by k
    coverage  = share of real balls with a generated row inside

One pass over the distances gives all four; it is remembered by content, so four metrics in one evaluation
cost what one does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ..arrays import like, namespace, product, to_numpy
from ..errors import check_count, check_flag
from ..summaries.rows import Rows
from ..tables import check_frames
from .base import RowsMetric, Sample, sample_if_needed
from .capabilities import Cautious
from .nearest_neighbors import DistanceComparison, Distinct, in_one_place, kth_within
from .weak_cache import remember

# Results kept, at most 8 bytes a row each: the four metrics follow one another, so all pairs of client and
# generator must fit.
MAX_KEPT_RESULTS = 8192
# Balls of radius 0 are said beyond this share of the rows.
MAX_COPIED = 0.01


class PRDC(NamedTuple):
    """Precision, recall, density and coverage; higher is better, density may exceed 1."""

    precision: float
    recall: float
    density: float
    coverage: float


@dataclass(frozen=True)
class Overlap:
    """One real and one generated sample compared.

    Attributes
    ----------
    precision, coverage : shares of generated rows and of real balls, every row counting the same
    balls : mean number of real balls around a generated row
    recalled : (n,) whether each real row is in some generated ball
    """

    precision: float
    balls: float
    coverage: float
    recalled: np.ndarray


_kept: OrderedDict[Hashable, Any] = OrderedDict()
_lock = Lock()


def compute_once(key: Hashable, make: Callable[[], Any]) -> Any:
    """`make()`, or what it gave for this key before; keys are content, so rows changed in place are new."""
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    value = make()
    with _lock:
        _kept[key] = value
        while len(_kept) > MAX_KEPT_RESULTS:
            _kept.popitem(last=False)
    return value


def forget() -> None:
    """Drop all remembered results."""
    with _lock:
        _kept.clear()


def distinct_of(summary: Rows) -> Distinct:
    """The distinct rows of a summary, found once."""
    return remember(summary, "distinct", lambda: Distinct.of(summary.rows))


def overlap(real: Rows, generated: Rows, k: int, inclusive: bool) -> Overlap:
    """Who lies in whose balls, in one pass over the distances."""
    a, b = in_one_place(distinct_of(real), distinct_of(generated))
    return compute_once((a.digest, b.digest, k, inclusive), lambda: _overlap(a, b, k, inclusive))


def _radii(rows: Distinct, k: int) -> np.ndarray:
    """Squared distance of each distinct row to its k-th neighbour, (u,)."""
    return compute_once((rows.digest, k), lambda: kth_within(rows, k).squared[rows.first])


def _overlap(real: Distinct, generated: Distinct, k: int, inclusive: bool) -> Overlap:
    across, along, x, y = _radii(real, k), _radii(generated, k), real.rows, generated.rows
    xp = namespace(x, y)
    around = xp.zeros((y.shape[0],), dtype=xp.float64, device=y.device)
    copies = xp.astype(like(real.counts, x), xp.float32)
    recalled, covered = np.zeros(real.size, bool), np.zeros(real.size, bool)
    for rows, columns, in_real, in_generated in DistanceComparison(x, y, across, along, inclusive=inclusive):
        around[columns] += product(copies[rows], xp.astype(in_real, xp.float32))
        covered[rows] |= to_numpy(xp.any(in_real, axis=1))
        recalled[rows] |= to_numpy(xp.any(in_generated, axis=1))
    inside = to_numpy(around)[generated.inverse]
    precision, coverage = float(np.mean(inside > 0)), float(np.mean(covered[real.inverse]))
    return Overlap(precision, float(np.mean(inside)), coverage, recalled[real.inverse])


class _Neighbors(RowsMetric, Cautious):
    """What the four have in common."""

    higher_is_better = True
    lowest = 0.0
    copies_matter = True
    fewer = "Give more rows or a smaller k, or leave these out"

    def __init__(self, k: int = 5, inclusive: bool = False) -> None:
        self.k = check_count(k, "k")
        self.inclusive = check_flag(inclusive, "inclusive")
        self.min_rows = self.k + 1
        self.label = self.name.capitalize()

    def caution(self, real: Rows, generated: Rows) -> str:
        """Say where many rows have k copies: their balls are empty, or hold nothing but copies."""
        sides = {"real": distinct_of(real), "generated": distinct_of(generated)}
        shares = {side: float(np.mean(rows.counts[rows.inverse] > self.k)) for side, rows in sides.items()}
        said = " and ".join(f"{share:.0%} of the {side} rows" for side, share in shares.items() if share > MAX_COPIED)
        line = f"neighbour {self.k} of {said} lies at distance 0 (copies), so their balls are empty"
        return f"{line}: leave repeated rows out, or take a larger k" if said else ""

    def terms(self, real: Rows, generated: Rows) -> dict[str, float]:
        """The score, under its name."""
        self.check_weights(real)
        overlaps = overlap(real, generated, self.k, self.inclusive)
        return {self.name: self._value(overlaps, to_numpy(real.weights))}

    def _value(self, overlaps: Overlap, weights: np.ndarray) -> float:
        raise NotImplementedError

    @property
    def convention(self) -> str:
        sign = "≤" if self.inclusive else "<"
        return f"{self.label}: k = {self.k} neighbours without the row itself, inside means distance {sign} radius"


class Precision(_Neighbors):
    """Share of generated rows inside a real ball (Kynkäänniemi et al. 2019), in [0, 1]; higher is better.

    Parameters
    ----------
    k : neighbours that make the radius of a ball, the row itself not counted
    inclusive : False for distance < radius, as the prdc package; True for ≤, as torch-fidelity

    Precision-all pools by concatenation: the clients' weights must be proportional to their rows.
    """

    name = "precision"
    highest = 1.0

    def _value(self, overlaps: Overlap, weights: np.ndarray) -> float:
        return overlaps.precision


class Recall(_Neighbors):
    """Share of real rows inside a generated ball (Kynkäänniemi et al. 2019), in [0, 1]; higher is better.

    A mean over real rows with balls that depend on the generator only: under any weights recall-avg is
    recall-all identically. Parameters as for `Precision`.
    """

    name = "recall"
    highest = 1.0

    def check_weights(self, real: Rows) -> None:
        """Any weights will do."""

    def _value(self, overlaps: Overlap, weights: np.ndarray) -> float:
        return float(weights[overlaps.recalled].sum() / weights.sum())


class Density(_Neighbors):
    """Mean number of real balls around a generated row, over k (Naeem et al. 2020); ≥ 0, may exceed 1.

    Higher is better; 1 in expectation for equal distributions. Parameters and weights as for `Precision`.
    """

    name = "density"

    def _value(self, overlaps: Overlap, weights: np.ndarray) -> float:
        return overlaps.balls / self.k


class Coverage(_Neighbors):
    """Share of real balls with a generated row inside (Naeem et al. 2020), in [0, 1]; higher is better.

    The radii come from the pooled rows, so weights as for `Precision`, and so the parameters.
    """

    name = "coverage"
    highest = 1.0

    def _value(self, overlaps: Overlap, weights: np.ndarray) -> float:
        return overlaps.coverage


def prdc(real: Any, generated: Any, k: int = 5, inclusive: bool = False) -> PRDC:
    """Precision, recall (Kynkäänniemi et al. 2019), density and coverage (Naeem et al. 2020), in one pass.

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch, n, m ≥ k + 1), or distributions, of
        which 10,000 rows are drawn
    k : neighbours that make the radius of a ball, the row itself not counted
    inclusive : False for distance < radius, as the prdc package; True for ≤, as torch-fidelity: on duplicated
        rows that can be 0 against 1

    Returns
    -------
    PRDC : named tuple of floats, higher is better; all in [0, 1] but density, which is ≥ 0

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, or fewer than k + 1 rows.

    Examples
    --------
    >>> real = np.random.default_rng(0).normal(size=(200, 4))
    >>> collapsed = nm.prdc(real, np.zeros((10, 4)))
    >>> collapsed.precision, collapsed.recall
    (1.0, 0.0)
    """
    check_frames(real=real, generated=generated)
    metrics = [kind(k, inclusive) for kind in (Precision, Recall, Density, Coverage)]
    least = metrics[0].min_rows
    first = Sample.of(real, "real", min_rows=least)
    second = Sample.of(generated, "generated", dim=first.dim, min_rows=least)
    samples = [sample_if_needed(metrics[0], s, 10_000, [0, i]) for i, s in enumerate((first, second))]
    summaries = [metrics[0].summarize(s) for s in samples]
    return PRDC(*(metric.distance(*summaries) for metric in metrics))
