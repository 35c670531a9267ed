"""One thread a lab that answers the newest scene and leaves out the ones it had no time for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from ...threads import running_loop, start_thread

_LOG = logging.getLogger(__name__)


class Worker:
    """Calls `answer` with the newest item put to it, one at a time, on a thread of its own that outlives its errors.

    Newest by its `rev`: ipywidgets holds a commit back while one is open, so later questions come before it, and
    JupyterLab may hand a question and a commit to two threads. Where no thread can start, the event loop calls.
    """

    def __init__(self, answer: Callable[[Any], None], name: str) -> None:
        self._answer = answer
        self._name = name
        self._ready = threading.Condition()
        self._newest: Any = None
        self._closed = self._is_answering = self._is_threadless = False
        self._thread: threading.Thread | None = None

    def put(self, item: Any) -> None:
        """Queue `item` in place of any that still waits and is not newer."""
        with self._ready:
            if self._closed or (self._newest is not None and item.rev < self._newest.rev):
                return
            self._newest = item
            if self._thread is None and not self._is_threadless:
                self._thread = start_thread(self._run, self._name)
                self._is_threadless = self._thread is None
            self._ready.notify()
        if self._is_threadless and not self._is_answering:
            self._take_turn_soon()

    def finish(self, seconds: float | None = None) -> None:
        """Answer here what waits, for so many seconds, where there is no thread to do it."""
        end = None if seconds is None else time.monotonic() + seconds
        while self._is_threadless and not self._is_answering and (end is None or time.monotonic() < end):
            if not self._answer_next():
                return

    def close(self) -> None:
        """End the thread; a waiting item is dropped."""
        with self._ready:
            self._closed = True
            self._ready.notify()

    def _take_turn_soon(self) -> None:
        if (loop := running_loop()) is None:
            self.finish()
        else:
            loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        if not self._is_answering and self._answer_next() and self._newest is not None:
            self._take_turn_soon()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._closed or self._newest is not None)
            if not self._answer_next():
                return

    def _answer_next(self) -> bool:
        """Answer the newest item; return whether there was one, and the worker is open."""
        with self._ready:
            if self._closed or self._newest is None:
                return False
            item, self._newest = self._newest, None
        self._is_answering = True
        try:
            self._answer(item)
        except Exception:  # the next item must find somebody
            _LOG.exception("%s could not answer", self._name)
        finally:
            self._is_answering = False
        return True
