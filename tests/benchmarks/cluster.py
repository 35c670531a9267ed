"""FID and KID of many clients whose rows are made by the workers of a small cluster: time, memory, equality.

    python -m tests.benchmarks.cluster --clients 1000 --rows 10000 --dim 64 --workers 2
    python -m tests.benchmarks.cluster --grow 1250 2500 5000 10000      # time against the number of clients

`--same 20` compares the scores of the first clients with those computed in memory.
"""

import argparse
import logging
import tempfile
import threading
import time
from functools import partial

import dask
import numpy as np
import psutil

import nbmetrics as nm


def rows(k, n, dim):
    rng = np.random.default_rng([7, k])
    return rng.standard_normal((n, dim)) * rng.uniform(0.5, 1.5, dim) + rng.normal(0.0, 0.3, dim)


def generators(dim, count=5):
    return {
        f"g{j}": np.random.default_rng([8, j]).normal(0.05 * j, 1.0 + 0.05 * j, (10_000, dim)) for j in range(count)
    }


class Watch(threading.Thread):
    """The memory of processes, the largest of them each half second."""

    def __init__(self, processes):
        super().__init__(daemon=True)
        self.processes, self.seen, self.ended = processes, [], threading.Event()

    def run(self):
        while not self.ended.wait(0.5):
            self.seen.append(max(process.memory_info().rss for process in self.processes) / 2**20)

    def tenths(self):
        """The peak in each tenth of the time, MiB."""
        return [round(max(part)) for part in np.array_split(self.seen, 10) if len(part)]


def measure(clients, args, workers):
    """Scores of so many clients, and the seconds of processors that they took."""
    from distributed import Client, LocalCluster

    settings = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL, "memory_limit": args.memory}
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set({"distributed.comm.timeouts.tcp": "10 minutes"}),  # the machine may be shared
        LocalCluster(n_workers=workers, threads_per_worker=1, local_directory=folder, **settings) as cluster,
        Client(cluster) as client,
    ):
        processes = [psutil.Process(worker.process.pid) for worker in cluster.workers.values()]
        before = sum(p.cpu_times().user for p in processes)
        watch = Watch(processes)
        watch.start()
        start, own = time.perf_counter(), time.process_time()
        given = {f"c{k}": partial(rows, k, args.rows, args.dim) for k in range(clients)}
        scores = nm.evaluate(given, generators(args.dim), cluster=client, progress=False)
        took, own = time.perf_counter() - start, time.process_time() - own
        watch.ended.set()
        user = sum(p.cpu_times().user for p in processes) - before
    load = psutil.getloadavg()[0]
    print(f"{clients} clients, {workers} workers, load {load:.1f}: {took:.1f} s by the clock")
    print(f"  of processors: {user:.1f} s by the workers, {own:.1f} s by client and scheduler")
    print(f"  peak of a worker by tenths of the time, MiB: {watch.tenths()}", flush=True)
    return scores, user + own


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("clients", 100), ("rows", 10_000), ("dim", 64), ("same", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--grow", type=int, nargs="+", default=[])
    parser.add_argument("--memory", default="1GB")
    args = parser.parse_args()
    log = logging.getLogger("nbmetrics.cluster")
    log.addHandler(logging.StreamHandler())
    log.setLevel("INFO")
    log.propagate = False
    if args.grow:
        used = [measure(k, args, args.workers[0])[1] for k in args.grow]
        slope, offset = np.polyfit(args.grow, used, 1)
        off = np.abs(np.polyval([slope, offset], args.grow) / used - 1).max()
        print(f"seconds of processors = {offset:.2f} + {1e3 * slope:.3f} ms a client, off by at most {off:.0%}")
        return
    for workers in args.workers:
        scores, _ = measure(args.clients, args, workers)
    some = {f"c{k}": rows(k, args.rows, args.dim) for k in range(min(args.same, args.clients))}
    local = nm.evaluate(some, generators(args.dim))
    found = scores.clients[scores.clients["client"].isin(list(some))]["value"].to_numpy()
    print(f"off from memory by at most {np.abs(found - local.clients['value'].to_numpy()).max():.1e}")


if __name__ == "__main__":
    main()
