"""What a Monitor costs the loop that logs to it: the same loop without and with it, in turn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np

import nbmetrics as nm

SECONDS, ROUNDS, CLIENTS, DIM, SAMPLES = 10.0, 3, 10, 64, 500


def loop(monitor: Any = None) -> float:
    """Seconds a step of some products of matrices, from the first second on."""
    rng = np.random.default_rng(0)
    weights = state = rng.normal(size=(220, 220)) / 15.0
    start, steps = time.perf_counter(), 0
    while (now := time.perf_counter() - start) < SECONDS:
        for _ in range(4):
            state = np.tanh(state @ weights)
        steps += 1
        if monitor is not None:
            monitor.log(steps, lambda n, rng: rng.normal(size=(n, DIM)), loss=float(state[0, 0]))
    return now / steps


def lines() -> Iterator[Any]:
    """Milliseconds a step, the median of some rounds, and what the Monitor itself says."""
    from .__main__ import Line

    clients = {f"c{i}": np.random.default_rng(i).normal(i, 1.0, (180, DIM)) for i in range(CLIENTS)}
    alone, watched, said = [], [], []
    for _ in range(ROUNDS):
        alone.append(loop())
        monitor = nm.Monitor(clients, samples=SAMPLES)
        try:
            watched.append(loop(monitor))
            said.append(monitor.cost.share)
        finally:
            monitor.close()
    task = f"a step of a loop with a Monitor, first {SECONDS:.0f} s, {CLIENTS} clients (it says {median(said):.1%})"
    yield Line(task, "the loop alone", 1e3 * median(alone), 1e3 * median(watched), "ms", rows="products of matrices")
