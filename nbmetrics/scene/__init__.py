"""Scenes: what a view shows, as immutable, validated values that are plain JSON, and their history."""

from .history import History, State
from .items import Item
from .laws import Bumps, Copycat, Truncated
from .plane import Scene, presets

__all__ = ["Bumps", "Copycat", "History", "Item", "Scene", "State", "Truncated", "presets"]
