"""For tests that try many inputs: how many, what became of each, and what none of them may move.

A quarter of them as a rule, all in `make test-all`; NBMETRICS_FUZZ=50 tries 50 times as many, and
NBMETRICS_FUZZ_REPORT=path writes the counts of what became of them there, as JSON:
{"the tally's name": {"an outcome": 12, …}, …}. Several tests, in several processes, may write to one file.
"""

import json
import os
import random
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np


def examples(n):
    """How many inputs to try of `n`."""
    return max(1, round(n * float(os.environ.get("NBMETRICS_FUZZ", "0.25"))))


class Tally:
    """Counts outcomes by kind, and writes them to the report on leaving the `with` block.

    Hypothesis runs a failing input again while it looks for a smaller one: the counts of a run that failed have those.
    """

    def __init__(self, name):
        self.name = name
        self.counts = Counter()

    def add(self, outcome):
        self.counts[outcome] += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        path = os.environ.get("NBMETRICS_FUZZ_REPORT")
        if path:
            _merge(Path(path), {self.name: dict(sorted(self.counts.items()))})


@contextmanager
def unmoved():
    """What runs in here leaves the global random state of random, NumPy and torch alone."""
    before = _states()
    yield
    after = _states()
    assert [name for name in before if before[name] != after[name]] == []


def _states():
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002
    states = {"random": random.getstate(), "numpy": (kind, keys.tobytes(), *rest)}
    torch = sys.modules.get("torch")
    return states if torch is None else {**states, "torch": torch.get_rng_state().numpy().tobytes()}


def _merge(path, counts):
    import fcntl

    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        found = json.loads(file.read() or "{}")
        file.truncate(0)
        json.dump({**found, **counts}, file, indent=1, sort_keys=True)
