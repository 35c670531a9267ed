"""The Python tests under other kernels of OpenBLAS and other numbers of threads, as other processors would run them.

    python -m tests.cores [pytest arguments …]       CORES="Haswell Nehalem" and THREADS="1 2" name fewer

Each kernel adds in an order of its own, so what rounding decides shows here: a tie taken for an order, a comparison to
the last bit. A kernel that this processor lacks is skipped by name.
"""

import json
import os
import subprocess
import sys

CORES, THREADS = "Haswell SkylakeX Nehalem", "1 2"
# A product and eigenvalues: some releases of OpenBLAS take a kernel by its name that the processor cannot run.
ASK = """import json, numpy.linalg, scipy.linalg
from threadpoolctl import threadpool_info
rows = numpy.random.default_rng(0).normal(size=(300, 300))
for linalg in (numpy.linalg, scipy.linalg):
    linalg.eigvalsh(rows @ rows.T)
print(json.dumps([pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"]))"""


def with_core(core, threads):
    """The environment in which OpenBLAS takes this kernel."""
    return {**os.environ, "OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}


def kernels(core):
    """What NumPy's and SciPy's OpenBLAS take where this kernel is asked for; nothing where the processor lacks it."""
    done = subprocess.run([sys.executable, "-c", ASK], env=with_core(core, "1"), capture_output=True, text=True)
    if done.returncode < 0:
        return []
    done.check_returncode()
    return json.loads(done.stdout)


def main(arguments):
    said, failed = [], False
    for core in os.environ.get("CORES", CORES).split():
        taken = kernels(core)
        if not taken or set(taken) != {core}:
            instead = ", ".join(taken) or "it, and stops"
            said.append(f"SKIPPED {core}: OpenBLAS takes {instead} here; a processor that has it runs it")
            continue
        for threads in os.environ.get("THREADS", THREADS).split():
            print(f"\n== {core}, {threads} BLAS thread{'s' * (threads != '1')}", flush=True)
            done = subprocess.run([sys.executable, "-m", "pytest", *arguments], env=with_core(core, threads))
            failed |= done.returncode != 0
            said.append(f"{'FAILED' if done.returncode else 'passed'} {core}, {threads} BLAS threads")
    print("\n" + "\n".join(said))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
