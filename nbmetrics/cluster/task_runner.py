"""The workers as this room uses them: tasks that know whose data they are about, errors in words, a timeout everywhere.

Tasks are pure: Dask does one again when its worker dies, and tries one that raised twice more. A run ends when no
task has finished for so long as the setting of Dask `nbmetrics.timeout` says (10 minutes).
"""

from __future__ import annotations

import math
import queue
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from ..errors import InvalidInput, shown

# Seconds that a task is meant to take: Dask takes 2 ms for each. At most so many clients in one.
PACE, MOST = 0.3, 256
# Groups a thread at least, as clients differ.
EVEN = 4
# Clients a thread in the first tasks, by which the sizes of the others are chosen.
TRIED = 3
RETRIES = 2
# Seconds after which an answer of the scheduler is not waited for, where it only makes a message better.
PATIENCE = 5.0
# Seconds for a first worker to come.
STARTING = 30.0
# Clients that a message names.
NAMED = 3
TIMEOUT = "10 minutes"


class Crew:
    """A client of Dask, and the tasks that this evaluation gave it."""

    def __init__(self, client: Any) -> None:
        import dask
        from dask.utils import parse_timedelta

        self.client = client
        self.timeout = float(parse_timedelta(dask.config.get("nbmetrics.timeout", TIMEOUT)))
        self.address = client.scheduler.address
        self._about: dict[str, tuple[str, Sequence[str]]] = {}
        self._futures: WeakSet[Any] = WeakSet()
        self.tasks = 0
        with suppress(TimeoutError):  # one that died is being started again
            client.wait_for_workers(1, timeout=min(self.timeout, STARTING))
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            raise InvalidInput("cluster", f"{self.address} has no workers", "Start some: cluster.scale(2)")
        self.threads = sum(worker["nthreads"] for worker in workers)
        self.memory = min(worker["memory_limit"] or math.inf for worker in workers)

    def submit(
        self, function: Callable[..., Any], *args: Any, about: str, who: Sequence[str] = (), priority: int = 0
    ) -> Any:
        """A future of function(*args); `about` and `who` say what fails, and whose data it is about.

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

    def batched(
        self,
        function: Callable[..., Any],
        parties: Sequence[tuple[str, Sequence[Any], Any]],
        *shared: Any,
        about: str,
    ) -> list[Any]:
        """Futures of function(payloads, *shared, *data) over some parties each: (name, what makes their data, payload).

        `TRIED` parties a thread show how long one takes; the others go in groups that take about `PACE` seconds.
        The result begins with the seconds of a processor that its last party took, as the first pays for imports.
        Who has data on a worker is alone in a task, which goes to the data.
        """
        there = [party for party in parties if party[1]]
        alone = [self._group(function, [party], shared, about) for party in there]
        parties = [party for party in parties if not party[1]]
        step = max(1, min(TRIED, len(parties) // self.threads))
        tried = parties[: step * self.threads]
        first = [self._group(function, tried[k : k + step], shared, about) for k in range(0, len(tried), step)]
        left, each = parties[len(tried) :], 1
        if left:
            for _ in self.finished(first):
                pass
            took = self.results([self.submit(_seconds, future, about=about) for future in first])
            even = math.ceil(len(left) / (EVEN * self.threads))
            each = max(1, min(int(PACE * len(took) / max(sum(took), 1e-9)) + 1, MOST, even))
        groups = [left[start : start + each] for start in range(0, len(left), each)]
        return alone + first + [self._group(function, group, shared, about) for group in groups]

    def _group(self, function: Callable[..., Any], group: Sequence[Any], shared: Sequence[Any], about: str) -> Any:
        from distributed import Future

        data = [part for _, parts, _ in group for part in parts]
        futures = [part if isinstance(part, Future) else self.client.compute(part, retries=RETRIES) for part in data]
        self._futures.update(future for future, part in zip(futures, data, strict=True) if future is not part)
        names, payloads = [name for name, _, _ in group], [payload for _, _, payload in group]
        return self.submit(function, payloads, *shared, *futures, about=about, who=names)

    def names_of(self, future: Any) -> Sequence[str]:
        """The clients that a future is about."""
        return self._about[future.key][1]

    def finished(self, futures: Iterable[Any]) -> Iterator[Any]:
        """Futures as they finish; InvalidInput where one fails, or none has for too long."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        left = {future.key: future for future in futures}
        for future in left.values():
            future.add_done_callback(done.put)
        last = time.monotonic()
        while left:
            try:
                future = done.get(timeout=0.5)
            except queue.Empty:
                if self.client.status == "closed" or time.monotonic() - last > self.timeout:
                    raise self._stuck(left) from None
                continue
            if future.status in ("lost", "pending"):  # with its worker, and made again
                future.add_done_callback(done.put)
                continue
            if future.status != "finished":
                raise self._failed(future)
            last = time.monotonic()
            left.pop(future.key)
            yield future

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """What futures give, in order."""
        for _ in self.finished(futures):
            pass
        try:
            return [future.result(timeout=self.timeout) for future in futures]
        except InvalidInput:
            raise
        except Exception as error:  # a worker died with the result, or the scheduler did
            raise self._gone(error) from error

    def _who(self, keys: Iterable[str]) -> str:
        names = [name for key in keys for name in self._about.get(key, ("", ()))[1]]
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        said = ", ".join(f"client {name!r}" for name in names[:NAMED]) + more
        return f" of {said}" if names else ""

    def _failed(self, future: Any) -> InvalidInput:
        """Why a future failed, with the names of its clients."""
        from distributed import KilledWorker

        what = f"{self._about.get(future.key, ('the work', ()))[0]}{self._who([future.key])}"
        if future.status != "error":
            seen = f"{what} was lost: the scheduler at {self.address} is gone, or data that only a dead worker held"
            return InvalidInput("cluster", seen, "Start again, with data that workers can make again")
        error = future.exception(timeout=self.timeout)
        if isinstance(error, InvalidInput):
            return error
        if isinstance(error, KilledWorker):
            seen = f"{what} killed its worker again and again, most likely for want of memory"
            return InvalidInput("cluster", seen, "Give workers more memory, or more clients with fewer rows each")
        seen = f"{what} raised {type(error).__name__}: {error}"
        return InvalidInput("cluster", seen, "Mend what raised it; workers need the versions of packages that are here")

    def _stuck(self, left: dict[str, Any]) -> InvalidInput:
        """That nothing finishes any more, with the names of the clients whose tasks were begun."""
        if self.client.status != "running":
            return self._gone(f"it is {self.client.status}", left)
        try:
            began = self.client.sync(self.client.scheduler.processing, workers=None, callback_timeout=PATIENCE)
        except Exception as error:
            return self._gone(error, left)
        keys = [key for keys in began.values() for key in keys if key in left]
        key = next(iter(keys or left))
        seen = f"{self._about[key][0]}{self._who(keys or left)} has not finished in {self.timeout:g} seconds"
        fix = 'Look at the workers, or wait longer: dask.config.set({"nbmetrics.timeout": "1 hour"})'
        return InvalidInput("cluster", seen, fix)

    def _gone(self, error: Any, left: Iterable[str] = ()) -> InvalidInput:
        seen = f"the scheduler at {self.address} does not answer ({shown(error)})"
        waiting = f"; not finished: {self._about[next(iter(left))][0]}{self._who(left)}" if left else ""
        return InvalidInput("cluster", seen + waiting, "Start the cluster again")


def _seconds(found: Any) -> float:
    return float(found[0])
