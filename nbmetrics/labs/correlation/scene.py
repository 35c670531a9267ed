"""CorrelationScene: what CorrelationLab shows, two correlated numbers of variance 1 and a generator of the second.

Twin: labs/correlation/view/maths.js · held by: tests/labs/correlation/test_correlation.py
Twin: labs/correlation/view/shape.js · held by: tests/labs/toolkit/test_share_page.py

    {"rev": 3, "preset": "Wrong sign", "rho": 0.8, "rho_hat": -0.8, "scale": 1.0, "metric": "cfid",
     "question": {"step": 1, "answer": "open"}}

`rho` is the correlation of x and y, `rho_hat` that of x and the generated ŷ, `scale` the standard deviation α of x,
and `metric` the score whose contours are drawn. `question` is how far the learner is: which of the questions is asked,
and what became of it: "open" (what would give it away is veiled), "explored" (the veil is lifted, and it can still be
answered), "shown" without a prediction, or the score that was predicted.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...distributions import Gaussian
from ...errors import LONGEST_NAME, check_choice, check_text
from ..toolkit.fields import fields_of, number, scene_fields, whole

SCORES = ("mfid", "rfid", "cfid", "squared_difference")
NEEDED = {"rho", "rho_hat"}
FIELDS = NEEDED | {"rev", "preset", "scale", "metric", "question"}
ANSWERS = ("open", "explored", "shown", "mfid", "rfid", "cfid")


@dataclass(frozen=True)
class Question:
    """Which question is asked, from 1, and what became of it."""

    step: int = 1
    answer: str = "open"

    @classmethod
    def parse(cls, value: Any) -> Question:
        """A question from a dict; raises `InvalidInput` naming the field that is wrong."""
        fields_of(value, {"step", "answer"}, {"step", "answer"}, "question")
        step = whole(value["step"], "step", "question.step")
        return cls(step, check_choice(value["answer"], ANSWERS, "question.answer"))


@dataclass(frozen=True)
class CorrelationScene:
    """Two correlations, the scale of x, the score in view, and the question asked about them."""

    rho: float
    rho_hat: float
    scale: float = 1.0
    metric: str = "cfid"
    preset: str = ""
    rev: int = 0
    question: Question = Question()

    @classmethod
    def parse(cls, value: Any) -> CorrelationScene:
        """A scene from a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        value = scene_fields(value, FIELDS, NEEDED)
        return cls(
            rho=number(value["rho"], "rho"),
            rho_hat=number(value["rho_hat"], "rho_hat"),
            scale=number(value.get("scale", 1.0), "scale"),
            metric=check_choice(value.get("metric", "cfid"), SCORES, "metric"),
            preset=check_text(value.get("preset", ""), "preset", LONGEST_NAME),
            rev=whole(value.get("rev", 0), "rev"),
            question=Question.parse(value["question"]) if "question" in value else Question(),
        )

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        return asdict(self)

    def at(self, rev: int) -> CorrelationScene:
        """The same scene as revision `rev`."""
        return replace(self, rev=rev)

    @property
    def real(self) -> Gaussian:
        """The distribution of (αx, y)."""
        return _pair(self.rho, self.scale)

    @property
    def generated(self) -> Gaussian:
        """The distribution of (αx, ŷ)."""
        return _pair(self.rho_hat, self.scale)

    def to_code(self) -> str:
        """Python that rebuilds exactly this scene, and its three scores with the package's metrics."""
        return CODE.format(**asdict(self))


CODE = """\
import nbmetrics as nm

rho, rho_hat, scale = {rho!r}, {rho_hat!r}, {scale!r}


def pair(correlation):
    # the distribution of (x, y): x = scale * a and y = correlation * a + spread * b, for independent normal a and b
    spread = ((1 - correlation) * (1 + correlation)) ** 0.5
    return nm.Gaussian.factored([0, 0], [[scale, correlation], [0, spread]])


metrics = [kind(condition_dim=1) for kind in (nm.metrics.MFID, nm.metrics.RFID, nm.metrics.CFID)]
scores = nm.evaluate({{"real": pair(rho)}}, {{"generated": pair(rho_hat)}}, metrics)
lab = nm.CorrelationLab(rho, rho_hat, scale, metric="{metric}")
lab
"""

PRESETS = {
    scene.preset: scene
    for scene in (
        CorrelationScene(0.8, -0.8, preset="Wrong sign"),
        CorrelationScene(0.8, 0.8, preset="Right pairing"),
        CorrelationScene(0.8, 0.0, preset="Paired against unpaired"),
        CorrelationScene(0.3, 1.0, preset="Too sure of itself"),
        CorrelationScene(1.0, -1.0, preset="Deterministic"),
        CorrelationScene(0.8, -0.8, scale=0.1, metric="rfid", preset="Tiny unit of x"),
    )
}


def _pair(correlation: float, scale: float) -> Gaussian:
    # by its factor, so that 1 − ρ² keeps its digits where ρ is nearly 1
    spread = math.sqrt((1 - correlation) * (1 + correlation))
    return Gaussian.factored([0, 0], [[scale, correlation], [0, spread]])
