"""Where scores come from: version, date, settings, extractor and numbers of rows, so that a table can be made again.

No hash of rows is part of it: whoever guesses a row could confirm the guess by a report.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import scipy

from .. import __version__
from ..federation import Federation
from ..metrics import Sample
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
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    drawn = tables[0].generators if tables else ()
    return {
        "nbmetrics": __version__,
        "versions": versions,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": {"samples": samples, "seed": seed, "uncertainty": None if design is None else str(design)},
        "metrics": {table.name: table.metric.convention or table.label for table in tables},
        "extractor": _extractor(federation),
        "client_rows": {name: client.size for name, client in zip(federation.names, federation, strict=True)},
        "generator_rows": {name: _rows(sample) for name, sample in zip(generators, drawn, strict=False)},
    }


def made_line(provenance: Mapping[str, Any]) -> list[str]:
    """Return the line under a table, none where nothing is known."""
    return [f"nbmetrics {provenance['nbmetrics']}, {provenance['date'][:10]}"] if provenance else []


def _rows(sample: Sample | None) -> int | None:
    return None if sample is None else sample.size


def _extractor(federation: Federation) -> dict[str, Any] | None:
    """Return the name of what made the features, and the fingerprint, which has the hash of its weights."""
    if federation.extraction is None:
        return None
    extractor = federation.extraction.extractor
    return {"name": extractor.name, "fingerprint": extractor.fingerprint}
