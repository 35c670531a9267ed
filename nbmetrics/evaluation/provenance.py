"""Where scores come from: version, date, settings, extractor and numbers of rows, so that a table can be made again.

No hash of rows is part of it: whoever guesses a row could confirm the guess by a report.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import __version__
from ..federation import Federation
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
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": version("scipy")}
    drawn = tables[0].generators if tables else ()
    extractor = None if federation.extraction is None else federation.extraction.extractor
    return {
        "nbmetrics": __version__,
        "versions": versions,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": {"samples": samples, "seed": seed, "uncertainty": None if design is None else str(design)},
        "metrics": {table.name: table.metric.convention or table.label for table in tables},
        "extractor": extractor and {"name": extractor.name, "fingerprint": extractor.fingerprint},
        "client_rows": {name: client.size for name, client in zip(federation.names, federation, strict=True)},
        "generator_rows": {name: sample and sample.size for name, sample in zip(generators, drawn, strict=False)},
    }


def made_line(provenance: Mapping[str, Any]) -> list[str]:
    """Return the line under a table, none where nothing is known."""
    return [f"nbmetrics {provenance['nbmetrics']}, {provenance['date'][:10]}"] if provenance else []
