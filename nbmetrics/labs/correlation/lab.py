"""CorrelationLab: move two correlations and see what MFID, RFID and CFID make of a generator that pairs wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...evaluation.evaluate import evaluate
from ...evaluation.scores import Scores
from ...metrics.conditional import CFID, MFID, RFID, Conditional
from ...ranking import numeral
from ...summaries.joint import JointMoments
from ..toolkit import modules
from ..toolkit.lab import Lab
from .scene import PRESETS, CorrelationScene

if TYPE_CHECKING:
    from ...figures.drawing import Drawing

METRICS: tuple[Conditional, ...] = (MFID(condition_dim=1), RFID(condition_dim=1), CFID(condition_dim=1))
OWN = "Your own"


class CorrelationLab(Lab):
    """A pair (x, y) with correlation ρ, a generator ŷ with correlation ρ̂, and live MFID, RFID and CFID.

    Everything has mean 0, and y and ŷ have variance 1: the generator is right about y and may be wrong about x.

    Parameters
    ----------
    rho, rho_hat : correlations of x with y and with ŷ, −1 to 1
    scale : standard deviation α of x, 0.01 to 10
    metric : whose contours are drawn, "mfid", "rfid", "cfid" or "squared_difference"

    Raises
    ------
    InvalidInput
        For a number that is out of range, or another metric.

    Examples
    --------
    >>> lab = nm.CorrelationLab(rho=0.8, rho_hat=-0.8)
    >>> lab.scores().table[["metric", "all"]].round(2)
      metric   all
    0   mfid  0.00
    1   rfid  1.60
    2   cfid  2.56
    """

    _esm = modules.module("correlation/view/index.js")
    _css = modules.style("correlation/view/style.css")
    _state = CorrelationScene

    def __init__(self, rho: float = 0.8, rho_hat: float = -0.8, scale: float = 1.0, metric: str = "cfid") -> None:
        parameters = {"rho": rho, "rho_hat": rho_hat, "scale": scale, "metric": metric}
        start = _with_preset_name(CorrelationScene.parse(parameters))
        super().__init__(start, {OWN: start, **PRESETS} if start.preset == OWN else PRESETS)

    @property
    def _starts(self) -> dict[str, Any]:
        """Return the presets with the question as it stands."""
        return {name: {**start, "question": self.scene["question"]} for name, start in self.presets.items()}

    def scores(self) -> Scores:
        """The numbers of the present scene, as `evaluate` gives them."""
        scene = self._scene
        return evaluate({"real": scene.real}, {"generated": scene.generated}, METRICS, progress=False)

    def _computed(self, scene: CorrelationScene) -> dict[str, Any]:
        real, generated = (
            JointMoments.of_distribution(distribution, 1) for distribution in (scene.real, scene.generated)
        )
        scores = {metric.name: metric.distance(real, generated) for metric in METRICS}
        return {"scores": {**scores, "squared_difference": (scene.rho - scene.rho_hat) ** 2}}

    def _picture(self) -> Drawing:
        """The present state as a figure."""
        from .figure import correlation

        scene = self._scene
        return correlation(scene, self._computed(scene)["scores"])

    def _described(self) -> str:
        """The present state in words."""
        scene = self._scene
        said = ", ".join(f"{_LABELS[name]} {numeral(value)}" for name, value in self._computed(scene)["scores"].items())
        return (
            f"CorrelationLab: x and y have correlation {numeral(scene.rho, '.2f')}, x and the generated ŷ "
            f"{numeral(scene.rho_hat, '.2f')}, "
            f"and x has the scale {scene.scale:g}. {said}. The picture shows the contours of "
            f"{_LABELS[scene.metric]} over both correlations, the current point, and the clouds of (x, y) and (x, ŷ)."
        )


_LABELS = {**{metric.name: metric.label for metric in METRICS}, "squared_difference": "squared difference"}


def _with_preset_name(scene: CorrelationScene) -> CorrelationScene:
    """Return the scene under the name of the preset that it equals, or else as the user's own."""
    named = (replace(scene, preset=name) for name in PRESETS)
    return next((candidate for candidate in named if candidate in PRESETS.values()), replace(scene, preset=OWN))
