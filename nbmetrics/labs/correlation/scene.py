"""CorrelationScene: what CorrelationLab shows, two correlated numbers of variance 1 and a generator of the second.

Its fields and its code are declared in scene.json, which the page reads too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...distributions import Gaussian
from ..toolkit.schema import DeclaredScene, choices


@dataclass(frozen=True)
class CorrelationScene(DeclaredScene):
    """Two correlations, the scale of x, the score in view, and the question asked about them.

    Attributes
    ----------
    rho, rho_hat : correlations of x with y, and with the generated ŷ
    scale : the standard deviation α of x
    metric : the score whose contours are drawn
    question : which question is asked, `step`, and what became of it, `answer`: "open" (what would give it away is
        veiled), "explored" (the veil is lifted, and it can still be answered), "shown" without a prediction, or the
        score that was predicted
    """

    rho: float
    rho_hat: float
    scale: float
    metric: str
    question: Mapping[str, Any]

    @property
    def real(self) -> Gaussian:
        """The distribution of (αx, y)."""
        return _pair(self.rho, self.scale)

    @property
    def generated(self) -> Gaussian:
        """The distribution of (αx, ŷ)."""
        return _pair(self.rho_hat, self.scale)


PRESETS = CorrelationScene.presets()
SCORES = choices(CorrelationScene, "metric")


def _pair(correlation: float, scale: float) -> Gaussian:
    # by its factor, so that 1 − ρ² keeps its digits where ρ is nearly 1
    spread = math.sqrt((1 - correlation) * (1 + correlation))
    return Gaussian.factored([0, 0], [[scale, correlation], [0, spread]])
