"""Metrics whose pool follows from numbers of every two clients, such as KID with any kernel: blocks of pairs as tasks.

    leaf_node     rows → summaries, which stay on their worker → terms with every generator
    cross_block   the leaves of two stacks of clients → numbers of every two clients, one of each stack
    without_rows  a leaf → its node without the rows

The table of these numbers comes here, and gives *all* under any weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ..arrays import memory
from ..errors import InvalidInput, refusal_of
from ..evaluation.cells import Cells, PoolOnlyClient, part_of
from ..evaluation.compute import Evaluation
from ..metrics.base import Metric
from .client_tasks import Leaves
from .sources import ClusterSource
from .task_runner import MIN_GROUPS_PER_THREAD, TaskRunner
from .tree_reduce import Node, TaskContext

# Of the memory of a worker: the rows of a stack of clients, and of two of them, beside what they are computed with.
STACK_MEMORY_SHARE, PAIR_MEMORY_SHARE = 0.05, 0.4


def has_room(evaluation: Evaluation) -> bool:
    """Whether a table of every two clients is no larger than a block of memory."""
    return 8.0 * len(evaluation.names) ** 2 <= memory.block_bytes


def score_by_pairs(
    evaluation: Evaluation,
    metrics: dict[str, Metric[Any]],
    sources: Sequence[ClusterSource],
    runner: TaskRunner,
    tell: Callable[[int], Any],
) -> dict[str, Cells]:
    """Return the results by name of metrics whose pool follows from numbers of every two clients."""
    sizes = _client_bytes(evaluation, next(iter(metrics)), runner)
    leaves = Leaves(evaluation, metrics, sources, runner, math.inf)
    held, stacks = leaves.context, _stacks(leaves.futures, sizes, runner)
    about = f"pairs of clients under {', '.join(metrics)}"
    light_leaves = [
        runner.submit(without_rows, held, future, about=about, priority=1) for stack in stacks for future in stack
    ]
    places = list(combinations_with_replacement(range(len(stacks)), 2))
    blocks = [
        runner.submit(cross_block, held, len(stacks[a]), *stacks[a], *(stacks[b] if b > a else ()), about=about)
        for a, b in places
    ]
    leaves.wait(dict.fromkeys([*light_leaves, *blocks], _nothing), leaves.futures, tell)
    blocks_by_place = dict(zip(places, runner.results(blocks), strict=True))
    nodes, squares = zip(*runner.results(light_leaves), strict=True)
    results = {}
    for name, metric in metrics.items():
        pairs = metric.pairwise_pool(evaluation.federation.dim)
        table = [[_block(blocks_by_place, a, b, name) for b in range(len(stacks))] for a in range(len(stacks))]
        pairs.tabulated(_summaries(nodes, name), np.block(table))
        pairs.remember([column.summary for column in leaves.columns[name]], squares[0][name])
        results[name] = leaves.result(name, nodes, is_pooled=False)
        tell(len(evaluation.generators))
    return results


def _nothing() -> None:
    """What is done when a task is ready that is only waited for."""


def _client_bytes(evaluation: Evaluation, metric: str, runner: TaskRunner) -> dict[str, float]:
    """Return the bytes of each client's rows; InvalidInput where two clients are too many for a worker."""
    samples = zip(evaluation.names, evaluation.states[metric].samples, strict=True)
    sizes = {name: 0.0 if s.rows is None else 8.0 * s.rows.shape[0] * s.rows.shape[1] for name, s in samples}
    name = max(sizes, key=lambda name: sizes[name])
    if 2.0 * sizes[name] > PAIR_MEMORY_SHARE * runner.memory:
        seen = (
            f"{metric} needs the rows of two clients in one worker, and {name!r} alone has {sizes[name] / 1e9:.3g} GB"
        )
        raise InvalidInput(
            "cluster", seen, f"Give workers {2.0 * sizes[name] / PAIR_MEMORY_SHARE / 1e9:.3g} GB of memory each"
        )
    return sizes


def _stacks(leaves: Sequence[Any], sizes: dict[str, float], runner: TaskRunner) -> list[list[Any]]:
    """Return groups of leaves whose pairs are computed together: small enough for memory, enough for all threads."""
    most = min(
        STACK_MEMORY_SHARE * runner.memory,
        sum(sizes.values()) / math.sqrt(2.0 * MIN_GROUPS_PER_THREAD * runner.threads),
    )
    stacks: list[list[Any]] = []
    held = 0.0
    for future in leaves:
        size = sum(sizes[name] for name in runner.names_of(future))
        if not stacks or held + size > most:
            stacks.append([])
            held = 0.0
        stacks[-1].append(future)
        held += size
    return stacks


def _summaries(nodes: Sequence[Node], name: str) -> list[Any]:
    """Return what clients add to the pool, node by node, without those that add nothing."""
    parts = [part_of(summary) for node in nodes for summary in node.summaries[name]]
    return [part for part in parts if not refusal_of(part)]


def _block(blocks: dict[tuple[int, int], Any], a: int, b: int, name: str) -> np.ndarray:
    """Return the numbers of the clients of stack a with those of stack b."""
    block = blocks[min(a, b), max(a, b)][name]
    return np.asarray(block if a <= b else block.T)


def cross_block(kit: TaskContext, count: int, *leaves: tuple[float, Node]) -> dict[str, np.ndarray]:
    """Return by metric the numbers of every client of the first `count` leaves with every one of the others."""
    nodes, crossings = [node for _, node in leaves], {}
    for name, metric in kit.metrics.items():
        left = _summaries(nodes[:count], name)
        right = _summaries(nodes[count:], name) if len(nodes) > count else left
        crossings[name] = metric.pairwise_pool(kit.dim).between(left, right)
    return crossings


def without_rows(kit: TaskContext, leaf: tuple[float, Node]) -> tuple[Node, dict[str, Any]]:
    """Return the node of a leaf without its clients' rows, and the squares of the generators by metric."""
    node, summaries, squares = leaf[1], {}, {}
    for name, metric in kit.metrics.items():
        pairs, generated = metric.pairwise_pool(kit.dim), [g for g in kit.generators[name] if not refusal_of(g)]
        summaries[name] = [_light(pairs, summary, generated) for summary in node.summaries[name]]
        squares[name] = pairs.squares(kit.generators[name])
    return replace(node, summaries=summaries), squares


def _light(pairs: Any, summary: Any, generated: Sequence[Any]) -> Any:
    part = part_of(summary)
    if refusal_of(part):
        return summary
    light = pairs.without_rows(part, generated)
    return PoolOnlyClient(summary, light) if isinstance(summary, PoolOnlyClient) else light
