"""One thread a lab that answers the newest scene and leaves out the ones it had no time for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

_LOG = logging.getLogger(__name__)


class Worker:
    """Calls `answer` with the newest item put to it, one at a time, on a thread of its own that outlives its errors.

    Newest by its `rev`: ipywidgets holds a commit back while one is open, so later questions come before it, and
    JupyterLab may hand a question and a commit to two threads.
    """

    def __init__(self, answer: Callable[[Any], None], name: str) -> None:
        self._answer = answer
        self._name = name
        self._ready = threading.Condition()
        self._newest: Any = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def put(self, item: Any) -> None:
        """Queue `item` in place of any that still waits and is not newer."""
        with self._ready:
            if self._closed or (self._newest is not None and item.rev < self._newest.rev):
                return
            self._newest = item
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._ready.notify()

    def close(self) -> None:
        """End the thread; a waiting item is dropped."""
        with self._ready:
            self._closed = True
            self._ready.notify()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._closed or self._newest is not None)
                if self._closed:
                    return
                item, self._newest = self._newest, None
            try:
                self._answer(item)
            except Exception:  # the next item must find somebody
                _LOG.exception("%s could not answer", self._name)
