"""Measures nbmetrics beside its peers on this machine, one run, and prints one table.

Each task times the peer and ours in turn, twice, on the same inputs, and keeps the shorter time of each.
`--rows` and `--features` make it smaller; the figures that count are those of the defaults.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy

import nbmetrics as nm
from nbmetrics.metrics import FID, Sample

from . import extraction, federated, fld, growth, neighbors, peers, relative_kl, wanted, watching
from .distributions import DISTRIBUTIONS, MILD, features

ROUNDS = 2


@dataclass
class Line:
    """One row of the table; figures are seconds or bytes by `unit`, the peer's run once and multiplied by `times`."""

    task: str
    peer: str
    theirs: float
    ours: float
    unit: str = "s"
    rows: str = MILD
    times: int = 1

    def cells(self) -> list[str]:
        theirs, ours = (f"{v:.3g} {self.unit}" for v in (self.theirs * self.times, self.ours))
        if self.times > 1:
            theirs = f"not run: {self.times:,} x {self.theirs:.3g} {self.unit} = {theirs}"
        return [self.task, self.rows, self.peer, theirs, ours, f"{self.theirs * self.times / self.ours:.1f}x"]


def timed(theirs, ours) -> tuple[float, float, float, float]:
    """Shortest seconds of each over interleaved rounds, and what each returned."""
    seconds, values = ([], []), [0.0, 0.0]
    for _ in range(ROUNDS):
        for which, act in enumerate((theirs, ours)):
            start = time.perf_counter()
            values[which] = act()
            seconds[which].append(time.perf_counter() - start)
    return min(seconds[0]), min(seconds[1]), *values


def same(theirs: float, ours: float, rel: float) -> None:
    """A speed counts only beside an equal result."""
    if not np.isclose(theirs, ours, rtol=rel):
        raise AssertionError(f"the peer says {theirs}, ours {ours}")


def moments(rows: np.ndarray):
    return rows.mean(axis=0, dtype=np.float64), np.cov(rows, rowvar=False)


def fid_lines(n: int, d: int, distribution: str, dtype):
    x, y = features(n, d, 1, dtype, distribution), features(n, d, 2, dtype, distribution)
    size = f"{n:,} rows a side, d = {d}, {np.dtype(dtype)}"
    for name, distance in (peers.pytorch_fid(), peers.torch_fidelity_fid()):
        theirs, ours, a, b = timed(lambda: distance(*moments(x), *moments(y)), lambda: nm.fid(x, y))  # noqa: B023
        same(a, b, 1e-6)
        yield Line(f"FID from rows, {size}", f"np.cov, {name}", theirs, ours, rows=distribution)
    metric, generator = FID(), moments(y)
    ready = metric.summarize(Sample(rows=y))
    metric.distance(metric.summarize(Sample(rows=x[:300])), ready)  # its root belongs to what is ready
    yield from ready_lines(x, generator, ready, distribution)


def ready_lines(x, generator, ready, distribution: str):
    """One more client, of all rows and of a hundred, when the generator's moments are there."""
    metric, d = FID(), x.shape[1]
    name, distance = peers.torch_fidelity_fid()
    for client in (x, x[:100]):
        theirs, ours, a, b = timed(
            lambda: distance(*moments(client), *generator),  # noqa: B023
            lambda: metric.distance(metric.summarize(Sample(rows=client)), ready),  # noqa: B023
        )
        same(a, b, 1e-3)  # roots of a rank-deficient product carry the peers' rounding
        task = f"FID of a client of {len(client):,} rows, generator ready, d = {d}, {x.dtype}"
        yield Line(task, f"np.cov, {name}", theirs, ours, rows=distribution)


def kid_lines(n: int, d: int, distribution: str):
    x, y = features(n, d, 1, np.float32, distribution), features(n, d, 2, np.float32, distribution)
    name, subsets = peers.torch_fidelity_kid()
    theirs, ours, a, b = timed(lambda: subsets(x, y), lambda: nm.kid(x, y))
    if distribution == MILD:
        same(a, b, 0.05)  # theirs is a random estimate of ours, of any spread where tails are heavy
    yield Line(f"KID on all {n:,} x {n:,} rows, d = {d}, float32", name, theirs, ours, rows=distribution)


# VmHWM belongs to this process alone; ru_maxrss of a child starts at its parent's.
PEAK = """
import sys
from tests.benchmarks import peers
from tests.benchmarks.distributions import features
import numpy as np, nbmetrics as nm
n, d = map(int, sys.argv[2:])
act = {"ours": nm.kid, "theirs": peers.torch_fidelity_kid()[1]}[sys.argv[1]]
small = features(1200, 8, 1, np.float32)
act(small, small + 1)  # what is imported and set up once is not memory of the computation
x, y = features(n, d, 1, np.float32), features(n, d, 2, np.float32)
def read(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) * 1024
before = read("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
act(x, y)
print(read("VmHWM") - before)
"""


def memory_lines(n: int, d: int):
    if not os.path.exists("/proc/self/clear_refs"):
        return
    found = [int(child(PEAK, who, str(n), str(d))) / 2**20 for who in ("theirs", "ours")]
    yield Line(f"Peak memory of that KID, above {2 * n * d * 4 / 2**20:.0f} MiB inputs",
               peers.torch_fidelity_kid()[0], *found, "MiB")  # fmt: skip


IMPORT = "import numpy, time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"


def import_lines():
    torch = [IMPORT.format("import torch")] if peers.imported("torch") else []
    ours = (
        "import nbmetrics as nm",
        "import nbmetrics as nm; nm.fid, nm.kid",
        "import nbmetrics as nm; nm.evaluate",
    )
    codes = [*torch, *(IMPORT.format(code) for code in ours)]
    seconds = [min(float(child(code)) for _ in range(3)) for code in codes]
    theirs = seconds.pop(0) if torch else float("nan")
    tasks = ("import nbmetrics", "... and its fid and kid", "... and evaluate")
    for task, own in zip(tasks, seconds, strict=True):
        yield Line(f"{task}, beyond numpy", "import torch (every peer's first step)", theirs, own)


def child(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def machine() -> str:
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as lines:
            model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}"
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return f"{model}, {cores} cores; {versions}{load}"


def told(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, each on stderr as soon as it is measured: a run that is stopped leaves what it has."""
    for line in lines:
        print("  ".join(line.cells()), file=sys.stderr, flush=True)
        yield line


def print_table(lines: list[Line]) -> None:
    """Each task once, with a row for every kind of rows it was run on."""
    cells = [["task", "rows", "peer", "peer's", "ours", "ratio"]]
    for task in dict.fromkeys(line.task for line in lines):
        own = [line.cells() for line in lines if line.task == task]
        cells += [own[0], *(["", *row[1:]] for row in own[1:])]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        ends = [c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        print("  ".join(ends).rstrip())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=2048)
    parser.add_argument(
        "--distributions",
        nargs="+",
        choices=DISTRIBUTIONS,
        default=[*DISTRIBUTIONS],
        help="kinds of rows, by default all",
    )
    asked = parser.parse_args()
    start, lines = time.perf_counter(), []
    where = machine()
    size = asked.rows, asked.features
    for part in (
        import_lines(),
        memory_lines(*size),
        neighbors.memory_lines(),
        federated.gemm_lines(),
        wanted.inception_lines(),
        extraction.lines(),
        watching.lines(),
        relative_kl.lines(),
    ):
        lines.extend(told(part))
    for distribution in asked.distributions:
        for dtype in (np.float64, np.float32):
            lines.extend(told(fid_lines(*size, distribution, dtype)))
            lines.extend(told(neighbors.lines(distribution, dtype)))
            lines.extend(told(wanted.mifid_lines(distribution, dtype)))
        lines.extend(told(kid_lines(*size, distribution)))
        for kind in (fld.lines, federated.interval_lines, federated.federation_lines):
            lines.extend(told(kind(distribution)))
    print(where)
    print_table(lines)
    growth.print_growth()
    print(f"Shorter of {ROUNDS} interleaved rounds (imports: 3); whole run {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
