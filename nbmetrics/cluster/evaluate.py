"""evaluate() on a cluster: the same checks, draws and tables as on one machine; the work in tasks.

Flow: check → hire the workers → look at what is not here → `Filling` draws and settles as always → leaves score some
clients each and pool them, a tree pools the pools → one task a generator scores the pool → `Scores`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..arrays import memory
from ..errors import InvalidInput, check_choice
from ..evaluation.evaluate import bar, check_any
from ..evaluation.filling import Filling
from ..evaluation.result import Result, all_terms
from ..evaluation.scores import Scores
from ..evaluation.wanted import listed
from ..federation import as_generators
from ..metrics.base import Metric
from .crew import Crew
from .hire import check_installed, hired
from .sources import Source, parties_of
from .tree import FAN_IN, Kit, Node, Party, against_all, joined, leaf, only

log = logging.getLogger("nbmetrics.cluster")
# Of the memory of a worker: what all rows may take for a metric that must see them at once.
SHARE = 0.2


def evaluate(
    federation: Any,
    generators: Any,
    metrics: Any,
    *,
    samples: int | None,
    seed: int,
    uncertainty: Any,
    progress: str | bool,
    cluster: Any,
) -> Scores:
    """`nm.evaluate` with its work on a cluster, see there."""
    check_installed()
    if uncertainty is not None:
        seen = "is not computed on a cluster, where the rows it resamples are apart"
        raise InvalidInput("uncertainty", seen, "Leave it or cluster out")
    if not isinstance(progress, bool):
        check_choice(progress, ("auto",), "progress")
    wanted, made = listed(metrics), as_generators(generators)
    with hired(cluster) as crew:
        given, sources = parties_of(federation, crew)
        if given.is_conditional:
            raise InvalidInput("cluster", "does not score clients with a condition", "Leave it out")
        filling = Filling(given, wanted, samples=samples, seed=seed, progress=progress)
        filling.add_all(made)
        clients, metrics_, count = len(filling.names), len(filling.metrics), len(filling.generators)
        with bar(progress, metrics_ * (clients * (1 + count) + count)) as shown:
            if crew.client.dashboard_link and cluster != "local":
                shown.set_description(crew.client.dashboard_link, refresh=False)
            results = _filled(filling, sources, crew, shown.update)
    check_any(results, filling.weights)
    return filling.scored(results)


def _filled(filling: Filling, sources: Sequence[Source], crew: Crew, tell: Callable[[int], Any]) -> list[Result]:
    """The results of all metrics, in their order."""
    dim, found = filling.federation.dim, {}
    refused = {name for name, clients in filling.clients.items() if clients.refusal}
    metrics = {name: clients.metric for name, clients in filling.clients.items() if name not in refused}
    in_tree = {name: metric for name, metric in metrics.items() if metric.merger(dim)}
    for some in (in_tree, {name: metric for name, metric in metrics.items() if name not in in_tree}):
        if some:
            found.update(_scored(filling, some, sources, crew, tell))
    log.info("%d tasks", crew.tasks)
    results = []
    for name, clients in filling.clients.items():
        if name in refused:
            result = clients.result([filling.summarized(g, name) for g in filling.generators], None)
            terms = tuple(tuple(row) for row in all_terms(result))
            found[name] = replace(result, terms=terms)
        results.append(found[name])
    return results


def _scored(
    filling: Filling, metrics: dict[str, Metric[Any]], sources: Sequence[Source], crew: Crew, tell: Callable[[int], Any]
) -> dict[str, Result]:
    """The results of metrics that all pool in a tree, or none of them does."""
    weights, count = filling.weights, len(filling.generators)
    in_tree = next(iter(metrics.values())).merger(filling.federation.dim) is not None
    if not in_tree:
        _check_fits(filling, list(metrics), crew)
    columns = {name: [filling.summarized(g, name) for g in filling.generators] for name in metrics}
    summaries = {name: [column.summary for column in columns[name]] for name in metrics}
    most = memory.block_bytes if in_tree else float("inf")
    kit = Kit(metrics, summaries, filling.federation.dim, len(weights), most)
    held = crew.submit(_kept, kit, about="sending the generators")
    leaves = crew.batched(leaf, _parties(filling, metrics, sources), held, about=f"scoring {', '.join(metrics)}")
    roots = _tree(leaves, held, crew) if in_tree else leaves
    steps = len(metrics) * (1 + count)
    sizes = {future.key: crew.size_of(future) for future in leaves}
    finals = {
        (name, g): crew.submit(against_all, held, name, weights, g, *roots, about=f"scoring all under {name}")
        for name in metrics
        for g in range(count)
    }
    for future in crew.finished([*leaves, *finals.values()]):
        tell(sizes[future.key] * steps if future.key in sizes else 1)
    nodes = [node for _, node in crew.results(roots)]
    pooled = dict(zip(finals, crew.results(list(finals.values())), strict=True))
    return {
        name: _result(filling, name, columns[name], nodes, [pooled[name, g] for g in range(count)]) for name in metrics
    }


def _kept(kit: Kit) -> Kit:
    """What every task needs, as a task, so that it can be made again where workers died with it."""
    return kit


def _parties(filling: Filling, metrics: Any, sources: Sequence[Source]) -> list[tuple[str, Sequence[Any], Party]]:
    found: list[tuple[str, Sequence[Any], Party]] = []
    for position, source in enumerate(sources):
        is_here = not source.futures and source.function is None
        samples = {name: filling.clients[name].samples[position] for name in metrics} if is_here else None
        weight = filling.weights[position]
        party = Party(position, source.name, weight, samples, source.function, len(source.futures))
        found.append((source.name, source.futures, party))
    return found


def _tree(nodes: Sequence[Any], held: Any, crew: Crew) -> list[Any]:
    """Futures of nodes to that of one, `FAN_IN` to one at each level."""
    depth = 0
    while len(nodes) > 1:
        groups = [nodes[start : start + FAN_IN] for start in range(0, len(nodes), FAN_IN)]
        nodes = [g[0] if len(g) == 1 else crew.submit(joined, held, *g, about="pooling") for g in groups]
        depth += 1
    log.info("a tree of %d levels", depth)
    return list(nodes)


def _check_fits(filling: Filling, metrics: Sequence[str], crew: Crew) -> None:
    """Refuse metrics that must see all rows at once where these are too many for a worker."""
    rows = [s.rows for s in filling.clients[metrics[0]].samples if s.rows is not None]
    size = sum(8.0 * r.shape[0] * r.shape[1] for r in rows)
    if size > SHARE * crew.memory:
        seen = f"{', '.join(metrics)} of all clients needs all rows in one worker, {size / 1e9:.3g} GB beside others"
        raise InvalidInput("cluster", seen, f"Give workers {size / SHARE / 1e9:.3g} GB of memory each, or fewer rows")


def _result(
    filling: Filling, name: str, columns: Sequence[Any], nodes: Sequence[Node], pooled: Sequence[Any]
) -> Result:
    """The result of one metric, as `Filling.fill` makes it."""
    clients, summaries = filling.clients[name], dict[int, Any]()
    rows: list[dict[int, Any]] = [{} for _ in columns]
    for node in nodes:
        summaries.update(zip(node.positions, node.summaries[name], strict=True))
        for row, found in zip(rows, node.terms[name], strict=True):
            row.update(zip(node.positions, found, strict=True))
    places = range(len(filling.names))
    clients.summaries = tuple(summaries[i] for i in places)
    attempts: dict[Any, Any] = {("all", filling.weights): list(pooled)}
    if len(nodes) == 1 and (together := nodes[0].pooled[name]) is not None:
        attempts["pool", filling.weights] = only(clients.summaries, filling.weights) or together
    terms = tuple(tuple(row[i] for i in places) for row in rows)
    return replace(clients.result(columns, None), terms=terms, attempts=attempts)
