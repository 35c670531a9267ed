"""What a client runs: its rows become the bytes that it sends, once for all generators."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..errors import InvalidInput, shown
from ..evaluation.wanted import listed
from ..federation import Client
from ..metrics import Metric, Sample
from .noisy import noisy_sections
from .privacy import Privacy
from .reveal import REVEALS, Thrift, arrays_of, kind_of, says
from .wire import Section, write

ROWS = "Leave the metric out, take KID with nm.RandomFeatures, or say reveal_rows=True, which sends every row"


def client_summary(
    rows: Any,
    metrics: Any = ("fid", "kid"),
    *,
    precision: str = "float64",
    rank: int | None = None,
    privacy: Privacy | None = None,
    reveal_rows: bool = False,
) -> bytes:
    """What a client has to reveal for some metrics, as bytes; `nm.federated.aggregate` makes scores of many.

    Parameters
    ----------
    rows : (n, d) rows, a `Client` (with test rows and condition), or a Gaussian
    metrics : names or `Metric` objects, the same here and there
    precision : "float64", or "float32" for half the bytes and numbers to 6e-8
    rank : for FID, how many directions of the covariance are sent, the largest; of the others one variance. The scores
        say how far that may move them
    privacy : `nm.federated.Privacy(epsilon, delta, clip)`: noise that hides every single row
    reveal_rows : whether a metric that needs every row gets them; refused otherwise

    Returns
    -------
    bytes: a header in JSON and the numbers, read without pickle. FID takes mean and covariance; KID with the cubic
    kernel (up to 128 features) the moments up to order 3; KID(nm.RandomFeatures(…)) as many numbers as you say.
    None of this hides a row by itself: see docs/federated.md.

    Raises
    ------
    InvalidInput
        For bad rows, and for a metric that needs every row, unless `reveal_rows`.

    Examples
    --------
    >>> clients = [np.random.default_rng(k).normal(k, 1, size=(50, 2)) for k in (0, 1)]
    >>> sent = [nm.federated.client_summary(rows, "fid") for rows in clients]
    >>> nm.federated.aggregate(sent, None, {"g": nm.Gaussian([0, 0])}, "fid").table.round(3)
      generator metric    avg    all    gap
    0         g    fid  0.912  0.559  0.353
    """
    client = rows if isinstance(rows, Client) else Client(rows)
    sample, wanted = client.to_sample(), listed(metrics)
    thrift = Thrift.of(precision, rank)
    if privacy is None:
        return write(sample.dim, [section_of(metric, sample, thrift, reveal_rows) for metric in wanted])
    if not isinstance(privacy, Privacy):
        raise InvalidInput("privacy", f"got {shown(privacy)}", "Give nm.federated.Privacy(epsilon, delta, clip)")
    if rank is not None:
        raise InvalidInput("rank", "is given with privacy, and noise fills all directions", "Leave one of them out")
    sections = noisy_sections(wanted, sample, privacy)
    return write(sample.dim, [replace(section, type=thrift.type) for section in sections])


def section_of(metric: Metric[Any], sample: Sample, thrift: Thrift, reveal_rows: bool = False) -> Section:
    """What a client reveals for one metric."""
    kind = kind_of(metric, sample.dim)
    if kind in ("rows", "own"):
        if not reveal_rows:
            raise InvalidInput("metrics", f"{metric.label} needs {REVEALS['rows']} of a client", ROWS)
        if sample.rows is None:
            raise InvalidInput("rows", f"is a law, and {metric.label} needs rows", "Give rows")
        if metric.needs_test and sample.test is None:
            fix = "Give nm.Client(rows, test=…)"
            raise InvalidInput("rows", f"have no test rows, which {metric.label} compares with", fix)
    arrays, notes = arrays_of(kind, metric, sample, thrift)
    count = math.inf if sample.rows is None else sample.rows.shape[0]
    return Section(metric.name, says(metric), kind, count, arrays, thrift.type_of(kind, arrays), notes)
