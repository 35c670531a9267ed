"""What Python edits of a Dashboard's scene beside the page: the clients' weights, and what Reset goes back to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import traitlets

from ...errors import check_named_weights
from ..toolkit.lab import Lab
from .study import Study, Weights


class Edits(Lab):
    """The part of `Dashboard` that sets weights and keeps its presets up to date."""

    _study: Study
    # The generators that it was made of.
    _given: tuple[str, ...]

    @property
    def weights(self) -> Weights:
        """λ of the clients, in their order. Set them as `Federation.with_weights` takes them; can be undone."""
        shares: Weights = self._scene.shares
        return shares

    @weights.setter
    def weights(self, weights: Any) -> None:
        scene, shares = self._scene, check_named_weights(weights, self._study.names)
        self._travel((self._history.record(scene), replace(scene, weights=shares)))

    @traitlets.observe("scene")
    def _presets_follow(self, change: Any) -> None:
        """A preset, and so Reset, shows the generators given at first and those attached since: it is of settings."""
        shown = [*self._given, *(name for name in change["new"]["generators"] if name not in self._given)]
        if any(scene["generators"] != shown for scene in self.presets.values()):
            self._write(presets={name: {**scene, "generators": shown} for name, scene in self.presets.items()})
