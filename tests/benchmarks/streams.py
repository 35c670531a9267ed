"""KID of rows that do not fit into memory: seconds and peak memory, beside what a small piece of the work foretells.

`python -m tests.benchmarks.streams embedding` reads a dask array, 10 GB of 32 features made chunk by chunk, once;
`python -m tests.benchmarks.streams pairs` reads 60,000 × 2,048 memory-mapped rows in blocks of pairs. Seconds are the
processor's. Peak memory is the largest resident size of the process beyond what it had before it read anything.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import dask.array as da
import numpy as np

import nbmetrics as nm
from nbmetrics.metrics import KID, Sample

CHUNK = 100_000


def lazy(rows: int, d: int, seed: int = 0):
    """Normal rows as a dask array: each chunk is made when it is read, from a seed of its own."""
    return da.random.default_rng(seed).standard_normal((rows, d), chunks=(CHUNK, d))


def mapped(rows: int, d: int, folder: Path, seed: int) -> Path:
    """Rectified normal rows, as features of networks are, in a float32 file."""
    path, rng = folder / f"{seed}.npy", np.random.default_rng(seed)
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, d)}
    with path.open("wb") as file:  # not through a map, whose pages would count
        np.lib.format.write_array_header_2_0(file, header)
        for start in range(0, rows, 1_000):
            block = rng.standard_normal((min(1_000, rows - start), d), dtype=np.float32)
            file.write(np.maximum(block + 0.1 * seed, 0.0).tobytes())
    return path


def measured(real, made) -> tuple[float, float]:
    """KID and the processor seconds of its summaries and terms, as streams whatever the size."""
    start, metric = time.process_time(), KID()
    summaries = [metric.summarize(Sample(stream=nm.Stream(side))) for side in (real, made)]
    return metric.distance(*summaries), time.process_time() - start


def peak() -> float:
    """The largest resident size so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("embedding", "pairs"))
    parser.add_argument("--share", type=float, default=1.0, help="of the full size")
    parser.add_argument("--piece", type=float, default=0.03, help="share of the work from which the rest is predicted")
    parser.add_argument("--limit", type=float, default=256.0, help="megabytes, as for nm.set_memory_limit")
    given = parser.parse_args()
    nm.set_memory_limit(given.limit)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        case = Embedding(given.share) if given.what == "embedding" else Pairs(given.share, Path(folder))
        nm.kid(np.eye(3), np.eye(3))
        before = peak()
        case.score(0.002)
        piece = case.score(given.piece)[1]
        predicted = piece * case.work(1.0) / case.work(given.piece)
        start = time.monotonic()
        value, seconds = case.score(1.0)
        wall, used = time.monotonic() - start, peak() - before
    print(f"{given.what}: {case.words}, {case.bytes / 1e9:.2f} GB; KID {value:.6g}")
    print(
        f"processor seconds {seconds:.1f}; predicted {predicted:.1f} from {piece:.1f}: {seconds / predicted - 1:+.1%}"
    )
    print(f"wall seconds {wall:.1f}; peak {used:.0f} MB beyond {before:.0f} MB, limit {given.limit:.0f} MB")


class Embedding:
    """A lazy array through the embedding."""

    def __init__(self, share: float) -> None:
        self.rows, self.others, self.d = int(share * 10e9 / 8 / 32), 200_000, 32
        self.bytes = 8 * self.rows * self.d
        self.words = f"{self.rows:,} × {self.d} rows of a dask array, {self.others:,} generated ones"

    def score(self, share: float) -> tuple[float, float]:
        return measured(lazy(self._some(share), self.d), lazy(self.others, self.d, 1))

    def work(self, share: float) -> float:
        return self._some(share) + self.others

    def _some(self, share: float) -> int:
        return max(CHUNK, int(share * self.rows) // CHUNK * CHUNK)


class Pairs:
    """Memory-mapped rows by pairs."""

    def __init__(self, share: float, folder: Path) -> None:
        self.rows, self.others, self.d = int(share * 60_000), int(share * 10_000), 2_048
        self.bytes = 4 * (self.rows + self.others) * self.d
        self.words = f"{self.rows:,} × {self.d} float32 rows in a file, {self.others:,} generated ones in another"
        self._folder = folder

    def score(self, share: float) -> tuple[float, float]:
        paths = [mapped(n, self.d, self._folder, k) for k, n in enumerate(self._sizes(share))]
        return measured(*(np.load(path, mmap_mode="r") for path in paths))

    def work(self, share: float) -> float:
        n, m = self._sizes(share)
        return n * n / 2 + m * m / 2 + n * m

    def _sizes(self, share: float) -> tuple[int, int]:
        """So many rows that the pairs are this share of all pairs."""
        return max(int(self.rows * share**0.5), 2), max(int(self.others * share**0.5), 2)


if __name__ == "__main__":
    main()
