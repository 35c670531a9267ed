"""TwinsScene: what TwinsLab shows, as declared in scene.json, which the page reads too.

`shared` ties the shapes of the clients together, so that they have one covariance; `construction` is which pair of
generators is shown: the corrected one of `nm.theory.twin`, the papers' own (`printed_twin`), or the published table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...distributions import Gaussian
from ...errors import InvalidInput, check_names, check_weights
from ...federation import Client, Federation
from ..plane.items import MAX_WEIGHT, TYPES, Item, fit_half
from ..toolkit.schema import DeclaredScene


@dataclass(frozen=True)
class TwinsScene(DeclaredScene, types=TYPES):
    """Clients in the plane, and which pair of generators is made for them."""

    clients: tuple[Item, ...]
    shared: bool
    construction: str
    half: float

    @classmethod
    def complete(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with items as objects; `shared`, where it is left out, is whether they have one shape."""
        clients = tuple(Item(**one) for one in fields["clients"])
        return {"shared": one_shape(clients), **fields, "clients": clients}

    def check(self) -> None:
        """Raise `InvalidInput` where names, weights or shapes do not fit one another."""
        check_names([item.name for item in self.clients], "client names")
        check_weights([item.weight for item in self.clients], len(self.clients), "client weights")
        if self.shared and not one_shape(self.clients):
            fix = "Give all clients one width, height and angle, or shared=False"
            raise InvalidInput("shared", "is True, but the clients' shapes differ", fix)

    @classmethod
    def of(cls, federation: Any, **settings: Any) -> TwinsScene:
        """The scene of a federation of 2-D Gaussians."""
        if not isinstance(federation, Federation):
            federation = Federation(federation)
        client_weights = [1.0 if client.weight is None else client.weight for client in federation]
        weights = client_weights if max(client_weights) <= MAX_WEIGHT else federation.weights
        items = []
        for client, weight in zip(federation, weights, strict=True):
            distribution = client.distribution
            if not isinstance(distribution, Gaussian) or distribution.dim != 2:
                fix = "Fit one with nm.Gaussian.fit(rows) in 2-D; nm.theory.twin takes data of any dimension"
                raise InvalidInput(client.name or "client", "is not a 2-D Gaussian, and TwinsLab draws only those", fix)
            items.append(Item.of_source(client.name or "", distribution, weight))
        return cls.parse({"clients": [item.to_json() for item in items], "half": fit_half(items), **settings})

    @property
    def federation(self) -> Federation:
        """The clients, as `nm.theory.twin` and `evaluate` take them."""
        distributions = [Gaussian.ellipse(*item.ellipse) for item in self.clients]
        return Federation(
            [Client(l, weight=i.weight, name=i.name) for i, l in zip(self.clients, distributions, strict=True)]
        )

    def to_code(self, making: str = "") -> str:
        """Return Python that rebuilds exactly this scene and makes its pair of generators."""
        tie = "" if self.shared == one_shape(self.clients) else f", shared={self.shared}"
        return self.fill_template(self.construction, tie=tie)


def one_shape(clients: Iterable[Item]) -> bool:
    """Whether all have one width, height and angle."""
    return len({(item.width, item.height, item.angle) for item in clients}) == 1


PRESETS = TwinsScene.presets()
