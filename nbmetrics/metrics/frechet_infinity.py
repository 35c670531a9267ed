"""FID at infinitely many rows, as a metric: FID without the bias of few rows, or NaN with the reason (`debiased`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import InvalidInput
from ..summaries import Moments
from .base import Metric, between
from .debiased import FEWEST, VALUE, DebiasedPair, remarks
from .frechet import FID
from .strata import Pulls, Strata


class FIDInfinity(Metric[Strata[Moments]]):
    """FID at infinitely many rows: FID without the bias of few rows, as a metric with avg, all and gap.

    The trace term by random-matrix theory for both samples (`spectral`), which holds from about 1.5 rows a feature
    where extrapolation in 1/N (Chong & Forsyth 2020) needs 5. For laws it is FID itself. Lower is better, squared
    feature units; estimates between equal laws scatter about 0 and may be negative. A score is NaN, and the reason
    stands under the table, where client or generator has fewer than 1.1 rows for each direction that both vary in;
    from 1.1 to 1.5 it has no interval. Each client counts by its own rows, *all* by those of all clients.
    """

    name = "fid_infinity"
    label = "FID∞"
    no_resampling = "FID∞ on resampled rows means nothing: repeated rows are what it corrects for"
    min_rows = 2

    def summarize(self, sample: Any) -> Strata[Moments]:
        """The moments of `sample` with its rows, or those of an exact distribution."""
        return Strata.of(FID().summarize(sample), sample.rows)

    def pool(self, summaries: Sequence[Strata[Moments]], weights: Sequence[float]) -> Strata[Moments]:
        """The strata of all clients."""
        return Strata.pool(summaries, weights, Moments.pool)

    def terms(self, real: Strata[Moments], generated: Strata[Moments]) -> dict[str, float]:
        """`mean` and `covariance` as in FID, each without its bias; both NaN outside the domain."""
        known = generated.scores.get(real)
        if known is None:
            known = generated.scores[real] = DebiasedPair(real, generated).terms
        return known

    def pulls(self, real: Strata[Moments], generated: Strata[Moments]) -> Pulls:
        """The score and its influence values."""
        pair = DebiasedPair(real, generated)
        generated.scores[real] = pair.terms
        return pair.pulls()

    def remarks(self, real: Sequence[Strata[Moments]], generated: Sequence[Strata[Moments]], *names: Any) -> list[str]:
        """Which scores are missing, or noisy, for want of rows."""
        return remarks(self.label, real, generated, *names)

    def has_closed_form(self, distribution: Any) -> bool:
        return FID().has_closed_form(distribution)

    @property
    def convention(self) -> str:
        return "FID∞: FID less the bias of few rows (two-sample Marchenko–Pastur map with fourth moments)"


def fid_infinity(real: Any, generated: Any) -> float:
    """FID at infinitely many rows: the FID of the laws behind two samples, without the bias of few rows.

    The two-sample Marchenko–Pastur correction with a fourth-moment term (see `nbmetrics.metrics.spectral`). Its error
    has about the spread of FID itself; at 64 features and 100 rows a side, N(0, I) against N(0, 1.44 I) gives
    2.5 ± 0.9 for 2.56, where FID says 29.

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows (NumPy or torch), or distributions; n and m at least 1.1 times the number
        of directions in which both vary (d, unless features are constant or dependent), and at least 10

    Returns
    -------
    float, squared feature units; lower is better; may be negative between equal laws

    Raises
    ------
    InvalidInput
        For bad rows, or too few of them for their dimension.
    """
    metric = FIDInfinity()
    value = between(metric, real, generated)
    if math.isnan(value):
        seen = f"one side has fewer than {VALUE} rows for each feature, or fewer than {FEWEST}"
        raise InvalidInput("real, generated", seen, "Give more rows or fewer features, or use nm.kid")
    return value
