"""What tasks do: some clients to a `Node` next to their data, and nodes to one node, level by level.

    leaf    rows → summaries → terms with every generator, and the pool of these clients
    joined  nodes → one node: pools of pools

Both are pure. A summary stays behind where all of them would be too large to send; a pool travels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

from ..errors import InvalidInput, refusal_of
from ..evaluation.cells import Cell, RemoteSummary, part_of, pool, pooled_cell, summarize, terms_with_whole
from ..evaluation.samples import Reading
from ..federation import Client
from ..metrics.base import Metric, Sample, Terms
from .sources import checksum_of, client_of

FAN_IN = 8


@dataclass(frozen=True)
class Kit:
    """What every task of an evaluation needs: settled metrics, and the generators' summaries under each.

    `most` : bytes that the summaries of all `clients` may have together to be sent
    """

    metrics: dict[str, Metric[Any]]
    generators: dict[str, list[Any]]
    dim: int
    clients: int
    most: float


class Party(NamedTuple):
    """One client in a task: its place, weight, what it is made of; shape and checksum of its rows at a first look."""

    position: int
    name: str
    weight: float
    samples: dict[str, Sample] | None
    function: Callable[[], Any] | None
    parts: int
    shape: tuple[int, int] | None = None
    checksum: int | None = None


@dataclass(frozen=True)
class Node:
    """What is known of some clients: of each, and of all of them pooled.

    Attributes
    ----------
    positions, weight : whose they are, and the sum of their weights
    terms : by metric, one list a generator, one entry a client
    summaries : by metric, or `RemoteSummary`
    pooled : by metric, or why there is none, or None where their weights are 0 or the metric has no tree
    """

    positions: list[int]
    weight: float
    terms: dict[str, list[list[Terms]]] = field(default_factory=dict)
    summaries: dict[str, list[Any]] = field(default_factory=dict)
    pooled: dict[str, Any] = field(default_factory=dict)


def leaf(parties: Sequence[Party], kit: Kit, *data: Any) -> tuple[float, Node]:
    """Processor seconds of the last, and the node of some clients; `data` are what futures held, client by client."""
    rest = list(data)
    summaries: dict[str, list[Any]] = {name: [] for name in kit.metrics}
    for party in parties:
        start = time.thread_time()
        found = _summarized(party, kit, [rest.pop(0) for _ in range(party.parts)])
        for name, summary in found.items():
            summaries[name].append(summary)
    weights = [party.weight for party in parties]
    terms, pooled = {}, {}
    for name, metric in kit.metrics.items():
        terms[name] = [list(row) for row in terms_with_whole(metric, summaries[name], kit.generators[name])]
        pooled[name] = _pooled(metric, kit.dim, summaries[name], weights)
    kept = {name: _sent(metric, summaries[name], kit) for name, metric in kit.metrics.items()}
    return time.thread_time() - start, Node([p.position for p in parties], sum(weights), terms, kept, pooled)


def _summarized(party: Party, kit: Kit, data: Sequence[Any]) -> dict[str, Any]:
    """What one client reveals under each metric; batches go by where all metrics read them once."""
    who, samples = f"client {party.name!r}", party.samples
    if samples is None:
        made = client_of(party.name, party.function, data)
        if made.stream is not None and all(
            metric.streaming_mode(made.dim) == "once" for metric in kit.metrics.values()
        ):
            reading, sample = Reading(made.stream, who, list(kit.metrics.values())), Sample(stream=made.stream)
            found = {name: reading.summary(metric, sample) for name, metric in kit.metrics.items()}
            _check_same(party, made)
            return found
        sample = Sample(rows=made.rows)
        _check_same(party, made)
        samples = dict.fromkeys(kit.metrics, sample)
    return {name: summarize(metric, samples[name], who, is_client=True) for name, metric in kit.metrics.items()}


def _check_same(party: Party, made: Client) -> None:
    """Refuse rows unlike those of the first look: weights and other metrics are of these."""
    if party.shape is None:
        return
    shape = made.size, made.dim
    if shape != party.shape:
        seen = f"gave rows of shape {shape}, and of shape {party.shape} at a first look"
    elif checksum_of(made) != party.checksum:
        seen = f"gave {made.size:,} other rows than at a first look"
    else:
        return
    raise InvalidInput(f"client {party.name!r}", seen, "Give what makes the same rows each time, such as by a seed")


def joined(kit: Kit, *found: tuple[float, Node]) -> tuple[float, Node]:
    """One node of several."""
    start, nodes = time.thread_time(), [node for _, node in found]
    terms, summaries, pooled = {}, {}, {}
    for name, metric in kit.metrics.items():
        rows = zip(*(node.terms[name] for node in nodes), strict=True)
        terms[name] = [[term for part in row for term in part] for row in rows]
        summaries[name] = [summary for node in nodes for summary in node.summaries[name]]
        pools = [node.pooled[name] for node in nodes]
        pooled[name] = _pooled(metric, kit.dim, pools, [0.0 if p is None else n.weight for p, n in zip(pools, nodes)])
    positions = [position for node in nodes for position in node.positions]
    return time.thread_time() - start, Node(positions, sum(n.weight for n in nodes), terms, summaries, pooled)


def _pooled(metric: Metric[Any], dim: int, summaries: Sequence[Any], weights: Sequence[float]) -> Any:
    """The pool of those with a weight, whose sum need not be 1; or why there is none."""
    merge = metric.pool_operator(dim)
    parts = [(part_of(summary), weight) for summary, weight in zip(summaries, weights, strict=True) if weight]
    if merge is None or not parts:
        return None
    if refusal := refusal_of(*(part for part, _ in parts)):
        return refusal
    total = sum(weight for _, weight in parts)
    try:
        return merge([part for part, _ in parts], [weight / total for _, weight in parts])
    except InvalidInput as error:
        return error


def _sent(metric: Metric[Any], summaries: Sequence[Any], kit: Kit) -> list[Any]:
    """The summaries, or what stays of them where all clients together would be too many bytes."""
    sizes = [0 if refusal_of(s) else int(getattr(s, "nbytes", 0)) for s in summaries]
    if sum(sizes) / len(sizes) * kit.clients * len(kit.metrics) <= kit.most:
        return list(summaries)
    pairs = zip(summaries, sizes, strict=True)
    return [s if refusal_of(s) else RemoteSummary(metric.label, size, getattr(s, "count", None)) for s, size in pairs]


def against_all(kit: Kit, name: str, weights: Sequence[float], generator: int, *found: tuple[float, Node]) -> Cell:
    """The score of all clients pooled with one generator, and the gap that their numbers of rows would make."""
    metric, nodes = kit.metrics[name], [node for _, node in found]
    places = [position for node in nodes for position in node.positions]
    every = [summary for node in nodes for summary in node.summaries[name]]
    summaries = [summary for _, summary in sorted(zip(places, every, strict=True), key=lambda pair: pair[0])]
    together = nodes[0].pooled[name] if len(nodes) == 1 else None
    try:
        together = pool(metric, summaries, weights) if together is None else only(summaries, weights) or together
    except InvalidInput as error:
        together = error
    known = [SimpleNamespace(count=s.count) if isinstance(s, RemoteSummary) else s for s in summaries]
    return pooled_cell(metric, known, weights, together, kit.generators[name][generator])


def only(summaries: Sequence[Any], weights: Sequence[float]) -> InvalidInput | None:
    """Why a lone client of few rows makes no pool, see `cells.pool`."""
    counted = [summary for summary, weight in zip(summaries, weights, strict=True) if weight]
    return refusal_of(counted[0]) if len(counted) == 1 and not isinstance(counted[0], RemoteSummary) else None
