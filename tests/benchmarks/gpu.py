"""Scores and features on a GPU beside the same on that machine's CPU, one run: `python -m tests.benchmarks.gpu`.

Of each task: seconds of both, each the median of --rounds after a first one; how far the results are apart, relative to
the largest; and the most numbers that one copy brought back to main memory. Rows are float32, decaying and rectified.
"""

from __future__ import annotations

import argparse
import copy
import math
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch

import nbmetrics as nm
from nbmetrics.features import extraction
from nbmetrics.metrics.prdc import forget
from tests.cuda_device import DEVICE, copies, on_device
from tests.features.inception import random_weights

from . import peers
from .distributions import DECAYING, features


class Task(NamedTuple):
    """What is measured: `on_cpu` and `on_gpu` return the same numbers."""

    name: str
    on_cpu: Callable[[], Any]
    on_gpu: Callable[[], Any]


def scored(name: str, act: Callable[[list[Any]], Any], arrays: list[np.ndarray]) -> Task:
    """A task of rows that are on the GPU before it starts."""
    tensors = [on_device(x) for x in arrays]
    return Task(name, lambda: act(arrays), lambda: act(tensors))


def pair_tasks(n: int, d: int) -> Iterator[Task]:
    """Metrics between two samples of n rows with d features."""
    real, generated, test = (features(n, d, seed, np.float32, DECAYING) for seed in range(3))
    pair, size = [real, generated], f"{n:,} × {n:,} × {d:,}"
    yield scored(f"FID, {size}", lambda x: nm.fid(*x), pair)
    yield scored(f"KID of all rows, {size}", lambda x: nm.kid(*x), pair)
    yield scored(f"KID with an RBF kernel, {size}", lambda x: nm.kid(*x, nm.RBF(30.0)), pair)
    yield scored(f"precision, recall, density, coverage, {size}", lambda x: tuple(nm.prdc(*x)), pair)
    yield scored(f"AuthPct, {size}", lambda x: nm.auth_pct(*x), pair)
    yield scored(f"two-sample test, {size}", lambda x: nm.two_sample(*x, permutations=199)[:2], pair)
    narrow = [np.ascontiguousarray(x[: n // 2, :64]) for x in (real, test, generated)]
    yield scored(f"FLD, 3 × {n // 2:,} × 64", lambda x: nm.fld(*x), narrow)
    yield scored(f"Vendi, {n // 2:,} × {d:,}", lambda x: nm.vendi(x[0]), [generated[: n // 2]])


def study_tasks(clients: int, rows: int, generators: int, made: int, d: int) -> Iterator[Task]:
    """Studies of many clients and generators: avg, all, and every client's score."""
    real = [features(rows, d, seed, np.float32, DECAYING) for seed in range(clients)]
    generated = [features(made, d, clients + seed, np.float32, DECAYING) for seed in range(generators)]
    size = f"{clients} clients × {rows:,}, {generators} generators × {made:,}, {d:,} features"

    def evaluate(x: list[Any], metric: str, **settings: Any) -> np.ndarray:
        named = {f"g{i}": part for i, part in enumerate(x[clients:])}
        scores = nm.evaluate(x[:clients], named, metric, progress=False, **settings)
        return np.concatenate([scores.table[["avg", "all"]].to_numpy().ravel(), scores.clients["value"]])

    yield scored(f"evaluate FID, {size}", lambda x: evaluate(x, "fid"), real + generated)
    yield scored(f"evaluate KID, {size}", lambda x: evaluate(x, "kid"), real + generated)
    yield scored(
        f"evaluate FID with intervals, {size}",
        lambda x: evaluate(x, "fid", uncertainty=nm.Influence()),
        real + generated,
    )


def feature_tasks(folder: Path, n: int) -> Iterator[Task]:
    """Images to rows: torch-fidelity's Inception with random weights, and a small network of our own."""
    images = np.random.default_rng(0).integers(0, 256, (n, 64, 64, 3), dtype=np.uint8)
    if peers.imported("torch_fidelity.registry") is not None:
        weights = random_weights(folder / "inception.pt")

        def inception(device: str) -> Callable[[], np.ndarray]:
            settings = {"weights": weights, "device": device, "cache": False, "progress": False}
            model = extraction("inception-v3-compat", **settings)
            return lambda: model.rows(images)

        yield Task(f"Inception, {n} images of 64 × 64", inception("cpu"), inception("cuda"))
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3, 2), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten()).eval()
    moved = copy.deepcopy(module).to(DEVICE)
    settings = {"cache": False, "progress": False}
    yield Task(
        f"own network, {n} images of 64 × 64",
        lambda: nm.extract(images, module, **settings),
        lambda: nm.extract(images, moved, **settings),
    )


GROUPS: dict[str, Callable[[argparse.Namespace, Path], Iterator[Task]]] = {
    "features": lambda asked, folder: feature_tasks(folder, asked.images),
    "pairs": lambda asked, _: pair_tasks(asked.rows, asked.features),
    "study": lambda asked, _: study_tasks(20, 500, 5, asked.rows // 2, asked.features),
}


def median_seconds(act: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The median of the runs after a first one, and what the last one returned."""
    seconds = []
    for _ in range(rounds + 1):
        forget()
        start = time.perf_counter()
        result = act()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:]), result


def line(task: Task, rounds: int) -> str:
    """A row of the table."""
    on_cpu, expected = median_seconds(task.on_cpu, rounds)
    on_gpu, result = median_seconds(task.on_gpu, rounds)
    with copies() as shapes:
        forget()
        task.on_gpu()
    expected, result = (np.asarray(x, float) for x in (expected, result))
    apart = np.nanmax(np.abs(result - expected)) / np.nanmax(np.abs(expected))
    most = max(shapes, key=math.prod, default=())
    return f"| {task.name} | {on_cpu:.3g} s | {on_gpu:.3g} s | {on_cpu / on_gpu:.1f} | {apart:.1e} | {most} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=2_048)
    parser.add_argument("--images", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=[*GROUPS])
    asked = parser.parse_args()
    gpu = torch.cuda.get_device_name(DEVICE)
    print(f"{gpu}, torch {torch.__version__}; CPU: {os.cpu_count()} cores, {platform.machine()}")
    print("| task | CPU | GPU | times | apart | largest copy to main memory |", "|---|--:|--:|--:|--:|---|", sep="\n")
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, NBMETRICS_HOME=folder):
        for group in asked.only:
            for task in GROUPS[group](asked, Path(folder)):
                print(line(task, asked.rounds), flush=True)


if __name__ == "__main__":
    main()
