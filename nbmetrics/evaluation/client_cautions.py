"""Which clients' rows or summaries are to be looked at before any score: unlike the others', clipped, or there twice."""

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


def with_client_cautions(tables: Sequence[Cells], names: Sequence[str], generators: Sequence[str]) -> tuple[Cells, ...]:
    """Return the tables of all metrics; the first has cautions about the clients themselves.

    They are about rows that are here, else about the mean and covariance that FID has of a client, and not about
    distributions.
    """
    rows = {
        name: own for i, name in enumerate(names) if (own := _rows(table.clients[i] for table in tables)) is not None
    }
    spreads = {name: Spread.of_rows(own) for name, own in rows.items()}
    for i, name in enumerate(names):
        if name not in spreads and (known := spread_of([table.real[i] for table in tables])) is not None:
            spreads[name] = known
    made = {}
    for g, name in enumerate(generators):
        if (own := _rows(table.generators[g] for table in tables)) is not None:
            made[name] = own
    lines = unlike_clients({name: spreads[name] for name in names if name in spreads})
    lines += [*clipped_clients(rows), *shared_rows(rows, made)]
    first, *others = tables
    return (replace(first, cautions=(*lines, *first.cautions)), *others)


def _rows(samples: Any) -> Any:
    """Return the rows of one party that are here and were not drawn for it; None where there are none."""
    seen: list[Sample] = [s for s in samples if s is not None and s.rows is not None]
    return next((s.rows for s in seen if not s.is_drawn and not s.is_stand_in), None)


def spread_of(summaries: Sequence[Any]) -> Spread | None:
    """Return the location and scale that the first mean and covariance among summaries of one client tell."""
    for summary in summaries:
        if isinstance(summary, Moments) and summary.count < math.inf:
            return Spread(summary.count, to_numpy(summary.mean), np.diagonal(to_numpy(summary.cov)))
    return None
