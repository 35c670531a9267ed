"""Adding the user's own to a scene: a client or a generator, in the plane or of the width of the scene's rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from ...distributions import Distribution
from ...errors import InvalidInput, check_names, shown
from ...federation import Federation, are_images, as_generators
from ..plane.items import Item
from ..plane.laws import summary
from .projection import Projection
from .scene import Scene
from .wide import drawn_source, wide_item

OTHER = {"clients": "generators", "generators": "clients"}


def clients_of(federation: Any, plane: Any) -> Any:
    """The clients to show, or a preset's name, a scene or None; InvalidInput where `plane` has no use."""
    if federation is None or isinstance(federation, (str, Scene)):
        dim = 2
    else:
        federation = federation if isinstance(federation, Federation) else Federation(federation)
        dim = federation.dim
    if plane is not None and dim == 2:
        raise InvalidInput("plane", f"is {shown(plane)}, and 2 features are a plane themselves", "Leave it out")
    return federation


def added(
    scene: Scene, kind: str, name: str, source: Any, projection: Projection | None, free_key: Callable[[str], str]
) -> tuple[Scene, dict[str, Any], dict[str, Any]]:
    """The scene with one more of `kind`, or another in the place of the one of that name.

    Returns
    -------
    scene, what it holds in `data`, and what the page draws of what is new there
    """
    name, key = check_names([name], "name")[0], free_key(name)
    if name in [item.name for item in getattr(scene, OTHER[kind])]:
        raise InvalidInput("name", f"{shown(name)} is a {OTHER[kind][:-1]}", f"Give the {kind[:-1]} another name")
    if are_images(getattr(source, "source", source)):
        fix = f"Attach their features: nm.extract(images, extractor), shape (n, {scene.dim})"
        raise InvalidInput("source", "is images, and the lab keeps rows alone", fix)
    items = list(getattr(scene, kind))
    place = next((k for k, item in enumerate(items) if item.name == name), len(items))
    if scene.plane is not None and projection is not None:
        item, held, drawn = _wide(scene, kind, name, source, projection, place)
        new = {key: held}, {key: drawn}
    else:
        item, given = _flat(scene, kind, name, source)
        new = ({key: given}, {key: summary(given)}) if given is not None else ({}, {})
    item = replace(item, data=key if new[0] else None)
    if kind == "clients":
        weight = items[place].weight if place < len(items) else _weight(scene, new[0].get(key))
        item = replace(item, weight=weight)
    data = {**scene.data, **new[0]}
    listed = [*items[:place], item, *items[place + 1 :]]
    return Scene.parse({**scene.to_json(), kind: [one.to_json() for one in listed]}, data), data, new[1]


def _wide(
    scene: Scene, kind: str, name: str, source: Any, projection: Projection, place: int
) -> tuple[Item, Any, dict[str, Any]]:
    if kind == "clients":
        client = Federation({name: source})[name]
        return wide_item(name, client.distribution if client.rows is None else client.rows, projection, 1.0)
    generator = as_generators({name: source})[0]
    return wide_item(name, drawn_source(generator, place, scene.seed, scene.dim), projection)


def _flat(scene: Scene, kind: str, name: str, source: Any) -> tuple[Item, Any]:
    """The item of a source in the plane, and what a lab holds for it, if anything."""
    if kind == "clients":
        made = Scene.of(Federation({name: source}))
        return made.clients[0], made.data.get(name)
    made = Scene.of(scene.laws, {name: source}, seed=scene.seed)
    return made.generators[0], made.data.get(name)


def _weight(scene: Scene, held: Any) -> float:
    """What a new client weighs: as much a row as the others, or as much as they do on average."""
    total = sum(client.weight or 0.0 for client in scene.clients)
    others = [scene.data.get(client.key) if client.kind == "data" else None for client in scene.clients]
    counts = [len(source) if _has_rows(source) else 0 for source in (held, *others)]
    if all(counts):
        return total / sum(counts[1:]) * counts[0]
    return total / len(scene.clients)


def _has_rows(source: Any) -> TypeGuard[np.ndarray]:
    return source is not None and not isinstance(source, Distribution)
