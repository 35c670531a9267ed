"""The pulls that noise is made from, a little at a time, so that what is more urgent comes between."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..metrics.base import Metric
from ..metrics.stratified import InfluenceValues, Strata
from .influence import influence_pieces_of


class Ahead:
    """Pulls of several real sides with one generated, each pair once.

    Attributes
    ----------
    position : of the generator among all
    known : the pulls that are done, by real side
    """

    def __init__(self, metric: Metric[Any], position: int, generated: Strata[Any]) -> None:
        self.metric, self.position, self.generated = metric, position, generated
        self.known: dict[Strata[Any], InfluenceValues] = {}
        self._wanted: Sequence[Strata[Any]] = ()
        self._pieces: Iterator[None] = iter(())

    def advance(self, real: Sequence[Strata[Any]], seconds: float) -> bool:
        """Go on for so long with the pulls of these; whether all are known."""
        if [*map(id, real)] != [*map(id, self._wanted)]:
            self._wanted, self._pieces = real, self._run(real)
            self.known = {side: influence_values for side, influence_values in self.known.items() if side in real}
        until = time.monotonic() + seconds
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in self._pieces:
                if time.monotonic() > until:
                    return False
        return True

    def _run(self, real: Sequence[Strata[Any]]) -> Iterator[None]:
        for side in real:
            if side not in self.known:
                self.known[side] = yield from influence_pieces_of(self.metric, side, self.generated)
                yield
