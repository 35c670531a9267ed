"""No thread starts: as in Pyodide, where Python runs in the page, and in some hosted kernels.

`make test-threadless` sets NBMETRICS_TEST_THREADLESS=1, with which conftest.py has `without_threads` in each test.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


def _refuse(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@contextmanager
def without_threads() -> Iterator[None]:
    """Have `threading.Thread.start` raise what it raises where there are no threads."""
    with patch.object(threading.Thread, "start", _refuse), patch("nbmetrics.threads._warn"):
        yield
