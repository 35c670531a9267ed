"""What the acceptances share: parts made of seeded repetitions, which are kept, resumed and judged with their errors.

A part's repetition is kept as one line of JSON as soon as it is done, so that a run that was stopped goes on where it
was: `python -m tests.acceptance.25 --full races sites`. --fresh forgets what was kept.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

KEPT = Path(__file__).parent / ".kept"


@dataclass(frozen=True)
class Part:
    """One claim: `repeat(seed)` returns a plain dict, `judge(results)` lists (does it hold, a line with numbers)."""

    name: str
    repeat: Callable[[int], dict]
    judge: Callable[[list[dict]], list[tuple[bool, str]]]
    quick: int = 1
    full: int = 1


def share(count, total):
    """A share with its Monte Carlo standard error, as text: "3/40 = .075 ± .042"."""
    p = count / total
    return f"{count}/{total} = {p:.3f} ± {(p * (1 - p) / total) ** 0.5:.3f}"


def results(part, repetitions, file):
    """The kept results of seeds 0 … repetitions - 1, computed where they are not kept yet."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    kept = {line["seed"]: line["result"] for line in map(json.loads, lines)}
    for seed in range(repetitions):
        if seed not in kept:
            kept[seed] = part.repeat(seed)
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"seed": seed, "result": kept[seed]}) + "\n")
    return [kept[seed] for seed in range(repetitions)]


def main(step, parts):
    """Run the parts named on the command line (all by default); exit with 1 if a claim does not hold."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.acceptance.{step}")
    parser.add_argument("names", nargs="*", metavar="part", help=", ".join(part.name for part in parts))
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true", help="few repetitions, at most 8 minutes on two cores")
    size.add_argument("--full", action="store_true", help="as many as the step asks for")
    parser.add_argument("--fresh", action="store_true", help="forget kept results")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - {part.name for part in parts}:
        parser.error(f"no part {sorted(unknown)}: choose of {', '.join(part.name for part in parts)}")
    KEPT.mkdir(exist_ok=True)
    red = 0
    for part in parts:
        if chosen.names and part.name not in chosen.names:
            continue
        file = KEPT / f"{step}-{part.name}.jsonl"
        if chosen.fresh:
            file.unlink(missing_ok=True)
        start, repetitions = time.perf_counter(), part.quick if chosen.quick else part.full
        print(f"\n== {part.name}: {repetitions} repetitions", flush=True)
        for holds, line in part.judge(results(part, repetitions, file)):
            print("  " if holds else "RED", line, flush=True)
            red += not holds
        print(f"   {time.perf_counter() - start:.0f} s", flush=True)
    sys.exit(1 if red else 0)
