"""Cautions about the clients themselves, before any score: unlike the others, clipped, or there twice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..metrics import Sample
from ..summaries.moments import Moments
from .cells import Cells
from .shared_rows import shared_rows
from .unlike_clients import Spread, clipped_clients, unlike_clients


@np.errstate(all="ignore")
def with_client_cautions(tables: Sequence[Cells], names: Sequence[str], generators: Sequence[str]) -> tuple[Cells, ...]:
    """Return the tables of all metrics; the first has cautions about the clients themselves.

    They are about rows that are here, else about the mean and covariance that FID has of a client, and not about
    distributions.
    """
    clients = zip(names, zip(*(table.clients for table in tables), strict=True), strict=True)
    made = zip(generators, zip(*(table.generators for table in tables), strict=True), strict=True)
    rows, generated = ({n: x for n, s in side if (x := _rows(s)) is not None} for side in (clients, made))
    spreads = {}
    for name, summaries in zip(names, zip(*(table.real for table in tables), strict=True), strict=True):
        known = [s for s in summaries if isinstance(s, Moments) and s.count < math.inf]
        if name in rows:
            spreads[name] = Spread.of_rows(rows[name])
        elif known:
            variance = np.diagonal(to_numpy(known[0].cov))
            spreads[name] = Spread(known[0].count, to_numpy(known[0].mean), variance)
    lines = [*unlike_clients(spreads), *clipped_clients(rows), *shared_rows(rows, generated)]
    first, *others = tables
    return (replace(first, cautions=(*lines, *first.cautions)), *others)


def _rows(samples: Sequence[Sample | None]) -> Any:
    """Return the rows of one party that are here and were not drawn for it; None where there are none."""
    seen = [s for s in samples if s is not None and s.rows is not None and not s.is_drawn and not s.is_stand_in]
    return seen[0].rows if seen else None
