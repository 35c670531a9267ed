"""How the time of an evaluation grows: FID and KID side by side, one size varied at a time around a base case.

Processor seconds of `evaluate` and its table, one run each: `python -m tests.benchmarks.growth`. A case that would by
the last two of its row take longer than the budget, or hold more rows than the memory allowed here, is not run and
says so.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Iterator

import numpy as np

import nbmetrics as nm

BASE = {"clients": 100, "rows": 100, "generators": 5, "generated": 2_000, "d": 64}
SWEEPS = {
    "clients": (10, 100, 1_000, 10_000),
    "generators": (2, 8, 32, 128),
    "generated": (1_000, 10_000, 100_000, 1_000_000),
    "d": (2, 16, 64, 256, 2_048),
}
METRICS = ("fid", "kid")
BUDGET, LARGEST = 40.0, 3 * 2**30


def parties(clients, rows, generators, generated, d):
    from .__main__ import features

    real = [features(rows, d, seed, np.float32) for seed in range(clients)]
    return real, {f"g{g}": features(generated, d, g + 1, np.float32) for g in range(generators)}


def seconds(metric: str, real, made) -> float:
    start = time.process_time()
    scores = nm.evaluate(real, made, metric, progress=False)
    if not np.isfinite(scores.table[["avg", "all"]].to_numpy()).all():
        raise AssertionError(f"{metric} is not finite")
    return time.process_time() - start


def bytes_of(clients, rows, generators, generated, d) -> int:
    return 4 * d * (clients * rows + generators * generated)


class Growth:
    """Seconds of one metric along one sweep, and what the next case would take."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float]] = []

    def predicted(self, size: int) -> float:
        if not self.seen:
            return 0.0
        (last, took), power = self.seen[-1], 1.0
        if len(self.seen) > 1:
            before, less = self.seen[-2]
            power = max(1.0, math.log(took / max(less, 1e-3)) / math.log(last / before))
        return took * (size / last) ** power


def growth_lines(budget: float = BUDGET) -> Iterator[list[str]]:
    """Rows of the table: what varies, its size, processor seconds of FID and KID, and their ratio."""
    real, made = parties(**{**BASE, "clients": 2, "generators": 1})
    for metric in METRICS:
        seconds(metric, real, made)  # what is imported and set up once is no growth
    for varied, sizes in SWEEPS.items():
        growth = {metric: Growth() for metric in METRICS}
        for size in sizes:
            yield [varied, f"{size:,}", *case(growth, {**BASE, varied: size}, size, budget)]


def case(growth: dict[str, Growth], sizes: dict[str, int], size: int, budget: float) -> list[str]:
    if bytes_of(**sizes) > LARGEST:
        return [f"not run: {bytes_of(**sizes) / 2**30:.0f} GiB of rows", "", ""]
    waits = {metric: g.predicted(size) for metric, g in growth.items()}
    cells, took = [], []
    real, made = parties(**sizes) if min(waits.values()) <= budget else ([], {})
    for metric, wait in waits.items():
        if wait > budget:
            cells.append(f"not run: about {wait:.0f} s")
            continue
        took.append(seconds(metric, real, made))
        growth[metric].seen.append((size, took[-1]))
        cells.append(f"{took[-1]:.2f} s")
    return [*cells, f"{took[1] / took[0]:.1f}x" if len(took) == 2 else ""]


def print_growth(budget: float = BUDGET) -> None:
    """The table, row by row as it comes."""
    sizes = ", ".join(f"{size:,} {name}" if name != "d" else f"d = {size}" for name, size in BASE.items())
    print(f"Base case: {sizes} (rows a client, generated rows a generator), float32; processor seconds")
    for row in itertools.chain([["varied", "size", "FID", "KID", "KID / FID"]], growth_lines(budget)):
        print("  ".join(cell.rjust(width) for cell, width in zip(row, (10, 9, 22, 22, 9), strict=True)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.growth", description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds that one metric may take in one case")
    asked, start = parser.parse_args(), time.perf_counter()
    print_growth(asked.budget)
    print(f"Whole table {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
