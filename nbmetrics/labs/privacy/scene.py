"""PrivacyScene: what a PrivacyLab shows of its study, as an immutable, validated value that is plain JSON.

Twin: labs/privacy/view/shape.js · held by: tests/labs/toolkit/test_share_page.py
Twin: labs/privacy/view/code.js · held by: tests/labs/privacy/test_privacy.py

    {"rev": 3, "preset": "As it opens", "of": "digits", "epsilon": 3.0, "metric": "fid", "aggregate": "all", "run": 1}

`epsilon` is looked at on the study's grid, at the nearest of its values; `run` is the one of its draws of the noise
that is picked out. `of` is "digits" for the study that comes with the lab, and "own" for any other, which is no part of
the scene.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...errors import LONGEST_NAME, check_choice, check_text
from ..toolkit.fields import number, scene_fields, whole

STUDIES, AGGREGATES = ("digits", "own"), ("avg", "all")
NEEDED = {"epsilon", "metric"}
FIELDS = NEEDED | {"rev", "preset", "of", "aggregate", "run"}


@dataclass(frozen=True)
class PrivacyScene:
    """An ε, a metric, an aggregate and a run."""

    epsilon: float
    metric: str
    aggregate: str = "all"
    run: int = 1
    of: str = "digits"
    preset: str = ""
    rev: int = 0

    @classmethod
    def parse(cls, value: Any) -> PrivacyScene:
        """A scene from a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        value = scene_fields(value, FIELDS, NEEDED)
        return cls(
            epsilon=number(value["epsilon"], "epsilon"),
            metric=check_text(value["metric"], "metric", LONGEST_NAME),
            aggregate=check_choice(value.get("aggregate", "all"), AGGREGATES, "aggregate"),
            run=whole(value.get("run", 1), "run"),
            of=check_choice(value.get("of", "digits"), STUDIES, "of"),
            preset=check_text(value.get("preset", ""), "preset", LONGEST_NAME),
            rev=whole(value.get("rev", 0), "rev"),
        )

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        return asdict(self)

    def at(self, rev: int) -> PrivacyScene:
        """The same scene as revision `rev`."""
        return replace(self, rev=rev)

    def to_code(self, making: str = "lab = nm.PrivacyLab()") -> str:
        """Python that shows this state again, in the lab that `making` makes."""
        scene = {name: part for name, part in self.to_json().items() if name != "rev"}
        return (
            f"import nbmetrics as nm\n\n{making}\nlab.scene = {json.dumps(scene, indent=4, ensure_ascii=False)}\nlab\n"
        )
