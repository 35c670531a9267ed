"""More draws from the generators on show that are functions, until one is settled as best: see `nm.race`.

{"metric", "by", "weights": [k], "generators": [names that race], "left_out": [names], "label", "budget", "spent",
 "looks": [{"look", "sampler", "draws", "score", "low", "high", "state"}], "doing": words}
and at the end also "reason", "noise": sentences
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from ...errors import InvalidInput, check_count
from ...evaluation.race import RunningRace
from ...evaluation.race_result import RaceLog
from ...federation import Federation, Generator
from ...metrics import Metric
from .json_numbers import json_number
from .scene import DashboardScene

MAX_BUDGET = 10**9


@dataclass(frozen=True)
class DrawRequest:
    """What a page asks for: more draws of the generators of a scene, so many at most; `stop` ends them."""

    scene: DashboardScene
    budget: Any
    stop: Event = field(default_factory=Event)

    @property
    def rev(self) -> int:
        return self.scene.rev


def draws_anew(generator: Generator) -> bool:
    """Whether more rows of a generator can be drawn."""
    if generator.is_by_client:
        sources = generator.source.sources
        return callable(sources) or all(draws_anew(source) for source in sources.values())
    return generator.answers


def draw_until_settled(
    federation: Federation, generators: Mapping[str, Generator], metric: Metric[Any], request: DrawRequest
) -> Iterator[dict[str, Any]]:
    """Yield what to show of a race of those generators that are functions, draw by draw.

    Where one of them has a distribution for each client, those race by intra, and others are left out.
    """
    scene = request.scene
    by_client = any(generator.is_by_client for generator in generators.values())
    racing = {n: g for n, g in generators.items() if draws_anew(g) and g.is_by_client == by_client}
    if len(racing) < 2:
        raise InvalidInput(
            "generators", "on show have fewer than two functions, of which more rows can be drawn", "Give functions"
        )
    by, budget = "intra" if by_client else scene.by, check_count(request.budget, "budget", maximum=MAX_BUDGET)
    begin: dict[str, Any] = {
        "metric": scene.metric,
        "by": by,
        "weights": list(scene.shares),
        "generators": list(racing),
    }
    begin |= {"left_out": [name for name in generators if name not in racing], "budget": budget}
    yield {**begin, "doing": "The clients are summarized"}
    running = RunningRace(federation.with_weights(scene.shares), racing, metric, by, budget=budget)
    spent = 0
    for draws in running.looks():
        spent += draws
        yield {**begin, **_looks_json(running.log, spent), "doing": "Python draws"}
        if request.stop.is_set():
            running.log.stop("interrupted", {})
            break
    result = running.result()
    end = {"reason": result.reason, "noise": result.clients_noise if result.winner else ""}
    yield {**begin, **_looks_json(running.log, spent), **end, "doing": ""}


def _looks_json(log: RaceLog, spent: int) -> dict[str, Any]:
    numbers = ("score", "low", "high")
    looks = [{**row, **{name: json_number(row[name]) for name in numbers}} for row in log.looks]
    return {"label": log.label, "spent": spent, "looks": looks}
