"""The live views. Python here validates and computes; the modules in `nbmetrics/js` draw and move."""

from .correlation import CorrelationLab
from .memorization import MemorizationLab
from .playground import Playground
from .twins import TwinsLab

__all__ = ["CorrelationLab", "MemorizationLab", "Playground", "TwinsLab"]
