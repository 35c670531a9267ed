"""What the noise of one generator’s scores takes, a little at a time, so that what is more urgent comes between."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..metrics.base import Metric
from ..metrics.strata import Strata


class Ahead:
    """What is done by now for a generator and some real sides; it is left with `generated`, and goes with that.

    Parameters
    ----------
    position, weights : of the generator among all, and of the clients
    real : the clients whose noise is unknown, and the pooled ones under the weights
    """

    def __init__(
        self,
        metric: Metric[Any],
        position: int,
        weights: tuple[float, ...],
        real: Sequence[Strata[Any]],
        generated: Strata[Any],
    ) -> None:
        self.position, self._weights, self.generated = position, weights, generated
        self._pieces = metric.pull_pieces(real, generated)

    def is_of(self, position: int, weights: tuple[float, ...]) -> bool:
        return (self.position, self._weights) == (position, weights)

    def advance(self, seconds: float) -> bool:
        """Go on for so long; whether all is done."""
        until = time.monotonic() + seconds
        try:
            with np.errstate(all="ignore"):
                for _ in self._pieces:
                    if time.monotonic() > until:
                        return False
        except InvalidInput:  # the pulls will say so
            pass
        return True
