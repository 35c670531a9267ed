"""Where every way of scoring on a cluster begins, and ends: the generators sent, leaves for all clients, a `Cells`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import InvalidInput
from ..evaluation.cells import Cell, Cells
from ..evaluation.compute import Evaluation
from ..metrics.base import Metric
from .sources import Source
from .task_runner import Crew
from .tree_reduce import Kit, Node, Party, leaf, only

# Of the memory of a worker: what all rows may take for a metric that must see them at once.
SHARE = 0.2


def begun(
    evaluation: Evaluation, metrics: dict[str, Metric[Any]], sources: Sequence[Source], crew: Crew, most: float
) -> tuple[dict[str, list[Any]], Any, list[Any]]:
    """The generators' columns by metric, and futures of the `Kit` and of leaves that cover all clients.

    `most` : bytes of all clients' summaries beyond which these stay behind, see `Kit`
    """
    columns = {name: [evaluation.summarize_generator(g, name) for g in evaluation.generators] for name in metrics}
    summaries = {name: [column.summary for column in columns[name]] for name in metrics}
    kit = Kit(metrics, summaries, evaluation.federation.dim, len(evaluation.names), most)
    held = crew.submit(_kept, kit, about="sending the generators")
    about = f"scoring {', '.join(metrics)}"
    return columns, held, crew.batched(leaf, _parties(evaluation, metrics, sources), held, about=about)


def _kept(kit: Kit) -> Kit:
    """What every task needs, as a task, so that it can be made again where workers died with it."""
    return kit


def _parties(evaluation: Evaluation, metrics: Any, sources: Sequence[Source]) -> list[tuple[str, Sequence[Any], Party]]:
    found: list[tuple[str, Sequence[Any], Party]] = []
    for position, (source, client) in enumerate(zip(sources, evaluation.federation, strict=True)):
        is_here = not source.futures and source.function is None
        samples = {name: evaluation.states[name].samples[position] for name in metrics} if is_here else None
        weight = evaluation.weights[position]
        seen = None if is_here or client.rows is None else client.rows
        look = (None, None) if seen is None else (seen.shape, seen.checksum)
        party = Party(position, source.name, weight, samples, source.function, len(source.futures), *look)
        found.append((source.name, source.futures, party))
    return found


def check_fits(evaluation: Evaluation, metrics: Sequence[str], crew: Crew) -> None:
    """Refuse metrics that must see all rows at once where these are too many for a worker."""
    rows = [s.rows for s in evaluation.states[metrics[0]].samples if s.rows is not None]
    size = sum(8.0 * r.shape[0] * r.shape[1] for r in rows)
    if size > SHARE * crew.memory:
        seen = f"{', '.join(metrics)} of all clients needs all rows in one worker, {size / 1e9:.3g} GB beside others"
        raise InvalidInput("cluster", seen, f"Give workers {size / SHARE / 1e9:.3g} GB of memory each, or fewer rows")


def result_of(
    evaluation: Evaluation, name: str, columns: Sequence[Any], nodes: Sequence[Node], pooled: Sequence[Any]
) -> Cells:
    """The result of one metric, as `Evaluation.compute` makes it."""
    clients, summaries = evaluation.states[name], dict[int, Any]()
    rows: list[dict[int, Any]] = [{} for _ in columns]
    for node in nodes:
        summaries.update(zip(node.positions, node.summaries[name], strict=True))
        for row, found in zip(rows, node.terms[name], strict=True):
            row.update(zip(node.positions, found, strict=True))
    places = range(len(evaluation.names))
    clients.summaries = tuple(summaries[i] for i in places)
    weights, pools = evaluation.weights, dict[tuple[float, ...], Any]()
    if len(nodes) == 1 and (together := nodes[0].pooled[name]) is not None:
        pools[weights] = only(clients.summaries, weights) or together
    client_cells = [tuple(Cell.of(row[i]) for i in places) for row in rows]
    table = clients.cells(columns, weights, client_cells=client_cells)
    return replace(table, pools=pools, pooled={weights: tuple(pooled)})
