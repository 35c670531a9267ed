"""The workers as this room uses them: tasks that know whose data they are about, errors in words, a timeout everywhere.

Tasks are pure: Dask does one again when its worker dies, and tries one that raised twice more. A run ends when no
task has finished, and none that reads batches has read one, for so long as the setting of Dask `nbmetrics.timeout`
says (10 minutes).
"""

from __future__ import annotations

import logging
import math
import queue
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from ..errors import InvalidInput, shown
from .life_signs import LifeSigns

# How long a task is meant to take: Dask takes 2 ms for each; and how many clients one may have.
SECONDS_PER_TASK, MAX_CLIENTS_PER_TASK = 0.3, 256
# Results that become one at each level of a tree.
FAN_IN = 8
# Groups a thread at least, as clients differ.
MIN_GROUPS_PER_THREAD = 4
# Clients a thread in the first tasks, by which the sizes of the others are chosen.
TRIAL_CLIENTS_PER_THREAD = 3
RETRIES = 2
# Seconds after which an answer of the scheduler is not waited for, where it only makes a message better.
SCHEDULER_SECONDS = 5.0
# Seconds for a first worker to come.
FIRST_WORKER_SECONDS = 30.0
# Clients that a message names.
MAX_CLIENTS_NAMED = 3
TIMEOUT = "10 minutes"


log = logging.getLogger("nbmetrics.cluster")


class TaskRunner:
    """A client of Dask, and the tasks that one evaluation submitted to it.

    `on_rows` : called now and then with the number of rows that tasks have read, as far as they told
    """

    def __init__(self, client: Any) -> None:
        import dask
        from dask.utils import parse_timedelta

        self.client = client
        self.timeout = float(parse_timedelta(dask.config.get("nbmetrics.timeout", TIMEOUT)))
        self.address = client.scheduler.address
        self._about: dict[str, tuple[str, Sequence[str]]] = {}
        self._futures: WeakSet[Any] = WeakSet()
        self.tasks = 0
        self.on_rows: Callable[[int], Any] | None = None
        with suppress(TimeoutError):  # one that died is being started again
            client.wait_for_workers(1, timeout=min(self.timeout, FIRST_WORKER_SECONDS))
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            raise InvalidInput("cluster", f"{self.address} has no workers", "Start some: cluster.scale(2)")
        self.threads = sum(worker["nthreads"] for worker in workers)
        self.memory = min(worker["memory_limit"] or math.inf for worker in workers)
        self._signs = LifeSigns(client, self._about.__contains__)

    def submit(
        self, function: Callable[..., Any], *args: Any, about: str, who: Sequence[str] = (), priority: int = 0
    ) -> Any:
        """Return a future of function(*args); `about` and `who` say what fails, and whose data it is about.

        Of tasks that could begin, those of the highest `priority` do.
        """
        future = self.client.submit(function, *args, pure=False, retries=RETRIES, priority=priority)
        self._about[future.key] = about, who
        self._futures.add(future)
        self.tasks += 1
        return future

    def release(self) -> None:
        """Let go of every task, so that those not begun never are, whoever still holds a future."""
        for future in list(self._futures):
            future.release()
        self._signs.close()

    def submit_groups(
        self,
        function: Callable[..., Any],
        parties: Sequence[tuple[str, Sequence[Any], Any]],
        *shared: Any,
        about: str,
        then: Callable[[Any], Any] | None = None,
    ) -> list[Any]:
        """Return futures of function(payloads, *shared, *data) over groups of parties (name, data's source, payload).

        `TRIAL_CLIENTS_PER_THREAD` parties a thread show how long one takes; the others go in groups that take about
        `SECONDS_PER_TASK` seconds.
        The result begins with the seconds of a processor that its last party took, as the first pays for imports.
        `then` is called with every future at once, to submit what comes after it before it can have finished.
        Who has data on a worker is alone in a task, which goes to the data; and so is every part of a large client.
        """
        counts = Counter(name for name, _, _ in parties)
        is_alone = [bool(data) or counts[name] > 1 for name, data, _ in parties]
        single = [party for party, is_one in zip(parties, is_alone, strict=True) if is_one]
        alone = [self._submit_group(function, [party], shared, about, then) for party in single]
        parties = [party for party, is_one in zip(parties, is_alone, strict=True) if not is_one]
        step = max(1, min(TRIAL_CLIENTS_PER_THREAD, len(parties) // self.threads))
        trials = parties[: step * self.threads]
        first = [
            self._submit_group(function, trials[k : k + step], shared, about, then) for k in range(0, len(trials), step)
        ]
        left, each = parties[len(trials) :], 1
        if left:
            for _ in self.as_completed(first):
                pass
            seconds = self.results([self.submit(_seconds, future, about=about) for future in first])
            even = math.ceil(len(left) / (MIN_GROUPS_PER_THREAD * self.threads))
            each = max(
                1, min(int(SECONDS_PER_TASK * len(seconds) / max(sum(seconds), 1e-9)) + 1, MAX_CLIENTS_PER_TASK, even)
            )
        groups = [left[start : start + each] for start in range(0, len(left), each)]
        return alone + first + [self._submit_group(function, group, shared, about, then) for group in groups]

    def _submit_group(
        self,
        function: Callable[..., Any],
        group: Sequence[Any],
        shared: Sequence[Any],
        about: str,
        then: Callable[[Any], Any] | None,
    ) -> Any:
        data = [part for _, parts, _ in group for part in parts]
        names, payloads = [name for name, _, _ in group], [payload for _, _, payload in group]
        future = self.submit(function, payloads, *shared, *self.futures_of(data), about=about, who=names)
        if then is not None:
            then(future)
        return future

    def futures_of(self, data: Sequence[Any]) -> list[Any]:
        """Return the futures of a client's data, each a future or what Dask computes."""
        from distributed import Future

        futures = [part if isinstance(part, Future) else self.client.compute(part, retries=RETRIES) for part in data]
        self._futures.update(future for future, part in zip(futures, data, strict=True) if future is not part)
        return futures

    def reduce(
        self, function: Callable[..., Any], futures: Sequence[Any], *shared: Any, about: str, who: Sequence[str] = ()
    ) -> tuple[Any, list[Any]]:
        """Return the last future of function(*shared, *results) level by level, `FAN_IN` to one, and all new ones."""
        merges: list[Any] = []
        depth = 0
        while len(futures) > 1:
            groups = [futures[start : start + FAN_IN] for start in range(0, len(futures), FAN_IN)]
            depth += 1  # merges come before tasks that wait, so that few results are held
            futures = [
                group[0]
                if len(group) == 1
                else self.submit(function, *shared, *group, about=about, who=who, priority=depth)
                for group in groups
            ]
            merges += [future for future, group in zip(futures, groups, strict=True) if len(group) > 1]
        log.info("a tree of %d levels", depth)
        return futures[0], merges

    def names_of(self, future: Any) -> Sequence[str]:
        """Return the names of the clients that a future is about."""
        return self._about[future.key][1]

    def as_completed(self, futures: Iterable[Any]) -> Iterator[Any]:
        """Yield futures as they finish; InvalidInput where one fails, or none has for too long."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        left = {future.key: future for future in futures}
        for future in left.values():
            future.add_done_callback(done.put)
        last = time.monotonic()
        while left:
            try:
                future = done.get(timeout=0.5)
            except queue.Empty:
                if self.client.status == "closed" or time.monotonic() - max(last, self._signs.last) > self.timeout:
                    raise self._stall(left) from None
                if self.on_rows is not None and self._signs.rows:
                    self.on_rows(sum(self._signs.rows.values()))
                continue
            if future.status in ("lost", "pending"):  # with its worker, and made again
                future.add_done_callback(done.put)
                continue
            if future.status != "finished":
                raise self._failure(future)
            last = time.monotonic()
            left.pop(future.key)
            yield future

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """Return what the futures give, in order."""
        for _ in self.as_completed(futures):
            pass
        try:
            return [future.result(timeout=self.timeout) for future in futures]
        except InvalidInput:
            raise
        except Exception as error:  # a worker died with the result, or the scheduler did
            raise self._scheduler_lost(error) from error

    def _client_names(self, keys: Iterable[str]) -> str:
        names = [name for key in keys for name in self._about.get(key, ("", ()))[1]]
        more = f" and {len(names) - MAX_CLIENTS_NAMED:,} more" if len(names) > MAX_CLIENTS_NAMED else ""
        listing = ", ".join(f"client {name!r}" for name in names[:MAX_CLIENTS_NAMED]) + more
        return f" of {listing}" if names else ""

    def _failure(self, future: Any) -> InvalidInput:
        """Return the error that says why a future failed, with the names of its clients."""
        from distributed import KilledWorker

        what = f"{self._about.get(future.key, ('the work', ()))[0]}{self._client_names([future.key])}"
        if future.status != "error":
            seen = f"{what} was lost: the scheduler at {self.address} has gone, or only a dead worker had the data"
            return InvalidInput("cluster", seen, "Start again, with data that workers can recompute")
        error = future.exception(timeout=self.timeout)
        if isinstance(error, InvalidInput):
            return error
        if isinstance(error, KilledWorker):
            seen = f"{what} killed its worker again and again, most likely because it ran out of memory"
            return InvalidInput("cluster", seen, "Give workers more memory, or more clients with fewer rows each")
        seen = f"{what} raised {type(error).__name__}: {error}"
        return InvalidInput("cluster", seen, "Fix what raised it; workers need the same package versions as here")

    def _stall(self, left: dict[str, Any]) -> InvalidInput:
        """Return the error that nothing finishes any more, with the names of the clients whose tasks were begun."""
        if self.client.status != "running":
            return self._scheduler_lost(f"it is {self.client.status}", left)
        try:
            began = self.client.sync(self.client.scheduler.processing, workers=None, callback_timeout=SCHEDULER_SECONDS)
        except Exception as error:
            return self._scheduler_lost(error, left)
        keys = [key for keys in began.values() for key in keys if key in left]
        key = next(iter(keys or left))
        seen = f"{self._about[key][0]}{self._client_names(keys or left)} has not finished in {self.timeout:g} seconds"
        fix = 'Look at the workers, or wait longer: dask.config.set({"nbmetrics.timeout": "1 hour"})'
        return InvalidInput("cluster", seen, fix)

    def _scheduler_lost(self, error: Any, left: Iterable[str] = ()) -> InvalidInput:
        seen = f"the scheduler at {self.address} does not answer ({shown(error)})"
        waiting = f"; not finished: {self._about[next(iter(left))][0]}{self._client_names(left)}" if left else ""
        return InvalidInput("cluster", seen + waiting, "Start the cluster again")


def _seconds(result: Any) -> float:
    return float(result[0])
