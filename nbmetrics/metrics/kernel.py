"""KID: the squared maximum mean discrepancy (MMD²) between real and generated features.

    KID = E k(X, X′) + E k(Y, Y′) − 2 E k(X, Y)

unbiased and on all rows, in blocks whose memory does not grow with n·m; exact for Gaussians and mixtures.
The mean embedding is linear in the law, so KID-avg − KID-all is the same for every generator (Theorem 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InvalidInput, check_choice
from ..summaries import KernelMean, KernelPart
from .base import Metric, between
from .kernels import Polynomial, as_kernel


class KID(Metric[KernelMean]):
    """Kernel Inception Distance (Bińkowski et al. 2018; Theorem 2 of the papers).

    Parameters
    ----------
    kernel : `Polynomial()` (cubic, the default), `RBF(sigma)`, or any function of two blocks of rows
        (n, d), (m, d) -> (n, m)
    estimator : "unbiased" (all pairs but those of a row with itself) or "biased" (the V-statistic, ≥ 0)
    name : the key in tables; give another one to compare two kernels in one evaluation

    Lower is better; 0 in expectation for equal laws, where the unbiased estimate may be negative.
    """

    def __init__(self, kernel: Any = None, estimator: str = "unbiased", name: str = "kid") -> None:
        self.kernel = Polynomial() if kernel is None else as_kernel(kernel)
        self.estimator = check_choice(estimator, ("unbiased", "biased"), "estimator")
        self.name = name
        self.label = name.replace("_", " ").replace("kid", "KID")

    def summarize(self, sample: Any) -> KernelMean:
        """The kernel mean of `sample.rows` (n ≥ 2) or of its exact distribution."""
        law = sample.distribution
        if sample.rows is None and hasattr(law, "components"):
            parts = [self.summarize(type(sample)(distribution=part)) for part in law.components]
            return KernelMean.pool(parts, law.weights)
        if sample.rows is not None and sample.rows.shape[0] < 2:
            raise InvalidInput("rows", "has 1 row, and a pair needs 2", "Give more rows, or drop this client")
        content, count, diagonal = self.kernel.content(sample)
        return KernelMean((KernelPart(self.kernel, content, count, diagonal),), (1.0,))

    def pool(self, summaries: Sequence[KernelMean], weights: Sequence[float]) -> KernelMean:
        """The kernel mean of the pooled data."""
        return KernelMean.pool(summaries, weights)

    def terms(self, real: KernelMean, generated: KernelMean) -> dict[str, float]:
        """`real` = E k(X, X′), `generated` = E k(Y, Y′) and `cross` = −2 E k(X, Y)."""
        unbiased = self.estimator == "unbiased"
        return {
            "real": real.self_mean(unbiased=unbiased),
            "generated": generated.self_mean(unbiased=unbiased),
            "cross": -2.0 * real.mean_with(generated),
        }

    def has_closed_form(self, distribution: Any) -> bool:
        return self.kernel.has_closed_form(distribution)

    def resolve(self, clients: Sequence[Any]) -> KID:
        return KID(self.kernel.resolve(clients), self.estimator, self.name)

    @property
    def convention(self) -> str:
        return f"{self.label}: {self.estimator} MMD² on all rows, {self.kernel}"


def kid(real: Any, generated: Any, kernel: Any = None, estimator: str = "unbiased") -> float:
    """KID between two samples, on all rows (Bińkowski et al. 2018).

    Parameters
    ----------
    real, generated : (n, d) and (m, d) rows of features (NumPy or torch, n, m ≥ 2), or distributions
    kernel : `nm.Polynomial()` (cubic, the default), `nm.RBF(sigma)`, or a function (n, d), (m, d) -> (n, m)
    estimator : "unbiased" or "biased"

    Returns
    -------
    float; lower is better, not multiplied by 100 or 1000 as some papers do

    Raises
    ------
    InvalidInput
        For NaN or infinity, a wrong rank or dtype, mismatched d, or fewer than 2 rows.
    """
    return between(KID(kernel, estimator), real, generated)
