"""Scenes of every lab that have all that scenes can have, and what their scene.json says of each of their numbers."""

import copy

import nbmetrics as nm
from nbmetrics.labs.dashboard.scene import DashboardScene
from nbmetrics.labs.monitor.scene import MonitorScene
from nbmetrics.labs.privacy.scene import PrivacyScene
from nbmetrics.labs.toolkit.schema import DeclaredScene

PLACE = {"x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0, "angle": 0.0}
CLIENT = {"name": "C", "weight": 1.0, **PLACE}
GENERATORS = [
    {"name": "G", **PLACE},
    {"name": "B", "kind": "bumps", **PLACE},
    {"name": "T", "kind": "truncated", "psi": 1.0},
    {"name": "K", "kind": "copycat", "of": "C", "count": 20},
    {"name": "D", "kind": "data", "data": "mine", **PLACE},
    {"name": "P", "kind": "by_client", "parts": [{"name": "C", **PLACE}]},
]
PROGRESS = {"name": "L", "guess": 1.0, "revealed": True, "about": {"G": "x"}, "answer": 1.0, "other": 2.0}
PLAYED = {"clients": [CLIENT], "generators": GENERATORS, "half": 5.0, "samples": 20, "seed": 0, "rev": 1}
ROWS = {"kind": "data", **PLACE}
WIDE = {
    "clients": [{"name": "C", "weight": 1.0, **ROWS}],
    "generators": [{"name": "G", **ROWS}],
    "plane": {"dim": 128, "kind": "numbered", "columns": ["0", "5"], "words": "Across: feature 0, up: feature 5."},
}
GUESSES = {"name": "L", "guess": {"fid_test": 0.5, "fld": 0.5}, "revealed": False}
MEMO = {"copied": 0.5, "jitter": 0.1, "bandwidth": 0.1, "spread": 1.0, "points": 40, "seed": 0, "selected": 3, "rev": 1}
PAIR = {"rho": 0.8, "rho_hat": 0.1, "scale": 1.0, "rev": 1, "question": {"step": 1, "answer": "open"}}
COMPARISON = {
    "metric": "fid",
    "weights": [1.0, 2.0],
    "generators": ["Narrow", "Wide", "Off"],
    "held": ["Client 2"],
    "by": "all",
    "regroup": [{"do": "merge", "clients": ["Client 1", "Client 3"], "name": "Both"}],
    "rev": 1,
}
WATCHED = {"metric": "fid", "weights": [1.0, 2.0], "shown": 400, "client": "b", "rev": 1}
NOISED = {"epsilon": 0.5, "metric": "kid", "aggregate": "avg", "run": 3, "of": "digits", "rev": 1}
SCENES = {
    "Playground": (nm.Scene, {**PLAYED, "lesson": PROGRESS}),
    "Playground of rows": (nm.Scene, WIDE),
    "TwinsLab": (nm.TwinsLab._state, {"clients": [CLIENT], "half": 5.0, "shared": True, "rev": 1}),
    "CorrelationLab": (nm.CorrelationLab._state, PAIR),
    "MemorizationLab": (nm.MemorizationLab._state, {**MEMO, "lesson": GUESSES}),
    "Dashboard": (DashboardScene, COMPARISON),
    "Monitor": (MonitorScene, WATCHED),
    "PrivacyLab": (PrivacyScene, NOISED),
}
assert all(issubclass(kind, DeclaredScene) for kind, _ in SCENES.values())


def parts_of(one, value, path=()):
    """(path, field, value) of a value and of all its parts, as a field declares them."""
    yield path, one, value
    if value is None:
        return
    if "list" in one:
        for k, part in enumerate(value):
            yield from parts_of(one["list"], part, (*path, k))
    fields = one.get("record") or (one["kinds"][value.get("kind", next(iter(one["kinds"])))] if "kinds" in one else {})
    for name, part in fields.items():
        if name in value:
            yield from parts_of(part, value[name], (*path, name))


def fields_in(kind, scene):
    """The same of all parts of a scene."""
    return list(parts_of({"record": kind.declared["fields"]}, scene))[1:]


def numbers_in(kind, scene):
    """(path, field) of each number of a scene."""
    return [(path, one) for path, one, _ in fields_in(kind, scene) if "number" in one or "whole" in one]


def replaced(value, path, by):
    """`value` with something else at a path."""
    value = copy.deepcopy(value)
    part = value
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = by
    return value


def without(value, path):
    """`value` without what is at a path."""
    value = copy.deepcopy(value)
    part = value
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    return value


def bounds_by_name():
    """From and to of each number, by the name of its field; those that are whole."""
    found = {}
    for kind, scene in SCENES.values():
        for path, one in numbers_in(kind, kind.parse(scene).to_json()):
            name = next(key for key in reversed(path) if isinstance(key, str))
            found[name] = one
    bounds = {name: tuple(one.get("number") or one["whole"]) for name, one in found.items()}
    return bounds, {name for name, one in found.items() if "whole" in one}
