"""The rhythm of the logging: whether a loop that still runs has not logged for far longer than it did.

A notebook's cell that has ended is not stalled, nor is a script that has gone on to other work. So what is remembered
of a log is not its time alone, but the loops of Python that it was called in, as ranges of bytecode; and only while the
same thread stands inside one of them is it late.
"""

from __future__ import annotations

import dis
import math
import sys
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType

# Seconds below which nobody is late, and how many times longer than the longest wait before that is.
LEAST, TIMES = 60.0, 10.0
# Seconds between two looks at where the loop is; and after which a loop of few steps a minute rests.
LOOK, REST = 1.0, 20.0
_OWN = __name__.rpartition(".")[0]


class Pulse:
    """When steps were logged, and from where."""

    def __init__(self) -> None:
        self._step, self._last, self._longest = 0, 0.0, 0.0
        self._looked, self._thread = 0.0, 0
        self._loops: tuple[tuple[CodeType, int, int], ...] = ()
        self._outer: CodeType | None = None

    def beat(self, step: int, now: float) -> float:
        """A step is logged; the seconds before it where it is late and what runs is what ran before, else 0."""
        wait, before = now - self._last if self._last else 0.0, (self._thread, self._outer)
        if now - self._looked > LOOK:
            self._looked, self._thread = now, threading.get_ident()
            frames = list(_frames_above(sys._getframe(1)))
            self._outer = frames[-1].f_code if frames else None
            self._loops = tuple(loop for frame in frames for loop in _loops_of(frame))
        is_same = before[0] == self._thread and before[1] is self._outer
        late = wait if is_same and self._is_late(wait) else 0.0
        self._step, self._last, self._longest = step, now, max(self._longest, wait * is_same)
        return late

    def _is_late(self, wait: float) -> bool:
        return self._longest > 0 and wait > max(LEAST, TIMES * self._longest)

    @property
    def is_resting(self) -> bool:
        """Whether no step has come for a while, or none at all."""
        return time.monotonic() - self._last > min(LOOK + 2.0 * self._longest, REST)

    @property
    def words(self) -> str:
        """That the loop is late, and where it stands; "" where it is not."""
        wait = time.monotonic() - self._last
        if not (self._last and self._is_late(wait)):
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


def _frames_above(frame: FrameType | None) -> Iterator[FrameType]:
    """Those that a call comes from, from the innermost to its cell's or script's, beyond which is what runs that."""
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(_OWN):
        frame = frame.f_back
    while frame is not None:
        yield frame
        frame = None if frame.f_code.co_name == "<module>" else frame.f_back


def _loops_of(frame: FrameType) -> list[tuple[CodeType, int, int]]:
    """The loops of its function that a frame is in."""
    return [(frame.f_code, *ends) for ends in _ranges(frame.f_code) if ends[0] <= frame.f_lasti <= ends[1]]


@lru_cache(maxsize=256)
def _ranges(code: CodeType) -> tuple[tuple[int, int], ...]:
    """The loops of a function: from where each jumps back to, to where it jumps from.

    What handles exceptions lies at the end of the code, and jumps back from there without being a loop.
    """
    found = dis.Bytecode(code)
    end = min((entry.target for entry in getattr(found, "exception_entries", ())), default=math.inf)
    jumps = (step for step in found if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs)
    return tuple((step.argval, step.offset) for step in jumps if step.argval < step.offset < end)
