"""Start and end of scoring on a cluster: the generators sent, tasks for groups of clients, a `Cells`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import InvalidInput
from ..evaluation.cells import Cell, Cells
from ..evaluation.compute import Evaluation
from ..metrics.base import Metric
from .sources import ClusterSource
from .task_runner import TaskRunner
from .tree_reduce import ClientTask, Node, TaskContext, leaf_node, lone_refusal

# Of the memory of a worker: what all rows may take for a metric that must see them at once.
WORKER_MEMORY_SHARE = 0.2


def start_leaves(
    evaluation: Evaluation,
    metrics: dict[str, Metric[Any]],
    sources: Sequence[ClusterSource],
    runner: TaskRunner,
    most: float,
) -> tuple[dict[str, list[Any]], Any, list[Any]]:
    """Return the generators' columns by metric, and futures of the `TaskContext` and of leaves that cover all clients.

    `most` : bytes of all clients' summaries beyond which these stay behind, see `TaskContext`
    """
    columns = {name: [evaluation.summarize_generator(g, name) for g in evaluation.generators] for name in metrics}
    summaries = {name: [column.summary for column in columns[name]] for name in metrics}
    kit = TaskContext(metrics, summaries, evaluation.federation.dim, len(evaluation.names), most)
    held = runner.submit(_identity, kit, about="sending the generators")
    about = f"scoring {', '.join(metrics)}"
    return (
        columns,
        held,
        runner.submit_groups(leaf_node, _client_tasks(evaluation, metrics, sources), held, about=about),
    )


def _identity(kit: TaskContext) -> TaskContext:
    """Return the context, as a task, so that Dask can make it again where workers died with it."""
    return kit


def _client_tasks(
    evaluation: Evaluation, metrics: Any, sources: Sequence[ClusterSource]
) -> list[tuple[str, Sequence[Any], ClientTask]]:
    """Return of each client its name, the futures of its rows, and its `ClientTask`."""
    tasks: list[tuple[str, Sequence[Any], ClientTask]] = []
    for position, (source, client) in enumerate(zip(sources, evaluation.federation, strict=True)):
        is_here = not source.futures and source.function is None
        samples = {name: evaluation.states[name].samples[position] for name in metrics} if is_here else None
        weight = evaluation.weights[position]
        seen = None if is_here or client.rows is None else client.rows
        inspected = (None, None) if seen is None else (seen.shape, seen.checksum)
        task = ClientTask(position, source.name, weight, samples, source.function, len(source.futures), *inspected)
        tasks.append((source.name, source.futures, task))
    return tasks


def check_fits(evaluation: Evaluation, metrics: Sequence[str], runner: TaskRunner) -> None:
    """Raise InvalidInput where all rows are too many for one worker, for metrics that must see them at once."""
    rows = [s.rows for s in evaluation.states[metrics[0]].samples if s.rows is not None]
    size = sum(8.0 * r.shape[0] * r.shape[1] for r in rows)
    if size > WORKER_MEMORY_SHARE * runner.memory:
        seen = f"{', '.join(metrics)} of all clients needs all rows in one worker, {size / 1e9:.3g} GB plus other data"
        raise InvalidInput(
            "cluster", seen, f"Give workers {size / WORKER_MEMORY_SHARE / 1e9:.3g} GB of memory each, or fewer rows"
        )


def collect_result(
    evaluation: Evaluation, name: str, columns: Sequence[Any], nodes: Sequence[Node], pooled: Sequence[Any]
) -> Cells:
    """Return the result of one metric, as `Evaluation.compute` makes it."""
    clients, summaries = evaluation.states[name], dict[int, Any]()
    rows: list[dict[int, Any]] = [{} for _ in columns]
    for node in nodes:
        summaries.update(zip(node.positions, node.summaries[name], strict=True))
        for row, terms_row in zip(rows, node.terms[name], strict=True):
            row.update(zip(node.positions, terms_row, strict=True))
    places = range(len(evaluation.names))
    clients.summaries = tuple(summaries[i] for i in places)
    weights, pools = evaluation.weights, dict[tuple[float, ...], Any]()
    if len(nodes) == 1 and (together := nodes[0].pooled[name]) is not None:
        pools[weights] = lone_refusal(clients.summaries, weights) or together
    client_cells = [tuple(Cell.of(row[i]) for i in places) for row in rows]
    table = clients.cells(columns, weights, client_cells=client_cells)
    return replace(table, pools=pools, pooled={weights: tuple(pooled)})
