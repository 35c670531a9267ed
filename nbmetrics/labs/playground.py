"""Playground: drag clients and generators in the plane and see FID and KID, averaged and pooled, move along."""

from __future__ import annotations

from typing import Any

from ..evaluation import evaluate
from ..scene import Scene, presets
from ..scores import Scores
from . import page
from .base import Lab

METRICS = ("fid", "kid")
OWN = "Your clients"


class Playground(Lab):
    """Clients and generators as Gaussians in the plane, with live FID-avg, FID-all, KID-avg and KID-all.

    Parameters
    ----------
    federation : clients that are 2-D Gaussians (`Federation`, or a list that makes one), or the name of a
        preset; "Two clients", the papers' toy, by default
    generators : list or dict of 2-D Gaussians; the pooled Gaussian by default

    Raises
    ------
    InvalidInput
        For a client or generator that is not a 2-D Gaussian.
    """

    _esm = page.module("playground.js")

    def __init__(self, federation: Any = None, generators: Any = None) -> None:
        known = presets()
        if isinstance(federation, Scene):
            start = federation
        elif federation is None or isinstance(federation, str):
            start = Scene.preset_named("Two clients" if federation is None else federation)
            if generators is not None:
                start = Scene.of(start.federation, generators, OWN)
        else:
            start = Scene.of(federation, generators, OWN)
        if start.preset not in known:
            known = {start.preset or OWN: start, **known}
        super().__init__(start, known)

    def scores(self) -> Scores:
        """The numbers of the present scene, as `evaluate` gives them."""
        scene = self._scene
        return evaluate(scene.federation, scene.sources, METRICS, progress=False)

    def _computed(self, scene: Scene) -> dict[str, Any]:
        table = evaluate(scene.federation, scene.sources, METRICS, progress=False).table
        parts = {name: table[table["metric"] == name] for name in METRICS}
        return {
            "scores": {name: {part: rows[part].tolist() for part in ("avg", "all")} for name, rows in parts.items()}
        }
