"""MonitorScene: what a Monitor shows of its run, as an immutable, validated value that is plain JSON.

Twin: labs/monitor/view/shape.js · held by: tests/labs/monitor/test_scene.py
Twin: labs/monitor/view/code.js · held by: tests/labs/monitor/test_scene.py

    {"rev": 3, "preset": "As given", "metric": "fid", "weights": [120, 340, …], "shown": 4000, "client": "north"}

`shown` is the step that is looked at, null where the newest is followed; `metric` is that of the headline and the
strip; `client` is the one whose own curve is drawn, "" for none. `weights` stand for the clients in their order and
count by their shares. The run is no part of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...errors import LONGEST_NAME, check_text, check_weights
from ..toolkit.fields import facts, listed, number, scene_fields, whole

MOST_CLIENTS = int(facts(__package__, "facts.json")["most_clients"])
NEEDED = {"metric", "weights"}
FIELDS = NEEDED | {"rev", "preset", "shown", "client"}


@dataclass(frozen=True)
class MonitorScene:
    """A step, a metric, a client and weights."""

    metric: str
    weights: tuple[float, ...]
    shown: int | None = None
    client: str = ""
    preset: str = ""
    rev: int = 0

    @classmethod
    def parse(cls, value: Any) -> MonitorScene:
        """A scene from a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        value = scene_fields(value, FIELDS, NEEDED)
        given = listed(value["weights"], "weights", 1, MOST_CLIENTS)
        weights = tuple(number(weight, "weights", f"weights[{i}]") for i, weight in enumerate(given))
        check_weights(weights, len(weights))
        shown = value.get("shown")
        return cls(
            metric=check_text(value["metric"], "metric", LONGEST_NAME),
            weights=weights,
            shown=None if shown is None else whole(shown, "shown"),
            client=check_text(value.get("client", ""), "client", LONGEST_NAME),
            preset=check_text(value.get("preset", ""), "preset", LONGEST_NAME),
            rev=whole(value.get("rev", 0), "rev"),
        )

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        return {**asdict(self), "weights": list(self.weights)}

    def at(self, rev: int) -> MonitorScene:
        """The same scene as revision `rev`."""
        return replace(self, rev=rev)

    @property
    def shares(self) -> tuple[float, ...]:
        """λ: the weights, divided by their sum."""
        return check_weights(self.weights, len(self.weights))

    def to_code(self, making: str = "") -> str:
        """Python that shows this state again, in the lab that `making` makes."""
        scene = {name: part for name, part in self.to_json().items() if name != "rev" and part is not None}
        text = json.dumps(scene, indent=4, ensure_ascii=False)
        return f"import nbmetrics as nm\n\n{making or making_of([self.metric])}\nlab.scene = {text}\nlab\n"


def making_of(metrics: Sequence[str], is_kept: bool = False, is_beside: bool = False) -> str:
    """Python that makes a Monitor of the same run, `is_kept` in a folder, with another beside it."""
    beside = "\nlab.compare(other)  # other is the run beside it" if is_beside else ""
    if is_kept:
        return f"# path is the folder of this run\nlab = nm.Monitor.open(path){beside}"
    made = f"lab = nm.Monitor(federation, {json.dumps(list(metrics), ensure_ascii=False)})"
    return f"# federation is the one of this run, whose steps are to be logged again\n{made}{beside}"
