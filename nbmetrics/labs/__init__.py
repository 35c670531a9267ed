"""The live views. Python here validates and computes; the modules in `nbmetrics/js` draw and move."""

from .playground import Playground

__all__ = ["Playground"]
