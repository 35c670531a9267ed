"""Clients that are made on a worker, by functions that a worker finds by name."""

import os
import signal
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


def raising():
    raise OSError("no such disk")


def killing(k, folder):
    """Rows; each of the first three calls kills the process that makes it."""
    for attempt in range(3):
        try:
            (Path(folder) / f"{k}-{attempt}").touch(exist_ok=False)
        except FileExistsError:
            continue
        os.kill(os.getpid(), signal.SIGKILL)
    return rows(k)


def functions():
    return {name: partial(rows, k) for k, name in enumerate(NAMES)}


def generators():
    rng = np.random.default_rng(99)
    return {"narrow": rng.normal(1.5, 1.0, (60, DIM)), "wide": rng.normal(2.0, 2.0, (90, DIM))}
