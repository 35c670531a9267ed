"""Clients that are made on a worker, by functions that a worker finds by name."""

import os
import signal
import time
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np

DIM = 3
NAMES = [f"site {k}" for k in range(20)]


def rows(k, dim=DIM):
    """Rows of a client: the more, the farther it is from the others."""
    return np.random.default_rng(k).normal(0.2 * k, 1.0, (20 + 3 * k, dim))


def batches(k):
    """The same in batches."""
    yield from np.array_split(rows(k), 3)


def with_nan(k):
    found = rows(k)
    found[7, 1] = np.nan
    return found


def other(file, shape):
    """Rows; others, of this shape, from the second call on."""
    path = Path(file)
    seed, shape = (1, shape) if path.exists() else (0, (20, DIM))
    path.touch()
    return np.random.default_rng(seed).normal(size=shape)


def other_batches(file, shape):
    """The same in batches."""
    yield from np.array_split(other(file, shape), 3)


def raising():
    raise OSError("no such disk")


def bad_batches(k):
    """Batches, the second of which holds NaN."""
    first, *rest = np.array_split(with_nan(k), 3)
    yield from (rest[0], first, rest[1])


def raising_batches(k):
    """Batches, and an error after the first."""
    yield rows(k)
    raise OSError("no such disk")


def frugal(count, most):
    """Batches of 8 MiB; an error at the end where more than `most` bytes were held together meanwhile."""
    tracemalloc.start()
    try:
        for k in range(count):
            yield np.random.default_rng(k).normal(size=(2**17, 8))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > most:
        raise MemoryError(f"{peak:,} bytes were held")


def slowly(k, seconds):
    """Rows, after a while."""
    time.sleep(seconds)
    return rows(k)


def waiting(k, folder):
    """Rows; from the second call on, when a file says so."""
    seen, go = Path(folder) / "seen", Path(folder) / "go"
    while seen.exists() and not go.exists():
        time.sleep(0.05)
    seen.touch()
    return rows(k)


def beating(count, seconds, last=0.0):
    """Batches, each after a while, and the last one after a while of its own."""
    for k in range(count):
        time.sleep(seconds)
        yield rows(k)
    time.sleep(last)
    yield rows(count)


def stopping(k, file):
    """Rows; the process stops first, when the file with its number is not there yet."""
    if not Path(file).exists():
        Path(file).write_text(str(os.getpid()), "utf-8")
        os.kill(os.getpid(), signal.SIGSTOP)
    return rows(k)


def signalling(k, process, number):
    """Rows; a signal to another process first."""
    os.kill(process, number)
    return slowly(k, 1.0)


def killing(k, folder, after=0):
    """Rows; each of three calls kills the process that makes it, the first three or those after some calls."""
    for attempt in range(after + 3):
        try:
            (Path(folder) / f"{k}-{attempt}").touch(exist_ok=False)
        except FileExistsError:
            continue
        if attempt >= after:
            os.kill(os.getpid(), signal.SIGKILL)
        break
    return rows(k)


def imported():
    """Nothing; what tasks need is imported."""
    import nbmetrics.cluster.tree_reduce  # noqa: F401


def functions():
    return {name: partial(rows, k) for k, name in enumerate(NAMES)}


def generators():
    rng = np.random.default_rng(99)
    return {"narrow": rng.normal(1.5, 1.0, (60, DIM)), "wide": rng.normal(2.0, 2.0, (90, DIM))}
