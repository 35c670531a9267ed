"""CMMD: KID with another kernel and estimator, meant for CLIP features (Jayasumana et al. 2024).

    CMMD = 1000 MMD²,  k(x, y) = exp(−‖x − y‖² / 2σ²),  σ = 10

by the V-statistic, as in the authors' code. All that holds of KID holds of it, Theorem 1 too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import Sample, score_pair
from ..capabilities import Cautious
from .kernels import RBF
from .metric import BIAS_CAUTION_SHARE, KID

SIGMA, SCALE = 10.0, 1000.0


class CMMD(KID, Cautious):
    """CLIP maximum mean discrepancy on the features given (Jayasumana et al. 2024): 1000 MMD², RBF kernel, σ = 10.

    Parameters
    ----------
    estimator : "biased" (the authors' code: pairs of a row with itself count, so ≥ 0), or any other of `KID`

    Lower is better. σ belongs to the authors' features, CLIP ViT-L/14 at 336 pixels, each row divided by its length;
    rows are taken as given. The biased estimate of n rows is too large by 1000 (1 − mean k)/n a side, which a client
    has more of than the pool: a caution says where that is a tenth of the score, and "unbiased" has none of it.
    """

    def __init__(self, estimator: Any = "biased", name: str = "cmmd") -> None:
        super().__init__(RBF(SIGMA, scale=SCALE), estimator, name)
        self.label = self.name.replace("_", " ").replace("cmmd", "CMMD")

    def resolve(self, clients: Sequence[Sample]) -> CMMD:
        """CMMD itself: σ is fixed."""
        return self

    def caution(self, real: Any, generated: Any) -> str:
        """Where pairs of a row with itself are a tenth of the score or more."""
        if self.estimator_option != "biased":
            return ""
        extra = sum(side.self_mean(unbiased=False) - side.self_mean(unbiased=True) for side in (real, generated))
        if extra <= BIAS_CAUTION_SHARE * self.distance(real, generated):
            return ""
        return f"too few rows for the biased estimator: about {extra:.3g} of it is bias; CMMD('unbiased') has none"

    @property
    def convention(self) -> str:
        return f"{super().convention}; meant for CLIP features of length 1"


def cmmd(real: Any, generated: Any, estimator: Any = "biased") -> float:
    """CMMD between two samples: 1000 MMD² with the RBF kernel of σ = 10 (Jayasumana et al. 2024).

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch, n, m ≥ 2), or distributions; the authors'
        are CLIP ViT-L/14 embeddings at 336 pixels divided by their lengths, and rows are taken as given
    estimator : "biased" as in the authors' code, "unbiased", "linear" or `nm.Subsets(…)`

    Returns
    -------
    float, ≥ 0 for the biased estimator; lower is better

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, or fewer than 2 rows.

    Examples
    --------
    >>> round(nm.cmmd([[0.0], [0.0]], [[10.0], [10.0]]), 3)  # 2000 (1 − exp(−1/2))
    786.939
    """
    return score_pair(CMMD(estimator), real, generated)
