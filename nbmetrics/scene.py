"""Scenes: what a view shows, as immutable, validated values that are plain JSON, and their history."""

from .labs.plane.distributions import Bumps, Copycat, Truncated
from .labs.plane.items import Item
from .labs.playground.scene import Scene, presets
from .labs.toolkit.history import History, State

__all__ = ["Bumps", "Copycat", "History", "Item", "Scene", "State", "Truncated", "presets"]


def __dir__() -> list[str]:
    return sorted(__all__)
