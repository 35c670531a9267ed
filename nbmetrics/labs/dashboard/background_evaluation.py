"""One thread that evaluates step by step, the most telling first, and tells what is known after each."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..toolkit.worker import Worker

_LOG = logging.getLogger(__name__)
# One step at a time, of all Dashboards, as each uses all cores; seconds that one waits for a long step of another.
_TURN, MAX_SECONDS_OF_WAIT = threading.Lock(), 1.0


class PieceOfWork(Protocol):
    """A piece of work, about half a second of it, and what it is in words."""

    @property
    def words(self) -> str: ...

    def __call__(self) -> None: ...


class _Wake(NamedTuple):
    """Put to the worker: there may be something to do."""

    rev: int = 0


class BackgroundEvaluation:
    """Runs the next step as long as there is one.

    Parameters
    ----------
    next_step : what is to be done now, None where nothing is
    tell : called before the first step, after each and at the end, with words for what is done next, "" at the end
    """

    def __init__(self, next_step: Callable[[], PieceOfWork | None], tell: Callable[[str], None], name: str) -> None:
        self._next_step, self._tell, self._name = next_step, tell, name
        self._worker = Worker(self._work, name)
        self._told = threading.Condition()
        self._wakes = 0  # that were not yet answered by an end
        self._stopped = self._closed = False
        self.has_started = False
        self.error: Exception | None = None

    def wake(self) -> None:
        """There may be something to do."""
        with self._told:
            if self._closed:
                return
            self._stopped, self.error, self.has_started = False, None, True
            self._wakes += 1
        self._worker.put(_Wake())

    def stop(self) -> None:
        """Do no more after the step under way, until `wake`."""
        with self._told:
            self._stopped = True
            self._told.notify_all()

    @property
    def is_stopped(self) -> bool:
        return self._stopped

    def wait(self, seconds: float | None = None) -> bool:
        """Until nothing is left to do, or it was stopped, and that was told; whether so. Raises what a step raised."""
        self._worker.finish(seconds)
        with self._told:
            is_done = self._told.wait_for(lambda: not self._wakes or self._closed, seconds)
        if self.error is not None:
            raise self.error
        return is_done

    def close(self) -> None:
        """End the thread after the step under way."""
        with self._told:
            self._closed = True
            self._told.notify_all()
        self._worker.close()

    def _work(self, _: _Wake) -> None:
        """Run one step, and ask for the next; where none is left, tell that."""
        with self._told:
            answered = self._wakes
        if not answered:  # answered together with the one before
            return
        try:
            has_more = self._run_step()
        except Exception as error:  # told in the view and where somebody waits
            self.error, has_more = error, False
            self.stop()
        if not has_more:
            self._end(answered)
        if self._wakes:  # there is more, or somebody wants more meanwhile
            self._worker.put(_Wake())

    def _run_step(self) -> bool:
        """Run the next step; return whether there was one."""
        if self._stopped or self._closed or (step := self._next_step()) is None:
            return False
        self._tell(step.words)
        _run_in_turn(step)
        return True

    def _end(self, answered: int) -> None:
        if not self._closed:
            try:
                self._tell("")
            except Exception:  # who waits must hear of the end
                _LOG.exception("%s could not report its end", self._name)
        with self._told:
            if self._wakes == answered:
                self._wakes = 0
            self._told.notify_all()


def _run_in_turn(step: PieceOfWork) -> None:
    """Run a step after those of other Dashboards, unless they take long."""
    is_mine = _TURN.acquire(timeout=MAX_SECONDS_OF_WAIT)
    try:
        step()
    finally:
        if is_mine:
            _TURN.release()
