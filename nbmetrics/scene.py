"""Scene: what a view shows, as an immutable, validated value that is plain JSON.

    {"rev": 3, "preset": "Two clients", "half": 5,
     "clients":    [{"name", "x", "y", "width", "height", "angle", "weight"}, …],
     "generators": [{"name", "x", "y", "width", "height", "angle"}, …]}

width and height are standard deviations along the axes of the 1σ ellipse, angle turns it by degrees, weights are
relative, and `half` is half the side of the square in view. `rev` numbers the edits: the higher one is newer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from .distributions import Gaussian
from .errors import InvalidInput, check_choice, check_count, check_names, check_number, check_weights, shown
from .federation import Client, Federation, as_generators

LARGEST = 1e6
MOST = {"clients": 24, "generators": 12}
SCENE_FIELDS = {"rev", "preset", "half", "clients", "generators"}


@dataclass(frozen=True)
class Item:
    """A client or generator in the plane: the 1σ ellipse of its Gaussian; generators have no weight."""

    name: str
    x: float
    y: float
    width: float
    height: float
    angle: float
    weight: float | None = None

    @classmethod
    def parse(cls, value: Any, kind: str, position: int) -> Item:
        """An item from a dict, every number checked."""
        where = f"{kind}[{position}]"
        fields = ["name", "x", "y", "width", "height", "angle"] + ["weight"] * (kind == "clients")
        if not isinstance(value, Mapping) or set(value) != set(fields):
            seen = sorted(map(str, value)) if isinstance(value, Mapping) else shown(value)
            raise InvalidInput(where, f"got {seen}", f"Give the fields {', '.join(fields)}")
        name = check_names([value["name"]], f"{where}.name")[0]
        numbers = {f: check_number(value[f], f"{where}.{f}", minimum=-LARGEST, maximum=LARGEST) for f in fields[1:]}
        for length in ("width", "height", "weight"):
            if numbers.get(length, 0.0) < 0:
                raise InvalidInput(f"{where}.{length}", f"got {numbers[length]:g}", "Give 0 or more")
        return cls(name, **numbers)

    @classmethod
    def of_gaussian(cls, name: str, law: Any, weight: float | None = None) -> Item:
        """The ellipse of a 2-D Gaussian."""
        if not isinstance(law, Gaussian) or law.dim != 2:
            fix = "Fit one with nm.Gaussian.fit(rows) in 2-D; nm.evaluate takes data of any dimension"
            what = "rows of data" if law is None or hasattr(law, "shape") else shown(law)
            raise InvalidInput(name, f"is {what}, and the Playground draws 2-D Gaussians", fix)
        x, y = map(float, law.mean)
        return cls(name, x, y, *_axes(law.root), weight)

    @property
    def law(self) -> Gaussian:
        """The Gaussian it stands for."""
        return Gaussian.ellipse([self.x, self.y], self.width, self.height, self.angle)

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Scene:
    """Clients and generators in the plane."""

    clients: tuple[Item, ...]
    generators: tuple[Item, ...]
    half: float = 5.0
    preset: str = ""
    rev: int = 0

    @classmethod
    def parse(cls, value: Any) -> Scene:
        """A scene from a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError as error:
                raise InvalidInput("scene", f"is not JSON: {error}", "Give the dict of a lab's scene") from None
        if not isinstance(value, Mapping) or not {"clients", "generators"} <= set(value) <= SCENE_FIELDS:
            seen = sorted(map(str, value)) if isinstance(value, Mapping) else shown(value)
            raise InvalidInput("scene", f"got {seen}", f"Give the fields {', '.join(sorted(SCENE_FIELDS))}")
        parts = {kind: _items(value[kind], kind) for kind in ("clients", "generators")}
        check_names([item.name for items in parts.values() for item in items], "scene names")
        check_weights([item.weight for item in parts["clients"]], len(parts["clients"]), "client weights")
        preset = value.get("preset", "")
        if not isinstance(preset, str):
            raise InvalidInput("preset", f"got {shown(preset)}", "Give a text")
        half = check_number(value.get("half", 5.0), "half", minimum=1e-6, maximum=LARGEST)
        return cls(**parts, half=half, preset=preset, rev=check_count(value.get("rev", 0), "rev", minimum=0))

    @classmethod
    def of(cls, federation: Any, generators: Any = None, preset: str = "") -> Scene:
        """The scene of a federation of 2-D Gaussians; the generator defaults to the pooled Gaussian."""
        if not isinstance(federation, Federation):
            federation = Federation(federation)
        clients = [
            Item.of_gaussian(c.name or "", c.distribution, weight)
            for c, weight in zip(federation, _readable(federation.weights), strict=True)
        ]
        if generators is None:
            law = federation.pooled().distribution
            generators = {"Generator 1": Gaussian(law.mean, law.cov)}
        made = [Item.of_gaussian(g.name or "", g.source) for g in as_generators(generators)]
        reach = max(max(abs(i.x), abs(i.y)) + 2 * max(i.width, i.height) for i in [*clients, *made])
        half = 5.0 if 1.0 <= reach <= 5.0 else max(reach * 1.1, 1e-3)
        scene = cls(tuple(clients), tuple(made), half=half, preset=preset)
        return cls.parse(scene.to_json())

    @classmethod
    def preset_named(cls, name: str) -> Scene:
        """One of the scenes that come with the package."""
        return presets()[check_choice(name, presets(), "preset")]

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        return {
            "rev": self.rev,
            "preset": self.preset,
            "half": self.half,
            "clients": [item.to_json() for item in self.clients],
            "generators": [item.to_json() for item in self.generators],
        }

    def at(self, rev: int) -> Scene:
        """The same scene as revision `rev`."""
        return replace(self, rev=rev)

    @property
    def federation(self) -> Federation:
        """The clients, as `evaluate` takes them."""
        return Federation([Client(item.law, weight=item.weight, name=item.name) for item in self.clients])

    @property
    def sources(self) -> dict[str, Gaussian]:
        """The generators, as `evaluate` takes them."""
        return {item.name: item.law for item in self.generators}

    def to_code(self) -> str:
        """Python that rebuilds exactly this scene."""
        clients = [
            f"    nm.Client({_law_code(item)}, weight={item.weight!r}, name={_text(item.name)}),"
            for item in self.clients
        ]
        made = [f"    {_text(item.name)}: {_law_code(item)}," for item in self.generators]
        lines = [
            "import nbmetrics as nm",
            "",
            "federation = nm.Federation([",
            *clients,
            "])",
            "generators = {",
            *made,
            "}",
        ]
        return "\n".join(
            [
                *lines,
                "scores = nm.evaluate(federation, generators)",
                "lab = nm.Playground(federation, generators)",
                "lab",
                "",
            ]
        )


@dataclass(frozen=True)
class History:
    """The scenes before and after the present one, for undo and redo."""

    past: tuple[Scene, ...] = ()
    future: tuple[Scene, ...] = ()
    MOST = 50

    @classmethod
    def parse(cls, value: Mapping[str, Any]) -> History:
        return cls(*(tuple(Scene.parse(s) for s in value.get(side, ())) for side in ("past", "future")))

    def to_json(self) -> dict[str, Any]:
        return {side: [s.to_json() for s in getattr(self, side)] for side in ("past", "future")}

    def record(self, before: Scene) -> History:
        """After an edit of `before`: it can be undone, and what was undone is forgotten."""
        return History((*self.past, before)[-self.MOST :], ())

    def undo(self, now: Scene) -> tuple[History, Scene]:
        """The history after undo, and the scene it returns to."""
        if not self.past:
            raise InvalidInput("undo", "there is nothing to undo", "Edit the scene first")
        return History(self.past[:-1], (now, *self.future)), self.past[-1]

    def redo(self, now: Scene) -> tuple[History, Scene]:
        """The history after redo, and the scene it goes on to."""
        if not self.future:
            raise InvalidInput("redo", "there is nothing to redo", "Undo something first")
        return History((*self.past, now), self.future[1:]), self.future[0]


@cache
def presets() -> dict[str, Scene]:
    """The scenes that come with the package, by name."""
    text = resources.files(__package__).joinpath("presets.json").read_text("utf-8")
    return {name: replace(Scene.parse(scene), preset=name) for name, scene in json.loads(text).items()}


def _items(value: Any, kind: str) -> tuple[Item, ...]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise InvalidInput(kind, f"got {shown(value)}", "Give a list of items")
    items = tuple(Item.parse(item, kind, position) for position, item in enumerate(value))
    if not 1 <= len(items) <= MOST[kind]:
        raise InvalidInput(kind, f"has {len(items)} items", f"Give 1 to {MOST[kind]}")
    return items


def _axes(root: np.ndarray) -> tuple[float, float, float]:
    """Width, height and angle of the ellipse of a factor; its own axes where its two rows are orthogonal."""
    if len(root) != 2 or abs(root[0] @ root[1]) > 1e-15 * np.abs(root).max() ** 2:
        _, lengths, axes = np.linalg.svd(root)
        root = np.append(lengths, [0.0, 0.0])[:2, None] * axes
    width, height = (math.hypot(*row) for row in root)
    angle = math.atan2(root[0, 1], root[0, 0]) if width else math.atan2(-root[1, 0], root[1, 1])
    return width, height, round(math.degrees(angle), 12)


def _readable(weights: tuple[float, ...]) -> list[float]:
    """Equal weights as ones, others as they are: what a person would type."""
    return [1.0] * len(weights) if max(weights) == min(weights) else list(weights)


def _law_code(item: Item) -> str:
    turn = f", {item.angle!r}" if item.angle else ""
    return f"nm.Gaussian.ellipse([{item.x!r}, {item.y!r}], {item.width!r}, {item.height!r}{turn})"


def _text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
