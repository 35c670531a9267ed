"""The metrics that a call asks for: by name or object, settled once on the clients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import InvalidInput, check_list, check_names
from ..federation import Federation
from ..metrics import metric_of
from ..metrics.base import Metric, Sample
from .standing import is_of_call
from .streams import check_streams, reads_of
from .uncertainty import Design


def settled(
    metrics: Any, federation: Federation, design: Design | None = None
) -> list[tuple[Metric[Any], InvalidInput | None]]:
    """Metrics by name or object, with what depends on the data fixed once for all clients.

    Where the clients' rows do not let it be fixed, the metric as it is, and why. Streams of which some metric needs
    more than they can give are refused before anything is read.
    """
    found = listed(metrics)
    check_streams([(f"client {client.name!r}", client.stream) for client in federation], found, design)
    seen_by = [[client.to_sample(reads_of(metric, client.dim, design)) for client in federation] for metric in found]
    return [_resolved(metric, samples) for metric, samples in zip(found, seen_by, strict=True)]


def listed(metrics: Any) -> list[Metric[Any]]:
    """Metrics by name or object, one or several, of different names."""
    is_one = isinstance(metrics, (str, type)) or not isinstance(metrics, Iterable)
    items = [metrics] if is_one else check_list(metrics, "metrics")
    if not items:
        raise InvalidInput("metrics", "is empty", "Give at least one, such as 'fid'")
    wanted = [metric_of(item) for item in items]
    check_names([m.name for m in wanted], "metrics")
    return wanted


def _resolved(metric: Metric[Any], samples: Sequence[Sample]) -> tuple[Metric[Any], InvalidInput | None]:
    try:
        return metric.resolve(samples), None
    except InvalidInput as error:
        if is_of_call(error):
            raise
        return metric, error.of(metric.name)
