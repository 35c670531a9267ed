"""MonitorScene: what a Monitor shows of its run, as declared in scene.json, which the page reads too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import check_weights
from ..toolkit.schema import DeclaredScene


@dataclass(frozen=True)
class MonitorScene(DeclaredScene):
    """A step, a metric, a client and weights; the run is no part of it.

    `shown` is the step that is looked at, None where the newest is followed; `metric` is that of the headline and the
    strip; `client` is the one whose own curve is drawn, "" for none. `weights` stand for the clients in their order and
    count by their shares.
    """

    metric: str
    weights: tuple[float, ...]
    shown: int | None
    client: str

    def check(self) -> None:
        """Raise `InvalidInput` where all weights are 0."""
        check_weights(self.weights, len(self.weights))

    @property
    def shares(self) -> tuple[float, ...]:
        """λ: the weights, divided by their sum."""
        return check_weights(self.weights, len(self.weights))

    def to_code(self, making: str = "") -> str:
        """Return Python that shows this state again, in the lab that `making` makes."""
        return super().to_code(making or making_of([self.metric]))


def making_of(metrics: Sequence[str], is_kept: bool = False, is_beside: bool = False) -> str:
    """Return Python that makes a Monitor of the same run, `is_kept` in a folder, with another beside it."""
    compare = f"\n{MonitorScene.declared['compare']}" if is_beside else ""
    if is_kept:
        return f"# path is the folder of this run\nlab = nm.Monitor.open(path){compare}"
    monitor = f"lab = nm.Monitor(federation, {json.dumps(list(metrics), ensure_ascii=False)})"
    return f"# federation is that of this run; log its steps again\n{monitor}{compare}"
