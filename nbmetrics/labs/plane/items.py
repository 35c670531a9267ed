"""Item: one client or generator of a scene, a validated value that is plain JSON.

Twin: labs/plane/view/shape.js · held by: tests/labs/toolkit/test_share_page.py

A Gaussian is its 1σ ellipse: width and height are standard deviations along its axes, angle turns it by degrees.
Generators may also be `bumps`, `truncated` or a `copycat` (see `distributions`), and either kind `data` that the lab
holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...distributions import Gaussian
from ...errors import InvalidInput, check_choice, check_names, shown
from ..toolkit.fields import BOUNDS, WHOLE, facts, fields_of, number, whole
from .distributions import Bumps, Copycat, Truncated

GEOMETRY = ("x", "y", "width", "height", "angle")
FIELDS: dict[str, tuple[str, ...]] = {
    "gaussian": GEOMETRY,
    "bumps": GEOMETRY,
    "truncated": ("psi",),
    "copycat": ("of", "count"),
    "data": GEOMETRY,
}
KINDS = {"clients": ("gaussian", "data"), "generators": tuple(FIELDS)}
# Items of a scene.
MOST: dict[str, int] = facts(__package__, "limits.json")["most"]


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

    @classmethod
    def parse(cls, value: Any, kind: str, position: int) -> Item:
        """An item from a dict, every field checked."""
        where = f"{kind}[{position}]"
        if not isinstance(value, Mapping):
            raise InvalidInput(where, f"got {shown(value)}", "Give a dict")
        what = check_choice(value.get("kind", "gaussian"), KINDS[kind], f"{where}.kind")
        fields = (
            ["name", *FIELDS[what]] + ["weight"] * (kind == "clients") + ["data"] * (what == "data" and "data" in value)
        )
        fields_of(value, {"kind", *fields}, fields, where)
        given: dict[str, Any] = {"name": check_names([value["name"]], f"{where}.name")[0], "kind": what}
        for field in fields[1:]:
            given[field] = _checked(value[field], field, f"{where}.{field}")
        return cls(**given)

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
        given = {key: value for key, value in asdict(self).items() if value is not None}
        return given if self.kind != "gaussian" else {key: value for key, value in given.items() if key != "kind"}

    def code(self, seed: int) -> str:
        """The Python that makes its distribution, given `federation` (and `data`, for what the lab holds)."""
        if self.kind == "truncated":
            return f"nm.scene.Truncated(federation, {self.psi!r})"
        if self.kind == "copycat":
            return f"nm.scene.Copycat(federation, {text(self.of or '')}, {self.count}, seed={seed})"
        if self.kind == "data":
            return f"data[{text(self.name)}]"
        center, width, height, angle = self.ellipse
        turn = f", {angle!r}" if angle else ""
        maker = "nm.scene.Bumps" if self.kind == "bumps" else "nm.Gaussian.ellipse"
        return f"{maker}([{center[0]!r}, {center[1]!r}], {width!r}, {height!r}{turn})"


def _checked(value: Any, field: str, where: str) -> Any:
    if field in ("of", "data"):
        return check_names([value], where)[0]
    return whole(value, field, where) if field in WHOLE else number(value, field, where)


def check_reach(name: str, distribution: Any) -> None:
    """Raise InvalidInput about `name` where its distribution is wider, or farther away, than an item may be."""
    reach, most = (
        max(np.abs(distribution.mean).max(), np.linalg.eigvalsh(distribution.cov)[-1] ** 0.5),
        BOUNDS["width"][1],
    )
    if not reach <= most * (1 + 1e-9):
        raise InvalidInput(name, f"has its mean or a standard deviation at {reach:.3g}", f"Rescale it below {most:g}")


def _axes(root: np.ndarray) -> tuple[float, float, float]:
    """Width, height and angle of the ellipse of a factor; its own axes where its two rows are orthogonal."""
    if len(root) != 2 or abs(root[0] @ root[1]) > 1e-15 * np.abs(root).max() ** 2:
        _, lengths, axes = np.linalg.svd(root)
        root = np.append(lengths, [0.0, 0.0])[:2, None] * axes
    width, height = (math.hypot(*row) for row in root)
    angle = math.atan2(root[0, 1], root[0, 0]) if width else math.atan2(-root[1, 0], root[1, 1])
    return width, height, round(math.degrees(angle), 12)


def text(name: str) -> str:
    """A name as a Python text."""
    return json.dumps(name, ensure_ascii=False)
