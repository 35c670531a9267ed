"""PrivacyScene: what a PrivacyLab shows of its study, as declared in scene.json, which the page reads too."""

from __future__ import annotations

from dataclasses import dataclass

from ..toolkit.schema import DeclaredScene, choices


@dataclass(frozen=True)
class PrivacyScene(DeclaredScene):
    """An ε, a metric, an aggregate and a run.

    `epsilon` is looked at on the study's grid, at the nearest of its values; `run` is the one of its draws of the noise
    that is picked out. `of` is "digits" for the study that comes with the lab, and "own" for any other, which is no
    part of the scene.
    """

    epsilon: float
    metric: str
    aggregate: str
    run: int
    of: str

    def to_code(self, making: str = "lab = nm.PrivacyLab()") -> str:
        """Return Python that shows this state again, in the lab that `making` makes."""
        return super().to_code(making)


AGGREGATES = choices(PrivacyScene, "aggregate")
