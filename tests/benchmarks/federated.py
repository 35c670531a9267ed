"""Whole evaluations: many clients against many generators, intervals, and how near KID comes to the machine's GEMM."""

from __future__ import annotations

import time
import warnings

import numpy as np

import nbmetrics as nm

from . import peers
from .distributions import MILD, features

PAIRS = 3


def seconds(act) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def federation_lines(distribution=MILD, clients=100, rows=100, generators=20, made=5_000, d=2048):
    """FID and KID, avg and all, of every client and generator; the peer's pairs are timed and multiplied."""
    from .__main__ import Line, moments

    federation = nm.Federation([features(rows, d, seed, np.float32, distribution) for seed in range(clients)])
    sources = {f"g{g}": features(made, d, 1000 + g, np.float32, distribution) for g in range(generators)}
    theirs = []
    name, distance = peers.pytorch_fid()
    for k in range(PAIRS):
        x, y = federation.clients[k].rows.astype(np.float64), sources[f"g{k}"].astype(np.float64)
        theirs.append(seconds(lambda: distance(*moments(x), *moments(y))))  # noqa: B023
    one, times = float(np.median(theirs)), generators * (clients + 1)
    own = {m: seconds(lambda: nm.evaluate(federation, sources, m, progress=False).table) for m in ("fid", "kid")}  # noqa: B023
    size = f"{clients} clients x {rows} rows, {generators} generators x {made:,}, d = {d}"
    peer = f"np.cov, {name}, median of {PAIRS} pairs"
    for task, ours in (("FID + KID (the peer: FID only)", own["fid"] + own["kid"]), ("FID alone", own["fid"])):
        yield Line(f"{task}, avg and all: {size}", peer, one, ours, rows=distribution, times=times)


def interval_lines(distribution=MILD, n=1_500, m=2_000, d=768, replicates=200):
    """FID with intervals by influence values, beside resampling by covariances and roots."""
    from .__main__ import Line, moments

    x, y = features(n, d, 1, np.float64, distribution), features(m, d, 2, np.float64, distribution)
    name, distance = peers.pytorch_fid()
    theirs = seconds(lambda: distance(*moments(x[np.arange(n) // 2]), *moments(y[np.arange(m) // 2])))
    design = nm.Influence()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.BiasWarning)
        ours = seconds(lambda: nm.evaluate([x], {"g": y}, "fid", uncertainty=design, progress=False).clients)
    task = f"FID with intervals, n = {n:,}, m = {m:,}, d = {d} (the peer: {replicates} bootstraps, too narrow here)"
    yield Line(task, f"np.cov, {name}", theirs, ours, rows=distribution, times=replicates)


def gemm_lines(n=8_192, d=2048):
    """The share of the machine's own matrix-product rate at which KID runs, in percent."""
    from .__main__ import Line

    x, y = features(n, d, 1, np.float32), features(n, d, 2, np.float32)
    a, b = x[:4096], y[:4096]
    rate = 2 * 4096 * 4096 * d / min(seconds(lambda: a @ b.T) for _ in range(4))
    nm.kid(x[:100], y[:100])
    ours = min(seconds(lambda: nm.kid(x, y)) for _ in range(2))
    blocks = n // 1024
    work = 2 * 1024 * 1024 * d * (blocks**2 + blocks * (blocks + 1))
    yield Line(
        f"KID on {n:,} x {n:,}, d = {d}, float32", f"its products alone, at {rate / 1e9:.0f} GFLOP/s", work / rate, ours
    )
