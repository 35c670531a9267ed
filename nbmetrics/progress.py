"""Progress bars: tqdm's, without its thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(
    progress: str | bool, total: int | None, about: str = "", unit: str = "it", **settings: Any
) -> tqdm[Any]:
    """Return a bar of so many steps: `progress` is "auto" (from the second second on), True or False."""
    from tqdm.auto import tqdm

    bar = type("Bar", (tqdm,), {"monitor_interval": 0})  # no thread that watches over slow bars: each step looks
    delay = 1.0 if progress == "auto" else 0.0
    settings = {"desc": about or None, "unit": unit, "leave": False, "miniters": 1, **settings}
    return bar(total=total, disable=progress is False, delay=delay, **settings)
