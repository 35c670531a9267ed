"""`nbmetrics cache`: what is kept of features computed before, and away with it."""

from __future__ import annotations

from argparse import Namespace

from ..features.cache import cache, sized


def run(options: Namespace) -> None:
    """Say what is kept, or remove it and say how much that was."""
    info = cache.info()
    if options.what == "info":
        print(info)
        return
    cache.clear()
    print(f"Removed {info.files:,} files, {sized(info.bytes)}, from {info.folder}")
