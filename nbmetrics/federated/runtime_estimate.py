"""How long a study of noise takes: a small piece of it is timed on this machine before the rest begins.

A run scores every client's release, and their pool, against every generator. Of FID that is an eigendecomposition of
each and singular values of each pair, which grow like the cube of the features: they are timed for `WIDEST` at most.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..metrics import Metric, Sample
from .noisy_summaries import arrived, bounded, with_noise
from .privacy import Normals, Privacy
from .summary_codec import kind_of

WIDEST = 512
# The least time of so many counts, as the first one loads libraries.
TRIES = 3


def check_hours(
    metrics: Sequence[Metric[Any]], dim: int, clients: int, generators: int, epsilons: int, repeats: int, most: float
) -> None:
    """Refuse a study that would take more than `most` hours."""
    releases = epsilons * repeats * (clients + 1)  # the pool is one more
    hours = releases * sum(seconds_of(metric, dim, generators) for metric in metrics) / 3600.0
    if hours > most:
        sizes = f"{clients:,} clients, {generators:,} generators and {dim:,} features"
        told = f"{hours:,.0f}" if hours > 10 else f"{hours:.2g}"
        seen = f"would take about {told} hours here: {epsilons:,} ε of {repeats:,} runs, {sizes}"
        narrower = (
            "; fewer features, by a PCA of public rows, help most" if any(_grows(m, dim) for m in metrics) else ""
        )
        fix = f"Give fewer repeats, epsilons, clients or generators{narrower}; or allow it by hours="
        raise InvalidInput("repeats", seen, fix)


def _grows(metric: Metric[Any], dim: int) -> bool:
    """Whether its time grows with the features."""
    return kind_of(metric, dim) == "moments"


def seconds_of(metric: Metric[Any], dim: int, generators: int) -> float:
    """Of one release, scored against all generators."""
    grows = _grows(metric, dim)
    width = min(dim, WIDEST) if grows else 1
    first, another = timed(metric, width)
    return (dim / width if grows else 1.0) ** 3 * (first + (generators - 1) * another)


def timed(metric: Metric[Any], width: int) -> tuple[float, float]:
    """Seconds of a release of so many features with its score against a generator, and of that against another one."""
    sample = Sample(rows=np.random.default_rng(0).normal(size=(2 * width + 2, width)))
    metric = metric.resolve([sample])
    section, normals = bounded(metric, sample, Privacy(1.0, clip=1.0)), Normals(0)
    if not section.arrays:  # nothing of a client is in it
        return 0.0, 0.0
    (one, two), tries = (metric.summarize(sample) for _ in range(2)), []
    for _ in range(TRIES):
        start = time.perf_counter()
        scored, (client,) = arrived(metric, [with_noise(section, 1.0, normals)])
        scored.terms(client, one)
        middle = time.perf_counter()
        scored.terms(client, two)
        tries.append((middle - start, time.perf_counter() - middle))
    first, another = map(min, zip(*tries, strict=True))
    return first, another
