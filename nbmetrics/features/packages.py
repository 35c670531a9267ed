"""What extractors need installed, and what to say where it is not."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from ..errors import InvalidInput

# Those that need NumPy alone: the file of this room, the class, and the width of its rows where that is fixed.
PLAIN = {"pixels": ("extractors", "Pixels", None), "digits-cnn": ("digits", "DigitsCNN", 64)}
PACKAGES = {"torch": "torch", "torchvision": "torchvision", "torch_fidelity": "torch-fidelity"}
DEFAULT = "inception-v3-compat"
# The command replaces extractor='…' by its option.
INSTALL = (
    'Run: pip install "nbmetrics[images]", or use '
    + " or ".join(f"extractor='{name}'" for name in PLAIN)
    + ", which need no more than nbmetrics"
)


def missing_packages() -> list[str]:
    """The packages of torch's extractors that are not installed."""
    return [package for module, package in PACKAGES.items() if importlib.util.find_spec(module) is None]


def check_packages(name: str) -> None:
    """Raise InvalidInput where one that this extractor needs is not installed."""
    if missing := missing_packages():
        is_are = "is" if len(missing) == 1 else "are"
        raise InvalidInput("extractor", f"{needing(name, missing)}, which {is_are} not installed", INSTALL)


def needing(name: str, packages: Sequence[str]) -> str:
    """That an extractor needs these packages, the beginning of a sentence."""
    *more, last = packages
    default = ", the default," if name == DEFAULT else ""
    return f"{name!r}{default} needs {' and '.join([', '.join(more), last] if more else [last])}"
