"""The rhythm of the logging: whether a loop that still runs has not logged for far longer than it did.

A notebook's cell that has ended is not stalled, nor is a script that has gone on to other work. So what is remembered
of a log is not its time alone, but the loops of Python that it was called in, as ranges of bytecode; and only while the
same thread stands inside one of them is it late.
"""

from __future__ import annotations

import dis
import sys
import threading
import time
from collections.abc import Iterable
from functools import lru_cache
from types import CodeType, FrameType

# Seconds below which nobody is late, and how many times longer than the longest wait before that is.
LEAST, TIMES = 60.0, 10.0
# Seconds between two looks at where the loop is; and after which a loop of few steps a minute rests.
LOOK, REST = 1.0, 20.0
_OWN = __name__.rpartition(".")[0]


def is_late(wait: float, longest: float) -> bool:
    """Whether a wait is far longer than the longest one before it."""
    return wait > max(LEAST, TIMES * longest)


class Pulse:
    """When steps were logged, and from where."""

    def __init__(self) -> None:
        self._step, self._last, self._longest = 0, 0.0, 0.0
        self._looked, self._thread = 0.0, 0
        self._loops: tuple[tuple[CodeType, int, int], ...] = ()

    def beat(self, step: int, now: float) -> None:
        """A step is logged, by a loop that calls this below its own frame."""
        if self._last:
            self._longest = max(self._longest, now - self._last)
        self._step, self._last = step, now
        if now - self._looked > LOOK:
            self._looked, self._thread = now, threading.get_ident()
            self._loops = tuple(_loops_of(sys._getframe(1)))

    @property
    def is_resting(self) -> bool:
        """Whether no step has come for a while, or none at all."""
        return time.monotonic() - self._last > min(LOOK + 2.0 * self._longest, REST)

    @property
    def words(self) -> str:
        """That the loop is late, and where it stands; "" where it is not."""
        wait = time.monotonic() - self._last
        if not (self._last and self._longest and is_late(wait, self._longest)):
            return ""
        where = self._where()
        said = f"no step for {wait:,.0f} s after step {self._step:,}, and {self._longest:.2g} s at most before"
        return f"{said}; the loop is still {where}" if where else ""

    def _where(self) -> str:
        """The line of the loop that its thread is in; "" where it is in none."""
        inner = frame = sys._current_frames().get(self._thread)
        while frame is not None:
            for code, start, end in self._loops:
                if frame.f_code is code and start <= frame.f_lasti <= end:
                    deep = f", in {inner.f_code.co_name}" if inner is not None and inner is not frame else ""
                    return f"at line {frame.f_lineno}{deep}"
            frame = frame.f_back
        return ""


def _loops_of(frame: FrameType | None) -> Iterable[tuple[CodeType, int, int]]:
    """The loops that a call is in, from the innermost to those of its module."""
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(_OWN):
        frame = frame.f_back
    while frame is not None:
        code, place = frame.f_code, frame.f_lasti
        yield from ((code, start, end) for start, end in _ranges(code) if start <= place <= end)
        # beyond the cell or script are the loops of what runs it
        frame = None if code.co_name == "<module>" else frame.f_back


@lru_cache(maxsize=256)
def _ranges(code: CodeType) -> tuple[tuple[int, int], ...]:
    """The loops of a function: from where each jumps back to, to where it jumps from."""
    jumps = (step for step in dis.get_instructions(code) if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs)
    return tuple((step.argval, step.offset) for step in jumps if step.argval < step.offset)
