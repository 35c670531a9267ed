"""FID and KID of many clients whose rows are made by the workers of a small cluster: time, memory, equality.

    python -m tests.benchmarks.cluster big                              # 1,000 × 10,000 × 64 on two workers, then one
    python -m tests.benchmarks.cluster --clients 100 --workers 2 1      # less of it
    python -m tests.benchmarks.cluster --clients 10 --rows 1000000 --batches 100   # streamed within the workers
    python -m tests.benchmarks.cluster --file --rows 5000000 --dim 32 --metrics fid --workers 2 1 2 1   # one client
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


def batches(k, n, dim, count):
    """Rows of a client in batches, each made when its turn comes."""
    for j, part in enumerate(np.array_split(np.arange(n), count)):
        yield rows(10**6 * j + k, len(part), dim)


def generators(dim, count=5):
    return {
        f"g{j}": np.random.default_rng([8, j]).normal(0.05 * j, 1.0 + 0.05 * j, (10_000, dim)) for j in range(count)
    }


def used(processes):
    """Seconds of processors, (user, system); the latter are page faults of fresh memory, mostly."""
    times = [process.cpu_times() for process in processes]
    return np.array([sum(t.user for t in times), sum(t.system for t in times)])


class Watch(threading.Thread):
    """The memory of processes, each half second."""

    def __init__(self, processes):
        super().__init__(daemon=True)
        self.processes, self.seen, self.ended = processes, [], threading.Event()

    def run(self):
        while not self.ended.wait(0.5):
            self.seen.append([process.memory_info().rss / 2**20 for process in self.processes])

    def tenths(self):
        """The peak of the largest in each tenth of the time, MiB."""
        return [round(np.max(part)) for part in np.array_split(np.array(self.seen), 10) if len(part)]

    def peaks(self):
        """The peak of each, MiB."""
        return [round(peak) for peak in np.max(self.seen, axis=0)]


def measure(clients, args, workers):
    """Scores of so many clients, seconds by the clock, and of processors."""
    from distributed import Client, LocalCluster

    settings = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL, "memory_limit": args.memory}
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set({"distributed.comm.timeouts.tcp": "10 minutes"}),  # the machine may be shared
        LocalCluster(n_workers=workers, threads_per_worker=1, local_directory=folder, **settings) as cluster,
        Client(cluster) as client,
    ):
        processes = [psutil.Process(worker.process.pid) for worker in cluster.workers.values()]
        before, mine = used(processes), used([psutil.Process()])
        watch = Watch(processes)
        watch.start()
        start = time.perf_counter()
        scores = nm.evaluate(given(clients, args), generators(args.dim), args.metrics, cluster=client, progress=False)
        took, mine = time.perf_counter() - start, used([psutil.Process()]) - mine
        watch.ended.set()
        theirs = used(processes) - before
    share = theirs.sum() / (workers * took)
    print(f"{clients} clients, {workers} workers, load {psutil.getloadavg()[0]:.1f}: {took:.1f} s by the clock")
    print(
        f"  of processors, user + system: {theirs[0]:.1f} + {theirs[1]:.1f} s by the workers ({share:.0%} of the time)"
    )
    print(f"  and {mine[0]:.1f} + {mine[1]:.1f} s by client and scheduler")
    print(
        f"  peak of each worker {watch.peaks()} MiB, of the largest by tenths of the time {watch.tenths()}", flush=True
    )
    return scores, took, theirs.sum() + mine.sum()


def given(clients, args):
    """Clients as functions that workers call, or one as a file."""
    if args.file:
        return {"c0": nm.Client(args.file)}
    if args.batches > 1:
        return {f"c{k}": partial(batches, k, args.rows, args.dim, args.batches) for k in range(clients)}
    return {f"c{k}": partial(rows, k, args.rows, args.dim) for k in range(clients)}


def as_file(folder, args):
    """The path of a file of float32 rows, written a million numbers at a time."""
    path, step = f"{folder}/rows.npy", max(1, 10**6 // args.dim)
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(args.rows, args.dim))
    for start in range(0, args.rows, step):
        mapped[start : start + step] = rows(start, min(step, args.rows - start), args.dim)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["big"], help="1,000 clients, on two workers and then on one")
    for name, default in (("clients", None), ("rows", 10_000), ("dim", 64), ("same", 20), ("batches", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--workers", type=int, nargs="+")
    parser.add_argument("--grow", type=int, nargs="+", default=[])
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--metrics", nargs="+", default=["fid", "kid"])
    parser.add_argument("--file", action="store_true", help="one client, a .npy file of --rows rows")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        args.file = as_file(folder, args) if args.file else None
        run(args)


def run(args):
    args.clients = 1 if args.file else args.clients or (1_000 if args.what else 100)
    args.workers = args.workers or ([2, 1] if args.what else [2])
    log = logging.getLogger("nbmetrics.cluster")
    log.addHandler(logging.StreamHandler())
    log.setLevel("INFO")
    log.propagate = False
    if args.grow:
        spent = [measure(k, args, args.workers[0])[2] for k in args.grow]
        slope, offset = np.polyfit(args.grow, spent, 1)
        off = np.abs(np.polyval([slope, offset], args.grow) / spent - 1).max()
        print(f"seconds of processors = {offset:.2f} + {1e3 * slope:.3f} ms a client, off by at most {off:.0%}")
        return
    clock = {}
    for workers in args.workers:
        scores, clock[workers], _ = measure(args.clients, args, workers)
    if len(clock) > 1:
        print(f"{args.workers[0]} workers were {clock[args.workers[-1]] / clock[args.workers[0]]:.2f} times as fast")
    count = min(args.same, args.clients)
    if count:
        some = given(count, args)
        some = some if args.batches > 1 or args.file else {name: make() for name, make in some.items()}
        local = nm.evaluate(some, generators(args.dim), args.metrics, progress=False)
        found = scores.clients[scores.clients["client"].isin(list(some))]["value"].to_numpy()
        off = np.abs(found - local.clients["value"].to_numpy()).max()
        print(f"scores of {count} clients are off those from memory by at most {off:.1e}")
        found, _, _ = measure(count, args, args.workers[0])
        off = np.abs((found.table[["avg", "all"]] - local.table[["avg", "all"]]).to_numpy()).max()
        print(f"avg and all of these alone are off by at most {off:.1e}")


if __name__ == "__main__":
    main()
