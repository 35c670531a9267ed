"""One thread that fills a study step by step, the most telling first, and tells what is known after each."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

_LOG = logging.getLogger(__name__)
# One step at a time, of all fillers, as each uses all cores; seconds that one waits for a long step of another.
_TURN, PATIENCE = threading.Lock(), 1.0


class Step(Protocol):
    """A piece of work, about half a second of it, and what it is in words."""

    @property
    def words(self) -> str: ...

    def __call__(self) -> None: ...


class Filler:
    """Runs the next step as long as there is one.

    Parameters
    ----------
    next_step : what is to be done now, None where nothing is
    tell : called before the first step, after each and at the end, with words for what is done next, "" at the end
    """

    def __init__(self, next_step: Callable[[], Step | None], tell: Callable[[str], None], name: str) -> None:
        self._next_step, self._tell, self._name = next_step, tell, name
        self._ready = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wanted = self._stopped = self._closed = False
        self._idle = True  # nothing left to do, and that was told
        self.error: Exception | None = None

    def wake(self) -> None:
        """There may be something to do."""
        with self._ready:
            if self._closed:
                return
            self._wanted, self._stopped, self.error = True, False, None
            self._idle = False
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._ready.notify_all()

    def stop(self) -> None:
        """Do no more after the step under way, until `wake`."""
        with self._ready:
            self._stopped = True
            self._ready.notify_all()

    @property
    def has_started(self) -> bool:
        """Whether it was ever woken."""
        return self._thread is not None

    @property
    def is_stopped(self) -> bool:
        return self._stopped

    def wait(self, seconds: float | None = None) -> bool:
        """Until nothing is left to do, or it was stopped, and that was told; whether so. Raises what a step raised."""
        with self._ready:
            is_done = self._ready.wait_for(lambda: self._idle or self._closed, seconds)
        if self.error is not None:
            raise self.error
        return is_done

    def close(self) -> None:
        """End the thread after the step under way."""
        with self._ready:
            self._closed = True
            self._ready.notify_all()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._wanted or self._closed)
                if self._closed:
                    return
            self._work()

    def _work(self) -> None:
        try:
            for step in self._steps():
                self._tell(step.words)
                _in_turn(step)
        except Exception as error:  # told in the view and where somebody waits
            self.error = error
            self.stop()
        with self._ready:
            if self._stopped or self._closed or self._next_step() is None:
                self._wanted = False
        if not self._closed:
            try:
                self._tell("")
            except Exception:  # who waits must hear of the end
                _LOG.exception("%s could not tell its end", self._name)
        with self._ready:
            self._idle = not self._wanted  # or somebody wants more meanwhile
            self._ready.notify_all()

    def _steps(self) -> Iterator[Step]:
        while not (self._stopped or self._closed) and (step := self._next_step()) is not None:
            yield step


def _in_turn(step: Step) -> None:
    """Run a step after those of other fillers, unless they take long."""
    is_mine = _TURN.acquire(timeout=PATIENCE)
    try:
        step()
    finally:
        if is_mine:
            _TURN.release()
