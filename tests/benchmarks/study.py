"""One study in full, 100 clients × 20 generators: where its seconds go, the least that it could take, and its memory.

`python -m tests.benchmarks.study` evaluates FID and KID, avg and all, each in a process of its own. Each source line of
nbmetrics is timed, and counts for what it calls: a matrix product, an eigenproblem, a factorization; another line that
takes long at a time is an elementwise pass, and the rest is Python. The limit is the study's products, factorizations
and eigenproblems alone, on arrays of the same shapes in the same process.
"""

from __future__ import annotations

import argparse
import linecache
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

PACKAGE = str(Path(__file__).parents[2] / "nbmetrics")
KINDS = {
    "eigenproblems": r"eigvalsh\(|eigh\(|svdvals\(|svd\(",
    "factorizations": r"cholesky\(|dpstrf\(|dsygst\(|linalg\.qr\(",
    "products": r" @ |dsyrk\(|dtrmm\(|einsum\(|matmul\(|gemm\(|\.dot\(",
}
# A line that takes longer at a time passes over arrays.
PASS_SECONDS = 5e-5


class LineTimes:
    """Seconds that each line of the package takes while it is traced, with all that it calls outside of the package."""

    def __init__(self) -> None:
        self.seconds: Counter[tuple[str, int]] = Counter()
        self.visits: Counter[tuple[str, int]] = Counter()
        self._current: list[tuple[str, int]] = [("", 0)]
        self._since = time.perf_counter()

    def _charge(self) -> None:
        now = time.perf_counter()
        self.seconds[self._current[-1]] += now - self._since
        self._since = time.perf_counter()

    def _trace(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        self._charge()
        place = frame.f_code.co_filename, frame.f_lineno
        if event == "call":
            self._current.append(place)
        elif event == "line":
            self._current[-1] = place
            self.visits[place] += 1
        elif event == "return":
            self._current.pop()
        return self._trace

    def of(self, act: Callable[[], Any]) -> Any:
        """What `act` returns, traced."""
        self._since = time.perf_counter()
        sys.settrace(self._trace)
        try:
            return act()
        finally:
            sys.settrace(None)
            self._charge()

    def kind(self, place: tuple[str, int]) -> str:
        """What a line's time is spent on."""
        line = linecache.getline(*place)
        kinds = (kind for kind, pattern in KINDS.items() if re.search(pattern, line))
        is_pass = self.seconds[place] > PASS_SECONDS * max(1, self.visits[place])
        return next(kinds, "elementwise passes" if is_pass else "Python")

    def by_kind(self) -> Counter[str]:
        """Seconds by kind of line."""
        total: Counter[str] = Counter()
        for place, seconds in self.seconds.items():
            total[self.kind(place)] += seconds
        return total

    def slowest(self, count: int) -> list[str]:
        """The lines that take longest, as text."""
        lines = []
        for place, seconds in self.seconds.most_common(count):
            name = place[0].removeprefix(PACKAGE)
            text = linecache.getline(*place).strip()
            lines.append(f"{seconds:8.2f} s  {self.visits[place]:7,}  {self.kind(place):18}  {name}:{place[1]}  {text}")
        return lines
