"""Histories of runs with crashes, resumes and rollbacks leave the table, best steps and files that they must."""

import tempfile
from collections import Counter
from pathlib import Path

from tests.acceptance.harness import Part, share
from tests.labs.monitor.run_histories import play

HISTORIES = 100


def repeat(seed):
    """A hundred histories of their own seeds: those that went wrong, and what all of them had."""
    wrong, counts = {}, Counter()
    for place in range(HISTORIES):
        with tempfile.TemporaryDirectory() as folder:
            what, had = play(seed * HISTORIES + place, Path(folder))
        counts.update(had)
        if what:
            wrong[seed * HISTORIES + place] = what
    return {"wrong": wrong, **counts}


def judge(results):
    total = HISTORIES * len(results)
    wrong = {seed: what for result in results for seed, what in result["wrong"].items()}
    sums = {name: sum(result[name] for result in results) for name in results[0] if name != "wrong"}
    had = ", ".join(f"{count:,} {name}" for name, count in sums.items())
    lines = [(not wrong, f"histories that left something else than the model says: {share(len(wrong), total)}; {had}")]
    return lines + [(False, f"seed {seed}: {what}") for seed, what in list(wrong.items())[:5]]


PARTS = [Part("monitor-histories", repeat, judge, quick=1, full=200)]
