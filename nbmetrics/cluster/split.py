"""A large client as several tasks: parts of its rows are folded where they are read, and the folds are merged.

fold_part    some rows → a `Fold` of each metric
merge_parts  parts → one part, level by level
split_leaf   the last part → the node of the client
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays import to_numpy
from ..errors import InvalidInput
from ..metrics.streaming import block_rows, take_all
from .sources import ClusterSource, checksum_of, client_of
from .task_runner import TaskRunner
from .tree_reduce import ClientTask, Node, TaskContext, check_same, node_of


@dataclass(frozen=True)
class RowsPart:
    """What was made of some rows of a client: their shape and checksum, and the folds by metric."""

    shape: tuple[int, int]
    checksum: int
    folds: dict[str, Any]


def submit_split(
    source: ClusterSource, task: ClientTask, context: Any, runner: TaskRunner, about: str
) -> tuple[Any, list[Any]]:
    """Return the future of the leaf of one client, and those of its parts."""
    settings: dict[str, Any] = {"about": about, "who": [source.name]}
    parts = [
        runner.submit(fold_part, source.name, function, context, *runner.futures_of(data), **settings)
        for function, data in source.parts
    ]
    merged, merges = runner.reduce(merge_parts, parts, context, **settings)
    leaf = runner.submit(split_leaf, task, context, merged, priority=len(merges), **settings)
    return leaf, [*parts, *merges]


def fold_part(name: str, function: Callable[[], Any] | None, kit: TaskContext, *data: Any) -> RowsPart:
    """Return what one pass makes of some rows."""
    client, step = client_of(name, function, data), block_rows(kit.dim)
    if client.dim != kit.dim:
        seen = f"gave rows of {client.dim} features, and of {kit.dim} at the first look"
        raise InvalidInput(f"client {name!r}", seen, "Give the same rows each time")
    folds = {name: metric.fold(kit.dim) for name, metric in kit.metrics.items()}
    if client.stream is None:
        rows = to_numpy(client.rows)
        take_all([*folds.values()], (rows[start : start + step] for start in range(0, len(rows), step)))
    else:
        take_all([*folds.values()], client.stream.batches(step))
    return RowsPart((client.size, client.dim), checksum_of(client) or 0, folds)


def merge_parts(kit: TaskContext, *parts: RowsPart) -> RowsPart:
    """Return one part of several, which stay as they are."""
    folds: dict[str, Any] = {name: metric.fold(kit.dim) for name, metric in kit.metrics.items()}
    for part in parts:
        for name, fold in folds.items():
            fold.merge(part.folds[name])
    shape = sum(part.shape[0] for part in parts), parts[0].shape[1]
    return RowsPart(shape, sum(part.checksum for part in parts) % 2**64, folds)


def split_leaf(task: ClientTask, kit: TaskContext, part: RowsPart) -> tuple[float, Node]:
    """Return what `leaf_node` does, of one client whose rows were folded."""
    check_same(task, part.shape, part.checksum)
    summaries: dict[str, Sequence[Any]] = {}
    for name, fold in part.folds.items():
        try:
            summaries[name] = [fold.end()]
        except InvalidInput as error:
            raise error.of(f"client {task.name!r}, {name}") from None
    return 0.0, node_of([task], summaries, kit)
