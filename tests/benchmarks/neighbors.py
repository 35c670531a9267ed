"""Precision, recall, density and coverage beside the prdc package: seconds and peak memory."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys

import numpy as np

from nbmetrics.metrics.prdc import forget, prdc

from . import peers
from .distributions import MILD, features

FIELDS = ("precision", "recall", "density", "coverage")

PEAK = """
import sys
import numpy as np
from tests.benchmarks import neighbors
who, n, d = sys.argv[1], *map(int, sys.argv[2:])
act = {"ours": neighbors.prdc, "theirs": neighbors.peer}[who]
act(*neighbors.rows(300, 8))  # what is imported and set up once is not memory of the computation
x, y = neighbors.rows(n, d)
def read(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) * 1024
before = read("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
act(x, y)
print((read("VmHWM") - before) / 2**20)
"""


def rows(n: int, d: int, dtype=np.float32, distribution: str = MILD) -> list[np.ndarray]:
    """Two samples."""
    return [features(n, d, seed, dtype, distribution) for seed in (1, 2)]


def peer(x, y, k: int = 5):
    """The prdc package, without its print."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = peers.imported("prdc").compute_prdc(x, y, k)
    return tuple(float(found[name]) for name in FIELDS)


def lines(distribution: str, dtype, n: int = 5_000, d: int = 2048):
    """Rows of the table: seconds of all four."""
    from .__main__ import Line, timed

    if peers.imported("prdc") is None:
        return
    x, y = rows(n, d, dtype, distribution)

    def ours():
        forget()
        return prdc(x, y)

    first, second, theirs, own = timed(lambda: peer(x, y), ours)
    # the peer rounds distances, which decides where copies of a row lie on a radius
    if distribution != "every row twice" and not np.allclose(theirs, own, rtol=0, atol=3 / n):
        raise AssertionError(f"prdc says {theirs}, ours {own}")
    task = f"precision, recall, density, coverage, {n:,} x {n:,} rows, d = {d}, {np.dtype(dtype)}"
    yield Line(task, "prdc", first, second, rows=distribution)


def memory_lines(n: int = 5_000, d: int = 2048):
    """A row of the table: peak memory of the same, in float32."""
    from .__main__ import Line

    if peers.imported("prdc") is not None and os.path.exists("/proc/self/clear_refs"):
        peaks = [float(_child(who, n, d)) for who in ("theirs", "ours")]
        yield Line(
            f"Peak memory of all four, float32, above {2 * n * d * 4 / 2**20:.0f} MiB inputs", "prdc", *peaks, "MiB"
        )


def _child(who: str, n: int, d: int) -> str:
    command = [sys.executable, "-c", PEAK, who, str(n), str(d)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]
