"""Item: one client or generator of a scene, a value that is plain JSON; items.json declares its fields by kind.

A Gaussian is its 1σ ellipse: width and height are standard deviations along its axes, angle turns it by degrees.
Generators may also be `bumps`, `truncated` or a `copycat` (see `distributions`), or `by_client`: an ellipse for each
client, its `parts`, each under the name of the client that it is for. Either kind may be `data` that the lab holds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...distributions import Gaussian
from ...errors import InvalidInput
from ..toolkit.fields import facts
from .distributions import Bumps, Copycat, Truncated

# What scenes in the plane declare their fields by.
TYPES = facts(__package__, "items.json")
# Items of a scene.
MOST: dict[str, int] = {kind: TYPES[kind]["to"] for kind in ("clients", "generators")}
MAX_WEIGHT, MAX_WIDTH = (float(TYPES[name]["number"][1]) for name in ("weight", "width"))


@dataclass(frozen=True)
class Item:
    """A client or generator in the plane; generators have no weight, and only the fields of their kind are set."""

    name: str
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None
    angle: float | None = None
    weight: float | None = None
    kind: str = "gaussian"
    psi: float | None = None
    of: str | None = None
    count: int | None = None
    data: str | None = None
    parts: tuple[Item, ...] | None = None

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Item:
        """The item of checked values by field."""
        parts = tuple(map(cls.of_json, values.get("parts") or ()))
        return cls(**{**values, "parts": parts or None})

    @classmethod
    def of_source(cls, name: str, source: Any, weight: float | None = None) -> Item:
        """The item of a 2-D Gaussian or of one of the distributions of this room; anything else is data, by its
        moments."""
        if isinstance(source, Truncated):
            return cls(name, kind="truncated", psi=source.psi)
        if isinstance(source, Copycat):
            return cls(name, kind="copycat", of=source.client, count=source.count)
        check_reach(name, source.ellipse if isinstance(source, Bumps) else source)
        if isinstance(source, Bumps):
            x, y = map(float, source.ellipse.mean)
            return cls(name, x, y, source.width, source.height, source.angle, weight, "bumps")
        distribution = source if isinstance(source, Gaussian) else Gaussian(source.mean, source.cov)
        x, y = map(float, distribution.mean)
        kind = "gaussian" if isinstance(source, Gaussian) else "data"
        return cls(name, x, y, *_axes(distribution.root), weight, kind)

    @property
    def key(self) -> str:
        """Under what the lab holds its data."""
        return self.data or self.name

    @property
    def ellipse(self) -> tuple[list[float], float, float, float]:
        """Centre, width, height and angle of an item that has them."""
        return [self.x or 0.0, self.y or 0.0], self.width or 0.0, self.height or 0.0, self.angle or 0.0

    def to_json(self) -> dict[str, Any]:
        """A dict of the fields that are set."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values = {key: value for key, value in values.items() if value is not None}
        if self.parts:
            values["parts"] = [part.to_json() for part in self.parts]
        return values if self.kind != "gaussian" else {key: value for key, value in values.items() if key != "kind"}


def fit_half(items: Collection[Item], is_tight: bool = False) -> float:
    """Return half the side of the square in view that shows all items; 5 where that does, unless it `is_tight`."""
    low, high = TYPES["half"]["number"]
    drawn = [part for item in items for part in item.parts or (item,) if part.x is not None]
    reach = max(max(abs(i.x), abs(i.y)) + 2 * max(i.width, i.height) for i in drawn)  # type: ignore
    return 5.0 if 1.0 <= reach <= 5.0 and not is_tight else min(max(reach * 1.1, low), high)


def check_reach(name: str, distribution: Any) -> None:
    """Raise InvalidInput about `name` where its distribution is wider, or farther away, than an item may be."""
    reach = max(np.abs(distribution.mean).max(), np.linalg.eigvalsh(distribution.cov)[-1] ** 0.5)
    if not reach <= MAX_WIDTH * (1 + 1e-9):
        seen = f"has its mean or a standard deviation at {reach:.3g}"
        raise InvalidInput(name, seen, f"Rescale it below {MAX_WIDTH:g}")


def _axes(root: np.ndarray) -> tuple[float, float, float]:
    """Width, height and angle of the ellipse of a factor; its own axes where its two rows are orthogonal."""
    if len(root) != 2 or abs(root[0] @ root[1]) > 1e-15 * np.abs(root).max() ** 2:
        _, lengths, axes = np.linalg.svd(root)
        root = np.append(lengths, [0.0, 0.0])[:2, None] * axes
    width, height = (math.hypot(*row) for row in root)
    angle = math.atan2(root[0, 1], root[0, 0]) if width else math.atan2(-root[1, 0], root[1, 1])
    return width, height, round(math.degrees(angle), 12)
