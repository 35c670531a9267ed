"""The charts of MemorizationLab that take a while: every card over one slider, and FLD over two faults at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...experiments import interactions
from .cards import CARDS
from .scene import NEUTRAL, SLIDERS, MemorizationScene
from .study import Study

SWEPT = {name: SLIDERS[name]["swept"] for name in NEUTRAL}
# Copied, of which a saved page has the cards: each place of its slider.
SAVED_SHARES = tuple(k / 20 for k in range(21))
# Generated rows in the heat maps, which take some forty fits; as many test rows, and twice as many of train.
ROWS = 200
DISTINCT, COPIED = (1.0, 0.5, 0.25, 0.1), (0.0, 0.25, 0.5, 0.75)
NOISE, BLUR = (0.0, 0.1, 0.3, 1.0), (0.0, 0.4, 0.6, 1.0)
FACES = (
    ("diversity", "fidelity", "novelty"),
    ("novelty", "fidelity", "diversity"),
    ("novelty", "diversity", "fidelity"),
)


class Request(NamedTuple):
    """For one of the charts; `key` is the page's name of what it will show."""

    scene: MemorizationScene
    key: str

    @property
    def rev(self) -> int:
        """That of the scene."""
        return self.scene.rev


def curve(study: Study, scene: MemorizationScene, also: Iterable[float] = ()) -> Iterator[dict[str, Any]]:
    """Yield the cards over the scene's chosen slider, again after each value; `done` is the share that is known.

    `also` are values of the slider beside the usual ones.
    """
    parameter = scene.view["sweep"]
    if study.chance is None:
        yield {
            "parameter": parameter,
            "error": "Your own generated rows are shown as they are: there is nothing to sweep.",
        }
        return
    values = sorted({*map(float, SWEPT[parameter]), float(getattr(scene, parameter)), *also})
    metrics: dict[str, list[float | None]] = {name: [None] * len(values) for name in CARDS}
    for k, value in enumerate(values):
        cards = study.judge.cards(study.features(study.generated(replace(scene, **{parameter: value}))))  # type: ignore[arg-type]
        for name in CARDS:
            metrics[name] = [*metrics[name][:k], cards[name], *metrics[name][k + 1 :]]
        yield {"parameter": parameter, "values": values, "metrics": dict(metrics), "done": (k + 1) / len(values)}


def saved_curve(study: Study, scene: MemorizationScene) -> dict[str, Any]:
    """Return the curve over the share copied that a page without Python holds, with the page's name of it."""
    swept = replace(scene, view={**scene.view, "sweep": "copied"}, copied=0.0)
    settings = (getattr(swept, name) for name in ("data", *NEUTRAL, "points", "seed"))
    plain = [int(value) if isinstance(value, float) and value.is_integer() else value for value in settings]
    *_, whole = curve(study, replace(swept, copied=scene.copied), SAVED_SHARES)
    return {"key": f"copied {json.dumps(plain, separators=(',', ':'))}", **whole}


def heat_maps(study: Study) -> dict[str, Any]:
    """FLD over each pair of fidelity, diversity and novelty (experiment F6), of some of the rows in view."""
    train, test = study.train[: 2 * ROWS], study.test[:ROWS]
    sets = train, test, study.fresh[: len(train) // 2]
    strengths, unit = (NOISE, "noise, in sd") if study.shape is None else (BLUR, "blur, in pixels")
    table = interactions(strengths, DISTINCT, COPIED, data=sets, degrade=_degrade(study), seed=study.seed)
    table = table.rename(columns={"novelty": "copied"})
    labels = {"fidelity": f"fidelity: {unit}", "diversity": "diversity: share distinct", "copied": "share copied"}
    faces = []
    for x, y, held in (tuple("copied" if name == "novelty" else name for name in face) for face in FACES):
        face = table[table[held] == table[held].iloc[0]]
        xs, ys = (face[name].unique().tolist() for name in (x, y))
        cells = face.pivot(index=y, columns=x, values="fld").loc[ys, xs].to_numpy().tolist()
        faces.append({"x": x, "y": y, "xs": xs, "ys": ys, "fld": cells, "labels": {"x": labels[x], "y": labels[y]}})
    return {"tables": faces, "rows": len(sets[2])}


def _degrade(study: Study) -> Any:
    """None, which is noise, or a blur of images."""
    shape = study.shape
    if shape is None:
        return None

    def blur(rows: np.ndarray, sigma: float, rng: np.random.Generator) -> np.ndarray:
        from scipy.ndimage import gaussian_filter

        return np.asarray(gaussian_filter(rows.reshape(-1, *shape), sigma, axes=(1, 2))).reshape(rows.shape)

    return blur
