"""Where scores come from: version, date, settings, extractor and numbers of rows, so that a table can be made again.

No hash of rows is part of it: whoever guesses a row could confirm the guess by a report.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import __version__
from ..federation import Client, Federation
from .cells import Cells


def provenance_of(
    federation: Federation,
    generators: Sequence[str],
    tables: Sequence[Cells],
    *,
    samples: int | None,
    seed: int,
    design: Any,
) -> dict[str, Any]:
    """Return the provenance of scores, of plain numbers and texts; see `Scores.provenance`."""
    extractor = None if federation.extraction is None else federation.extraction.extractor
    return {
        "nbmetrics": __version__,
        "versions": _versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": {"samples": samples, "seed": seed, "uncertainty": None if design is None else str(design)},
        "metrics": {table.name: table.metric.convention or table.label for table in tables},
        "extractor": extractor and {"name": extractor.name, "fingerprint": extractor.fingerprint},
        "client_rows": {name: _rows(client) for name, client in zip(federation.names, federation, strict=True)},
        "generator_rows": _generator_rows(generators, tables[0]) if tables else {},
    }


def _rows(client: Client) -> int | None:
    """Return how many rows a client has; None where only another pass would say."""
    return client.size if client.stream is None else client.stream.size


def _generator_rows(names: Sequence[str], cells: Cells) -> dict[str, int | None]:
    """Return how many rows each generator made, for all clients together."""
    samples = zip(names, cells.generators, strict=False)
    rows = {name: None if sample is None else sample.size for name, sample in samples}
    for name, own in zip(names, cells.own_samples, strict=False):
        if own:
            sizes = [sample.size for sample in own]
            rows[name] = None if None in sizes else sum(size or 0 for size in sizes)
    return rows


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": version("scipy")}


def version_line(provenance: Mapping[str, Any]) -> list[str]:
    """Return the line under a table, none where nothing is known."""
    return [f"nbmetrics {provenance['nbmetrics']}, {provenance['date'][:10]}"] if provenance else []
