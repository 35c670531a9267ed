"""What a client runs: its rows become the bytes that it sends, once for all generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..evaluation.parts import listed
from ..federation import Client
from ..metrics import Metric, Sample
from .reveal import REVEALS, arrays_of, kind_of, says
from .wire import Section, write

ROWS = "Leave the metric out, take KID with nm.RandomFeatures, or say reveal_rows=True, which sends every row"


def client_summary(rows: Any, metrics: Any = ("fid", "kid"), *, reveal_rows: bool = False) -> bytes:
    """What a client has to reveal for some metrics, as bytes; `nm.federated.aggregate` makes scores of many.

    Parameters
    ----------
    rows : (n, d) rows, a `Client` (with test rows and condition), or a Gaussian
    metrics : names or `Metric` objects, the same here and there
    reveal_rows : whether a metric that needs every row gets them; refused otherwise

    Returns
    -------
    bytes: a header in JSON and the numbers, read without pickle. FID takes mean and covariance; KID with the cubic
    kernel (up to 128 features) the moments up to order 3; KID(nm.RandomFeatures(…)) as many numbers as you say.
    None of this is private by itself: see docs/federated.md.

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
    0         g    fid  1.159  0.657  0.502
    """
    client = rows if isinstance(rows, Client) else Client(rows)
    sample = client.to_sample()
    sections = [section_of(metric, sample, reveal_rows) for metric in listed(metrics)]
    return write(sample.dim, sections)


def section_of(metric: Metric[Any], sample: Sample, reveal_rows: bool = False) -> Section:
    """What a client reveals for one metric."""
    kind = kind_of(metric, sample.dim)
    if kind in ("rows", "own"):
        if not reveal_rows:
            raise InvalidInput("metrics", f"{metric.label} needs {REVEALS['rows']} of a client", ROWS)
        if sample.rows is None:
            raise InvalidInput("rows", f"is a law, and {metric.label} needs rows", "Give rows")
    arrays = arrays_of("rows" if kind == "own" else kind, metric, sample)
    is_single = kind in ("rows", "own") and all(a.dtype == np.float32 for a in arrays.values())
    count = np.inf if sample.rows is None else sample.rows.shape[0]
    return Section(metric.name, says(metric), kind, count, arrays, "<f4" if is_single else "<f8")
