"""Who the workers are: those of a client of Dask that was given, or a small cluster on this machine."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InvalidInput, shown
from .task_runner import TIMEOUT, Crew

# Workers of a cluster that is only for trying.
MOST = 8


def check_installed() -> None:
    """Refuse where Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InvalidInput(
            "cluster", "needs Dask, which is not installed", 'Run: pip install "nbmetrics[cluster]"'
        ) from None


@contextmanager
def hired(cluster: Any) -> Iterator[Crew]:
    """The workers of a `dask.distributed.Client`, or of a small cluster on this machine where `cluster` is "local"."""
    from distributed import Client

    if isinstance(cluster, str) and cluster == "local":
        with _local() as client, _crew(client) as crew:
            yield crew
        return
    if not isinstance(cluster, Client):
        fix = 'Give a dask.distributed.Client, or "local" to try it on this machine'
        raise InvalidInput("cluster", f"got {shown(cluster)}", fix)
    if cluster.asynchronous or cluster.status != "running":
        seen = "is an asynchronous client" if cluster.asynchronous else f"is a client that is {cluster.status}"
        raise InvalidInput("cluster", seen, "Give one that is connected: dask.distributed.Client(address)")
    with _crew(cluster) as crew:
        yield crew


@contextmanager
def _crew(client: Any) -> Iterator[Crew]:
    crew = Crew(client)
    try:
        yield crew
    finally:
        crew.release()


@contextmanager
def _local() -> Iterator[Any]:
    """One worker a core, `MOST` at most, in processes; gone afterwards, with its files."""
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
            cluster = LocalCluster(n_workers=min(os.cpu_count() or 1, MOST), silence_logs=logging.CRITICAL, **settings)
        except RuntimeError as error:
            fix = 'In a script the call must stand under if __name__ == "__main__":, as Dask starts it anew in workers'
            raise InvalidInput("cluster", f"no worker started ({error})", fix) from None
        with cluster, Client(cluster) as client:
            yield client
