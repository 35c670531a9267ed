"""The live views, one folder a lab: its scene (plain JSON), the widget, its numbers, the still picture, its page.

Names are resolved when first used, so that scenes need no widgets.
"""

from importlib import import_module as _import
from typing import Any as _Any

_HOME = {
    "CorrelationLab": "correlation",
    "Dashboard": "dashboard",
    "MemorizationLab": "memorization",
    "Monitor": "monitor",
    "Playground": "playground",
    "PrivacyLab": "privacy",
    "TwinsLab": "twins",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> _Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import(f".{_HOME[name]}.lab", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
