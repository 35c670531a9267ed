"""Progress bars: tqdm's, without its thread where none can start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .threads import can_start

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(
    progress: str | bool, total: int | None, about: str = "", unit: str = "it", **settings: Any
) -> tqdm[Any]:
    """Return a bar of so many steps: `progress` is "auto" (from the second second on), True or False."""
    from tqdm.auto import tqdm

    if progress is not False and not can_start():
        tqdm.monitor_interval = 0  # it would start a thread, and warn
    delay = 1.0 if progress == "auto" else 0.0
    settings = {"desc": about or None, "unit": unit, "leave": False, **settings}
    return tqdm(total=total, disable=progress is False, delay=delay, **settings)
