"""evaluate(): summaries of every client and generator, once; from them every score, client by client.

Flow: check the input → resolve the metrics on the federation → exact distributions where a metric has a closed form,
rows otherwise → summarise, for every metric, as that is where most is refused → `Cells`: a score of each
client–generator pair → `Scores`, which aggregates.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import closing, nullcontext
from typing import Any

import numpy as np

from ..errors import check_choice
from ..federation import Federation, as_generators
from ..lazy_imports import import_room
from ..progress import progress_bar
from ..summaries.stream import Stream
from .cells import Cells, PoolOnlyClient
from .client_cautions import with_client_cautions
from .compute import Evaluation
from .influence import Influence
from .samples import show_reading, sources_of
from .scores import Scores
from .store import Store, let_hash


class BiasWarning(UserWarning):
    """A number that is mostly an artefact of too few rows."""


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
    store: Any = None,
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
        proportion to their weights, as what a generator makes for each). Rows given as data are used as they are.
    seed : of everything drawn
    uncertainty : `nm.Influence()` for intervals (columns `*_corrected`, `*_low`, `*_high`) and `scores.flips(metric)`;
        or `nm.Bootstrap(200, seed=0)`, `nm.Jackknife()`, which resample rows given as data; exact distributions do not
        vary
    progress : "auto" shows a bar after a second, and one of the rows for each stream that is read; True or False
    cluster : a `dask.distributed.Client`, or "local" for workers on this machine: the same tables, computed next to the
        data. Clients may then also be futures, `dask.delayed` or `dask.array` rows, or functions without arguments,
        which make the rows on a worker: docs/cluster.md. None computes here
    store : of a folder that keeps every score that was computed, made where it is not there: a call that was killed
        goes on, one more generator costs its own scores, one more client its own and the pooled ones. Rows are not
        kept, only keyed hashes of them; intervals and scores of your own metrics are computed again: docs/kept.md

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
        settings.update(cluster=cluster, store=store)
        scores: Scores = import_room("cluster").evaluate(federation, generators, metrics, **settings)
        return scores
    if not isinstance(progress, bool):
        check_choice(progress, ("auto",), "progress")
    federation = federation if isinstance(federation, Federation) else Federation(federation)
    sources = as_generators(generators, may_be_by_client=True)
    kept = None if store is None else Store(store)
    parties = (*(client.stream for client in federation.clients), *sources_of(sources))
    streams = [party for party in parties if isinstance(party, Stream)]
    with closing(kept) if kept else nullcontext(), show_reading(streams, progress) if streams else nullcontext():
        evaluation = Evaluation(
            federation, metrics, samples=samples, seed=seed, uncertainty=uncertainty, progress=progress, store=kept
        )
        names = evaluation.take(sources)
        clients = len(evaluation.names)
        with progress_bar(progress, len(evaluation.metrics) * (clients + len(names) * (clients + 1))) as bar:
            tables = evaluation.compute(bar.update)
        let_hash(streams, None)
    check_any_score(tables)
    if evaluation.design is not None and not isinstance(evaluation.design, Influence):
        for line in (caution for table in tables for caution in table.cautions):
            warnings.warn(line, BiasWarning, stacklevel=2)
    return evaluation.to_scores(with_client_cautions(tables, evaluation.names, names))


def check_any_score(tables: Sequence[Cells]) -> None:
    """Refuse tables in which nothing would stand, or only all of what has no avg for a lone row, with the reason."""
    whole = [t for t in tables if not any(isinstance(s, PoolOnlyClient) and w for s, w in zip(t.real, t.weights))]
    scores = [getattr(table, part) for table in whole for part in table.aggregates]
    refusals = (cell.refusal for table in tables for row in table.client_cells for cell in row if cell.refusal)
    if np.isnan(scores).all() and (refusal := next(refusals, None)) is not None:
        raise refusal
