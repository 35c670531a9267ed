"""evaluate(): summaries of every client and generator, once; from them every score, client by client.

Flow: check the input → settle the metrics on the federation → exact distributions where a metric has a closed form,
rows otherwise → summarise, for every metric, as that is where most is refused → terms of each client–generator pair →
`Scores`, which aggregates.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput, check_choice
from ..federation import Federation, as_generators
from ..lazy_imports import import_room
from .filling import Filling
from .result import Result
from .scores import Scores
from .standing import PoolOnlyClient
from .streams import reading_shown
from .uncertainty import BiasWarning, Influence

if TYPE_CHECKING:
    from tqdm import tqdm


def evaluate(
    federation: Any,
    generators: Any,
    metrics: Any = ("fid", "kid"),
    *,
    samples: int | None = None,
    seed: int = 0,
    uncertainty: Any = None,
    progress: str | bool = "auto",
    cluster: Any = None,
) -> Scores:
    """Every metric for every client and generator, averaged over clients and on the pooled data.

    Parameters
    ----------
    federation, generators, metrics : `Federation` (or clients that make one), list or dict of generators, and
        names or `Metric` objects. Generators of images (folders, zips, `nm.images(…)`, arrays, functions) go through
        the federation's extractor: `nm.evaluate(nm.Federation.from_folder("hospitals/"), {"a": "samples_a/"})`.
        Rows may be streamed, see `Client` and `nm.Stream`: FID, and KID of up to 128 features, read them once, KID
        and CMMD of rows that do not fit several times; other metrics put them together within `nm.set_memory_limit`.
        What a stream cannot give is refused before it is read, and so is a batch with NaN, by name and number
    samples : None for exact values where a metric has a closed form for the distributions given, and 10,000
        rows otherwise; a number to draw that many rows on each side always (the clients share theirs in
        proportion to their weights). Rows given as data are used as they are.
    seed : of everything drawn
    uncertainty : `nm.Influence()` for intervals (columns `*_corrected`, `*_low`, `*_high`) and `scores.flips(metric)`;
        or `nm.Bootstrap(200, seed=0)`, `nm.Jackknife()`, which resample rows given as data; exact distributions do not
        vary
    progress : "auto" shows a bar after a second, and one of the rows for each stream that is read; True or False
    cluster : a `dask.distributed.Client`, or "local" for workers on this machine: the same tables, computed next to the
        data. Clients may then also be futures, `dask.delayed` or `dask.array` rows, or functions without arguments,
        which make the rows on a worker: docs/cluster.md. None computes here

    Where all clients carry a condition x, a generator that is a function is called as `(x, rng) -> ŷ`, once for
    each client. Conditional metrics (mfid, rfid, jfid, cfid) compare each client with the answers to its own x,
    and for *all* pool both sides; the others see the generator as the distribution P_G = Σ λ_i P(ŷ | x of client i), so
    that for them *avg* and *all* share one generator, which depends on the weights.

    A score that a metric refuses, such as precision of a client with too few rows, or precision-all under weights
    that are not the row counts, is NaN, and `scores.conventions` says why, so that the scores that stand are not lost
    with it; an interval likewise.

    Raises `InvalidInput`, naming the argument, what was seen and how to mend it; where the table would be empty, too.

    Examples
    --------
    >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
    >>> generators = {"narrow": nm.Gaussian([0, 0], [1, 1]), "wide": nm.Gaussian([0, 0], [2, 1])}
    >>> nm.evaluate(clients, generators, "fid").table.round(3)
      generator metric    avg    all    gap
    0    narrow    fid  1.000  0.172  0.828
    1      wide    fid  1.172  0.000  1.172
    """
    if cluster is not None:
        settings: dict[str, Any] = {"samples": samples, "seed": seed, "uncertainty": uncertainty, "progress": progress}
        found: Scores = import_room("cluster").evaluate(federation, generators, metrics, **settings, cluster=cluster)
        return found
    _check_progress(progress)
    given = federation if isinstance(federation, Federation) else Federation(federation)
    made = as_generators(generators)
    with reading_shown([*(client.stream for client in given), *(g.source for g in made)], progress):
        filling = Filling(given, metrics, samples=samples, seed=seed, uncertainty=uncertainty, progress=progress)
        filling.add_all(made)
        clients, names = len(filling.names), filling.generators
        with bar(progress, len(filling.metrics) * (clients + len(names) * (clients + 1))) as shown:
            results = filling.fill(shown.update)
    check_any(results, filling.weights)
    if filling.design is not None and not isinstance(filling.design, Influence):
        for line in (caution for result in results for caution in result.cautions):
            warnings.warn(line, BiasWarning, stacklevel=2)
    return filling.scored(results)


def bar(progress: str | bool, steps: int) -> tqdm[Any]:
    """The bar of an evaluation of so many steps."""
    _check_progress(progress)
    from tqdm.auto import tqdm

    return tqdm(total=steps, disable=progress is False, delay=1.0 if progress == "auto" else 0.0, leave=False)


def _check_progress(progress: Any) -> None:
    if not isinstance(progress, bool):
        check_choice(progress, ("auto",), "progress")


def check_any(results: Sequence[Result], weights: Sequence[float]) -> None:
    """Refuse a table in which nothing would stand, or only all of what has no avg for a lone row, with the reason."""
    refused = [pair for result in results for row in result.terms for pair in row if isinstance(pair, InvalidInput)]
    whole = [
        r for r in results if not any(isinstance(s, PoolOnlyClient) and w for s, w in zip(r.real, weights, strict=True))
    ]
    scores = [scores for result in whole for scores in (result.average(weights), result.pooled(weights))]
    if refused and np.isnan(scores).all():
        raise refused[0]
