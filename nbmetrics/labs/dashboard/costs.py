"""What each score costs and reveals, of `Scores.ledger`: a row for each metric and aggregate, over all clients."""

from __future__ import annotations

from typing import Any

from ...evaluation.scores import Scores


def costs(scores: Scores) -> list[dict[str, Any]]:
    """[{"metric": label, "aggregate", "up": [least, most], "down": [least, most], "reveals"}], bytes a client."""
    found = []
    for (metric, aggregate), part in scores.ledger.groupby(["metric", "aggregate"], sort=False):
        up, down = ([int(part[name].min()), int(part[name].max())] for name in ("bytes", "bytes_down"))
        reveals = "; or ".join(dict.fromkeys(part["reveals"]))
        own = {"metric": scores.result(str(metric)).label, "aggregate": aggregate}
        found.append({**own, "up": up, "down": down, "reveals": reveals})
    return found
