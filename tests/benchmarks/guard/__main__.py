"""Times the parent commit and the present tree alternately, and says which figures became slower.

    python -m tests.benchmarks.guard [--base COMMIT] [--only WORDS …] [--store]

Each has one process, with as many threads and the same rows; a figure is the ratio of the medians of 5 runs. Nothing
that is timed is stored. Peaks of memory and counts are those of the present tree alone, beside counts.json, which
--store writes. A figure that the parent cannot make is skipped by name; one that the present tree alone cannot make is
red.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tests import ROOT

from . import verdicts
from .verdicts import Verdict

ROUNDS = 5
COUNTS = Path(__file__).with_name("counts.json")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Impossible(Exception):
    """A figure that a tree cannot make, with its reason."""


class Side:
    """One tree and the process that makes its figures, one request at a time."""

    def __init__(self, tree: Path) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = {name: str(cores) for name in THREADS}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.guard.worker", str(tree)],
            cwd=ROOT, env={**os.environ, **threads}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, do: str, figure: str = "") -> Any:
        """Return what the worker answers; Impossible where it says that it cannot."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"do": do, "figure": figure}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Impossible(f"its process ended with {self._process.wait()}")
        answer = json.loads(line)
        if "impossible" in answer:
            raise Impossible(answer["impossible"])
        return answer["value"]

    def close(self) -> None:
        self._process.communicate()


@contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """A git worktree of the commit, which goes again."""
    with tempfile.TemporaryDirectory(prefix="nbmetrics-guard-") as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def ratio(parent: Any, present: Any, figure: str) -> float:
    """The present median time over the parent's, both measured in turn, each the first every other time."""
    seconds: dict[Any, list[float]] = {parent: [], present: []}
    for turn in range(ROUNDS):
        for side in (parent, present)[:: 1 - 2 * (turn % 2)]:
            seconds[side].append(side.ask("time", figure))
    return median(seconds[present]) / median(seconds[parent])


def verdict_of(parent: Any, present: Any, figure: str, stored: Mapping[str, Any]) -> Verdict:
    """Time a figure on both sides and count it on the present one."""
    try:
        parent.ask("prepare", figure)
    except Impossible as reason:
        return Verdict(figure, skipped=f"the parent: {reason}")
    try:
        present.ask("prepare", figure)
        verdict = verdicts.judge(figure, lambda: ratio(parent, present, figure))
        counts = present.ask("count", figure)
    except Impossible as reason:
        return Verdict(figure, faults=(f"the present tree: {reason}",))
    return verdict._replace(faults=verdict.faults + verdicts.grown(counts, stored.get(figure)))


def line(verdict: Verdict) -> str:
    ratios = " ".join(f"{ratio:.2f}" for ratio in verdict.ratios)
    said = f"SKIPPED, {verdict.skipped}" if verdict.skipped else "; ".join(verdict.faults)
    return f"{'RED  ' if verdict.is_red else '     '}{verdict.name:56}{ratios:6}  {said}".rstrip()


def compare(base: str, words: list[str]) -> int:
    """Print a line a figure, and the verdict; return 1 where one is red."""
    commit, start = git("rev-parse", "--short", f"{base}^{{commit}}"), time.perf_counter()
    stored = json.loads(COUNTS.read_text("utf-8"))
    with ExitStack() as stack:
        parent, present = (Side(tree) for tree in (stack.enter_context(tree_of(commit)), ROOT))
        stack.callback(present.close)
        stack.callback(parent.close)
        print(f"present tree / {base} ({commit}), medians of {ROUNDS}", flush=True)
        found = []
        for figure in chosen(present.ask("names"), words):
            found.append(verdict_of(parent, present, figure, stored))
            print(line(found[-1]), flush=True)
    print(f"{verdicts.summary(found)} ({time.perf_counter() - start:.0f} s)")
    return int(any(verdict.is_red for verdict in found))


def store(words: list[str]) -> int:
    """Write the counts of the present tree; those of figures that were not asked for stay."""
    stored = json.loads(COUNTS.read_text("utf-8")) if COUNTS.exists() else {}
    present = Side(ROOT)
    names = present.ask("names")
    for figure in chosen(names, words):
        present.ask("prepare", figure)
        stored[figure] = present.ask("count", figure)
    present.close()
    kept = {figure: stored[figure] for figure in names if figure in stored}
    COUNTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


def chosen(names: list[str], words: list[str]) -> list[str]:
    """Those names that contain one of the words, or all."""
    return [name for name in names if not words or any(word.lower() in name.lower() for word in words)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.guard", description=__doc__.splitlines()[0])
    parser.add_argument("--base", default="HEAD^", help="the commit to compare with")
    parser.add_argument("--only", nargs="+", default=[], help="only figures whose names contain one of these words")
    parser.add_argument("--store", action="store_true", help="write counts.json of the present tree and time nothing")
    asked = parser.parse_args()
    sys.exit(store(asked.only) if asked.store else compare(asked.base, asked.only))
