"""The pure functions that tasks run: clients to a `Node` next to their data, and nodes to one node, level by level.

    leaf_node    rows → summaries → terms with every generator, and the pool of these clients
    merge_nodes  nodes → one node: pools of pools

Both are pure. A summary stays behind where all of them would be too large to send; a pool travels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

from ..errors import InvalidInput, refusal_of
from ..evaluation.cells import Cell, RemoteSummary, missing_terms, part_of, pool, pooled_cell, summarize
from ..evaluation.samples import Reading
from ..metrics.base import Metric, Sample, Terms, terms_of
from .sources import checksum_of, client_of


@dataclass(frozen=True)
class TaskContext:
    """What every task of an evaluation needs: metrics, and the generators' summaries under each.

    `most` : bytes that the summaries of all `clients` may have together to be sent
    """

    metrics: dict[str, Metric[Any]]
    generators: dict[str, list[Any]]
    answers: dict[str, list[tuple[Any, ...] | None]]
    dim: int
    clients: int
    most: float


class ClientTask(NamedTuple):
    """One client in a task: its place, weight and rows' source; shape and checksum of its rows at a first look.

    `missing` : by metric, the places of the generators whose scores with it are not known; G + g for the score with
        what generator g of G made for this client
    """

    position: int
    name: str
    weight: float
    missing: dict[str, list[int]]
    samples: dict[str, Sample] | None
    function: Callable[[], Any] | None
    parts: int
    shape: tuple[int, int] | None = None
    checksum: int | None = None


@dataclass(frozen=True)
class Node:
    """Terms, summaries and pool of some clients.

    Attributes
    ----------
    positions, weight : whose they are, and the sum of their weights
    terms : by metric, one list a generator, one entry a client, None where they were known
    summaries : by metric, or `RemoteSummary`
    pooled : by metric, or why there is none, or None where their weights are 0 or the metric has no tree
    """

    positions: list[int]
    weight: float
    terms: dict[str, list[list[Terms | None]]] = field(default_factory=dict)
    summaries: dict[str, list[Any]] = field(default_factory=dict)
    pooled: dict[str, Any] = field(default_factory=dict)


def leaf_node(parties: Sequence[ClientTask], kit: TaskContext, *data: Any) -> tuple[float, Node]:
    """Return processor seconds of the last client, and the node of all; `data` are the futures' values in order."""
    rest = list(data)
    summaries: dict[str, list[Any]] = {name: [] for name in kit.metrics}
    for party in parties:
        start = time.thread_time()
        client_summaries = _client_summaries(party, kit, [rest.pop(0) for _ in range(party.parts)])
        for name, summary in client_summaries.items():
            summaries[name].append(summary)
    return time.thread_time() - start, node_of(parties, summaries, kit)


def node_of(parties: Sequence[ClientTask], summaries: Mapping[str, Sequence[Any]], kit: TaskContext) -> Node:
    """Return the node of clients by their summaries under each metric."""
    weights = [party.weight for party in parties]
    terms, pooled = {}, {}
    for name, metric in kit.metrics.items():
        terms[name] = _terms(metric, summaries[name], kit.generators[name], [party.missing[name] for party in parties])
        terms[name] += _own_terms(metric, summaries[name], kit.answers[name], parties)
        pooled[name] = _pool(metric, kit.dim, summaries[name], weights)
    sendable = {name: _sendable(metric, summaries[name], kit) for name, metric in kit.metrics.items()}
    return Node([p.position for p in parties], sum(weights), terms, sendable, pooled)


def _terms(
    metric: Metric[Any], summaries: Sequence[Any], generators: Sequence[Any], missing: Sequence[Sequence[int]]
) -> list[list[Terms | None]]:
    """Return the terms of each generator with the clients that miss them, None with the others."""
    rows: list[list[Terms | None]] = [[None] * len(summaries) for _ in generators]
    places = [[i for i, own in enumerate(missing) if g in own] for g in range(len(generators))]
    for g, pairs in missing_terms(metric, summaries, generators, places):
        for i, terms in zip(places[g], pairs, strict=True):
            rows[g][i] = terms
    return rows


def _own_terms(
    metric: Metric[Any],
    summaries: Sequence[Any],
    answers: Sequence[tuple[Any, ...] | None],
    parties: Sequence[ClientTask],
) -> list[list[Terms | None]]:
    """Return, a list a generator, the terms of the clients with what it made for them, where they are missing."""
    return [
        [
            terms_of(metric, summary, own[party.position]) if own and g in party.missing[metric.name] else None
            for summary, party in zip(summaries, parties, strict=True)
        ]
        for g, own in enumerate(answers, len(answers))
    ]


def terms_only(leaf: tuple[float, Node]) -> Node:
    """Return a leaf without its summaries: small, to be kept before the other leaves are ready."""
    return Node(leaf[1].positions, leaf[1].weight, leaf[1].terms)


def _client_summaries(party: ClientTask, kit: TaskContext, data: Sequence[Any]) -> dict[str, Any]:
    """Return one client's summary under each metric; batches go by where all metrics read them once."""
    who, samples = f"client {party.name!r}", party.samples
    if samples is None:
        client = client_of(party.name, party.function, data)
        if client.stream is not None and all(
            metric.streaming_mode(client.dim) == "once" for metric in kit.metrics.values()
        ):
            reading, sample = Reading(client.stream, who, list(kit.metrics.values())), Sample(stream=client.stream)
            summaries = {name: reading.summary(metric, sample) for name, metric in kit.metrics.items()}
            check_same(party, (client.size, client.dim), checksum_of(client))
            return summaries
        sample = Sample(rows=client.rows)
        check_same(party, (client.size, client.dim), checksum_of(client))
        samples = dict.fromkeys(kit.metrics, sample)
    return {name: summarize(metric, samples[name], who, is_client=True) for name, metric in kit.metrics.items()}


def check_same(party: ClientTask, shape: tuple[int, int], checksum: int | None) -> None:
    """Raise InvalidInput for rows unlike those of the first look: weights and other metrics are of these."""
    if party.shape is None:
        return
    if shape != party.shape:
        seen = f"gave rows of shape {shape}, and of shape {party.shape} at the first look"
    elif checksum != party.checksum:
        seen = f"gave {shape[0]:,} other rows than at the first look"
    else:
        return
    raise InvalidInput(
        f"client {party.name!r}", seen, "Give a source that makes the same rows each time, for example with a seed"
    )


def merge_nodes(kit: TaskContext, *results: tuple[float, Node]) -> tuple[float, Node]:
    """Return one node of several."""
    start, nodes = time.thread_time(), [node for _, node in results]
    terms, summaries, pooled = {}, {}, {}
    for name, metric in kit.metrics.items():
        rows = zip(*(node.terms[name] for node in nodes), strict=True)
        terms[name] = [[term for part in row for term in part] for row in rows]
        summaries[name] = [summary for node in nodes for summary in node.summaries[name]]
        pools = [node.pooled[name] for node in nodes]
        pooled[name] = _pool(metric, kit.dim, pools, [0.0 if p is None else n.weight for p, n in zip(pools, nodes)])
    positions = [position for node in nodes for position in node.positions]
    return time.thread_time() - start, Node(positions, sum(n.weight for n in nodes), terms, summaries, pooled)


def _pool(metric: Metric[Any], dim: int, summaries: Sequence[Any], weights: Sequence[float]) -> Any:
    """Return the pool of summaries with a weight, whose sum need not be 1; or the refusal why there is none."""
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


def _sendable(metric: Metric[Any], summaries: Sequence[Any], kit: TaskContext) -> list[Any]:
    """Return the summaries, or stand-ins where those of all clients together would be too many bytes."""
    sizes = [0 if refusal_of(s) else int(getattr(s, "nbytes", 0)) for s in summaries]
    if sum(sizes) / len(sizes) * kit.clients * len(kit.metrics) <= kit.most:
        return list(summaries)
    pairs = zip(summaries, sizes, strict=True)
    return [s if refusal_of(s) else RemoteSummary(metric.label, size, getattr(s, "count", None)) for s, size in pairs]


def score_pool(
    kit: TaskContext, name: str, weights: Sequence[float], generator: int, *results: tuple[float, Node]
) -> Cell:
    """Return the score of all clients pooled with one generator, with the gap that numbers of rows alone would make."""
    metric, nodes = kit.metrics[name], [node for _, node in results]
    places = [position for node in nodes for position in node.positions]
    every = [summary for node in nodes for summary in node.summaries[name]]
    summaries = [summary for _, summary in sorted(zip(places, every, strict=True), key=lambda pair: pair[0])]
    together = nodes[0].pooled[name] if len(nodes) == 1 else None
    try:
        together = (
            pool(metric, summaries, weights) if together is None else lone_refusal(summaries, weights) or together
        )
    except InvalidInput as error:
        together = error
    counted_summaries = [SimpleNamespace(count=s.count) if isinstance(s, RemoteSummary) else s for s in summaries]
    return pooled_cell(metric, counted_summaries, weights, together, kit.generators[name][generator])


def lone_refusal(summaries: Sequence[Any], weights: Sequence[float]) -> InvalidInput | None:
    """Return why a single client of few rows makes no pool, or None; see `cells.pool`."""
    weighted = [summary for summary, weight in zip(summaries, weights, strict=True) if weight]
    return refusal_of(weighted[0]) if len(weighted) == 1 and not isinstance(weighted[0], RemoteSummary) else None
