"""The rooms entered only when asked for: the one arrow of imports that may run upward, by name.

late("features").extraction(...)      imports nbmetrics.features when it is called, not before
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

ROOMS = ("features", "training", "cluster", "federated")


def late(room: str) -> ModuleType:
    """The room of this name, imported now."""
    assert room in ROOMS, room
    return import_module(f".{room}", __package__)
