"""Edits to page files show in open labs, without a restart of the kernel, where the environment has ANYWIDGET_HMR=1.

anywidget's own watching is of one file. Here one thread joins the pages of the labs that are open again and again, and
where one has changed sets its `_esm` or `_css`, which anywidget's front end then shows.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Protocol

from ...threads import start_thread
from . import modules

POLL_SECONDS = 1.0
THREAD = "nbmetrics page files"


class Page(Protocol):
    """What is asked of a lab here."""

    comm: Any

    def _write(self, **traits: Any) -> None: ...


_lock = threading.Lock()
_labs: weakref.WeakSet[Page] = weakref.WeakSet()


def is_wanted() -> bool:
    """Whether ANYWIDGET_HMR asks for reloading, read as anywidget reads it."""
    return os.environ.get("ANYWIDGET_HMR") == "1"


def follow(lab: Page) -> None:
    """Keep the page of an open lab up to date with its files."""
    with _lock:
        _labs.add(lab)
        if THREAD not in (thread.name for thread in threading.enumerate()):
            start_thread(_watch, THREAD)


def _watch() -> None:
    clock = threading.Event()
    while not clock.wait(POLL_SECONDS):
        with _lock:
            labs = [lab for lab in _labs if lab.comm is not None]
        modules.forget()
        for lab in labs:
            try:
                texts = {name: modules.rejoin(getattr(lab, name)) for name in ("_esm", "_css")}
            except (OSError, ValueError):  # a file that is just being written
                continue
            lab._write(**{name: text for name, text in texts.items() if text != getattr(lab, name)})
