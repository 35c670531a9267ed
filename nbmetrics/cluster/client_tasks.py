"""Start and end of scoring on a cluster: the generators sent, tasks for groups of clients, a `Cells`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import InvalidInput
from ..evaluation.cells import Cell, Cells, KeptCells
from ..evaluation.compute import Evaluation
from ..metrics.base import Metric
from ..metrics.streaming import can_merge
from .sources import ClusterSource
from .split import submit_split
from .task_runner import TaskRunner
from .tree_reduce import ClientTask, Node, TaskContext, leaf_node, lone_refusal, terms_only

# Of the memory of a worker: what all rows may take for a metric that must see them at once.
WORKER_MEMORY_SHARE = 0.2
# Scores are brought here before anything else is done with a leaf.
KEEP_PRIORITY = 100


class TaskCells(KeptCells):
    """The scores of one metric: those kept from before, and those that tasks compute, which are kept as they come."""

    def __init__(self, kept: KeptCells, by_client: Sequence[bool], clients: int) -> None:
        self._kept, self._count = kept, len(by_client)
        pairs = [(g, i, False) for g in range(self._count) for i in (*range(clients), None)]
        own = [(g, i, True) for g, has_own in enumerate(by_client) for i in range(clients) if has_own]
        keys = {(g, i, is_own): kept.find(g, i, own=is_own) for g, i, is_own in (*pairs, *own)}
        self._cells = {key: cell for key, cell in keys.items() if cell is not None}
        missing = [(g + self._count * is_own, i) for (g, i, is_own), cell in keys.items() if cell is None]
        self.missing = [[place for place, client in missing if client == i] for i in range(clients)]
        self.missing_pools = [g for g, client in missing if client is None]

    def find(self, g: int, i: int | None, *, own: bool = False) -> Cell | None:
        return self._cells.get((g, i, own))

    def keep(self, g: int, i: int | None, cell: Cell, *, own: bool = False) -> None:
        if (g, i, own) not in self._cells:
            self._cells[g, i, own] = cell
            self._kept.keep(g, i, cell, own=own)

    def take(self, node: Node, name: str) -> None:
        """Keep what was computed in a node."""
        for place, row in enumerate(node.terms[name]):
            own, g = divmod(place, self._count)
            for i, terms in zip(node.positions, row, strict=True):
                if terms is not None:
                    self.keep(g, i, Cell.of(terms), own=bool(own))


class Leaves:
    """The tasks that score some clients each, and what is known before them.

    Parameters
    ----------
    evaluation, metrics, sources, runner : of which clients, under which metrics; scores go to the evaluation's store as
        soon as a leaf is ready
    most : bytes of all clients' summaries beyond which these stay behind, see `TaskContext`

    Attributes
    ----------
    columns : the generators' states by metric
    cells : the scores by metric
    context : a future of the `TaskContext`
    futures : of the leaves, which cover all clients
    """

    def __init__(
        self,
        evaluation: Evaluation,
        metrics: dict[str, Metric[Any]],
        sources: Sequence[ClusterSource],
        runner: TaskRunner,
        most: float,
    ) -> None:
        self._evaluation, self._metrics, self._runner = evaluation, metrics, runner
        generators, clients = evaluation.generators, len(evaluation.names)
        self.columns = {name: [evaluation.summarize_generator(g, name) for g in generators] for name in metrics}
        kept = {name: evaluation.kept_cells(name, self.columns[name]) for name in metrics}
        by_client = {name: [column.is_by_client for column in self.columns[name]] for name in metrics}
        self.cells = {name: TaskCells(kept[name], by_client[name], clients) for name in metrics}
        summaries = {name: [column.summary for column in self.columns[name]] for name in metrics}
        answers = {n: [c.answers if c.is_by_client else None for c in self.columns[n]] for n in metrics}
        context = TaskContext(metrics, summaries, answers, evaluation.federation.dim, clients, most)
        self.context = runner.submit(_identity, context, about="sending the generators")
        about = f"scoring {', '.join(metrics)}"
        tasks = self._tasks(sources)
        can_split = all(can_merge(metric, evaluation.federation.dim) for metric in metrics.values())
        places = {place for place, source in enumerate(sources) if can_split and len(source.parts) > 1}
        split = [submit_split(sources[p], tasks[p][2], self.context, runner, about) for p in sorted(places)]
        self._parts = [part for _, parts in split for part in parts]
        others = [task for place, task in enumerate(tasks) if place not in places]
        self.futures, self._early = [leaf for leaf, _ in split], list[Any]()
        then = None if evaluation.store is None else self._submit_early
        for leaf in self.futures if then is not None else ():
            self._submit_early(leaf)
        self.futures += runner.submit_groups(leaf_node, others, self.context, about=about, then=then)
        self._sizes = {future.key: len(runner.names_of(future)) for future in self.futures}

    def _submit_early(self, leaf: Any) -> None:
        """Submit what brings the scores of a leaf here, before a worker with one thread begins a task that is slow."""
        future = self._runner.submit(terms_only, leaf, about="keeping scores", priority=KEEP_PRIORITY)
        self._early.append(future)

    def _tasks(self, sources: Sequence[ClusterSource]) -> list[tuple[str, Sequence[Any], ClientTask]]:
        """Return of each client its name, the futures of its rows, and its `ClientTask`."""
        evaluation, tasks = self._evaluation, list[tuple[str, Sequence[Any], ClientTask]]()
        for position, (source, client) in enumerate(zip(sources, evaluation.federation, strict=True)):
            is_here = not source.futures and source.function is None
            samples = {n: evaluation.states[n].samples[position] for n in self._metrics} if is_here else None
            missing = {name: self.cells[name].missing[position] for name in self._metrics}
            inspected = (None, None) if is_here or client.rows is None else (client.rows.shape, client.rows.checksum)
            task = ClientTask(
                position,
                source.name,
                evaluation.weights[position],
                missing,
                samples,
                source.function,
                len(source.futures),
                *inspected,
            )
            tasks.append((source.name, source.futures, task))
        return tasks

    def wait(self, others: Mapping[Any, Callable[[], Any]], needed: Sequence[Any], tell: Callable[[int], Any]) -> None:
        """Wait for all leaves and for other futures, and call what belongs to each of these; keep scores as they come.

        Leaves that are not `needed` stay on their workers until other tasks have used them, and no longer.
        """
        steps = len(self._metrics) * (1 + len(self._evaluation.generators))
        actions = {future.key: action for future, action in others.items()}
        early, needed_keys = {future.key for future in self._early}, {future.key for future in needed}
        passing = {future.key for future in (*self.futures, *self._parts)} - needed_keys
        for future in self._runner.as_completed([*self._parts, *self.futures, *self._early, *others]):
            tell(self._sizes.get(future.key, 0) * steps)
            if future.key in passing:
                future.release()
            if future.key in early:
                self._take(self._runner.results([future]))
            if future.key in actions:
                actions[future.key]()

    def _take(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            for name, cells in self.cells.items():
                cells.take(node, name)

    def result(self, name: str, nodes: Sequence[Node], *, is_pooled: bool) -> Cells:
        """Return the result of one metric, as `Evaluation.compute` makes it; the pool of all is here or in a node."""
        evaluation, columns, cells = self._evaluation, self.columns[name], self.cells[name]
        clients, summaries = evaluation.states[name], dict[int, Any]()
        for node in nodes:
            summaries.update(zip(node.positions, node.summaries[name], strict=True))
            cells.take(node, name)
        clients.summaries = tuple(summaries[i] for i in range(len(evaluation.names)))
        weights, pools = evaluation.weights, dict[tuple[float, ...], Any]()
        if is_pooled and len(nodes) == 1 and (together := nodes[0].pooled[name]) is not None:
            pools[weights] = lone_refusal(clients.summaries, weights) or together
        table = replace(clients.cells(columns, weights), pools=pools)
        return table.with_scores(lambda: None, cells)


def _identity(kit: TaskContext) -> TaskContext:
    """Return the context, as a task, so that Dask can make it again where workers died with it."""
    return kit


def check_fits(evaluation: Evaluation, metrics: Sequence[str], runner: TaskRunner) -> None:
    """Raise InvalidInput where all rows are too many for one worker, for metrics that must see them at once."""
    rows = [s.rows for s in evaluation.states[metrics[0]].samples if s.rows is not None]
    size = sum(8.0 * r.shape[0] * r.shape[1] for r in rows)
    if size > WORKER_MEMORY_SHARE * runner.memory:
        seen = f"{', '.join(metrics)} of all clients needs all rows in one worker, {size / 1e9:.3g} GB plus other data"
        raise InvalidInput(
            "cluster", seen, f"Give workers {size / WORKER_MEMORY_SHARE / 1e9:.3g} GB of memory each, or fewer rows"
        )
