"""One study in full, 100 clients × 20 generators: where its seconds go, the least that it could take, and its memory.

`python -m tests.benchmarks.study` evaluates FID and KID, avg and all, each in a process of its own: once for time and
memory, and once with each source line of nbmetrics timed. A line counts for what it calls: a matrix product, a
factorization, an eigenproblem; another line that takes long at a time is an elementwise pass, and the rest is Python.
The limit is the products, factorizations and eigenproblems that the study needs alone, on arrays of the same shapes in
the same process.
"""

from __future__ import annotations

import argparse
import json
import linecache
import math
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import nbmetrics as nm

from .distributions import DECAYING, features

PACKAGE = str(Path(__file__).parents[2] / "nbmetrics")
KINDS = {
    "eigenproblems": r"eigvalsh\(|eigh\(|svdvals\(|svd\(",
    "factorizations": r"cholesky\(|dpstrf\(|dsygst\(|linalg\.qr\(",
    "products": r" @ |dsyrk\(|dtrmm\(|einsum\(|matmul\(|gemm\(|\.dot\(",
}
PASSES, PYTHON = "elementwise passes", "Python"
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
        return next(kinds, PASSES if is_pass else PYTHON)

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


def _best(act: Callable[[], Any], rounds: int = 3) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def fid_limit(clients: int, rows: int, generators: int, made: int, d: int) -> dict[str, float]:
    """Seconds of the calls that FID needs: a covariance and a root of each generator, its products with all clients."""
    from scipy.linalg.blas import dsyrk, dtrmm
    from scipy.linalg.lapack import dpstrf, dsygst

    x = np.random.default_rng(0).standard_normal((max(made, 2 * d), d))
    cov = np.asfortranarray(x.T @ x / len(x))
    root = np.asfortranarray(np.linalg.cholesky(cov))
    product, block = x[: rows - 1], x[: min(1000, len(x))]
    gram = product @ product.T
    products = _best(lambda: dsyrk(1.0, x[:made].T))
    products += _best(lambda: dtrmm(1.0, root, block.T, lower=1, trans_a=1)) * clients * (rows - 1) / len(block)
    products += _best(lambda: product @ product.T, 20) * clients
    factorizations = _best(lambda: dpstrf(cov, lower=1)) + _best(lambda: dsygst(cov, root, itype=2, lower=1))
    eigenproblems = _best(lambda: np.linalg.eigvalsh(cov)) + _best(lambda: np.linalg.eigvalsh(gram), 20) * clients
    seconds = {"products": products, "factorizations": factorizations, "eigenproblems": eigenproblems}
    return {kind: generators * value for kind, value in seconds.items()}


def kid_limit(clients: int, rows: int, generators: int, made: int, d: int) -> dict[str, float]:
    """Seconds of the products that KID needs: every two rows once, within a side and between sides."""
    x = np.random.default_rng(0).standard_normal((4096, d), dtype=np.float32)
    pairs = generators * (clients * rows * made + made**2 / 2) + (clients * rows) ** 2 / 2
    return {"products": _best(lambda: x @ x[::-1].T) * pairs / len(x) ** 2}


LIMITS = {"fid": fid_limit, "kid": kid_limit}


def _status(key: str) -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024


def measure(metric: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Seconds, bytes at the peak above the inputs, seconds by kind, the limit, and the slowest lines."""
    rows, d = sizes["rows"], sizes["d"]
    small = [features(rows, 8, seed, np.float32) for seed in range(3)]
    nm.evaluate(small, {"g": small[0]}, metric, progress=False)  # what is imported once is not of the study
    federation = nm.Federation([features(rows, d, seed, np.float32, DECAYING) for seed in range(sizes["clients"])])
    seeds = {f"g{g}": sizes["clients"] + g for g in range(sizes["generators"])}
    generators = {name: features(sizes["made"], d, seed, np.float32, DECAYING) for name, seed in seeds.items()}
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    start = time.perf_counter()
    table = nm.evaluate(federation, generators, metric, progress=False).table
    seconds, peak = time.perf_counter() - start, _status("VmHWM") - before
    assert len(table) == len(generators)
    lines = LineTimes()
    lines.of(lambda: nm.evaluate(federation, generators, metric, progress=False).table)
    return {
        "seconds": seconds,
        "peak": peak,
        "inputs": 4 * d * (rows * sizes["clients"] + sizes["made"] * sizes["generators"]),
        "kinds": lines.by_kind(),
        "limit": LIMITS[metric](**sizes),
        "slowest": lines.slowest(12),
    }


def print_table(measured: dict[str, dict[str, Any]]) -> None:
    """A row for each kind of work, in Markdown, as in docs/speed.md."""
    print("| seconds | " + " | ".join(f"{metric.upper()} | its limit" for metric in measured) + " |")
    print("|---" * (1 + 2 * len(measured)) + "|")
    for kind in (*reversed(KINDS), PASSES, PYTHON):
        cells = [f"{m['kinds'].get(kind, 0.0):.1f} | {m['limit'].get(kind, 0.0):.1f}" for m in measured.values()]
        print(f"| {kind} | " + " | ".join(cells) + " |")
    sums = [f"{sum(m['kinds'].values()):.1f} | {math.fsum(m['limit'].values()):.1f}" for m in measured.values()]
    print("| total, with each line timed | " + " | ".join(sums) + " |")
    print("| total, without timing lines | " + " | ".join(f"{m['seconds']:.1f} | " for m in measured.values()) + " |")
    for metric, m in measured.items():
        above = f"{m['peak'] / 2**20:.0f} MiB above inputs of {m['inputs'] / 2**20:.0f} MiB"
        print(f"{metric.upper()}: {above} at the peak", *m["slowest"], sep="\n  ")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.study", description=__doc__.splitlines()[0])
    for size, default in {"clients": 100, "rows": 100, "generators": 20, "made": 5_000, "d": 2_048}.items():
        parser.add_argument(f"--{size}", type=int, default=default)
    parser.add_argument("--metrics", nargs="+", choices=LIMITS, default=[*LIMITS])
    parser.add_argument("--json", action="store_true", help="measure the first metric here, and print it as JSON")
    asked = vars(parser.parse_args())
    metrics, is_child = asked.pop("metrics"), asked.pop("json")
    if is_child:
        print(json.dumps(measure(metrics[0], asked)))
        return
    sizes = [word for size, value in asked.items() for word in (f"--{size}", str(value))]
    command = [sys.executable, "-m", "tests.benchmarks.study", "--json", *sizes]
    done = {m: subprocess.run([*command, "--metrics", m], capture_output=True, text=True, check=True) for m in metrics}
    print_table({metric: json.loads(child.stdout) for metric, child in done.items()})


if __name__ == "__main__":
    main()
