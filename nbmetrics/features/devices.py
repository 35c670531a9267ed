"""Which device a name is. Importing this imports torch."""

from __future__ import annotations

from typing import Any

import torch

from ..errors import InvalidInput, shown


def device_of(device: Any) -> torch.device:
    """The device of this name, where it is there; "auto" is a GPU where there is one."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fix = "Give 'auto', 'cpu', 'cuda', 'cuda:1' … or a torch.device"
    try:
        found = torch.device(device) if isinstance(device, (str, torch.device)) else None
    except RuntimeError:
        found = None
    if found is None or found.type not in ("cpu", "cuda", "mps"):
        raise InvalidInput("device", f"got {shown(device)}", fix)
    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if (found.index or 0) >= counts[found.type]:
        seen = f"got {shown(str(found))}, and torch sees {counts[found.type]} of type {found.type}"
        raise InvalidInput("device", seen, "Give 'auto' or 'cpu'")
    return found
