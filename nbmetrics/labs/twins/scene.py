"""TwinsScene: what TwinsLab shows, as an immutable, validated value that is plain JSON.

Twin: labs/twins/view/edits.js · held by: tests/labs/twins/test_twins.py
Twin: labs/twins/view/shape.js · held by: tests/labs/toolkit/test_share_page.py

    {"rev": 3, "preset": "Two clients", "half": 5, "shared": true, "construction": "corrected",
     "clients": [{"name", "x", "y", "width", "height", "angle", "weight"}, …]}

`shared` ties the shapes of the clients together, so that they have one covariance; `construction` is which pair of
generators is shown: the corrected one of `nm.theory.twin`, the papers' own (`printed_twin`), or the published table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ...distributions import Gaussian
from ...errors import LONGEST_NAME, InvalidInput, check_choice, check_names, check_text, check_weights
from ...federation import Client, Federation
from ..plane.items import MOST, Item, text
from ..toolkit.fields import BOUNDS, flag, listed, number, scene_fields, whole

CONSTRUCTIONS = ("corrected", "printed", "published")
FIELDS = {"rev", "preset", "half", "shared", "construction", "clients"}


@dataclass(frozen=True)
class TwinsScene:
    """Clients in the plane, and which pair of generators is made for them."""

    clients: tuple[Item, ...]
    shared: bool = True
    construction: str = "corrected"
    half: float = 5.0
    preset: str = ""
    rev: int = 0

    @classmethod
    def parse(cls, value: Any) -> TwinsScene:
        """A scene from a dict (or JSON text); raises `InvalidInput` naming the field that is wrong."""
        value = scene_fields(value, FIELDS, ("clients",))
        clients = _clients(value["clients"])
        return cls(
            clients=clients,
            shared=_shared(value.get("shared", one_shape(clients)), clients),
            construction=check_choice(value.get("construction", "corrected"), CONSTRUCTIONS, "construction"),
            half=number(value.get("half", 5.0), "half"),
            preset=check_text(value.get("preset", ""), "preset", LONGEST_NAME),
            rev=whole(value.get("rev", 0), "rev"),
        )

    @classmethod
    def of(cls, federation: Any, **settings: Any) -> TwinsScene:
        """The scene of a federation of 2-D Gaussians."""
        if not isinstance(federation, Federation):
            federation = Federation(federation)
        client_weights = [1.0 if client.weight is None else client.weight for client in federation]
        weights = client_weights if max(client_weights) <= BOUNDS["weight"][1] else federation.weights
        items = []
        for client, weight in zip(federation, weights, strict=True):
            distribution = client.distribution
            if not isinstance(distribution, Gaussian) or distribution.dim != 2:
                fix = "Fit one with nm.Gaussian.fit(rows) in 2-D; nm.theory.twin takes data of any dimension"
                raise InvalidInput(client.name or "client", "is no 2-D Gaussian, and TwinsLab draws those", fix)
            items.append(Item.of_source(client.name or "", distribution, weight))
        reach = max(max(abs(i.x or 0), abs(i.y or 0)) + 2 * max(i.width or 0, i.height or 0) for i in items)
        half = 5.0 if 1.0 <= reach <= 5.0 else min(max(reach * 1.1, BOUNDS["half"][0]), BOUNDS["half"][1])
        return cls.parse({"clients": [item.to_json() for item in items], "half": half, **settings})

    def to_json(self) -> dict[str, Any]:
        """The dict that `parse` reads and the view shows."""
        return {
            "rev": self.rev,
            "preset": self.preset,
            "half": self.half,
            "shared": self.shared,
            "construction": self.construction,
            "clients": [item.to_json() for item in self.clients],
        }

    def at(self, rev: int) -> TwinsScene:
        """The same scene as revision `rev`."""
        return replace(self, rev=rev)

    @property
    def federation(self) -> Federation:
        """The clients, as `nm.theory.twin` and `evaluate` take them."""
        distributions = [Gaussian.ellipse(*item.ellipse) for item in self.clients]
        return Federation(
            [Client(l, weight=i.weight, name=i.name) for i, l in zip(self.clients, distributions, strict=True)]
        )

    def to_code(self) -> str:
        """Python that rebuilds exactly this scene and makes its pair of generators."""
        clients = [f"    nm.Client({i.code(0)}, weight={i.weight!r}, name={text(i.name)})," for i in self.clients]
        settings = "" if self.shared == one_shape(self.clients) else f", shared={self.shared}"
        settings += "" if self.construction == "corrected" else f', construction="{self.construction}"'
        start = ["import nbmetrics as nm", "", "federation = nm.Federation([", *clients, "])"]
        return "\n".join([*start, f"lab = nm.TwinsLab(federation{settings})", *CODE[self.construction], "lab", ""])


def _tried(function: str) -> tuple[str, ...]:
    return (
        "try:",
        f"    pair = nm.theory.{function}(federation)  # first, second, all_gap",
        "    differences = nm.theory.twin_differences(federation, pair)  # of each client's scores, second − first",
        "except nm.theory.NoTwin as reason:",
        "    print(reason)",
    )


CODE = {
    "corrected": _tried("twin"),
    "printed": _tried("printed_twin"),
    "published": ('table = nm.experiments.published("twin_generators_ffhq")',),
}


def one_shape(clients: Iterable[Item]) -> bool:
    """Whether all have one width, height and angle."""
    return len({(item.width, item.height, item.angle) for item in clients}) == 1


def _clients(value: Any) -> tuple[Item, ...]:
    entries = listed(value, "clients", 1, MOST["clients"])
    items = tuple(Item.parse(item, "clients", position) for position, item in enumerate(entries))
    for position, item in enumerate(items):
        check_choice(item.kind, ["gaussian"], f"clients[{position}].kind")
    check_names([item.name for item in items], "client names")
    check_weights([item.weight for item in items], len(items), "client weights")
    return items


def _shared(value: Any, clients: tuple[Item, ...]) -> bool:
    if flag(value, "shared") and not one_shape(clients):
        fix = "Give all clients one width, height and angle, or shared=False"
        raise InvalidInput("shared", "is True, and the clients' shapes differ", fix)
    return bool(value)


def _preset(name: str, *places: tuple[float, ...], shape: tuple[float, ...] = ()) -> TwinsScene:
    """From (x, y) of clients of one shape, or (x, y, width, height, angle) of each."""
    geometry = [dict(zip(("x", "y", "width", "height", "angle"), (*place, *shape), strict=True)) for place in places]
    clients = [{"name": f"Client {k}", "weight": 1.0, **item} for k, item in enumerate(geometry, 1)]
    return TwinsScene.parse({"clients": clients, "preset": name})


PRESETS = {
    scene.preset: scene
    for scene in (
        _preset("Two clients", (-2, 0), (2, 0), shape=(1, 1, 0)),
        _preset("Three on a line", (-3, -1), (-1.2, -0.4), (3.3, 1.1), shape=(0.8, 0.5, -30)),
        _preset("Triangle (no direction left)", (-1.7, -0.9), (1.7, -0.9), (0, 1.6), shape=(1.6, 1.1, 0)),
        _preset(
            "Unequal shapes (numerical)",
            (-2.2, -0.6, 1.4, 0.6, 60),
            (2.2, -0.9, 0.7, 0.7, 0),
            (0.3, 2.1, 1.4, 0.5, -15),
        ),
        _preset("Identical clients (no twin)", (0, 0), (0, 0), (0, 0), shape=(1.6, 1, 20)),
    )
}
