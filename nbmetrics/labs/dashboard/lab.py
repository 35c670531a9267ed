"""Dashboard: which generator to ship, and who pays for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from ...errors import InvalidInput, shown
from ...evaluation.scores import Scores
from ..toolkit import modules
from ..toolkit.lab import Lab
from .scene import DashboardScene
from .study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GIVEN, ALIKE = "As given", "All clients alike"


class Dashboard(Lab):
    """Generators side by side on the clients of a federation: who is best, by which weights, and who pays for it.

    Parameters
    ----------
    federation, generators, metrics : as `nm.evaluate` takes them
    uncertainty : None for influence values where clients and generators are rows (exact laws do not vary); or
        `nm.Influence()`, `nm.Bootstrap(…)`, `nm.Jackknife()`

    Attributes
    ----------
    scores : `Scores` under the weights on show
    verdict : list of sentences, the first line of the view
    """

    _esm = modules.module("dashboard/view/index.js")
    _css = modules.style("dashboard/view/style.css", "dashboard/view/heat.css")
    _state = DashboardScene

    board = traitlets.Dict().tag(sync=True)
    draws = traitlets.Dict().tag(sync=True)

    def __init__(
        self, federation: Any, generators: Any, metrics: Any = ("fid", "kid"), *, uncertainty: Any = None
    ) -> None:
        self._study = Study(federation, generators, metrics, uncertainty)
        presets = self._scenes()
        super().__init__(presets[GIVEN], presets)
        self._write(board=self._study.board(), draws=self._study.draws())

    def _scenes(self) -> dict[str, DashboardScene]:
        names, weights = self._study.names, self._study.weights
        common = {
            "metric": self._study.facts[0].metric.name,
            "generators": list(self._study.sources),
            "groups": [min(2, 3 * i // len(names)) for i in range(len(names))],
        }
        return {
            name: DashboardScene.parse({"weights": list(given), "preset": name, **common})
            for name, given in ((GIVEN, weights), (ALIKE, [1.0 / len(names)] * len(names)))
        }

    def _read(self, value: Any) -> DashboardScene:
        scene: DashboardScene = super()._read(value)
        self._accept(scene)
        return scene

    def _accept(self, scene: DashboardScene) -> None:
        if len(scene.weights) != len(self._study.names):
            seen = f"has {len(scene.weights)} weights, and this Dashboard {len(self._study.names)} clients"
            raise InvalidInput("scene", seen, "Open it with the data it was made of")
        for name in scene.generators:
            if name not in self._study.sources:
                raise InvalidInput("scene", f"has the generator {shown(name)}", "Attach it first")

    @property
    def scores(self) -> Scores:  # type: ignore[override]
        """Of all generators, under the weights on show."""
        return self._study.scores.with_weights(self._scene.shares)

    def _computed(self, scene: DashboardScene) -> dict[str, Any]:
        return self._study.answer(scene)

    def _picture(self) -> Figure:
        raise NotImplementedError

    def _described(self) -> str:
        return "Dashboard"
