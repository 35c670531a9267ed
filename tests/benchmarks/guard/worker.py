"""Makes figures of one tree on request: `python -m tests.benchmarks.guard.worker TREE`, one JSON line each way.

The rows and the figures are those of the tree that this file is in; nbmetrics is TREE's.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

# A figure is repeated within one time until it takes about this long.
SECONDS_OF_A_TIME = 0.1
MAX_LOOPS = 200
LINALG = ("/scipy/linalg/", "/numpy/linalg/")
EIGENSOLVERS = {"eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals"}


class Worker:
    """The figure at work, and how often it is repeated within one time."""

    def __init__(self, figures: Any, package: str) -> None:
        self._figures, self._package = figures, package
        self._act: Callable[[], Any] | None = None
        self._loops = 1

    def names(self, _: str) -> list[str]:
        return list(self._figures.FIGURES)

    def prepare(self, figure: str) -> None:
        """Make the figure's rows, run it once for what is made once, and once more to see how long it takes."""
        self._act = None
        gc.collect()
        self._act = self._figures.FIGURES[figure]()
        self._act()
        self._loops = 1
        start = time.perf_counter()
        if not isinstance(self._act(), self._figures.Timed):
            once = time.perf_counter() - start
            self._loops = max(1, min(MAX_LOOPS, math.ceil(SECONDS_OF_A_TIME / once)))

    def time(self, _: str) -> float:
        """Return the seconds of one run; a figure that times itself, in another process, says its own."""
        assert self._act is not None
        gc.collect()
        own, start = None, time.perf_counter()
        for _loop in range(self._loops):
            own = self._act()
        seconds = (time.perf_counter() - start) / self._loops
        return own.seconds if isinstance(own, self._figures.Timed) else seconds

    def count(self, _: str) -> dict[str, float]:
        """Return the peak of memory above what is there before, and the calls of functions of nbmetrics."""
        assert self._act is not None
        counter = CallCounter(self._package)
        threading.setprofile(counter)
        sys.setprofile(counter)
        try:
            own = self._act()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
        if isinstance(own, self._figures.Timed):
            return own.counts
        tracemalloc.start()
        self._act()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return {"peak_mib": round(peak / 2**20, 2), "calls": counter.calls, "eigenproblems": counter.eigenproblems}


class CallCounter:
    """Counts calls of a package's functions, and of the outermost eigensolvers of NumPy and SciPy."""

    def __init__(self, package: str) -> None:
        self.calls = self.eigenproblems = 0
        self._package = package

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code.co_filename.startswith(self._package):
            self.calls += 1
        elif code.co_name in EIGENSOLVERS and is_linalg(code.co_filename):
            caller = frame.f_back
            self.eigenproblems += not (caller and is_linalg(caller.f_code.co_filename))


def is_linalg(path: str) -> bool:
    return any(part in path for part in LINALG)


def serve(tree: Path) -> None:
    """Answer requests until the input ends; what the figures print goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, str(tree))
    figures = importlib.import_module("tests.benchmarks.guard.figures")
    worker = Worker(figures, f"{tree}/nbmetrics/")
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"value": getattr(worker, request["do"])(request["figure"])}
        except Exception as error:
            answer = {"impossible": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]).resolve())
