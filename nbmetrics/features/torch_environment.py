"""What extractors need installed, what to say where it is not, and the device that torch runs on."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, shown

if TYPE_CHECKING:
    import torch

# Those that need NumPy alone: the file of this room, the class, and the width of its rows where that is fixed.
NUMPY_EXTRACTORS = {"pixels": ("extractors", "Pixels", None), "digits-cnn": ("digits", "DigitsCNN", 64)}
PACKAGES = {"torch": "torch", "torchvision": "torchvision", "torch_fidelity": "torch-fidelity"}
DEFAULT_EXTRACTOR = "inception-v3-compat"
# The command replaces extractor='…' by its option.
FIX_INSTALL = (
    'Run: pip install "nbmetrics[images]", or use '
    + " or ".join(f"extractor='{name}'" for name in NUMPY_EXTRACTORS)
    + ", which need no more than nbmetrics"
)


def missing_packages() -> list[str]:
    """Return the packages of torch's extractors that are not installed."""
    return [package for module, package in PACKAGES.items() if importlib.util.find_spec(module) is None]


def check_packages(name: str) -> None:
    """Raise InvalidInput where one that this extractor needs is not installed."""
    if missing := missing_packages():
        is_are = "is" if len(missing) == 1 else "are"
        raise InvalidInput("extractor", f"{needs_text(name, missing)}, which {is_are} not installed", FIX_INSTALL)


def needs_text(name: str, packages: Sequence[str]) -> str:
    """Return that an extractor needs these packages, the beginning of a sentence."""
    *more, last = packages
    default = ", the default," if name == DEFAULT_EXTRACTOR else ""
    return f"{name!r}{default} needs {' and '.join([', '.join(more), last] if more else [last])}"


def torchvision_failure(error: Exception) -> str:
    """Return that torchvision does not import beside this torch, with both versions and the error."""
    pair = f"torchvision {_version('torchvision')} does not import beside torch {_version('torch')}"
    return f"{pair} ({type(error).__name__}: {shown(' '.join(str(error).split()), 200)})"


def torchvision_fix() -> str:
    """Return the command that installs the torchvision of the installed torch.

    torchvision names its release of torch, but not its build, such as +cpu: pip takes any build for the right one.
    """
    torch, build = _version("torch").partition("+")[::2]
    if torch and torch == _torch_of_torchvision():
        vision = _version("torchvision").partition("+")[0] + f"+{build}" * bool(build)
        command = (
            f"Run: pip install --force-reinstall --no-deps torchvision=={vision}, from the index that torch came from"
        )
        return f"{command}; if it has none, install torch and torchvision together from another index"
    return "Run: pip install --force-reinstall torch torchvision, both from one index"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _torch_of_torchvision() -> str:
    """Return the release of torch that the installed torchvision asks for, "" where it names none."""
    try:
        requirements = metadata.requires("torchvision") or []
    except metadata.PackageNotFoundError:
        requirements = []
    matches = (re.match(r"torch\s*\(?\s*==\s*([\w.]+)", requirement) for requirement in requirements)
    return next((match[1] for match in matches if match), "")


def device_of(device: Any) -> torch.device:
    """Return the device of this name, where it is there; "auto" is a GPU where there is one."""
    import torch

    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fix = "Give 'auto', 'cpu', 'cuda', 'cuda:1' … or a torch.device"
    try:
        parsed = torch.device(device) if isinstance(device, (str, torch.device)) else None
    except RuntimeError:
        parsed = None
    if parsed is None or parsed.type not in ("cpu", "cuda", "mps"):
        raise InvalidInput("device", f"got {shown(device)}", fix)
    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if (parsed.index or 0) >= counts[parsed.type]:
        seen = f"got {shown(str(parsed))}, and torch sees {counts[parsed.type]} of type {parsed.type}"
        raise InvalidInput("device", seen, "Give 'auto' or 'cpu'")
    return parsed


def arithmetic_of(device_type: str) -> str:
    """Return what computes the rows, for a fingerprint: rows of a GPU are rounded otherwise, and are kept apart."""
    return "float32/cpu" if device_type == "cpu" else f"float32 without TF32/{device_type}"
