"""One small cluster for all tests of this folder, in processes, as its users have it."""

import logging

import pytest

pytest.importorskip("distributed", reason='needs Dask: pip install "nbmetrics[cluster]"')


@pytest.fixture(scope="session")
def dask_client(tmp_path_factory):
    from distributed import Client, LocalCluster

    settings = {"dashboard_address": "127.0.0.1:0", "local_directory": str(tmp_path_factory.mktemp("dask"))}
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GB", silence_logs=logging.CRITICAL, **settings
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
