"""Precision, recall, density and coverage beside the prdc package: seconds and peak memory."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time

import numpy as np

from nbmetrics.metrics.neighbors import forget, prdc

from . import peers

ROUNDS = 2
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


def rows(n: int, d: int, dtype=np.float32) -> list[np.ndarray]:
    """Two samples with a decaying spectrum and a mean, as network features have."""
    found = []
    for seed in (1, 2):
        x = np.random.default_rng(seed).standard_normal((n, d), dtype=dtype)
        x *= (1 + np.arange(d, dtype=dtype)) ** dtype(-0.25)
        found.append(x + dtype(0.5 + 0.02 * seed))
    return found


def peer(x, y, k: int = 5):
    """The prdc package, without its print."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = peers.imported("prdc").compute_prdc(x, y, k)
    return tuple(float(found[name]) for name in FIELDS)


def neighbors_lines(n: int = 5_000, d: int = 2048) -> list[tuple[str, str, float, float, str]]:
    """(task, peer, peer's, ours, unit) for both dtypes' seconds and for peak memory; empty without prdc."""
    if peers.imported("prdc") is None:
        return []
    lines = []
    for dtype in (np.float64, np.float32):
        x, y = rows(n, d, dtype)
        seconds: tuple[list, list] = ([], [])
        for _ in range(ROUNDS):
            forget()
            values = []
            for which, act in enumerate((peer, prdc)):
                start = time.perf_counter()
                values.append(act(x, y))
                seconds[which].append(time.perf_counter() - start)
        if not np.allclose(*values, rtol=0, atol=3 / n):
            raise AssertionError(f"prdc says {values[0]}, ours {values[1]}")
        task = f"precision, recall, density, coverage, {n:,} x {n:,} rows, d = {d}, {np.dtype(dtype)}"
        lines.append((task, "prdc", min(seconds[0]), min(seconds[1]), "s"))
    if os.path.exists("/proc/self/clear_refs"):
        peaks = [float(_child(who, n, d)) for who in ("theirs", "ours")]
        task = f"Peak memory of that, float32, above {2 * n * d * 4 / 2**20:.0f} MiB inputs"
        lines.append((task, "prdc", *peaks, "MiB"))
    return lines


def _child(who: str, n: int, d: int) -> str:
    command = [sys.executable, "-c", PEAK, who, str(n), str(d)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


if __name__ == "__main__":
    for line in neighbors_lines():
        print(*line)
