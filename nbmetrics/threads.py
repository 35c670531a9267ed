"""Work beside the user's code: on a thread, or, where no thread can start, a piece in each turn of the event loop.

Pyodide (JupyterLite, marimo in the browser) and some hosted kernels have no threads. There labs compute between
messages: a step that takes long holds up the answers to the page, and the page's own numbers go on.
"""

from __future__ import annotations

import asyncio
import threading
import time
import warnings
from collections.abc import Callable

NOTE = "No thread can start here, so labs compute between messages: Python's numbers come later than usual"


def start_thread(work: Callable[[], None], name: str) -> threading.Thread | None:
    """Start a daemon thread; return None, and warn once, where none can start."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # "can't start new thread"
        _warn()
        return None
    return thread


def _warn() -> None:
    warnings.warn(NOTE, RuntimeWarning, stacklevel=3)


def cpu_seconds() -> float:
    """Return the processor seconds of this thread; those of the process where it is the only one, as in Pyodide."""
    return getattr(time, "thread_time", time.process_time)()


def can_start() -> bool:
    """Return whether threads can start here."""
    thread = threading.Thread(target=int, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs this code, as in a notebook's kernel; None in a script."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Timer:
    """Calls `work` once after so many seconds, unless it is canceled before."""

    def __init__(self, seconds: float, work: Callable[[], None], name: str) -> None:
        self._work, self._is_canceled = work, False
        self._timer = threading.Timer(seconds, work)
        self._timer.daemon, self._timer.name = True, name
        self._seconds = seconds

    def start(self) -> None:
        try:
            self._timer.start()
        except RuntimeError:
            loop = running_loop()
            self._fire() if loop is None else loop.call_later(self._seconds, self._fire)

    def cancel(self) -> None:
        self._is_canceled = True
        self._timer.cancel()

    def _fire(self) -> None:
        if not self._is_canceled:
            self._work()
