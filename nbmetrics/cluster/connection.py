"""The connection to Dask: the client that was given, or a small cluster on this machine."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InvalidInput, shown
from .task_runner import TIMEOUT, TaskRunner

# Workers of a cluster that is only for trying.
MAX_LOCAL_WORKERS = 8


def check_installed() -> None:
    """Raise InvalidInput where Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InvalidInput(
            "cluster", "needs Dask, which is not installed", 'Run: pip install "nbmetrics[cluster]"'
        ) from None


@contextmanager
def connect(cluster: Any) -> Iterator[TaskRunner]:
    """Yield the runner of a `dask.distributed.Client`, or of a small local cluster where `cluster` is "local"."""
    from distributed import Client

    if isinstance(cluster, str) and cluster == "local":
        with _local_cluster() as client, _runner(client) as runner:
            yield runner
        return
    if not isinstance(cluster, Client):
        fix = 'Give a dask.distributed.Client, or "local" to try it on this machine'
        raise InvalidInput("cluster", f"got {shown(cluster)}", fix)
    if cluster.asynchronous or cluster.status != "running":
        seen = "is an asynchronous client" if cluster.asynchronous else f"is a client that is {cluster.status}"
        raise InvalidInput("cluster", seen, "Give one that is connected: dask.distributed.Client(address)")
    with _runner(cluster) as runner:
        yield runner


@contextmanager
def _runner(client: Any) -> Iterator[TaskRunner]:
    runner = TaskRunner(client)
    try:
        yield runner
    finally:
        runner.release()


@contextmanager
def _local_cluster() -> Iterator[Any]:
    """Yield a client of one worker process a core, `MAX_LOCAL_WORKERS` at most; its files go with it."""
    import dask
    from distributed import Client, LocalCluster

    with (
        tempfile.TemporaryDirectory(prefix="nbmetrics-") as folder,
        # of the scheduler, too; and on a busy machine an answer may take more than Dask's half minute
        dask.config.set({"temporary-directory": folder, "distributed.comm.timeouts.tcp": TIMEOUT}),
    ):
        vars(sys.modules["__main__"]).setdefault("__spec__", None)  # IPython's %reset takes it, and new processes ask
        settings: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        try:
            cluster = LocalCluster(
                n_workers=min(os.cpu_count() or 1, MAX_LOCAL_WORKERS), silence_logs=logging.CRITICAL, **settings
            )
        except RuntimeError as error:
            fix = 'In a script, call this under if __name__ == "__main__":, because workers run the script again'
            raise InvalidInput("cluster", f"no worker started ({error})", fix) from None
        with cluster, Client(cluster) as client:
            yield client
