"""Adding the user's own to a scene: a client or a generator, in the plane or of the width of the scene's rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from ...distributions import Distribution
from ...errors import InvalidInput, check_names, shown
from ...federation import Client, Federation, Generator, are_images, as_generator, check_one_space
from ..plane.distributions import check_has_points, summary
from ..plane.items import Item
from .high_dimensional import drawn_source, wide_item
from .projection import Projection
from .scene import Scene

OTHER = {"clients": "generators", "generators": "clients"}


def clients_of(federation: Any, plane: Any) -> Any:
    """Return the clients to show, or a preset's name, a scene or None; InvalidInput where `plane` has no use."""
    if federation is None or isinstance(federation, (str, Scene)):
        dim = 2
    else:
        federation = federation if isinstance(federation, Federation) else Federation(federation)
        check_has_points(federation)
        dim = federation.dim
    if plane is not None and dim == 2:
        raise InvalidInput("plane", f"is {shown(plane)},and 2 features are already a plane", "Leave it out")
    return federation


def add_item(
    scene: Scene, kind: str, name: str, source: Any, projection: Projection | None, free_key: Callable[[str], str]
) -> tuple[Scene, dict[str, Any]]:
    """Return a scene with one more item of `kind`, or with the one of that name replaced; images become rows.

    Returns
    -------
    scene, and what the page draws of what is new in its `data`
    """
    name, key = check_names([name], "name")[0], free_key(name)
    if name in [item.name for item in getattr(scene, OTHER[kind])]:
        raise InvalidInput("name", f"{shown(name)} is a {OTHER[kind][:-1]}", f"Give the {kind[:-1]} another name")
    party = _client(scene, name, source) if kind == "clients" else _generator(scene, name, source)
    items = list(getattr(scene, kind))
    place = next((k for k, item in enumerate(items) if item.name == name), len(items))
    if scene.plane is not None and projection is not None:
        item, held, drawn = _wide(scene, party, projection, place)
        new = {key: held}, {key: drawn}
    else:
        item, rows = _flat(scene, party)
        new = ({key: rows}, {key: summary(rows)}) if rows is not None else ({}, {})
    item = replace(item, data=key if new[0] else None)
    if kind == "clients":
        weight = items[place].weight if place < len(items) else _weight(scene, new[0].get(key))
        item = replace(item, weight=weight)
    fields = {kind: [*items[:place], item, *items[place + 1 :]]}
    if kind == "clients" and place == len(items):
        fields["generators"] = [_with_ellipse_for(generator, item) for generator in scene.generators]
    data = {**scene.data, **new[0]}
    extracted = {**scene.extracted, **({key: party.extraction} if party.extraction else {})}
    changed = {kind: [one.to_json() for one in own] for kind, own in fields.items()}
    return Scene.parse({**scene.to_json(), **changed}, data, extracted), new[1]


def _with_ellipse_for(generator: Item, client: Item) -> Item:
    """Return a generator that has an ellipse for each client with one more, of the new client's shape."""
    if not generator.parts:
        return generator
    own = replace(client, weight=None, kind="gaussian", data=None)
    return replace(generator, parts=(*generator.parts, own))


def _client(scene: Scene, name: str, source: Any) -> Client:
    """Return the client of a source; images become rows as the other clients' did."""
    client = Federation({name: source}, extractor=scene.extraction if are_images(source) else None)[name]
    check_has_points([client])
    check_one_space([("the scene", scene.extraction), (name, client.extraction)], "source")
    return client


def _generator(scene: Scene, name: str, source: Any) -> Generator:
    """Return the generator of a source; what it makes of images are rows, as the clients' are."""
    generator = as_generator(source, name, may_be_by_client=scene.plane is None)
    check_has_points([generator])
    return generator if generator.is_by_client else generator.through(scene.extraction)


def _wide(
    scene: Scene, party: Client | Generator, projection: Projection, place: int
) -> tuple[Item, Any, dict[str, Any]]:
    name = party.name or ""
    if isinstance(party, Client):
        return wide_item(name, party.distribution if party.rows is None else party.rows, projection, 1.0)
    return wide_item(name, drawn_source(party, place, scene.seed, scene.dim), projection)


def _flat(scene: Scene, party: Client | Generator) -> tuple[Item, Any]:
    """Return the item of a source in the plane, and the data that a lab holds for it, or None."""
    if isinstance(party, Client):
        flat_scene = Scene.of(Federation([party]))
        return flat_scene.clients[0], flat_scene.data.get(party.name or "")
    flat_scene = Scene.of(scene.distributions, [party], seed=scene.seed)
    return flat_scene.generators[0], flat_scene.data.get(party.name or "")


def _weight(scene: Scene, held: Any) -> float:
    """Return the weight of a new client: by its rows as the others', or their average."""
    total = sum(client.weight or 0.0 for client in scene.clients)
    others = [scene.data.get(client.key) if client.kind == "data" else None for client in scene.clients]
    counts = [len(source) if _has_rows(source) else 0 for source in (held, *others)]
    if all(counts):
        return total / sum(counts[1:]) * counts[0]
    return total / len(scene.clients)


def _has_rows(source: Any) -> TypeGuard[np.ndarray]:
    return source is not None and not isinstance(source, Distribution)
