"""Where what is kept between sessions lies: $NBMETRICS_HOME, or nbmetrics in the user's folder of caches."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """$NBMETRICS_HOME, else $XDG_CACHE_HOME/nbmetrics, else ~/.cache/nbmetrics; it need not exist."""
    return Path(
        os.environ.get("NBMETRICS_HOME")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nbmetrics"
    )
