"""The flow of `evaluate` on a cluster: the same checks, draws and tables as on one machine, the work in tasks.

Flow: check → connect to the workers → inspect what is not here → `Evaluation` draws and settles as always → leaves
score some clients each and pool them, a tree pools the pools → one task a generator scores the pool → `Scores`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from functools import partial
from typing import Any

from ..arrays import memory
from ..errors import InvalidInput, check_choice
from ..evaluation.cells import Cells
from ..evaluation.compute import Evaluation
from ..evaluation.evaluate import check_any_score
from ..evaluation.samples import metric_list
from ..evaluation.scores import Scores
from ..evaluation.store import Store
from ..federation import as_generators
from ..metrics.base import Metric
from ..metrics.streaming import can_merge
from ..progress import progress_bar
from .client_tasks import Leaves, TaskCells, check_fits
from .connection import check_installed, connect
from .first_look import federation_of
from .pairs import has_room, score_by_pairs
from .sources import ClusterSource
from .task_runner import TaskRunner
from .tree_reduce import merge_nodes, score_pool

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
    store: Any = None,
) -> Scores:
    """`nm.evaluate` with its work on a cluster, see there."""
    check_installed()
    if uncertainty is not None:
        seen = "is not available on a cluster, because the rows to resample are on different workers"
        raise InvalidInput("uncertainty", seen, "Leave out uncertainty or cluster")
    if not isinstance(progress, bool):
        check_choice(progress, ("auto",), "progress")
    metric_names, named_generators = metric_list(metrics), as_generators(generators, may_be_by_client=True)
    kept = None if store is None else Store(store)
    with connect(cluster) as runner, nullcontext() if kept is None else closing(kept):
        fingerprints = None if kept is None else kept.fingerprints
        full_federation, sources = federation_of(federation, runner, fingerprints)
        if full_federation.is_conditional:
            seen = "does not yet score clients with a condition, because their answers are computed here"
            raise InvalidInput("cluster", seen, "Leave cluster out, or the conditions")
        evaluation = Evaluation(
            full_federation, metric_names, samples=samples, seed=seed, progress=progress, store=kept
        )
        evaluation.take(named_generators)
        clients, metrics_, count = len(evaluation.names), len(evaluation.metrics), len(evaluation.generators)
        with progress_bar(progress, metrics_ * (clients * (1 + count) + count)) as shown:
            if runner.client.dashboard_link and cluster != "local":
                shown.set_description(runner.client.dashboard_link, refresh=False)
            runner.on_rows = lambda rows: shown.set_postfix_str(f"{rows:,} rows read")
            results = _all_results(evaluation, sources, runner, shown.update)
    check_any_score(results)
    return evaluation.to_scores(results)


def _all_results(
    evaluation: Evaluation,
    sources: Sequence[ClusterSource],
    runner: TaskRunner,
    tell: Callable[[int], Any],
) -> list[Cells]:
    """Return the results of all metrics, in their order."""
    dim, results_by_name = evaluation.federation.dim, {}
    refused_names = {name for name, clients in evaluation.states.items() if clients.refusal}
    metrics = {name: clients.metric for name, clients in evaluation.states.items() if name not in refused_names}
    in_tree = {name: metric for name, metric in metrics.items() if metric.pool_operator(dim)}
    has_parts = any(len(source.parts) > 1 for source in sources)
    split = {name: metric for name, metric in in_tree.items() if has_parts and can_merge(metric, dim)}
    unsplit = {name: metric for name, metric in in_tree.items() if name not in split}
    by_pairs = {n: m for n, m in metrics.items() if n not in in_tree and m.pairwise_pool(dim) and has_room(evaluation)}
    whole = {name: metric for name, metric in metrics.items() if name not in in_tree and name not in by_pairs}
    for chosen, score in ((split, _score), (unsplit, _score), (by_pairs, score_by_pairs), (whole, _score)):
        if chosen:
            results_by_name.update(score(evaluation, chosen, sources, runner, tell))
    log.info("%d tasks", runner.tasks)
    results = []
    for name, clients in evaluation.states.items():
        if name in refused_names:
            states = [evaluation.summarize_generator(g, name) for g in evaluation.generators]
            result = clients.cells(states, evaluation.weights)
            results_by_name[name] = result.with_scores(lambda: None, evaluation.kept_cells(name, states))
        results.append(results_by_name[name])
    return results


def _score(
    evaluation: Evaluation,
    metrics: dict[str, Metric[Any]],
    sources: Sequence[ClusterSource],
    runner: TaskRunner,
    tell: Callable[[int], Any],
) -> dict[str, Cells]:
    """Return the results by name of metrics that all pool in a tree, or none of them does."""
    weights = evaluation.weights
    in_tree = next(iter(metrics.values())).pool_operator(evaluation.federation.dim) is not None
    if not in_tree:
        check_fits(evaluation, list(metrics), runner)
    leaves = Leaves(evaluation, metrics, sources, runner, memory.block_bytes if in_tree else math.inf)
    roots = leaves.futures
    if in_tree:
        roots = [runner.reduce(merge_nodes, roots, leaves.context, about="pooling")[0]]
    finals = {}
    for name, cells in leaves.cells.items():
        tell(len(evaluation.generators) - len(cells.missing_pools))
        for g in cells.missing_pools:
            about = f"scoring all under {name}"
            future = runner.submit(score_pool, leaves.context, name, weights, g, *roots, about=about)
            finals[future] = partial(_keep_pooled, cells, g, future, runner, tell)
    leaves.wait(finals, roots, tell)
    nodes = [node for _, node in runner.results(roots)]
    return {name: leaves.result(name, nodes, is_pooled=in_tree) for name in metrics}


def _keep_pooled(cells: TaskCells, g: int, future: Any, runner: TaskRunner, tell: Callable[[int], Any]) -> None:
    """Keep the score of all clients pooled with one generator, which a task has computed."""
    (cell,) = runner.results([future])
    cells.keep(g, None, cell)
    tell(1)
