"""evaluate() on a cluster: the same checks, draws and tables as on one machine; the work in tasks.

Flow: check → hire the workers → look at what is not here → `Evaluation` draws and settles as always → leaves score some
clients each and pool them, a tree pools the pools → one task a generator scores the pool → `Scores`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..arrays import memory
from ..errors import InvalidInput, check_choice
from ..evaluation.cells import Cells
from ..evaluation.compute import Evaluation
from ..evaluation.evaluate import check_any_score, progress_bar
from ..evaluation.samples import metric_list
from ..evaluation.scores import Scores
from ..federation import as_generators
from ..metrics.base import Metric
from .client_tasks import begun, check_fits, result_of
from .connection import check_installed, hired
from .pairs import has_room, scored_by_pairs
from .sources import Source, parties_of
from .task_runner import Crew
from .tree_reduce import FAN_IN, against_all, joined

log = logging.getLogger("nbmetrics.cluster")


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
    wanted, made = metric_list(metrics), as_generators(generators)
    with hired(cluster) as crew:
        given, sources = parties_of(federation, crew)
        if given.is_conditional:
            seen = "does not score clients with a condition yet, whose answers are made here"
            raise InvalidInput("cluster", seen, "Leave cluster out, or the conditions")
        evaluation = Evaluation(given, wanted, samples=samples, seed=seed, progress=progress)
        evaluation.take(made)
        clients, metrics_, count = len(evaluation.names), len(evaluation.metrics), len(evaluation.generators)
        with progress_bar(progress, metrics_ * (clients * (1 + count) + count)) as shown:
            if crew.client.dashboard_link and cluster != "local":
                shown.set_description(crew.client.dashboard_link, refresh=False)
            results = _filled(evaluation, sources, crew, shown.update)
    check_any_score(results)
    return evaluation.to_scores(results)


def _filled(evaluation: Evaluation, sources: Sequence[Source], crew: Crew, tell: Callable[[int], Any]) -> list[Cells]:
    """The results of all metrics, in their order."""
    dim, found = evaluation.federation.dim, {}
    refused = {name for name, clients in evaluation.states.items() if clients.refusal}
    metrics = {name: clients.metric for name, clients in evaluation.states.items() if name not in refused}
    in_tree = {name: metric for name, metric in metrics.items() if metric.pool_operator(dim)}
    by_pairs = {n: m for n, m in metrics.items() if n not in in_tree and m.pairwise_pool(dim) and has_room(evaluation)}
    whole = {name: metric for name, metric in metrics.items() if name not in in_tree and name not in by_pairs}
    for some, score in ((in_tree, _scored), (by_pairs, scored_by_pairs), (whole, _scored)):
        if some:
            found.update(score(evaluation, some, sources, crew, tell))
    log.info("%d tasks", crew.tasks)
    results = []
    for name, clients in evaluation.states.items():
        if name in refused:
            states = [evaluation.summarize_generator(g, name) for g in evaluation.generators]
            result = clients.cells(states, evaluation.weights)
            found[name] = result.with_client_cells(lambda: None)
        results.append(found[name])
    return results


def _scored(
    evaluation: Evaluation,
    metrics: dict[str, Metric[Any]],
    sources: Sequence[Source],
    crew: Crew,
    tell: Callable[[int], Any],
) -> dict[str, Cells]:
    """The results of metrics that all pool in a tree, or none of them does."""
    weights, count = evaluation.weights, len(evaluation.generators)
    in_tree = next(iter(metrics.values())).pool_operator(evaluation.federation.dim) is not None
    if not in_tree:
        check_fits(evaluation, list(metrics), crew)
    columns, held, leaves = begun(evaluation, metrics, sources, crew, memory.block_bytes if in_tree else math.inf)
    roots = _tree(leaves, held, crew) if in_tree else leaves
    steps = len(metrics) * (1 + count)
    sizes = {future.key: len(crew.names_of(future)) for future in leaves}
    finals = {
        (name, g): crew.submit(against_all, held, name, weights, g, *roots, about=f"scoring all under {name}")
        for name in metrics
        for g in range(count)
    }
    for future in crew.finished([*leaves, *finals.values()]):
        tell(sizes[future.key] * steps if future.key in sizes else 1)
        if in_tree and future.key in sizes and future is not roots[0]:
            future.release()  # its worker keeps it until it is pooled, and no longer
    nodes = [node for _, node in crew.results(roots)]
    pooled = dict(zip(finals, crew.results(list(finals.values())), strict=True))
    return {
        name: result_of(evaluation, name, columns[name], nodes, [pooled[name, g] for g in range(count)])
        for name in metrics
    }


def _tree(nodes: Sequence[Any], held: Any, crew: Crew) -> list[Any]:
    """Futures of nodes to that of one, `FAN_IN` to one at each level."""
    depth = 0
    while len(nodes) > 1:
        groups = [nodes[start : start + FAN_IN] for start in range(0, len(nodes), FAN_IN)]
        depth += 1  # pooling comes before leaves that wait, so that few of them are held
        nodes = [
            g[0] if len(g) == 1 else crew.submit(joined, held, *g, about="pooling", priority=depth) for g in groups
        ]
    log.info("a tree of %d levels", depth)
    return list(nodes)
