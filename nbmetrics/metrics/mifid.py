"""MiFID: FID, made worse by how close generated rows lie to train rows (Bai et al. 2021).

    MiFID = FID / s where s < eps, else FID
    s = mean over generated rows y of the least 1 − |cos(x, y)| over train rows x

Nearness is about copies, so weights change the FID alone: a row of any weight above 0 can be copied, and MiFID-all
looks for the nearest row among those of all clients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import concat, has_direction, namespace, to_numpy, unit_rows
from ..errors import InvalidInput, check_number
from ..summaries.moments import Moments
from ..summaries.rows import Rows
from .base import Metric, Sample, score_pair
from .capabilities import Cautious, Resampled
from .fid.metric import FID, PRECISION
from .nearest_neighbors import Distinct, in_one_place, kth_between
from .prdc import compute_once
from .weak_cache import remember

FRECHET = FID()
# Beside the distance, so that copies do not divide by 0: as published.
SMALLEST = 1e-14


@dataclass(frozen=True, eq=False)
class MomentsAndRows:
    """What MiFID sees of a sample: the moments, and the rows that may be copied or copies."""

    moments: Moments
    rows: Rows

    @property
    def nbytes(self) -> int:
        """Bytes to send the rows, of which the moments are made."""
        return self.rows.nbytes


class MiFID(Metric[MomentsAndRows], Resampled, Cautious):
    """Memorization-informed Fréchet Inception Distance on the features given (Bai et al. 2021).

    Parameters
    ----------
    eps : mean cosine distance to the nearest train row from which on nothing is taken for copied, in (0, 1]; 0.1 as in
        torchmetrics

    Range [0, ∞), lower is better; squared feature units. The clients' rows are the train rows. Rows of zeros have no
    direction and are left out of s. What has FID 0, such as the train rows themselves, has MiFID 0: see `AuthPct`.
    Torchmetrics averages s over the train rows instead; with its two sides exchanged it gives this number.
    """

    name = "mifid"
    label = "MiFID"
    lowest = 0.0
    copies_matter = True

    def __init__(self, eps: float = 0.1) -> None:
        self.eps = check_number(eps, "eps", minimum=1e-12, maximum=1.0)

    def summarize(self, sample: Sample) -> MomentsAndRows:
        """Moments and rows of `sample.rows` (n ≥ 2)."""
        return MomentsAndRows(FRECHET.summarize(sample), Rows.of(sample))

    def pool(self, summaries: Sequence[MomentsAndRows], weights: Sequence[float]) -> MomentsAndRows:
        """Moments of the mixture, and the rows of every client of weight above 0."""
        moments = FRECHET.pool([s.moments for s in summaries], weights)
        return MomentsAndRows(moments, Rows.pool([s.rows for s in summaries], weights))

    def terms(self, real: MomentsAndRows, generated: MomentsAndRows) -> dict[str, float]:
        """`mean` and `covariance` of FID, both divided by the penalty."""
        terms = FRECHET.terms(real.moments, generated.moments)
        # what is only the rounding of a FID of 0 must not be divided
        if sum(terms.values()) <= 10 * PRECISION * (real.moments.trace + generated.moments.trace):
            return dict.fromkeys(terms, 0.0)
        distance = cosine_distance(real.rows, generated.rows)
        penalty = distance + SMALLEST if distance < self.eps else 1.0
        return {name: value / penalty for name, value in terms.items()}

    def rows_to_resample(self, dim: int) -> int:
        """As many as FID."""
        return FRECHET.rows_to_resample(dim)

    def cautions(self, clients: Sequence[Sample], generators: Sequence[Sample]) -> list[str]:
        """Those of FID."""
        return [f"Mi{line}" for line in FRECHET.cautions(clients, generators)]

    @property
    def convention(self) -> str:
        return (
            f"MiFID: FID (ddof 1), divided by the mean cosine distance of generated rows to their nearest train rows "
            f"where that is below {self.eps:g}; nearest in the rows of all clients of weight above 0"
        )


def cosine_distance(train: Rows, generated: Rows) -> float:
    """The mean over generated rows, as they weigh, of 1 − |cos| to the nearest train row."""
    (train_directions, _), (generated_directions, weights) = _directions(train), _directions(generated)
    squared = compute_once(
        (train_directions.digest, generated_directions.digest, "cosine"),
        lambda: _nearest(generated_directions, train_directions),
    )
    # of unit rows u and v: 1 − u·v = ‖u − v‖²/2
    return 0.5 * float(np.average(squared, weights=weights))


def _nearest(generated: Distinct, train: Distinct) -> np.ndarray:
    """Squared distance of each unit row to the nearest of `near`, or of their opposites."""
    generated, train = in_one_place(generated, train)
    x, y = generated.rows, train.rows
    xp = namespace(x, y)
    if float(xp.min(x)) >= 0.0 and float(xp.min(y)) >= 0.0:  # no angle is obtuse
        return kth_between(generated, train).squared
    return kth_between(generated, Distinct.of(concat([y, -y]))).squared


def _directions(rows: Rows) -> tuple[Distinct, np.ndarray]:
    """The distinct directions of the rows that have one, and the weights of these rows."""

    def make() -> tuple[Distinct, np.ndarray]:
        unit = unit_rows(rows.rows)
        some = has_direction(unit)
        if not bool(namespace(some).any(some)):
            raise InvalidInput("rows", "are all 0, so they have no direction", "Use fid")
        return Distinct.of(unit[some, :]), to_numpy(rows.weights[some])

    return remember(rows, "directions", make)


def mifid(real: Any, generated: Any, eps: float = 0.1) -> float:
    """MiFID between train rows and generated rows (Bai et al. 2021).

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch, n, m ≥ 2), or distributions, of which
        10,000 rows are drawn
    eps : mean cosine distance of generated rows to their nearest real rows below which FID is divided by it, in (0, 1]

    Returns
    -------
    float ≥ 0, squared feature units; lower is better, and FID where nothing is copied

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, fewer than 2 rows, or rows that are all 0.

    Examples
    --------
    >>> real, fresh = np.random.default_rng(0).normal(size=(2, 100, 32))
    >>> nm.mifid(real, fresh) == nm.fid(real, fresh), nm.mifid(real, real[:50]) > 1000 * nm.fid(real, real[:50])
    (True, True)
    """
    return score_pair(MiFID(eps), real, generated)
